"""Brings a file or folder from a place to this computer: whole or not at all, and nothing outside the named folder.

Names come from the server. What is no plain name is left out, links are never followed.
"""

from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path
from posixpath import basename, dirname
from typing import BinaryIO

from anyio import to_thread
from msgspec import Struct, field

from skales.core.errors import ToolError
from skales.core.events import Progress
from skales.tools.context import ToolContext
from skales.tools.file.changes import fresh_file, make_folder, new_file, new_folder
from skales.tools.file.reach import require_allowed
from skales.tools.remote.place import Place, RemoteEntry, RemoteKind, is_plain_name, join_remote

_MOST_FILES = 5_000
_MOST_BYTES = 2_000_000_000
_DEEPEST = 32


class WantedFile(Struct, frozen=True):
    """A file on the server; its size is -1 when the server does not say. `overwrite` is about the one here."""

    path: str
    size_bytes: int
    overwrite: bool


class Fetched(Struct):
    """What came. `left_out` names links, and names that cannot be used here."""

    files: int = 0
    size_bytes: int = 0
    left_out: list[str] = field(default_factory=list[str])


async def find_remote(place: Place, path: str) -> RemoteEntry | None:
    """What stands at a path, as its folder's listing says; None when it says nothing of it."""
    name = basename(path.rstrip("/"))
    if not name:
        return RemoteEntry("", RemoteKind.FOLDER)
    try:
        listed = await place.entries(dirname(path.rstrip("/")) or ("/" if path.startswith("/") else ""))
    except ToolError as error:
        if error.code not in ("not_found", "server", "too_large"):
            raise
        return None
    return next((entry for entry in listed if entry.name == name), None)


async def fetch_file(ctx: ToolContext, place: Place, wanted: WantedFile, target: Path) -> Fetched:
    """One file. Raises ToolError; nothing is left of a file that came in part."""
    fetched = Fetched()
    require_allowed(target, ctx.paths)
    with new_file(target, ctx.ids, overwrite=wanted.overwrite) as stream:
        await _Transfer(ctx, place, fetched, max(wanted.size_bytes, 0)).copy(wanted.path, stream, wanted.size_bytes)
    return fetched


async def fetch_folder(ctx: ToolContext, place: Place, path: str, target: Path) -> Fetched:
    """A folder with all that is in it, as a new folder. Raises ToolError; then there is no new folder."""
    fetched = Fetched()
    require_allowed(target, ctx.paths)
    with new_folder(target, ctx.ids) as staging:
        await _fetch_into(_Transfer(ctx, place, fetched, 0), path, staging)
    return fetched


async def _fetch_into(transfer: "_Transfer", path: str, staging: Path) -> None:
    pending = [(path, staging, _DEEPEST)]
    while pending:
        folder, here, deeper = pending.pop()
        try:
            entries = await transfer.place.entries(folder)
        except ToolError as error:
            # What is found on the way may be closed, or be a link that the server takes for a folder.
            if folder == path or error.code not in ("not_found", "server"):
                raise
            transfer.fetched.left_out.append(folder)
            continue
        await to_thread.run_sync(make_folder, here)
        seen: set[str] = set()
        for entry in entries:
            remote, local = join_remote(folder, entry.name), here / entry.name
            if not is_plain_name(entry.name) or entry.name in seen or entry.kind in (RemoteKind.LINK, RemoteKind.OTHER):
                transfer.fetched.left_out.append(remote)
            elif entry.kind is RemoteKind.FILE:
                with fresh_file(local) as stream:
                    await transfer.copy(remote, stream, entry.size_bytes)
            elif deeper > 0:
                pending.append((remote, local, deeper - 1))
            else:
                transfer.fetched.left_out.append(remote)
            seen.add(entry.name)


class _Transfer(Struct):
    """Counts what comes, against what may come at most."""

    ctx: ToolContext
    place: Place
    fetched: Fetched
    total_bytes: int

    async def copy(self, path: str, stream: BinaryIO, size_bytes: int) -> None:
        """One file's content. Raises ToolError when it is not as long as the server's listing says."""
        if self.fetched.files >= _MOST_FILES:
            raise ToolError(
                f"There are more than {_MOST_FILES:,} files", hint="Download a folder in it", code="too_large"
            )
        came = 0
        report: Callable[[Progress], None] = self.ctx.scope.report
        async with aclosing(self.place.read(path)) as pieces:
            async for piece in pieces:
                await to_thread.run_sync(stream.write, piece)
                came += len(piece)
                self.fetched.size_bytes += len(piece)
                if self.fetched.size_bytes > _MOST_BYTES:
                    raise ToolError("It is more than 2 GB", hint="Download a part of it", code="too_large")
                report(Progress(f"Downloading {basename(path)}", self.fetched.size_bytes, self.total_bytes))
        if 0 <= size_bytes != came:
            raise ToolError(
                f"{basename(path)!r} came in part: {came:,} of {size_bytes:,} bytes",
                hint="Try again",
                code="incomplete",
            )
        self.fetched.files += 1
