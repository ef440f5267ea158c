"""How a secret that was taken out of a text is shown: three stars behind what may stay, or a marker that says its kind.

A text is masked in several passes, each of which must see that an earlier one was there. So each puts three stars, with
a character behind them that says which secret stood there; at the end they become what is shown.
"""

import re
from collections.abc import Callable, Sequence

from msgspec import Struct

STARS = "***"

# `[secret: GitHub token ghp_…a1b2]`, `[secret: password]`
MARKER = re.compile(r"\[secret: [A-Za-z][A-Za-z -]{1,40}(?: [^\]\s…]{0,20}…[A-Za-z0-9_-]{0,4})?\]")

# The last plane of private characters, which no font uses.
_FIRST = 0x100000
_MOST = 0xFFFE
_PLACE = re.compile(rf"\*\*\*([{chr(_FIRST)}-{chr(_FIRST + _MOST - 1)}])")
# Of a shorter secret an end would say too much.
_MIN_FOR_END = 24
_END = re.compile(r"[A-Za-z0-9_-]{4}\Z")

# Takes the kind of a secret and the secret; what stands in its place meanwhile.
Mark = Callable[[str, str], str]


class Secret(Struct, frozen=True):
    """A secret that was found: its kind in words, what of its beginning may be shown, and all of it."""

    kind: str
    kept: str
    value: str

    @property
    def marker(self) -> str:
        """What stands in its place where a model or a person reads on."""
        if not self.kept:
            return f"[secret: {self.kind}]"
        end = _END.search(self.value) if len(self.value) >= _MIN_FOR_END else None
        return f"[secret: {self.kind} {self.kept}…{end[0] if end else ''}]"


class Marks:
    """Collects the secrets of one text."""

    def __init__(self) -> None:
        self._found: list[Secret] = []

    def put(self, kind: str, value: str, kept: str = "") -> str:
        """Note a secret; what stands in its place until the end."""
        if len(self._found) >= _MOST:
            return kept + STARS
        self._found.append(Secret(kind, kept, value))
        return f"{kept}{STARS}{chr(_FIRST + len(self._found) - 1)}"

    def with_stars(self, text: str) -> str:
        """The masked text, with stars."""
        return _PLACE.sub(STARS, text) if self._found else text

    def with_markers(self, text: str) -> tuple[str, Sequence[Secret]]:
        """The masked text with markers, and the secrets they stand for in their order."""
        shown: list[str] = []
        secrets: list[Secret] = []
        done = 0
        for place in _PLACE.finditer(text) if self._found else ():
            number = ord(place[1]) - _FIRST
            if number >= len(self._found):
                continue
            secret = self._found[number]
            secrets.append(secret)
            shown += [text[done : place.start()].removesuffix(secret.kept), secret.marker]
            done = place.end()
        return "".join([*shown, text[done:]]), secrets


def is_masked(value: str) -> bool:
    """Whether a value was masked before."""
    return STARS in value or value.startswith("[secret:")


def plain(text: str) -> str:
    """The text with a question mark for every character beyond ASCII: of the same length, and searched much faster."""
    return text if text.isascii() else text.encode("ascii", "replace").decode("ascii")


def lower(text: str) -> str:
    """The same in small letters."""
    return plain(text).lower()
