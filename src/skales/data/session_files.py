"""The files of the conversations: read once and kept while they stay the same, replaced whole, told to the index.

What a change means is the business of `sessions`; here is how one is made without losing anybody's edit.
Spec: data-directory.md, "Write rules".
"""

import os
import stat
import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from msgspec import Struct

from skales.core.errors import BrokenDocumentError, ConflictError, NotFoundError, StorageError
from skales.core.ids import SessionId
from skales.core.json import JsonValue
from skales.data.document import (
    Stamp,
    again_when_changed,
    create_object,
    lock_for,
    read_stamped,
    stamp_of,
    storage_errors,
)
from skales.data.document_lines import write_grown
from skales.data.index import Index, is_session_id
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.session_codec import Session, check_session, session_from_disk

_CACHED_SESSIONS = 16
_KEPT_PATHS = 256
_FOLDER_MODE = 0o700


class Loaded(Struct, frozen=True):
    """A file's content, never altered in place, and what it means."""

    raw: dict[str, JsonValue]
    session: Session
    stamp: Stamp


class Changed(Struct, frozen=True):
    """What a file shall hold; the first `kept` messages, all by default, are those it held before."""

    raw: dict[str, JsonValue]
    session: Session
    kept: int | None = None


class SessionFiles:
    """Reads, creates, changes, and moves to the trash and back. May be used from several threads."""

    def __init__(self, directory: DataDirectory, quarantine: Quarantine, index: Index) -> None:
        self._folder = directory.sessions
        self._path = lru_cache(maxsize=_KEPT_PATHS)(self._find_path)
        self._trash = directory.trash / "sessions"
        self._quarantine = quarantine
        self._index = index
        self._cache: OrderedDict[SessionId, Loaded] = OrderedDict()
        self._cache_lock = threading.Lock()

    def load(self, session_id: SessionId) -> Loaded:
        """The file as it is now. Raises NotFoundError, BrokenDocumentError, StorageError."""
        path = self._path(session_id)
        loaded = self._find_cached(session_id, path)
        if loaded is None:
            raw, stamp = self._read_file(path)
            loaded = self._remember(Loaded(raw, _decode(session_id, raw, stamp), stamp))
            self._index.note_opened(session_id)
        return loaded

    def read_for_index(self, session_id: SessionId) -> tuple[Session, Stamp]:
        """Like `load`, for who reads each file once and tells nobody why it cannot."""
        path = self._path(session_id)
        try:
            found = self._find_cached(session_id, path)
            raw, stamp = (found.raw, found.stamp) if found else self._read_file(path)
        except BrokenDocumentError:
            raise
        except StorageError as error:
            self._quarantine.report(path, error.message)
            raise
        if found:
            return found.session, stamp
        session = _decode(session_id, raw, stamp)
        if len(self._cache) < _CACHED_SESSIONS:  # what somebody opened is not pushed out
            self._remember(Loaded(raw, session, stamp))
        return session, stamp

    def create(self, start_ms: int, write: Callable[[SessionId], tuple[dict[str, JsonValue], Session]]) -> Session:
        """A new file for what `write` makes of an id, `session_<ms>` with the first free millisecond from `start_ms`.

        `write` runs again when somebody takes the id meanwhile.
        """
        session_id = self._free_id(start_ms)
        raw, session = write(session_id)
        try:
            with self._index.own_change():
                stamp = create_object(self._folder / f"{session_id}.json", raw)
        except ConflictError:
            return self.create(start_ms, write)
        self._remember(Loaded(raw, session, stamp))
        self._index.record(session, stamp, before=stamp)
        return session

    def change(self, session_id: SessionId, alter: Callable[[Loaded], Changed]) -> Session:
        """Write what `alter` makes of the file, in one step; `alter` runs again when the file was saved meanwhile."""
        path = self._path(session_id)

        def attempt() -> tuple[Loaded, Loaded, int | None]:
            before = self.load(session_id)
            changed = alter(before)
            stamp = write_grown(path, changed.raw, "messages", before=before.raw, expected=before.stamp)
            return before, self._remember(Loaded(changed.raw, changed.session, stamp)), changed.kept

        with lock_for(path), self._index.own_change():
            before, after, kept = again_when_changed(attempt)
            # Under the lock, so that the index hears of two changes in the order in which they were made.
            self._index.record(after.session, after.stamp, before=before.stamp, kept=kept)
        return after.session

    def delete(self, session_id: SessionId, now_ms: int) -> None:
        """Move the file to `trash/sessions/`. Raises NotFoundError."""
        path = self._path(session_id)
        with lock_for(path), self._index.own_change(), storage_errors(path, "moved to the trash"):
            if not _is_plain_file(path):
                raise not_found()
            self._trash.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
            target = self._trash / path.name
            if os.path.lexists(target):
                target.replace(_free_name(target, now_ms))
            path.replace(target)
            with self._cache_lock:
                self._cache.pop(session_id, None)
            self._index.forget(session_id)

    def restore(self, session_id: SessionId) -> None:
        """Bring back what was deleted last under this id. Raises NotFoundError, ConflictError when the id is in use."""
        path = self._path(session_id)
        with lock_for(path), storage_errors(path, "restored"):
            source = self._trash / path.name
            if not _is_plain_file(source):
                raise not_found()
            if os.path.lexists(path):
                raise ConflictError("A session with this id exists", hint="Delete it first")
            self._folder.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
            source.replace(path)
        self._index.note_opened(session_id)

    def _find_path(self, session_id: str) -> Path:
        if not is_session_id(session_id):
            raise not_found()
        return self._folder / f"{session_id}.json"

    def _free_id(self, moment_ms: int) -> SessionId:
        while any(os.path.lexists(folder / f"session_{moment_ms}.json") for folder in (self._folder, self._trash)):
            moment_ms += 1
        return SessionId(f"session_{moment_ms}")

    def _find_cached(self, session_id: SessionId, path: Path) -> Loaded | None:
        with storage_errors(path, "read"):
            stamp = stamp_of(path)
        with self._cache_lock:
            loaded = self._cache.get(session_id)
            if loaded is None or loaded.stamp != stamp:
                return None
            self._cache.move_to_end(session_id)
            return loaded

    def _read_file(self, path: Path) -> tuple[dict[str, JsonValue], Stamp]:
        try:
            return read_stamped(path, self._quarantine, check=check_session)
        except NotFoundError as error:
            raise not_found() from error

    def _remember(self, loaded: Loaded) -> Loaded:
        with self._cache_lock:
            self._cache[loaded.session.id] = loaded
            self._cache.move_to_end(loaded.session.id)
            if len(self._cache) > _CACHED_SESSIONS:
                self._cache.popitem(last=False)
        return loaded


def not_found() -> NotFoundError:
    """What is raised for every session that is not there, and for ids that cannot be."""
    return NotFoundError("Session not found")


def _decode(session_id: SessionId, raw: dict[str, JsonValue], stamp: Stamp) -> Session:
    return session_from_disk(session_id, raw, mtime_ms=stamp.mtime_ns // 1_000_000)


def _is_plain_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except FileNotFoundError:
        return False


def _free_name(taken: Path, moment_ms: int) -> Path:
    while os.path.lexists(taken.with_name(f"{taken.name}.{moment_ms}")):
        moment_ms += 1
    return taken.with_name(f"{taken.name}.{moment_ms}")
