"""memories/: what the agent remembers of the person, one file each; a person may add, edit and delete files by hand.

What becomes a memory is decided elsewhere. Spec: memory.md, "Record".
"""

import hashlib
import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import log
from pathlib import Path

from skales.core.clock import Clock
from skales.core.errors import InputError, NotFoundError
from skales.core.ids import IdSource
from skales.core.json import JsonObject, JsonValue, as_list, as_text
from skales.data.document import create_object
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.records import Folder, Source, remove_file, update_or_start_over

# Longest match first: writing without blanks between words (Thai, Khmer, Burmese, Chinese, Japanese) comes in pairs.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_RUN = re.compile(rf"[{_UNSPACED}]+|[^\W_{_UNSPACED}]+")
_UNSPACED_START = re.compile(f"[{_UNSPACED}]")

# The beginning of a word counts less than the word, and only when it is long enough to mean something.
_PREFIX_WEIGHT = 0.6
_PREFIX_MIN = 4

# Words that say nothing about what is looked for, in the languages people use most with it.
_STOP_WORDS = frozenset(
    "a an and are as at be but by can did do does for from has have how i in is it my of on or that the this to was"
    " what when where which who why with you your"
    " aber als am an auf aus bei das dem den der des die du ein eine einen einer er es fur hat ich ihr im in ist kann"
    " mein meine mit nicht oder sie sind und von war was wann wer wie wo zu zum zur"
    " como con de del donde el en es la las los mi que por un una y".split()
)


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


@dataclass(frozen=True, slots=True)
class MemoryHit:
    """A memory that matches, and how well: from just above 0 to 1, where every word of the query stands in it."""

    memory: Memory
    score: float


@dataclass(frozen=True, slots=True)
class _Kept:
    """A memory with its file, the id it claims, and its words as search compares them."""

    memory: Memory
    path: Path
    claimed_id: str
    words: frozenset[str]


class MemoryStore:
    """The memories of one data directory, looked at on every call. Thread-safe."""

    def __init__(self, directory: DataDirectory, quarantine: Quarantine, clock: Clock, ids: IdSource) -> None:
        self._folder = directory.memories
        self._blocklist = directory.memories / "_deleted_blocklist.json"
        self._quarantine = quarantine
        self._clock = clock
        self._ids = ids
        self._files = Folder(directory.memories, quarantine, _parse, quarantine.report)
        self._adding = threading.Lock()

    def add(self, content: str, category: str = "fact", keywords: Sequence[str] = (), *, source: str = "user") -> Memory:
        """Keep a memory; one that says the same already is returned instead. Raises InputError for empty content."""
        if not content.strip():
            raise InputError("content is required", hint="Say what to remember")
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
                "relevance_keywords": list(keywords),
            }
            path = self._folder / f"{value['id']}.json"
            return _parse(Source(path, value, create_object(path, value))).memory

    def count(self) -> int:
        """How many there are."""
        return len(self._files.read())

    def delete(self, memory_id: str) -> None:
        """Remove a memory and note its content, so that a later scan does not bring it back. Raises NotFoundError."""
        kept = next((kept for kept in self._kept() if kept.memory.id == memory_id), None)
        if kept is None:
            raise NotFoundError("Memory not found")
        self._block(kept.memory.content)
        remove_file(kept.path)

    def is_blocked(self, content: str) -> bool:
        """Whether a memory that says the same was deleted before."""
        return _fingerprint(content) in self._update_blocklist(())

    def search(self, query: str, limit: int) -> Sequence[MemoryHit]:
        """The best matches by words of content and keywords, best first, newer first among equals.

        Case and accents do not count; of long words the beginning is enough, so that `Kranken` finds
        `Krankenversicherung`. A rare word counts more than a frequent one.
        """
        kept = self._kept()
        frequency = Counter(word for one in kept for word in one.words)
        wanted = {word: _matches(word, frequency) for word in _query_words(query)}
        weights = {word: log(1 + len(kept) / (1 + _spread(found, frequency))) for word, found in wanted.items()}
        hits = [MemoryHit(one.memory, _score(one.words, wanted, weights)) for one in kept]
        hits = sorted((hit for hit in hits if hit.score > 0), key=lambda hit: -hit.score)
        return hits[: max(limit, 0)]

    def list(self) -> Sequence[Memory]:
        """All of them, newest first."""
        return [kept.memory for kept in self._kept()]
