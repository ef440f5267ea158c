"""move_file, copy_file and delete_file: nothing is overwritten or lost unless the call says so."""

from functools import partial
from pathlib import Path

from anyio import to_thread

from skales.core.errors import ToolError
from skales.core.tool import Effect, Safety, ToolResult
from skales.tools.context import ToolContext
from skales.tools.define import LinkPath, tool
from skales.tools.describe import render_size
from skales.tools.file.changes import remove_entry
from skales.tools.file.copying import copy_entry, move_entry, trash_entry
from skales.tools.file.reach import build_reach, require_all_allowed, require_allowed, require_entry
from skales.tools.file.safe_open import Entry, EntryKind, find_entry, read_link, walk_folder
from skales.tools.file.wording import count_of, shown_name, shown_path

_NAMED = 10
# A folder with more entries than this is not counted to the end for a preview.
_COUNTED = 20_000


@tool(
    "file",
    Safety.CONFIRM,
    Effect.WRITES,
    action="Move {source} to {destination}[, overwriting: {overwrite}]",
    example=("Rename draft.md to final.md", {"source": "draft.md", "destination": "final.md"}),
    found_by=(
        "take put into folder Archive out of the way nach Ordner rename verschieben umbenennen umziehen "
        "schieben benennen umnennen move call differently verlegen einsortieren ablegen sort heißen"
    ),
)
async def move_file(ctx: ToolContext, source: LinkPath, destination: Path, overwrite: bool = False) -> ToolResult:
    """Move or rename a file or folder.

    Args:
        source: What to move.
        destination: New path, or a folder to move it into.
        overwrite: Replace a file that is there.
    """
    return await to_thread.run_sync(partial(_move, ctx, source, destination, overwrite))


@tool(
    "file",
    Safety.CONFIRM,
    Effect.WRITES,
    action="Copy {source} to {destination}[, overwriting: {overwrite}]",
    example=("Copy report.docx into backup", {"source": "report.docx", "destination": "backup/report.docx"}),
    found_by=(
        "file Datei folder Ordner copy kopieren duplicate Kopie duplizieren clone Sicherungskopie backup "
        "zweite Fassung template Vorlage"
    ),
)
async def copy_file(ctx: ToolContext, source: Path, destination: Path, overwrite: bool = False) -> ToolResult:
    """Copy a file, or a folder with all that is in it.

    Args:
        source: What to copy.
        destination: Path of the copy, or a folder to copy it into.
        overwrite: Replace a file that is there.
    """
    return await to_thread.run_sync(partial(_copy, ctx, source, destination, overwrite))


def preview_delete(ctx: ToolContext, path: LinkPath, recursive: bool = False) -> str:
    """How much delete_file would put away, and what."""
    entry = require_entry(path, ctx.paths, may_be_link=True)
    name = shown_path(ctx, path)
    match entry.kind:
        case EntryKind.LINK:
            return f"The link {name}; what it points to ({shown_name(read_link(path))}) stays."
        case EntryKind.FOLDER:
            return _held_in(entry, name, recursive=recursive)
        case _:
            return f"The file {name}, {render_size(entry.size_bytes)}."


def _held_in(folder: Entry, name: str, *, recursive: bool) -> str:
    files, size_bytes, named = 0, 0, list[str]()
    for number, entry in enumerate(walk_folder(folder.path, enter=lambda _entry: True)):
        if number >= _COUNTED:
            return f"The folder {name} with more than {count_of(_COUNTED, 'entry', 'entries')}."
        if entry.kind is not EntryKind.FOLDER:
            files += 1
            size_bytes += entry.size_bytes
            if files <= _NAMED:
                inner = shown_name(entry.path.relative_to(folder.path).as_posix())
                named.append(f"  {inner} ({render_size(entry.size_bytes)})")
    more = [f"  and {files - _NAMED:,} more"] if files > _NAMED else []
    refused = ["Without recursive it is refused."] if not recursive else []
    head = f"The folder {name} with {count_of(files, 'file')}, together {render_size(size_bytes)}."
    return "\n".join([head, *named, *more, *refused])


@tool(
    "file",
    Safety.CONFIRM,
    Effect.WRITES,
    Effect.DESTRUCTIVE,
    action="Delete {path}[ with all that is in it: {recursive}]",
    example=("Delete old.log", {"path": "old.log"}),
    preview=preview_delete,
    found_by=(
        "lösch file Datei folder Ordner throw away drop temporary clean up löschen entfernen remove trash "
        "Papierkorb wegwerfen get rid rm wegschmeißen schmeißen weg loswerden putzen erase old"
    ),
)
async def delete_file(ctx: ToolContext, path: LinkPath, recursive: bool = False) -> ToolResult:
    """Put a file or folder into the trash; of a link, only the link goes.

    Args:
        path: What to delete.
        recursive: Needed for a folder.
    """
    return await to_thread.run_sync(partial(_delete, ctx, path, recursive))


def _move(ctx: ToolContext, source: Path, destination: Path, overwrite: bool) -> ToolResult:
    entry = require_entry(source, ctx.paths, may_be_link=True)
    target = _target(ctx, entry, destination, overwrite=overwrite)
    _require_movable(ctx, entry)
    move_entry(entry, target, ctx.ids, overwrite=overwrite)
    summary = f"Moved {shown_path(ctx, source)} to {shown_path(ctx, target)}"
    return ToolResult(text=summary, summary=summary, files=(str(target),))


def _copy(ctx: ToolContext, source: Path, destination: Path, overwrite: bool) -> ToolResult:
    entry = require_entry(source, ctx.paths)
    target = _target(ctx, entry, destination, overwrite=overwrite)
    copied = copy_entry(entry, target, ctx.ids, overwrite=overwrite, is_open=build_reach(ctx.paths))
    what = "" if entry.kind is EntryKind.FILE else f"{count_of(copied.files, 'file')}, "
    size = render_size(copied.size_bytes)
    summary = f"Copied {shown_path(ctx, source)} to {shown_path(ctx, target)} ({what}{size})"
    missing = f". Left out: {', '.join(map(shown_name, copied.left_out[:_NAMED]))}" if copied.left_out else ""
    more = f" and {len(copied.left_out) - _NAMED} more" if len(copied.left_out) > _NAMED else ""
    return ToolResult(text=f"{summary}{missing}{more}", summary=summary, files=(str(target),))


def _delete(ctx: ToolContext, path: Path, recursive: bool) -> ToolResult:
    entry = require_entry(path, ctx.paths, may_be_link=True)
    name = shown_path(ctx, path)
    if entry.kind is EntryKind.LINK:
        target = shown_name(read_link(path))
        remove_entry(path)
        summary = f"Removed the link {name}; what it pointed to ({target}) is untouched"
        return ToolResult(text=summary, summary=summary, files=(str(path),))
    _require_movable(ctx, entry)
    held = sum(1 for _ in walk_folder(path, enter=lambda _entry: True)) if entry.kind is EntryKind.FOLDER else 0
    if entry.kind is EntryKind.FOLDER and not recursive:
        raise ToolError(
            f"{name!r} is a folder with {count_of(held, 'entry', 'entries')}",
            hint="Set recursive=true to delete it with all that is in it",
        )
    kept = trash_entry(entry, ctx.data.root / "trash" / "files", ctx.ids)
    what = f"{name} ({count_of(held, 'entry', 'entries')})" if held else name
    where = f"; it can be restored from {kept}" if kept else ", from where it can be restored"
    summary = f"Moved {what} to the {'Skales' if kept else 'system'} trash{where}"
    return ToolResult(text=summary, summary=summary, files=(str(path),))


def _target(ctx: ToolContext, entry: Entry, destination: Path, *, overwrite: bool) -> Path:
    """The path the entry gets: the destination, or its own name in the folder that the destination is."""
    there = find_entry(destination)
    if there is not None and there.kind is EntryKind.FOLDER and destination != entry.path:
        destination = require_allowed(destination / entry.path.name, ctx.paths)
        there = find_entry(destination, may_be_link=True)
    if destination == entry.path:
        raise ToolError(f"{shown_path(ctx, destination)!r} is that path already", hint="Name another place")
    if entry.kind is EntryKind.FOLDER and destination.is_relative_to(entry.path):
        raise ToolError(f"{shown_path(ctx, entry.path)!r} cannot go into itself", hint="Name a place outside it")
    if there is not None and (not overwrite or EntryKind.FOLDER in {there.kind, entry.kind}):
        hint = "Name another place" if overwrite else "Name another place, or set overwrite=true to replace a file"
        raise ToolError(f"{shown_path(ctx, destination)!r} is there already", hint=hint, code="exists")
    return destination


def _require_movable(ctx: ToolContext, entry: Entry) -> None:
    """Refuse what holds the workspace or something closed to tools; both would go with it unseen."""
    if entry.kind is not EntryKind.FOLDER:
        return
    if ctx.paths.workspace.resolve().is_relative_to(entry.path):
        raise ToolError(f"{str(entry.path)!r} holds the workspace", hint="Name something inside it")
    require_all_allowed(entry.path, ctx.paths)
