"""The tables behind the session index, and every statement that touches them.

Functions over a connection; when to call them, and what to do when SQLite refuses, is the business of `index`.
"""

import contextlib
import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from skales.data.document import ABSENT, Stamp
from skales.data.session_codec import Session

if TYPE_CHECKING:
    from sqlite3 import Connection  # at run time loaded when the index is first used

SummaryRow = tuple[str, str, str, str, str, int, int, int]  # as selected by _PAGE
HitRow = tuple[str, str, int | None, str]  # id, title, position of the message or None for the title, snippet

_SCHEMA_VERSION = 1
_SCHEMA = (
    """CREATE TABLE sessions (
        key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, stamp TEXT NOT NULL,
        title TEXT NOT NULL, provider TEXT NOT NULL, model TEXT NOT NULL, agent_id TEXT NOT NULL,
        created_ms INTEGER NOT NULL, updated_ms INTEGER NOT NULL, message_count INTEGER NOT NULL)""",
    "CREATE INDEX sessions_newest ON sessions (updated_ms DESC, id DESC)",
    # One row per searchable text: a message by its position, the title at -1. `words` has the same rowids.
    "CREATE TABLE texts (key INTEGER PRIMARY KEY, session INTEGER NOT NULL, position INTEGER NOT NULL)",
    "CREATE INDEX texts_of_session ON texts (session, position)",
    "CREATE VIRTUAL TABLE words USING fts5(text, tokenize = 'unicode61 remove_diacritics 2')",
    f"PRAGMA user_version = {_SCHEMA_VERSION}",
)
_PUT = """
    INSERT INTO sessions (id, stamp, title, provider, model, agent_id, created_ms, updated_ms, message_count)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET
        stamp = excluded.stamp, title = excluded.title, provider = excluded.provider, model = excluded.model,
        agent_id = excluded.agent_id, created_ms = excluded.created_ms, updated_ms = excluded.updated_ms,
        message_count = excluded.message_count
    RETURNING key"""
_PAGE = """
    SELECT id, title, provider, model, agent_id, created_ms, updated_ms, message_count FROM sessions
    WHERE (updated_ms, id) < (?, ?) ORDER BY updated_ms DESC, id DESC LIMIT ?"""
_PAGE_MATCHING = """
    SELECT id, title, provider, model, agent_id, created_ms, updated_ms, message_count FROM sessions
    WHERE (updated_ms, id) < (?, ?)
        AND key IN (SELECT session FROM texts WHERE key IN (SELECT rowid FROM words WHERE words MATCH ?))
    ORDER BY updated_ms DESC, id DESC LIMIT ?"""
_RANKED = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank"
# The condition keeps the matches in one pass and makes the costly snippet only for the chosen ones.
_SNIPPETS = """
    SELECT rowid, CASE WHEN rowid IN (SELECT value FROM json_each(?)) THEN snippet(words, 0, char(2), '', '…', 20) END
    FROM words WHERE words MATCH ?"""
_PLACE = """
    SELECT texts.session, texts.position, sessions.id, sessions.title FROM texts
    JOIN sessions ON sessions.key = texts.session WHERE texts.key = ?"""

_TITLE_POSITION = -1
_UNFINISHED_LETTERS = 3
_MATCH = "\x02"  # what char(2) in _SNIPPETS puts before each match
_SNIPPET_CHARACTERS = 300
AFTER_ALL = (1 << 62, "")
_FILE_MODE = 0o600
_FOLDER_MODE = 0o700

# unicode61 takes a run of Chinese or Japanese for one word. An invisible separator around each sign makes every sign a
# word, and what a person types becomes a phrase of them.
_UNSPACED = re.compile("([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])")
_SEPARATOR = "\u200b"
_PHRASE_OR_WORD = re.compile(r'"([^"]*)"|([^\s"]+)')


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


def match_expression(query: str) -> str:
    """An FTS5 expression for what a person typed, empty when there is no word in it.

    All words and quoted phrases must occur. The last word may be unfinished when it has three letters or more; shorter
    beginnings fit half the vocabulary. No sign is an operator.
    """
    found = _PHRASE_OR_WORD.findall(_searchable(query))
    phrases = [(quoted, word) for quoted, word in found if any(sign.isalnum() for sign in quoted or word)]
    unfinished = "*" if phrases and len(phrases[-1][1]) >= _UNFINISHED_LETTERS else ""
    return " ".join(f'"{quoted or word}"' for quoted, word in phrases) + unfinished


def load_stamps(db: "Connection") -> dict[str, Stamp]:
    """The state of every session's file when its row was written."""
    return {session_id: _read_stamp(stamp) for session_id, stamp in db.execute("SELECT id, stamp FROM sessions")}


def put_session(db: "Connection", session: Session, stamp: Stamp, before: Stamp | None) -> None:
    """Write a session's row and full text; with the row at state `before` only messages beyond it are added."""
    title = _storable(session.title)
    seen, seen_title = _seen(db, session, before)
    provider, model = session.answered_by
    names = (title, _storable(provider), _storable(model), _storable(session.agent_id))
    numbers = (session.created_ms, session.updated_ms, len(session.messages))
    (key,) = db.execute(_PUT, (session.id, _write_stamp(stamp), *names, *numbers)).fetchone()
    if title != seen_title:
        if seen_title is not None:
            _drop_texts(db, key, _TITLE_POSITION, _TITLE_POSITION)
        _add_text(db, key, _TITLE_POSITION, title)
    for position in range(seen, len(session.messages)):
        _add_text(db, key, position, session.messages[position].text)


def drop_session(db: "Connection", session_id: str) -> None:
    """Remove a session's row and full text."""
    for (key,) in db.execute("DELETE FROM sessions WHERE id = ? RETURNING key", (session_id,)).fetchall():
        _drop_texts(db, key, _TITLE_POSITION)


def _seen(db: "Connection", session: Session, before: Stamp | None) -> tuple[int, str | None]:
    """How many messages and which title the full text has; what it has of another state of the file is dropped."""
    row = db.execute("SELECT key, stamp, title, message_count FROM sessions WHERE id = ?", (session.id,)).fetchone()
    if row is None:
        return 0, None
    key, stamp, title, message_count = row
    if before is not None and _read_stamp(stamp) == before and message_count <= len(session.messages):
        return message_count, title
    _drop_texts(db, key, _TITLE_POSITION)
    return 0, None


def _add_text(db: "Connection", session_key: int, position: int, text: str) -> None:
    words = _searchable(text)
    if words.strip():
        cursor = db.execute("INSERT INTO texts (session, position) VALUES (?, ?)", (session_key, position))
        db.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", (cursor.lastrowid, words))


def _drop_texts(db: "Connection", session_key: int, first: int, last: int = 1 << 62) -> None:
    chosen = (session_key, first, last)
    where = "WHERE session = ? AND position BETWEEN ? AND ?"
    db.execute(f"DELETE FROM words WHERE rowid IN (SELECT key FROM texts {where})", chosen)  # noqa: S608
    db.execute(f"DELETE FROM texts {where}", chosen)  # noqa: S608


def select_page(db: "Connection", after: tuple[int, str], limit: int) -> list[SummaryRow]:
    """Rows newest first, beyond `after`."""
    return db.execute(_PAGE, (*after, limit)).fetchall()


def select_matching_page(db: "Connection", after: tuple[int, str], limit: int, expression: str) -> list[SummaryRow]:
    """Like `select_page`, of the sessions with a text that matches."""
    return db.execute(_PAGE_MATCHING, (*after, expression, limit)).fetchall()


def select_hits(db: "Connection", expression: str, limit: int) -> list[HitRow]:
    """The best matching text of each session, best first."""
    places: dict[int, tuple[int, int, str, str]] = {}
    for (text_key,) in db.execute(_RANKED, (expression,)):
        session_key, position, session_id, title = db.execute(_PLACE, (text_key,)).fetchone()
        places.setdefault(session_key, (text_key, position, session_id, title))
        if len(places) == limit:
            break
    chosen = json.dumps([text_key for text_key, *_ in places.values()])
    snippets = {key: text for key, text in db.execute(_SNIPPETS, (chosen, expression)) if text is not None}
    return [
        (session_id, title, None if position == _TITLE_POSITION else position, _shown(snippets[text_key]))
        for text_key, position, session_id, title in places.values()
    ]


def _write_stamp(stamp: Stamp) -> str:
    """As text: the times some file systems keep do not fit into SQLite's 64 bits."""
    return f"{stamp.mtime_ns} {stamp.size_bytes}"


def _read_stamp(text: str) -> Stamp:
    try:
        mtime_ns, size_bytes = text.split()
        return Stamp(int(mtime_ns), int(size_bytes))
    except ValueError:  # damage that SQLite cannot see; the row is written anew
        return ABSENT


def _searchable(text: str) -> str:
    return _UNSPACED.sub(f"{_SEPARATOR}\\1{_SEPARATOR}", _storable(text))


def _shown(snippet: str) -> str:
    """One line around the first match; a word can be as long as a picture in base64."""
    line = " ".join(snippet.replace(_SEPARATOR, "").split())
    start = max(line.find(_MATCH) - _SNIPPET_CHARACTERS // 3, 0) if len(line) > _SNIPPET_CHARACTERS else 0
    end = start + _SNIPPET_CHARACTERS
    return ("…" if start else "") + line[start:end].replace(_MATCH, "") + ("…" if end < len(line) else "")


def _storable(text: str) -> str:
    """SQLite takes no half surrogate pairs, and full-text queries end at a NUL."""
    return text.encode(errors="replace").decode().replace("\0", " ")
