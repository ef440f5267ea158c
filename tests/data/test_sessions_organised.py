"""Pins, folders, versions, branches, and words within one conversation, through the store."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from skales.core.errors import InputError, NotFoundError, StorageError
from skales.core.ids import SessionId
from skales.core.json import JsonObject, JsonValue
from skales.core.message import Message, Role, text_message
from skales.data.index import FolderCount, Index
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.session_search import MessageHit
from skales.data.session_versions import VersionMark
from skales.data.sessions import Session, SessionStore
from tests.conftest import CASES, FixedClock

NOW_MS = FixedClock().now_ms()
S = SessionId("s")


@pytest.fixture
def store(home: DataDirectory, clock: FixedClock) -> Iterator[SessionStore]:
    opened = SessionStore(home, Quarantine(home.quarantine, clock), Index(home.index, home.sessions), clock)
    yield opened
    opened.close()


@pytest.fixture
def later(home: DataDirectory, clock: FixedClock) -> Iterator[SessionStore]:
    """Another program over the same files."""
    opened = SessionStore(home, Quarantine(home.quarantine, clock), Index(home.index, home.sessions), clock)
    yield opened
    opened.close()


def user(text: str) -> Message:
    return text_message(Role.USER, text)


def put(home: DataDirectory, session_id: str, raw: JsonValue) -> Path:
    path = home.sessions / f"{session_id}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(raw), encoding="utf-8")
    return path


def read(home: DataDirectory, session_id: str) -> dict[str, JsonValue]:
    raw: dict[str, JsonValue] = json.loads((home.sessions / f"{session_id}.json").read_text(encoding="utf-8"))
    return raw


def talk(home: DataDirectory, session_id: str = "s", *texts: str, **more: JsonValue) -> None:
    messages: JsonValue = [{"role": "user", "content": text} for text in texts or ("apple", "banana", "cherry")]
    put(home, session_id, {"title": "T", "createdAt": 5, "updatedAt": 6, "messages": messages, **more})


def texts(session: Session) -> list[str]:
    return [message.text for message in session.messages]


def listed(store: SessionStore, query: str = "") -> list[str]:
    return [summary.id for summary in store.list(query=query)]


# --- pins and folders --------------------------------------------------------------------------------------------


def test_a_session_can_be_pinned_and_put_into_a_folder_and_out_again(
    home: DataDirectory, store: SessionStore, later: SessionStore, clock: FixedClock
) -> None:
    talk(home)
    before = read(home, S)
    clock.advance(9)
    session = store.update(S, pinned=True, folder="  Garden \n plans ")
    assert read(home, S) == before | {"pinned": True, "folder": "Garden plans"}
    assert (session.pinned, session.folder, session.updated_ms) == (True, "Garden plans", 6)
    assert later.load(S) == session
    (summary,) = store.list()
    assert (summary.pinned, summary.folder, summary.updated_ms) == (True, "Garden plans", 6)
    assert store.update(S, pinned=False, folder=" ") == store.load(S)
    assert read(home, S) == before
    (summary,) = store.list()
    assert (summary.pinned, summary.folder) == (False, "")


@pytest.mark.parametrize(
    ("raw", "pinned", "folder"),
    [
        ({"pinned": True, "folder": " Work "}, True, "Work"),
        ({"pinned": 1, "folder": 7}, False, ""),
        ({"pinned": "yes", "folder": None}, False, ""),
        ({}, False, ""),
    ],
)
def test_pin_and_folder_are_read_from_what_files_hold(
    home: DataDirectory, store: SessionStore, raw: JsonObject, pinned: bool, folder: str
) -> None:
    put(home, S, raw)
    session = store.load(S)
    assert (session.pinned, session.folder, session.extra) == (pinned, folder, {})


@pytest.fixture
def shelf(home: DataDirectory) -> None:
    for number, (folder, pinned) in enumerate([("Work", True), ("", False), ("work", False), ("Work", False)]):
        put(home, f"s{number}", {"title": f"T{number}", "updatedAt": number + 1, "folder": folder, "pinned": pinned})
    put(home, "s4", {"title": "T4", "updatedAt": 5, "folder": "Älter", "pinned": True, "x": [1]})


@pytest.mark.usefixtures("shelf")
@pytest.mark.parametrize(
    ("folder", "pinned", "query", "expected"),
    [
        (None, None, "", ["s4", "s3", "s2", "s1", "s0"]),
        ("Work", None, "", ["s3", "s0"]),
        ("work", None, "", ["s2"]),
        ("", None, "", ["s1"]),
        ("none", None, "", []),
        (None, True, "", ["s4", "s0"]),
        (None, False, "", ["s3", "s2", "s1"]),
        ("Work", True, "", ["s0"]),
        ("Work", False, "", ["s3"]),
        ("Work", None, "T3", ["s3"]),
        (None, True, "T3", []),
    ],
)
def test_a_list_is_of_one_folder_or_of_the_pinned_ones(
    store: SessionStore, folder: str | None, pinned: bool | None, query: str, expected: list[str]
) -> None:
    assert [summary.id for summary in store.list(query=query, folder=folder, pinned=pinned)] == expected
    after = store.list(9, (4, "s3"), query, folder=folder, pinned=pinned)
    assert [summary.id for summary in after] == [name for name in expected if name < "s3"]


@pytest.mark.usefixtures("shelf")
def test_folders_are_counted_and_sorted_whatever_their_case(store: SessionStore) -> None:
    assert store.folders() == (FolderCount("Work", 2), FolderCount("work", 1), FolderCount("Älter", 1))


@pytest.mark.usefixtures("shelf")
def test_a_list_begins_with_the_pinned_ones_then_those_in_no_folder_and_the_folders(store: SessionStore) -> None:
    top = store.overview(9, 9)
    assert [summary.id for summary in top.pinned] == [summary.id for summary in store.list(pinned=True)] == ["s4", "s0"]
    assert [summary.id for summary in top.loose] == [summary.id for summary in store.list(folder="", pinned=False)]
    assert tuple(top.folders) == store.folders()
    least = store.overview(1, 1)
    assert (len(least.pinned), len(least.loose)) == (1, 1)


@pytest.mark.usefixtures("shelf")
def test_a_renamed_folder_changes_only_the_files_in_it(
    home: DataDirectory, store: SessionStore, clock: FixedClock
) -> None:
    before = {path.stem: read(home, path.stem) for path in home.sessions.iterdir()}
    times = {path.name: path.stat().st_mtime_ns for path in home.sessions.iterdir()}
    clock.advance(9)
    assert store.rename_folder("Work", "Garden") == 2
    assert store.folders() == (FolderCount("Garden", 2), FolderCount("work", 1), FolderCount("Älter", 1))
    assert {name: read(home, name) for name in before} == before | {
        name: before[name] | {"folder": "Garden"} for name in ("s0", "s3")
    }
    for name in ("s1.json", "s2.json", "s4.json"):
        assert (home.sessions / name).stat().st_mtime_ns == times[name]


@pytest.mark.usefixtures("shelf")
def test_a_folder_can_join_another_or_be_given_up(store: SessionStore) -> None:
    assert store.rename_folder("work", "Work") == 1
    assert store.rename_folder("Work", "") == 3
    assert store.rename_folder("Work", "") == 0
    assert store.folders() == (FolderCount("Älter", 1),)
    assert store.count() == 5


def test_those_in_no_folder_are_no_folder(store: SessionStore) -> None:
    with pytest.raises(InputError, match="A folder needs a name"):
        store.rename_folder("", "Work")


@pytest.mark.usefixtures("shelf")
def test_what_is_gone_or_moved_by_hand_while_a_folder_is_renamed_is_left_alone(
    home: DataDirectory, store: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(home, "s5", {"folder": "Work", "updatedAt": 9})
    real = os.replace

    def replace(source: Path, target: Path) -> None:
        monkeypatch.setattr(os, "replace", real)
        gone, moved = {"s0", "s3", "s5"} - {Path(target).stem}
        (home.sessions / f"{gone}.json").unlink()
        put(home, moved, {"folder": "By hand"})
        real(source, target)

    monkeypatch.setattr(os, "replace", replace)
    assert store.rename_folder("Work", "Garden") == 1
    assert {(folder.name, folder.count) for folder in store.folders()} == {
        ("Garden", 1),
        ("By hand", 1),
        ("work", 1),
        ("Älter", 1),
    }


# --- versions ----------------------------------------------------------------------------------------------------


def test_a_rewind_and_what_is_said_then_are_one_history_for_every_program(
    home: DataDirectory, store: SessionStore, later: SessionStore, clock: FixedClock
) -> None:
    talk(home, x_plugin={"keep": 1}, queued=["next"])
    clock.advance(3)
    rewound = store.rewind(S, 1)
    assert (texts(rewound), rewound.versions) == (["apple"], (VersionMark(1, 2, 1),))
    assert (rewound.updated_ms, [waiting.text for waiting in rewound.queued]) == (clock.now_ms(), ["next"])
    assert later.load(S) == rewound == store.load(S)
    said = store.append(S, user("plum"))
    assert (texts(said), said.versions) == (["apple", "plum"], (VersionMark(1, 2, 1),))
    assert later.load(S) == said
    clock.advance(3)
    back = store.switch_version(S, 1, 0)
    assert (texts(back), back.versions) == (["apple", "banana", "cherry"], (VersionMark(1, 2, 0),))
    assert back.updated_ms == said.updated_ms
    assert later.load(S) == back
    assert (back.extra, read(home, S)["x_plugin"]) == ({"x_plugin": {"keep": 1}}, {"keep": 1})
    assert texts(later.switch_version(S, 1, 1)) == texts(store.load(S)) == ["apple", "plum"]
    assert store.update(S, title="U").versions == (VersionMark(1, 2, 1),)


def test_only_the_tail_that_is_shown_is_found(home: DataDirectory, store: SessionStore) -> None:
    talk(home)
    assert listed(store, "cherry") == [S]
    store.rewind(S, 1)
    assert [listed(store, word) for word in ("apple", "banana", "cherry")] == [[S], [], []]
    store.append(S, user("plum"), user("fig"), user("date"))
    store.switch_version(S, 1, 0)
    assert [listed(store, word) for word in ("apple", "banana", "cherry", "plum", "date")] == [[S], [S], [S], [], []]
    assert store.list()[0].message_count == 3
    store.switch_version(S, 1, 1)
    assert [listed(store, word) for word in ("apple", "banana", "plum", "date")] == [[S], [], [S], [S]]
    assert [hit.message_index for hit in store.search("fig", 9)] == [2]


@pytest.mark.parametrize("path", sorted((CASES / "history").glob("*.session.json")), ids=lambda path: path.name)
def test_known_histories_come_back_whole_from_every_place_they_can_be_cut_at(
    home: DataDirectory, store: SessionStore, path: Path
) -> None:
    before: dict[str, JsonValue] = json.loads(path.read_text(encoding="utf-8"))
    put(home, S, before)
    session = store.load(S)
    for index, message in enumerate(session.messages):
        if message.role in (Role.USER, Role.ASSISTANT):
            assert store.rewind(S, index).messages == session.messages[:index]
            store.append(S, user("Otherwise"))
            assert store.switch_version(S, index, 0).messages == session.messages
    assert json.dumps(read(home, S)["messages"]) == json.dumps(before["messages"])


@pytest.mark.parametrize(
    "attempt",
    [
        lambda store: store.rewind(S, 3),
        lambda store: store.rewind(S, -1),
        lambda store: store.switch_version(S, 1, 1),
        lambda store: store.branch(S, 3),
        lambda store: store.branch(S, -1),
        lambda store: store.rewind(SessionId("other"), 0),
        lambda store: store.switch_version(SessionId("other"), 0, 0),
        lambda store: store.branch(SessionId("other"), 0),
        lambda store: store.find_within(SessionId("other"), "x"),
    ],
)
def test_what_is_not_there_is_told_and_nothing_is_written(
    home: DataDirectory, store: SessionStore, attempt: Callable[[SessionStore], object]
) -> None:
    talk(home)
    before = (home.sessions / "s.json").read_bytes()
    with pytest.raises(NotFoundError):
        attempt(store)
    assert (home.sessions / "s.json").read_bytes() == before
    assert [path.name for path in home.sessions.iterdir()] == ["s.json"]


@pytest.mark.parametrize("step", ["open", "fsync", "replace"])
def test_a_rewind_that_the_disk_refuses_changes_nothing(
    home: DataDirectory, store: SessionStore, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    talk(home)
    session = store.load(S)

    def fail(*args: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, step, fail)
        with pytest.raises(StorageError):
            store.rewind(S, 1)
    assert store.load(S) == session
    assert listed(store, "cherry") == [S]


def test_a_hand_edit_made_while_a_version_is_switched_survives(
    home: DataDirectory, store: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(home)
    store.rewind(S, 1)
    store.append(S, user("plum"))
    real, edited = os.fsync, read(home, S) | {"title": "By hand", "x": 1}

    def fsync(descriptor: int) -> None:
        monkeypatch.setattr(os, "fsync", real)
        put(home, S, edited)
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    session = store.switch_version(S, 1, 0)
    assert (session.title, texts(session)) == ("By hand", ["apple", "banana", "cherry"])
    assert read(home, S)["x"] == 1


def test_a_title_that_came_from_a_cut_message_follows_the_new_first_one(
    home: DataDirectory, store: SessionStore, later: SessionStore
) -> None:
    talk(home, title="")
    assert store.load(S).title == "apple"
    assert store.rewind(S, 0).title == ""
    assert store.append(S, user("plum")).title == "plum"
    assert later.load(S).title == "plum"


# --- branches ----------------------------------------------------------------------------------------------------


def test_a_branch_is_a_new_conversation_and_the_first_one_stays(
    home: DataDirectory, store: SessionStore, later: SessionStore
) -> None:
    odd: list[JsonValue] = [
        {"role": "user", "content": [{"type": "text", "text": "apple"}], "source": "telegram"},
        None,
        {"role": "assistant", "content": "banana"},
        {"role": "user", "content": "cherry"},
    ]
    facts: dict[str, JsonValue] = {"provider": "openai", "model": "gpt", "agentId": "a", "folder": "Work"}
    put(home, S, {"title": "T", "pinned": True, "queued": ["next"], "x": 1, "messages": odd, **facts})
    store.rewind(S, 2)
    store.append(S, user("plum"))
    before = (home.sessions / "s.json").read_bytes()
    branch = store.branch(S, 1)
    assert (home.sessions / "s.json").read_bytes() == before
    assert read(home, branch.id) == {
        "id": branch.id,
        "title": "T (branch)",
        "createdAt": NOW_MS,
        "updatedAt": NOW_MS,
        "messages": odd[:3],
        "branchedFrom": {"id": "s", "at": 1},
        **facts,
    }
    assert (branch.folder, branch.pinned, branch.versions, texts(branch)) == ("Work", False, (), ["apple", "banana"])
    assert later.load(branch.id) == branch == store.load(branch.id)
    assert set(listed(store, "banana")) == {S, branch.id}
    assert listed(store, "plum") == [S]


def test_a_branch_of_a_session_without_a_title_is_named_by_what_was_said(store: SessionStore) -> None:
    session = store.create()
    store.append(session.id, text_message(Role.ASSISTANT, "Hello"))
    assert store.branch(session.id, 0).title == ""


def test_two_branches_at_the_same_moment_are_different_ones(home: DataDirectory, store: SessionStore) -> None:
    talk(home)
    assert store.branch(S, 0).id != store.branch(S, 0).id


# --- words within one conversation -------------------------------------------------------------------------------


def test_words_are_found_within_one_conversation(home: DataDirectory, store: SessionStore) -> None:
    talk(home, "s", "Apple pie", "An äpple a day", "plum")
    talk(home, "other", "apple")
    assert store.find_within(S, "apple") == (
        MessageHit(0, Role.USER, "Apple pie", ((0, 5),)),
        MessageHit(1, Role.USER, "An äpple a day", ((3, 8),)),
    )
    assert [hit.index for hit in store.find_within(S, "apple", limit=1)] == [0]
