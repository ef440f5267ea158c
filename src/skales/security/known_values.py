"""Masks secrets that are known word for word, however a program spelled them: plain, base64, in an address, in JSON.

Unlike `redact`, which knows what secrets look like. Time grows with the text, not with how often a secret is in it.
"""

import base64
import html
import json
import re
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from urllib.parse import quote, quote_plus

from skales.core.json import JsonValue

MASK = "***"
# Shorter texts are in every second word, shorter pieces of base64 in every picture.
_LEAST = 6
_LEAST_PIECE = 10
_MAX_DEPTH = 64


class ValueMask:
    """Takes some values out of texts. Keep one for as long as the values stay the same: it is built once."""

    def __init__(self, values: Collection[str]) -> None:
        forms = {form for value in values if len(value) >= _LEAST for form in spellings(value)}
        # The longest first, so that a value that holds another one is masked whole.
        ordered = sorted(forms, key=lambda form: (-len(form), form))
        self._pattern = re.compile("|".join(map(re.escape, ordered))) if ordered else None

    def mask(self, text: str) -> str:
        """The text without the values."""
        return self._pattern.sub(MASK, text) if self._pattern else text

    def mask_value(self, value: JsonValue, depth: int = 0) -> JsonValue:
        """A copy of a JSON value without them, also in its names."""
        if isinstance(value, str):
            return self.mask(value)
        if self._pattern is None or value is None or isinstance(value, (bool, int, float)):
            return value
        if depth >= _MAX_DEPTH:
            return MASK
        if isinstance(value, Mapping):
            return {self.mask(name): self.mask_value(item, depth + 1) for name, item in value.items()}
        return [self.mask_value(item, depth + 1) for item in value]


def mask_for(values: Collection[str]) -> ValueMask:
    """The mask for these values, the same one as long as they stay the same."""
    return _mask_for(frozenset(values))


@lru_cache(maxsize=4)
def _mask_for(values: frozenset[str]) -> ValueMask:
    return ValueMask(values)


def spellings(value: str) -> Iterator[str]:
    """How a value may stand in a text."""
    data = value.encode("utf-8", "surrogatepass")
    yield value
    # A text of several lines may come back a line at a time.
    yield from (line.strip() for line in value.splitlines() if len(line.strip()) >= 2 * _LEAST)
    for safe in ("", "/", "/:@"):
        encoded = quote(data, safe=safe)
        yield encoded
        yield re.sub(r"%[0-9A-F]{2}", lambda code: code.group().lower(), encoded)
    yield quote_plus(data)
    for ascii_only in (True, False):
        yield json.dumps(value, ensure_ascii=ascii_only)[1:-1]
        yield json.dumps(json.dumps(value, ensure_ascii=ascii_only)[1:-1])[1:-1]
    yield html.escape(value)
    yield html.escape(value, quote=False)
    yield data.hex()
    yield data.hex().upper()
    yield from _base64_spellings(data)


def _base64_spellings(data: bytes) -> Iterator[str]:
    """Whole, and as it stands inside something longer such as `user:password`: at each of three offsets."""
    whole = base64.b64encode(data).decode()
    for encoded in (whole, base64.urlsafe_b64encode(data).decode()):
        if len(encoded.rstrip("=")) >= _LEAST_PIECE - 2:
            yield encoded
            yield encoded.rstrip("=")
    for before in range(3):
        piece = base64.b64encode(b"\0" * before + data).decode()
        first = (before * 8 + 5) // 6
        last = (before + len(data)) * 8 // 6
        inner = piece[first:last]
        if len(inner) >= _LEAST_PIECE:
            yield inner
            yield inner.replace("+", "-").replace("/", "_")
