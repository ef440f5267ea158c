"""A folder on this computer as a place, for projects that are deployed by copying."""

import stat
from collections.abc import AsyncGenerator, Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO

from anyio import to_thread

from skales.core.errors import ToolError
from skales.core.ids import IdSource
from skales.security.paths import PathPolicy
from skales.tools.file.changes import make_folder, new_file, remove_entry
from skales.tools.file.reach import require_allowed
from skales.tools.file.safe_open import Entry, EntryKind, find_entry, list_folder, open_file
from skales.tools.remote.place import Moved, RemoteEntry, RemoteKind

_PIECE_BYTES = 1024 * 1024
_KINDS = {EntryKind.FILE: RemoteKind.FILE, EntryKind.FOLDER: RemoteKind.FOLDER, EntryKind.LINK: RemoteKind.LINK}


class FolderPlace:
    """Every path below the root, each judged again by the path rules."""

    def __init__(self, root: Path, policy: PathPolicy, ids: IdSource) -> None:
        self._root = root
        self._policy = policy
        self._ids = ids

    async def entries(self, path: str) -> Sequence[RemoteEntry]:
        """What is in a folder."""
        return await to_thread.run_sync(self._list, self._at(path))

    async def read(self, path: str) -> AsyncGenerator[bytes, None]:
        """The content of a file, in pieces."""
        with open_file(self._at(path)) as stream:
            while piece := await to_thread.run_sync(stream.read, _PIECE_BYTES):
                yield piece

    async def write(self, path: str, source: BinaryIO, moved: Moved) -> None:
        """Put a file in its place in one step."""
        with new_file(self._at(path), self._ids) as stream:
            while piece := await to_thread.run_sync(source.read, _PIECE_BYTES):
                await to_thread.run_sync(stream.write, piece)
                moved(len(piece))

    async def make_folder(self, path: str) -> None:
        """Create a folder that may exist already."""
        await to_thread.run_sync(make_folder, self._at(path))

    async def delete(self, path: str) -> None:
        """Delete a file."""
        await to_thread.run_sync(partial(remove_entry, self._at(path)))

    def _at(self, path: str) -> Path:
        return require_allowed(self._root / path, self._policy)

    def _list(self, folder: Path) -> list[RemoteEntry]:
        found = find_entry(folder)
        if found is None:
            raise ToolError(f"{str(folder)!r} does not exist", code="not_found")
        return [_entry(entry) for entry in list_folder(folder)]


def _entry(entry: Entry) -> RemoteEntry:
    kind = _KINDS.get(entry.kind, RemoteKind.OTHER)
    size = entry.size_bytes if stat.S_ISREG(entry.mode) else -1
    return RemoteEntry(entry.path.name, kind, size, entry.modified_ms)
