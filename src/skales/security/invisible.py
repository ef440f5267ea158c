"""Characters that no reader can see, taken out of text before a model reads it.

Kept are those that visible text needs: joiners in emoji and in scripts that join, variation selectors on what they
vary, flags. Says nothing about hidden HTML. Source: Unicode, Default_Ignorable_Code_Point; UTS #51, emoji sequences.
"""

import re
import unicodedata
from collections import deque

_ZWSP, _ZWNJ, _ZWJ = "\u200b", "\u200c", "\u200d"

# Default-ignorable characters, all controls but tab and line feed, and halves of characters.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
)
# A flag of a region: black flag, at most six tags (letters and digits), cancel. Longer runs would carry text.
_FLAG = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f")

_Ranges = tuple[tuple[str, str], ...]

_PICTURE: _Ranges = (
    ("\u2190", "\u21ff"),
    ("\u2300", "\u23ff"),
    ("\u25a0", "\u27bf"),
    ("\u2b00", "\u2bff"),
    ("\U0001f000", "\U0001faff"),
)
# What may be shown as a picture or as text; digits only as keycaps.
_EMOJI: _Ranges = (
    *_PICTURE,
    ("#", "#"),
    ("*", "*"),
    ("0", "9"),
    ("\u00a9", "\u00a9"),
    ("\u00ae", "\u00ae"),
    ("\u203c", "\u203c"),
    ("\u2049", "\u2049"),
    ("\u2122", "\u2139"),
    ("\u24c2", "\u24c2"),
    ("\u2934", "\u2935"),
    ("\u3030", "\u303d"),
    ("\u3297", "\u3299"),
)
# Arabic, Syriac, Thaana and N'Ko with their supplements; the Indic scripts up to Sinhala; Myanmar, Khmer, Mongolian.
_JOINING: _Ranges = (
    ("\u0620", "\u085f"),
    ("\u08a0", "\u0dff"),
    ("\u1000", "\u109f"),
    ("\u1780", "\u18af"),
    ("\u1b00", "\u1b7f"),
    ("\ufb50", "\ufdff"),
    ("\ufe70", "\ufefc"),
    ("\U00011000", "\U000114ff"),
)
# Scripts without blanks between words, where a zero-width space marks the word's end.
_UNSPACED: _Ranges = (("\u0e00", "\u0fff"), ("\u1000", "\u109f"), ("\u1780", "\u17ff"))
_HAN: _Ranges = (("\u3400", "\u4dbf"), ("\u4e00", "\u9fff"), ("\uf900", "\ufaff"), ("\U00020000", "\U0003ffff"))
_MONGOLIAN: _Ranges = (("\u1820", "\u18aa"),)


def strip_invisible(text: str) -> tuple[str, int]:
    """The text without hidden characters, and how many there were. Line ends become line feeds, uncounted."""
    unix = text.replace("\r\n", "\n").replace("\r", "\n")
    flags = deque(match.span() for match in _FLAG.finditer(unix))
    kept: list[str] = []
    start = removed = 0
    for match in _INVISIBLE.finditer(unix):
        at = match.start()
        while flags and flags[0][1] <= at:
            flags.popleft()
        if (flags and flags[0][0] < at) or _is_needed(unix, at):
            continue
        kept.append(unix[start:at])
        start = at + 1
        removed += 1
    kept.append(unix[start:])
    return "".join(kept), removed


def _is_needed(text: str, at: int) -> bool:
    """Whether visible text would look different without the character. Only the first of a run can be needed."""
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    match text[at]:
        case char if char == _ZWJ and (before == "\ufe0f" or _is_in(before, _PICTURE)):
            return _is_in(after, _PICTURE)
        case char if char in (_ZWJ, _ZWNJ):
            return _is_in(before, _JOINING)
        case char if char == _ZWSP:
            return _is_in(before, _UNSPACED) and _is_in(after, _UNSPACED)
        case "\ufe0e" | "\ufe0f":
            return _is_in(before, _EMOJI) and (not before.isascii() or after == "\u20e3")
        case char if "\ufe00" <= char <= "\ufe0d":
            return unicodedata.category(before or " ") in ("Sm", "Lo")
        case char if "\u180b" <= char <= "\u180f":
            return _is_in(before, _MONGOLIAN)
        case char if "\U000e0100" <= char <= "\U000e01ef":
            return _is_in(before, _HAN)
        case _:
            return False


def _is_in(char: str, ranges: _Ranges) -> bool:
    return any(first <= char <= last for first, last in ranges)
