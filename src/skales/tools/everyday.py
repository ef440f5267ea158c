"""Everyday words and turns of phrase that say what a person is about without a word that a tool is described with.

Beside the search words of one tool (`found_by`), these hold for every tool that knows the hinted words. The words
themselves are in `everyday.toml`.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from msgspec import Struct

_TABLE = Path(__file__).with_name("everyday.toml")
_LEAST_BEGINNING = 5  # letters that a hinting word may be the beginning or the end of a longer one


class _Lexicon(Struct, frozen=True):
    by_word: Mapping[str, Sequence[str]]
    by_phrase: Sequence[tuple[re.Pattern[str], str]]


def hints_of(request: str) -> Sequence[str]:
    """What a request hints at, each hint in words that mean the same; `request` has no capitals, accents or umlauts."""
    lexicon = _lexicon()
    words = dict.fromkeys(re.findall(r"[a-z0-9]+", request))
    said = [hinted for word in words for form in _forms(word) for hinted in lexicon.by_word.get(form, ())]
    turned = [hinted for pattern, hinted in lexicon.by_phrase if pattern.search(request)]
    return list(dict.fromkeys([*said, *turned]))


def _forms(word: str) -> Iterator[str]:
    """The word, its beginnings, and its ends."""
    yield word
    for place in range(_LEAST_BEGINNING, len(word)):
        yield word[:place]
        yield word[-place:]


@lru_cache(maxsize=1)
def _lexicon() -> _Lexicon:
    """Read with the first request, not with the program."""
    tables: Mapping[str, Sequence[Mapping[str, str]]] = tomllib.loads(_TABLE.read_text(encoding="utf-8"))
    by_word: dict[str, list[str]] = {}
    for group in tables["words"]:
        for word in group["said"].split():
            by_word.setdefault(word, []).append(group["hints"])
    return _Lexicon(by_word, [(re.compile(phrase["said"]), phrase["hints"]) for phrase in tables["phrases"]])
