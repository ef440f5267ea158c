"""create_task files work for later, list_tasks shows it with its state."""

import pytest

from skales.core.errors import ToolError
from skales.core.json import as_list, as_object, as_text
from skales.core.tool import Effect, Safety
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.tasks import TaskStatus, TaskStore
from skales.tools.core.tasks import StatusFilter
from skales.tools.registry import BuiltinToolbox
from tests.conftest import CountingIds, FixedClock
from tests.tools.conftest import Call, ScriptedWork

pytestmark = pytest.mark.anyio


@pytest.fixture
def store(home: DataDirectory, clock: FixedClock, ids: CountingIds) -> TaskStore:
    return TaskStore(home, Quarantine(home.quarantine, clock), clock, ids)


@pytest.mark.parametrize(("name", "effect"), [("create_task", Effect.WRITES), ("list_tasks", Effect.READS_PRIVATE)])
def test_task_tools_are_automatic_and_say_what_they_touch(toolbox: BuiltinToolbox, name: str, effect: Effect) -> None:
    spec = toolbox.find(name)
    assert spec is not None
    assert (spec.category, spec.safety, spec.effects) == ("core", Safety.AUTO, frozenset({effect}))


def test_every_state_of_a_task_can_be_asked_for() -> None:
    assert {status.value for status in TaskStatus} | {"all"} == {status.value for status in StatusFilter}


async def test_task_is_filed_and_listed(call: Call, store: TaskStore) -> None:
    filed = await call("create_task", title="Compare offers", description="Price and warranty", priority="high")
    task_id = as_text(as_object(filed.data)["id"])
    assert filed.text == f"Filed as {task_id}: Compare offers (pending, high priority)"
    assert store.get(task_id).description == "Price and warranty"
    listed = await call("list_tasks")
    assert listed.text.startswith("- Compare offers [pending, high priority, filed 2031-02-2")
    assert listed.text.endswith(f", id {task_id}]")
    assert listed.summary == "1 task"
    assert as_object(listed.data)["total"] == 1
    (row,) = [as_object(row) for row in as_list(as_object(listed.data)["tasks"])]
    assert (row["id"], row["title"], row["status"], row["error"]) == (task_id, "Compare offers", "pending", None)
    assert (await call("list_tasks", status="failed")).data == {"tasks": [], "total": 0}


async def test_list_shows_one_state_with_results_and_errors(call: Call, store: TaskStore) -> None:
    done, failed, _waiting = (store.add(title) for title in ("Done", "Failed", "Waiting"))
    store.update(done.id, status="completed", result="It\nwas " + "x" * 400)
    store.update(failed.id, status="failed", error="No network")
    completed = (await call("list_tasks", status="completed")).text
    assert completed.splitlines()[1] == f"  Result: It was {'x' * 293}…"
    assert (await call("list_tasks", status="failed")).text.splitlines()[1] == "  Error: No network"
    assert (await call("list_tasks", status="pending")).summary == "1 pending task"
    assert (await call("list_tasks")).summary == "3 tasks"


async def test_long_list_says_what_it_leaves_out(call: Call, store: TaskStore, clock: FixedClock) -> None:
    for number in range(3):
        clock.advance(1)
        store.add(f"Task {number}")
    text = (await call("list_tasks", limit=1)).text
    assert text.startswith("- Task 2 ")
    assert text.endswith("\n2 older ones are not shown.")


async def test_empty_list_says_so(call: Call) -> None:
    assert (await call("list_tasks")).text == "There are no tasks."
    assert (await call("list_tasks", status="running")).text == "There are no running tasks."


async def test_task_without_a_title_is_refused(call: Call) -> None:
    with pytest.raises(ToolError, match="A task needs a title"):
        await call("create_task", title=" ")


async def test_a_task_is_deleted_by_its_id(call: Call, store: TaskStore) -> None:
    task = store.add("Sort")
    assert (await call("delete_task", id=f" {task.id} ")).summary == "Deleted the task"
    assert not store.list()
    with pytest.raises(ToolError, match="There is no task"):
        await call("delete_task", id=task.id)


async def test_where_work_must_not_multiply_no_task_is_filed(call: Call, store: TaskStore, work: ScriptedWork) -> None:
    work.refusal = ToolError("A task cannot file tasks")
    with pytest.raises(ToolError, match="A task cannot file tasks"):
        await call("create_task", title="More")
    assert not store.list()
