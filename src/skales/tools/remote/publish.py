"""Brings a folder's files to a place: only what changed, each in one step, and nothing is deleted unless asked.

What was sent is written down in the end, also when it ended early, so that the next time goes on from there. A file
counts as unchanged when it is what was sent and the place still has one of that size.
"""

import hashlib
from collections.abc import Callable, Sequence
from posixpath import basename, dirname
from typing import BinaryIO, cast

import anyio
from anyio import to_thread
from msgspec import Struct, field

from skales.core.errors import ToolError
from skales.core.events import Progress
from skales.data.published import PublishedFile
from skales.tools.context import ToolContext
from skales.tools.file.safe_open import open_file
from skales.tools.remote.collecting import Collected, LocalFile
from skales.tools.remote.place import Place, RemoteEntry, RemoteKind, join_remote

_HASH_BYTES = 1024 * 1024


class Job(Struct, frozen=True):
    """What goes where. `key` names the place for what is written down about it; `base` is the folder on it."""

    key: str
    base: str
    files: Collected
    delete_missing: bool = False


class Plan(Struct):
    """What differs. `missing` are files that were sent once, are still there, and no longer exist here."""

    changed: list[LocalFile] = field(default_factory=list[LocalFile])
    unchanged: int = 0
    missing: list[str] = field(default_factory=list[str])
    folders: list[str] = field(default_factory=list[str])

    @property
    def size_bytes(self) -> int:
        """Of all that is to be sent."""
        return sum(file.size_bytes for file in self.changed)


async def make_plan(ctx: ToolContext, place: Place, job: Job) -> Plan:
    """Compare; nothing is changed. Raises ToolError."""
    known = dict(await to_thread.run_sync(ctx.published.load, job.key))
    look = _Look(ctx, place, job.base)
    plan = Plan()
    for number, file in enumerate(job.files.files):
        ctx.scope.report(Progress("Comparing", number, len(job.files.files), "steps"))
        there = await look.at(file.name)
        if await _is_unchanged(file, known.get(file.name), there):
            plan.unchanged += 1
        else:
            plan.changed.append(file)
    here = {file.name for file in job.files.files}
    left_out = {*job.files.secrets, *job.files.links, *job.files.odd, *job.files.closed}
    for name in sorted(set(known) - here - left_out):
        there = await look.at(name)
        if there is not None and there.kind is RemoteKind.FILE:
            plan.missing.append(name)
    plan.folders = look.folders_to_make([dirname(file.name) for file in plan.changed])
    # Pages last, so that what they show is there before them.
    plan.changed.sort(key=lambda file: (file.name.endswith((".html", ".htm")), file.name))
    return plan


async def carry_out(ctx: ToolContext, place: Place, job: Job, plan: Plan) -> None:
    """Send and delete what the plan says. Raises ToolError; what was sent before that stays and is written down."""
    known = dict(await to_thread.run_sync(ctx.published.load, job.key))
    progress = _Progress(ctx, plan.size_bytes)
    try:
        if plan.changed:
            await _make_base(place, job.base)
        for folder in plan.folders:
            await place.make_folder(join_remote(job.base, folder))
        for file in plan.changed:
            progress.label = f"Sending {basename(file.name)}"
            # Until it is sent whole, nothing is known of it.
            known.pop(file.name, None)
            known[file.name] = await _send(place, join_remote(job.base, file.name), file, progress.add)
        for name in plan.missing if job.delete_missing else ():
            await place.delete(join_remote(job.base, name))
            known.pop(name, None)
    finally:
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(ctx.published.save, job.key, known)


class _Look:
    """What a place holds, each folder listed once, and only below folders that are there."""

    def __init__(self, ctx: ToolContext, place: Place, base: str) -> None:
        self._ctx = ctx
        self._place = place
        self._base = base
        self._listed: dict[str, dict[str, RemoteEntry] | None] = {}

    async def at(self, name: str) -> RemoteEntry | None:
        """What stands at a path. Raises ToolError when a file stands where a folder must be, or the reverse."""
        listed = await self._folder(dirname(name))
        there = listed.get(basename(name)) if listed else None
        if there is not None and there.kind in (RemoteKind.FOLDER, RemoteKind.OTHER):
            raise ToolError(f"{name!r} is not a file at the place", hint="Rename one of them", code="conflict")
        return there

    def folders_to_make(self, wanted: Sequence[str]) -> list[str]:
        """The folders that are not there, parents first."""
        every = {parent for folder in wanted for parent in _with_parents(folder)}
        return sorted(folder for folder in every if folder and self._listed.get(folder) is None)

    async def _folder(self, folder: str) -> dict[str, RemoteEntry] | None:
        if folder not in self._listed:
            self._listed[folder] = await self._list(folder)
        return self._listed[folder]

    async def _list(self, folder: str) -> dict[str, RemoteEntry] | None:
        if folder:
            above = await self._folder(dirname(folder))
            entry = above.get(basename(folder)) if above else None
            if entry is None:
                return None
            if entry.kind is not RemoteKind.FOLDER:
                raise ToolError(f"{folder!r} is not a folder at the place", hint="Rename one of them", code="conflict")
        try:
            found = await self._place.entries(join_remote(self._base, folder))
        except ToolError as error:
            if error.code != "not_found" or folder:
                raise
            return None
        return {entry.name: entry for entry in found}


class _Progress:
    """Adds up what moved."""

    def __init__(self, ctx: ToolContext, total_bytes: int) -> None:
        self.label = "Sending"
        self._ctx = ctx
        self._total = total_bytes
        self._done = 0

    def add(self, size_bytes: int) -> None:
        self._done += size_bytes
        self._ctx.scope.report(Progress(self.label, min(self._done, self._total), self._total))


class _Hashing:
    """A file that is hashed while it is read."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._sum = hashlib.sha256()
        self.size_bytes = 0

    def read(self, size: int) -> bytes:
        piece = self._stream.read(size)
        self._sum.update(piece)
        self.size_bytes += len(piece)
        return piece

    def sha256(self) -> str:
        return self._sum.hexdigest()


async def _is_unchanged(file: LocalFile, sent: PublishedFile | None, there: RemoteEntry | None) -> bool:
    if sent is None or there is None or there.kind is not RemoteKind.FILE:
        return False
    if file.size_bytes != sent.size_bytes or there.size_bytes not in (-1, sent.size_bytes):
        return False
    return file.modified_ms == sent.modified_ms or await to_thread.run_sync(_hash, file) == sent.sha256


async def _send(place: Place, path: str, file: LocalFile, moved: Callable[[int], None]) -> PublishedFile:
    with open_file(file.path) as stream:
        hashing = _Hashing(stream)
        await place.write(path, cast(BinaryIO, hashing), moved)
    return PublishedFile(hashing.size_bytes, file.modified_ms, hashing.sha256())


async def _make_base(place: Place, base: str) -> None:
    """The folder everything goes to, with its parents; those that are there already may forbid being made."""
    try:
        await place.entries(base)
    except ToolError as error:
        if error.code != "not_found":
            raise
    else:
        return
    slash = "/" if base.startswith("/") else ""
    for folder in _with_parents(base.strip("/")):
        await place.make_folder(f"{slash}{folder}")


def _with_parents(folder: str) -> list[str]:
    parts = folder.split("/") if folder else []
    return ["/".join(parts[: end + 1]) for end in range(len(parts))]


def _hash(file: LocalFile) -> str:
    with open_file(file.path) as stream:
        hashing = _Hashing(stream)
        while hashing.read(_HASH_BYTES):
            pass
        return hashing.sha256()
