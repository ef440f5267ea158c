"""A derived SQLite file over the sessions folder, for newest-first pages and full-text search at any size.

The session files are the truth. The index may be deleted, locked or corrupt at any time: it heals by time and size of
the files, is rebuilt when it cannot be read, and lives in memory when it cannot be written. Nothing is only in here.
Spec: data-directory.md, "Write rules".
"""

import contextlib
import os
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from skales.core.errors import BrokenDocumentError, NotFoundError, StorageError
from skales.core.ids import SessionId, is_safe_id
from skales.data.document import Stamp, storage_errors
from skales.data.index_tables import (
    AFTER_ALL,
    SummaryRow,
    connect,
    drop_session,
    load_stamps,
    match_expression,
    put_session,
    select_hits,
    select_matching_page,
    select_page,
)
from skales.data.session_codec import Session

if TYPE_CHECKING:
    from sqlite3 import Connection, Error  # at run time loaded when the index is first used

Answer = TypeVar("Answer")
Entry = tuple[Session, Stamp]
# Reads one session's file. Raises NotFoundError, BrokenDocumentError or StorageError, after it has told the person.
Reader = Callable[[SessionId], Entry]

_BATCH = 50  # sessions held in memory at once while the index is built
_BUSY_TIMEOUT_S = 2.0
# What a new file cures: no code (ours), SQLITE_ERROR, _CORRUPT, _CONSTRAINT, _NOTADB. Other codes mean that the place
# is locked, full or read-only, where a new file would fail the same way.
_CURED_BY_REBUILDING = (0, 1, 11, 19, 26)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSummary:
    """What a list shows of a session."""

    id: SessionId
    title: str
    provider: str
    model: str
    agent_id: str
    created_ms: int
    updated_ms: int
    message_count: int


@dataclass(frozen=True, slots=True)
class SearchHit:
    """The best match within one session; `message_index` is None when it is the title."""

    session_id: SessionId
    title: str
    message_index: int | None
    snippet: str


class _IndexLostError(Exception):
    """The database had to be given up; the next one starts empty."""


class Index:
    """Answers from the database after bringing it up to date with the folder. May be used from several threads.

    Every question takes a `read` for the files that changed.
    """

    def __init__(self, path: Path, folder: Path, *, busy_timeout_s: float = _BUSY_TIMEOUT_S) -> None:
        self._path = path
        self._folder = folder
        self._busy_timeout_s = busy_timeout_s
        self._connection: Connection | None = None
        self._in_memory = False
        self._rebuilt = False
        self._stamps: dict[str, Stamp] = {}  # the files as they were when their rows were written
        self._broken: dict[str, Stamp] = {}  # files that stay in place although they cannot be read
        # Order: _refreshing before _lock. Files are read without _lock, so that whoever holds a file's lock and
        # records a write never waits for somebody who wants that file.
        self._refreshing = threading.Lock()
        self._lock = threading.RLock()

    def close(self) -> None:
        """Give the file back; the next question opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def count(self, read: Reader) -> int:
        """How many sessions can be listed."""
        return self._ask(read, lambda _: len(self._stamps))

    def page(
        self, read: Reader, limit: int, before: tuple[int, str] | None = None, query: str = ""
    ) -> list[SessionSummary]:
        """Summaries, newest first, after the one with this `(updated_ms, id)`; with a query only those that match."""
        after = before or AFTER_ALL
        wanted = max(limit, 0)
        if not query.strip():
            rows = self._ask(read, lambda db: select_page(db, after, wanted))
        elif expression := match_expression(query):
            rows = self._ask(read, lambda db: select_matching_page(db, after, wanted, expression))
        else:
            rows = []
        return [_summary(row) for row in rows]

    def search(self, read: Reader, query: str, limit: int) -> list[SearchHit]:
        """The sessions that match best, one hit each, best first."""
        expression = match_expression(query)
        if not expression or limit <= 0:
            return []
        rows = self._ask(read, lambda db: select_hits(db, expression, limit))
        return [SearchHit(SessionId(name), title, position, snippet) for name, title, position, snippet in rows]

    def record(self, session: Session, stamp: Stamp, *, before: Stamp) -> None:
        """Take over what was just written, without reading the file.

        `before` is the state the file had before the write: when the index knows that one, only messages it has not
        seen are added to the full text.
        """
        with contextlib.suppress(_IndexLostError, StorageError):  # the next question heals it, or reports it
            self._run(lambda db: self._put(db, [(session, stamp)], before))

    def forget(self, session_id: SessionId) -> None:
        """Drop what is known of a session whose file is gone."""
        with contextlib.suppress(_IndexLostError, StorageError):
            self._run(lambda db: self._drop(db, [session_id]))

    def _ask(self, read: Reader, question: Callable[["Connection"], Answer]) -> Answer:
        # Ends: a database is lost at most twice, then it is in memory, where its failure is a StorageError.
        while True:
            with contextlib.suppress(_IndexLostError):
                self._refresh(read)
                return self._run(question)

    def _run(self, operation: Callable[["Connection"], Answer]) -> Answer:
        import sqlite3

        with self._lock:
            try:
                return operation(self._open())
            except sqlite3.Error as error:
                self._give_up(error)
                raise _IndexLostError from error

    def _open(self) -> "Connection":
        if self._connection is None:
            self._connection = connect(None if self._in_memory else self._path, self._busy_timeout_s)
            self._stamps = load_stamps(self._connection)
        return self._connection

    def _give_up(self, error: "Error") -> None:
        """Close, then choose: a new file, or memory when a new file was tried or would not help."""
        self.close()
        if self._in_memory:
            raise StorageError("The session index cannot be used", hint=str(error)) from error
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        curable = code in _CURED_BY_REBUILDING and not self._rebuilt
        self._rebuilt = True
        self._in_memory = not (curable and _delete_database(self._path))

    def _refresh(self, read: Reader) -> None:
        with self._refreshing:
            if not self._in_memory and not os.path.lexists(self._path):
                self.close()
            known = self._run(lambda _: dict(self._stamps))
            with storage_errors(self._folder, "listed"):
                found = self._scan(known)
            if found == known:
                return
            self._broken = {name: stamp for name, stamp in self._broken.items() if found.get(name) == stamp}
            changed = [name for name, stamp in found.items() if known.get(name) != stamp and name not in self._broken]
            for start in range(0, len(changed), _BATCH):
                self._take_over({name: found[name] for name in changed[start : start + _BATCH]}, known, read)
            self._forget_all(known.keys() - found.keys(), known)

    def _scan(self, known: Mapping[str, Stamp]) -> dict[str, Stamp]:
        found: dict[str, Stamp] = {}
        for entry in self._entries():
            name = entry.name.removesuffix(".json")
            if name != entry.name and (name in known or is_session_id(name)):
                try:
                    if entry.is_file(follow_symlinks=False):
                        status = entry.stat(follow_symlinks=False)
                        found[name] = Stamp(status.st_mtime_ns, status.st_size)
                except FileNotFoundError:  # deleted since the folder was read
                    continue
        return found

    def _entries(self) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(self._folder) as entries:
                return list(entries)
        except FileNotFoundError:
            return []

    def _take_over(self, files: Mapping[str, Stamp], known: Mapping[str, Stamp], read: Reader) -> None:
        entries = {name: self._read(name, stamp, read) for name, stamp in files.items()}
        readable = [entry for entry in entries.values() if entry is not None]

        def put(db: "Connection") -> None:
            # What was recorded since `known` was taken is newer than what was read here.
            current = [entry for entry in readable if self._stamps.get(entry[0].id) == known.get(entry[0].id)]
            self._put(db, current, None)

        self._run(put)
        self._forget_all([name for name, entry in entries.items() if entry is None], known)

    def _read(self, name: str, stamp: Stamp, read: Reader) -> Entry | None:
        try:
            return read(SessionId(name))
        except BrokenDocumentError:
            self._broken[name] = stamp  # where it was moved away, nobody will ask again
        except (NotFoundError, StorageError):  # gone meanwhile, or unreadable for now
            pass
        return None

    def _forget_all(self, names: Collection[str], known: Mapping[str, Stamp]) -> None:
        if names:
            self._run(lambda db: self._drop(db, [name for name in names if self._stamps.get(name) == known.get(name)]))

    def _put(self, db: "Connection", entries: Sequence[Entry], before: Stamp | None) -> None:
        with db:
            db.execute("BEGIN IMMEDIATE")
            for session, stamp in entries:
                put_session(db, session, stamp, before)
        self._stamps.update({session.id: stamp for session, stamp in entries})

    def _drop(self, db: "Connection", names: Sequence[str]) -> None:
        with db:
            db.execute("BEGIN IMMEDIATE")
            for name in names:
                drop_session(db, name)
        for name in names:
            self._stamps.pop(name, None)


def is_session_id(text: str) -> bool:
    """Whether a session's file may have this stem: safe as a name, and not `_…`, which marks bookkeeping."""
    return is_safe_id(text) and not text.startswith("_")


def _delete_database(path: Path) -> bool:
    try:
        for suffix in ("", "-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
    except OSError:
        return False
    return True


def _summary(row: SummaryRow) -> SessionSummary:
    session_id, title, provider, model, agent_id, created_ms, updated_ms, message_count = row
    return SessionSummary(
        id=SessionId(session_id),
        title=title,
        provider=provider,
        model=model,
        agent_id=agent_id,
        created_ms=created_ms,
        updated_ms=updated_ms,
        message_count=message_count,
    )
