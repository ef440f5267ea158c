"""Queries in a folder so large that common words are looked for in the newest sessions first."""

import contextlib
from collections.abc import Iterator, Sequence
from sqlite3 import Connection

import pytest

from skales.core.ids import SessionId
from skales.core.message import Role, text_message
from skales.data.document import Stamp
from skales.data.index_hits import select_hits, select_places
from skales.data.index_tables import AFTER_ALL, Choice, connect, put_session, select_page
from skales.data.index_words import match_expression
from skales.data.session_codec import Session

COUNT = 1200
NEWEST_FIRST = [f"s{number:04}" for number in reversed(range(COUNT))]


def texts_of(number: int) -> Sequence[str]:
    """Common: `all`, `most` and, in the newest, `lately`, in the oldest `once`. Rare: `needle`."""
    most = "Über most" if number % 4 else "few"
    age = "lately" if number >= COUNT - 60 else "once said" if number < COUNT - 100 else "later"
    rare = "needle needle" if number == 700 else "needle" if number in (300, 1190) else "hay"
    return f"word{number} all of them", f"{most} {rare}", f"{age} paired{'left' if number % 2 else 'right'}"


@pytest.fixture(scope="module")
def db() -> Iterator[Connection]:
    with contextlib.closing(connect(None, 0)) as opened:
        opened.execute("BEGIN")
        for number in range(COUNT):
            session = Session(
                id=SessionId(f"s{number:04}"),
                title="Tea" if number % 3 else "Coffee",
                provider="openai" if number % 2 else "local",
                model="gpt" if number % 4 else "Qwen",
                agent_id="",
                created_ms=1,
                updated_ms=number,
                messages=tuple(text_message(Role.USER, text) for text in texts_of(number)),
                folder="Work" if number % 100 == 0 else "",
            )
            put_session(opened, session, Stamp(1, 1), None)
        opened.execute("COMMIT")
        yield opened


def page(db: Connection, query: str, limit: int = 9999, after: tuple[int, str] = AFTER_ALL) -> list[str]:
    choice = Choice(query=query)
    return [row[0] for row in select_page(db, after, limit, choice, match_expression(query))]


def hits(db: Connection, query: str, limit: int) -> list[str]:
    return [row[0] for row in select_hits(db, query, match_expression(query), limit)]


def having(*words: str) -> list[str]:
    """The sessions with a text that has all these."""
    fitting = (number for number in reversed(range(COUNT)) if any(_has(text, words) for text in texts_of(number)))
    return [f"s{number:04}" for number in fitting]


def _has(text: str, words: Sequence[str]) -> bool:
    return all(any(found.startswith(word) for found in text.lower().split()) for word in words)


QUERIES = (
    ("all", ["all"]),
    ("wor", ["wor"]),
    ("most", ["most"]),
    ("UEBER", ["ueber"]),
    ("über most", ["über", "most"]),
    ("ubér mos", ["über", "most"]),
    ("lately", ["lately"]),
    ("once", ["once"]),
    ("said onc", ["said", "once"]),
    ("needle", ["needle"]),
    ("needle mos", ["needle", "most"]),
    ("all word11", ["all", "word11"]),
    ("paired", ["paired"]),
    ("said pairedlef", ["said", "pairedlef"]),
    ("lately needle", ["lately", "needle"]),
    ("日本 needle", ["日本", "needle"]),
    ("über nee", ["über", "nee"]),
    ("ﬁ hay", ["ﬁ", "hay"]),
    ("all \u0430ll", ["all", "\u0430ll"]),
)


@pytest.mark.parametrize(("query", "words"), QUERIES)
def test_a_list_is_the_same_in_stretches_of_any_length(db: Connection, query: str, words: list[str]) -> None:
    expected = having(*words)
    assert page(db, query) == expected
    for length in (70, 500):
        found: list[str] = []
        after = AFTER_ALL
        while stretch := page(db, query, length, after):
            found += stretch
            after = (int(stretch[-1][1:]), stretch[-1])
        assert found == expected


@pytest.mark.parametrize(("query", "words"), QUERIES)
@pytest.mark.parametrize("limit", [1, 40, 2000])
def test_a_search_finds_what_the_list_finds(db: Connection, query: str, words: list[str], limit: int) -> None:
    found = hits(db, query, limit)
    assert len(found) == min(limit, len(having(*words)))
    assert set(found) <= set(having(*words))


def test_what_is_common_is_searched_newest_first(db: Connection) -> None:
    assert hits(db, "all", 40) == hits(db, "them", 40) == NEWEST_FIRST[:40]
    assert hits(db, "once", 3) == having("once")[:3]


@pytest.mark.parametrize("query", ["needle", "few needle", "needle few", "nee"])
def test_what_is_rare_is_searched_best_first(db: Connection, query: str) -> None:
    assert hits(db, query, 1) == ["s0700"]


def test_a_hit_among_many_shows_the_first_place_in_its_session(db: Connection) -> None:
    session_id, title, position, snippet, spans = select_hits(db, "hay", match_expression("hay"), 1)[0]
    assert (session_id, title, position, snippet) == ("s1199", "Tea", 1, "Über most hay")
    assert [snippet[start:end] for start, end in spans] == ["hay"]
    assert select_hits(db, "tea", match_expression("tea"), 1)[0][2:4] == (None, "Tea")


def test_the_places_of_some_sessions_are_found_without_the_others(db: Connection) -> None:
    found = select_places(db, "needle", ["s0300", "s0301", "gone", "s0700"])
    assert [(name, position, snippet) for name, _, position, snippet, _ in found] == [
        ("s0300", 1, "few needle"),
        ("s0700", 1, "few needle needle"),
    ]


def test_a_long_text_is_not_read_for_a_common_word(db: Connection) -> None:
    long = " ".join(["filler"] * 300_000)
    session = Session(
        id=SessionId("long"),
        title="Long",
        provider="",
        model="",
        agent_id="",
        created_ms=1,
        updated_ms=COUNT,
        messages=(text_message(Role.USER, f"{long} needle"), text_message(Role.USER, "all")),
    )
    db.execute("BEGIN")
    put_session(db, session, Stamp(1, 1), None)
    assert page(db, "all", 2) == ["long", NEWEST_FIRST[0]]
    assert page(db, "filler needl", 2) == ["long"]
    db.execute("ROLLBACK")


@pytest.mark.parametrize(
    ("model", "fits"),
    [
        ("openai", lambda number: number % 2),
        (" OPENAI/g ", lambda number: number % 2),
        ("qwen", lambda number: number % 4 == 0),
        ("l", lambda number: not number % 2),
        ("absent", lambda number: False),
        ("/", lambda number: True),
    ],
)
@pytest.mark.parametrize("query", ["", "all", "needle"])
def test_a_list_can_be_of_some_models(db: Connection, model: str, fits: object, query: str) -> None:
    assert callable(fits)
    choice = Choice(query=query, model=model)
    rows = select_page(db, AFTER_ALL, 9999, choice, match_expression(query))
    names = having(query) if query else NEWEST_FIRST
    assert [row[0] for row in rows] == [name for name in names if fits(int(name[1:]))]


def test_a_list_can_be_of_some_models_in_one_folder(db: Connection) -> None:
    choice = Choice(query="all", model="qwen", folder="Work")
    found = select_page(db, AFTER_ALL, 3, choice, match_expression("all"))
    assert [row[0] for row in found] == ["s1100", "s1000", "s0900"]
