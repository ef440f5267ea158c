import json

import pytest

from skales.core.errors import BrokenDocumentError, ConflictError, InputError, NotFoundError
from skales.core.json import JsonObject
from skales.data.document import write_object
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.tasks import Task, TaskChanges, TaskPriority, TaskStatus, TaskStore, task_json
from tests.conftest import CountingIds, FixedClock


@pytest.fixture
def quarantine(home: DataDirectory, clock: FixedClock) -> Quarantine:
    return Quarantine(home.quarantine, clock)


@pytest.fixture
def store(home: DataDirectory, quarantine: Quarantine, clock: FixedClock, ids: CountingIds) -> TaskStore:
    return TaskStore(home, quarantine, clock, ids)


def on_disk(home: DataDirectory, task_id: str) -> object:
    return json.loads((home.tasks / f"{task_id}.json").read_text(encoding="utf-8"))


def test_a_new_task_waits_and_is_on_disk(store: TaskStore, home: DataDirectory, clock: FixedClock) -> None:
    task = store.add("  Sort the\n inbox ", "Newsletters last", "high", agent="researcher")
    now_ms = clock.now_ms()
    assert task == Task(
        id=f"task_{now_ms}_00000001",
        title="Sort the inbox",
        description="Newsletters last",
        status=TaskStatus.PENDING,
        priority=TaskPriority.HIGH,
        agent="researcher",
        created_ms=now_ms,
    )
    assert store.get(task.id) == task
    assert on_disk(home, task.id) == {
        "id": task.id,
        "title": "Sort the inbox",
        "description": "Newsletters last",
        "status": "pending",
        "priority": "high",
        "agent": "researcher",
        "createdAt": now_ms,
        "logs": [],
    }
    assert task_json(task) == on_disk(home, task.id)


def test_description_and_priority_may_be_left_out(store: TaskStore) -> None:
    task = store.add("Sort the inbox")
    assert (task.description, task.priority, task.agent) == ("", TaskPriority.MEDIUM, "")
    assert "agent" not in task_json(task)


@pytest.mark.parametrize(
    ("title", "priority", "words"),
    [("", "low", "A task needs a title"), (" \n", "low", "A task needs a title"), ("x", "urgent", "low, medium, high")],
)
def test_a_task_that_cannot_be_is_refused(
    store: TaskStore, home: DataDirectory, title: str, priority: str, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        store.add(title, "", priority)
    assert not home.tasks.exists()


def test_tasks_come_newest_first_and_by_status(store: TaskStore, clock: FixedClock) -> None:
    old = store.add("old")
    clock.advance(1)
    new = store.add("new")
    assert store.list() == [new, old]
    running = store.update(old.id, status="running")
    assert store.list("running") == [running]
    assert store.list(TaskStatus.PENDING) == [new]
    assert store.list("failed") == []
    with pytest.raises(InputError, match="pending, running, completed, failed, cancelled"):
        store.list("done")


@pytest.mark.parametrize("over", ["completed", "failed", "cancelled"])
def test_the_times_follow_from_the_status(store: TaskStore, clock: FixedClock, over: str) -> None:
    task = store.add("Sort the inbox")
    clock.advance(5)
    running = store.update(task.id, status="running")
    assert (running.started_ms, running.completed_ms) == (clock.now_ms(), 0)
    started_ms = running.started_ms
    clock.advance(5)
    ended = store.update(task.id, status=over, result="12 sorted", error="1 left")
    assert (ended.status, ended.started_ms, ended.completed_ms) == (over, started_ms, clock.now_ms())
    assert (ended.result, ended.error) == ("12 sorted", "1 left")


def test_a_change_keeps_keys_nobody_here_knows(store: TaskStore, home: DataDirectory) -> None:
    write_object(home.tasks / "t1.json", {"title": "a", "status": "pending", "subtaskIds": ["x"], "logs": [{"t": 1}]})
    task = store.update("t1", title=" b  c ", description="d", priority="low", agent="e")
    assert (task.title, task.description, task.priority, task.agent) == ("b c", "d", "low", "e")
    assert on_disk(home, "t1") == {
        "title": "b c",
        "status": "pending",
        "subtaskIds": ["x"],
        "logs": [{"t": 1}],
        "description": "d",
        "priority": "low",
        "agent": "e",
    }


@pytest.mark.parametrize(
    "changes", [TaskChanges(title=" "), TaskChanges(status="done"), TaskChanges(priority="urgent")]
)
def test_a_change_that_cannot_be_writes_nothing(store: TaskStore, home: DataDirectory, changes: TaskChanges) -> None:
    task = store.add("Sort the inbox")
    before = on_disk(home, task.id)
    with pytest.raises(InputError):
        store.update(task.id, **changes)
    assert on_disk(home, task.id) == before


def test_a_deleted_task_is_gone(store: TaskStore) -> None:
    task = store.add("Sort the inbox")
    store.delete(task.id)
    assert store.list() == []
    with pytest.raises(NotFoundError, match=task.id):
        store.delete(task.id)


@pytest.mark.parametrize("task_id", ["task_9", "", "../settings", "a/b", ".x"])
def test_an_unknown_task_is_not_found(store: TaskStore, home: DataDirectory, task_id: str) -> None:
    write_object(home.settings, {"title": "x", "status": "pending"})
    for act in (store.get, store.delete, store.update):
        with pytest.raises(NotFoundError, match="There is no task"):
            act(task_id)
    assert home.settings.exists()


def test_a_task_of_another_program_is_shown_as_it_is(store: TaskStore, home: DataDirectory) -> None:
    foreign: JsonObject = {"id": "other", "title": "a", "status": "blocked", "createdAt": "2026-01-01", "priority": 3}
    write_object(home.tasks / "t1.json", foreign)
    [task] = store.list()
    assert (task.id, task.status, task.priority, task.created_ms) == ("t1", "blocked", "medium", 0)
    assert task_json(task) == {**foreign, "id": "t1"}


def test_broken_and_foreign_files_cost_no_other_task(
    store: TaskStore, home: DataDirectory, quarantine: Quarantine
) -> None:
    task = store.add("Sort the inbox")
    (home.tasks / "broken.json").write_bytes(b"{")
    write_object(home.tasks / "foreign.json", {"name": "not ours"})
    assert store.list() == [task]
    assert {notice.path.name for notice in quarantine.notices()} == {"broken.json", "foreign.json"}
    assert (home.tasks / "foreign.json").exists()
    with pytest.raises(NotFoundError, match="There is no task 'foreign'"):
        store.get("foreign")


def test_asking_for_a_broken_task_says_that_it_is_broken(store: TaskStore, home: DataDirectory) -> None:
    home.tasks.mkdir()
    (home.tasks / "t1.json").write_bytes(b"{")
    with pytest.raises(BrokenDocumentError):
        store.get("t1")


def test_a_run_leaves_its_duration_and_a_new_start_leaves_nothing_of_it(
    store: TaskStore, home: DataDirectory, clock: FixedClock
) -> None:
    task = store.add("Sort")
    store.update(task.id, status="running", session_id="session_1")
    clock.advance(2)
    store.update(task.id, status="failed", error="No network", result="So far")
    failed = store.get(task.id)
    assert (failed.duration_ms, failed.session_id) == (2000, "session_1")
    again = store.start_over(task.id)
    assert again == task
    assert again.raw == task.raw


@pytest.mark.parametrize("status", ["pending", "running"])
def test_only_a_task_that_is_over_starts_over(store: TaskStore, status: str) -> None:
    task = store.add("Sort")
    store.update(task.id, status=status)
    with pytest.raises(ConflictError):
        store.start_over(task.id)
    assert store.get(task.id).status == status


def test_notes_are_kept_with_their_time(store: TaskStore, clock: FixedClock) -> None:
    task = store.add("Sort")
    store.note(task.id, "first")
    clock.advance(1)
    store.note(task.id, "second")
    assert store.get(task.id).raw["logs"] == [
        {"timestamp": clock.now_ms() - 1000, "message": "first"},
        {"timestamp": clock.now_ms(), "message": "second"},
    ]


def test_each_change_is_told(store: TaskStore) -> None:
    told: list[str] = []
    store.changed = lambda: told.append("changed")
    task = store.add("Sort")
    store.update(task.id, status="running")
    store.note(task.id, "x")
    store.delete(task.id)
    assert len(told) == 4
