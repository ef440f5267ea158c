"""Whether the program was started for working on it."""

import os


def is_development() -> bool:
    """`SKALES_DEV=1`: each script as it is, and the page of the components."""
    return os.environ.get("SKALES_DEV") == "1"
