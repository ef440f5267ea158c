"""The tool `get_disk_usage`: how full a disk is, and which folders below a place take most of it.

Links and other file systems are not entered. A walk ends at a number of entries and at a time, and says so.
"""

import shutil
from functools import partial
from pathlib import Path
from typing import Annotated

from anyio import from_thread, to_thread
from msgspec import Struct, field

from skales.core.errors import ToolError
from skales.core.events import Progress
from skales.core.tool import Effect, Safety, ToolResult
from skales.tools.context import ToolContext
from skales.tools.define import Range, tool
from skales.tools.describe import render_size
from skales.tools.file.reach import build_reach, require_entry
from skales.tools.file.safe_open import Entry, EntryKind, walk_folder
from skales.tools.file.wording import count_of, shown_name, shown_path

_MOST_ENTRIES = 500_000
_TIME_S = 60.0
_STEP = 2_000
# How deep below the place folders are told apart.
_LEVELS = 4


class _Usage(Struct):
    """What lies below a place. `folders` has each with all that is in it, by path from the place."""

    files: int = 0
    size_bytes: int = 0
    folders: dict[str, int] = field(default_factory=dict[str, int])
    seen: int = 0
    closed: int = 0
    elsewhere: int = 0
    is_cut: bool = False

    def add(self, place: Path, size_bytes: int) -> None:
        self.files += 1
        self.size_bytes += size_bytes
        parts = place.parts[:_LEVELS]
        for depth in range(1, len(parts) + 1):
            name = "/".join(parts[:depth])
            self.folders[name] = self.folders.get(name, 0) + size_bytes


@tool(
    "system",
    Safety.AUTO,
    Effect.READS_PRIVATE,
    action="Look how full the disk is[ and what takes the space in {path}]",
    example=("What takes so much space in my projects?", {"path": "projects"}),
    found_by=(
        "Ordner größten biggest which folders are Speicherplatz Festplatte voll disk space largest free up "
        "Platz storage full groß Platte left frisst belegt größte cleaning"
    ),
)
async def get_disk_usage(
    ctx: ToolContext, path: Path = Path(), limit: Annotated[int, Range(1, 100)] = 15
) -> ToolResult:
    """Tell free disk space and the largest folders below a place.

    Args:
        path: Folder to look in.
        limit: How many folders to name.
    """
    return await to_thread.run_sync(partial(_measure, ctx, path, limit))


def _measure(ctx: ToolContext, path: Path, limit: int) -> ToolResult:
    top = require_entry(path, ctx.paths)
    if top.kind is not EntryKind.FOLDER:
        raise ToolError(f"{shown_path(ctx, path)!r} is no folder", hint="Use get_file_info for a file")
    disk = shutil.disk_usage(path)
    usage = _walk(ctx, top)
    largest = sorted(usage.folders.items(), key=lambda item: (-item[1], item[0]))[:limit]
    lines = [
        f"Disk: {render_size(disk.total)}, {render_size(disk.used)} used, {render_size(disk.free)} free",
        f"{shown_path(ctx, path)}: {render_size(usage.size_bytes)} in {count_of(usage.files, 'file')}",
        *(f"- {shown_name(name)}/  {render_size(size)}" for name, size in largest),
        *_notes(usage),
    ]
    return ToolResult(
        text="\n".join(lines),
        summary=f"{render_size(disk.free)} free; {shown_path(ctx, path)} takes {render_size(usage.size_bytes)}",
        data={
            "totalBytes": disk.total,
            "freeBytes": disk.free,
            "folderBytes": usage.size_bytes,
            "files": usage.files,
            "folders": [{"path": shown_name(name), "bytes": size} for name, size in largest],
            "isPartial": usage.is_cut,
        },
    )


def _walk(ctx: ToolContext, top: Entry) -> _Usage:
    usage = _Usage()
    is_open = build_reach(ctx.paths)
    started_s = ctx.clock.monotonic_s()

    def enter(entry: Entry) -> bool:
        if not is_open(entry):
            usage.closed += 1
            return False
        if entry.identity[0] != top.identity[0]:
            usage.elsewhere += 1
            return False
        return True

    for entry in walk_folder(top.path, enter):
        usage.seen += 1
        if usage.seen % _STEP == 0:
            from_thread.check_cancelled()
            from_thread.run_sync(ctx.scope.report, Progress("Measuring folders", usage.seen, 0, "steps"))
        if usage.seen > _MOST_ENTRIES or ctx.clock.monotonic_s() - started_s > _TIME_S:
            usage.is_cut = True
            return usage
        if entry.kind is EntryKind.FILE and is_open(entry):
            usage.add(entry.path.parent.relative_to(top.path), entry.size_bytes)
    return usage


def _notes(usage: _Usage) -> list[str]:
    notes: list[str] = []
    if usage.closed:
        notes.append(f"{count_of(usage.closed, 'folder')} closed to tools not counted.")
    if usage.elsewhere:
        notes.append(f"{count_of(usage.elsewhere, 'folder')} on other disks not counted.")
    if usage.is_cut:
        notes.append(f"Ended after {usage.seen:,} entries; the sizes are what was seen so far.")
    return notes
