"""Common words in a large folder: looked for in the newest sessions, one after the other, until enough are found.

When the last word may be unfinished, the full text gives no match before it has collected all, and with a common word
all is most of the database. Then the next few dozen sessions hold as many matches as anybody wants to see. Where they
do not, because a word is rare or the folder is small, nothing is answered here, and the full text is quick.
Functions over a connection, as in `index_tables`.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Generic, TypeVar

from msgspec import Struct

from skales.data.index_probe import Probe
from skales.data.index_words import first_row, last_row, match_expression, read_phrases

if TYPE_CHECKING:
    from sqlite3 import Connection  # at run time loaded when the index is first used

SessionRow = TypeVar("SessionRow", bound=tuple[object, ...])

_MANY_SESSIONS = 1000  # in fewer the full text is quick, whatever is asked
_SAMPLE = 50
_MOST_SESSIONS = 600
_MOST_LETTERS = 2_000_000
_FEW_SESSIONS = 1000  # so many matches are quickly collected, and worth weighing against each other
_FEW_TEXTS, _FEW_SLOW_TEXTS = 3000, 300

_LAST_KEY = "SELECT coalesce(max(key), 0) FROM sessions"
_TEXTS = "SELECT rowid, text FROM words WHERE rowid BETWEEN ? AND ?"
_COUNT = "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)"
_MATCHES = "SELECT rowid, text FROM words WHERE words MATCH ?"


class Place(Struct, Generic[SessionRow], frozen=True):
    """The first text of a session that fits; `row` is its number in the full text."""

    session: SessionRow
    row: int
    text: str


def find_common(
    db: "Connection", probe: Probe, newest: Iterable[tuple[int, SessionRow]], wanted: int
) -> list[Place[SessionRow]] | None:
    """The first places that fit, of sessions with their keys; None where the full text is the one to ask."""
    sessions = _count_about(db)
    if sessions < _MANY_SESSIONS:
        return None
    found: list[Place[SessionRow]] = []
    letters = 0
    for number, (key, session) in enumerate(newest):
        if number >= _SAMPLE:
            # Where the rest is like those so far.
            is_far = len(found) * (_MOST_SESSIONS + wanted) < wanted * number
            if is_far or len(found) * sessions < _FEW_SESSIONS * number or letters > _MOST_LETTERS:
                return None
            if len(found) >= wanted:
                break
        for row, text in _texts(db, key):
            letters += len(text)
            if probe.fits(text):
                found.append(Place(session, row, text))
                break
    return found[:wanted]


def find_first(db: "Connection", probe: Probe, key: int, session: SessionRow) -> Place[SessionRow] | None:
    """The first text of one session that fits."""
    return next((Place(session, row, text) for row, text in _texts(db, key) if probe.fits(text)), None)


def find_by_finished(db: "Connection", probe: Probe, query: str) -> dict[int, str] | None:
    """The texts that fit, by their rows; None where the full text is the one to ask.

    When those words leave few texts, it is quicker to look through them for the unfinished one than to collect all
    words that begin so.
    """
    *finished, last = read_phrases(query)
    if not finished or not last.is_unfinished or _count_about(db) < _MANY_SESSIONS:
        return None
    expression = match_expression(" ".join(f'"{phrase.text}"' for phrase in finished))
    few = _FEW_TEXTS if probe.is_quick else _FEW_SLOW_TEXTS
    (count,) = db.execute(_COUNT, (expression, few + 1)).fetchone()
    if count > few:
        return None
    found: dict[int, str] = {}
    letters = 0
    for row, text in db.execute(_MATCHES, (expression,)):
        letters += len(text)
        if letters > _MOST_LETTERS:
            return None
        if probe.fits(text):
            found[row] = text
    return found


def _count_about(db: "Connection") -> int:
    """How many sessions there are, or were: counting takes time in a large table."""
    return int(db.execute(_LAST_KEY).fetchone()[0])


def _texts(db: "Connection", key: int) -> Iterator[tuple[int, str]]:
    return db.execute(_TEXTS, (first_row(key), last_row(key)))
