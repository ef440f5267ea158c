import contextlib
import sqlite3
from collections.abc import Iterator

import pytest

from skales.data.index_probe import Probe, fold, simplify
from skales.data.index_words import WORDS_SCHEMA, match_expression

TEXTS = (
    "Basil and thyme",
    "basilisk, and thyme",
    "BASIL-AND_THYME",
    "Über die Straße, nach ZÜRICH",
    "uber die strasse",
    "йод и иод",
    "ΣΊΣΥΦΟΣ und σίσυφος",
    "\u200b日\u200b\u200b本\u200b\u200b語\u200b",
    "한국어 하나",
    "ﬁne µ-meter ſo",
    "e\u0301te\u0301 and été",
    "😀word and word😀",
    "x",
    "12345 1.5",
    "वाक्य और शब्द",
)
QUERIES = (
    "basil",
    '"basil"',
    "basil thyme",
    '"basil and"',
    "basil-and",
    "thyme basil",
    "bas",
    "ba",
    "x",
    "über",
    "uber",
    "zür",
    "strasse",
    "straße",
    "йод",
    "иод",
    "сισυ",
    "σισυφος",
    "日本",
    "本日",
    "하나",
    "하나요",
    "한국",
    "fine",
    "ﬁn",
    "μ",
    "so",
    "ete",
    "été",
    "word",
    "😀wo",
    "123",
    "1.5",
    "शब्द",
    "\u212a",
)


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as opened:
        opened.execute(WORDS_SCHEMA)
        yield opened


@pytest.mark.parametrize("query", QUERIES)
def test_a_text_fits_alone_when_the_full_text_of_all_finds_it(db: sqlite3.Connection, query: str) -> None:
    db.executemany("INSERT INTO words (rowid, text) VALUES (?, ?)", enumerate(TEXTS))
    found = db.execute("SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid", (match_expression(query),))
    with contextlib.closing(Probe(query)) as probe:
        assert [number for number, text in enumerate(TEXTS) if probe.fits(text)] == [row for (row,) in found]


@pytest.fixture(scope="module")
def terms() -> list[tuple[str, str]]:
    """Every sign with what the full text makes of it; signs that are in no word are left out."""
    signs = [chr(code) for code in range(1, 0x20000) if not 0xD800 <= code < 0xE000]
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as opened:
        opened.execute(WORDS_SCHEMA)
        opened.execute("CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, 'instance')")
        opened.execute("BEGIN")
        opened.executemany("INSERT INTO words (rowid, text) VALUES (?, ?)", enumerate(signs))
        return [(signs[number], term) for term, number in opened.execute("SELECT term, doc FROM vocabulary")]


def test_letters_that_the_full_text_takes_for_the_same_are_never_told_apart_before_it_is_asked(
    terms: list[tuple[str, str]],
) -> None:
    assert len(terms) > 60_000
    assert [sign for sign, term in terms if fold(term) != fold(sign)] == []


def test_letters_that_are_compared_without_the_full_text_mean_the_same_to_it(terms: list[tuple[str, str]]) -> None:
    words = dict(terms)
    known = {chr(code): plain for code in range(0x3000) if (plain := simplify(chr(code))) is not None}
    assert len(known) > 380
    for sign, plain in known.items():
        assert (plain if plain.isalnum() else None) == words.get(sign), hex(ord(sign))


def test_only_texts_that_fit_have_a_line_to_show() -> None:
    with contextlib.closing(Probe("basil")) as probe:
        assert probe.fits("Über basil")
        assert probe.snippets({5: "sage", 7: "fresh Basil!"}) == {7: "fresh \x02Basil\x03!"}
