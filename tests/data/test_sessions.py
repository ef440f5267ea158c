import errno
import json
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from skales.core.errors import BrokenDocumentError, ConflictError, NotFoundError, StorageError
from skales.core.ids import SessionId
from skales.core.json import JsonObject, JsonValue
from skales.core.message import Message, Role, text_message
from skales.core.tool import ToolCall
from skales.data.document import ChangedOnDiskError
from skales.data.index import Index
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.session_codec import Waiting, message_to_disk
from skales.data.sessions import Session, SessionStore
from tests.conftest import CASES, FixedClock

NOW_MS = FixedClock().now_ms()
FIRST = SessionId(f"session_{NOW_MS}")


@pytest.fixture
def quarantine(home: DataDirectory, clock: FixedClock) -> Quarantine:
    return Quarantine(home.quarantine, clock)


@pytest.fixture
def store(home: DataDirectory, quarantine: Quarantine, clock: FixedClock) -> Iterator[SessionStore]:
    opened = SessionStore(home, quarantine, Index(home.index, home.sessions), clock)
    yield opened
    opened.close()


def user(text: str) -> Message:
    return text_message(Role.USER, text)


def path_of(home: DataDirectory, session_id: str) -> Path:
    return home.sessions / f"{session_id}.json"


def put(home: DataDirectory, session_id: str, raw: JsonValue) -> Path:
    """A session file as another program or a person would write it."""
    path = path_of(home, session_id)
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(raw), encoding="utf-8")
    return path


def read(home: DataDirectory, session_id: str) -> dict[str, JsonValue]:
    raw: dict[str, JsonValue] = json.loads(path_of(home, session_id).read_text(encoding="utf-8"))
    return raw


def listed(store: SessionStore, query: str = "") -> list[str]:
    return [summary.id for summary in store.list(query=query)]


# --- a folder after a crash and a full disk (STO-01) -------------------------------------------------------------


@pytest.fixture
def crashed(home: DataDirectory) -> Path:
    shutil.copytree(CASES / "storage" / "STO-01" / "sessions", home.sessions)
    return home.sessions


def test_after_a_crash_the_good_session_is_listed_and_the_bad_ones_are_reported(
    store: SessionStore, quarantine: Quarantine, crashed: Path
) -> None:
    assert [(summary.id, summary.title) for summary in store.list()] == [("session_1930000000001", "Good one")]
    assert store.count() == 1
    assert {broken.path.stem: broken.reason for broken in quarantine.notices()} == {
        "session_1930000000002": "unterminated string starting at line 17, column 15",
        "session_1930000000003": "the file is empty",
        "session_1930000000004": "the file holds only NUL bytes",
        "session_1930000000005": "the file holds JSON, but not an object",
    }


def test_after_a_crash_no_byte_is_lost_whatever_is_done(
    store: SessionStore, quarantine: Quarantine, crashed: Path
) -> None:
    before = {path.name: path.read_bytes() for path in crashed.iterdir()}
    store.list()
    created = store.create("New")
    store.append(created.id, user("Hello"))
    store.append(SessionId("session_1930000000001"), user("Hello"))
    for number in range(2, 6):
        with pytest.raises(NotFoundError):
            store.append(SessionId(f"session_193000000000{number}"), user("Hello"))
    for broken in quarantine.notices():
        assert broken.kept_at.read_bytes() == before[broken.path.name]
    untouched = {path.name for path in crashed.iterdir()} - {f"{created.id}.json", "session_1930000000001.json"}
    assert untouched == {"notes.txt", ".session_1930000000001.json.k3x9.tmp"}
    assert all((crashed / name).read_bytes() == before[name] for name in untouched)


def test_after_a_crash_unknown_keys_survive_a_new_message(
    home: DataDirectory, store: SessionStore, crashed: Path
) -> None:
    good = SessionId("session_1930000000001")
    assert store.load(good).extra == {"x_plugin": {"keep": "me"}}
    store.append(good, user("More"))
    raw = read(home, good)
    assert raw["x_plugin"] == {"keep": "me"}
    assert [message.text for message in store.load(good).messages] == ["Hallo", "More"]
    assert list(raw) == ["id", "title", "createdAt", "updatedAt", "x_plugin", "messages"]


def test_a_broken_session_is_named_when_it_is_opened(
    store: SessionStore, quarantine: Quarantine, crashed: Path
) -> None:
    with pytest.raises(BrokenDocumentError, match=r"session_1930000000002.+line 17"):
        store.load(SessionId("session_1930000000002"))
    with pytest.raises(NotFoundError, match="Session not found"):
        store.load(SessionId("session_1930000000002"))
    assert len(quarantine.notices()) == 1


def test_a_broken_session_that_cannot_be_moved_is_reported_once_and_never_overwritten(
    home: DataDirectory, store: SessionStore, quarantine: Quarantine, crashed: Path, clock: FixedClock
) -> None:
    home.quarantine.write_text("in the way", encoding="utf-8")
    for _ in range(3):
        assert listed(store) == ["session_1930000000001"]
        clock.advance(1)
    assert len(quarantine.notices()) == 4
    assert {broken.when_ms for broken in quarantine.notices()} == {NOW_MS}
    with pytest.raises(BrokenDocumentError):
        store.append(SessionId("session_1930000000003"), user("Hello"))
    assert path_of(home, "session_1930000000003").read_bytes() == b""


def test_a_session_repaired_by_hand_is_back(home: DataDirectory, store: SessionStore, quarantine: Quarantine) -> None:
    home.quarantine.write_text("in the way", encoding="utf-8")
    put(home, "s", "no object")
    assert listed(store) == []
    put(home, "s", {"title": "Repaired"})
    assert listed(store) == ["s"]
    assert quarantine.notices() == []


ENTRIES_THAT_ARE_NO_MESSAGES: list[JsonValue] = [None, 7, "text", [], {}, {"role": "alien", "content": "x"}]


@pytest.mark.parametrize("odd", ENTRIES_THAT_ARE_NO_MESSAGES)
def test_an_odd_entry_in_a_good_file_is_passed_over_and_kept(
    home: DataDirectory, store: SessionStore, odd: JsonValue
) -> None:
    good: JsonObject = {"role": "user", "content": "a"}
    put(home, "s", {"title": "T", "messages": [good, odd, good]})
    (summary,) = store.list()
    assert summary.message_count == 2
    store.append(SessionId("s"), user("b"))
    store.update(SessionId("s"), title="U")
    messages = read(home, "s")["messages"]
    assert isinstance(messages, list)
    assert messages[:3] == [good, odd, good]
    assert [index for index, _ in store.tail(SessionId("s"), 9)] == [0, 1, 2]


def test_messages_that_are_no_list_break_the_file_not_the_list(
    home: DataDirectory, store: SessionStore, quarantine: Quarantine
) -> None:
    put(home, "good", {})
    put(home, "bad", {"messages": {"0": "x"}})
    assert listed(store) == ["good"]
    assert [broken.reason for broken in quarantine.notices()] == ["`messages` is not a list"]


def refuse_to_open(name: str, number: int) -> Callable[..., int]:
    real = os.open

    def refuse(path: Path, *rest: int) -> int:
        if Path(path).name == name:
            raise OSError(number, os.strerror(number))
        return real(path, *rest)

    return refuse


def test_a_session_the_system_refuses_to_read_is_reported_left_alone_and_back_when_it_can_be_read(
    home: DataDirectory, store: SessionStore, quarantine: Quarantine, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(home, "good", {})
    locked = put(home, "locked", {"title": "Mine"})
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refuse_to_open("locked.json", errno.EACCES))
        assert listed(store) == ["good"]
        assert listed(store) == ["good"]
        (broken,) = quarantine.notices()
        assert (broken.kept_at, broken.reason) == (locked, "'locked.json' cannot be read: permission is missing")
    assert sorted(listed(store)) == ["good", "locked"]


@pytest.mark.parametrize(
    "name",
    [
        "_state.json",
        ".hidden.json",
        "my chat.json",
        "a%2fb.json",
        "ü.json",
        "notes.txt",
        "a.json.bak",
        "a.JSON",
        ".json",
    ],
)
def test_files_that_are_no_sessions_are_ignored(home: DataDirectory, store: SessionStore, name: str) -> None:
    put(home, "session-001", {})
    (home.sessions / name).write_text('{"title": "x"}', encoding="utf-8")
    assert listed(store) == ["session-001"]
    with pytest.raises(NotFoundError):
        store.load(SessionId(name.removesuffix(".json")))


@pytest.mark.parametrize("session_id", ["", ".", "..", "../settings", "a/b", "a\\b", "_state", ".x", "a\0b", "x" * 200])
def test_no_id_leads_out_of_the_folder(home: DataDirectory, store: SessionStore, session_id: str) -> None:
    home.settings.write_text("{}", encoding="utf-8")
    unsafe = SessionId(session_id)
    for attempt in (
        lambda: store.load(unsafe),
        lambda: store.append(unsafe, user("x")),
        lambda: store.update(unsafe, title="x"),
        lambda: store.delete(unsafe),
        lambda: store.restore(unsafe),
    ):
        with pytest.raises(NotFoundError, match="Session not found"):
            attempt()
    assert home.settings.read_text(encoding="utf-8") == "{}"


def test_links_and_folders_are_no_sessions(home: DataDirectory, store: SessionStore, quarantine: Quarantine) -> None:
    put(home, "good", {})
    home.settings.write_text('{"title": "secret"}', encoding="utf-8")
    path_of(home, "link").symlink_to(home.settings)
    path_of(home, "folder").mkdir()
    assert listed(store) == ["good"]
    for name in ("link", "folder"):
        with pytest.raises(StorageError, match="not a plain file"):
            store.load(SessionId(name))
        with pytest.raises(NotFoundError):
            store.delete(SessionId(name))
    assert quarantine.notices() == []


# --- creating and loading ----------------------------------------------------------------------------------------


def test_a_created_session_is_on_disk_and_listed(home: DataDirectory, store: SessionStore) -> None:
    session = store.create("CLI Session", "openai", "gpt", "researcher")
    assert session == Session(
        id=FIRST,
        title="CLI Session",
        provider="openai",
        model="gpt",
        agent_id="researcher",
        created_ms=NOW_MS,
        updated_ms=NOW_MS,
    )
    assert read(home, FIRST) == {
        "id": FIRST,
        "title": "CLI Session",
        "provider": "openai",
        "model": "gpt",
        "createdAt": NOW_MS,
        "updatedAt": NOW_MS,
        "messages": [],
        "agentId": "researcher",
    }
    assert store.load(FIRST) == session
    assert listed(store) == [FIRST]


def test_an_id_in_use_or_in_the_trash_is_not_given_again(home: DataDirectory, store: SessionStore) -> None:
    first = store.create()
    store.delete(first.id)
    path_of(home, f"session_{NOW_MS + 1}").mkdir()
    assert store.create().id == f"session_{NOW_MS + 2}"
    assert store.create().id == f"session_{NOW_MS + 3}"


def test_sessions_created_at_the_same_moment_are_different_ones(home: DataDirectory, store: SessionStore) -> None:
    start = threading.Barrier(8)

    def create(number: int) -> str:
        start.wait(timeout=5)
        return store.create(f"Number {number}").id

    with ThreadPoolExecutor(8) as pool:
        ids = list(pool.map(create, range(8)))
    assert len(set(ids)) == 8
    assert [store.load(SessionId(session_id)).title for session_id in ids] == [
        f"Number {number}" for number in range(8)
    ]


def test_an_id_taken_by_another_program_in_the_last_moment_is_left_to_it(
    home: DataDirectory, store: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.link

    def be_faster(source: Path, target: Path) -> None:
        if not Path(target).exists():
            put(home, Path(target).stem, {"title": "Theirs"})
            monkeypatch.setattr(os, "link", real)
        real(source, target)

    monkeypatch.setattr(os, "link", be_faster)
    assert store.create("Mine").id == f"session_{NOW_MS + 1}"
    assert store.load(FIRST).title == "Theirs"


def test_a_hand_edit_is_seen_at_the_next_load(home: DataDirectory, store: SessionStore) -> None:
    put(home, "s", {"title": "Before"})
    assert store.load(SessionId("s")).title == "Before"
    put(home, "s", {"title": "Thereafter"})
    assert store.load(SessionId("s")).title == "Thereafter"


def test_the_file_name_is_the_id_whatever_the_file_says(home: DataDirectory, store: SessionStore) -> None:
    put(home, "session-001", {"id": "session_7", "title": "Copied by hand"})
    assert store.load(SessionId("session-001")).id == "session-001"
    assert listed(store) == ["session-001"]


def test_many_sessions_can_be_open_at_once(home: DataDirectory, store: SessionStore) -> None:
    ids = [store.create(f"Number {number}").id for number in range(40)]
    for _ in range(2):
        assert [store.load(session_id).title for session_id in ids] == [f"Number {number}" for number in range(40)]


def test_a_sessions_folder_that_is_a_file_is_a_storage_error(home: DataDirectory, store: SessionStore) -> None:
    home.sessions.write_text("in the way", encoding="utf-8")
    for attempt in (store.list, store.create, lambda: store.load(FIRST), lambda: store.delete(FIRST)):
        with pytest.raises(StorageError):
            attempt()


def test_before_the_first_session_there_is_none(store: SessionStore) -> None:
    assert (store.list(), store.count(), store.search("a", 5)) == ([], 0, [])


# --- appending ---------------------------------------------------------------------------------------------------


def test_a_message_is_on_disk_with_its_time_and_moves_the_session_up(
    home: DataDirectory, store: SessionStore, clock: FixedClock
) -> None:
    session = store.create()
    clock.advance(5)
    answer = Message(
        role=Role.ASSISTANT,
        timestamp_ms=7,
        tool_calls=(ToolCall("c1", "read_file", {"path": "a"}),),
        reasoning="because",
    )
    appended = store.append(session.id, user("Hi"), answer)
    raw = read(home, session.id)
    assert raw["messages"] == [
        {"role": "user", "content": "Hi", "timestamp": clock.now_ms()},
        {
            "role": "assistant",
            "content": "",
            "timestamp": 7,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "a"}'}}
            ],
            "reasoning_content": "because",
        },
    ]
    assert raw["updatedAt"] == appended.updated_ms == clock.now_ms()
    assert raw["createdAt"] == NOW_MS


def test_what_append_returns_is_what_a_later_program_loads(
    home: DataDirectory, store: SessionStore, quarantine: Quarantine, clock: FixedClock
) -> None:
    session = store.create()
    store.append(session.id, user("a\ud800b"), Message(role=Role.ASSISTANT, tool_calls=(ToolCall("c1", "f"),)))
    queued = store.queue(session.id, "next")
    other = SessionStore(home, quarantine, Index(home.index, home.sessions), clock)
    assert other.load(session.id) == queued == store.load(session.id)


@pytest.mark.parametrize(
    ("title", "texts", "kept"),
    [
        ("", ["What is on today? Tell me"], "What is on today? Tell me"),
        ("", ["First", "Second"], "First"),
        ("Mine", ["First"], "Mine"),
        (None, ["First"], "First"),
        (7, ["First"], 7),
    ],
)
def test_a_missing_title_comes_from_the_first_message_and_stays(
    home: DataDirectory, store: SessionStore, title: JsonValue, texts: list[str], kept: JsonValue
) -> None:
    put(home, "s", {} if title is None else {"title": title})
    for text in texts:
        store.append(SessionId("s"), user(text))
    assert read(home, "s")["title"] == kept
    assert store.load(SessionId("s")).title == (kept if isinstance(kept, str) else "First")


def test_an_answer_alone_gives_no_title(home: DataDirectory, store: SessionStore) -> None:
    session = store.create()
    store.append(session.id, text_message(Role.ASSISTANT, "Hello"))
    assert (read(home, session.id)["title"], store.load(session.id).title) == ("", "")


@pytest.mark.parametrize("raw", [{}, {"messages": None}, {"messages": []}])
def test_a_session_without_messages_takes_some(home: DataDirectory, store: SessionStore, raw: JsonObject) -> None:
    put(home, "s", raw)
    store.append(SessionId("s"), user("a"))
    assert [message.text for message in store.load(SessionId("s")).messages] == ["a"]


def test_appending_to_a_missing_session_makes_none(home: DataDirectory, store: SessionStore) -> None:
    with pytest.raises(NotFoundError, match="Session not found"):
        store.append(FIRST, user("a"))
    assert not home.sessions.exists()


@pytest.mark.parametrize("path", sorted((CASES / "history").glob("*.session.json")), ids=lambda path: path.name)
def test_known_histories_keep_every_entry_when_the_talk_goes_on(
    home: DataDirectory, store: SessionStore, path: Path
) -> None:
    before: dict[str, JsonValue] = json.loads(path.read_text(encoding="utf-8"))
    put(home, "s", before)
    store.append(SessionId("s"), user("Go on"))
    store.queue(SessionId("s"), "next")
    store.update(SessionId("s"), title="Renamed", queued=[])
    after = read(home, "s")
    assert isinstance(after["messages"], list)
    added = after["messages"].pop()
    assert added == {"role": "user", "content": "Go on", "timestamp": NOW_MS}
    assert after == before | {"title": "Renamed", "updatedAt": NOW_MS}
    assert json.dumps(after["messages"]) == json.dumps(before["messages"])


def test_a_cancelled_turn_can_be_closed_with_a_result_that_was_never_there(
    home: DataDirectory, store: SessionStore
) -> None:
    shutil.copy(CASES / "history" / "HIS-01-cancelled-turn.session.json", put(home, "s", {}))
    closing = Message(role=Role.TOOL, tool_call_id="c2", name="rename_file", is_error=True, content=user("no").content)
    store.append(SessionId("s"), closing)
    messages = store.load(SessionId("s")).messages
    assert [call.id for message in messages for call in message.tool_calls] == ["c1", "c2"]
    assert messages[2].text == "renamed"
    assert messages[-1].is_error


def while_writing(monkeypatch: pytest.MonkeyPatch, deed: Callable[[], object], times: int = 1) -> None:
    """Do something between the moment a store read a file and the moment it puts the new one in place."""
    real = os.fsync
    left = [times]

    def fsync(descriptor: int) -> None:
        if left[0]:
            left[0] -= 1
            deed()
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)


def test_a_hand_edit_made_while_a_message_is_written_survives(
    home: DataDirectory, store: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(home, "s", {"title": "Before", "messages": [{"role": "user", "content": "a"}]})
    edited: JsonObject = {"title": "Edited by hand", "x": 1, "messages": [{"role": "user", "content": "a, corrected"}]}
    while_writing(monkeypatch, lambda: put(home, "s", edited))
    session = store.append(SessionId("s"), user("b"))
    assert (session.title, [message.text for message in session.messages]) == ("Edited by hand", ["a, corrected", "b"])
    assert read(home, "s")["x"] == 1
    assert store.load(SessionId("s")) == session
    assert listed(store, "corrected") == ["s"]


def test_a_session_removed_while_a_message_is_written_stays_removed(
    home: DataDirectory, store: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(home, "s", {})
    while_writing(monkeypatch, path.unlink)
    with pytest.raises(NotFoundError):
        store.append(SessionId("s"), user("b"))
    assert list(home.sessions.iterdir()) == []
    assert listed(store) == []


def test_a_file_that_never_rests_is_given_up(
    home: DataDirectory, store: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(home, "s", {})
    edits: list[int] = []

    def edit() -> None:
        edits.append(1)
        put(home, "s", {"title": "x" * len(edits)})

    while_writing(monkeypatch, edit, times=99)
    with pytest.raises(ChangedOnDiskError):
        store.append(SessionId("s"), user("b"))
    assert read(home, "s") == {"title": "xxxxx"}


def test_a_deletion_and_an_append_at_once_never_bring_a_session_back(home: DataDirectory, store: SessionStore) -> None:
    for _ in range(10):
        session_id = store.create().id
        start = threading.Barrier(2)

        def append(session_id: SessionId = session_id, start: threading.Barrier = start) -> None:
            start.wait(timeout=5)
            try:
                for number in range(5):
                    store.append(session_id, user(str(number)))
            except NotFoundError:
                pass

        writer = threading.Thread(target=append)
        writer.start()
        start.wait(timeout=5)
        store.delete(session_id)
        writer.join()
        assert not path_of(home, session_id).exists()
    assert listed(store) == []


def test_messages_from_many_threads_all_arrive(store: SessionStore) -> None:
    session_id = store.create().id
    with ThreadPoolExecutor(8) as pool:
        for number in range(40):
            pool.submit(store.append, session_id, user(f"word{number}"))
        pool.submit(store.list)
    assert {message.text for message in store.load(session_id).messages} == {f"word{number}" for number in range(40)}
    assert all(listed(store, f"word{number}") == [session_id] for number in range(40))


def fail_with(number: int) -> Callable[..., None]:
    def fail(*args: object) -> None:
        raise OSError(number, os.strerror(number))

    return fail


@pytest.mark.parametrize("step", ["open", "fsync", "replace"])
def test_a_full_disk_is_told_and_the_session_stays_as_it_was(
    home: DataDirectory, store: SessionStore, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    session = store.append(store.create("T").id, user("kept"))
    before = path_of(home, session.id).read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(os, step, fail_with(errno.ENOSPC))
        with pytest.raises(StorageError) as caught:
            store.append(session.id, user("lost"))
    assert caught.value.code == "disk_full"
    assert path_of(home, session.id).read_bytes() == before
    assert [path.name for path in home.sessions.iterdir()] == [f"{session.id}.json"]
    assert store.load(session.id) == session
    assert (listed(store, "kept"), listed(store, "lost")) == ([session.id], [])


# --- queueing and updating ---------------------------------------------------------------------------------------


def test_queued_texts_wait_in_order_and_leave_with_the_message_they_became(
    home: DataDirectory, store: SessionStore, clock: FixedClock
) -> None:
    session_id = store.create().id
    clock.advance(1)
    for text in ("one", "two", "three"):
        store.queue(session_id, text)
    assert read(home, session_id)["queued"] == ["one", "two", "three"]
    assert store.load(session_id).updated_ms == clock.now_ms()
    assert store.append(session_id, user("one\n\ntwo"), unqueue=2).queued == (Waiting("three"),)
    assert read(home, session_id)["queued"] == ["three"]
    assert store.append(session_id, user("more")).queued == (Waiting("three"),)
    store.append(session_id, user("three"), unqueue=5)
    assert "queued" not in read(home, session_id)
    assert store.load(session_id).queued == ()


def test_an_update_changes_what_it_names_and_not_the_order(
    home: DataDirectory, store: SessionStore, clock: FixedClock
) -> None:
    put(
        home,
        "s",
        {"title": "T", "x": 1, "createdAt": 5, "updatedAt": 6, "messages": [{"role": "user", "content": "a"}]},
    )
    clock.advance(9)
    session = store.update(
        SessionId("s"), title="U", provider="openai", model="gpt", agent_id="researcher", queued=(Waiting("next"),)
    )
    assert read(home, "s") == {
        "title": "U",
        "x": 1,
        "createdAt": 5,
        "updatedAt": 6,
        "messages": [{"role": "user", "content": "a"}],
        "provider": "openai",
        "model": "gpt",
        "agentId": "researcher",
        "queued": ["next"],
    }
    assert session == store.load(SessionId("s"))
    (summary,) = store.list()
    assert (summary.title, summary.provider, summary.model, summary.agent_id) == ("U", "openai", "gpt", "researcher")
    assert (summary.created_ms, summary.updated_ms, summary.message_count) == (5, 6, 1)


def test_an_update_can_take_things_away(home: DataDirectory, store: SessionStore) -> None:
    session_id = store.create("T", "openai", "gpt", "researcher").id
    store.append(session_id, user("Hello there"))
    session = store.update(session_id, title="", provider="", agent_id="", queued=())
    assert (session.title, session.provider, session.model, session.agent_id) == ("Hello there", "", "gpt", "")
    raw = read(home, session_id)
    assert (raw["title"], raw["provider"]) == ("", "")
    assert not {"agentId", "queued"} & raw.keys()
    assert store.load(session_id) == session


def test_an_update_without_changes_changes_nothing(store: SessionStore) -> None:
    session = store.append(store.create("T").id, user("a"))
    assert store.update(session.id) == session


# --- deleting ----------------------------------------------------------------------------------------------------


def test_a_deleted_session_lies_in_the_trash_and_can_come_back(home: DataDirectory, store: SessionStore) -> None:
    session = store.append(store.create("T").id, user("needle"))
    before = path_of(home, session.id).read_bytes()
    store.delete(session.id)
    assert (listed(store), listed(store, "needle"), store.count()) == ([], [], 0)
    with pytest.raises(NotFoundError, match="Session not found"):
        store.load(session.id)
    assert (home.root / "trash" / "sessions" / f"{session.id}.json").read_bytes() == before
    store.restore(session.id)
    assert path_of(home, session.id).read_bytes() == before
    assert (store.load(session.id), listed(store, "needle")) == (session, [session.id])


def test_what_is_not_there_cannot_be_deleted_or_restored(store: SessionStore) -> None:
    session_id = store.create().id
    with pytest.raises(NotFoundError, match="Session not found"):
        store.delete(SessionId("other"))
    with pytest.raises(NotFoundError, match="Session not found"):
        store.restore(session_id)
    store.delete(session_id)
    with pytest.raises(NotFoundError):
        store.delete(session_id)
    store.restore(session_id)
    with pytest.raises(NotFoundError):
        store.restore(session_id)


def test_a_restored_session_never_replaces_one(home: DataDirectory, store: SessionStore) -> None:
    put(home, "s", {"title": "Old"})
    store.delete(SessionId("s"))
    put(home, "s", {"title": "New"})
    with pytest.raises(ConflictError):
        store.restore(SessionId("s"))
    assert store.load(SessionId("s")).title == "New"


def test_deleting_the_same_id_again_keeps_every_file_and_restores_the_last(
    home: DataDirectory, store: SessionStore
) -> None:
    for title in ("One", "Two", "Three"):
        put(home, "s", {"title": title})
        store.delete(SessionId("s"))
    trash = home.root / "trash" / "sessions"
    assert sorted(json.loads(path.read_text(encoding="utf-8"))["title"] for path in trash.iterdir()) == [
        "One",
        "Three",
        "Two",
    ]
    store.restore(SessionId("s"))
    assert store.load(SessionId("s")).title == "Three"


def test_a_session_can_be_restored_into_an_emptied_data_directory(home: DataDirectory, store: SessionStore) -> None:
    session_id = store.create("T").id
    store.delete(session_id)
    home.sessions.rmdir()
    store.restore(session_id)
    assert listed(store) == [session_id]


def test_a_deletion_the_disk_refuses_leaves_the_session(
    home: DataDirectory, store: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    session_id = store.create("T").id
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fail_with(errno.EROFS))
        with pytest.raises(StorageError, match="cannot be moved to the trash") as caught:
            store.delete(session_id)
    assert caught.value.code == "read_only"
    assert listed(store) == [session_id]


# --- stretches of a long conversation ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "before", "indices"),
    [
        (2, None, [3, 4]),
        (99, None, [0, 1, 2, 3, 4]),
        (2, 3, [1, 2]),
        (2, 1, [0]),
        (2, 0, []),
        (2, -3, []),
        (2, 99, [3, 4]),
        (0, None, []),
        (-1, None, []),
    ],
)
def test_the_tail_is_the_last_messages_with_their_indices(
    home: DataDirectory, store: SessionStore, limit: int, before: int | None, indices: list[int]
) -> None:
    put(home, "s", {"messages": [message_to_disk(user(str(number))) for number in range(5)]})
    tail = store.tail(SessionId("s"), limit, before)
    assert [(index, message.text) for index, message in tail] == [(index, str(index)) for index in indices]


def test_a_list_names_who_wrote_the_last_answer_unless_one_was_chosen(store: SessionStore) -> None:
    written = store.create().id
    for model in ("old", "new"):
        store.append(written, Message(role=Role.ASSISTANT, provider="openai", model=model))
    chosen = store.create(provider="groq", model="fast").id
    store.append(chosen, Message(role=Role.ASSISTANT, provider="openai", model="new"))
    named = {summary.id: (summary.provider, summary.model) for summary in store.list()}
    assert named == {written: ("openai", "new"), chosen: ("groq", "fast")}
