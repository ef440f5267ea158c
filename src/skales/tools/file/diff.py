"""What a change does to a text, as a unified diff for people: bounded, and with nothing in it that could hide.

Made for approval cards and steps, not for programs: long lines are cut around what differs, many lines are counted
instead of shown. Pure.
"""

import difflib
import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from skales.core.json import JsonObject
from skales.tools.file.wording import count_of, shown_name

_CONTEXT = 3
_SHOWN_LINES = 160
_SHOWN_CHARS = 240
# Comparing takes time that grows with the square of what differs.
_COMPARED_LINES = 1_500
_LINE_END = re.compile(r"\r\n|\r|\n")
_NO_END = "\\ No line end at the end of the file"


class Diff(Struct, frozen=True):
    """`text` is a unified diff, empty when nothing differs; the counts are of all lines, shown or not."""

    text: str
    added: int = 0
    removed: int = 0

    @property
    def data(self) -> JsonObject:
        """As it stands in a tool's result."""
        return {"diff": self.text, "added": self.added, "removed": self.removed}


class _Change(Struct, frozen=True):
    """Lines `old_start:old_end` make way for `new_start:new_end`."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def diff_texts(old: str | None, new: str, name: str) -> Diff:
    """The difference between two texts; line ends of any kind count as the same.

    Args:
        old: The text before, None when there was none.
        new: The text after.
        name: How the file is called in the head.
    """
    before, after = _split(old or ""), _split(new)
    if before == after and old is not None:
        return Diff("")
    changes = list(_changes(before, after))
    shown = shown_name(name)
    lines = [f"--- {'/dev/null' if old is None else shown}", f"+++ {shown}"]
    lines += _bounded(line for hunk in _hunks(changes) for line in _hunk_lines(hunk, before, after))
    return Diff(
        "\n".join(lines),
        added=sum(change.new_end - change.new_start for change in changes),
        removed=sum(change.old_end - change.old_start for change in changes),
    )


def _split(text: str) -> list[str]:
    """The lines; what has no line end says so, since that is a difference too."""
    if not text:
        return []
    lines = _LINE_END.split(text)
    if lines[-1]:
        lines[-1] = f"{lines[-1]}\n{_NO_END}"
        return lines
    return lines[:-1]


def _changes(before: Sequence[str], after: Sequence[str]) -> Iterator[_Change]:
    start = 0
    most = min(len(before), len(after))
    while start < most and before[start] == after[start]:
        start += 1
    tail = 0
    while tail < most - start and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    old, new = before[start : len(before) - tail], after[start : len(after) - tail]
    if len(old) > _COMPARED_LINES or len(new) > _COMPARED_LINES:
        yield _Change(start, start + len(old), start, start + len(new))
        return
    for kind, old_start, old_end, new_start, new_end in difflib.SequenceMatcher(None, old, new).get_opcodes():
        if kind != "equal":
            yield _Change(start + old_start, start + old_end, start + new_start, start + new_end)


def _hunks(changes: Sequence[_Change]) -> Iterator[list[_Change]]:
    """Changes so near to each other that their surroundings meet."""
    hunk: list[_Change] = []
    for change in changes:
        if hunk and change.old_start - hunk[-1].old_end > 2 * _CONTEXT:
            yield hunk
            hunk = []
        hunk.append(change)
    if hunk:
        yield hunk


def _hunk_lines(hunk: Sequence[_Change], before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    first, last = hunk[0], hunk[-1]
    old_start, old_end = max(first.old_start - _CONTEXT, 0), min(last.old_end + _CONTEXT, len(before))
    new_start = first.new_start - (first.old_start - old_start)
    new_end = last.new_end + (old_end - last.old_end)
    yield f"@@ -{_range(old_start, old_end)} +{_range(new_start, new_end)} @@"
    place = old_start
    for change in hunk:
        yield from _marked(" ", before[place : change.old_start])
        old, new = before[change.old_start : change.old_end], after[change.new_start : change.new_end]
        yield from _marked("-", old, new)
        yield from _marked("+", new, old)
        place = change.old_end
    yield from _marked(" ", before[place:old_end])


def _range(start: int, end: int) -> str:
    count = end - start
    return f"{start + 1 if count else start},{count}"


def _marked(sign: str, lines: Sequence[str], others: Sequence[str] = ()) -> Iterator[str]:
    for number, line in enumerate(lines):
        text, _end, note = line.partition("\n")
        other = others[number].partition("\n")[0] if number < len(others) else ""
        yield f"{sign}{_legible(_window(text, other))}"
        if note:
            yield note


def _window(text: str, other: str) -> str:
    """A long line around the first place where it differs from the one it replaces."""
    if len(text) <= _SHOWN_CHARS:
        return text
    same = 0
    if other:
        same = next((at for at, (one, two) in enumerate(zip(text, other, strict=False)) if one != two), len(other))
    start = max(min(same - _SHOWN_CHARS // 4, len(text) - _SHOWN_CHARS), 0)
    end = start + _SHOWN_CHARS
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


def _legible(text: str) -> str:
    """Signs that cannot be seen, or turn the direction of writing, as their codes."""
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() or sign == "\t" else f"<U+{ord(sign):04X}>" for sign in text)


def _bounded(lines: Iterator[str]) -> Iterator[str]:
    hidden = 0
    for number, line in enumerate(lines):
        if number < _SHOWN_LINES:
            yield line
        else:
            hidden += 1
    if hidden:
        yield f"@@ {count_of(hidden, 'more line')} not shown @@"
