"""The tasks page and the schedule over HTTP: what stands there, what its buttons do, and what other pages hear."""

from collections.abc import Callable, Iterator

import anyio
import pytest
from anyio.from_thread import BlockingPortal
from selectolax.lexbor import LexborHTMLParser as HTMLParser
from starlette.testclient import TestClient

from skales.app.app import App
from skales.core.ids import SessionId
from skales.data.cron_runs import JobRun, RunKind, RunStatus
from tests.scripted import Hang, ScriptedProvider, says
from tests.server.ui.conftest import Look

Until = Callable[[Callable[[], bool]], None]
HX = {"hx-request": "true"}


@pytest.fixture
def until(portal: BlockingPortal) -> Until:
    async def wait(holds: Callable[[], bool]) -> None:
        with anyio.fail_after(5):
            while not await anyio.to_thread.run_sync(holds):  # noqa: ASYNC110 - files have no event
                await anyio.sleep(0.005)

    return lambda holds: portal.call(wait, holds)


@pytest.fixture
def running(app: App, portal: BlockingPortal) -> Iterator[App]:
    """The app with tasks and the schedule running."""

    async def drive(*, task_status: anyio.abc.TaskStatus[anyio.CancelScope]) -> None:
        async with anyio.create_task_group() as group:
            app.start_automation(group)
            task_status.started(group.cancel_scope)

    future, scope = portal.start_task(drive)
    yield app
    portal.call(scope.cancel)
    future.result()


def texts(tree: HTMLParser, selector: str) -> list[str]:
    return [" ".join(node.text(separator=" ").split()) for node in tree.css(selector)]


def test_without_tasks_the_page_says_how_to_get_one(look: Look) -> None:
    tree = look("/tasks")
    assert texts(tree, ".empty-state h2") == ["No tasks"]
    assert tree.css("details.work-new[open]")
    assert "/tasks" in [link.attributes["href"] for link in tree.css("nav a[aria-current]")]


def test_a_task_is_filed_on_the_page_runs_and_shows_its_result(
    page: TestClient, running: App, provider: ScriptedProvider, until: Until
) -> None:
    provider.steps = [says("Offer <b>B</b>.")]
    answer = page.post("/tasks", data={"title": "Compare <i>", "description": "All three", "priority": "high"})
    assert answer.url.path == "/tasks"
    until(lambda: running.tasks.list()[0].is_over)
    tree = HTMLParser(page.get("/ui/tasks").text)
    (task,) = running.tasks.list()
    assert texts(tree, ".work-row h2") == ["Compare <i>"]
    assert texts(tree, ".badge") == ["Done", "High priority"]
    assert "Offer <b>B</b>." in texts(tree, ".work-text")
    assert tree.css("a.button")[0].attributes["href"] == f"/chat/{task.session_id}"
    assert texts(tree, "form button") == ["Try again", "Delete"]
    assert "All three" in running.sessions.load(SessionId(task.session_id)).messages[0].text


def test_what_cannot_be_filed_comes_back_with_the_reason(page: TestClient, app: App) -> None:
    answer = page.post("/tasks", data={"title": "  ", "description": "kept"})
    assert answer.status_code == 400
    tree = HTMLParser(answer.text)
    assert texts(tree, "#task-title-error")[0].startswith("A task needs a title")
    assert tree.css("textarea")[0].text() == "kept"
    assert not app.tasks.list()


def test_a_running_task_is_cancelled_tried_again_and_deleted(
    page: TestClient, running: App, provider: ScriptedProvider, until: Until
) -> None:
    provider.steps = [[Hang()], says("done")]
    task = running.tasks.add("Long")
    until(lambda: bool(provider.requests))
    assert texts(HTMLParser(page.get("/tasks").text), ".work-row form button") == ["Cancel"]
    refused = page.post(f"/tasks/{task.id}/delete", headers=HX)
    assert "The task runs" in refused.text
    cancelled = HTMLParser(page.post(f"/tasks/{task.id}/cancel", headers=HX).text)
    assert texts(cancelled, ".badge") == ["Cancelled"]
    page.post(f"/tasks/{task.id}/retry", headers=HX)
    until(lambda: running.tasks.get(task.id).status == "completed")
    assert page.post(f"/tasks/{task.id}/delete").url.path == "/tasks"
    assert not running.tasks.list()
    assert "There is no task" in page.post(f"/tasks/{task.id}/cancel", headers=HX).text


def test_where_no_tasks_run_the_page_says_so(look: Look, app: App) -> None:
    app.tasks.add("Later")
    assert "Tasks are not run at the moment" in texts(look("/tasks"), ".callout")[0]


def test_other_pages_hear_of_a_change(running: App, provider: ScriptedProvider, until: Until) -> None:
    until(lambda: running.task_runner.is_open)
    before = running.notices.version
    running.cron.add("Mail", "0 9 * * *", "Count")
    until(lambda: running.notices.version > before)


def test_without_jobs_the_schedule_says_how_to_get_one(look: Look) -> None:
    tree = look("/schedule")
    assert texts(tree, ".empty-state h2") == ["Nothing is scheduled"]
    assert not tree.css("#job-preview p")


@pytest.mark.parametrize(
    ("schedule", "words"),
    [("0 9 * * 1-5", "Weekdays at 9:00"), ("60 * * * *", "The minute field '60'"), ("0 9 13 * 5", "The next runs:")],
)
def test_a_schedule_being_typed_is_explained(look: Look, schedule: str, words: str) -> None:
    tree = look(f"/ui/schedule/preview?schedule={schedule.replace(' ', '+')}")
    assert any(text.startswith(words) for text in texts(tree, "p"))
    assert len(tree.css("time")) == (0 if schedule.startswith("60") else 3)


def test_a_job_is_made_switched_and_deleted_on_the_page(page: TestClient, app: App) -> None:
    made = page.post("/schedule", data={"name": "Mail", "schedule": "0 9 * * 1-5", "task": "Count <my> mail"})
    assert made.url.path == "/schedule"
    (job,) = app.cron.list()
    tree = HTMLParser(made.text)
    assert texts(tree, ".work-row h2") == ["Mail"]
    assert "Weekdays at 9:00" in texts(tree, ".work-row .row")[0]
    assert any(text.startswith("Next run:") for text in texts(tree, ".work-row p"))
    off = HTMLParser(page.post(f"/schedule/{job.id}/switch", data={}, headers=HX).text)
    assert not app.cron.get(job.id).enabled
    assert "Off" in texts(off, ".work-row p")
    page.post(f"/schedule/{job.id}/switch", data={"enabled": "true"}, headers=HX)
    assert app.cron.get(job.id).enabled
    app.job_runs.record(job.id, JobRun(started_ms=1, kind=RunKind.BY_HAND, status=RunStatus.DONE, ended_ms=2))
    assert texts(HTMLParser(page.post(f"/schedule/{job.id}/delete", headers=HX).text), ".empty-state h2")
    assert not app.cron.list()
    assert not app.job_runs.runs(job.id)


def test_what_is_no_schedule_comes_back_with_the_reason_and_what_was_typed(page: TestClient, app: App) -> None:
    answer = page.post("/schedule", data={"name": "Mail", "schedule": "at nine", "task": "Count"})
    assert answer.status_code == 400
    tree = HTMLParser(answer.text)
    assert "Invalid cron expression" in texts(tree, "#job-name-error")[0]
    assert tree.css("#job-schedule")[0].attributes["value"] == "at nine"
    assert not app.cron.list()


def test_run_now_starts_a_run_that_the_page_shows(
    page: TestClient, running: App, provider: ScriptedProvider, until: Until
) -> None:
    provider.steps = [says("Three.")]
    job = running.cron.add("Mail", "0 9 * * *", "Count")
    until(lambda: running.scheduler.is_open)
    page.post(f"/schedule/{job.id}/run", headers=HX)
    until(lambda: [run.status for run in running.job_runs.runs(job.id)] == [RunStatus.DONE])
    tree = HTMLParser(page.get("/ui/schedule").text)
    assert texts(tree, ".work-runs .badge") == ["Done"]
    assert "by hand" in texts(tree, ".work-runs")[0]
    assert running.cron.get(job.id).last_run_ms == 0


def test_a_catch_up_and_a_pause_are_told(look: Look, app: App) -> None:
    job = app.cron.add("Mail", "0 9 * * *", "Count")
    run = JobRun(
        started_ms=app.clock.now_ms(),
        kind=RunKind.CATCH_UP,
        status=RunStatus.FAILED,
        planned_ms=app.clock.now_ms() - 60_000,
        missed=3,
        error="No network",
    )
    app.job_runs.record(job.id, run)
    app.cron.mark_ended(job.id, failed=True, pause_after=1, reason="Three runs in a row failed. The last one: x")
    tree = look("/schedule")
    assert "caught up: 3 missed runs, the last planned for" in texts(tree, ".work-runs")[0]
    assert "No network" in texts(tree, ".work-runs .bad")
    assert any("Three runs in a row failed" in text for text in texts(tree, ".callout"))


def test_where_the_schedule_does_not_run_run_now_says_so(page: TestClient, app: App) -> None:
    job = app.cron.add("Mail", "0 9 * * *", "Count")
    answer = page.post(f"/schedule/{job.id}/run", headers=HX)
    assert "The schedule does not run" in answer.text
