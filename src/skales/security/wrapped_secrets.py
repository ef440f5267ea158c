"""Secrets in a wrapper: percent-encoded as in an address, or in base64 as a configuration holds them.

The text inside is looked at like any other. A run of base64 goes whole, and only for keys that nobody mistakes; else
every picture would be suspicious. Secrets that are known word for word are `known_values`' business.
"""

import base64
import re
from collections.abc import Callable
from urllib.parse import quote, unquote

from skales.security.marks import Marks, is_masked

Look = Callable[[str, Marks], str]

# The rest of an address is left alone: what it is made of does not need to be encoded.
_ENCODED = re.compile(r"(?:[A-Za-z0-9_.~!*'()+-]|%[0-9A-Fa-f]{2})+")
_HAS_CODE = re.compile(r"%[0-9A-Fa-f]{2}")
_MAX_DEPTH = 2
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{24,16384}+={0,2}(?![A-Za-z0-9+/_-])")
_PRINTED = re.compile(rb"[\t\n\r\x20-\x7e]{9,}")
_SAFE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~*")
_FIRST_PLACE = "\U00100000"


def mask_wrapped(text: str, look: Look, look_for_keys: Look, marks: Marks) -> str:
    """The text with the wrapped secrets masked; what is not wrapped stays for others to look at."""
    if _HAS_CODE.search(text):
        text = _ENCODED.sub(lambda run: _mask_encoded(run[0], look, marks, 0), text)
    return _BASE64.sub(lambda run: _mask_base64(run[0], look_for_keys, marks), text)


def _mask_encoded(run: str, look: Look, marks: Marks, depth: int) -> str:
    if not _HAS_CODE.search(run):
        return run
    inside = unquote(run)
    if depth < _MAX_DEPTH and _HAS_CODE.search(inside):
        masked = _ENCODED.sub(lambda found: _mask_encoded(found[0], look, marks, depth + 1), inside)
    else:
        masked = inside
    masked = look(masked, marks)
    if masked == inside:
        return run
    return "".join(char if char in _SAFE or char >= _FIRST_PLACE else quote(char) for char in masked)


def _mask_base64(run: str, look: Look, marks: Marks) -> str:
    body = run.rstrip("=").replace("-", "+").replace("_", "/")
    # Binary data shows at its beginning.
    if is_masked(run) or len(body) % 4 == 1 or not _PRINTED.fullmatch(base64.b64decode(body[:16])):
        return run
    data = base64.b64decode(body + "=" * (-len(body) % 4))
    if not _PRINTED.fullmatch(data):
        return run
    inside = data.decode("ascii")
    return run if look(inside, Marks()) == inside else marks.put("encoded secret", run)
