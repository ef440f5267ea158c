"""The schedule's tools: make, list, delete; what is no schedule is refused in words."""

from datetime import UTC, datetime

import pytest

from skales.core.errors import ToolError
from skales.core.json import JsonValue
from skales.core.tool import Effect, Safety
from skales.data.cron import CronStore
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.tools.registry import BuiltinToolbox
from tests.conftest import CountingIds, FixedClock
from tests.tools.conftest import Call

pytestmark = pytest.mark.anyio


@pytest.fixture
def store(home: DataDirectory, clock: FixedClock, ids: CountingIds) -> CronStore:
    return CronStore(home, Quarantine(home.quarantine, clock), clock, ids, zone=lambda: "Europe/Berlin")


@pytest.mark.parametrize(
    ("name", "category", "safety", "effects"),
    [
        ("schedule_recurring_task", "automation", Safety.CONFIRM, {Effect.WRITES}),
        ("delete_scheduled_task", "automation", Safety.CONFIRM, {Effect.WRITES, Effect.DESTRUCTIVE}),
        ("list_scheduled_tasks", "core", Safety.AUTO, {Effect.READS_PRIVATE}),
    ],
)
def test_the_tools_have_the_rules_of_the_contract(
    toolbox: BuiltinToolbox, name: str, category: str, safety: Safety, effects: set[Effect]
) -> None:
    spec = toolbox.find(name)
    assert spec is not None
    assert (spec.category, spec.safety, spec.effects) == (category, safety, frozenset(effects))


async def test_a_job_is_made_in_the_persons_zone_and_listed_with_its_next_time(
    call: Call, store: CronStore, clock: FixedClock
) -> None:
    clock.moment_ms = int(datetime(2031, 6, 2, 5, tzinfo=UTC).timestamp() * 1000)
    made = await call("schedule_recurring_task", name="Mail", schedule="0 9 * * 1-5", task="Count my mail")
    (job,) = store.list()
    assert (job.name, job.schedule, job.task, job.zone, job.enabled) == (
        "Mail",
        "0 9 * * 1-5",
        "Count my mail",
        "Europe/Berlin",
        True,
    )
    assert made.text == (
        f"Scheduled as {job.id}: Mail, weekdays at 9:00 (Europe/Berlin), next on Monday, 2031-06-02 09:00."
    )
    listed = await call("list_scheduled_tasks")
    assert "weekdays at 9:00, Europe/Berlin, next on Monday, 2031-06-02 09:00" in listed.text
    assert listed.summary == "1 scheduled task"
    row: dict[str, JsonValue] = {"id": job.id, "name": "Mail", "schedule": "0 9 * * 1-5", "timezone": "Europe/Berlin"}
    row |= {"task": "Count my mail", "enabled": True, "next": "2031-06-02T09:00:00+02:00"}
    assert listed.data == {"tasks": [row]}
    store.switch(job.id, enabled=False)
    off = await call("list_scheduled_tasks")
    assert ", off, id" in off.text
    assert off.data == {"tasks": [{**row, "enabled": False, "next": None}]}


async def test_the_same_twice_is_one_job(call: Call, store: CronStore) -> None:
    first = await call("schedule_recurring_task", name="Mail", schedule="0  9 * * *", task="Count")
    second = await call("schedule_recurring_task", name=" Mail ", schedule="0 9 * * *", task="Count\n")
    assert first.data == second.data
    assert len(store.list()) == 1


@pytest.mark.parametrize(
    ("schedule", "words"), [("60 * * * *", "minute"), ("0 9 * *", "4 fields"), ("at nine", "2 fields")]
)
async def test_what_is_no_schedule_is_refused_and_nothing_is_stored(
    call: Call, store: CronStore, schedule: str, words: str
) -> None:
    with pytest.raises(ToolError, match="Invalid cron expression") as refused:
        await call("schedule_recurring_task", name="Mail", schedule=schedule, task="Count")
    assert words in refused.value.hint
    assert not store.list()


async def test_a_job_needs_a_name_and_a_task(call: Call, store: CronStore) -> None:
    with pytest.raises(ToolError, match="required"):
        await call("schedule_recurring_task", name=" ", schedule="0 9 * * *", task="Count")
    assert not store.list()


async def test_a_job_is_deleted_by_its_id_only(call: Call, store: CronStore) -> None:
    job = store.add("Mail", "0 9 * * *", "Count")
    for wrong in ("1-2", "../settings", "", "Mail"):
        with pytest.raises(ToolError, match="No scheduled task with id"):
            await call("delete_scheduled_task", id=wrong)
    assert (await call("delete_scheduled_task", id=job.id)).summary == "Deleted Mail"
    assert not store.list()
    assert (await call("list_scheduled_tasks")).text == "Nothing is scheduled."
