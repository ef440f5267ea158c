"""find_files and search_in_files: by name and by content, over a folder tree of any size."""

import io
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from anyio import to_thread
from msgspec import Struct, field

from skales.core.errors import InputError, ToolError
from skales.core.tool import Effect, Safety, ToolResult
from skales.tools.context import ToolContext
from skales.tools.define import tool
from skales.tools.describe import render_size, visible
from skales.tools.documents.coding import detect_coding
from skales.tools.documents.kinds import kind_by_head
from skales.tools.documents.lines import decode_pieces
from skales.tools.file.patterns import compile_name_pattern, compile_pattern
from skales.tools.file.reach import NOISE_FOLDERS, build_reach, require_entry
from skales.tools.file.safe_open import Entry, EntryKind, open_file, walk_folder
from skales.tools.file.wording import count_of, shown_path

_FOUND = 200
_SHOWN_MATCHES = 100
_SHOWN_CHARS = 200
# Beyond these a search stops and says so.
_WALKED = 200_000
_FILE_BYTES = 10 * 1024 * 1024
_TOTAL_BYTES = 1024 * 1024 * 1024
_TIME_S = 60.0
_SAMPLE_BYTES = 64 * 1024
# A line longer than this is searched in pieces, so that memory stays bounded.
_LINE_CHARS = 1024 * 1024

FindAll = Callable[[str], Iterator[int]]


class _Tally(Struct):
    """What a search found and what it passed over."""

    lines: list[str] = field(default_factory=list[str])
    matches: int = 0
    files: int = 0
    searched: int = 0
    read_bytes: int = 0
    binary: int = 0
    large: int = 0
    unreadable: int = 0
    closed: int = 0
    noise: set[str] = field(default_factory=set[str])
    is_cut: bool = False

    def notes(self) -> Sequence[str]:
        """What was passed over, as sentences."""
        counted = (
            (self.large, f"over {render_size(_FILE_BYTES)}"),
            (self.binary, "without text"),
            (self.unreadable, "unreadable"),
            (self.closed, "closed to tools"),
        )
        parts = [f"{count:,} {why}" for count, why in counted if count]
        notes = [f"Not searched: {', '.join(parts)}."] if parts else []
        notes += [f"Folders passed over: {', '.join(sorted(self.noise))}."] if self.noise else []
        notes += ["The search stopped at its limit; search a smaller folder for the rest."] if self.is_cut else []
        return notes


@tool(
    "file",
    Safety.AUTO,
    Effect.READS_PRIVATE,
    action="Look for files named {pattern}[ in {path}]",
    example=("Find all PDF files", {"pattern": "*.pdf"}),
    basic=True,
    found_by=(
        "find file Datei folder Ordner where did I put every all files Python images list changed today "
        "recent wohin Dateien suchen finden wo liegt located name pattern save saved hingelegt abgelegt "
        "gespeichert finde verlegt lost misplaced locate CV Lebenslauf Unterlagen called heißt"
    ),
)
async def find_files(ctx: ToolContext, pattern: str, path: Path = Path()) -> ToolResult:
    """Find files and folders by name.

    Args:
        pattern: Name or part of it, or wildcards such as *.py or src/**/*.ts; case does not count.
        path: Folder to look in.
    """
    return await to_thread.run_sync(partial(_find, ctx, pattern, path), abandon_on_cancel=True)


@tool(
    "file",
    Safety.AUTO,
    Effect.READS_PRIVATE,
    action="Search for “{query}”[ in {path}]",
    example=("Where is parse_date used?", {"query": "parse_date"}),
    basic=True,
    found_by=(
        "look through for the word Wort log error durchsuchen grep Text contains vorkommt kommt vor mention "
        "occurrence Inhalt suchen mentions contain enthält steht allen Dateien Code TODO occurs containing "
        "Textstelle files"
    ),
)
async def search_in_files(
    ctx: ToolContext, query: str, path: Path = Path(), pattern: str = "", regex: bool = False
) -> ToolResult:
    """Find lines of text in files; capitals in the query make case count.

    Args:
        query: Text or regular expression.
        path: Folder or file to search.
        pattern: Only files with names such as *.py.
        regex: Whether query is a regular expression.
    """
    return await to_thread.run_sync(partial(_search, ctx, query, path, (pattern, regex)), abandon_on_cancel=True)


def _find(ctx: ToolContext, pattern: str, path: Path) -> ToolResult:
    if not pattern.strip():
        raise InputError("pattern is empty", hint="Name a file, or use list_directory")
    tally = _Tally()
    fits = compile_name_pattern(pattern)
    for entry in _walk(ctx, path, tally):
        if fits(entry.path.relative_to(path).as_posix()):
            tally.matches += 1
            if tally.matches <= _FOUND:
                tally.lines.append(f"{shown_path(ctx, entry.path)}{'/' if entry.kind is EntryKind.FOLDER else ''}")
    if tally.matches > _FOUND:
        tally.lines.append(f"[{tally.matches - _FOUND:,} more; use a narrower pattern]")
    where = shown_path(ctx, path)
    summary = f"Found {count_of(tally.matches, 'name')} like {pattern} in {where}"
    return _result(summary, tally)


def _search(ctx: ToolContext, query: str, path: Path, options: tuple[str, bool]) -> ToolResult:
    pattern, is_pattern = options
    if not query.strip("\r\n"):
        raise InputError("query is empty", hint="Name the text to look for")
    find = _finder(query, is_pattern=is_pattern)
    tally = _Tally()
    started_s = ctx.clock.monotonic_s()
    for entry in _files(ctx, path, pattern, tally):
        if tally.read_bytes > _TOTAL_BYTES or ctx.clock.monotonic_s() - started_s > _TIME_S:
            tally.is_cut = True
            break
        _search_file(ctx, entry, find, tally)
    if tally.matches > _SHOWN_MATCHES:
        tally.lines.append(f"[{tally.matches - _SHOWN_MATCHES:,} more lines; use a narrower query]")
    found = f"{count_of(tally.matches, 'line')} in {count_of(tally.files, 'file')}"
    return _result(f"Found {found} of {tally.searched:,} searched", tally)


def _files(ctx: ToolContext, path: Path, pattern: str, tally: _Tally) -> Iterator[Entry]:
    """The files to search: the one named, or those of a folder whose names fit and that are not too large."""
    top = require_entry(path, ctx.paths)
    if top.kind is EntryKind.FILE:
        yield top
        return
    fits = compile_name_pattern(pattern or "*")
    for entry in _walk(ctx, path, tally):
        if entry.kind is not EntryKind.FILE or not fits(entry.path.relative_to(path).as_posix()):
            continue
        if entry.size_bytes > _FILE_BYTES:
            tally.large += 1
        else:
            yield entry


def _result(summary: str, tally: _Tally) -> ToolResult:
    body = "\n".join(tally.lines) or "[Nothing found]"
    notes = " ".join(tally.notes())
    return ToolResult(text=f"{body}\n\n[{notes}]" if notes else body, summary=summary)


def _walk(ctx: ToolContext, path: Path, tally: _Tally) -> Iterator[Entry]:
    """Everything below a folder that a search should see."""
    top = require_entry(path, ctx.paths)
    if top.kind is not EntryKind.FOLDER:
        raise ToolError(f"{shown_path(ctx, path)!r} is no folder", hint="Name the folder it is in")
    is_open = build_reach(ctx.paths)

    def is_of_interest(entry: Entry) -> bool:
        if entry.path.name in NOISE_FOLDERS:
            tally.noise.add(entry.path.name)
            return False
        return is_open(entry)

    for walked, entry in enumerate(walk_folder(path, enter=is_of_interest)):
        if walked >= _WALKED:
            tally.is_cut = True
            return
        if is_open(entry):
            yield entry
        else:
            tally.closed += 1


def _finder(query: str, *, is_pattern: bool) -> FindAll:
    """What finds the places in a text where the query begins."""
    ignore_case = query == query.lower()
    if is_pattern:
        compiled = compile_pattern(query, ignore_case=ignore_case)
        return lambda text: (match.start() for match in compiled.find(text))
    return partial(_find_literal, query, ignore_case)


def _find_literal(query: str, ignore_case: bool, text: str) -> Iterator[int]:
    seen = text.lower() if ignore_case else text
    if len(seen) != len(text):
        # A few characters grow when they are made small, which would shift all places behind them.
        yield from (match.start() for match in re.finditer(re.escape(query), text, re.IGNORECASE))
        return
    place = seen.find(query)
    while place >= 0:
        yield place
        place = seen.find(query, place + len(query))


def _search_file(ctx: ToolContext, entry: Entry, find: FindAll, tally: _Tally) -> None:
    before = tally.matches
    try:
        with open_file(entry.path) as stream:
            sample = stream.read(_SAMPLE_BYTES)
            is_whole = len(sample) < _SAMPLE_BYTES
            coding = None if kind_by_head(sample) else detect_coding(sample, is_whole=is_whole)
            if coding is None:
                tally.binary += 1
                return
            pieces = decode_pieces(io.BytesIO(sample) if is_whole else stream, coding)
            for number, line in _matching_lines(_blocks(pieces, entry.size_bytes), find):
                _note_match(tally, f"{number}: {line}", "" if tally.matches > before else shown_path(ctx, entry.path))
    except ToolError as error:
        # A pattern that takes too long for one file does so for others.
        if error.code == "timeout":
            raise
        tally.unreadable += 1
        return
    tally.searched += 1
    tally.read_bytes += entry.size_bytes
    tally.files += tally.matches > before


def _note_match(tally: _Tally, line: str, heading: str) -> None:
    tally.matches += 1
    if tally.matches > _SHOWN_MATCHES:
        return
    if heading:
        tally.lines.append(heading)
    tally.lines.append(f"  {line}")


def _blocks(pieces: Iterator[str], size_bytes: int) -> Iterator[str]:
    """Pieces that break at line ends only, the whole text when it is small; a giant line breaks anywhere."""
    if size_bytes <= _FILE_BYTES:
        yield "".join(pieces)
        return
    carry = ""
    for piece in pieces:
        cut = piece.rfind("\n") + 1
        if cut or len(carry) > _LINE_CHARS:
            yield carry + piece[:cut]
            carry = piece[cut:]
        else:
            carry += piece
    yield carry


def _matching_lines(blocks: Iterator[str], find: FindAll) -> Iterator[tuple[int, str]]:
    """Number and shortened text of each line that holds a match."""
    first = 1
    last_number = 0
    for block in blocks:
        number, counted = first, 0
        for place in find(block):
            number += block.count("\n", counted, place)
            counted = place
            if number != last_number:
                yield number, _excerpt(block, place)
                last_number = number
        first += block.count("\n")


def _excerpt(text: str, place: int) -> str:
    """The line around a place, cut to what can be shown."""
    start = text.rfind("\n", 0, place) + 1
    end = text.find("\n", place)
    end = len(text) if end < 0 else end
    left = max(start, place - _SHOWN_CHARS // 2)
    right = min(end, left + _SHOWN_CHARS)
    return f"{'…' if left > start else ''}{visible(text[left:right])}{'…' if right < end else ''}"
