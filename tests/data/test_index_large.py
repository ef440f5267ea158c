"""The index over folders that are too large to be looked at for each question."""

import contextlib
import json
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from skales.core.errors import BrokenDocumentError, NotFoundError, StorageError
from skales.core.ids import SessionId
from skales.core.json import JsonValue
from skales.core.message import Role, text_message
from skales.data.document import Stamp, stamp_of
from skales.data.index import Index
from skales.data.index_tables import Choice
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.session_codec import Session, session_from_disk
from skales.data.sessions import SessionStore
from tests.conftest import FixedClock

SMALL = 4
MANY = 120
INLINE = 50  # files that one question reads


class Reading:
    """Reads session files for an index and remembers which, by thread."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: list[str] = []
        self.names_beside: list[str] = []
        self.broken: set[str] = set()

    def __call__(self, session_id: SessionId) -> tuple[Session, Stamp]:
        is_beside = threading.current_thread() is not threading.main_thread()
        (self.names_beside if is_beside else self.names).append(session_id)
        path = self.folder / f"{session_id}.json"
        if session_id in self.broken:
            raise BrokenDocumentError("broken")
        try:
            raw = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            raise NotFoundError("gone") from error
        return session_from_disk(session_id, raw, mtime_ms=1), stamp_of(path)


@pytest.fixture
def index(home: DataDirectory, clock: FixedClock) -> Iterator[Index]:
    home.sessions.mkdir()
    opened = Index(home.index, home.sessions, busy_timeout_s=0, small_folder=SMALL, clock=clock)
    yield opened
    opened.close()


@pytest.fixture
def reading(home: DataDirectory) -> Reading:
    return Reading(home.sessions)


def name(number: int) -> str:
    return f"session_{1_000 + number}"


def put(home: DataDirectory, session_id: str, text: str, updated_ms: int) -> None:
    message: JsonValue = {"role": "user", "content": text}
    raw = {"title": "T", "updatedAt": updated_ms, "createdAt": 1, "messages": [message]}
    (home.sessions / f"{session_id}.json").write_text(json.dumps(raw), encoding="utf-8")


def remove(home: DataDirectory, session_id: str) -> None:
    (home.sessions / f"{session_id}.json").unlink()


def fill(home: DataDirectory, count: int = MANY) -> list[str]:
    """That many sessions; their ids, newest first."""
    for number in range(count):
        put(home, name(number), f"word{number} all", number + 1)
    return [name(number) for number in reversed(range(count))]


def listed(index: Index, reading: Reading, limit: int = 999, query: str = "") -> list[str]:
    return [summary.id for summary in index.page(reading, limit, choice=Choice(query=query))]


@pytest.fixture
def filled(home: DataDirectory, index: Index, reading: Reading) -> list[str]:
    """A folder that is known whole."""
    names = fill(home)
    assert index.count(reading) == MANY
    assert listed(index, reading, 1) == names[:1]
    index.settle()
    reading.names.clear()
    reading.names_beside.clear()
    return names


# --- the first question ------------------------------------------------------------------------------------------


def test_the_first_list_has_the_newest_sessions_and_the_rest_follows_by_itself(
    home: DataDirectory, index: Index, reading: Reading
) -> None:
    names = fill(home)
    assert listed(index, reading, INLINE) == names[:INLINE]
    assert reading.names == names[:INLINE]
    index.settle()
    assert listed(index, reading) == names
    assert sorted(reading.names + reading.names_beside, reverse=True) == names


def test_a_count_waits_for_all(home: DataDirectory, index: Index, reading: Reading) -> None:
    fill(home)
    assert index.count(reading) == MANY
    listed(index, reading)
    assert len(set(reading.names + reading.names_beside)) == len(reading.names + reading.names_beside) == MANY


def test_a_count_waits_for_the_sweep_that_runs(home: DataDirectory, index: Index, reading: Reading) -> None:
    names = fill(home)
    listed(index, reading, 1)
    assert index.count(reading) == MANY
    assert sorted(reading.names + reading.names_beside, reverse=True) == names


def test_a_later_program_reads_nothing_that_did_not_change(
    home: DataDirectory, index: Index, reading: Reading, clock: FixedClock, filled: list[str]
) -> None:
    index.close()
    put(home, filled[-1], "longer than before", 1)
    put(home, "session_9999", "new", 999)
    with contextlib.closing(Index(home.index, home.sessions, small_folder=SMALL, clock=clock)) as later:
        assert listed(later, reading, 3) == ["session_9999", *filled[:2]]
        assert reading.names == ["session_9999"]
        later.settle()
        assert reading.names_beside == [filled[-1]]


def test_a_close_does_not_wait_for_the_sweep_to_finish(home: DataDirectory, index: Index, reading: Reading) -> None:
    names = fill(home, 3 * INLINE)
    begun = threading.Event()

    def slow(session_id: SessionId) -> tuple[Session, Stamp]:
        if threading.current_thread() is not threading.main_thread():
            begun.set()
            assert index._closing.wait(timeout=5)
        return reading(session_id)

    index.page(slow, 1)
    assert begun.wait(timeout=5)
    index.close()
    assert len(reading.names_beside) == INLINE
    assert listed(index, reading, INLINE) == names[:INLINE]
    assert index.count(reading) == 3 * INLINE


def test_a_very_large_folder_is_swept_whole(home: DataDirectory, index: Index, reading: Reading) -> None:
    names = fill(home, 520)
    listed(index, reading, 1)
    index.settle()
    assert listed(index, reading) == names


# --- what changes later ------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("filled")
def test_what_others_put_there_that_is_no_session_is_ignored(
    home: DataDirectory, index: Index, reading: Reading
) -> None:
    (home.sessions / "folder.json").mkdir()
    (home.sessions / "link.json").symlink_to(home.settings)
    for odd in ("_state.json", "my chat.json", "notes.txt", ".json", "a.json.bak"):
        (home.sessions / odd).write_text("{}", encoding="utf-8")
    assert (index.count(reading), reading.names) == (MANY, [])
    index.settle()
    assert (index.count(reading), reading.names_beside) == (MANY, [])


@pytest.mark.usefixtures("filled")
def test_what_others_put_into_the_folder_or_take_out_is_noticed_at_once(
    home: DataDirectory, index: Index, reading: Reading
) -> None:
    put(home, "by-hand", "needle", 5_000)
    remove(home, name(7))
    assert listed(index, reading, 1) == ["by-hand"]
    assert listed(index, reading, query="needle") == ["by-hand"]
    assert listed(index, reading, query='"word7"') == []
    assert reading.names == ["by-hand"]
    assert index.count(reading) == MANY


def test_a_hand_edit_of_what_is_shown_is_noticed_at_once(
    home: DataDirectory, index: Index, reading: Reading, filled: list[str]
) -> None:
    put(home, filled[0], "an old one now", 0)
    assert listed(index, reading, 2) == filled[1:3]
    put(home, filled[2], "needle, but no longer the word", 7)
    assert listed(index, reading, query="word117") == []
    assert index.search(reading, "needle", 9)[0].session_id == filled[2]


def test_a_hand_edit_of_what_was_opened_is_noticed_at_once(
    home: DataDirectory, index: Index, reading: Reading, filled: list[str]
) -> None:
    put(home, filled[-1], "needle", 1)
    assert listed(index, reading, query="needle") == []
    index.note_opened(SessionId(filled[-1]))
    assert listed(index, reading, query="needle") == [filled[-1]]


def test_any_other_hand_edit_is_noticed_within_seconds(
    home: DataDirectory, index: Index, reading: Reading, clock: FixedClock, filled: list[str]
) -> None:
    clock.advance(60)
    listed(index, reading, 1)
    index.settle()
    put(home, filled[-1], "needle", 1)
    clock.advance(1)
    listed(index, reading, 1)
    index.settle()
    assert listed(index, reading, query="needle") == []
    clock.advance(5)
    listed(index, reading, 1)
    index.settle()
    assert listed(index, reading, query="needle") == [filled[-1]]
    assert (reading.names, reading.names_beside) == ([], [filled[-1]])


def test_a_shown_session_that_is_gone_is_not_shown(
    home: DataDirectory, index: Index, reading: Reading, filled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with index.own_change():  # somebody else's deletion at the moment of our own write
        remove(home, filled[0])
    assert listed(index, reading, 2) == filled[1:3]


def test_a_folder_that_shrinks_is_looked_at_whole_again(
    home: DataDirectory, index: Index, reading: Reading, filled: list[str]
) -> None:
    for gone in filled[2:]:
        remove(home, gone)
    assert listed(index, reading) == filled[:2]
    put(home, filled[1], "needle", 1)
    assert listed(index, reading, query="needle") == [filled[1]]


def test_a_folder_that_is_gone_is_an_empty_list(
    home: DataDirectory, index: Index, reading: Reading, filled: list[str]
) -> None:
    for gone in filled:
        remove(home, gone)
    home.sessions.rmdir()
    assert (listed(index, reading), index.count(reading)) == ([], 0)


def test_a_broken_file_that_stays_in_place_is_read_once(
    home: DataDirectory, index: Index, reading: Reading, clock: FixedClock, filled: list[str]
) -> None:
    reading.broken.add(filled[0])
    put(home, filled[0], "broken", 1)
    for number in range(3):
        assert listed(index, reading, 1) == [filled[1]]
        put(home, f"new{number}", "x", 0)
        clock.advance(60)
        listed(index, reading, 1)
        index.settle()
    assert reading.names.count(filled[0]) + reading.names_beside.count(filled[0]) == 1


class SlowClock(FixedClock):
    """Everything takes a tenth of a second."""

    def monotonic_s(self) -> float:
        self.advance(0.1)
        return super().monotonic_s()


def test_a_folder_that_others_change_all_the_time_is_not_listed_for_every_question(
    home: DataDirectory, reading: Reading
) -> None:
    home.sessions.mkdir()
    fill(home)
    clock = SlowClock()
    with contextlib.closing(Index(home.index, home.sessions, small_folder=SMALL, clock=clock)) as index:
        assert index.count(reading) == MANY
        put(home, "one", "x", 1_001)
        assert listed(index, reading, 1) == ["one"]
        index.settle()
        put(home, "two", "x", 1_002)
        assert listed(index, reading, 1) == ["one"]
        clock.advance(60)
        assert listed(index, reading, 1) == ["two"]


# --- our own writes ----------------------------------------------------------------------------------------------


@pytest.fixture
def store(home: DataDirectory, index: Index, clock: FixedClock) -> SessionStore:
    return SessionStore(home, Quarantine(home.quarantine, clock), index, clock)


def listings(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Every listing of a folder from here on."""
    made: list[object] = []

    def noting(real: Callable[[Path], object]) -> Callable[[Path], object]:
        def note(folder: Path) -> object:
            made.append(folder)
            return real(folder)

        return note

    monkeypatch.setattr(os, "scandir", noting(os.scandir))
    monkeypatch.setattr(os, "listdir", noting(os.listdir))
    return made


@pytest.fixture
def known(home: DataDirectory, store: SessionStore, index: Index) -> list[str]:
    names = fill(home)
    store.count()
    store.list(1)
    index.settle()
    return names


def test_our_own_writes_cause_no_look_at_the_folder(
    store: SessionStore, known: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = listings(monkeypatch)
    created = store.create("Mine").id
    store.append(created, text_message(Role.USER, "needle"))
    store.update(SessionId(known[0]), title="Renamed")
    store.delete(SessionId(known[1]))
    assert [summary.title for summary in store.list(2)] == ["Mine", "Renamed"]
    assert [hit.session_id for hit in store.search("needle", 9)] == [created]
    assert store.count() == MANY
    assert made == []


def test_a_session_brought_back_is_listed_at_once(store: SessionStore, known: list[str]) -> None:
    store.delete(SessionId(known[0]))
    assert store.list(1)[0].id == known[1]
    store.restore(SessionId(known[0]))
    assert store.list(1)[0].id == known[0]


def test_a_foreign_change_before_our_own_write_is_noticed_after_it(
    home: DataDirectory, store: SessionStore, known: list[str]
) -> None:
    put(home, "by-hand", "needle", 5_000)
    store.update(SessionId(known[0]), title="Renamed")
    assert [summary.id for summary in store.list(query="needle")] == ["by-hand"]


def test_a_question_during_two_writes_that_overlap_looks_for_foreign_changes_only(
    home: DataDirectory, index: Index, reading: Reading, filled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = listings(monkeypatch)
    with index.own_change(), index.own_change():
        put(home, filled[0], "ours", 5_000)
        assert listed(index, reading, 1) == [filled[0]]
    assert listed(index, reading, 1) == [filled[0]]
    assert made == []
    put(home, "by-hand", "x", 6_000)
    with index.own_change():
        assert listed(index, reading, 1) == ["by-hand"]


def test_an_opened_session_that_was_edited_by_hand_is_found(
    home: DataDirectory, store: SessionStore, known: list[str]
) -> None:
    put(home, known[-1], "needle", 1)
    store.load(SessionId(known[-1]))
    assert [summary.id for summary in store.list(query="needle")] == [known[-1]]


def test_sessions_read_for_the_index_are_kept_while_there_is_room(
    home: DataDirectory, store: SessionStore, known: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    real = os.open

    def note(path: Path, *rest: int) -> int:
        opened.append(Path(path).name)
        return real(path, *rest)

    monkeypatch.setattr(os, "open", note)
    store.load(SessionId(known[0]))
    assert opened == []
    store.load(SessionId(known[-1]))
    assert opened == [f"{known[-1]}.json"]


# --- a database that fails ---------------------------------------------------------------------------------------


def test_a_database_deleted_while_it_is_open_is_filled_again(
    home: DataDirectory, index: Index, reading: Reading, filled: list[str]
) -> None:
    for path in home.index.parent.iterdir():
        path.unlink()
    assert listed(index, reading, 2) == filled[:2]
    index.settle()
    assert listed(index, reading) == filled


def test_a_sweep_that_meets_damage_leaves_it_to_the_next_question(
    home: DataDirectory, index: Index, reading: Reading, clock: FixedClock, filled: list[str]
) -> None:
    clock.advance(60)
    put(home, filled[-1], "needle", 1)

    def damage(session_id: SessionId) -> tuple[Session, Stamp]:
        with contextlib.closing(sqlite3.connect(home.index)) as db, db:
            db.execute("DROP TABLE words")
        return reading(session_id)

    index.page(damage, 1)
    index.settle()
    assert index.count(reading) == MANY
    assert listed(index, reading, query="needle") == [filled[-1]]


def test_a_large_folder_that_cannot_be_listed_is_told(
    index: Index, reading: Reading, filled: list[str], monkeypatch: pytest.MonkeyPatch, home: DataDirectory
) -> None:
    put(home, "new", "x", 1)

    def refuse(folder: Path) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(os, "listdir", refuse)
        with pytest.raises(StorageError, match="cannot be listed: permission is missing"):
            listed(index, reading)
    assert len(listed(index, reading)) == MANY + 1


# --- words that are everywhere -----------------------------------------------------------------------------------


def test_a_page_of_a_common_word_has_the_newest_sessions_in_order(
    home: DataDirectory, index: Index, reading: Reading, filled: list[str]
) -> None:
    assert listed(index, reading, 1, query="all") == filled[:1]
    before = (MANY, filled[0])
    assert [summary.id for summary in index.page(reading, 1, before, Choice(query="all"))] == filled[1:2]


def test_a_search_for_a_word_that_is_in_very_many_sessions_shows_the_newest(
    home: DataDirectory, index: Index, reading: Reading
) -> None:
    names = fill(home, 1_010)
    put(home, "newer", "something else", 5_000)
    assert index.count(reading) == 1_011
    assert listed(index, reading, 2, query="all") == names[:2]
    assert [hit.session_id for hit in index.search(reading, "all", 2_000)] == names
    hits = index.search(reading, "all", 3)
    assert [(hit.session_id, hit.message_index, hit.snippet, hit.spans) for hit in hits] == [
        (names[place], 0, f"word{1_009 - place} all", ((9, 12) if place < 10 else (8, 11),))[:4] for place in range(3)
    ]
