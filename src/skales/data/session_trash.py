"""What lies in the trash of the conversations: listing it, and deleting from it for good.

Moving there and back is the store's business. Of several files that were deleted under one id only the last, which the
store can bring back, is listed; deleting it for good takes the older ones along. Spec: data-directory.md, "Tree".
"""

import os
import stat
from pathlib import Path

from msgspec import Struct

from skales.core.errors import BrokenDocumentError, NotFoundError, StorageError
from skales.core.ids import SessionId
from skales.data.document import lock_for, read_stamped, storage_errors
from skales.data.index import is_session_id
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.session_codec import check_session, session_from_disk


class DeletedSession(Struct, frozen=True):
    """A conversation that can be brought back. `title` is empty for one without words."""

    id: SessionId
    title: str
    deleted_ms: int
    message_count: int


class DeletedSessions(Struct, frozen=True):
    """The newest of what was deleted, and how many there are in all."""

    shown: tuple[DeletedSession, ...]
    count: int


def list_deleted(directory: DataDirectory, quarantine: Quarantine, limit: int) -> DeletedSessions:
    """Deleted last first. Reads only the files that are shown; one that cannot be read is left out."""
    found = sorted(_files(_folder(directory)), key=lambda entry: (-entry[1], entry[0].name))
    shown = (_read(path, deleted_ms, quarantine) for path, deleted_ms in found[: max(limit, 0)])
    return DeletedSessions(tuple(session for session in shown if session is not None), len(found))


def delete_for_good(directory: DataDirectory, session_id: SessionId) -> None:
    """Remove what was deleted under this id. Raises NotFoundError, StorageError."""
    if not is_session_id(session_id):
        raise _not_found()
    path = _folder(directory) / f"{session_id}.json"
    with lock_for(path), storage_errors(path, "deleted"):
        try:
            path.unlink()
        except FileNotFoundError as error:
            raise _not_found() from error
        for older in _older(path):
            older.unlink(missing_ok=True)


def _folder(directory: DataDirectory) -> Path:
    return directory.trash / "sessions"


def _files(folder: Path) -> list[tuple[Path, int]]:
    """Each file that can be brought back, with the moment it came here."""
    found: list[tuple[Path, int]] = []
    with storage_errors(folder, "listed"):
        for entry in _entries(folder):
            name = entry.name.removesuffix(".json")
            if name == entry.name or not is_session_id(name):
                continue
            try:
                status = entry.stat(follow_symlinks=False)
            except FileNotFoundError:  # brought back since the folder was read
                continue
            if stat.S_ISREG(status.st_mode):
                # A rename sets the inode's time; where there is none (Windows) the last change must do.
                found.append((Path(entry.path), max(status.st_ctime_ns, status.st_mtime_ns) // 1_000_000))
    return found


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except FileNotFoundError:
        return []


def _read(path: Path, deleted_ms: int, quarantine: Quarantine) -> DeletedSession | None:
    try:
        raw, stamp = read_stamped(path, quarantine, check=check_session)
    except (BrokenDocumentError, NotFoundError, StorageError):  # told by the quarantine, or gone meanwhile
        return None
    session = session_from_disk(SessionId(path.stem), raw, mtime_ms=stamp.mtime_ns // 1_000_000)
    return DeletedSession(session.id, session.title, deleted_ms, len(session.messages))


def _older(path: Path) -> list[Path]:
    """`<id>.json.<ms>`: deleted before under the same id."""
    return [older for older in path.parent.glob(f"{path.name}.*") if older.suffix.removeprefix(".").isdecimal()]


def _not_found() -> NotFoundError:
    return NotFoundError(
        "This conversation is not in the trash", hint="It may have been brought back or deleted already"
    )
