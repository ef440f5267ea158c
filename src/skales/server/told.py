"""What the rooms below the server say, in the person's language: finished English sentences, translated where shown.

The rooms speak English for logs, the terminal and models. `scripts/words.py` finds their sentences; one with values in
it is known by a pattern, `There is no tool named %(0)s`. What is not known is shown as it is. Spec: issue 3, point 11.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import islice

from msgspec import Struct

from skales.server.words import ENGLISH, catalogue_file, language

# Longer texts are what a tool or a model produced, not what a room says about it.
_LONGEST = 2_000
# How deep a sentence may stand inside another.
_DEEPEST = 4
# How many full stops, colons and semicolons are looked at in a text that is no message.
_MOST_JOINTS = 2
# So many letters of its own a message has at least that begins with a value and stands alone.
_TELLING = 6
_PLACE = re.compile(r"%\((\w+)\)s")
_WORD = re.compile(r"[^\W\d_]+")
_CUT = "…"
# Values named like this hold the name of a place, and our words only where it has none.
_OF_A_PLACE = "place_"
_NAMELESS = "the workspace"
_MORE_MESSAGE = "%(0)s and %(1)s more"
_MORE = re.compile(r"(?s)(.*) and (\d+) more")
# What may stand around a sentence inside another.
_AROUND = re.compile(r"(?s)([\s:;,(]*)(.*?)([\s).,]*)")


class _Pattern(Struct, frozen=True):
    """A message with values: the texts between them, their names, and the translation.

    One that says hardly anything itself does not stand alone, only inside another.
    """

    texts: Sequence[str]
    names: Sequence[str]
    translation: str
    stands_alone: bool


class _Book(Struct, frozen=True):
    """A language's messages: those without values by their text, the others with the most telling first.

    `by_word` has the places of the patterns that hold a word, each under its rarest; those under no word are under "".
    """

    exact: Mapping[str, str]
    patterns: Sequence[_Pattern]
    by_word: Mapping[str, Sequence[int]]

    def candidates(self, text: str) -> Iterator[_Pattern]:
        """The patterns whose word the text has, in their order."""
        words = {"", *_WORD.findall(text)}
        places = sorted(place for word in words for place in self.by_word.get(word, ()))
        return (self.patterns[place] for place in places)


def told(text: str) -> str:
    """A room's text in the language in use; unknown text as it is."""
    tag = language()
    if tag == ENGLISH or not text or len(text) > _LONGEST:
        return text
    return _translate(tag, text)


@lru_cache(maxsize=4096)
def _translate(tag: str, text: str) -> str:
    return _say(_book(tag), text, _DEEPEST) or text


def _say(book: _Book, text: str, depth: int) -> str | None:
    """The translation, None for what is not known."""
    return _say_whole(book, text, depth) or _say_sentences(book, text, depth) if depth else None


def _say_whole(book: _Book, text: str, depth: int) -> str | None:
    """One message. A sentence that another begins, or that stands inside one, is written with the other case."""
    other = f"{text[:1].swapcase()}{text[1:]}" if text[:1].isalpha() else ""
    found = book.exact.get(text)
    if found or (found := _fix_case(book.exact.get(other), text)):
        return found
    return _say_pattern(book, text, depth) or (_fix_case(_say_pattern(book, other, depth), text) if other else None)


def _fix_case(found: str | None, text: str) -> str | None:
    """German begins nouns with a capital, so only what begins with one in English is changed."""
    return f"{found[:1].upper()}{found[1:]}" if found and text[:1].isupper() else found


def _say_pattern(book: _Book, text: str, depth: int) -> str | None:
    for pattern in book.candidates(text):
        if depth == _DEEPEST and not pattern.stands_alone:
            continue
        if (values := _match(pattern.texts, text)) is not None:
            known = zip(pattern.names, values, strict=True)
            return pattern.translation % {name: _say_value(book, name, value, depth) for name, value in known}
    return _say_cut(book, text, depth) if text.endswith(_CUT) else None


def _say_value(book: _Book, name: str, value: str, depth: int) -> str:
    """A value that is one of our own texts is translated, too; what people and models wrote stays."""
    if name.startswith(_OF_A_PLACE):
        return _say_place(book, value)
    if not name.isdigit() or not value:
        return value
    around = _AROUND.fullmatch(value)
    inner = _say(book, value, depth - 1)
    if inner is None and around is not None and around[2] != value:
        inner = _say(book, around[2], depth - 1)
        return value if inner is None else f"{around[1]}{inner}{around[3]}"
    return value if inner is None else inner


def _say_place(book: _Book, value: str) -> str:
    if several := _MORE.fullmatch(value):
        return book.exact.get(_MORE_MESSAGE, _MORE_MESSAGE) % {"0": several[1], "1": several[2]}
    return book.exact.get(value, value) if value == _NAMELESS else value


def _say_cut(book: _Book, text: str, depth: int) -> str | None:
    """A sentence whose end was cut off: the values that are not there any more are left open."""
    for pattern in book.candidates(text):
        values = _match_beginning(pattern.texts, text) if text.startswith(pattern.texts[0]) else None
        if values is not None and pattern.texts[0]:
            there = zip(pattern.names, values, strict=False)
            known = {name: _say_value(book, name, value, depth) for name, value in there}
            return pattern.translation % {**dict.fromkeys(pattern.names, _CUT), **known}
    return None


def _say_sentences(book: _Book, text: str, depth: int) -> str | None:
    """Sentences one after the other, such as a message and its hint, and what a colon or a semicolon puts together."""
    for joint in (". ", ": ", "; "):
        for left, right in islice(_splits(text, joint), _MOST_JOINTS):
            if (said := _say_whole(book, left, depth - 1)) is not None:
                return f"{said}{joint}{_say(book, right, depth - 1) or right}"
            if joint != ": " and (said := _say_whole(book, right, depth - 1)) is not None:
                return f"{left}{joint}{said}"
    return None


def _splits(text: str, joint: str) -> Iterator[tuple[str, str]]:
    place = text.find(joint)
    while place > 0:
        yield text[:place], text[place + len(joint) :]
        place = text.find(joint, place + 1)


def _match(texts: Sequence[str], text: str) -> Sequence[str] | None:
    """The values between the texts, None when these are not all there. Looks at every character once."""
    if not (text.startswith(texts[0]) and text.endswith(texts[-1])):
        return None
    end = len(text) - len(texts[-1])
    values: list[str] = []
    start = len(texts[0])
    for between in texts[1:-1]:
        place = text.find(between, start, end)
        if place < 0:
            return None
        values.append(text[start:place])
        start = place + len(between)
    return (*values, text[start:end]) if start <= end else None


def _match_beginning(texts: Sequence[str], text: str) -> Sequence[str]:
    """As `_match`, for a text that ends before the message does."""
    values: list[str] = []
    start = len(texts[0])
    for between in texts[1:]:
        place = text.find(between, start) if between else -1
        if place < 0:
            break
        values.append(text[start:place])
        start = place + len(between)
    return (*values, text[start:])


@cache
def _book(tag: str) -> _Book:
    file = catalogue_file(tag, "rooms.json")
    messages: Mapping[str, str] = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    compiled = (_compile(message, translation) for message, translation in messages.items() if _PLACE.search(message))
    # One of nothing but values would fit every text.
    patterns = [pattern for pattern in compiled if any(char.isalpha() for text in pattern.texts for char in text)]
    # The more a message says itself, and says at its beginning, the less it is met by accident.
    patterns.sort(key=lambda pattern: (not pattern.texts[0], -sum(map(len, pattern.texts))))
    return _Book(messages, patterns, _index(patterns))


def _index(patterns: Sequence[_Pattern]) -> Mapping[str, Sequence[int]]:
    words = [_own_words(pattern) for pattern in patterns]
    common = Counter(word for each in words for word in each)
    places: dict[str, list[int]] = {}
    for place, each in enumerate(words):
        places.setdefault(min(each, key=lambda word: (common[word], word), default=""), []).append(place)
    return places


def _own_words(pattern: _Pattern) -> set[str]:
    """The words a text of this pattern has for certain; one beside a value may be longer there."""
    last = len(pattern.texts) - 1
    found: set[str] = set()
    for number, text in enumerate(pattern.texts):
        begins, ends = number > 0 and text[:1].isalpha(), number < last and text[-1:].isalpha()
        found.update(_WORD.findall(text)[begins : -1 if ends else None])
    return found


def _compile(message: str, translation: str) -> _Pattern:
    texts = tuple(part.replace("%%", "%") for part in _PLACE.split(message)[::2])
    stands_alone = bool(texts[0]) or sum(char.isalpha() for text in texts for char in text) >= _TELLING
    return _Pattern(texts, tuple(_PLACE.findall(message)), translation, stands_alone)
