"""The trash of the conversations: what it lists, and that only it can delete for good."""

import pytest

from skales.core.errors import NotFoundError
from skales.core.ids import SessionId
from skales.core.message import Role, text_message
from skales.data.index import Index
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.session_trash import delete_for_good, list_deleted
from skales.data.sessions import SessionStore
from tests.conftest import FixedClock


@pytest.fixture
def quarantine(home: DataDirectory, clock: FixedClock) -> Quarantine:
    return Quarantine(home.quarantine, clock)


@pytest.fixture
def store(home: DataDirectory, clock: FixedClock, quarantine: Quarantine) -> SessionStore:
    return SessionStore(home, quarantine, Index(home.index, home.sessions), clock)


def drop(store: SessionStore, clock: FixedClock, title: str) -> SessionId:
    clock.advance(1)
    session_id = store.create(title=title).id
    store.append(session_id, text_message(Role.USER, "Hello"))
    store.delete(session_id)
    return session_id


def test_nothing_deleted_is_an_empty_list(home: DataDirectory, quarantine: Quarantine) -> None:
    found = list_deleted(home, quarantine, 10)
    assert (found.shown, found.count) == ((), 0)


def test_deleted_conversations_are_listed_and_counted(
    home: DataDirectory, quarantine: Quarantine, store: SessionStore, clock: FixedClock
) -> None:
    ids = {drop(store, clock, title) for title in ("One", "Two", "Three")}
    found = list_deleted(home, quarantine, 2)
    assert found.count == 3
    assert len(found.shown) == 2
    whole = list_deleted(home, quarantine, 10).shown
    assert {session.id for session in whole} == ids
    assert {session.title for session in whole} == {"One", "Two", "Three"}
    assert {session.message_count for session in whole} == {1}
    assert [session.deleted_ms for session in whole] == sorted((s.deleted_ms for s in whole), reverse=True)
    store.close()


def test_what_was_brought_back_is_in_the_trash_no_more(
    home: DataDirectory, quarantine: Quarantine, store: SessionStore, clock: FixedClock
) -> None:
    session_id = drop(store, clock, "Back")
    store.restore(session_id)
    assert list_deleted(home, quarantine, 10).count == 0
    with pytest.raises(NotFoundError):
        delete_for_good(home, session_id)
    assert store.load(session_id).title == "Back"
    store.close()


def test_deleting_for_good_takes_older_ones_of_the_same_id_along(
    home: DataDirectory, quarantine: Quarantine, store: SessionStore, clock: FixedClock
) -> None:
    session_id = drop(store, clock, "Gone")
    folder = home.trash / "sessions"
    (folder / f"{session_id}.json.123").write_text("{}", encoding="utf-8")
    (folder / f"{session_id}.json.keep").write_text("{}", encoding="utf-8")
    delete_for_good(home, session_id)
    assert [path.name for path in folder.iterdir()] == [f"{session_id}.json.keep"]
    assert list_deleted(home, quarantine, 10).count == 0
    store.close()


@pytest.mark.parametrize("name", ["../sessions/session_1", "", ".hidden", "a/b", "session_1.json.5/.."])
def test_no_name_reaches_outside_of_the_trash(home: DataDirectory, name: str) -> None:
    with pytest.raises(NotFoundError):
        delete_for_good(home, SessionId(name))


def test_foreign_and_broken_files_are_left_out(home: DataDirectory, quarantine: Quarantine) -> None:
    folder = home.trash / "sessions"
    folder.mkdir(parents=True)
    (folder / "session_1.json").write_text("{not json", encoding="utf-8")
    (folder / "notes.txt").write_text("mine", encoding="utf-8")
    (folder / "session_2.json").mkdir()
    (folder / "session_3.json").symlink_to(folder / "notes.txt")
    assert list_deleted(home, quarantine, 10).shown == ()
