"""memories/: what the agent remembers of the person, one file each; a person may add, edit and delete files by hand.

What becomes a memory is decided elsewhere. Spec: memory.md, "Record".
"""

import hashlib
import re
import threading
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from math import log
from pathlib import Path

from msgspec import Struct

from skales.core.clock import Clock
from skales.core.errors import BrokenDocumentError, InputError, NotFoundError
from skales.core.ids import IdSource, is_safe_id
from skales.core.json import JsonObject, JsonValue, as_list, as_text
from skales.data.document import create_object, read_object
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.records import Folder, Source, moment_ms, remove_file, texts_of, update_or_start_over

# Where no blanks stand between words (Thai, Khmer, Burmese, Chinese, Japanese), pairs of letters are compared.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_RUN = re.compile(rf"[{_UNSPACED}]+|[^\W_{_UNSPACED}]+")
_UNSPACED_START = re.compile(f"[{_UNSPACED}]")

# The beginning of a word counts less than the word, and only when it is long enough to mean something.
_PART_WEIGHT = 0.6
_BEGINNING_MIN = 4  # letters of the query that find a longer word
_STEM_MIN = 5  # letters of a memory's word that are found by a longer one

# A whole chat message may be the query; what it is about stands in far fewer words.
_QUERY_WORDS_MAX = 64

# Words that say nothing about what is looked for, in the languages people use most with it.
_STOP_TEXT = """
a an and are as at be but by can did do does for from has have how i in is it my of on or that the this to was what
when where which who why with you your
aber als am an auf aus bei das dem den der des die du ein eine einen einer er es fur hat ich ihr im in ist kann mein
meine mit nicht oder sie sind und von war was wann wer wie wo zu zum zur
como con de del donde el en es la las los mi que por un una y
"""
_STOP_WORDS = frozenset(_STOP_TEXT.split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One memory. `source` names the conversation or program it came from.

    `raw` is the whole object of the file, keys that nobody here knows included.
    """

    id: str
    category: str
    content: str
    source: str
    extracted_ms: int
    keywords: tuple[str, ...] = ()
    raw: JsonObject = field(default_factory=dict[str, JsonValue], compare=False, repr=False)


class MemoryHit(Struct, frozen=True):
    """A memory that matches, and how well: from just above 0 to 1, where every word of the query stands in it."""

    memory: Memory
    score: float


class _Kept(Struct, frozen=True):
    """A memory with its file and its words as search compares them."""

    memory: Memory
    path: Path
    words: frozenset[str]


class MemoryStore:
    """The memories of one data directory, looked at on every call. Thread-safe.

    `changed` hears of each change made here: the id, and the file's object before and after.
    """

    def __init__(
        self,
        directory: DataDirectory,
        quarantine: Quarantine,
        clock: Clock,
        ids: IdSource,
        mask: Callable[[str], str] = str,
    ) -> None:
        self._mask = mask
        self._folder = directory.memories
        self._blocklist = directory.memories / "_deleted_blocklist.json"
        self._quarantine = quarantine
        self._clock = clock
        self._ids = ids
        self._files = Folder(directory.memories, quarantine, _parse, quarantine.report)
        self._adding = threading.Lock()
        self.changed: Callable[[str, JsonObject | None, JsonObject | None], None] = _nobody

    def add(
        self, content: str, category: str = "fact", keywords: Sequence[str] = (), *, source: str = "user"
    ) -> Memory:
        """Keep a memory without the secrets in it; one that says the same already is returned instead.

        Raises InputError for empty content.
        """
        if not content.strip():
            raise InputError("content is required", hint="Say what to remember")
        content = self._mask(content)
        with self._adding:
            for kept in self._kept():
                if _normalise(kept.memory.content) == _normalise(content):
                    return kept.memory
            value: dict[str, JsonValue] = {
                "id": f"mem_{self._ids.token(16)}",
                "category": category,
                "content": content.strip(),
                "source_conversation_id": source,
                "extracted_at": self._clock.now_ms(),
                "relevance_keywords": [self._mask(word) for word in keywords],
            }
            path = self._folder / f"{value['id']}.json"
            memory = _parse(Source(path, value, create_object(path, value))).memory
        self.changed(memory.id, None, value)
        return memory

    def count(self) -> int:
        """How many there are."""
        return len(self._files.read())

    def delete(self, memory_id: str) -> None:
        """Remove a memory and note its content, so that a later scan does not bring it back. Raises NotFoundError."""
        kept = next((kept for kept in self._kept() if kept.memory.id == memory_id), None)
        if kept is None:
            raise NotFoundError("Memory not found")
        # First, because a note about a memory that is still there does no harm.
        self._block(kept.memory.content)
        if remove_file(kept.path):
            self.changed(memory_id, kept.memory.raw, None)

    def find(self, memory_id: str) -> Memory | None:
        """One memory, None when there is none."""
        return next((kept.memory for kept in self._kept() if kept.memory.id == memory_id), None)

    def put_back(self, memory_id: str, value: JsonObject) -> None:
        """Keep again what was deleted, as its file was. Raises InputError, and ConflictError when the id is in use."""
        content = as_text(value.get("content"))
        if not is_safe_id(memory_id) or not content.strip():
            raise InputError("This is no memory")
        self._unblock(content)
        create_object(self._folder / f"{memory_id}.json", value)
        self.changed(memory_id, None, value)

    def is_blocked(self, content: str) -> bool:
        """Whether a memory that says the same was deleted before."""
        try:
            hashes = read_object(self._blocklist, self._quarantine).get("hashes")
        except (NotFoundError, BrokenDocumentError):
            return False
        return _fingerprint(content) in as_list(hashes)

    def search(self, query: str, limit: int) -> Sequence[MemoryHit]:
        """The best matches by words of content and keywords, best first, newer first among equals.

        Case and accents do not count; of long words the beginning is enough, so that `Kranken` finds
        `Krankenversicherung`. A rare word counts more than a frequent one.
        """
        kept = self._kept()
        frequency = Counter(word for one in kept for word in one.words)
        vocabulary = sorted(frequency)
        wanted = [
            (found, log(1 + len(kept) / (1 + sum(frequency[word] for word in found))))
            for found in (_matches(word, frequency, vocabulary) for word in _query_words(query))
        ]
        hits = [MemoryHit(one.memory, _score(one.words, wanted)) for one in kept]
        best = sorted((hit for hit in hits if hit.score > 0), key=lambda hit: -hit.score)
        return best[: max(limit, 0)]

    def list(self) -> Sequence[Memory]:
        """All of them, newest first."""
        return [kept.memory for kept in self._kept()]

    def _kept(self) -> Sequence[_Kept]:
        """Newest first."""
        return sorted(self._files.read(), key=lambda kept: (-kept.memory.extracted_ms, kept.memory.id))

    def _block(self, content: str) -> None:
        fingerprint = _fingerprint(content)

        def change(value: dict[str, JsonValue]) -> None:
            hashes = [*as_list(value.get("hashes"))]
            value["hashes"] = hashes if fingerprint in hashes else [*hashes, fingerprint]

        update_or_start_over(self._blocklist, self._quarantine, change, missing={})

    def _unblock(self, content: str) -> None:
        fingerprint = _fingerprint(content)

        def change(value: dict[str, JsonValue]) -> None:
            value["hashes"] = [found for found in as_list(value.get("hashes")) if found != fingerprint]

        update_or_start_over(self._blocklist, self._quarantine, change, missing={})


def _nobody(_memory_id: str, _before: JsonObject | None, _after: JsonObject | None) -> None:
    """Nobody listens."""


def memory_json(memory: Memory) -> JsonObject:
    """A memory in the shape of its file, with the id that finds it again."""
    return {
        **memory.raw,
        "id": memory.id,
        "category": memory.category,
        "content": memory.content,
        "source_conversation_id": memory.source,
        "extracted_at": memory.extracted_ms,
        "relevance_keywords": list(memory.keywords),
    }


def _parse(source: Source) -> _Kept:
    """Raises ValueError with the reason. The file's name is the id; a copied file is a memory of its own."""
    value = source.value
    content = as_text(value.get("content"))
    if not content.strip():
        raise ValueError("it is no memory: it has no content")
    keywords = texts_of(value.get("relevance_keywords"))
    memory = Memory(
        id=source.path.stem,
        category=as_text(value.get("category")) or "fact",
        content=content,
        source=as_text(value.get("source_conversation_id")),
        extracted_ms=moment_ms(value.get("extracted_at"), default=source.stamp.mtime_ns // 1_000_000),
        keywords=keywords,
        raw=value,
    )
    return _Kept(memory, source.path, frozenset(_words(" ".join([content, *keywords]))))


def _normalise(content: str) -> str:
    """What two memories that say the same have in common."""
    return " ".join(unicodedata.normalize("NFKC", content).casefold().split()).rstrip(".!… ")


def _fingerprint(content: str) -> str:
    return hashlib.sha256(_normalise(content).encode(errors="surrogatepass")).hexdigest()


def _words(text: str) -> Iterator[str]:
    """Words without case and accents; where no blanks stand between words, pairs of letters."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    for run in _RUN.findall("".join(letter for letter in decomposed if not unicodedata.combining(letter))):
        if _UNSPACED_START.match(run) and len(run) > 1:
            yield from (run[start : start + 2] for start in range(len(run) - 1))
        else:
            yield run


def _query_words(query: str) -> Sequence[str]:
    words = list(dict.fromkeys(_words(query)))
    telling = [word for word in words if word not in _STOP_WORDS]
    return (telling or words)[:_QUERY_WORDS_MAX]


def _matches(word: str, frequency: Mapping[str, int], vocabulary: Sequence[str]) -> Mapping[str, float]:
    """Words of memories that answer to a word of the query, and how well. `vocabulary` is sorted."""
    found = {word[:end]: _PART_WEIGHT for end in range(_STEM_MIN, len(word)) if word[:end] in frequency}
    if len(word) >= _BEGINNING_MIN:
        longer = takewhile(lambda other: other.startswith(word), vocabulary[bisect_left(vocabulary, word) :])
        found.update(dict.fromkeys(longer, _PART_WEIGHT))
    if word in frequency:
        found[word] = 1.0
    return found


def _score(words: frozenset[str], wanted: Sequence[tuple[Mapping[str, float], float]]) -> float:
    """The weighted share of the query's words that stand in a memory."""
    reached = sum(
        weight * max((strength for word, strength in found.items() if word in words), default=0.0)
        for found, weight in wanted
    )
    return reached / sum(weight for _, weight in wanted) if reached else 0.0
