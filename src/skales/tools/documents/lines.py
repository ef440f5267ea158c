"""Cuts a window of lines out of a text that comes in pieces, without ever holding more than the window."""

import codecs
import io
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from msgspec import Struct, field

from skales.tools.documents.coding import TextCoding, readable

_PIECE_BYTES = 256 * 1024


class Window(Struct, frozen=True):
    """Which lines to take, counted from 1; `column` skips characters of the first, counted from 1.

    A line is cut at `line_limit` characters, all together at `limit`; the first line alone may fill `limit` when
    `column` asks for more of it.
    """

    start: int = 1
    count: int = 400
    column: int = 1
    limit: int = 16_000
    line_limit: int = 2_000


class Excerpt(Struct):
    """What the window showed. `total` is None when the rest was not counted; `cut` maps a line to what it lacks."""

    lines: list[str] = field(default_factory=list[str])
    total: int | None = None
    has_more: bool = False
    cut: dict[int, int] = field(default_factory=dict[int, int])


def cut_lines(pieces: Iterable[str], window: Window, *, count_all: bool) -> Excerpt:
    """The lines of the window. `pieces` may break anywhere; their lines end as in Python, with one character.

    Args:
        pieces: The text; read on to its end only when `count_all`, or until more than the window was seen.
        window: What to take.
        count_all: Whether to count lines after the window.
    """
    state = _Cutter(window)
    for piece in filter(None, pieces):
        if state.is_full and not count_all:
            state.excerpt.has_more = True
            return state.excerpt
        state.take(piece)
    return state.finish()


def decode_pieces(stream: BinaryIO, coding: TextCoding) -> Iterator[str]:
    """The text of a stream from its start, with Python's line ends; bytes that fit no character are shown, not lost."""
    errors = "surrogateescape" if coding.codec == "utf-8" else "replace"
    inner = codecs.getincrementaldecoder(coding.codec)(errors)
    decoder = io.IncrementalNewlineDecoder(inner, translate=True)
    stream.seek(len(coding.mark))
    while piece := stream.read(_PIECE_BYTES):
        yield readable(decoder.decode(piece))
    yield readable(decoder.decode(b"", final=True))


class _Cutter:
    """Where the reading stands: the number of the line it is in, how much of that line it passed, what it kept."""

    def __init__(self, window: Window) -> None:
        self.window = window
        self.excerpt = Excerpt()
        self.is_full = False
        self._line = 1
        self._passed = 0
        self._kept: list[str] = []
        self._kept_length = 0
        self._shown_length = 0

    def take(self, piece: str) -> None:
        breaks = piece.count("\n")
        if self.is_full or self._line + breaks < self.window.start:
            self._skip(piece, breaks)
            return
        start = 0
        while not self.is_full and (end := piece.find("\n", start)) >= 0:
            if not self._keep_whole(piece[start:end]):
                self._add(piece[start:end])
                self._end_line()
            start = end + 1
        rest = piece[start:]
        if self.is_full:
            self._skip(rest, rest.count("\n"))
        else:
            self._add(rest)

    def _keep_whole(self, line: str) -> bool:
        """Keep a line that came in one piece and fits, as most do; False for others."""
        window, length = self.window, len(line)
        if self._passed or self._line <= window.start or length > window.line_limit:
            return False
        if self._shown_length + length > window.limit:
            return False
        self.excerpt.lines.append(line)
        self._shown_length += length + 1
        self._line += 1
        self.is_full = len(self.excerpt.lines) >= window.count
        return True

    def finish(self) -> Excerpt:
        if self._passed:
            # The last line has no line end.
            self._end_line()
        self.excerpt.total = self._line - 1
        self.excerpt.has_more = self.excerpt.total > self.window.start + len(self.excerpt.lines) - 1
        return self.excerpt

    def _skip(self, piece: str, breaks: int) -> None:
        self._line += breaks
        self._passed = len(piece) - piece.rfind("\n") - 1 if breaks else self._passed + len(piece)

    def _add(self, text: str) -> None:
        """Keep what the window shows of a part of the line the reading is in."""
        if self._line >= self.window.start:
            skip = max(self._skipped() - self._passed, 0)
            room = max(self._room() - self._kept_length, 0)
            if shown := text[skip : skip + room]:
                self._kept.append(shown)
                self._kept_length += len(shown)
        self._passed += len(text)

    def _end_line(self) -> None:
        if self._line >= self.window.start and not self.is_full:
            self._keep_line()
        self._line += 1
        self._passed = 0
        self._kept, self._kept_length = [], 0

    def _keep_line(self) -> None:
        lines = self.excerpt.lines
        if lines and self._shown_length + self._kept_length > self.window.limit:
            self.is_full = True
            return
        if (hidden := self._passed - self._skipped() - self._kept_length) > 0:
            self.excerpt.cut[self._line] = hidden
        lines.append("".join(self._kept))
        self._shown_length += self._kept_length + 1
        self.is_full = len(lines) >= self.window.count

    def _skipped(self) -> int:
        """How many characters of the present line `column` leaves out."""
        return self.window.column - 1 if self._line == self.window.start else 0

    def _room(self) -> int:
        return self.window.limit if self._skipped() else min(self.window.line_limit, self.window.limit)
