"""Marks of summaries in a session file: what counts as one, where it fits, and what an undo leaves."""

import json
from collections.abc import Iterator, Mapping

import pytest

from skales.core.errors import InputError, NotFoundError
from skales.core.ids import SessionId
from skales.core.json import JsonValue
from skales.core.message import Role, text_message
from skales.data.index import Index
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.session_compactions import (
    Compaction,
    add_compaction,
    cut_compactions,
    find_effective,
    read_compactions,
    remove_compaction,
)
from skales.data.sessions import SessionStore
from tests.conftest import FixedClock

HISTORY = tuple(
    text_message(role, f"{number}", timestamp_ms=number + 1)
    for number, role in enumerate([Role.USER, Role.ASSISTANT] * 3)
)
MARK = Compaction(up_to=2, summary="They met.", at_ms=5, provider="openai", model="gpt-5.5", tokens=3)
ENTRY: Mapping[str, JsonValue] = {
    "upTo": 2,
    "summary": "They met.",
    "atMs": 5,
    "provider": "openai",
    "model": "gpt-5.5",
    "tokens": 3,
}


def test_a_mark_is_written_as_it_is_read() -> None:
    raw = add_compaction({"id": "x"}, MARK, HISTORY)
    assert raw == {"id": "x", "compactions": [ENTRY]}
    assert read_compactions(raw["compactions"]) == (MARK,)


@pytest.mark.parametrize(
    "entry",
    [
        None,
        "text",
        {},
        {"summary": "without a place"},
        {"upTo": 0, "summary": "of nothing"},
        {"upTo": True, "summary": "a flag"},
        {"upTo": "2", "summary": "a text"},
        {"upTo": 2},
        {"upTo": 2, "summary": " \n"},
        {"upTo": 2, "summary": 7},
    ],
)
def test_what_is_no_mark_has_no_effect_and_stays(entry: JsonValue) -> None:
    assert read_compactions([entry]) == ()
    raw = add_compaction({"compactions": [entry]}, MARK, HISTORY)
    assert raw["compactions"] == [entry, ENTRY]


def test_odd_facts_of_a_mark_count_as_unknown() -> None:
    entry: Mapping[str, JsonValue] = {
        "upTo": 2,
        "summary": "s",
        "atMs": -1,
        "provider": None,
        "model": 3,
        "tokens": 1.5,
    }
    assert read_compactions([entry]) == (Compaction(up_to=2, summary="s"),)


@pytest.mark.parametrize(("up_to", "fits"), [(2, True), (4, True), (6, True), (1, False), (3, False), (7, False)])
def test_a_mark_ends_before_what_a_person_said_or_at_the_end(up_to: int, fits: bool) -> None:
    mark = Compaction(up_to=up_to, summary="s")
    assert (find_effective([mark], HISTORY) is mark) is fits


def test_a_mark_that_does_not_fit_is_not_written() -> None:
    with pytest.raises(InputError):
        add_compaction({}, Compaction(up_to=3, summary="s"), HISTORY)


def test_the_newest_mark_counts_and_the_one_before_when_it_is_undone() -> None:
    later = Compaction(up_to=4, summary="More.")
    raw = add_compaction(add_compaction({}, MARK, HISTORY), later, HISTORY)
    assert find_effective(read_compactions(raw["compactions"]), HISTORY) == later
    undone = remove_compaction(raw, 4)
    assert undone["compactions"] == [ENTRY, {"upTo": 4, "undone": True}]
    assert find_effective(read_compactions(undone["compactions"]), HISTORY) == MARK


def test_a_new_mark_forgets_what_was_undone() -> None:
    raw = remove_compaction(add_compaction({}, MARK, HISTORY), 2)
    assert read_compactions(raw["compactions"]) == (Compaction(up_to=2, undone=True),)
    assert add_compaction(raw, MARK, HISTORY)["compactions"] == [ENTRY]


def test_only_a_mark_that_is_there_can_be_undone() -> None:
    raw = add_compaction({}, MARK, HISTORY)
    for gone in (raw | {"compactions": []}, remove_compaction(raw, 2)):
        with pytest.raises(NotFoundError):
            remove_compaction(gone, 2)
    with pytest.raises(NotFoundError):
        remove_compaction(raw, 4)


@pytest.mark.parametrize(
    ("count", "left"),
    [(2, {"a": 1, "compactions": [ENTRY]}), (1, {"a": 1})],
)
def test_a_cut_before_the_end_of_a_mark_takes_it_away(count: int, left: Mapping[str, JsonValue]) -> None:
    assert cut_compactions({"a": 1, "compactions": [ENTRY]}, count) == left


def test_a_cut_keeps_entries_that_are_no_marks() -> None:
    assert cut_compactions({"compactions": ["x", ENTRY]}, 1) == {"compactions": ["x"]}


# --- in the file ---


@pytest.fixture
def store(home: DataDirectory, clock: FixedClock) -> Iterator[SessionStore]:
    opened = SessionStore(home, Quarantine(home.quarantine, clock), Index(home.index, home.sessions), clock)
    yield opened
    opened.close()


@pytest.fixture
def session_id(store: SessionStore) -> SessionId:
    found = store.create().id
    store.append(found, *HISTORY)
    store.add_compaction(found, MARK)
    return found


def test_messages_and_the_order_of_the_list_stay_as_they_are(
    home: DataDirectory, store: SessionStore, session_id: SessionId, clock: FixedClock
) -> None:
    before = store.load(session_id)
    clock.advance(60)
    store.remove_compaction(session_id, 2)
    store.add_compaction(session_id, MARK)
    after = store.load(session_id)
    assert after.compaction == MARK
    assert (after.messages, after.updated_ms) == (before.messages, before.updated_ms)
    raw = json.loads((home.sessions / f"{session_id}.json").read_text(encoding="utf-8"))
    assert raw["compactions"] == [ENTRY]
    assert len(raw["messages"]) == len(HISTORY)
    assert "compactions" not in after.extra


def test_a_mark_survives_what_is_said_and_changed_afterwards(store: SessionStore, session_id: SessionId) -> None:
    store.append(session_id, text_message(Role.USER, "more"))
    store.update(session_id, title="Named")
    store.queue(session_id, "waiting")
    assert store.load(session_id).compaction == MARK


def test_going_back_keeps_a_mark_that_ends_before(store: SessionStore, session_id: SessionId) -> None:
    assert store.rewind(session_id, 2).compaction == MARK
    assert store.switch_version(session_id, 2, 0).compaction == MARK
    assert store.rewind(session_id, 0).compactions == ()


def test_a_branch_takes_the_marks_of_what_it_shares(store: SessionStore, session_id: SessionId) -> None:
    assert store.branch(session_id, 1).compaction == MARK
    assert store.branch(session_id, 0).compactions == ()


def test_a_mark_for_messages_that_are_gone_by_now_is_refused(store: SessionStore, session_id: SessionId) -> None:
    store.rewind(session_id, 0)
    with pytest.raises(InputError):
        store.add_compaction(session_id, MARK)
    assert store.load(session_id).compactions == ()
