"""A derived SQLite file over the sessions folder, for newest-first pages and full-text search at any size.

The session files are the truth. The index may be deleted, locked or corrupt at any time: it heals by time and size of
the files, is rebuilt when it cannot be read, and lives in memory when it cannot be written. Nothing is only in here.
Spec: data-directory.md, "Write rules".
"""

import contextlib
import os
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from skales.core.errors import BrokenDocumentError, NotFoundError, StorageError
from skales.core.ids import SessionId, is_safe_id
from skales.core.message import Message
from skales.data.document import Stamp, read_stamped, storage_errors
from skales.data.quarantine import Quarantine
from skales.data.session_codec import Session, check_session, decode_session

if TYPE_CHECKING:
    import sqlite3  # loaded when the index is first used; start-up is a feature

Answer = TypeVar("Answer")

_SCHEMA_VERSION = 1
_SCHEMA = (
    """CREATE TABLE sessions (
        key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, mtime_ns INTEGER NOT NULL, size_bytes INTEGER NOT NULL,
        title TEXT NOT NULL, provider TEXT NOT NULL, model TEXT NOT NULL, agent_id TEXT NOT NULL,
        created_ms INTEGER NOT NULL, updated_ms INTEGER NOT NULL, message_count INTEGER NOT NULL)""",
    "CREATE INDEX sessions_newest ON sessions (updated_ms DESC, id DESC)",
    # One row per searchable text: a message by its position, the title at -1. `words` has the same rowids.
    "CREATE TABLE texts (key INTEGER PRIMARY KEY, session INTEGER NOT NULL, position INTEGER NOT NULL)",
    "CREATE INDEX texts_of_session ON texts (session, position)",
    "CREATE VIRTUAL TABLE words USING fts5(text, tokenize = 'unicode61 remove_diacritics 2')",
    f"PRAGMA user_version = {_SCHEMA_VERSION}",
)
_SUMMARY_COLUMNS = "id, title, provider, model, agent_id, created_ms, updated_ms, message_count"
_TITLE_POSITION = -1
_SNIPPET_TOKENS = 20
_BATCH = 50  # sessions held in memory at once while the index is built
_BUSY_TIMEOUT_S = 2.0
_FILE_MODE = 0o600
_FOLDER_MODE = 0o700

# What a new file cures: no code (ours), SQLITE_ERROR, SQLITE_CORRUPT, SQLITE_NOTADB. Other codes mean that the place
# is locked, full or read-only, where a new file would fail the same way.
_CURED_BY_REBUILDING = (0, 1, 11, 26)

# unicode61 takes a run of Chinese or Japanese for one word. An invisible separator after each sign makes every sign a
# word, and what a person types becomes a phrase of them.
_UNSPACED = re.compile("([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])")
_SEPARATOR = "\u200b"
_PHRASE_OR_WORD = re.compile(r'"([^"]*)"|([^\s"]+)')


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
    """The database had to be given up; a fresh one is in place and empty."""


class Index:
    """Answers from the database after bringing it up to date with the folder. May be used from several threads."""

    def __init__(
        self, path: Path, folder: Path, quarantine: Quarantine, *, busy_timeout_s: float = _BUSY_TIMEOUT_S
    ) -> None:
        self._path = path
        self._folder = folder
        self._quarantine = quarantine
        self._busy_timeout_s = busy_timeout_s
        self._connection: sqlite3.Connection | None = None
        self._in_memory = False
        self._rebuilt = False
        self._stamps: dict[str, Stamp] = {}  # the files as they were when their rows were written
        self._broken: dict[str, Stamp] = {}  # files that stay in place although they cannot be read
        # Lock order: _refreshing, then _lock. Files are read under _refreshing only, so that nobody who holds a
        # file's lock ever waits for somebody who wants it.
        self._refreshing = threading.Lock()
        self._lock = threading.RLock()

    def close(self) -> None:
        """Give the file back; the next question opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def count(self) -> int:
        """How many sessions can be listed."""
        return self._ask(lambda _: len(self._stamps))

    def page(self, limit: int, before: tuple[int, str] | None = None, query: str = "") -> list[SessionSummary]:
        """Summaries, newest first: after the one with this `(updated_ms, id)`, only those in which the query occurs."""
        conditions: list[str] = []
        values: list[int | str] = []
        if query.strip():
            expression = match_expression(query)
            if not expression:
                return []
            conditions.append("key IN (SELECT session FROM texts WHERE key IN (SELECT rowid FROM words WHERE words MATCH ?))")
            values.append(expression)
        if before is not None:
            conditions.append("(updated_ms, id) < (?, ?)")
            values.extend(before)
        where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
        sql = f"SELECT {_SUMMARY_COLUMNS} FROM sessions {where} ORDER BY updated_ms DESC, id DESC LIMIT ?"
        rows = self._ask(lambda db: db.execute(sql, (*values, max(limit, 0))).fetchall())
        return [_summary(row) for row in rows]

    def search(self, query: str, limit: int) -> list[SearchHit]:
        """The sessions that match best, one hit each, best first. Words are all required, the last may be unfinished."""
        expression = match_expression(query)
        return self._ask(lambda db: _search(db, expression, limit)) if expression else []

    def record(self, session: Session, stamp: Stamp, *, before: Stamp) -> None:
        """Take over what was just written, without reading the file.

        `before` is the state the file had before the write: when the index knows that one, only messages it has not
        seen are added to the full text.
        """
        with contextlib.suppress(_IndexLostError):
            self._run(lambda db: self._put(db, [(session, stamp)], before))

    def forget(self, session_id: SessionId) -> None:
        """Drop what is known of a session whose file is gone."""
        with contextlib.suppress(_IndexLostError):
            self._run(lambda db: self._drop(db, [session_id]))

    def _ask(self, question: Callable[["sqlite3.Connection"], Answer]) -> Answer:
        # Ends: a database is lost at most twice, then it is in memory and its failure a StorageError.
        while True:
            with contextlib.suppress(_IndexLostError):
                self._refresh()
                return self._run(question)

    def _run(self, operation: Callable[["sqlite3.Connection"], Answer]) -> Answer:
        import sqlite3

        with self._lock:
            try:
                return operation(self._open())
            except sqlite3.Error as error:
                self._give_up(error)
                raise _IndexLostError from error

    def _open(self) -> "sqlite3.Connection":
        if self._connection is None:
            self._connection = _connect(None if self._in_memory else self._path, self._busy_timeout_s)
            _prepare(self._connection)
            rows = self._connection.execute("SELECT id, mtime_ns, size_bytes FROM sessions")
            self._stamps = {session_id: Stamp(mtime_ns, size_bytes) for session_id, mtime_ns, size_bytes in rows}
        return self._connection

    def _give_up(self, error: "sqlite3.Error") -> None:
        """Close, then choose: a new file, or memory when a new file was tried or would not help."""
        self.close()
        self._stamps = {}
        if self._in_memory:
            raise StorageError("The session index cannot be used", hint=str(error)) from error
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        curable = code in _CURED_BY_REBUILDING and not self._rebuilt
        self._rebuilt = True
        self._in_memory = not (curable and _delete_database(self._path))

    def _refresh(self) -> None:
        with self._refreshing:
            with self._lock:
                if self._connection is not None and not self._in_memory and not self._path.exists():
                    self.close()
            known = self._run(lambda _: dict(self._stamps))
            found = self._scan(known)
            if found == known:
                return
            self._broken = {name: stamp for name, stamp in self._broken.items() if found.get(name) == stamp}
            changed = [name for name, stamp in found.items() if known.get(name) != stamp and name not in self._broken]
            for start in range(0, len(changed), _BATCH):
                self._take_over(changed[start : start + _BATCH], known, found)
            self._drop_unchanged(known.keys() - found.keys(), known)

    def _scan(self, known: dict[str, Stamp]) -> dict[str, Stamp]:
        """Time and size of every session file: plain `*.json` files with a safe name, `.…` and `_…` left out."""
        found: dict[str, Stamp] = {}
        with storage_errors(self._folder, "listed"), contextlib.suppress(FileNotFoundError), os.scandir(self._folder) as entries:
            for entry in entries:
                name = entry.name.removesuffix(".json")
                if name != entry.name and (name in known or is_session_id(name)) and entry.is_file(follow_symlinks=False):
                    with contextlib.suppress(FileNotFoundError):  # deleted since the folder was read
                        status = entry.stat(follow_symlinks=False)
                        found[name] = Stamp(status.st_mtime_ns, status.st_size)
        return found
