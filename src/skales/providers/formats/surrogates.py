r"""Puts characters together that an endpoint cut in half: `\ud83d` in one chunk, `\ude00` in the next.

A lone half cannot be written to disk as UTF-8; a half that stays alone becomes the replacement character.
"""

import re

_ANY = re.compile("[\ud800-\udfff]")
_FIRST_HALF = re.compile("[\ud800-\udbff]$")


def join_halves(text: str) -> str:
    """The text with pairs of halves as one character and lone halves replaced."""
    if text.isascii() or not _ANY.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class HalfJoiner:
    """Joins across pieces: a first half at the end of one waits for the next."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> str:
        """The text that is whole by now."""
        if text.isascii() and not self._held:
            return text
        text, self._held = self._held + text, ""
        if _FIRST_HALF.search(text):
            text, self._held = text[:-1], text[-1]
        return join_halves(text)

    def finish(self) -> str:
        """A half that nothing followed."""
        text, self._held = self._held, ""
        return join_halves(text)
