"""Cuts markdown into top-level blocks while it streams, at a cost per token that does not grow with the answer.

Each character is looked at once: a block is over when a line comes that cannot belong to it. Several blocks may stay
together in one piece, but one block is never cut in two, except a list into its items. Rendering is `markdown`'s work.
"""

import re
from enum import StrEnum

from msgspec import Struct, field

from skales.server.markdown_display import ends_display, read_display


class BlockKind(StrEnum):
    """What an unfinished block will be, so that a page can show its raw text in the right clothes."""

    TEXT = "text"
    HEADING = "heading"
    CODE = "code"
    INDENTED = "indented"
    ITEM = "item"
    QUOTE = "quote"
    TABLE = "table"
    MATHS = "maths"
    HTML = "html"


class Opened(Struct, frozen=True):
    """A block begins. `note` is the language of code, the marker of a list item, the level of a heading."""

    kind: BlockKind
    note: str = ""


class Grew(Struct, frozen=True):
    """More of the open block's text, without the marker that made it a block."""

    text: str


class Finished(Struct, frozen=True):
    """The open block is over; `source` is all of its markdown."""

    source: str


BlockStep = Opened | Grew | Finished

_LINE_PIECE = re.compile(r"[^\n]*\n|[^\n]+")
_FENCE = re.compile(r"(`{3,})([^`]*)$|(~{3,})(.*)$", re.DOTALL)
_HEADING = re.compile(r"(#{1,6})[ \t]+")
_ITEM = re.compile(r"([-*+]|\d{1,9}[.)])[ \t]+(?=\S)")
# Starts that may still become one of the above when more of the line is known.
_UNSURE = re.compile(
    r"`{1,2}|~{1,2}|#{1,6}[ \t]*|[-*+][ \t]*|\d{1,9}(?:[.)][ \t]*)?|>[ ]?|<|</?[a-zA-Z!?].*|`{3,}[^`]*|~{3,}.*"
    r"|\$(?:\$.*)?|\\(?:\[.*)?"
)
# HTML blocks that a blank line does not end: start → what ends them. CommonMark 0.31, section 4.6, kinds 1 to 5.
_LASTING_HTML = (
    (
        re.compile(r"<(script|pre|style|textarea)(\s|>|$)", re.IGNORECASE),
        re.compile(r"</(script|pre|style|textarea)>", re.IGNORECASE),
    ),
    (re.compile(r"<!--"), re.compile(r"-->")),
    (re.compile(r"<\?"), re.compile(r"\?>")),
    (re.compile(r"<![A-Za-z]"), re.compile(r">")),
    (re.compile(r"<!\[CDATA\["), re.compile(r"\]\]>")),
)  # fmt: skip


class _Line(Struct, frozen=True):
    """The start of a line, as far as it must be known. `text` follows the marker, `note` is as in Opened.

    `column` is where the content of a list item starts; less indented lines are not its children. `closer` ends maths,
    empty when it is over with this line.
    """

    kind: BlockKind | None
    indent: int
    text: str
    note: str = ""
    column: int = 0
    ends_html: re.Pattern[str] | None = None
    closer: str = ""


class _Block(Struct):
    kind: BlockKind
    column: int = 0
    fence: str = ""
    closer: str = ""
    ends_html: re.Pattern[str] | None = None
    source: list[str] = field(default_factory=list)


class BlockSplitter:
    """Feed it one answer, piece by piece; `end` when the answer is over."""

    def __init__(self) -> None:
        self._held = ""
        self._gap = ""
        self._in_line = False
        self._block: _Block | None = None
        self._steps: list[BlockStep] = []

    def feed(self, text: str) -> list[BlockStep]:
        """What more text leads to. Text whose meaning is open (`-`, three backticks) is held back until it is clear."""
        if self._in_line and "\n" not in text:
            self._take(text)
        else:
            for piece in _LINE_PIECE.findall(text):
                self._take(piece)
        return self._drain()

    def end(self) -> list[BlockStep]:
        """What is left when no more text comes."""
        if self._held:
            self._start_line(complete=True)
        self._finish()
        self._gap, self._in_line = "", False
        return self._drain()

    def _drain(self) -> list[BlockStep]:
        steps, self._steps = self._steps, []
        return steps

    def _take(self, piece: str) -> None:
        if self._in_line:
            assert self._block is not None, "a line that goes on belongs to a block"
            self._grow(self._block, piece, piece)
        else:
            self._held += piece
            if not self._start_line(complete=piece.endswith("\n")):
                return
        if piece.endswith("\n"):
            self._in_line = False
            if self._block is not None and self._block.kind is BlockKind.HEADING:
                self._finish()

    def _start_line(self, *, complete: bool) -> bool:
        """Place the held text once its meaning is clear; False while it is not."""
        block = self._block
        if block is not None and block.fence:
            return self._start_code_line(block, complete=complete)
        if block is not None and block.ends_html is not None:
            return self._start_html_line(block, complete=complete)
        if block is not None and block.closer and not complete:
            return False
        line = _read_line(self._held, complete=complete)
        if line is None:
            return False
        held, self._held = self._held, ""
        if line.kind is None:
            self._place_blank(held)
            return True
        if block is not None and not _belongs(line, block, after_gap=bool(self._gap)):
            self._finish()
        self._place(line, held)
        self._in_line = True
        if line.kind is BlockKind.MATHS or (block is not None and block.closer):
            self._end_maths(held)
        return True

    def _place(self, line: _Line, held: str) -> None:
        block = self._block
        if block is None:
            self._open(line, held)
            return
        shown = line.text if block.kind is BlockKind.QUOTE and line.kind is BlockKind.QUOTE else held
        self._grow(block, self._gap + shown, self._gap + held)
        self._gap = ""

    def _end_maths(self, held: str) -> None:
        """Finish maths with its last line; where words follow its end it was a paragraph all along."""
        block = self._block
        if block is None or block.kind is not BlockKind.MATHS:
            return
        is_first = len(block.source) == 1
        if not block.closer or (not is_first and ends_display(held, block.closer)):
            self._finish()
        elif not is_first and block.closer in held:
            block.kind, block.closer = BlockKind.TEXT, ""

    def _grow(self, block: _Block, shown: str, source: str) -> None:
        """Raw HTML is dropped, so its text is never shown; its words appear when the block is rendered."""
        block.source.append(source)
        if block.kind is not BlockKind.HTML:
            self._steps.append(Grew(shown))

    def _open(self, line: _Line, held: str) -> None:
        assert line.kind is not None, "blank lines open nothing"
        fence = line.text if line.kind is BlockKind.CODE else ""
        self._block = _Block(line.kind, line.column, fence, line.closer, line.ends_html, [held])
        self._gap = ""
        if line.kind is BlockKind.HTML:
            if line.ends_html is not None and line.ends_html.search(held):
                self._block.ends_html = None
            return
        self._steps.append(Opened(line.kind, line.note))
        if not fence and line.text:
            self._steps.append(Grew(line.text))

    def _place_blank(self, held: str) -> None:
        match self._block:
            case None:
                return
            case _Block(kind=BlockKind.ITEM | BlockKind.INDENTED):
                self._gap += held
            case _:
                self._finish()

    def _start_code_line(self, block: _Block, *, complete: bool) -> bool:
        rest = self._held.strip()
        may_close = rest == block.fence[0] * len(rest) and len(self._held) - len(self._held.lstrip(" ")) < 4
        if may_close and not complete:
            return False
        held, self._held = self._held, ""
        if may_close and len(rest) >= len(block.fence):
            block.source.append(held)
            self._finish()
            return True
        self._grow(block, held, held)
        self._in_line = True
        return True

    def _start_html_line(self, block: _Block, *, complete: bool) -> bool:
        if not complete:
            return False
        held, self._held = self._held, ""
        block.source.append(held)
        assert block.ends_html is not None, "checked by the caller"
        if block.ends_html.search(held):
            self._finish()
        return True

    def _finish(self) -> None:
        if self._block is not None:
            self._steps.append(Finished("".join(self._block.source)))
            self._block = None
        self._gap = ""


def _read_line(held: str, *, complete: bool) -> _Line | None:
    """What a line begins, None while more of it must be known."""
    rest = held.lstrip(" \t")
    if not rest.strip():
        return _Line(None, 0, "") if complete else None
    indent = len(held[: len(held) - len(rest)].expandtabs(4))
    if not complete and _UNSURE.fullmatch(rest):
        return None
    if indent < 4 and (fence := _FENCE.match(rest.rstrip("\r\n"))):
        return _Line(
            BlockKind.CODE, indent, fence[1] or fence[3], (fence[2] or fence[4] or "").strip().partition(" ")[0]
        )
    if indent < 4 and (heading := _HEADING.match(rest)):
        return _Line(BlockKind.HEADING, indent, rest[heading.end() :], str(len(heading[1])))
    if indent < 4 and (item := _ITEM.match(rest)):
        spaces = item.end() - len(item[1])
        column = indent + len(item[1]) + (spaces if spaces < 5 else 1)
        return _Line(BlockKind.ITEM, indent, rest[item.end() :], item[1], column)
    if indent < 4 and rest.startswith("<"):
        return _read_html(rest, indent, held)
    if indent < 4 and (display := read_display(rest)):
        return _Line(BlockKind.MATHS, indent, held, closer="" if display.is_whole else display.closer)
    match rest[0]:
        case ">" if indent < 4:
            return _Line(BlockKind.QUOTE, indent, rest[1:].removeprefix(" "))
        case "|" if indent < 4:
            return _Line(BlockKind.TABLE, indent, held)
        case _:
            return _Line(BlockKind.INDENTED if indent >= 4 else BlockKind.TEXT, indent, held)


def _read_html(rest: str, indent: int, held: str) -> _Line:
    for start, end in _LASTING_HTML:
        if start.match(rest):
            return _Line(BlockKind.HTML, indent, "", ends_html=end)
    if re.match(r"</?[a-zA-Z!?]", rest):
        return _Line(BlockKind.HTML, indent, "")
    return _Line(BlockKind.TEXT, indent, held)


def _belongs(line: _Line, block: _Block, *, after_gap: bool) -> bool:
    """Whether a line goes on with the open block. CommonMark 0.31: containers, paragraph continuation."""
    match block.kind:
        case BlockKind.ITEM:
            return line.indent >= block.column or (
                not after_gap and line.kind is not BlockKind.ITEM and _goes_on_as_text(line)
            )
        case BlockKind.INDENTED:
            return line.indent >= 4
        case BlockKind.MATHS:
            return line.kind is not BlockKind.CODE
        case BlockKind.QUOTE:
            return line.kind is BlockKind.QUOTE or _goes_on_as_text(line)
        case BlockKind.HTML:
            return block.ends_html is None
        case _:
            return _goes_on_as_text(line)


def _goes_on_as_text(line: _Line) -> bool:
    """Whether a line cannot interrupt a paragraph. Of numbered lists only those that begin with one can."""
    match line.kind:
        case BlockKind.TEXT | BlockKind.TABLE | BlockKind.HTML | BlockKind.INDENTED:
            return True
        case BlockKind.ITEM:
            return line.note[0].isdigit() and line.note[:-1] != "1"
        case _:
            return False
