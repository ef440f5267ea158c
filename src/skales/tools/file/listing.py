"""list_directory, create_directory and get_file_info: what is where."""

import hashlib
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated

from anyio import to_thread

from skales.core.clock import to_datetime
from skales.core.errors import ToolError
from skales.core.tool import Effect, Safety, ToolResult
from skales.tools.context import ToolContext
from skales.tools.define import LinkPath, Range, tool
from skales.tools.describe import render_size
from skales.tools.documents.coding import detect_coding
from skales.tools.documents.kinds import detect_kind, kind_by_name
from skales.tools.file.changes import make_folder
from skales.tools.file.reach import build_reach, require_entry
from skales.tools.file.safe_open import Entry, EntryKind, find_entry, list_folder, open_file, read_link, walk_folder
from skales.tools.file.wording import count_of, shown_name, shown_path

_LISTED = 500
_HASHED_BYTES = 100 * 1024 * 1024
_SAMPLE_BYTES = 256 * 1024
_CHUNK_BYTES = 1024 * 1024


@tool(
    "file",
    Safety.AUTO,
    Effect.READS_PRIVATE,
    action="List {path}",
    example=("Which files are in reports?", {"path": "reports"}),
    basic=True,
    found_by=(
        "folder Ordner list directory in my what is inside Downloads Desktop Ordnerinhalt anzeigen auflisten "
        "ls dir contents was liegt show Inhalt drin Documents Verzeichnis files Dateien"
    ),
)
async def list_directory(ctx: ToolContext, path: Path = Path(), depth: Annotated[int, Range(1, 20)] = 1) -> ToolResult:
    """List a folder with sizes and dates.

    Args:
        path: Folder to list.
        depth: Levels to show; links are not followed.
    """
    return await to_thread.run_sync(partial(_list, ctx, path, depth), abandon_on_cancel=True)


@tool(
    "file",
    Safety.CONFIRM,
    Effect.WRITES,
    action="Create the folder {path}",
    example=("Make a folder for invoices", {"path": "invoices"}),
    found_by="Ordner anlegen mkdir Verzeichnis folder new make subfolder Unterordner erstellen",
)
async def create_directory(ctx: ToolContext, path: Path) -> str:
    """Create a folder and those on the way to it.

    Args:
        path: Folder to create.
    """
    return await to_thread.run_sync(partial(_create, ctx, path))


@tool(
    "file",
    Safety.AUTO,
    Effect.READS_PRIVATE,
    action="Look at the details of {path}",
    example=("How big is backup.zip?", {"path": "backup.zip"}),
    found_by=(
        "file Datei Größe size Datum modified geändert Prüfsumme checksum hash wie groß how big type last "
        "Änderungsdatum md5 sha256 Dateigröße zuletzt created erstellt wann older integrity"
    ),
)
async def get_file_info(ctx: ToolContext, path: LinkPath) -> ToolResult:
    """Tell size, date, type and checksum of a file, folder or link.

    Args:
        path: What to look at.
    """
    return await to_thread.run_sync(partial(_details, ctx, path), abandon_on_cancel=True)


def _list(ctx: ToolContext, path: Path, depth: int) -> ToolResult:
    found = require_entry(path, ctx.paths)
    name = shown_path(ctx, path)
    if found.kind is not EntryKind.FOLDER:
        raise ToolError(f"{name!r} is no folder", hint="Use read_file or get_file_info")
    is_open = build_reach(ctx.paths)
    lines: list[str] = []
    total = 0
    for entry in walk_folder(path, enter=is_open, depth=depth):
        total += 1
        if total <= _LISTED:
            lines.append(_line(entry, path, is_open=is_open(entry)))
    if total > _LISTED:
        lines.append(f"[{total - _LISTED:,} more; list a folder in it, or use find_files]")
    summary = f"{name} holds {count_of(total, 'entry', 'entries')}"
    return ToolResult(text="\n".join(lines) or f"[{name} is empty]", summary=summary)


def _line(entry: Entry, top: Path, *, is_open: bool) -> str:
    name = shown_name(entry.path.relative_to(top).as_posix())
    if not is_open:
        return f"{name} (closed to tools)"
    match entry.kind:
        case EntryKind.FOLDER:
            return f"{name}/"
        case EntryKind.LINK:
            return f"{name} -> {shown_name(read_link(entry.path))}"
        case EntryKind.OTHER:
            return f"{name} (device, pipe or socket)"
        case EntryKind.FILE:
            return f"{name}  {render_size(entry.size_bytes)}  {_minute(entry.modified_ms)}"


def _create(ctx: ToolContext, path: Path) -> str:
    name = shown_path(ctx, path)
    there = find_entry(path)
    if there is not None and there.kind is EntryKind.FOLDER:
        return f"The folder {name} is there already"
    if there is not None:
        raise ToolError(f"{name!r} is a file", hint="Choose another name", code="exists")
    make_folder(path)
    return f"Created the folder {name}"


def _details(ctx: ToolContext, path: Path) -> ToolResult:
    entry = require_entry(path, ctx.paths, may_be_link=True)
    name = shown_path(ctx, path)
    lines = [f"path: {shown_name(str(path))}", f"changed: {_minute(entry.modified_ms)}"]
    match entry.kind:
        case EntryKind.FILE:
            lines += _file_details(path, entry)
        case EntryKind.FOLDER:
            lines += ["type: folder", f"holds: {count_of(len(list_folder(path)), 'entry', 'entries')}"]
        case EntryKind.LINK:
            lines += [f"type: link to {shown_name(read_link(path))}"]
        case EntryKind.OTHER:
            lines += ["type: device, pipe or socket"]
    return ToolResult(text="\n".join(lines), summary=f"Looked at {name}")


def _file_details(path: Path, entry: Entry) -> list[str]:
    size, whole = render_size(entry.size_bytes), count_of(entry.size_bytes, "byte")
    lines = [f"size: {size}" if size == whole else f"size: {size} ({whole})"]
    with open_file(path) as stream:
        kind = detect_kind(stream)
        stream.seek(0)
        sample = stream.read(_SAMPLE_BYTES)
        coding = None if kind else detect_coding(sample, is_whole=len(sample) == entry.size_bytes)
        if kind:
            lines.append(f"type: {kind.words}")
        elif not sample:
            lines.append("type: empty file")
        elif coding:
            lines.append(f"type: text, {coding.label}, {_line_ends(sample.decode(coding.codec, 'ignore'))}")
        else:
            lines.append(f"type: binary data {kind_by_name(path)}".rstrip())
        if entry.size_bytes <= _HASHED_BYTES:
            digest = hashlib.sha256(sample)
            while chunk := stream.read(_CHUNK_BYTES):
                digest.update(chunk)
            lines.append(f"sha256: {digest.hexdigest()}")
        else:
            lines.append(f"sha256: not computed over {render_size(_HASHED_BYTES)}")
    return lines


def _line_ends(sample: str) -> str:
    windows = sample.count("\r\n")
    unix, old = sample.count("\n") - windows, sample.count("\r") - windows
    kinds = [name for name, count in (("LF", unix), ("CRLF", windows), ("CR", old)) if count]
    return f"{' and '.join(kinds)} line ends" if kinds else "one line"


def _minute(moment_ms: int) -> str:
    moment: datetime = to_datetime(moment_ms)
    return moment.strftime("%Y-%m-%d %H:%M")
