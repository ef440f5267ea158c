"""The store of what is sent: which states follow which, what a cut-off program leaves, and how long it is kept."""

import json
import os

import pytest
from msgspec import structs

from skales.core.errors import ConflictError, NotFoundError
from skales.core.ids import SessionId
from skales.data.outbox import OPEN_STATES, Draft, Intent, OutboxState, OutboxStore, content_of
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from tests.conftest import CountingIds, FixedClock

CHAT = SessionId("session_1")
DRAFT = Draft(
    session_id=CHAT, conversation=CHAT, call_id="call_1", tool="send", arguments={"to": "ana"}, action="Send to ana"
)
DAY_S = 24 * 60 * 60


@pytest.fixture
def store(home: DataDirectory, clock: FixedClock, ids: CountingIds) -> OutboxStore:
    return OutboxStore(home, Quarantine(home.quarantine, clock), clock, ids)


def left_behind(store: OutboxStore, *, ran: bool = True, alone: bool = True, alive: bool = False) -> None:
    store.recover(is_alone=alone, is_alive=lambda _process: alive, was_let_run=lambda _intent: ran)


def as_another_process(home: DataDirectory, intent: Intent) -> None:
    path = home.outbox / f"{intent.id}.json"
    value = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**value, "process": os.getpid() + 1}), encoding="utf-8")


def test_an_intent_is_on_disk_for_its_owner_alone_and_read_back_whole(store: OutboxStore, home: DataDirectory) -> None:
    intent = store.intend(DRAFT)
    (path,) = home.outbox.iterdir()
    assert path.stat().st_mode & 0o777 == 0o600
    assert home.outbox in home.private
    assert (store.get(intent.id), store.list()) == (intent, [intent])
    assert (intent.state, intent.draft) == (OutboxState.INTENDED, DRAFT)


def test_the_same_content_has_another_key_each_time(store: OutboxStore, clock: FixedClock) -> None:
    first = store.intend(DRAFT)
    clock.advance(1)
    second = store.intend(DRAFT)
    assert first.content == second.content
    assert first.key != second.key


@pytest.mark.parametrize(
    ("other", "is_same"),
    [
        (content_of(CHAT, "send", {"a": 1, "b": [2]}), True),
        (content_of(CHAT, "send", {"b": [2], "a": 1}), True),
        (content_of(SessionId("session_2"), "send", {"a": 1, "b": [2]}), False),
        (content_of(CHAT, "post", {"a": 1, "b": [2]}), False),
        (content_of(CHAT, "send", {"a": "1", "b": [2]}), False),
        (content_of(CHAT, "send", {"a": 1, "b": [2], "c": "\ud800"}), False),
    ],
)
def test_content_is_told_apart(other: str, is_same: bool) -> None:
    assert (content_of(CHAT, "send", {"a": 1, "b": [2]}) == other) is is_same


def test_a_state_is_left_only_from_where_it_may_be(store: OutboxStore) -> None:
    intent = store.intend(DRAFT)
    store.move(intent.id, OPEN_STATES, OutboxState.SENT)
    with pytest.raises(ConflictError, match="it is sent"):
        store.move(intent.id, OPEN_STATES, OutboxState.FAILED)
    with pytest.raises(ConflictError):
        store.take_up(intent.id, "page")
    assert store.get(intent.id).state is OutboxState.SENT


def test_sending_again_keeps_the_key_and_is_for_one_caller(store: OutboxStore) -> None:
    intent = store.intend(DRAFT)
    store.move(intent.id, OPEN_STATES, OutboxState.MAYBE, note="It broke off")
    again = store.take_up(intent.id, "page")
    assert again == structs.replace(intent, attempts=2, by="page")
    with pytest.raises(ConflictError):
        store.take_up(intent.id, "cli")
    # The doubt about the first attempt outlives a crash of the second one, wherever that happens.
    left_behind(store, ran=False)
    assert store.get(intent.id).state is OutboxState.MAYBE


@pytest.mark.parametrize(
    ("begun", "ran", "state"),
    [
        (False, False, OutboxState.FAILED),
        (False, True, OutboxState.MAYBE),
        (True, True, OutboxState.MAYBE),
        (True, False, OutboxState.MAYBE),
    ],
)
def test_what_a_cut_off_program_left_is_unsure_unless_it_was_never_let_run(
    store: OutboxStore, begun: bool, ran: bool, state: OutboxState
) -> None:
    intent = store.intend(DRAFT)
    if begun:
        store.move(intent.id, OPEN_STATES, OutboxState.SENDING)
    left_behind(store, ran=ran)
    assert store.get(intent.id).state is state
    assert [found.id for found in store.unsure()] == ([intent.id] if state is OutboxState.MAYBE else [])


@pytest.mark.parametrize(("alive", "state"), [(True, OutboxState.INTENDED), (False, OutboxState.MAYBE)])
def test_what_another_program_sends_at_this_moment_is_left_to_it(
    store: OutboxStore, home: DataDirectory, alive: bool, state: OutboxState
) -> None:
    intent = store.intend(DRAFT)
    as_another_process(home, intent)
    left_behind(store, alone=False, alive=alive)
    assert store.get(intent.id).state is state
    left_behind(store, alone=True, alive=True)
    assert store.get(intent.id).state is OutboxState.MAYBE


def test_settled_ones_go_after_a_month_and_doubts_stay(store: OutboxStore, clock: FixedClock) -> None:
    sent, unsure = store.intend(DRAFT), store.intend(DRAFT)
    store.move(sent.id, OPEN_STATES, OutboxState.SENT)
    store.move(unsure.id, OPEN_STATES, OutboxState.MAYBE)
    clock.advance(29 * DAY_S)
    left_behind(store)
    assert len(store.list()) == 2
    clock.advance(2 * DAY_S)
    left_behind(store)
    assert store.list() == [store.get(unsure.id)]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"state": "sent"}', '{"state": "eaten", "key": "k", "content": "c"}'])
def test_a_broken_file_costs_itself_alone(
    store: OutboxStore, home: DataDirectory, clock: FixedClock, text: str
) -> None:
    kept = store.intend(DRAFT)
    (home.outbox / "out_broken.json").write_text(text, encoding="utf-8")
    clock.moment_ms += 10**12
    assert store.list() == [kept]
    with pytest.raises(NotFoundError):
        store.get("out_broken")


@pytest.mark.parametrize("wrong", ["", "../grants", "out_none", "a/b"])
def test_an_id_from_outside_names_nothing_else(store: OutboxStore, wrong: str) -> None:
    for ask in (store.get, lambda name: store.take_up(name, "page")):
        with pytest.raises(NotFoundError):
            ask(wrong)


def test_keys_of_others_in_the_file_survive(store: OutboxStore, home: DataDirectory) -> None:
    intent = store.intend(DRAFT)
    path = home.outbox / f"{intent.id}.json"
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), "colour": "red"}), encoding="utf-8")
    store.move(intent.id, OPEN_STATES, OutboxState.SENT)
    assert json.loads(path.read_text(encoding="utf-8"))["colour"] == "red"
