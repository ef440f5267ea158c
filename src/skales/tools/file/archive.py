"""create_archive and extract_archive: pack without the keys, unpack without the traps. Spec: SKL-03."""

import os
import shutil
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path, PurePath
from typing import Annotated
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from anyio import to_thread
from msgspec import Struct, field

from skales.core.clock import to_datetime
from skales.core.errors import InputError, ToolError
from skales.core.tool import Effect, Safety, ToolResult
from skales.tools.context import ToolContext
from skales.tools.define import Range, tool
from skales.tools.describe import render_size
from skales.tools.file.changes import fresh_file, make_folder, new_entries, new_file, new_folder
from skales.tools.file.reach import build_reach, require_allowed, require_entry
from skales.tools.file.safe_open import Entry, EntryKind, find_entry, open_file, walk_folder
from skales.tools.file.secret_names import is_secret_name
from skales.tools.file.unpacking import Member, read_archive
from skales.tools.file.wording import count_of, shown_name, shown_path

_CHUNK_BYTES = 1024 * 1024
_NAMED = 20
_LISTED = 500
_ENDINGS = (".tar.gz", ".tar.bz2", ".tar.xz", ".tgz", ".tbz2", ".txz", ".tar", ".zip")


class _Packing(Struct):
    """What goes into an archive, by its name there, and what stays out."""

    entries: dict[str, Entry] = field(default_factory=dict[str, Entry])
    secrets: list[str] = field(default_factory=list[str])
    other: list[str] = field(default_factory=list[str])


class _Contents(Struct):
    """What an archive holds, as far as it was looked at."""

    members: list[Member] = field(default_factory=list[Member])
    size_bytes: int = 0

    def take(self, member: Member, chunks: Iterator[bytes]) -> None:
        """Note an entry and read it through, which finds damage and counts what really comes out."""
        self.members.append(member)
        self.size_bytes += sum(len(chunk) for chunk in chunks)

    @property
    def files(self) -> int:
        """How many entries are files."""
        return sum(not member.is_folder for member in self.members)


@tool(
    "file",
    Safety.CONFIRM,
    Effect.WRITES,
    action="Pack {paths} into {archive}[, overwriting: {overwrite}]",
    example=("Zip the photos folder", {"paths": ["photos"], "archive": "photos.zip"}),
    found_by=(
        "zip packen komprimieren compress bundle archiv einpacken zippen zusammenpacken verpacken pack verschicken"
    ),
)
async def create_archive(
    ctx: ToolContext, paths: Annotated[list[Path], Range(1, 200)], archive: Path, overwrite: bool = False
) -> ToolResult:
    """Pack files and folders into a zip archive; key and password files are left out and named.

    Args:
        paths: What to pack.
        archive: Path of the archive, ending in .zip.
        overwrite: Replace an archive that is there.
    """
    return await to_thread.run_sync(partial(_create, ctx, paths, archive, overwrite))


@tool(
    "file",
    Safety.CONFIRM,
    Effect.WRITES,
    action="Unpack {archive}[ into {destination}][, only listing: {list_only}]",
    example=("Unpack logs.tar.gz", {"archive": "logs.tar.gz"}),
    found_by=(
        "entpacken unzip auspacken unpack tar zip decompress entzippen entpacke drin tar.gz 7z rar inside "
        "archive Archiv Inhalt"
    ),
    asks_unless={"list_only": (True,)},
)
async def extract_archive(
    ctx: ToolContext, archive: Path, destination: Path | None = None, list_only: bool = False
) -> ToolResult:
    """Unpack a zip or tar archive, or list what is in it; nothing is overwritten.

    Args:
        archive: The archive.
        destination: Folder to unpack into; a new one beside the archive when not given.
        list_only: List the contents instead.
    """
    if list_only:
        return await to_thread.run_sync(partial(_list, ctx, archive), abandon_on_cancel=True)
    return await to_thread.run_sync(partial(_extract, ctx, archive, destination))


def _create(ctx: ToolContext, paths: Sequence[Path], archive: Path, overwrite: bool) -> ToolResult:
    name = shown_path(ctx, archive)
    if archive.suffix.casefold() != ".zip":
        raise InputError(f"{name!r} does not end in .zip", hint="Only zip archives are made")
    packing = _collect(ctx, paths, archive)
    if not packing.entries:
        raise ToolError("Nothing is left to pack", hint=_left_out(packing) or "Name files or folders", code="nothing")
    with new_file(archive, ctx.ids, overwrite=overwrite) as stream:
        with ZipFile(stream, "w", ZIP_DEFLATED) as packed:
            for inner, entry in packing.entries.items():
                _pack(packed, inner, entry)
        size_bytes = stream.tell()
    files = sum(entry.kind is EntryKind.FILE for entry in packing.entries.values())
    summary = f"Packed {count_of(files, 'file')} into {name} ({render_size(size_bytes)})"
    return ToolResult(text=f"{summary}. {_left_out(packing)}".strip(), summary=summary, files=(str(archive),))


def _collect(ctx: ToolContext, paths: Sequence[Path], archive: Path) -> _Packing:
    packing = _Packing()
    is_open = build_reach(ctx.paths)
    top = Path(os.path.commonpath([path.parent for path in paths]))
    for path in paths:
        entry = require_entry(path, ctx.paths)
        _sort_in(packing, entry, top)
        if entry.kind is not EntryKind.FOLDER:
            continue
        for inner in walk_folder(path, enter=is_open):
            if not is_open(inner):
                packing.other.append(inner.path.relative_to(top).as_posix())
            elif inner.path != archive:
                _sort_in(packing, inner, top)
    return packing


def _sort_in(packing: _Packing, entry: Entry, top: Path) -> None:
    inner = entry.path.relative_to(top)
    name = inner.as_posix()
    if is_secret_name(inner):
        if entry.kind is not EntryKind.FOLDER:
            packing.secrets.append(name)
    elif entry.kind in {EntryKind.FILE, EntryKind.FOLDER} and _is_proper(name):
        packing.entries[name if entry.kind is EntryKind.FILE else f"{name}/"] = entry
    else:
        packing.other.append(name)


def _is_proper(name: str) -> bool:
    """Whether a name can be written in UTF-8; names on disk may be any bytes."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _pack(packed: ZipFile, inner: str, entry: Entry) -> None:
    moment = to_datetime(entry.modified_ms).timetuple()[:6]
    # The years a zip can say.
    stamped = ZipInfo(inner, (1980, 1, 1, 0, 0, 0) if moment[0] < 1980 else min(moment, (2107, 12, 31, 23, 59, 58)))
    stamped.compress_type = ZIP_DEFLATED
    stamped.external_attr = (entry.mode & 0xFFFF) << 16
    if entry.kind is EntryKind.FOLDER:
        packed.writestr(stamped, b"")
        return
    with open_file(entry.path) as source, packed.open(stamped, "w", force_zip64=entry.size_bytes > 2**31) as target:
        shutil.copyfileobj(source, target, _CHUNK_BYTES)


def _left_out(packing: _Packing) -> str:
    parts: list[str] = []
    for names, why in ((packing.secrets, "may hold keys or passwords"), (packing.other, "links, or closed to tools")):
        if names:
            more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
            parts.append(f"Left out ({why}): {', '.join(map(shown_name, names[:_NAMED]))}{more}")
    return ". ".join(parts)


def _list(ctx: ToolContext, archive: Path) -> ToolResult:
    name = shown_path(ctx, archive)
    contents = _look_through(ctx, archive)
    lines = [
        f"{member.path}/" if member.is_folder else f"{member.path}  {render_size(member.size_bytes)}"
        for member in contents.members[:_LISTED]
    ]
    if len(contents.members) > _LISTED:
        lines.append(f"[{len(contents.members) - _LISTED:,} more]")
    summary = f"{name} holds {count_of(contents.files, 'file')}, {render_size(contents.size_bytes)} unpacked"
    return ToolResult(text="\n".join([summary, *lines]), summary=summary)


def _extract(ctx: ToolContext, archive: Path, destination: Path | None) -> ToolResult:
    contents = _look_through(ctx, archive)
    target = destination or require_allowed(archive.with_name(_stem(archive)), ctx.paths)
    tops = {member.path.parts[0] for member in contents.members}
    _require_room(ctx, contents, target, tops)
    there = find_entry(target)
    place = new_folder(target, ctx.ids) if there is None else new_entries(target, ctx.ids)
    with place as staging, open_file(archive) as stream:
        read_archive(stream, partial(_unpack, staging, set()))
    name = shown_path(ctx, target)
    size = render_size(contents.size_bytes)
    summary = f"Unpacked {count_of(contents.files, 'file')} ({size}) into {name}"
    held = ", ".join(sorted(tops)[:_NAMED]) + (", …" if len(tops) > _NAMED else "")
    return ToolResult(text=f"{summary}: {held}", summary=summary, files=(str(target),))


def _look_through(ctx: ToolContext, archive: Path) -> _Contents:
    """Read the archive once without writing anything. Raises ToolError and ToolRefusedError."""
    require_entry(archive, ctx.paths)
    contents = _Contents()
    with open_file(archive) as stream:
        read_archive(stream, contents.take)
    if not contents.members:
        raise ToolError(f"{shown_path(ctx, archive)!r} holds nothing", hint="Check that it is the right file")
    return contents


def _require_room(ctx: ToolContext, contents: _Contents, target: Path, tops: set[str]) -> None:
    """Raise ToolError when the destination is taken or an entry would land where tools may not write."""
    there = find_entry(target)
    if there is not None and there.kind is not EntryKind.FOLDER:
        raise ToolError(f"{shown_path(ctx, target)!r} is a file", hint="Name another destination", code="exists")
    taken = sorted(top for top in tops if there is not None and find_entry(target / top, may_be_link=True) is not None)
    if taken:
        raise ToolError(
            f"{shown_path(ctx, target)!r} holds {', '.join(taken[:_NAMED])} already; nothing was unpacked",
            hint="Name another destination",
            code="exists",
        )
    is_open = build_reach(ctx.paths)
    for member in contents.members:
        path = target.joinpath(*member.path.parts)
        kind = EntryKind.FOLDER if member.is_folder else EntryKind.FILE
        for place, as_kind in ((path, kind), (path.parent, EntryKind.FOLDER)):
            if not is_open(Entry(place, as_kind, 0, 0, 0)):
                require_allowed(place, ctx.paths)


def _unpack(staging: Path, made: set[Path], member: Member, chunks: Iterator[bytes]) -> None:
    path = staging.joinpath(*member.path.parts)
    folder = path if member.is_folder else path.parent
    if folder not in made:
        make_folder(folder)
        made.add(folder)
    if not member.is_folder:
        with fresh_file(path, mode=0o777 if member.is_executable else 0o666) as stream:
            for chunk in chunks:
                stream.write(chunk)


def _stem(archive: PurePath) -> str:
    ending = next((ending for ending in _ENDINGS if archive.name.casefold().endswith(ending)), "")
    return archive.name[: len(archive.name) - len(ending)] if ending else f"{archive.name} unpacked"
