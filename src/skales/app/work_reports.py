"""Tasks, scheduled jobs and workflows as JSON: the same words for the DevKit, the page and the terminal.

Spec: http-api.md 5 to 7. `nextRun` and `scheduleHuman` are computed for each answer and never stored.
"""

from collections.abc import Mapping

from skales.app.app import App
from skales.automation.due import next_run_ms
from skales.core.clock import to_datetime
from skales.core.errors import InputError, StorageError
from skales.core.json import JsonObject, JsonValue, as_text
from skales.data.cron import Job, job_json
from skales.data.cron_times import describe_schedule, find_zone
from skales.data.tasks import task_json


def report_jobs(app: App) -> JsonObject:
    """Every scheduled job, newest first."""
    jobs = [report_job(app, job) for job in app.cron.list()]
    return {"jobs": jobs, "count": len(jobs)}


def report_job(app: App, job: Job) -> JsonObject:
    """One job with its next run, null when there is none, and its schedule in words."""
    next_ms = next_run_ms(job, app.clock.now_ms())
    return {
        **job_json(job),
        "timezone": job.zone,
        "nextRun": None if next_ms is None else show_iso(next_ms, job.zone),
        "scheduleHuman": describe_schedule(job.schedule),
    }


def add_job(app: App, body: Mapping[str, JsonValue]) -> Job:
    """The job a body asks for, or the identical one there is. Raises InputError in the contract's words."""
    task = as_text(body.get("description")) or as_text(body.get("task"))
    return app.cron.add(
        as_text(body.get("name")), as_text(body.get("schedule")), task, agent=as_text(body.get("agent")).strip()
    )


def delete_job(app: App, job_id: str) -> bool:
    """Remove a job and what is known of its runs; whether there was one."""
    was_there = app.cron.delete(job_id)
    if was_there:
        app.job_runs.forget(job_id)
    return was_there


async def run_job(app: App, job_id: str) -> JsonObject:
    """Start a run by hand. Raises NotFoundError, ConflictError."""
    started_ms = await app.scheduler.run_now(job_id)
    return {"id": job_id, "triggered_at": show_iso(started_ms, "UTC"), "status": "queued"}


def report_tasks(app: App, status: str = "") -> JsonObject:
    """Every task, or those of one state, newest first. Raises InputError for an unknown state."""
    tasks = [task_json(task) for task in app.tasks.list(status)]
    return {"tasks": tasks, "count": len(tasks)}


def report_workflows(app: App) -> JsonObject:
    """The saved workflows; none when their file cannot be read."""
    try:
        return {"workflows": [workflow.raw for workflow in app.workflows.list()]}
    except StorageError:
        return {"workflows": []}


def show_iso(moment_ms: int, zone: str) -> str:
    """A moment in a zone, to the second; in UTC when nobody knows the zone."""
    try:
        return to_datetime(moment_ms, find_zone(zone)).isoformat(timespec="seconds")
    except InputError:
        return to_datetime(moment_ms, find_zone("UTC")).isoformat(timespec="seconds")
