import contextlib
import json
import os
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from skales.core.errors import NotFoundError, StorageError
from skales.core.ids import SessionId
from skales.core.json import JsonValue
from skales.core.message import Role, text_message
from skales.data.document import Stamp, stamp_of, write_object
from skales.data.index import Index, SearchHit, SessionSummary
from skales.data.index_tables import Choice
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.session_codec import Session, session_from_disk
from skales.data.sessions import SessionStore
from tests.conftest import FixedClock


class Reading:
    """Reads session files for an index and remembers which."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: list[str] = []

    def __call__(self, session_id: SessionId) -> tuple[Session, Stamp]:
        self.names.append(session_id)
        path = self.folder / f"{session_id}.json"
        try:
            raw = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            raise NotFoundError("gone") from error
        return session_from_disk(session_id, raw, mtime_ms=1), stamp_of(path)


@pytest.fixture
def index(home: DataDirectory) -> Iterator[Index]:
    home.sessions.mkdir()
    opened = Index(home.index, home.sessions, busy_timeout_s=0)
    yield opened
    opened.close()


@pytest.fixture
def reading(home: DataDirectory) -> Reading:
    return Reading(home.sessions)


@pytest.fixture
def store(home: DataDirectory, index: Index, clock: FixedClock) -> SessionStore:
    return SessionStore(home, Quarantine(home.quarantine, clock), index, clock)


def put(home: DataDirectory, name: str, *texts: str, updated_ms: int = 1, title: str = "T") -> None:
    messages: JsonValue = [{"role": "user", "content": text} for text in texts]
    raw = {"title": title, "updatedAt": updated_ms, "createdAt": 1, "messages": messages}
    (home.sessions / f"{name}.json").write_text(json.dumps(raw), encoding="utf-8")


def ids(summaries: list[SessionSummary]) -> list[str]:
    return [summary.id for summary in summaries]


def session(name: str, *texts: str, title: str = "T", updated_ms: int = 1) -> Session:
    return Session(
        id=SessionId(name),
        title=title,
        provider="",
        model="",
        agent_id="",
        created_ms=1,
        updated_ms=updated_ms,
        messages=tuple(text_message(Role.USER, text) for text in texts),
    )


# --- pages -------------------------------------------------------------------------------------------------------


def test_a_summary_says_what_a_list_shows(home: DataDirectory, index: Index, reading: Reading) -> None:
    raw = {
        "title": "Gr\ud800ße",
        "provider": "openai",
        "model": "gpt",
        "agentId": "a",
        "createdAt": 5,
        "updatedAt": 6,
        "messages": [{"role": "user", "content": "x"}, None],
    }
    (home.sessions / "s.json").write_text(json.dumps(raw), encoding="utf-8")
    assert index.page(reading, 9) == [
        SessionSummary(
            id=SessionId("s"),
            title="Gr?ße",
            provider="openai",
            model="gpt",
            agent_id="a",
            created_ms=5,
            updated_ms=6,
            message_count=1,
        )
    ]


def test_pages_follow_each_other_newest_first_without_gap_or_repetition(
    home: DataDirectory, index: Index, reading: Reading
) -> None:
    for number in range(23):
        put(home, f"s{number:02}", "word", updated_ms=number // 3)
    expected = sorted(
        (f"s{number:02}" for number in range(23)), key=lambda name: (int(name[1:]) // 3, name), reverse=True
    )
    for query in ("", "word"):
        seen: list[str] = []
        before: tuple[int, str] | None = None
        while page := index.page(reading, 4, before, Choice(query=query)):
            seen.extend(ids(page))
            before = (page[-1].updated_ms, page[-1].id)
        assert seen == expected


@pytest.mark.parametrize("limit", [0, -1])
def test_no_page_is_smaller_than_empty(home: DataDirectory, index: Index, reading: Reading, limit: int) -> None:
    put(home, "s", "word")
    assert index.page(reading, limit) == []
    assert index.page(reading, limit, choice=Choice(query="word")) == []
    assert index.search(reading, "word", limit) == []


# --- healing -----------------------------------------------------------------------------------------------------


def test_the_index_follows_what_happens_in_the_folder(home: DataDirectory, index: Index, reading: Reading) -> None:
    put(home, "a", "apple", updated_ms=1)
    put(home, "b", "banana", updated_ms=2)
    assert ids(index.page(reading, 9)) == ["b", "a"]
    put(home, "a", "apricot tree", updated_ms=3)
    put(home, "c", "cherry", updated_ms=4)
    (home.sessions / "b.json").unlink()
    assert ids(index.page(reading, 9)) == ["c", "a"]
    assert index.count(reading) == 2
    assert [
        ids(index.page(reading, 9, choice=Choice(query=word))) for word in ("apple", "apricot", "banana", "cherry")
    ] == [
        [],
        ["a"],
        [],
        ["c"],
    ]


def test_a_file_that_did_not_change_is_read_once(home: DataDirectory, index: Index, reading: Reading) -> None:
    put(home, "a", "x")
    put(home, "b", "x")
    for _ in range(3):
        index.page(reading, 9)
        index.search(reading, "x", 9)
    index.close()
    assert ids(index.page(reading, 9)) == ["b", "a"]
    assert sorted(reading.names) == ["a", "b"]


def test_a_later_program_reads_only_what_changed_since(home: DataDirectory, index: Index, reading: Reading) -> None:
    put(home, "a", "x")
    put(home, "b", "x")
    index.count(reading)
    index.close()
    put(home, "b", "longer")
    later, later_reading = Index(home.index, home.sessions), Reading(home.sessions)
    with contextlib.closing(later):
        assert later.count(later_reading) == 2
    assert later_reading.names == ["b"]


def test_a_folder_emptied_by_hand_is_an_empty_list(home: DataDirectory, index: Index, reading: Reading) -> None:
    put(home, "a", "x")
    assert index.count(reading) == 1
    (home.sessions / "a.json").unlink()
    home.sessions.rmdir()
    assert (index.count(reading), index.page(reading, 9), index.search(reading, "x", 9)) == (0, [], [])


def test_a_file_that_goes_while_the_folder_is_read_is_no_session(
    home: DataDirectory, index: Index, reading: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(home, "a", "x")
    put(home, "b", "x")
    real = os.scandir

    @contextlib.contextmanager
    def scandir(folder: Path) -> Iterator[Iterator[os.DirEntry[str]]]:
        with real(folder) as entries:
            listed = list(entries)
        (home.sessions / "a.json").unlink()
        yield iter(listed)

    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", scandir)
        assert ids(index.page(reading, 9)) == ["b"]


def test_a_file_that_goes_before_it_is_read_is_no_session(home: DataDirectory, index: Index, reading: Reading) -> None:
    put(home, "a", "x")

    def too_late(session_id: SessionId) -> tuple[Session, Stamp]:
        (home.sessions / "a.json").unlink()
        return reading(session_id)

    assert index.page(too_late, 9) == []


def test_a_write_recorded_while_the_folder_is_read_is_not_undone(
    home: DataDirectory, index: Index, reading: Reading
) -> None:
    put(home, "a", "old")

    def be_overtaken(session_id: SessionId) -> tuple[Session, Stamp]:
        old = reading(session_id)
        put(home, "a", "brand new")
        index.record(session("a", "brand new", title="New"), stamp_of(home.sessions / "a.json"), before=old[1])
        return old

    assert [summary.title for summary in index.page(be_overtaken, 9)] == ["New"]
    assert ids(index.page(reading, 9, choice=Choice(query="brand"))) == ["a"]


def test_a_session_recorded_while_it_is_found_gone_stays(home: DataDirectory, index: Index, reading: Reading) -> None:
    put(home, "a", "old")

    def be_overtaken(session_id: SessionId) -> tuple[Session, Stamp]:
        index.record(session("a", "new"), stamp_of(home.sessions / "a.json"), before=Stamp(0, 0))
        raise NotFoundError("gone for a moment")

    assert ids(index.page(be_overtaken, 9)) == ["a"]


# --- a database that fails ---------------------------------------------------------------------------------------


def test_the_database_is_private(home: DataDirectory, index: Index, reading: Reading) -> None:
    index.count(reading)
    assert stat.S_IMODE(home.index.stat().st_mode) == 0o600
    assert stat.S_IMODE(home.index.parent.stat().st_mode) == 0o700


def delete_it(path: Path) -> None:
    path.unlink()


def empty_it(path: Path) -> None:
    path.write_bytes(b"")


def fill_it(path: Path) -> None:
    path.write_bytes(b"no database at all" * 1000)


def zero_its_pages(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:100] + bytes(len(data) - 100))


def cut_it(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def age_it(path: Path) -> None:
    run(path, "PRAGMA user_version = 99")


def lose_a_table(path: Path) -> None:
    run(path, "DROP TABLE words")


def put_foreign_tables(path: Path) -> None:
    path.unlink()
    run(path, "CREATE TABLE sessions (x)")


def spoil_a_stamp(path: Path) -> None:
    run(path, "UPDATE sessions SET stamp = 'yesterday'")


def make_texts_collide(path: Path) -> None:
    run(path, "DELETE FROM sessions")


def run(path: Path, *statements: str) -> None:
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        for statement in statements:
            db.execute(statement)


DAMAGES = [
    delete_it,
    empty_it,
    fill_it,
    zero_its_pages,
    cut_it,
    age_it,
    lose_a_table,
    put_foreign_tables,
    spoil_a_stamp,
    make_texts_collide,
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_database_is_rebuilt_without_a_word(
    home: DataDirectory, index: Index, reading: Reading, damage: Callable[[Path], None]
) -> None:
    put(home, "a", "apple", updated_ms=1)
    put(home, "b", "banana", updated_ms=2)
    index.count(reading)
    index.close()
    damage(home.index)
    assert ids(index.page(reading, 9)) == ["b", "a"]
    assert ids(index.page(reading, 9, choice=Choice(query="apple"))) == ["a"]
    assert [hit.session_id for hit in index.search(reading, "banana", 9)] == ["b"]
    index.close()
    later = Reading(home.sessions)
    assert index.count(later) == 2
    assert later.names == []


def test_a_database_deleted_while_it_is_open_is_made_again(home: DataDirectory, index: Index, reading: Reading) -> None:
    put(home, "a", "apple")
    index.count(reading)
    for path in home.index.parent.iterdir():
        path.unlink()
    assert ids(index.page(reading, 9, choice=Choice(query="apple"))) == ["a"]
    assert home.index.exists()


def test_a_database_damaged_while_it_is_open_is_rebuilt(home: DataDirectory, index: Index, reading: Reading) -> None:
    put(home, "a", "apple")
    index.count(reading)
    run(home.index, "DROP TABLE words")
    assert ids(index.page(reading, 9, choice=Choice(query="apple"))) == ["a"]
    assert home.index.exists()


def test_a_write_that_meets_the_damage_is_found_afterwards(home: DataDirectory, store: SessionStore) -> None:
    session_id = store.create("T").id
    assert store.count() == 1
    run(home.index, "DROP TABLE words")
    store.append(session_id, text_message(Role.USER, "needle"))
    assert ids(store.list(query="needle")) == [session_id]
    run(home.index, "DROP TABLE words")
    store.delete(session_id)
    assert store.list() == []


def block_folder(home: DataDirectory) -> None:
    home.index.parent.write_text("in the way", encoding="utf-8")


def block_file(home: DataDirectory) -> None:
    home.index.mkdir(parents=True)


@pytest.mark.parametrize("block", [block_folder, block_file])
def test_where_no_database_can_be_the_index_lives_in_memory(
    home: DataDirectory, index: Index, reading: Reading, block: Callable[[DataDirectory], None]
) -> None:
    block(home)
    put(home, "a", "apple")
    assert ids(index.page(reading, 9, choice=Choice(query="apple"))) == ["a"]
    put(home, "b", "apple", updated_ms=2)
    assert [hit.session_id for hit in index.search(reading, "apple", 9)] == ["a", "b"]
    assert reading.names == ["a", "b"]


def test_a_database_that_another_program_holds_is_not_waited_for_nor_touched(
    home: DataDirectory, index: Index, reading: Reading
) -> None:
    put(home, "a", "apple")
    index.count(reading)
    index.close()
    put(home, "b", "apple", updated_ms=2)
    with contextlib.closing(sqlite3.connect(home.index, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert ids(index.page(reading, 9, choice=Choice(query="apple"))) == ["b", "a"]
        other.execute("ROLLBACK")
        assert other.execute("SELECT id FROM sessions").fetchall() == [("a",)]


def test_a_damaged_database_that_cannot_be_deleted_is_left_for_memory(
    home: DataDirectory, index: Index, reading: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(home, "a", "apple")
    home.index.parent.mkdir()
    home.index.write_bytes(b"no database" * 100)

    def refuse(path: Path) -> None:
        raise PermissionError(13, "another program has it open")

    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", refuse)
        assert ids(index.page(reading, 9, choice=Choice(query="apple"))) == ["a"]
    assert home.index.read_bytes() == b"no database" * 100


def test_a_second_damage_is_answered_from_memory(home: DataDirectory, index: Index, reading: Reading) -> None:
    put(home, "a", "apple")
    for _ in range(3):
        index.count(reading)
        with contextlib.suppress(sqlite3.OperationalError):  # nothing to drop once the index is in memory
            run(home.index, "DROP TABLE words")
        assert ids(index.page(reading, 9, choice=Choice(query="apple"))) == ["a"]


def test_without_any_database_a_question_is_a_storage_error_and_a_write_is_none(
    home: DataDirectory, store: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object, **options: object) -> None:
        raise sqlite3.OperationalError("out of memory")

    with monkeypatch.context() as patch:
        patch.setattr(sqlite3, "connect", fail)
        for _ in range(3):
            session_id = store.create("T").id
            store.append(session_id, text_message(Role.USER, "needle"))
        store.delete(session_id)
        with pytest.raises(StorageError, match="out of memory"):
            store.list()
    assert store.count() == 2
    assert len(store.list(query="needle")) == 2


class Racing(sqlite3.Connection):
    """Before it begins, another program makes the tables in the same file."""

    path: Path

    def execute(self, sql: str, *parameters: Any) -> sqlite3.Cursor:
        if sql.startswith("BEGIN"):
            with contextlib.closing(Index(self.path, self.path.parent)) as other:
                other.count(Reading(self.path.parent))
        return super().execute(sql, *parameters)


def test_two_programs_that_start_at_once_share_the_tables(
    home: DataDirectory, index: Index, reading: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(home, "a", "apple")
    real = sqlite3.connect
    Racing.path = home.index

    def connect(path: Path, **options: Any) -> sqlite3.Connection:
        monkeypatch.setattr(sqlite3, "connect", real)
        return real(path, factory=Racing, **options)

    monkeypatch.setattr(sqlite3, "connect", connect)
    assert ids(index.page(reading, 9, choice=Choice(query="apple"))) == ["a"]
    index.close()
    with contextlib.closing(sqlite3.connect(home.index)) as db:
        assert db.execute("SELECT id FROM sessions").fetchall() == [("a",)]


def test_loading_the_room_does_not_load_the_database() -> None:
    code = "import sys, skales.data.sessions; sys.exit('sqlite3' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# --- writes of the store -----------------------------------------------------------------------------------------


def texts_in(home: DataDirectory, store: SessionStore) -> list[tuple[int, int]]:
    store.count()  # what was written waits for a question
    with contextlib.closing(sqlite3.connect(home.index)) as db:
        return db.execute("SELECT rowid >> 20, (rowid & 1048575) - 1 FROM words ORDER BY rowid").fetchall()


def test_an_appended_message_is_added_to_the_full_text_alone(home: DataDirectory, store: SessionStore) -> None:
    session_id = store.create("T").id
    store.append(session_id, *(text_message(Role.USER, f"word{number}") for number in range(5)))
    before = texts_in(home, store)
    store.append(session_id, text_message(Role.USER, "last"), text_message(Role.ASSISTANT, ""))
    assert texts_in(home, store) == [*before, (before[-1][0], 5)]
    store.update(session_id, provider="openai")
    assert len(texts_in(home, store)) == len(before) + 1
    assert ids(store.list(query="word3 last")) == []
    assert ids(store.list(query="last")) == ids(store.list(query="word3")) == [session_id]


def test_writes_that_wait_are_seen_as_one(home: DataDirectory, store: SessionStore) -> None:
    session_id = store.create("T").id
    store.append(session_id, *(text_message(Role.USER, f"word{number}") for number in range(4)))
    assert store.count() == 1
    known = texts_in(home, store)
    store.append(session_id, text_message(Role.USER, "more"))
    store.rewind(session_id, 2)
    store.append(session_id, text_message(Role.USER, "instead"))
    store.append(session_id, text_message(Role.USER, "after it"))
    assert [ids(store.list(query=word)) for word in ("word1", "word2", "more", "instead")] == [
        [session_id],
        [],
        [],
        [session_id],
    ]
    assert texts_in(home, store) == known


def test_a_write_that_waits_behind_a_hand_edit_makes_the_full_text_anew(
    home: DataDirectory, store: SessionStore
) -> None:
    put(home, "s", "alpha")
    assert ids(store.list(query="alpha")) == ["s"]
    store.append(SessionId("s"), text_message(Role.USER, "beta"))
    put(home, "s", "gamma", "delta")
    store.append(SessionId("s"), text_message(Role.USER, "zeta"))
    found = [ids(store.list(query=word)) for word in ("alpha", "beta", "gamma", "delta", "zeta")]
    assert found == [[], [], ["s"], ["s"], ["s"]]


def test_what_waits_is_written_when_the_store_closes_and_when_it_is_much(
    home: DataDirectory, store: SessionStore
) -> None:
    many = [store.create(f"Number {number}").id for number in range(40)]
    with contextlib.closing(sqlite3.connect(home.index)) as db:
        written = db.execute("SELECT count(*) FROM sessions").fetchone()[0]
    assert 0 < written < len(many)
    store.close()
    with contextlib.closing(sqlite3.connect(home.index)) as db:
        assert db.execute("SELECT count(*) FROM sessions").fetchone()[0] == len(many)


def test_a_session_that_is_deleted_while_its_write_waits_stays_gone(home: DataDirectory, store: SessionStore) -> None:
    session_id = store.create("T").id
    store.delete(session_id)
    assert (store.list(), store.count()) == ([], 0)


def test_a_write_over_a_hand_edit_makes_the_full_text_anew(home: DataDirectory, store: SessionStore) -> None:
    put(home, "s", "alpha", "beta")
    assert ids(store.list(query="alpha")) == ["s"]
    put(home, "s", "gamma", "delta", "epsilon")
    store.append(SessionId("s"), text_message(Role.USER, "zeta"))
    assert [ids(store.list(query=word)) for word in ("alpha", "beta", "gamma", "zeta")] == [[], [], ["s"], ["s"]]


def test_an_index_ahead_of_the_file_is_set_right(home: DataDirectory, index: Index, reading: Reading) -> None:
    put(home, "s", "alpha", "beta")
    index.count(reading)
    stamp = stamp_of(home.sessions / "s.json")
    index.record(session("s", "alpha"), stamp, before=stamp)
    assert [ids(index.page(reading, 9, choice=Choice(query=word))) for word in ("alpha", "beta")] == [["s"], []]


def test_a_new_title_replaces_the_old_one(store: SessionStore) -> None:
    session_id = store.create("Herbs").id
    store.append(session_id, text_message(Role.USER, "garden"))
    store.update(session_id, title="Vegetables")
    assert [ids(store.list(query=word)) for word in ("herbs", "vegetables", "garden")] == [
        [],
        [session_id],
        [session_id],
    ]


def test_questions_and_writes_from_many_threads_do_not_disturb_each_other(
    home: DataDirectory, store: SessionStore
) -> None:
    message: JsonValue = {"role": "user", "content": "needle"}
    ids_of_threads = [store.create(f"Number {number}").id for number in range(4)]
    start = threading.Barrier(8)

    def write(session_id: SessionId) -> None:
        start.wait(timeout=5)
        for number in range(8):
            store.append(session_id, text_message(Role.USER, f"needle {number}"))

    def ask(number: int) -> None:
        start.wait(timeout=5)
        for turn in range(8):
            write_object(home.sessions / f"hand{number}.json", {"updatedAt": turn, "messages": [message]})
            store.search("needle", 9)
            store.list()

    with ThreadPoolExecutor(8) as pool:
        pending = [pool.submit(write, session_id) for session_id in ids_of_threads]
        pending += [pool.submit(ask, number) for number in range(4)]
        for task in pending:
            task.result(timeout=30)
    assert store.count() == 8
    assert len(store.list(query="needle")) == 8
    assert {summary.message_count for summary in store.list()} == {8, 1}


# --- searching ---------------------------------------------------------------------------------------------------


@pytest.fixture
def library(home: DataDirectory, index: Index) -> None:
    put(home, "herbs", "Basil, thyme and sage grow here", "What about the rosemary?", title="Garden", updated_ms=1)
    put(
        home,
        "trip",
        "A trip to Zürich, by the e-mail of Mr O'Neill",
        "C++ and C# at 10:30",
        title="Reise",
        updated_ms=2,
    )
    put(home, "east", "東京都に行きます。Python入門", "한국어 문서", "नमस्ते दुनिया", title="Mixed", updated_ms=3)
    put(
        home, "code", 'print("hello_world") # AND OR NOT', "x" * 5000 + " needle " + "y" * 5000, title="T", updated_ms=4
    )


FOUND: list[tuple[str, list[str]]] = [
    ("basil", ["herbs"]),
    ("BASIL sage", ["herbs"]),
    ("basil zurich", []),
    ("rosem", ["herbs"]),
    ("ro", []),
    ("garden", ["herbs"]),
    ("zurich", ["trip"]),
    ("ZÜRICH", ["trip"]),
    ("Zu\u0308rich", ["trip"]),
    ('"thyme and sage"', ["herbs"]),
    ('"sage and thyme"', []),
    ('"thyme an"', []),
    ('"thyme and', ["herbs"]),
    ("e-mail", ["trip"]),
    ("O'Neill", ["trip"]),
    ("hello_world", ["code"]),
    ("hello_wor", ["code"]),
    ("AND OR NOT", ["code"]),
    ("NEAR(basil sage)", []),
    ("text:basil", []),
    ("basil*", ["herbs"]),
    ("*basil", ["herbs"]),
    ("(basil)", ["herbs"]),
    ("-basil ^sage", ["herbs"]),
    ("basil\0sage", ["herbs"]),
    ("basil \ud800", ["herbs"]),
    ("東京", ["east"]),
    ("京都", ["east"]),
    ("東都", []),
    ("入門", ["east"]),
    ("python", ["east"]),
    ("한국", []),
    ("한국어", ["east"]),
    ("दुनिया", ["east"]),
    ("needle", ["code"]),
    ("10:30", ["trip"]),
]


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(("query", "expected"), FOUND)
def test_what_a_person_types_finds_the_sessions_it_says(store: SessionStore, query: str, expected: list[str]) -> None:
    assert ids(store.list(query=query)) == expected
    assert [hit.session_id for hit in store.search(query, 9)] == expected


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("query", ['"', '""', '"""', "***", "()", "'", "\0", "-", "{}", "…", '" "', "+:^", "\ud800"])
def test_a_query_without_a_word_finds_nothing(store: SessionStore, query: str) -> None:
    assert (store.list(query=query), store.search(query, 9)) == ([], [])


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("query", ["", " ", "\n\t"])
def test_a_blank_query_lists_everything_and_searches_nothing(store: SessionStore, query: str) -> None:
    assert ids(store.list(query=query)) == ["code", "east", "trip", "herbs"]
    assert store.search(query, 9) == []


@pytest.mark.usefixtures("library")
def test_a_hit_names_the_place_and_shows_the_words_around_it(store: SessionStore) -> None:
    assert store.search("rosemary", 9) == [
        SearchHit(SessionId("herbs"), "Garden", 1, "What about the rosemary?", ((15, 23),)),
    ]
    assert store.search("garden", 9) == [SearchHit(SessionId("herbs"), "Garden", None, "Garden", ((0, 6),))]
    assert store.search("needle", 9) == [
        SearchHit(SessionId("code"), "T", 1, "…" + "x" * 99 + " needle " + "y" * 193 + "…", ((101, 107),)),
    ]
    assert store.search("x" * 5000, 9) == [SearchHit(SessionId("code"), "T", 1, "x" * 300 + "…", ((0, 300),))]


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(
    ("query", "marked"),
    [
        ("sage THYME", ["thyme", "sage"]),
        ('"thyme and sage"', ["thyme and sage"]),
        ("rosem", ["rosemary"]),
        ("zurich", ["Zürich"]),
        ("東京", ["東京"]),
        ("python 入門", ["Python", "入門"]),
        ("NOT hello", ["hello", "NOT"]),
    ],
)
def test_a_hit_says_which_letters_of_the_snippet_match(store: SessionStore, query: str, marked: list[str]) -> None:
    (hit,) = store.search(query, 9)
    assert [hit.snippet[start:end] for start, end in hit.spans] == marked


def test_signs_that_mark_matches_in_the_database_are_no_marks_when_a_message_holds_them(
    home: DataDirectory, store: SessionStore
) -> None:
    put(home, "s", "a\x02b\x03 basil \x02")
    assert store.search("basil", 9) == [SearchHit(SessionId("s"), "T", 0, "a b basil", ((4, 9),))]


def test_each_session_is_one_hit_its_best_and_the_best_come_first(
    home: DataDirectory, index: Index, reading: Reading
) -> None:
    filler = "so much else to say about nothing in particular "
    put(home, "much", "apple apple apple", filler * 9 + "apple", filler + "apple")
    put(home, "little", filler * 20 + "apple")
    put(home, "none", filler)
    hits = index.search(reading, "apple", 9)
    assert [(hit.session_id, hit.message_index) for hit in hits] == [("much", 0), ("little", 0)]
    assert index.search(reading, "apple", 1) == hits[:1]


def test_a_list_can_ask_for_the_places_in_what_it_shows(store: SessionStore) -> None:
    first, second, third = (store.create("Herbs").id for _ in range(3))
    store.append(first, text_message(Role.USER, "mint"), text_message(Role.USER, "Basil grows"))
    store.append(second, text_message(Role.USER, "basil"))
    store.append(third, text_message(Role.USER, "mint"))
    found = store.find_places([third, first], "basil")
    assert [(hit.session_id, hit.message_index, hit.snippet, hit.spans) for hit in found] == [
        (first, 1, "Basil grows", ((0, 5),))
    ]
    assert [hit.message_index for hit in store.find_places([first, third], "herb")] == [None, None]
    assert store.find_places([first], " ?! ") == []


def test_a_list_is_of_the_models_that_a_part_of_the_name_fits(store: SessionStore) -> None:
    small, large = store.create("A", "local", "Qwen-4B").id, store.create("B", "openai", "gpt-5").id
    assert [found.id for found in store.list(model=" LOCAL/qwen ")] == [small]
    assert [found.id for found in store.list(model="gpt")] == [large]
    assert store.list(model="absent") == []
    assert len(store.list(model=" ")) == len(store.list(model="/"))
