"""Scheduled jobs on disk: made once, changed one key at a time, read forgivingly; and the log of their runs."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from skales.core.errors import InputError, NotFoundError
from skales.data.cron import CronStore, job_json
from skales.data.cron_runs import JobRun, RunKind, RunLog, RunStatus
from skales.data.document import write_object
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from tests.conftest import CountingIds, FixedClock


@pytest.fixture
def quarantine(home: DataDirectory, clock: FixedClock) -> Quarantine:
    return Quarantine(home.quarantine, clock)


@pytest.fixture
def store(home: DataDirectory, quarantine: Quarantine, clock: FixedClock, ids: CountingIds) -> CronStore:
    return CronStore(home, quarantine, clock, ids, zone=lambda: "Europe/Berlin")


@pytest.fixture
def log(home: DataDirectory, quarantine: Quarantine) -> RunLog:
    return RunLog(home, quarantine)


def on_disk(home: DataDirectory, job_id: str) -> Mapping[str, Any]:
    value: Mapping[str, Any] = json.loads((home.cron / f"{job_id}.json").read_text(encoding="utf-8"))
    return value


def test_a_new_job_is_on_disk_in_the_contracts_shape(store: CronStore, home: DataDirectory, clock: FixedClock) -> None:
    job = store.add(" Morning\n summary ", " 0  9 * * * ", " Sum up ", agent="writer", session_id="session_1")
    now_ms = clock.now_ms()
    assert job.id == f"{now_ms}-00000001"
    assert list(on_disk(home, job.id).items()) == [
        ("id", job.id),
        ("createdAt", now_ms),
        ("name", "Morning summary"),
        ("schedule", "0 9 * * *"),
        ("task", "Sum up"),
        ("agent", "writer"),
        ("sessionId", "session_1"),
        ("enabled", True),
        ("timezone", "Europe/Berlin"),
    ]
    assert store.get(job.id) == job
    assert job_json(job) == on_disk(home, job.id)


@pytest.mark.parametrize("other", ["name", "schedule", "task", "agent"])
def test_only_an_identical_job_is_returned_instead_of_a_copy(store: CronStore, other: str) -> None:
    given = {"name": "Mail", "schedule": "0 9 * * *", "task": "Count", "agent": "writer"}
    first = store.add(**given)
    assert store.add(**given) == first
    given[other] = "0 8 * * *" if other == "schedule" else "else"
    assert store.add(**given).id != first.id
    assert len(store.list()) == 2


@pytest.mark.parametrize("missing", ["name", "schedule", "task"])
def test_name_schedule_and_task_are_needed(store: CronStore, home: DataDirectory, missing: str) -> None:
    given = {"name": "Mail", "schedule": "0 9 * * *", "task": "Count"} | {missing: " \n"}
    with pytest.raises(InputError, match="name, schedule, and task are required"):
        store.add(**given)
    assert not home.cron.exists()


def test_unknown_keys_survive_each_change(store: CronStore, home: DataDirectory, clock: FixedClock) -> None:
    write_object(home.cron / "a.json", {"name": "A", "schedule": "0 9 * * *", "task": "x", "colour": "red"})
    store.switch("a", enabled=False)
    clock.advance(60)
    store.switch("a", enabled=True)
    store.mark_started("a")
    store.mark_ended("a", failed=True, pause_after=3, reason="why")
    after = store.get("a")
    assert on_disk(home, "a")["colour"] == "red"
    assert (after.enabled_ms, after.last_run_ms, after.failures) == (clock.now_ms(), clock.now_ms(), 1)
    assert (after.id, after.zone, after.enabled) == ("a", "Europe/Berlin", True)


def test_a_job_that_is_on_already_is_not_switched_on_anew(store: CronStore, clock: FixedClock) -> None:
    job = store.add("Mail", "0 9 * * *", "Count")
    clock.advance(60)
    assert store.switch(job.id, enabled=True).enabled_ms == 0


def test_failures_in_a_row_pause_and_a_success_between_starts_again(store: CronStore) -> None:
    job = store.add("Mail", "0 9 * * *", "Count")
    for failed in (True, True, False, True, True):
        assert store.mark_ended(job.id, failed=failed, pause_after=3, reason="why").enabled
    paused = store.mark_ended(job.id, failed=True, pause_after=3, reason="why")
    assert (paused.enabled, paused.paused_reason) == (False, "why")


def test_each_change_is_told(store: CronStore) -> None:
    told: list[str] = []
    store.changed = lambda: told.append("changed")
    job = store.add("Mail", "0 9 * * *", "Count")
    store.switch(job.id, enabled=False)
    assert store.delete(job.id)
    assert not store.delete(job.id)
    assert len(told) == 3


@pytest.mark.parametrize("job_id", ["nope", "", "../settings", "a/b", ".."])
def test_an_id_that_names_no_job_is_not_found(store: CronStore, job_id: str) -> None:
    for act in (store.get, store.mark_started):
        with pytest.raises(NotFoundError, match="No scheduled task with id"):
            act(job_id)
    assert not store.delete(job_id)


def test_a_file_that_is_no_job_costs_itself_alone(
    store: CronStore, home: DataDirectory, quarantine: Quarantine
) -> None:
    good = store.add("Mail", "0 9 * * *", "Count")
    write_object(home.cron / "b.json", {"name": "B", "schedule": "sometimes", "task": "x"})
    write_object(home.cron / "c.json", {"name": "C"})
    (home.cron / "d.json").write_text("{", encoding="utf-8")
    assert [job.id for job in store.list()] == [good.id]
    assert {notice.path.name for notice in quarantine.notices()} >= {"b.json", "c.json"}


def test_runs_are_kept_newest_first_and_at_most_a_hundred(log: RunLog) -> None:
    for number in range(1, 121):
        log.record("a", JobRun(started_ms=number, kind=RunKind.SCHEDULED, planned_ms=number, missed=1))
    runs = log.runs("a")
    assert [run.started_ms for run in (runs[0], runs[-1])] == [120, 21]
    assert len(runs) == 100


def test_the_end_of_a_run_takes_the_place_of_its_beginning(log: RunLog) -> None:
    log.record("a", JobRun(started_ms=1, kind=RunKind.BY_HAND))
    ended = JobRun(
        started_ms=1,
        kind=RunKind.BY_HAND,
        status=RunStatus.FAILED,
        ended_ms=5,
        session_id="session_1",
        error="No network",
    )
    log.record("a", ended)
    assert log.runs("a") == (ended,)


def test_a_broken_log_starts_over_and_is_set_aside(log: RunLog, home: DataDirectory) -> None:
    home.cron_runs.mkdir(parents=True)
    (home.cron_runs / "a.json").write_text('{"runs": [{"kind": "odd"}, 7, {}]}', encoding="utf-8")
    assert log.runs("a") == ()
    (home.cron_runs / "b.json").write_text("[", encoding="utf-8")
    log.record("b", JobRun(started_ms=1, kind=RunKind.BY_HAND))
    assert len(log.runs("b")) == 1
    log.forget("b")
    assert log.runs("b") == ()
