import contextlib
from collections.abc import Iterator
from sqlite3 import Connection

import pytest

from skales.data.index_tables import connect
from skales.data.index_words import TITLE_POSITION, add_text, drop_texts, match_expression, matching_sessions


@pytest.fixture
def db() -> Iterator[Connection]:
    with contextlib.closing(connect(None, 0)) as opened:
        yield opened


def found(db: Connection, query: str) -> set[int]:
    return matching_sessions(db, match_expression(query))


def test_a_text_is_found_in_its_session_until_it_is_dropped(db: Connection) -> None:
    add_text(db, 7, TITLE_POSITION, "basil")
    add_text(db, 7, 0, "basil")
    add_text(db, 8, TITLE_POSITION, "basil")
    assert found(db, "basil") == {7, 8}
    drop_texts(db, 7, TITLE_POSITION, TITLE_POSITION)
    assert found(db, "basil") == {7, 8}
    drop_texts(db, 7, 0)
    assert found(db, "basil") == {8}


@pytest.mark.parametrize("text", ["", " \n", "\x02\x03", "\0"])
def test_a_text_without_a_word_takes_no_room(db: Connection, text: str) -> None:
    add_text(db, 7, 0, text)
    assert db.execute("SELECT count(*) FROM words").fetchone() == (0,)


def test_what_comes_after_a_million_messages_is_not_found_and_disturbs_no_other_session(db: Connection) -> None:
    last = (1 << 20) - 2
    add_text(db, 7, last, "basil")
    add_text(db, 7, last + 1, "sage")
    add_text(db, 8, TITLE_POSITION, "thyme")
    assert [found(db, word) for word in ("basil", "sage", "thyme")] == [{7}, set(), {8}]
    drop_texts(db, 7, TITLE_POSITION)
    assert [found(db, word) for word in ("basil", "thyme")] == [set(), {8}]
