"""read_file: text in any encoding, PDF, Word, Excel and PowerPoint as lines, and a clear word about everything else."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, BinaryIO

from anyio import to_thread

from skales.core.errors import ToolError
from skales.core.tool import Effect, Safety, ToolResult
from skales.tools.context import ToolContext
from skales.tools.define import Range, tool
from skales.tools.describe import render_size
from skales.tools.documents.coding import TextCoding, detect_coding
from skales.tools.documents.kinds import Family, Kind, detect_kind
from skales.tools.documents.lines import Excerpt, Window, cut_lines, decode_pieces
from skales.tools.documents.pdf import read_pdf
from skales.tools.documents.sheet import read_sheets
from skales.tools.documents.slides import read_slides
from skales.tools.documents.word import read_word
from skales.tools.file.reach import require_entry
from skales.tools.file.safe_open import open_file
from skales.tools.file.wording import count_of, shown_path

# Enough to tell an encoding; a change of encoding later shows as odd characters, not as a failure.
SAMPLE_BYTES = 256 * 1024
# Up to here the lines are counted to the end, which takes a fraction of a second.
_COUNTED_BYTES = 100 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class _Source:
    """What is read as lines: the pieces, what to say about them, and whether counting to the end is cheap."""

    pieces: Iterable[str]
    note: str = ""
    count_all: bool = False


@tool(
    "file",
    Safety.AUTO,
    Effect.READS_PRIVATE,
    action="Read {path}",
    example=("What does notes.txt say?", {"path": "notes.txt"}),
    basic=True,
)
async def read_file(  # noqa: PLR0913 - what a model may say to a tool stands in its signature
    ctx: ToolContext,
    path: Path,
    start: Annotated[int, Range(1, 10**9)] = 1,
    count: Annotated[int, Range(1, 5000)] = 400,
    column: Annotated[int, Range(1, 10**9)] = 1,
    part: str = "",
) -> ToolResult:
    """Read a text, PDF, Word, Excel or PowerPoint file as lines; says what it left out.

    Args:
        path: File to read.
        start: First line.
        count: How many lines.
        column: First character of the first line, for very long lines.
        part: Pages or slides such as 3 or 2-5, or a sheet's name.
    """
    window = Window(start=start, count=count, column=column)
    read = partial(_read, ctx, path, window, part)
    return await to_thread.run_sync(read, abandon_on_cancel=True)


def _read(ctx: ToolContext, path: Path, window: Window, part: str) -> ToolResult:
    require_entry(path, ctx.paths)
    name = shown_path(ctx, path)
    with open_file(path) as stream:
        size_bytes = stream.seek(0, 2)
        if size_bytes == 0:
            return ToolResult(text=f"[{name} is empty]", summary=f"{name} is empty")
        try:
            source = _open_source(stream, size_bytes, part)
            excerpt = cut_lines(source.pieces, window, count_all=source.count_all)
        except ToolError as error:
            raise ToolError(f"{name!r} cannot be read. {error.message}", hint=error.hint, code=error.code) from error
    return _render(name, window, excerpt, source.note)


def _open_source(stream: BinaryIO, size_bytes: int, part: str) -> _Source:
    kind = detect_kind(stream)
    match kind:
        case Kind(family=Family.PDF):
            return _Source(read_pdf(stream, part))
        case Kind(family=Family.WORD):
            return _Source(read_word(stream))
        case Kind(family=Family.SHEET):
            return _Source(read_sheets(stream, part))
        case Kind(family=Family.SLIDES):
            return _Source(read_slides(stream, part))
        case Kind():
            raise _unreadable(kind, size_bytes)
        case None:
            return _open_text(stream, size_bytes)


def _open_text(stream: BinaryIO, size_bytes: int) -> _Source:
    stream.seek(0)
    sample = stream.read(SAMPLE_BYTES)
    coding = detect_coding(sample, is_whole=len(sample) == size_bytes)
    if coding is None:
        raise ToolError(
            f"It is {render_size(size_bytes)} of binary data of no known kind, not text",
            hint="Use get_file_info to see more about it",
            code="binary",
        )
    pieces = decode_pieces(stream, coding)
    return _Source(pieces, note=_coding_note(coding), count_all=size_bytes <= _COUNTED_BYTES)


def _coding_note(coding: TextCoding) -> str:
    return "" if coding.is_certain else f"Read as {coding.label}, which is a guess."


def _unreadable(kind: Kind, size_bytes: int) -> ToolError:
    hints = {
        Family.PICTURE: "analyze_image can look at pictures when it is offered; the person can also attach it",
        Family.SOUND: "transcribe_audio can listen when it is offered",
        Family.VIDEO: "get_file_info tells its size and date",
        Family.ARCHIVE: "extract_archive can list or unpack zip and tar archives",
        Family.OLD_OFFICE: "Ask the person to save it in the present format (.docx, .xlsx, .pptx) without a password",
    }
    return ToolError(
        f"It is {kind.words} of {render_size(size_bytes)}, not text",
        hint=hints.get(kind.family, "Use get_file_info to see more about it"),
        code="binary",
    )


def _render(name: str, window: Window, excerpt: Excerpt, note: str) -> ToolResult:
    last = window.start + len(excerpt.lines) - 1
    if not excerpt.lines:
        raise ToolError(
            f"{name!r} has {count_of(excerpt.total or 0, 'line')}; there is no line {window.start}",
            hint="Choose a smaller start",
        )
    notes = [note] if note else []
    for line, hidden in excerpt.cut.items():
        column = len(excerpt.lines[line - window.start]) + (window.column if line == window.start else 1)
        notes.append(f"Line {line} has {hidden:,} more characters; see them with start={line}, column={column}.")
    if window.start > 1 or excerpt.has_more:
        of = f" of {excerpt.total:,}" if excerpt.total is not None else ", the file goes on"
        more = f" Go on with start={last + 1}." if excerpt.has_more else ""
        notes.insert(0, f"Lines {window.start:,}–{last:,}{of}.{more}")
    text = "\n".join(excerpt.lines)
    return ToolResult(
        text=f"{text}\n\n[{' '.join(notes)}]" if notes else text,
        summary=f"Read {name}: {notes[0] if notes else count_of(len(excerpt.lines), 'line')}",
    )
