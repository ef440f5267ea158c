"""Words within one conversation, and the line of text that is shown around a match; pure.

Matches are places in a text, never markup: whoever shows a snippet draws the marks himself.
Not the search across conversations, which is the index's; that one matches words, this one any part of a word.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import islice

from msgspec import Struct

from skales.core.message import Message, Role

Span = tuple[int, int]

MATCH_START, MATCH_END = "\x02", "\x03"
_MARK = re.compile(f"([{MATCH_START}{MATCH_END}])")
_SNIPPET_CHARACTERS = 300
_LEAD_CHARACTERS = _SNIPPET_CHARACTERS // 3
_CONTEXT_CHARACTERS = 4 * _SNIPPET_CHARACTERS  # taken around a match before white space is folded
_PHRASE_OR_WORD = re.compile(r'"([^"]*)"|([^\s"]+)')
_ACCENTS = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+")


class MessageHit(Struct, frozen=True):
    """A message with every word of a query; `spans` are the matches within the snippet, as start and end."""

    index: int
    role: Role
    snippet: str
    spans: tuple[Span, ...]


def find_in_messages(messages: Sequence[Message], query: str, limit: int) -> tuple[MessageHit, ...]:
    """The messages that contain all words and quoted phrases of the query, whatever their case and accents, in order.

    Instructions (`system`) are not searched: nobody said them.
    """
    found = _PHRASE_OR_WORD.findall(query)
    words = sorted({word for quoted, bare in found if (word := _fold(quoted or bare).strip())}, key=len, reverse=True)
    if not words:
        return ()
    return tuple(islice(_hits(messages, words), max(limit, 0)))


def read_snippet(marked: str) -> tuple[str, tuple[Span, ...]]:
    """One line around the first match of a text with marks in it, and where the matches are in that line.

    A word can be as long as a picture in base64, so the line is cut within words.
    """
    text, spans = _read_marks(" ".join(marked.split()))
    first = spans[0][0] if spans else 0
    start = max(first - _LEAD_CHARACTERS, 0) if len(text) > _SNIPPET_CHARACTERS else 0
    end = start + _SNIPPET_CHARACTERS
    shift = start - 1 if start else 0
    shown = tuple((left - shift, min(right, end) - shift) for left, right in spans if left < end)
    return ("…" if start else "") + text[start:end] + ("…" if end < len(text) else ""), shown


def _hits(messages: Sequence[Message], words: Sequence[str]) -> Iterator[MessageHit]:
    pattern = re.compile("|".join(map(re.escape, words)))
    for index, message in enumerate(messages):
        if message.role is not Role.SYSTEM:
            text = message.text
            folded = _fold(text)
            if all(word in folded for word in words):
                snippet, spans = read_snippet(_mark(text, folded, pattern))
                yield MessageHit(index, message.role, snippet, spans)


def _mark(text: str, folded: str, pattern: re.Pattern[str]) -> str:
    """The text around the first match, with each match between marks."""
    places: Sequence[int] = range(len(text) + 1)
    if not text.isascii():
        letters = [_fold(letter) for letter in text]
        folded = "".join(letters)
        places = [place for place, letter in enumerate(letters) for _ in letter]
    matches = [(places[found.start()], places[found.end() - 1] + 1) for found in pattern.finditer(folded)]
    first = matches[0][0] if matches else 0
    at, end = max(first - _CONTEXT_CHARACTERS, 0), first + _CONTEXT_CHARACTERS
    pieces: list[str] = []
    for left, right in matches:
        if at <= left < end:
            pieces += (_MARK.sub(" ", text[at:left]), MATCH_START, _MARK.sub(" ", text[left:right]), MATCH_END)
            at = right
    return "".join((*pieces, _MARK.sub(" ", text[at : max(end, at)])))


def _read_marks(line: str) -> tuple[str, tuple[Span, ...]]:
    plain: list[str] = []
    spans: list[Span] = []
    length = opened = 0
    for piece in _MARK.split(line):
        match piece:
            case "\x02":
                opened = length
            case "\x03":
                spans.append((opened, length))
            case _:
                plain.append(piece)
                length += len(piece)
    return "".join(plain), tuple(spans)


def _fold(text: str) -> str:
    if text.isascii():
        return text.lower()
    return _ACCENTS.sub("", unicodedata.normalize("NFD", text.casefold()))
