"""Secrets inside addresses: passwords before the host, and the random parts of a web hook's path.

Query parameters are named values and not looked at here.
"""

import re

from skales.security.key_shapes import looks_random
from skales.security.marks import Mark, is_masked
from skales.security.secret_names import find_reference, is_status

# The slashes may be escaped, as some JSON writers do.
_ADDRESS = re.compile(r"(:\\?/\\?/)([^\s\"'<>`]++)")
_AUTHORITY_END = re.compile(r"[/?#\\]")
_HOOK = re.compile(r"hook", re.IGNORECASE)
_SEGMENT = re.compile(r"(?<=/)[^/?#\\,;)\]}]{6,}+")
_IMPORTANT_LENGTH = 16


def mask_urls(text: str, mark: Mark) -> str:
    """The text with passwords in addresses and secret paths of web hooks masked."""
    if "//" not in text and "\\/" not in text:
        return text
    return _ADDRESS.sub(lambda match: match[1] + _mask_address(match[2], mark), text)


def _mask_address(rest: str, mark: Mark) -> str:
    """`rest` is what follows the two slashes."""
    user_end = _find_user_end(rest)
    user, colon, password = rest[:user_end].partition(":")
    place = rest[user_end:]
    if _HOOK.search(place):
        path, sign, query = place.partition("?")
        place = _SEGMENT.sub(lambda match: _mask_segment(match[0], mark), path) + sign + query
    if colon and password:
        is_open = is_masked(password) or is_status(password) or find_reference(password, 0) == len(password)
        return f"{user}:{password if is_open else mark('password', password)}{place}"
    hides_key = bool(user_end) and len(user) >= _IMPORTANT_LENGTH and looks_random(user)
    return (mark("key", user) if hides_key else user + colon) + place


def _find_user_end(rest: str) -> int:
    """Where user name and password end, at the last `@` before the host; 0 when there are none.

    A password may hold a slash that should have been escaped: then what looks like a port is none.
    """
    end = _AUTHORITY_END.search(rest)
    authority = rest[: end.start()] if end else rest
    if "@" in authority:
        return authority.rindex("@")
    _, colon, port = authority.partition(":")
    return max(rest.rfind("@"), 0) if colon and port and not port.isdigit() and "[" not in authority else 0


def _mask_segment(segment: str, mark: Mark) -> str:
    is_secret = looks_random(segment, at_least=6) and not segment.isdigit() and not is_masked(segment)
    return mark("webhook", segment) if is_secret else segment
