"""The full text of the session index: which words are in which message, and where a query finds them.

Functions over a connection, as in `index_tables`. A row of `words` is one text: its number holds the key of the session
and the position of the message, the title coming before the first one. So the rows of a session lie side by side, and
a session can be asked for its matches without looking at those of others.
"""

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from skales.data.session_search import MATCH_END, MATCH_START

if TYPE_CHECKING:
    from sqlite3 import Connection  # at run time loaded when the index is first used

WORDS_SCHEMA = "CREATE VIRTUAL TABLE words USING fts5(text, tokenize = 'unicode61 remove_diacritics 2')"

TITLE_POSITION = -1
_POSITION_BITS = 20
_POSITION_MASK = (1 << _POSITION_BITS) - 1
_LAST_POSITION = _POSITION_MASK - 1
_UNFINISHED_LETTERS = 3

# 20 is _POSITION_BITS. A word that may be unfinished makes SQLite collect all matches before it gives the first, also
# when only those of one session are asked for.
_MATCHING = "SELECT DISTINCT rowid >> 20 FROM words WHERE words MATCH ?"

# unicode61 takes a run of Chinese or Japanese for one word. An invisible separator around each sign makes every sign a
# word, and what a person types becomes a phrase of them.
_UNSPACED = re.compile("([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])")
SEPARATOR = "\u200b"
_MARKS = str.maketrans(dict.fromkeys(MATCH_START + MATCH_END, " "))  # what stands around matches in a snippet
_PHRASE_OR_WORD = re.compile(r'"([^"]*)"|([^\s"]+)')


class Phrase(Struct, frozen=True):
    """Words of a query that must follow each other; the last of them may be `is_unfinished`."""

    text: str
    is_unfinished: bool = False


def read_phrases(query: str) -> tuple[Phrase, ...]:
    """The words and quoted phrases of what a person typed, of which all must occur. No sign is an operator.

    The last word may be unfinished when it has three letters or more; shorter beginnings fit half the vocabulary.
    """
    found = [
        Phrase(quoted or word, len(word) >= _UNFINISHED_LETTERS)
        for quoted, word in _PHRASE_OR_WORD.findall(_searchable(query))
        if any(sign.isalnum() for sign in quoted or word)
    ]
    return (*(Phrase(phrase.text) for phrase in found[:-1]), *found[-1:])


def match_expression(query: str) -> str:
    """An FTS5 expression for what a person typed, empty when there is no word in it."""
    return " ".join(f'"{phrase.text}"' + "*" * phrase.is_unfinished for phrase in read_phrases(query))


def add_text(db: "Connection", session_key: int, position: int, text: str) -> None:
    """Make a text findable; what comes after a million messages is not."""
    words = _searchable(text)
    if words.strip() and position <= _LAST_POSITION:
        db.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", (_row(session_key, position), words))


def drop_texts(db: "Connection", session_key: int, first: int, last: int = _LAST_POSITION) -> None:
    """Take the texts of these positions out."""
    db.execute("DELETE FROM words WHERE rowid BETWEEN ? AND ?", (_row(session_key, first), _row(session_key, last)))


def matching_sessions(db: "Connection", expression: str) -> set[int]:
    """The keys of the sessions with a text that fits."""
    return {key for (key,) in db.execute(_MATCHING, (expression,))}


def first_row(session_key: int) -> int:
    """The number of a session's title."""
    return _row(session_key, TITLE_POSITION)


def last_row(session_key: int) -> int:
    """The highest number that a text of a session can have."""
    return _row(session_key, _LAST_POSITION)


def read_row(row: int) -> tuple[int, int | None]:
    """The session's key, and the position of the message or None for the title."""
    position = (row & _POSITION_MASK) - 1
    return row >> _POSITION_BITS, None if position == TITLE_POSITION else position


def storable(text: str) -> str:
    """SQLite takes no half surrogate pairs, and full-text queries end at a NUL."""
    return (text if text.isascii() else text.encode(errors="replace").decode()).replace("\0", " ")


def _row(session_key: int, position: int) -> int:
    return (session_key << _POSITION_BITS) + position + 1


def _searchable(text: str) -> str:
    plain = storable(text).translate(_MARKS)
    return plain if plain.isascii() else _UNSPACED.sub(f"{SEPARATOR}\\1{SEPARATOR}", plain)
