"""Which of many tools a request may be about: by the words of their names, descriptions, examples and search words.

English and German are stemmed; a German compound finds its parts. The same request always finds the same tools.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from math import log
from typing import Protocol, cast

from skales.core.json import as_object, as_text
from skales.core.tool import ToolSpec

_WORD = re.compile(r"[a-z0-9]+")
# What a file or address is called says less than that one is named.
_ADDRESS = re.compile(r"\b(?:https?://|www\.)\S+", re.IGNORECASE)
_FILE_NAME = re.compile(r"(?:[~./\\]|\b\w)[\w./\\~-]*\.(?P<kind>[A-Za-z]\w{0,4})\b")
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})
# Said in every other request and telling of none.
_STOP = frozenset(
    re.findall(
        r"\S+",
        """
        a about all also am an and any are as at be been but by can could did do does for from get give had has have he
        her him his how i if in into is it its just let like may me my need no not now of off on one or our out over own
        please she should so some tell than thanks that the their them then there these they this those to too up us
        use used want was we were what when where which who why will with would you your

        aber alle alles als also am an auf aus bei bin bis bist bitte da dann das dass dein deine dem den denn der des
        die dies diese diesem diesen dieser dir doch du ein eine einem einen einer eines er es etwas fuer gerade gib
        habe haben hat hier ich ihm ihn ihr im in ist ja jetzt kann kannst kein keine koennen koenntest mal man mein
        meine meinem meinen meiner mir mit moechte muss nach nicht noch nun nur ob oder schon sein seine sich sie sind
        so soll ueber um und uns unser unsere vom von vor war was wegen welche welchem welchen welcher welches wenn wer
        wie will wir wird wo wuerde zu zum zur
        """,
    )
)
_NAME, _SEARCH_WORDS, _EXAMPLE, _DESCRIPTION, _PARAMETERS = 3.0, 3.0, 2.0, 1.5, 0.5
_PART_SHARE = 0.6  # of a hit, when a word is only a part of the other
_TYPO_SHARE = 0.5
_LEAST_PART = 4  # letters of a part
_TYPO_LIKENESS = 0.84

Stems = frozenset[str]


class _Stemmer(Protocol):
    """What of the library without types is used here."""

    def stemWord(self, word: str) -> str: ...  # noqa: N802 - the library's name


@dataclass(frozen=True, slots=True)
class _Entry:
    spec: ToolSpec
    weights: Mapping[str, float]


class ToolFinder:
    """Finds among a fixed set of tools; building one takes a few milliseconds per hundred."""

    def __init__(self, specs: Sequence[ToolSpec]) -> None:
        self._entries = [_Entry(spec, _weigh(spec)) for spec in specs]
        self._holders: dict[str, list[int]] = {}
        for number, entry in enumerate(self._entries):
            for stem in entry.weights:
                self._holders.setdefault(stem, []).append(number)

    def find(self, request: str, limit: int) -> Sequence[ToolSpec]:
        """The tools a request may be about, the likeliest first; none when no word points to any."""
        plain = _FILE_NAME.sub(r" file datei \g<kind> ", _ADDRESS.sub(" url link webseite ", request))
        scores = self._score_all(_words(plain)) or self._score_all(_WORD.findall(_plain(plain)))
        named = set(re.findall(r"[a-z0-9]+(?:_[a-z0-9]+)+", request.casefold()))
        ranked = sorted(
            scores,
            key=lambda number: (self._entries[number].spec.name not in named, -scores[number]),
        )
        return [self._entries[number].spec for number in ranked[:limit]]

    def _score_all(self, words: Iterable[str]) -> Mapping[int, float]:
        """Tool → what all words say for it together."""
        scores: dict[int, float] = {}
        for word in words:
            for number, score in self._hits(word).items():
                scores[number] = scores.get(number, 0.0) + score
        return scores

    def _hits(self, word: str) -> Mapping[int, float]:
        """Tool → what a word of the request says for it."""
        exact = [stem for stem in _stems(word) if stem in self._holders]
        if exact:
            return self._score(exact, 1.0)
        parts = [stem for stem in self._holders if _is_part(stem, word)]
        if parts:
            return self._score(parts, _PART_SHARE)
        return self._score(get_close_matches(word, self._holders, n=3, cutoff=_TYPO_LIKENESS), _TYPO_SHARE)

    def _score(self, stems: Iterable[str], share: float) -> Mapping[int, float]:
        best: dict[int, float] = {}
        for stem in stems:
            holders = self._holders[stem]
            rarity = log(1 + len(self._entries) / len(holders))
            for number in holders:
                score = share * rarity * self._entries[number].weights[stem]
                best[number] = max(best.get(number, 0.0), score)
        return best


def _weigh(spec: ToolSpec) -> Mapping[str, float]:
    """Stem → how much it says for the tool; the strongest place counts."""
    properties = as_object(spec.parameters.get("properties"))
    parameters = " ".join(f"{name} {as_text(as_object(it).get('description'))}" for name, it in properties.items())
    fields = (
        (spec.name.replace("_", " "), _NAME),
        (spec.found_by, _SEARCH_WORDS),
        (spec.example.request if spec.example else "", _EXAMPLE),
        (f"{spec.description} {spec.category} {spec.addon}", _DESCRIPTION),
        (parameters, _PARAMETERS),
    )
    # What people say in nothing but small words: "What can you do?"
    weights = dict.fromkeys(_STOP.intersection(_WORD.findall(_plain(spec.found_by))), _SEARCH_WORDS)
    for text, weight in fields:
        for word in _words(text):
            for stem in _stems(word):
                weights[stem] = max(weights.get(stem, 0.0), weight)
    return weights


def _words(text: str) -> Sequence[str]:
    """The telling words of a text, each once."""
    return [word for word in dict.fromkeys(_WORD.findall(_plain(text))) if word not in _STOP]


def _plain(text: str) -> str:
    """Without case, accents and umlauts."""
    parted = unicodedata.normalize("NFKD", text.casefold().translate(_UMLAUTS))
    return "".join(char for char in parted if not unicodedata.combining(char)).replace("_", " ")


@lru_cache(maxsize=8192)
def _stems(word: str) -> Stems:
    """The word without its endings, as an English and as a German one."""
    return frozenset(stemmer.stemWord(word) for stemmer in _stemmers())


@lru_cache(maxsize=1)
def _stemmers() -> Sequence[_Stemmer]:
    import Stemmer

    return tuple(cast(_Stemmer, Stemmer.Stemmer(language)) for language in ("english", "german"))


def _is_part(stem: str, word: str) -> bool:
    """Whether one begins or ends with the other, as the parts of a compound do."""
    if min(len(stem), len(word)) < _LEAST_PART:
        return False
    long, short = (word, stem) if len(word) >= len(stem) else (stem, word)
    return long.startswith(short) or long.endswith(short)
