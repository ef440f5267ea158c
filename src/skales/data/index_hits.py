"""The places that a search shows: the best ones, or with a common word the newest; one for each session.

Functions over a connection, as in `index_tables`.
"""

from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import islice
from typing import TYPE_CHECKING

from skales.data.index_probe import Probe
from skales.data.index_scan import Place, find_by_finished, find_common, find_first
from skales.data.index_words import SEPARATOR, read_row
from skales.data.session_search import Span, read_snippet

if TYPE_CHECKING:
    from sqlite3 import Connection  # at run time loaded when the index is first used

# id, title, position of the message or None for the title, snippet, matches within the snippet
HitRow = tuple[str, str, int | None, str, tuple[Span, ...]]
_Name = tuple[str, str]  # id, title

# More matches than these are not weighed against each other; fewer when they must be put into a full text for it.
_RANKED_TEXTS, _RANKED_APART = 1000, 300
_MATCHES = "SELECT rowid FROM words WHERE words MATCH ?"
_RANKED = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank"
_NEWEST = "SELECT key, id, title FROM sessions ORDER BY updated_ms DESC, id DESC"
_NAME = "SELECT id, title FROM sessions WHERE key = ?"
_KEY = "SELECT key, id, title FROM sessions WHERE id = ?"
_TEXT = "SELECT text FROM words WHERE rowid = ?"


def select_hits(db: "Connection", query: str, expression: str, limit: int) -> list[HitRow]:
    """The best matching text of each session, best first.

    Where very many match, none of them says much: then it is the first one of each session, and the newest come first.
    """
    with closing(Probe(query)) as probe:
        found = find_by_finished(db, probe, query)
        if found is None:
            common = find_common(db, probe, _newest(db), limit)
            if common is not None:
                return _hits(common, probe)
        rows = [*(_all_rows(db, _MATCHES, expression) if found is None else found)]
        if len(rows) > (_RANKED_TEXTS if found is None else _RANKED_APART):
            chosen = _in_newest(db, sorted(rows))
        else:
            chosen = _first_of_each(probe.rank(found) if found is not None else _all_rows(db, _RANKED, expression))
        return _hits(_places(db, islice(chosen, limit)), probe)


def select_places(db: "Connection", query: str, session_ids: Iterable[str]) -> list[HitRow]:
    """The first matching text of each of these sessions that has one."""
    with closing(Probe(query)) as probe:
        named = (row for name in session_ids for row in db.execute(_KEY, (name,)))
        found = (find_first(db, probe, key, (name, title)) for key, name, title in named)
        return _hits([place for place in found if place is not None], probe)


def _all_rows(db: "Connection", statement: str, expression: str) -> list[int]:
    return [row for (row,) in db.execute(statement, (expression,))]


def _newest(db: "Connection") -> Iterator[tuple[int, _Name]]:
    return ((key, (name, title)) for key, name, title in db.execute(_NEWEST))


def _in_newest(db: "Connection", rows: Iterable[int]) -> Iterator[int]:
    first: dict[int, int] = {}
    for row in rows:
        first.setdefault(read_row(row)[0], row)
    return (first[key] for key, _ in _newest(db) if key in first)


def _first_of_each(rows: Iterable[int]) -> Iterator[int]:
    seen: set[int] = set()
    for row in rows:
        key, _ = read_row(row)
        if key not in seen:
            seen.add(key)
            yield row


def _places(db: "Connection", rows: Iterable[int]) -> list[Place[_Name]]:
    places: list[Place[_Name]] = []
    for row in rows:
        (text,) = db.execute(_TEXT, (row,)).fetchone()
        places.append(Place(db.execute(_NAME, (read_row(row)[0],)).fetchone(), row, text))
    return places


def _hits(places: list[Place[_Name]], probe: Probe) -> list[HitRow]:
    marked = probe.snippets({place.row: place.text for place in places})
    return [
        (*place.session, read_row(place.row)[1], *read_snippet(marked[place.row].replace(SEPARATOR, "")))
        for place in places
    ]
