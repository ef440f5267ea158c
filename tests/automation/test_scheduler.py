"""Scheduled jobs on a clock that tests move: on time, once, caught up, paused, by hand."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import anyio
import pytest

from skales.app.app import App
from skales.app.notices import Subject
from skales.core.errors import ConflictError, NotFoundError, ProviderError, ProviderFault
from skales.core.ids import SessionId
from skales.data.cron import Job
from skales.data.cron_runs import JobRun, RunKind, RunStatus
from skales.data.cron_times import first_run_ms
from skales.data.document import write_object
from skales.data.paths import DataDirectory
from tests.automation.conftest import OpenApp, at, said_to, until
from tests.conftest import CASES, FixedClock
from tests.scripted import Hang, ScriptedProvider, says

pytestmark = pytest.mark.anyio

CASE: Mapping[str, Any] = json.loads((CASES / "cron" / "CRN-03-missed-runs.json").read_text(encoding="utf-8"))
EXPECTED: Mapping[str, Any] = json.loads(
    (CASES / "cron" / "CRN-03-missed-runs.expected.json").read_text(encoding="utf-8")
)
BROKEN = [ProviderError("No network", fault=ProviderFault.STREAM_CUT)]


def put_job(home: DataDirectory, job_id: str, schedule: str, **more: Any) -> None:
    """A job's file as another program may have written it."""
    value = {"id": job_id, "name": job_id, "schedule": schedule, "task": f"do {job_id}", "timezone": "Europe/Berlin"}
    write_object(home.cron / f"{job_id}.json", {**value, **more})


def put_case(home: DataDirectory) -> None:
    for entry in CASE["jobs"]:
        moments = {key: at(entry[key]) for key in ("lastRun", "createdAt") if key in entry}
        put_job(home, entry["id"], entry["schedule"], enabled=entry.get("enabled", True), **moments)


def runs_of(app: App, job_id: str) -> list[JobRun]:
    return list(app.job_runs.runs(job_id))


def is_over(app: App, job_id: str, count: int) -> bool:
    runs = runs_of(app, job_id)
    return len(runs) == count and all(run.status is not RunStatus.RUNNING for run in runs)


async def look_again(app: App) -> None:
    """Let the schedule look twice at what it would do now."""
    for _ in range(2):
        app.scheduler.wake()
        for _turn in range(20):
            await anyio.sleep(0.002)


def next_of(app: App, job_id: str) -> str:
    job = app.cron.get(job_id)
    next_ms = first_run_ms(job.schedule, job.zone, app.clock.now_ms())
    assert next_ms is not None
    return datetime.fromtimestamp(next_ms / 1000, datetime.fromisoformat(CASE["wake_at"]).tzinfo).isoformat()


async def check_case(app: App) -> None:
    """What CRN-03 expects after waking, whichever way it came to sleep."""
    await until(lambda: is_over(app, "brief", 1) and is_over(app, "quarter", 1))
    await look_again(app)
    for job_id, expected in EXPECTED.items():
        if job_id == "also":
            continue
        runs = [run for run in runs_of(app, job_id) if run.kind is not RunKind.BY_HAND]
        assert len(runs) == expected["runs_at_wake"], job_id
        if "next" in expected:
            assert next_of(app, job_id) == expected["next"]
    (brief,), (quarter,) = runs_of(app, "brief"), runs_of(app, "quarter")
    assert (brief.kind, brief.planned_ms, brief.missed) == (
        RunKind.CATCH_UP,
        at(EXPECTED["brief"]["missed"][-1]),
        len(EXPECTED["brief"]["missed"]),
    )
    assert (quarter.kind, quarter.missed) == (RunKind.CATCH_UP, EXPECTED["quarter"]["missed_count"])


async def test_runs_missed_while_the_same_process_slept_are_caught_up_once(
    open_app: OpenApp, home: DataDirectory, clock: FixedClock
) -> None:
    clock.moment_ms = at(CASE["sleep_from"])
    put_case(home)
    async with open_app(says("done")) as app:
        await look_again(app)
        assert not runs_of(app, "quarter")
        clock.moment_ms = at(CASE["wake_at"])
        app.scheduler.wake()
        await check_case(app)


async def test_runs_missed_while_the_app_was_closed_are_caught_up_once(
    open_app: OpenApp, home: DataDirectory, clock: FixedClock
) -> None:
    put_case(home)
    clock.moment_ms = at(CASE["wake_at"])
    async with open_app(says("done")) as app:
        await check_case(app)
    async with open_app(says("done")) as app:
        await check_case(app)


async def test_run_now_before_the_sleep_is_no_scheduled_run(
    open_app: OpenApp, home: DataDirectory, clock: FixedClock
) -> None:
    clock.moment_ms = at("2031-03-10T06:49:00+01:00")
    put_job(home, "brief", "0 7 * * 1-5", lastRun=at("2031-03-07T07:00:10+01:00"))
    async with open_app(says("done")) as app:
        await until(lambda: app.scheduler.is_open)
        await app.scheduler.run_now("brief")
        await until(lambda: is_over(app, "brief", 1))
        clock.moment_ms = at(CASE["wake_at"])
        app.scheduler.wake()
        await until(lambda: is_over(app, "brief", 2))
        caught_up, by_hand = runs_of(app, "brief")
    assert (by_hand.kind, by_hand.planned_ms) == (RunKind.BY_HAND, 0)
    assert (caught_up.kind, caught_up.missed) == (RunKind.CATCH_UP, 3)


async def test_a_job_runs_when_its_time_comes_and_says_what_came_of_it(
    open_app: OpenApp, home: DataDirectory, clock: FixedClock
) -> None:
    clock.moment_ms = at("2031-06-02T08:59:00+02:00")
    provider = ScriptedProvider([says("Three mails.")])
    async with open_app(provider=provider) as app:
        job = app.cron.add("Mail", "0 9 * * *", "Count my mail")
        write_zone(home, job, "Europe/Berlin")
        await look_again(app)
        assert not provider.requests
        clock.moment_ms = at("2031-06-02T09:00:01+02:00")
        app.scheduler.wake()
        await until(lambda: is_over(app, job.id, 1))
        (run,) = runs_of(app, job.id)
        assert (run.kind, run.status, run.missed) == (RunKind.SCHEDULED, RunStatus.DONE, 1)
        session = app.sessions.load(SessionId(run.session_id))
        assert (session.title, session.folder, session.extra["cronJobId"]) == ("Mail", "Schedule", job.id)
        assert app.cron.get(job.id).last_run_ms == clock.moment_ms
        await look_again(app)
        assert len(provider.requests) == 1
    assert said_to(provider, 0).startswith("Count my mail\n")


async def test_a_job_bound_to_a_conversation_runs_there(
    open_app: OpenApp, home: DataDirectory, clock: FixedClock
) -> None:
    async with open_app(says("done"), automation=False) as app:
        session_id = app.sessions.create(title="Log").id
        put_job(home, "bound", "*/5 * * * *", createdAt=clock.moment_ms, sessionId=session_id)
        put_job(home, "lost", "*/5 * * * *", createdAt=clock.moment_ms, sessionId="session_1")
        async with anyio.create_task_group() as group:
            app.start_automation(group)
            clock.advance(301)
            app.scheduler.wake()
            await until(lambda: is_over(app, "bound", 1) and is_over(app, "lost", 1))
            group.cancel_scope.cancel()
        assert runs_of(app, "bound")[0].session_id == session_id
        assert runs_of(app, "lost")[0].session_id not in ("", "session_1", session_id)


async def test_three_failures_in_a_row_pause_a_job_and_say_so(
    open_app: OpenApp, home: DataDirectory, clock: FixedClock
) -> None:
    put_job(home, "mail", "*/15 * * * *", createdAt=clock.moment_ms)
    async with open_app(BROKEN, BROKEN, says("fine"), BROKEN) as app:
        for number in range(1, 7):
            clock.advance(900)
            app.scheduler.wake()
            await until(lambda: is_over(app, "mail", number))  # noqa: B023 - awaited within the round
        await look_again(app)
        paused = app.cron.get("mail")
        assert not paused.enabled
        assert "No network" in paused.paused_reason
        (notice,) = [entry for entry in app.notices.entries() if entry.subject is Subject.PAUSED]
        assert notice.text == "mail"
        clock.advance(9_000)
        await look_again(app)
        assert len(runs_of(app, "mail")) == 6
        # Switched on again it starts afresh: nothing is caught up and no failure counts.
        on = app.cron.switch("mail", enabled=True)
        assert (on.failures, on.paused_reason) == (0, "")
        await look_again(app)
        assert len(runs_of(app, "mail")) == 6
        clock.advance(900)
        app.scheduler.wake()
        await until(lambda: is_over(app, "mail", 7))
        assert app.cron.get("mail").enabled


async def test_at_most_two_jobs_run_at_once_and_none_is_lost(
    open_app: OpenApp, home: DataDirectory, clock: FixedClock
) -> None:
    for name in ("a", "b", "c"):
        put_job(home, name, "*/15 * * * *", createdAt=clock.moment_ms)
    provider = ScriptedProvider([[Hang()], [Hang()], says("done")])
    async with open_app(provider=provider) as app:
        clock.advance(901)
        app.scheduler.wake()
        await until(lambda: len(provider.requests) == 2)
        await look_again(app)
        assert len(provider.requests) == 2
        first = runs_of(app, "a")[0].session_id
        app.turns.stop(SessionId(first))
        await until(lambda: is_over(app, "c", 1))
        assert runs_of(app, "c")[0].status is RunStatus.DONE


async def test_stopping_everything_lets_nothing_that_waits_follow(
    open_app: OpenApp, home: DataDirectory, clock: FixedClock
) -> None:
    for name in ("a", "b", "c"):
        put_job(home, name, "*/15 * * * *", createdAt=clock.moment_ms)
    provider = ScriptedProvider([[Hang()]])
    async with open_app(provider=provider) as app:
        clock.advance(901)
        app.scheduler.wake()
        made = [app.tasks.add(f"task {number}").id for number in range(4)]
        await until(lambda: len(provider.requests) == 4)
        assert await app.stop_all() == 6
        await until(lambda: all(app.tasks.get(task_id).status == "cancelled" for task_id in made))
        await until(lambda: is_over(app, "a", 1) and is_over(app, "b", 1))
        await look_again(app)
        assert len(provider.requests) == 4
        assert not runs_of(app, "c")
        clock.advance(900)
        app.scheduler.wake()
        await until(lambda: len(provider.requests) > 4)


async def test_a_run_that_is_stopped_by_hand_is_no_failure_of_the_job(
    open_app: OpenApp, home: DataDirectory, clock: FixedClock
) -> None:
    put_job(home, "a", "*/15 * * * *", createdAt=clock.moment_ms)
    provider = ScriptedProvider([[Hang()]])
    async with open_app(provider=provider) as app:
        clock.advance(901)
        app.scheduler.wake()
        await until(lambda: bool(provider.requests))
        app.turns.stop(SessionId(runs_of(app, "a")[0].session_id))
        await until(lambda: is_over(app, "a", 1))
        assert runs_of(app, "a")[0].error == "It was stopped"
        assert app.cron.get("a").failures == 0


async def test_a_job_that_still_runs_is_not_started_again(
    open_app: OpenApp, home: DataDirectory, clock: FixedClock
) -> None:
    put_job(home, "a", "* * * * *", createdAt=clock.moment_ms)
    provider = ScriptedProvider([[Hang()], says("done")])
    async with open_app(provider=provider) as app:
        clock.advance(61)
        app.scheduler.wake()
        await until(lambda: bool(provider.requests))
        clock.advance(300)
        await look_again(app)
        assert len(provider.requests) == 1
        with pytest.raises(ConflictError):
            await app.scheduler.run_now("a")
        app.turns.stop(SessionId(runs_of(app, "a")[0].session_id))
        await until(lambda: is_over(app, "a", 2))
        assert (runs_of(app, "a")[0].kind, runs_of(app, "a")[0].missed) == (RunKind.CATCH_UP, 5)


async def test_a_run_that_the_programs_end_cut_off_is_closed_at_the_next_start(
    open_app: OpenApp, home: DataDirectory, clock: FixedClock
) -> None:
    put_job(home, "a", "*/15 * * * *", createdAt=clock.moment_ms)
    provider = ScriptedProvider([[Hang()]])
    async with open_app(provider=provider) as app:
        clock.advance(901)
        app.scheduler.wake()
        await until(lambda: bool(provider.requests))
    async with open_app(says("no")) as app:
        await until(lambda: is_over(app, "a", 1))
        await look_again(app)
        (run,) = runs_of(app, "a")
        assert (run.status, run.error) == (RunStatus.FAILED, "Skales ended while it ran")


async def test_a_clock_that_was_set_back_stops_no_job(
    open_app: OpenApp, home: DataDirectory, clock: FixedClock
) -> None:
    put_job(home, "a", "*/15 * * * *", createdAt=1, lastRun=clock.moment_ms + 10_000_000_000)
    async with open_app(says("done")) as app:
        await until(lambda: app.scheduler.is_open)
        await look_again(app)
        assert not runs_of(app, "a")
        clock.advance(901)
        app.scheduler.wake()
        await until(lambda: is_over(app, "a", 1))


async def test_a_job_with_an_unusable_schedule_costs_itself_alone(
    open_app: OpenApp, home: DataDirectory, clock: FixedClock
) -> None:
    put_job(home, "bad", "whenever", createdAt=clock.moment_ms)
    put_job(home, "zone", "* * * * *", createdAt=clock.moment_ms, timezone="Mars/Base")
    put_job(home, "good", "*/15 * * * *", createdAt=clock.moment_ms)
    async with open_app(says("done")) as app:
        clock.advance(901)
        app.scheduler.wake()
        await until(lambda: is_over(app, "good", 1))
        assert [job.id for job in app.cron.list()] == ["good"]
        assert {notice.path.name for notice in app.quarantine.notices()} == {"bad.json", "zone.json"}
    assert (home.cron / "bad.json").exists()


async def test_a_deleted_job_ends_quietly(open_app: OpenApp, home: DataDirectory, clock: FixedClock) -> None:
    put_job(home, "a", "*/15 * * * *", createdAt=clock.moment_ms)
    provider = ScriptedProvider([[Hang()]])
    async with open_app(provider=provider) as app:
        clock.advance(901)
        app.scheduler.wake()
        await until(lambda: bool(provider.requests))
        app.cron.delete("a")
        app.turns.stop(SessionId(runs_of(app, "a")[0].session_id))
        await until(lambda: not app.scheduler.running("a"))
        with pytest.raises(NotFoundError):
            await app.scheduler.run_now("a")


async def test_nothing_is_read_or_told_while_nothing_is_due(
    open_app: OpenApp, home: DataDirectory, clock: FixedClock
) -> None:
    put_job(home, "yearly", "0 0 1 1 *", createdAt=clock.moment_ms)
    async with open_app(says("unused")) as app:
        await until(lambda: app.scheduler.is_open)
        await anyio.sleep(0.05)
        before, looks = app.notices.version, 0
        real = app.cron.list

        def count() -> object:
            nonlocal looks
            looks += 1
            return real()

        app.cron.list = count  # type: ignore[method-assign,assignment]
        await anyio.sleep(0.3)
        assert (app.notices.version, looks) == (before, 0)


async def test_by_hand_nothing_runs_where_the_schedule_does_not(open_app: OpenApp, home: DataDirectory) -> None:
    put_job(home, "a", "*/15 * * * *")
    async with open_app(says("no"), automation=False) as app:
        with pytest.raises(ConflictError, match="does not run"):
            await app.scheduler.run_now("a")


def write_zone(home: DataDirectory, job: Job, zone: str) -> None:
    write_object(home.cron / f"{job.id}.json", {**job.raw, "timezone": zone})
