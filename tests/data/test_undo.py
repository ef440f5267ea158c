"""The store of the undo timeline: order, the size cap, broken files, contents by their hash."""

import io
from pathlib import Path

import pytest

from skales.core.clock import SystemClock
from skales.core.errors import NotFoundError, StorageError
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.undo import UndoStore
from skales.data.undo_shape import ABSENT, Area, Kind, State, UndoItem, UndoStep
from tests.conftest import CountingIds, FixedClock

MEGABYTE = 1024 * 1024


@pytest.fixture
def store(home: DataDirectory, clock: FixedClock, ids: CountingIds) -> UndoStore:
    return UndoStore(home, Quarantine(home.quarantine, SystemClock()), clock, ids, lambda: 16)


def add(store: UndoStore, content: bytes) -> UndoStep:
    digest = store.blobs.keep(io.BytesIO(content))
    state = State(Kind.FILE, 0o644, 1, len(content), digest, is_kept=True)
    step = UndoStep(
        id=store.new_id(), when_ms=1, tool="t", summary="s", items=(UndoItem(Area.FILE, "/x", state, ABSENT),)
    )
    store.write(step)
    return step


def content_of(store: UndoStore, step: UndoStep) -> bytes:
    target = io.BytesIO()
    store.blobs.copy(step.items[0].before.digest, target)
    return target.getvalue()


def test_steps_come_newest_first_also_within_a_millisecond(store: UndoStore) -> None:
    made = [add(store, bytes([number])).id for number in range(30)]
    assert [step.id for step in store.recent(10)] == made[::-1][:10]
    assert [step.id for step in store.recent(5, before=made[20])] == made[15:20][::-1]
    assert store.get(made[3]).items[0].before.size_bytes == 1


def test_the_oldest_go_first_and_nothing_that_remains_is_broken(store: UndoStore) -> None:
    shared = add(store, b"s" * 3 * MEGABYTE)
    steps = [add(store, bytes([number]) * 3 * MEGABYTE) for number in range(6)]
    again = add(store, b"s" * 3 * MEGABYTE)
    store.trim()
    left = store.recent()
    assert left[0].id == again.id
    assert 0 < len(left) < 8
    assert [step.id for step in left] == [step.id for step in [shared, *steps, again][::-1][: len(left)]]
    assert all(content_of(store, step) for step in left)
    assert store.blobs.size_bytes() <= 16 * MEGABYTE
    with pytest.raises(NotFoundError):
        store.get(shared.id)


def test_what_a_running_call_keeps_survives_the_sweep(store: UndoStore) -> None:
    digest = store.blobs.keep(io.BytesIO(b"mine"))
    store.pin("running", frozenset({digest}))
    for number in range(8):
        add(store, bytes([number]) * 3 * MEGABYTE)
    store.trim()
    assert store.blobs.has(digest)
    store.unpin("running")
    add(store, b"z" * 12 * MEGABYTE)
    store.trim()
    assert not store.blobs.has(digest)


def test_a_broken_step_costs_itself_alone(store: UndoStore, home: DataDirectory) -> None:
    step, other = add(store, b"1"), add(store, b"2")
    path = home.undo / "steps" / f"{step.id}.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"kind":"file"', '"kind":"spoon"'), encoding="utf-8")
    (home.undo / "steps" / "9999999999999-x.json").write_text("{", encoding="utf-8")
    assert [found.id for found in store.recent()] == [other.id]


@pytest.mark.parametrize("step_id", ["", "../settings", "a/b", "nobody"])
def test_only_steps_are_found(store: UndoStore, step_id: str) -> None:
    with pytest.raises(NotFoundError):
        store.get(step_id)


def test_a_content_that_is_no_longer_what_it_was_is_not_put_back(store: UndoStore, home: DataDirectory) -> None:
    step = add(store, b"whole")
    (found,) = [path for path in Path(home.undo / "blobs").rglob("*") if path.is_file()]
    found.write_bytes(b"who")
    with pytest.raises(StorageError, match="no longer kept"):
        content_of(store, step)
