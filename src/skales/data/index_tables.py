"""The tables behind the session index, what is written into them, and the pages of the list.

Functions over a connection; when to call them, and what to do when SQLite refuses, is the business of `index`.
What words are found is that of `index_words`.
"""

import contextlib
import json
import os
from collections.abc import Iterator
from heapq import merge
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from skales.data.document import ABSENT, Stamp
from skales.data.index_probe import Probe
from skales.data.index_scan import find_by_finished, find_common
from skales.data.index_words import (
    TITLE_POSITION,
    WORDS_SCHEMA,
    add_text,
    drop_texts,
    matching_sessions,
    read_row,
    storable,
)
from skales.data.session_codec import Session

if TYPE_CHECKING:
    from sqlite3 import Connection  # at run time loaded when the index is first used

SummaryRow = tuple[str, str, str, str, str, str, int, int, int, int, int]  # as selected by _SUMMARIES

_SCHEMA_VERSION = 3
_SCHEMA = (
    """CREATE TABLE sessions (
        key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, stamp TEXT NOT NULL,
        title TEXT NOT NULL, provider TEXT NOT NULL, model TEXT NOT NULL, agent_id TEXT NOT NULL, folder TEXT NOT NULL,
        created_ms INTEGER NOT NULL, updated_ms INTEGER NOT NULL, message_count INTEGER NOT NULL,
        pinned INTEGER NOT NULL)""",
    "CREATE INDEX sessions_newest ON sessions (updated_ms DESC, id DESC)",
    "CREATE INDEX sessions_in_folder ON sessions (folder, updated_ms DESC, id DESC)",
    "CREATE INDEX sessions_pinned ON sessions (updated_ms DESC, id DESC) WHERE pinned = 1",
    "CREATE INDEX sessions_by_writer ON sessions (provider, model, updated_ms DESC, id DESC)",
    WORDS_SCHEMA,
    f"PRAGMA user_version = {_SCHEMA_VERSION}",
)
_PUT = """
    INSERT INTO sessions
        (id, stamp, title, provider, model, agent_id, folder, created_ms, updated_ms, message_count, pinned)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET
        stamp = excluded.stamp, title = excluded.title, provider = excluded.provider, model = excluded.model,
        agent_id = excluded.agent_id, folder = excluded.folder, created_ms = excluded.created_ms,
        updated_ms = excluded.updated_ms, message_count = excluded.message_count, pinned = excluded.pinned
    RETURNING key"""
_SUMMARIES = """
    SELECT id, title, provider, model, agent_id, folder, created_ms, updated_ms, message_count, pinned, key
    FROM sessions WHERE (updated_ms, id) < (?, ?)"""
_AMONG = " AND key IN (SELECT value FROM json_each(?))"
_BY_WRITER = " AND provider = ? AND model = ?"
_NEWEST_FIRST = " ORDER BY updated_ms DESC, id DESC"
# From each pair to the next one in the index, because going through all its rows takes time.
_WRITERS = """
    WITH RECURSIVE writers (provider, model) AS (
        SELECT * FROM (SELECT provider, model FROM sessions ORDER BY provider, model LIMIT 1)
        UNION ALL
        SELECT sessions.provider, sessions.model FROM writers JOIN sessions ON sessions.key = (
            SELECT coalesce(
                (SELECT key FROM sessions WHERE provider = writers.provider AND model > writers.model
                    ORDER BY model LIMIT 1),
                (SELECT key FROM sessions WHERE provider > writers.provider ORDER BY provider, model LIMIT 1))))
    SELECT provider, model FROM writers"""
_FOLDERS = "SELECT folder, count(*) FROM sessions WHERE folder > '' GROUP BY folder"

_LOOKED_UP = 1000  # with more sessions that match, the newest ones are quickly met in the order of the list
AFTER_ALL = (1 << 62, "")
_FILE_MODE = 0o600
_FOLDER_MODE = 0o700


class Choice(Struct, frozen=True, kw_only=True):
    """Which sessions a page is of. `folder` is None for all, empty for those in none; `pinned` is None for both.

    `query` is what a person typed; only sessions that match are chosen when it is not blank. `model` is any part of
    `provider/model`, whatever its case, as they are shown.
    """

    query: str = ""
    model: str = ""
    folder: str | None = None
    pinned: bool | None = None


def connect(path: Path | None, timeout_s: float) -> "Connection":
    """A database with the tables in it, usable from any one thread at a time; in memory without a path.

    Raises sqlite3.Error when the file is locked, read-only, no database, or has another version of the tables.
    """
    import sqlite3

    if path is not None:
        with contextlib.suppress(OSError):  # connecting then says what is wrong
            path.parent.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, _FILE_MODE))
    db = sqlite3.connect(path or ":memory:", timeout=timeout_s, isolation_level=None, check_same_thread=False)
    try:
        # A crash must not corrupt the file, but may lose the last commits: they come back from the session files.
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        if _schema_version(db) != _SCHEMA_VERSION:
            _create_schema(db)
    except sqlite3.Error:
        db.close()
        raise
    return db


def _create_schema(db: "Connection") -> None:
    import sqlite3

    with db:
        db.execute("BEGIN IMMEDIATE")
        match _schema_version(db):
            case 0:
                for statement in _SCHEMA:
                    db.execute(statement)
            case version if version != _SCHEMA_VERSION:  # else another program was faster
                raise sqlite3.DatabaseError(f"the index has schema version {version}")
            case _:
                pass


def _schema_version(db: "Connection") -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def load_stamps(db: "Connection") -> dict[str, Stamp]:
    """The state of every session's file when its row was written."""
    return {session_id: _read_stamp(stamp) for session_id, stamp in db.execute("SELECT id, stamp FROM sessions")}


def put_session(
    db: "Connection", session: Session, stamp: Stamp, before: Stamp | None, kept: int | None = None
) -> None:
    """Write a session's row and full text; with the row at state `before` only messages beyond it are added.

    `kept` is how many of those messages are still the same, all by default.
    """
    title = storable(session.title)
    seen, seen_title = _seen(db, session, before, kept)
    provider, model = session.answered_by
    names = (title, *map(storable, (provider, model, session.agent_id, session.folder)))
    numbers = (session.created_ms, session.updated_ms, len(session.messages), session.pinned)
    (key,) = db.execute(_PUT, (session.id, _write_stamp(stamp), *names, *numbers)).fetchone()
    if title != seen_title:
        if seen_title is not None:
            drop_texts(db, key, TITLE_POSITION, TITLE_POSITION)
        add_text(db, key, TITLE_POSITION, title)
    for position in range(seen, len(session.messages)):
        add_text(db, key, position, session.messages[position].text)


def drop_session(db: "Connection", session_id: str) -> None:
    """Remove a session's row and full text."""
    for (key,) in db.execute("DELETE FROM sessions WHERE id = ? RETURNING key", (session_id,)).fetchall():
        drop_texts(db, key, TITLE_POSITION)


def _seen(db: "Connection", session: Session, before: Stamp | None, kept: int | None) -> tuple[int, str | None]:
    """How many messages and which title the full text has; what it has of another state of the file is dropped."""
    row = db.execute("SELECT key, stamp, title, message_count FROM sessions WHERE id = ?", (session.id,)).fetchone()
    if row is None:
        return 0, None
    key, stamp, title, message_count = row
    same = message_count if kept is None else min(kept, message_count)
    if before is None or _read_stamp(stamp) != before or same > len(session.messages):
        drop_texts(db, key, TITLE_POSITION)
        return 0, None
    if same < message_count:
        drop_texts(db, key, same)
    return same, title


def select_page(
    db: "Connection", after: tuple[int, str], limit: int, choice: Choice, expression: str
) -> list[SummaryRow]:
    """Rows newest first, beyond `after`; only those with a text that fits the expression, unless it is empty."""
    newest = _select_newest(db, after, choice)
    if not expression:
        return [*islice(newest, limit)]
    with contextlib.closing(Probe(choice.query)) as probe:
        rows = find_by_finished(db, probe, choice.query)
        common = find_common(db, probe, ((row[-1], row) for row in newest), limit) if rows is None else None
        if common is not None:
            return [place.session for place in common]
    keys = matching_sessions(db, expression) if rows is None else {read_row(row)[0] for row in rows}
    among = json.dumps([*keys]) if len(keys) <= _LOOKED_UP else ""
    return [*islice((row for row in _select_newest(db, after, choice, among) if row[-1] in keys), limit)]


def _select_newest(db: "Connection", after: tuple[int, str], choice: Choice, among: str = "") -> Iterator[SummaryRow]:
    """Rows newest first, beyond `after`; with `among`, a list of keys, only those."""
    statement, values = _SUMMARIES, [*after]
    if choice.folder is not None:
        statement, values = statement + " AND folder = ?", [*values, storable(choice.folder)]
    if choice.pinned is not None:
        statement += f" AND pinned = {choice.pinned:d}"  # as text, so that the index of the pinned ones is used
    if among:
        statement, values = statement + _AMONG, [*values, among]
    wanted = choice.model.strip().lower()
    if not wanted:
        return db.execute(statement + _NEWEST_FIRST, values)
    writers = [writer for writer in db.execute(_WRITERS) if wanted in "/".join(writer).lower()]
    each = (db.execute(statement + _BY_WRITER + _NEWEST_FIRST, (*values, *writer)) for writer in writers)
    return merge(*each, key=_age, reverse=True)


def _age(row: SummaryRow) -> tuple[int, str]:
    return row[7], row[0]  # updated_ms, id


def select_folders(db: "Connection") -> list[tuple[str, int]]:
    """Folders with the number of sessions in each."""
    return db.execute(_FOLDERS).fetchall()


def select_in_folder(db: "Connection", folder: str) -> list[str]:
    """The ids of the sessions in a folder."""
    return [name for (name,) in db.execute("SELECT id FROM sessions WHERE folder = ?", (storable(folder),))]


def _write_stamp(stamp: Stamp) -> str:
    """As text: the times some file systems keep do not fit into SQLite's 64 bits."""
    return f"{stamp.mtime_ns} {stamp.size_bytes}"


def _read_stamp(text: str) -> Stamp:
    try:
        mtime_ns, size_bytes = text.split()
        return Stamp(int(mtime_ns), int(size_bytes))
    except ValueError:  # damage that SQLite cannot see; the row is written anew
        return ABSENT
