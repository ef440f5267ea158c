"""Which key a server is known by: its fingerprint is kept at the first success, and another one later is refused."""

import base64
import hashlib

from skales.core.errors import ToolRefusedError


def certificate_fingerprint(der: bytes) -> str:
    """The fingerprint of a certificate, in the form that OpenSSH uses for host keys."""
    return f"SHA256:{base64.b64encode(hashlib.sha256(der).digest()).decode().rstrip('=')}"


def require_pin(host: str, pinned: str, seen: str, what: str) -> None:
    """Raise ToolRefusedError with both fingerprints when a server shows another key than the one it is known by."""
    if not pinned or pinned == seen:
        return
    raise ToolRefusedError(
        f"The {what} of {host} has changed: it was {pinned} and is {seen} now; nothing was sent",
        hint="If its owner says that this is right, a person accepts it with `skales ftp trust NAME`; "
        "else somebody may stand in between",
        code="key_changed",
    )
