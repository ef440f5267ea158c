"""`skales tasks` and `skales cron` without a running server: they look and change, and run nothing."""

import json

import pytest

from skales.cli.main import main
from skales.core.clock import SystemClock
from skales.core.ids import RandomIds
from skales.data.cron import CronStore
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.tasks import TaskStore

Out = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def here(home: DataDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKALES_DATA_DIR", str(home.root))
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.fixture
def tasks(home: DataDirectory) -> TaskStore:
    clock = SystemClock()
    return TaskStore(home, Quarantine(home.quarantine, clock), clock, RandomIds())


@pytest.fixture
def jobs(home: DataDirectory) -> CronStore:
    clock = SystemClock()
    return CronStore(home, Quarantine(home.quarantine, clock), clock, RandomIds(), zone=lambda: "Europe/Berlin")


def lines(capsys: Out) -> list[str]:
    return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines() if line.strip()]


def test_tasks_are_listed_and_stay_as_they_are(tasks: TaskStore, capsys: Out) -> None:
    task = tasks.add("Compare", priority="high")
    done = tasks.add("Sort")
    tasks.update(done.id, status="completed", result="Sorted.")
    assert main(["tasks"]) == 0
    shown = lines(capsys)
    assert shown[0] == "2 tasks"
    assert {"[pending] Compare", "[completed] Sort"} <= set(shown)
    assert main(["tasks", "list", "--status", "pending", "--json"]) == 0
    assert [found["id"] for found in json.loads(capsys.readouterr().out)["tasks"]] == [task.id]
    assert tasks.get(task.id).status == "pending"


def test_a_task_is_shown_with_what_came_of_it(tasks: TaskStore, capsys: Out) -> None:
    task = tasks.add("Compare", "All three")
    tasks.update(task.id, status="running", session_id="session_1")
    tasks.note(task.id, "Not allowed: Write a.txt")
    tasks.update(task.id, status="failed", error="No network", result="So far")
    assert main(["tasks", "show", task.id]) == 0
    out = capsys.readouterr().out
    for words in ("Compare", "failed", "session_1", "All three", "Not allowed: Write a.txt", "No network", "So far"):
        assert words in out
    assert main(["tasks", "show", task.id, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["error"] == "No network"


def test_a_task_is_cancelled_tried_again_and_deleted(tasks: TaskStore, capsys: Out) -> None:
    task = tasks.add("Compare")
    assert main(["tasks", "retry", task.id]) == 1
    assert "not over" in capsys.readouterr().err
    assert main(["tasks", "cancel", task.id]) == 0
    assert tasks.get(task.id).status == "cancelled"
    assert main(["tasks", "retry", task.id]) == 0
    assert tasks.get(task.id).status == "pending"
    assert main(["tasks", "delete", task.id]) == 0
    assert not tasks.list()
    assert main(["tasks", "delete", task.id]) == 1
    assert "There is no task" in capsys.readouterr().err


def test_a_job_goes_round(jobs: CronStore, capsys: Out) -> None:
    assert main(["cron", "add", "Mail", "0 9 * * 1-5", "Count", "my", "mail", "--agent", "writer"]) == 0
    (job,) = jobs.list()
    assert (job.name, job.schedule, job.task, job.agent) == ("Mail", "0 9 * * 1-5", "Count my mail", "writer")
    assert job.id in capsys.readouterr().out
    assert main(["cron"]) == 0
    shown = lines(capsys)
    assert shown[:2] == ["1 scheduled task", "● Mail"]
    assert "weekdays at 9:00" in shown[2]
    assert shown[4].endswith("last never")
    assert main(["cron", "disable", job.id]) == 0
    assert not jobs.get(job.id).enabled
    capsys.readouterr()
    assert main(["cron", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["jobs"][0]["nextRun"] is None
    assert main(["cron", "enable", job.id]) == 0
    assert jobs.get(job.id).enabled
    assert main(["cron", "remove", job.id]) == 0
    assert not jobs.list()
    assert main(["cron", "remove", job.id]) == 1


def test_what_is_no_schedule_says_what_is_wrong(jobs: CronStore, capsys: Out) -> None:
    assert main(["cron", "add", "Mail", "61 * * * *", "Count"]) == 1
    err = capsys.readouterr().err
    assert "Invalid cron expression" in err
    assert "minute" in err
    assert not jobs.list()


def test_running_one_needs_a_program_that_stays(jobs: CronStore, capsys: Out) -> None:
    job = jobs.add("Mail", "0 9 * * *", "Count")
    assert main(["cron", "run", job.id]) == 1
    assert "skales serve" in capsys.readouterr().err
