r"""Replaces pieces of a text whose line ends are of any kind, and leaves every other character as it is.

A model sees `\n` only. So pieces are looked for in a form of the text with `\n` line ends, and what replaces them gets
the line ends of the lines it replaces. Pure. Spec: TOO-02.
"""

import difflib
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from msgspec import Struct

_LINE_END = re.compile("\r\n|\r|\n")
# Aligning old and new lines takes time with the product of their numbers.
_ALIGN_LIMIT = 2_000
_CLOSE_LINES_LIMIT = 20_000
_SHOWN_LINES = 6


class SeenText(Struct, frozen=True):
    r"""A text as stored (`original`) and as a model sees it (`seen`, `\n` line ends only)."""

    original: str
    seen: str
    double_ends: Sequence[int]

    def original_index(self, seen_index: int) -> int:
        """The place in the stored text of a place in the seen one."""
        return seen_index + bisect_left(self.double_ends, seen_index)


class Replacement(Struct, frozen=True):
    r"""A piece of the seen text, `start` to `end`, and what takes its place, with `\n` line ends."""

    start: int
    end: int
    new: str


def see_text(original: str) -> SeenText:
    """The text with its line ends unified, and the way back."""
    if "\r" not in original:
        return SeenText(original, original, ())
    doubles = [found.start() - number for number, found in enumerate(re.finditer("\r\n", original))]
    return SeenText(original, unify_line_ends(original), doubles)


def unify_line_ends(text: str) -> str:
    r"""The text with `\n` line ends only."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def find_all(text: str, wanted: str) -> Sequence[int]:
    """Every place where a text begins, overlapping ones included."""
    places: list[int] = []
    place = text.find(wanted)
    while place >= 0:
        places.append(place)
        place = text.find(wanted, place + 1)
    return places


def line_at(text: str, index: int) -> int:
    """The number of the line a place is in, from 1."""
    return text.count("\n", 0, index) + 1


def replace_pieces(text: SeenText, replacements: Sequence[Replacement]) -> tuple[str, str]:
    """The stored text with the pieces replaced, and what was put in, joined.

    Args:
        text: The text.
        replacements: In order, not overlapping.
    """
    pieces: list[str] = []
    inserted: list[str] = []
    done = 0
    for replacement in replacements:
        start, end = text.original_index(replacement.start), text.original_index(replacement.end)
        new = _with_line_ends(text.original, start, end, replacement.new)
        pieces += [text.original[done:start], new]
        inserted.append(new)
        done = end
    pieces.append(text.original[done:])
    return "".join(pieces), "".join(inserted)


def find_closest(text: str, wanted: str) -> tuple[int, Sequence[str]]:
    """Where a text has lines most like the wanted ones: the first line's number and the lines; 0 when nowhere."""
    lines = text.split("\n")
    wanted_lines = wanted.strip("\n").split("\n")
    first = next((line.strip() for line in wanted_lines if line.strip()), "")
    if not first or len(lines) > _CLOSE_LINES_LIMIT:
        return 0, ()
    stripped = [line.strip() for line in lines]
    near = difflib.get_close_matches(first, dict.fromkeys(stripped), n=3, cutoff=0.6)
    starts = [number for number, line in enumerate(stripped) if line in near][:50]
    if not starts:
        return 0, ()
    height = min(len(wanted_lines), _SHOWN_LINES)
    sought = "\n".join(wanted_lines[:height])

    def likeness(start: int) -> float:
        return difflib.SequenceMatcher(None, "\n".join(lines[start : start + height]), sought).ratio()

    best = max(starts, key=likeness)
    return best + 1, lines[best : best + height]


def _with_line_ends(original: str, start: int, end: int, new: str) -> str:
    """New lines with the line ends of the lines they replace; added ones get that of their neighbour."""
    if "\n" not in new:
        return new
    old_lines = list(_split_lines(original[start:end]))
    new_lines = new.split("\n")
    ends = _matched_ends(old_lines, new_lines)
    current = _end_near(original, start, end)
    parts: list[str] = []
    for number, line in enumerate(new_lines[:-1]):
        current = ends.get(number) or current
        parts += [line, current]
    return "".join([*parts, new_lines[-1]])


def _split_lines(text: str) -> Iterator[tuple[str, str]]:
    """Lines with their ends; the last one has none."""
    done = 0
    for found in _LINE_END.finditer(text):
        yield text[done : found.start()], found[0]
        done = found.end()
    yield text[done:], ""


def _matched_ends(old_lines: Sequence[tuple[str, str]], new_lines: Sequence[str]) -> dict[int, str]:
    """New line's number → the line end of the old line it stands for."""
    if len(old_lines) * len(new_lines) > _ALIGN_LIMIT**2:
        return {number: end for number, (_line, end) in enumerate(old_lines)}
    matcher = difflib.SequenceMatcher(None, [line for line, _end in old_lines], new_lines, autojunk=False)
    return {
        new_start + offset: old_lines[old_start + offset][1]
        for _tag, old_start, old_end, new_start, new_end in matcher.get_opcodes()
        for offset in range(min(old_end - old_start, new_end - new_start))
    }


def _end_near(original: str, start: int, end: int) -> str:
    """The line end before a piece, else the first one in or after it, else a plain one."""
    before = max(original.rfind("\n", 0, start), original.rfind("\r", 0, start))
    if before >= 0:
        return "\r\n" if original[max(before - 1, 0) : before + 1] == "\r\n" else original[before]
    found = _LINE_END.search(original, start) or _LINE_END.search(original, end)
    return found[0] if found else "\n"
