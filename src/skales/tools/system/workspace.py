"""The tool `get_workspace_info`: where tools may work, and what lies in the workspace."""

import shutil
from collections.abc import Callable, Iterator

from anyio import from_thread, to_thread
from msgspec import Struct

from skales.core.tool import Effect, Safety, ToolResult
from skales.tools.context import ToolContext
from skales.tools.define import tool
from skales.tools.describe import render_size
from skales.tools.file.reach import build_reach
from skales.tools.file.safe_open import Entry, EntryKind, find_entry, list_folder, walk_folder
from skales.tools.file.wording import count_of, shown_name

_LISTED = 50
_MOST_ENTRIES = 100_000
_STEP = 2_000


class _Part(Struct, frozen=True):
    """What lies directly in the workspace, with all that is in it."""

    name: str
    files: int
    size_bytes: int


@tool(
    "system",
    Safety.AUTO,
    Effect.READS_PRIVATE,
    action="Look at the workspace",
    example=("Where do you keep your files?", {}),
    found_by=(
        "Arbeitsordner workspace where do you save wo speicherst Pfad path allowed erlaubt Ordner darfst "
        "schreiben access Zugriff stuff folders"
    ),
)
async def get_workspace_info(ctx: ToolContext) -> ToolResult:
    """Tell where files may be read and written, and what the workspace holds."""
    return await to_thread.run_sync(_describe, ctx)


def _describe(ctx: ToolContext) -> ToolResult:
    workspace = ctx.paths.workspace.resolve()
    parts, is_cut = _parts(ctx)
    size_bytes = sum(part.size_bytes for part in parts)
    files = sum(part.files for part in parts)
    others = "every folder the person may open" if ctx.paths.unrestricted else _folders(ctx)
    lines = [
        f"Workspace: {shown_name(str(workspace))}",
        f"Holds: {render_size(size_bytes)} in {count_of(files, 'file')}{' or more' if is_cut else ''}",
        f"Free on its disk: {render_size(shutil.disk_usage(workspace).free)}",
        f"Also allowed: {others}",
        *(f"- {part.name}  {render_size(part.size_bytes)}, {count_of(part.files, 'file')}" for part in parts[:_LISTED]),
    ]
    if len(parts) > _LISTED:
        lines.append(f"[{len(parts) - _LISTED:,} more]")
    return ToolResult(
        text="\n".join(lines),
        summary=f"The workspace holds {render_size(size_bytes)} in {count_of(files, 'file')}",
        data={
            "workspace": str(workspace),
            "allowed": [str(folder) for folder in ctx.paths.allowed],
            "unrestricted": ctx.paths.unrestricted,
            "files": files,
            "bytes": size_bytes,
        },
    )


def _folders(ctx: ToolContext) -> str:
    return ", ".join(shown_name(str(folder)) for folder in ctx.paths.allowed) or "no other folder"


def _parts(ctx: ToolContext) -> tuple[list[_Part], bool]:
    """What lies directly in the workspace, largest first, and whether the counting was ended early."""
    workspace = ctx.paths.workspace.resolve()
    if find_entry(workspace) is None:
        return [], False
    is_open = build_reach(ctx.paths)
    seen = 0
    parts: list[_Part] = []
    for top in filter(is_open, list_folder(workspace)):
        files = size_bytes = 0
        for entry in _files(top, is_open):
            seen += 1
            if seen % _STEP == 0:
                from_thread.check_cancelled()
            if entry.kind is EntryKind.FILE:
                files, size_bytes = files + 1, size_bytes + entry.size_bytes
            if seen > _MOST_ENTRIES:
                break
        name = f"{shown_name(top.path.name)}{'/' if top.kind is EntryKind.FOLDER else ''}"
        parts.append(_Part(name, files, size_bytes))
    return sorted(parts, key=lambda part: (-part.size_bytes, part.name)), seen > _MOST_ENTRIES


def _files(top: Entry, is_open: Callable[[Entry], bool]) -> Iterator[Entry]:
    if top.kind is EntryKind.FOLDER:
        yield from (entry for entry in walk_folder(top.path, is_open) if is_open(entry))
    else:
        yield top
