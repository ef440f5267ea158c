"""Whether one text fits a query, and the line that is shown of it, without the full text of all.

Latin letters are compared here. Any other text is put into a full text of its own, in memory, which splits and folds
letters just as the large one does; most that does not fit is seen before.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from skales.data.index_words import WORDS_SCHEMA, Phrase, match_expression, read_phrases

if TYPE_CHECKING:
    from sqlite3 import Connection  # at run time loaded when the index is first used

# Of these signs it is known how the full text splits and folds them.
_UNKNOWN = re.compile("[^\x00-\xb4\xb6-\u017e\u2010-\u2027\u20ac]")
_WORD = re.compile(r"[^\W_]+")
_ACCENTS = re.compile("[\u0300-\u036f]+")
_PUT = "INSERT OR REPLACE INTO words (rowid, text) VALUES (?, ?)"
_FITS = "SELECT 1 FROM words WHERE words MATCH ?"
_RANKED = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank"
_SNIPPETS = "SELECT rowid, snippet(words, 0, char(2), char(3), '…', 20) FROM words WHERE words MATCH ?"


class Probe:
    """A query, asked of single texts. To be closed; for one thread.

    `is_quick` says that most texts with these words can be compared without a full text.
    """

    def __init__(self, query: str) -> None:
        phrases = read_phrases(query)
        texts = [plain for phrase in phrases if (plain := simplify(phrase.text)) is not None]
        self.is_quick = len(texts) == len(phrases)
        self._expression = match_expression(query)
        self._pieces = tuple(word for phrase in phrases for word in _split(fold(phrase.text)))
        self._words = tuple(word for text in texts for word in _split(text))
        self._patterns = tuple(_compile(_split(text), phrase) for text, phrase in zip(texts, phrases, strict=False))
        self._db: Connection | None = None

    def close(self) -> None:
        """Give the memory back."""
        if self._db is not None:
            self._db.close()

    def fits(self, text: str) -> bool:
        """Whether all words and phrases are in a text, as `index_words` keeps it."""
        plain = simplify(text) if self.is_quick else None
        if plain is not None:
            return _has_all(plain, self._words) and all(pattern.search(plain) for pattern in self._patterns)
        if not _has_all(fold(text), self._pieces):
            return False
        db = self._open()
        db.execute(_PUT, (1, text))
        return db.execute(_FITS, (self._expression,)).fetchone() is not None

    def snippets(self, texts: Mapping[int, str]) -> dict[int, str]:
        """Some words around the matches, which stand between marks; of the texts that fit."""
        return dict(self._load(texts).execute(_SNIPPETS, (self._expression,)))

    def rank(self, texts: Mapping[int, str]) -> list[int]:
        """Those of the texts that fit, the best first."""
        return [row for (row,) in self._load(texts).execute(_RANKED, (self._expression,))]

    def _load(self, texts: Mapping[int, str]) -> "Connection":
        db = self._open()
        db.execute("DELETE FROM words")
        db.executemany(_PUT, texts.items())
        return db

    def _open(self) -> "Connection":
        import sqlite3

        if self._db is None:
            self._db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            self._db.execute(WORDS_SCHEMA)
            self._db.execute("BEGIN")  # nothing is ever committed
        return self._db


def simplify(text: str) -> str | None:
    """Small letters without accents, just as the full text has them; None for a text with signs not known here."""
    if text.isascii():
        return text.lower()
    return None if _UNKNOWN.search(text) else _ACCENTS.sub("", unicodedata.normalize("NFD", text.lower()))


def fold(text: str) -> str:
    """So coarse that whatever the full text takes for the same is the same."""
    if text.isascii():
        return text.lower()
    return _ACCENTS.sub("", unicodedata.normalize("NFKD", text.casefold()))


def _split(text: str) -> list[str]:
    return _WORD.findall(text)


def _has_all(text: str, pieces: Iterable[str]) -> bool:
    for piece in pieces:  # noqa: SIM110 - runs for every text, and `all` takes twice as long
        if piece not in text:
            return False
    return True


def _compile(words: Iterable[str], phrase: Phrase) -> re.Pattern[str]:
    end = "" if phrase.is_unfinished else r"(?![^\W_])"
    return re.compile(r"(?<![^\W_])" + r"[\W_]+".join(words) + end)
