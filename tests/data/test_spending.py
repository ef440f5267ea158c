"""Running totals of conversations and of the day: added to, kept over a restart, begun anew at midnight."""

import pytest
from msgspec import structs

from skales.core.errors import StorageError
from skales.core.ids import SessionId
from skales.data.document import Stamp, read_stamped
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.spending import Spending, SpendingStore
from tests.conftest import FixedClock

ONE, TWO = SessionId("session_1"), SessionId("session_2")


def open_store(home: DataDirectory, clock: FixedClock) -> SpendingStore:
    return SpendingStore(home, Quarantine(home.quarantine, clock), clock)


def test_nothing_is_spent_at_first_and_looking_writes_nothing(home: DataDirectory, clock: FixedClock) -> None:
    store = open_store(home, clock)
    assert (store.of_session(ONE), store.today()) == (Spending(), Spending())
    assert not home.costs.exists()


def test_a_call_counts_for_its_conversation_and_for_the_day(home: DataDirectory, clock: FixedClock) -> None:
    store = open_store(home, clock)
    store.add(ONE, 0.5)
    store.add(TWO, 0.25)
    store.add(SessionId(""), 1.0)
    again = open_store(home, clock)
    assert (again.of_session(ONE).spent_usd, again.of_session(TWO).spent_usd) == (0.5, 0.25)
    assert again.today().spent_usd == 1.75


def test_a_new_day_begins_with_nothing_and_conversations_go_on(home: DataDirectory, clock: FixedClock) -> None:
    store = open_store(home, clock)
    store.add(ONE, 0.5)
    store.change_today(lambda before: structs.replace(before, extra_usd=5, asked_at_half=True))
    clock.advance(86_400)
    assert store.today() == Spending()
    store.add(ONE, 0.25)
    assert (store.today().spent_usd, store.today().extra_usd) == (0.25, 0.0)
    assert store.of_session(ONE).spent_usd == 0.75


def test_what_was_answered_is_kept_beside_what_is_spent(home: DataDirectory, clock: FixedClock) -> None:
    store = open_store(home, clock)
    store.add(ONE, 0.5)
    store.change_session(ONE, lambda before: structs.replace(before, extra_usd=5, asked_at_half=True))
    assert open_store(home, clock).of_session(ONE) == Spending(spent_usd=0.5, extra_usd=5.0, asked_at_half=True)


def test_a_broken_total_is_set_aside_and_counted_from_zero(home: DataDirectory, clock: FixedClock) -> None:
    (home.costs / "sessions").mkdir(parents=True)
    path = home.costs / "sessions" / "session_1.json"
    path.write_text("{", encoding="utf-8")
    store = open_store(home, clock)
    assert store.of_session(ONE) == Spending()
    path.write_text("[]", encoding="utf-8")
    store.add(ONE, 0.5)
    assert store.of_session(ONE).spent_usd == 0.5
    assert any(home.quarantine.iterdir())


def test_an_id_that_could_leave_the_folder_touches_no_file(home: DataDirectory, clock: FixedClock) -> None:
    store = open_store(home, clock)
    store.add(SessionId("../settings"), 1.0)
    assert store.of_session(SessionId("../settings")) == Spending()
    assert not home.settings.exists()
    assert not (home.costs / "settings.json").exists()


def test_a_total_that_cannot_be_written_is_told(home: DataDirectory, clock: FixedClock) -> None:
    home.costs.write_text("not a folder", encoding="utf-8")
    with pytest.raises(StorageError):
        open_store(home, clock).add(ONE, 1.0)


def test_what_another_program_spends_counts_too(home: DataDirectory, clock: FixedClock) -> None:
    store, other = open_store(home, clock), open_store(home, clock)
    store.add(ONE, 0.5)
    assert store.of_session(ONE).spent_usd == 0.5
    other.add(ONE, 0.25)
    other.add(ONE, 0.125)
    assert (store.of_session(ONE).spent_usd, store.today().spent_usd) == (0.875, 0.875)


def test_two_calls_within_one_tick_of_the_file_system_both_count(
    home: DataDirectory, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skales.data.records.stamp_of", lambda _path: Stamp(1, 1))
    monkeypatch.setattr(
        "skales.data.records.read_stamped", lambda path, quarantine: (read_stamped(path, quarantine)[0], Stamp(1, 1))
    )
    store = open_store(home, clock)
    for _ in range(3):
        store.add(ONE, 0.25)
        store.of_session(ONE)
    assert (store.of_session(ONE).spent_usd, store.today().spent_usd) == (0.75, 0.75)
