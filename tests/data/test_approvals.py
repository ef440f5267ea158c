import json
import threading
from dataclasses import replace

import pytest

from skales.core.approval import Approval, AskKind
from skales.core.errors import BrokenDocumentError, NotFoundError
from skales.core.ids import ApprovalId, SessionId
from skales.core.json import JsonValue
from skales.data.approvals import ApprovalStore, approval_json
from skales.data.document import write_object
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from tests.conftest import FixedClock

TOOL = Approval(
    id=ApprovalId("ap_1"),
    kind=AskKind.TOOL,
    session_id=SessionId("session_1"),
    call_id="call_1",
    tool="write_file",
    args={"path": "notes.txt", "text": "ä\ud800", "deep": [1, {"a": None}]},
    action="Write 3 KB to notes.txt",
    reason="It changes a file",
    covers="every call of write_file",
    created_ms=10,
    expires_ms=20,
)
QUESTION = Approval(
    id=ApprovalId("ap_2"),
    kind=AskKind.QUESTION,
    session_id=SessionId("session_2"),
    call_id="call_2",
    tool="ask_user",
    args={},
    action="Which colour?",
    reason="",
    options=("red", "blue"),
    created_ms=5,
    expires_ms=30,
)


@pytest.fixture
def quarantine(home: DataDirectory, clock: FixedClock) -> Quarantine:
    return Quarantine(home.quarantine, clock)


@pytest.fixture
def store(home: DataDirectory, quarantine: Quarantine) -> ApprovalStore:
    return ApprovalStore(home, quarantine)


@pytest.mark.parametrize("approval", [TOOL, QUESTION])
def test_a_question_survives_a_restart_whole(
    store: ApprovalStore, home: DataDirectory, quarantine: Quarantine, approval: Approval
) -> None:
    store.add(approval)
    after_restart = ApprovalStore(home, quarantine)
    assert after_restart.get(approval.id) == approval
    assert after_restart.pending() == [approval]


def test_the_file_and_the_public_shape_are_the_same(store: ApprovalStore, home: DataDirectory) -> None:
    store.add(QUESTION)
    expected = {
        "id": "ap_2",
        "kind": "question",
        "session": "session_2",
        "call": "call_2",
        "tool": "ask_user",
        "args": {},
        "action": "Which colour?",
        "reason": "",
        "covers": "",
        "options": ["red", "blue"],
        "preview": "",
        "sandbox": "",
        "pastCovered": 0,
        "pastCalls": 0,
        "why": [],
        "createdAt": 5,
        "expiresAt": 30,
    }
    assert approval_json(QUESTION) == expected
    assert json.loads((home.approvals / "ap_2.json").read_text(encoding="utf-8")) == expected


def test_questions_come_oldest_first(store: ApprovalStore) -> None:
    same_moment = replace(TOOL, id=ApprovalId("ap_0"))
    for approval in (TOOL, same_moment, QUESTION):
        store.add(approval)
    assert store.pending() == [QUESTION, same_moment, TOOL]
    assert store.for_session(SessionId("session_1")) == [same_moment, TOOL]


def test_nothing_is_pending_at_first(store: ApprovalStore) -> None:
    assert store.pending() == []


@pytest.mark.parametrize("approval_id", ["ap_9", "", "../settings", "a/b", ".hidden"])
def test_an_unknown_question_is_not_found(store: ApprovalStore, home: DataDirectory, approval_id: str) -> None:
    write_object(home.settings, {"theme": "dark"})
    with pytest.raises(NotFoundError, match="There is no pending question"):
        store.get(approval_id)
    assert store.remove(approval_id) is False
    assert home.settings.exists()


def test_a_removed_question_is_gone(store: ApprovalStore) -> None:
    store.add(TOOL)
    assert store.remove(TOOL.id) is True
    assert store.remove(TOOL.id) is False
    assert store.pending() == []
    with pytest.raises(NotFoundError, match="There is no pending question"):
        store.get(TOOL.id)


def test_of_many_answers_to_a_question_one_counts(store: ApprovalStore) -> None:
    store.add(TOOL)
    barrier, counted = threading.Barrier(8), list[bool]()

    def answer() -> None:
        barrier.wait(timeout=5)
        counted.append(store.remove(TOOL.id))

    threads = [threading.Thread(target=answer) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=5)
    assert sorted(counted) == [False] * 7 + [True]


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"\0\0\0", b'{"kind": "tool"}'])
def test_a_broken_file_is_set_aside_and_costs_no_other_question(
    store: ApprovalStore, home: DataDirectory, quarantine: Quarantine, damage: bytes
) -> None:
    store.add(TOOL)
    (home.approvals / "ap_9.json").write_bytes(damage)
    assert store.pending() == [TOOL]
    assert [notice.kept_at.read_bytes() for notice in quarantine.notices()] == [damage]
    with pytest.raises(NotFoundError, match="There is no pending question"):
        store.get("ap_9")


@pytest.mark.parametrize("damage", [b"{", b'{"kind": "tool"}'])
def test_asking_for_a_broken_question_sets_it_aside(
    store: ApprovalStore, home: DataDirectory, quarantine: Quarantine, damage: bytes
) -> None:
    home.approvals.mkdir()
    (home.approvals / "ap_9.json").write_bytes(damage)
    with pytest.raises(BrokenDocumentError):
        store.get("ap_9")
    assert [notice.kept_at.read_bytes() for notice in quarantine.notices()] == [damage]


@pytest.mark.parametrize("key", ["kind", "session", "call", "tool", "args", "action", "expiresAt"])
@pytest.mark.parametrize("wrong", [None, ["x"]])
def test_a_question_lacking_what_an_answer_needs_is_broken(
    store: ApprovalStore, home: DataDirectory, key: str, wrong: JsonValue
) -> None:
    write_object(home.approvals / "ap_1.json", {**approval_json(TOOL), key: wrong})
    with pytest.raises(BrokenDocumentError, match="it lacks what a question needs"):
        store.get("ap_1")


def test_a_moment_that_cannot_be_is_over(store: ApprovalStore, home: DataDirectory) -> None:
    write_object(home.approvals / "ap_1.json", {**approval_json(TOOL), "expiresAt": 10**400, "createdAt": "x"})
    assert store.get("ap_1") == replace(TOOL, created_ms=0, expires_ms=0)


def test_the_name_of_the_file_is_the_id(store: ApprovalStore, home: DataDirectory) -> None:
    store.add(TOOL)
    (home.approvals / "ap_3.json").write_bytes((home.approvals / "ap_1.json").read_bytes())
    assert [approval.id for approval in store.pending()] == ["ap_1", "ap_3"]
    assert store.remove("ap_3") is True
    assert store.pending() == [TOOL]
