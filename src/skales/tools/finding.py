"""Which of many tools a request may be about: by the words of their names, descriptions, examples and search words.

English and German are stemmed; a German compound finds its parts, a parted verb its particle. What a file's name or a
turn of phrase gives away counts too (`everyday.py`). The same request always finds the same tools.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache
from math import log
from typing import Protocol, cast

from msgspec import Struct

from skales.core.json import as_object, as_text
from skales.core.tool import Effect, ToolSpec
from skales.tools.everyday import hints_of

_WORD = re.compile(r"[a-z0-9]+")
# What a file or address is called says less than that one is named.
_ADDRESS = re.compile(r"\b(?:https?://|www\.)\S+", re.IGNORECASE)
_FILE_NAME = re.compile(r"(?:[~./\\]|\b\w)[\w./\\~-]*\.(?P<kind>[A-Za-z]\w{0,4})\b")
# A folder or a file without a kind: "~/Documents/taxes".
_PATH = re.compile(r"(?<![\w<.])(?:~|\.{1,2})?/\w[\w./-]*")
_KINDS: Mapping[str, Sequence[str]] = {
    "picture bild foto": ("jpg", "jpeg", "png", "gif", "webp", "heic", "bmp", "tif", "tiff"),
    "document dokument": ("doc", "docx", "odt", "pdf", "rtf"),
    "spreadsheet tabelle": ("xls", "xlsx", "ods", "csv", "tsv"),
    "presentation folien": ("ppt", "pptx", "odp"),
    "archive archiv": ("zip", "tar", "gz", "tgz", "7z", "rar", "xz"),
    "mail": ("eml", "msg"),
    "script": ("py", "sh"),
}
_KIND_WORDS = {kind: words for words, kinds in _KINDS.items() for kind in kinds}
# What a German verb may leave at the end of the sentence: "Häng das an", "Benenne es um".
_PARTICLES = frozenset(
    re.findall(
        r"\S+",
        """
        ab an auf aus bei durch ein fest frei heraus herunter her hin hoch hinzu los mit nach nieder raus rein runter
        um vor weg weiter zu zurueck zusammen
        """,
    )
)
_INNER = re.compile(rf"(?P<before>{'|'.join(sorted(_PARTICLES))}|)(?:ge|zu)(?P<rest>[a-z]{{3,}}(?:t|en))")
_STRONG: Mapping[str, str] = {
    "lies": "lesen", "liest": "lesen", "las": "lesen", "gib": "geben", "gibst": "geben", "nimm": "nehmen",
    "nimmst": "nehmen", "sieh": "sehen", "siehst": "sehen", "wirf": "werfen", "wirfst": "werfen",
    "vergiss": "vergessen", "sprich": "sprechen", "hilf": "helfen", "triff": "treffen", "brich": "brechen",
    "fand": "finden", "gefunden": "finden", "geschrieben": "schreiben", "gesprochen": "sprechen",
    "verschoben": "verschieben", "geloescht": "loeschen", "geschoben": "schieben", "gegangen": "gehen",
    "gebrochen": "brechen", "wusste": "wissen", "weisst": "wissen", "weiss": "wissen", "laeuft": "laufen",
    "laedt": "laden", "lud": "laden", "haelt": "halten", "haengt": "haengen", "gewusst": "wissen",
    "schrieb": "schreiben", "sprach": "sprechen", "zog": "ziehen", "gezogen": "ziehen", "geworfen": "werfen",
    "genommen": "nehmen",
}  # fmt: skip
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
_HINT_SHARE = 0.45  # of what a file's name or an address gives away
_TOOL_HINT = 4.0  # of a turn of phrase that points to one tool
_LEAST_PART = 4  # letters of a part
_LEAST_VERB = 3
_CLAUSE = 16  # words between a verb and its particle
_MOST_LETTERS = 1_000  # of a request that are looked at
_TYPO_LIKENESS = 0.84
_TYPO_LENGTH = 2  # letters more or less

Stems = frozenset[str]


class _Stemmer(Protocol):
    """What of the library without types is used here."""

    def stemWord(self, word: str) -> str: ...  # noqa: N802 - the library's name


class _Entry(Struct, frozen=True):
    spec: ToolSpec
    weights: Mapping[str, float]


class ToolFinder:
    """Finds among a fixed set of tools; building one takes a few milliseconds per hundred."""

    def __init__(self, specs: Sequence[ToolSpec]) -> None:
        self._entries = [_Entry(spec, _weigh(spec)) for spec in specs]
        self._places = {spec.name: number for number, spec in enumerate(specs)}
        self._holders: dict[str, list[int]] = {}
        for number, entry in enumerate(self._entries):
            for stem in entry.weights:
                self._holders.setdefault(stem, []).append(number)

    def find(self, request: str, limit: int) -> Sequence[ToolSpec]:
        """The tools a request may be about, the likeliest first; none when no word points to any."""
        request = request[:_MOST_LETTERS]
        plain, hints = _without_names(request)
        hints = [*hints, *hints_of(_plain(plain))]
        words = [*_words(plain), *self._joined_verbs(plain)]
        scores = self._score_all(words, hints) or self._score_all(_WORD.findall(_plain(plain)), [])
        named = set(re.findall(r"[a-z0-9]+(?:_[a-z0-9]+)+", request.casefold()))
        ranked = sorted(
            scores,
            key=lambda number: (
                self._entries[number].spec.name not in named,
                -scores[number],
                Effect.WRITES in self._entries[number].spec.effects,
            ),
        )
        return [self._entries[number].spec for number in ranked[:limit]]

    def _joined_verbs(self, request: str) -> Sequence[str]:
        """The verbs whose particle stands further on in the sentence, put together, where a tool knows them."""
        words = _WORD.findall(_plain(request))
        joined = [
            particle + verb
            for place, particle in enumerate(words)
            if particle in _PARTICLES
            for verb in words[max(0, place - _CLAUSE) : place]
            if len(verb) >= _LEAST_VERB and verb not in _STOP
        ]
        return [verb for verb in dict.fromkeys(joined) if not self._holders.keys().isdisjoint(_stems(verb))]

    def _score_all(self, words: Iterable[str], hints: Iterable[str]) -> Mapping[int, float]:
        """Tool → what all words and hints say for it together."""
        scores: dict[int, float] = {}
        for hits in (*map(self._hits, words), *map(self._hinted, hints)):
            for number, score in hits.items():
                scores[number] = scores.get(number, 0.0) + score
        return scores

    def _hinted(self, hint: str) -> Mapping[int, float]:
        """Tool → what the best of a hint's words says for it; names of tools among them stand for these."""
        words = hint.split()
        best = {self._places[word]: _TOOL_HINT for word in words if word in self._places}
        for word in words:
            for number, score in ({} if "_" in word else self._hits(word)).items():
                best[number] = max(best.get(number, 0.0), _HINT_SHARE * score)
        return best

    def _hits(self, word: str) -> Mapping[int, float]:
        """Tool → what a word of the request says for it."""
        exact = [stem for form in _base_forms(word) for stem in _stems(form) if stem in self._holders]
        if exact:
            return self._score(exact, 1.0)
        forms = {word, *_stems(word)}
        parts = [stem for stem in self._holders if any(_is_part(stem, form) for form in forms)]
        if parts:
            return self._score(parts, _PART_SHARE)
        alike = [stem for stem in self._holders if stem[0] == word[0] and abs(len(stem) - len(word)) <= _TYPO_LENGTH]
        return self._score(get_close_matches(word, alike, n=3, cutoff=_TYPO_LIKENESS), _TYPO_SHARE)

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
    words = dict.fromkeys(_WORD.findall(_plain(text)))
    return [word for word in words if word not in _STOP and len(word) > 1]


def _without_names(request: str) -> tuple[str, Sequence[str]]:
    """The request without addresses and names of files, and words for what these were."""
    hints: list[str] = []

    def hint(*words: str) -> str:
        hints.extend(words)
        return " "

    def note_file(name: re.Match[str]) -> str:
        kind = name["kind"].lower()
        return hint("file datei", "read_file", kind, _KIND_WORDS.get(kind, ""))

    plain = _ADDRESS.sub(lambda _: hint("url link webseite", "fetch_web_page"), request)
    plain = _FILE_NAME.sub(note_file, plain)
    return _PATH.sub(lambda _: hint("folder ordner", "list_directory"), plain), hints


def _plain(text: str) -> str:
    """Without case, accents and umlauts."""
    parted = unicodedata.normalize("NFKD", text.casefold().translate(_UMLAUTS))
    return "".join(char for char in parted if not unicodedata.combining(char)).replace("_", " ")


def _base_forms(word: str) -> Sequence[str]:
    """The word, and of a German verb the form without `ge` and `zu`, or that of a strong one that shows its stem."""
    inner = _INNER.fullmatch(word)
    plain = inner["before"] + inner["rest"] if inner else ""
    endings = ("et", "t") if plain.endswith("t") else ()
    weak = [f"{plain.removesuffix(ending)}en" for ending in endings if plain.endswith(ending)]
    return [form for form in (word, plain, *weak, *_STRONG.get(word, "").split()) if form]


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
