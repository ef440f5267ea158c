"""Notices when a model repeats itself without end, as weak ones do; there is nothing to wait for then."""

import re

_LOOK_AT = 600
# The same 6 to 120 characters, four times on end. Shorter ones occur in rules, tables and laughter.
_LOOP = re.compile(r"(.{6,120}?)\1{3}\Z", re.DOTALL)
_WORDLESS = re.compile(r"[\W\d_]*\Z")


def is_looping(text: str) -> bool:
    """Whether the text ends in words said four times in a row."""
    found = _LOOP.search(text[-_LOOK_AT:])
    return found is not None and not _WORDLESS.match(found.group(1))
