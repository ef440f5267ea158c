"""Scheduled jobs for DevKit clients, as the contract's own client asks for them; and our routes for tasks."""

import json
import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

import anyio
import pytest
from anyio.from_thread import BlockingPortal
from httpx2 import Response
from starlette.testclient import TestClient

from skales.app.app import App
from skales.core.json import JsonObject
from skales.data.document import write_object
from tests.scripted import Hang, ScriptedProvider

Ask = Callable[..., Response]


@pytest.fixture
def ask(app: App, client: TestClient) -> Ask:
    """Asks with the DevKit's token, as the contract's client does."""
    write_object(app.directory.devkit, {"enabled": True, "version": "0.5.0", "api": {"token": "secret"}})
    headers = {"authorization": "Bearer secret", "content-type": "application/json"}

    def call(method: str, path: str, **body: Any) -> Response:
        content = json.dumps(body).encode() if body else None
        return client.request(method, path, headers=headers, content=content)

    return call


def test_a_job_goes_round(ask: Ask, app: App) -> None:
    assert ask("GET", "/api/cli/cron").json() == {"jobs": [], "count": 0}
    made = ask("POST", "/api/cli/cron", name="Mail", schedule="0 9 * * *", task="Count", agent="writer")
    assert made.status_code == 200
    job = made.json()["job"]
    assert made.json()["success"] is True
    assert (job["name"], job["schedule"], job["task"], job["enabled"], job["agent"]) == (
        "Mail",
        "0 9 * * *",
        "Count",
        True,
        "writer",
    )
    assert re.fullmatch(r"\d{13}-[0-9a-f]{8}", job["id"])
    # The DevKit's example cuts the last `"id"` out of the answer.
    assert re.findall(r'"id":"([^"]*)"', made.text)[-1] == job["id"]
    listed = ask("GET", "/api/cli/cron").json()
    assert listed["count"] == 1
    assert listed["jobs"][0]["scheduleHuman"] == "daily at 9:00"
    assert datetime.fromisoformat(listed["jobs"][0]["nextRun"]).timestamp() * 1000 > app.clock.now_ms()
    again = ask("POST", "/api/cli/cron", name="Mail", schedule="0 9 * * *", task="Count", agent="writer")
    assert again.json()["job"]["id"] == job["id"]
    assert ask("PATCH", f"/api/cli/cron/{job['id']}", enabled=False).json() == {"id": job["id"], "enabled": False}
    off = ask("GET", "/api/cli/cron").json()["jobs"][0]
    assert (off["enabled"], off["nextRun"]) == (False, None)
    assert ask("DELETE", f"/api/cli/cron?id={job['id']}").json() == {"success": True}
    assert ask("DELETE", f"/api/cli/cron?id={job['id']}").json() == {"success": False}


def test_a_description_takes_the_place_of_the_task(ask: Ask, app: App) -> None:
    ask("POST", "/api/cli/cron", name="Mail", schedule="0 9 * * *", task="old", description="new")
    assert app.cron.list()[0].task == "new"


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"name": "Mail"}, "name, schedule, and task are required"),
        ({"name": "Mail", "schedule": 7, "task": "x"}, "name, schedule, and task are required"),
        ({"name": "Mail", "schedule": "61 * * * *", "task": "x"}, "Invalid cron expression"),
    ],
)
def test_what_cannot_be_made_is_refused_in_the_contracts_words(
    ask: Ask, app: App, body: dict[str, Any], error: str
) -> None:
    answer = ask("POST", "/api/cli/cron", **body)
    assert (answer.status_code, answer.json()["error"]) == (400, error)
    assert not app.cron.list()


def test_unknown_jobs_and_wrong_methods_get_the_contracts_answers(ask: Ask) -> None:
    missing = 'No scheduled task with id "nope"'
    assert ask("DELETE", "/api/cli/cron").status_code == 400
    assert ask("DELETE", "/api/cli/cron/nope").status_code == 405
    for method, path, body in (("PATCH", "nope", {"enabled": True}), ("POST", "nope/run", {})):
        answer = ask(method, f"/api/cli/cron/{path}", **body)
        assert (answer.status_code, answer.json()["error"]) == (404, missing)
    assert ask("PATCH", "/api/cli/cron/nope", enabled="yes").status_code == 400


def test_nobody_without_a_token_gets_at_jobs_or_tasks(client: TestClient) -> None:
    for path in ("/api/cli/cron", "/api/cron", "/api/tasks", "/api/workflows"):
        assert client.get(path).status_code in (401, 403)


def test_run_now_answers_at_once_and_counts_as_no_scheduled_run(
    ask: Ask, app: App, portal: BlockingPortal, provider: ScriptedProvider
) -> None:
    provider.steps = [[Hang()]]
    job = app.cron.add("Mail", "0 9 * * *", "Count")
    assert ask("POST", f"/api/cli/cron/{job.id}/run").status_code == 409

    async def run_with_schedule() -> None:
        async with anyio.create_task_group() as group:
            app.start_automation(group)
            with anyio.fail_after(5):
                while not app.scheduler.is_open:  # noqa: ASYNC110 - nothing tells it
                    await anyio.sleep(0.005)
            answer = await anyio.to_thread.run_sync(ask, "POST", f"/api/cli/cron/{job.id}/run")
            assert answer.json().keys() == {"id", "triggered_at", "status"}
            assert answer.json()["status"] == "queued"
            assert datetime.fromisoformat(answer.json()["triggered_at"])
            group.cancel_scope.cancel()

    portal.call(run_with_schedule)
    assert app.cron.get(job.id).last_run_ms == 0


def test_tasks_go_round_over_our_own_routes(ask: Ask, app: App) -> None:
    made = ask("POST", "/api/tasks", title="Compare", description="all", priority="high").json()["task"]
    assert ask("GET", "/api/tasks").json() == {"tasks": [made], "count": 1}
    assert ask("GET", "/api/tasks?status=completed").json() == {"tasks": [], "count": 0}
    assert ask("GET", "/api/tasks?status=odd").status_code == 400
    assert ask("GET", f"/api/tasks/{made['id']}").json()["task"] == made
    assert ask("POST", f"/api/tasks/{made['id']}/retry").status_code == 409
    assert ask("POST", f"/api/tasks/{made['id']}/cancel").json()["task"]["status"] == "cancelled"
    assert ask("POST", f"/api/tasks/{made['id']}/cancel").status_code == 409
    assert ask("POST", f"/api/tasks/{made['id']}/retry").json()["task"]["status"] == "pending"
    assert ask("DELETE", f"/api/tasks/{made['id']}").json() == {"success": True, "deleted": made["id"]}
    assert ask("GET", f"/api/tasks/{made['id']}").status_code == 404
    assert ask("POST", "/api/tasks", title=7).status_code == 400
    assert not app.tasks.list()


def test_workflows_are_listed_and_a_broken_file_is_an_empty_list(ask: Ask, app: App) -> None:
    assert ask("GET", "/api/workflows").json() == {"workflows": []}
    workflow: JsonObject = {"id": "w", "trigger": "report", "steps": [{"text": "Read"}]}
    write_object(app.directory.workflows, {"workflows": [workflow]})
    assert ask("GET", "/api/workflows").json() == {"workflows": [workflow]}
    app.directory.workflows.write_text("[", encoding="utf-8")
    assert ask("GET", "/api/workflows").json() == {"workflows": []}
