import hashlib
import json
import os

import pytest

from skales.core.errors import InputError, NotFoundError
from skales.core.json import JsonObject
from skales.data.document import write_object
from skales.data.memories import Memory, MemoryStore, memory_json
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from tests.conftest import CountingIds, FixedClock


@pytest.fixture
def quarantine(home: DataDirectory, clock: FixedClock) -> Quarantine:
    return Quarantine(home.quarantine, clock)


@pytest.fixture
def store(home: DataDirectory, quarantine: Quarantine, clock: FixedClock, ids: CountingIds) -> MemoryStore:
    return MemoryStore(home, quarantine, clock, ids)


def write(home: DataDirectory, name: str, value: JsonObject) -> None:
    write_object(home.memories / name, value)


def ids_of(store: MemoryStore) -> list[str]:
    return [memory.id for memory in store.list()]


# --- keeping -----------------------------------------------------------------------------------------------------


def test_a_new_memory_is_on_disk_in_the_shape_of_the_specification(
    store: MemoryStore, home: DataDirectory, clock: FixedClock
) -> None:
    memory = store.add(" Wants answers in Spanish ", "preference", ["language", "spanish"], source="session_1")
    assert memory == Memory(
        id=f"mem_{1:016x}",
        category="preference",
        content="Wants answers in Spanish",
        source="session_1",
        extracted_ms=clock.now_ms(),
        keywords=("language", "spanish"),
    )
    on_disk = json.loads((home.memories / f"{memory.id}.json").read_text(encoding="utf-8"))
    assert on_disk == {
        "id": memory.id,
        "category": "preference",
        "content": "Wants answers in Spanish",
        "source_conversation_id": "session_1",
        "extracted_at": clock.now_ms(),
        "relevance_keywords": ["language", "spanish"],
    }
    assert memory_json(memory) == on_disk
    assert store.list() == [memory]


def test_a_memory_is_a_fact_of_the_person_unless_said_otherwise(store: MemoryStore) -> None:
    memory = store.add("Lives in Linz")
    assert (memory.category, memory.keywords, memory.source) == ("fact", (), "user")


@pytest.mark.parametrize("content", ["", "  \n"])
def test_an_empty_memory_is_refused(store: MemoryStore, content: str) -> None:
    with pytest.raises(InputError, match="content is required"):
        store.add(content)


@pytest.mark.parametrize("again", ["Lives in Linz", " lives  in\nLINZ. ", "Ｌｉｖｅｓ in Linz!"])
def test_an_equal_memory_is_not_kept_twice(store: MemoryStore, again: str) -> None:
    first = store.add("Lives in Linz.")
    assert store.add(again, "preference") == first
    assert store.add("Lives in Lienz") != first
    assert store.count() == 2


def test_memories_come_newest_first(store: MemoryStore, home: DataDirectory) -> None:
    for name, moment in (("b", 5), ("a", 5), ("c", 7)):
        write(home, f"{name}.json", {"content": name, "extracted_at": moment})
    assert ids_of(store) == ["c", "a", "b"]


def test_bookkeeping_is_no_memory(store: MemoryStore, home: DataDirectory) -> None:
    write(home, "_state.json", {"content": "x", "lastScanTimestamp": 1})
    write(home, "notes.txt", {"content": "x"})
    assert store.list() == []
    assert store.count() == 0


def test_a_file_made_by_hand_counts(store: MemoryStore, home: DataDirectory) -> None:
    write(home, "by-hand.json", {"content": "Likes tea", "mood": "calm"})
    os.utime(home.memories / "by-hand.json", ns=(0, 1_800_000_000_123_456_789))
    [memory] = store.list()
    assert memory == Memory(
        id="by-hand", category="fact", content="Likes tea", source="", extracted_ms=1_800_000_000_123
    )
    assert memory_json(memory) == {
        "id": "by-hand",
        "category": "fact",
        "content": "Likes tea",
        "source_conversation_id": "",
        "extracted_at": 1_800_000_000_123,
        "relevance_keywords": [],
        "mood": "calm",
    }


def test_an_edit_by_hand_counts_at_once(store: MemoryStore, home: DataDirectory) -> None:
    memory = store.add("Lives in Graz")
    write(home, f"{memory.id}.json", {**memory_json(memory), "content": "Lives in Linz"})
    assert [found.content for found in store.list()] == ["Lives in Linz"]


def test_a_broken_or_foreign_file_costs_no_other_memory(
    store: MemoryStore, home: DataDirectory, quarantine: Quarantine
) -> None:
    memory = store.add("Lives in Linz")
    (home.memories / "broken.json").write_bytes(b'{"content": "Lives')
    write(home, "foreign.json", {"content": ["no", "text"]})
    write(home, "empty.json", {"content": " "})
    assert store.list() == [memory]
    assert {notice.path.name for notice in quarantine.notices()} == {"broken.json", "foreign.json", "empty.json"}
    assert (home.memories / "foreign.json").exists()


# --- ids ---------------------------------------------------------------------------------------------------------


def test_the_name_of_the_file_is_the_id_so_that_a_copy_has_its_own(store: MemoryStore, home: DataDirectory) -> None:
    for name in ("mem_1.json", "copy.json", "mem_2.json"):
        write(home, name, {"id": "mem_1", "content": name, "extracted_at": 1})
    assert ids_of(store) == ["copy", "mem_1", "mem_2"]
    assert [memory_json(memory)["id"] for memory in store.list()] == ["copy", "mem_1", "mem_2"]
    store.delete("mem_1")
    assert ids_of(store) == ["copy", "mem_2"]
    with pytest.raises(NotFoundError):
        store.delete("mem_1")


# --- forgetting --------------------------------------------------------------------------------------------------


def test_a_deleted_memory_is_gone_and_its_content_noted(store: MemoryStore, home: DataDirectory) -> None:
    memory = store.add("Lives in Linz.")
    assert not store.is_blocked("Lives in Linz")
    store.delete(memory.id)
    assert store.list() == []
    assert store.is_blocked(" lives in LINZ")
    assert not store.is_blocked("Lives in Graz")
    blocklist = json.loads((home.memories / "_deleted_blocklist.json").read_text(encoding="utf-8"))
    assert blocklist == {"hashes": [hashlib.sha256(b"lives in linz").hexdigest()]}


def test_a_deletion_is_noted_once_beside_what_stands_there(store: MemoryStore, home: DataDirectory) -> None:
    write(home, "_deleted_blocklist.json", {"hashes": ["x"], "version": 1})
    for _ in range(2):
        store.delete(store.add("Lives in Linz \ud800").id)
    blocklist = json.loads((home.memories / "_deleted_blocklist.json").read_text(encoding="utf-8"))
    assert (blocklist["version"], blocklist["hashes"][0], len(blocklist["hashes"])) == (1, "x", 2)


def test_a_broken_note_of_deletions_blocks_nothing_and_starts_over(
    store: MemoryStore, home: DataDirectory, quarantine: Quarantine
) -> None:
    memory = store.add("Lives in Linz")
    (home.memories / "_deleted_blocklist.json").write_bytes(b"{")
    assert not store.is_blocked("Lives in Linz")
    store.delete(memory.id)
    assert store.is_blocked("Lives in Linz")
    assert [notice.kept_at.read_bytes() for notice in quarantine.notices()] == [b"{"]


@pytest.mark.parametrize("memory_id", ["mem_9", "", "../settings", "_state"])
def test_an_unknown_memory_is_not_found(store: MemoryStore, home: DataDirectory, memory_id: str) -> None:
    write(home, "_state.json", {"content": "x"})
    with pytest.raises(NotFoundError, match=r"^Memory not found$"):
        store.delete(memory_id)
    assert (home.memories / "_state.json").exists()


# --- finding -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("Linz", ["Lives in Linz since May"]),
        ("linz", ["Lives in Linz since May"]),
        ("where do I live", ["Lives in Linz since May"]),
        ("muller", ["Frau Müller ist die Zahnärztin"]),
        ("MÜLLER", ["Frau Müller ist die Zahnärztin"]),
        ("Zahnarzt", ["Frau Müller ist die Zahnärztin"]),
        ("zahnärztintermin", ["Frau Müller ist die Zahnärztin"]),
        ("Krankenversicherung", ["Krankenversicherungsnummer im roten Ordner"]),
        ("kran", ["Krankenversicherungsnummer im roten Ordner"]),
        ("kra", []),
        ("teapot", []),
        ("strasse", ["Wohnt in der Hauptstraße, Straße 5"]),
        ("beverage", ["Prefers tea"]),
        ("用户住在哪里", ["用户住在维也纳"]),
        ("纳", ["纳"]),
        ("東京", ["東京タワーが好き"]),
        ("the", ["Favourite band: The The"]),
        ("", []),
        ("!?", []),
        ("zebra", []),
    ],
)
def test_memories_are_found_by_their_words(store: MemoryStore, query: str, found: list[str]) -> None:
    store.add("Prefers tea", keywords=["beverage"])
    for content in (
        "Lives in Linz since May",
        "Frau Müller ist die Zahnärztin",
        "Krankenversicherungsnummer im roten Ordner",
        "Wohnt in der Hauptstraße, Straße 5",
        "用户住在维也纳",
        "纳",
        "東京タワーが好き",
        "Favourite band: The The",
    ):
        store.add(content)
    assert [hit.memory.content for hit in store.search(query, 10)] == found


def test_the_best_match_comes_first_and_scores_say_how_good_it_is(store: MemoryStore, clock: FixedClock) -> None:
    for content in ("Blue car", "Blue bike", "Red bike with blue bell", "Bikes need oil", "Green"):
        clock.advance(1)
        store.add(content)
    hits = store.search("red bike", 10)
    assert [hit.memory.content for hit in hits] == ["Red bike with blue bell", "Blue bike", "Bikes need oil"]
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert hits[0].score == 1.0
    assert 0 < hits[2].score < hits[1].score < 0.5


def test_a_rare_word_counts_more_than_a_frequent_one(store: MemoryStore) -> None:
    for number in range(5):
        store.add(f"project number {number}")
    store.add("aurora")
    assert store.search("project aurora", 1)[0].memory.content == "aurora"


def test_of_equal_matches_the_newer_comes_first_and_the_limit_holds(store: MemoryStore, clock: FixedClock) -> None:
    for content in ("tea one", "tea two", "tea three"):
        clock.advance(1)
        store.add(content)
    assert [hit.memory.content for hit in store.search("tea", 2)] == ["tea three", "tea two"]
    assert store.search("tea", 0) == []
    assert store.search("tea", -1) == []


def test_a_whole_text_may_be_the_query(store: MemoryStore) -> None:
    store.add("Lives in Linz")
    assert store.search("Linz " + " ".join(f"word{number}" for number in range(5000)), 1)
    assert not store.search(" ".join(f"word{number}" for number in range(5000)) + " Linz", 1)
