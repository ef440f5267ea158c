"""The tools around the schedule: make a recurring job, list the jobs, remove one. Running them is not done here."""

from datetime import UTC, datetime
from itertools import islice

from anyio import to_thread

from skales.core.errors import NotFoundError
from skales.core.json import JsonObject
from skales.core.tool import Effect, Safety, ToolResult
from skales.data.cron import Job
from skales.data.cron_times import describe_schedule, find_zone, next_runs
from skales.tools.context import ToolContext
from skales.tools.define import tool
from skales.tools.file.wording import count_of

_SHOWN_TASK = 200


@tool(
    "automation",
    Safety.CONFIRM,
    Effect.WRITES,
    action="Run {task} on the schedule {schedule}",
    example=(
        "Summarise my notes every weekday at nine",
        {"name": "Morning summary", "schedule": "0 9 * * 1-5", "task": "Summarise the notes changed since yesterday"},
    ),
    found_by=(
        "jeden Tag täglich wöchentlich montags regelmäßig every morning daily weekly monthly cron automatisch "
        "wiederholen Erinnerung planen each hour jede monatlich weekday Werktag Morgen Montag Monday erinnere "
        "remind regularly evening abends stündlich hourly"
    ),
)
async def schedule_recurring_task(ctx: ToolContext, name: str, schedule: str, task: str) -> ToolResult:
    """Do something again and again at fixed times, when the person asks for it to recur.

    Args:
        name: What it is, in a few words.
        schedule: Five cron fields in the person's own time zone: minute hour day-of-month month weekday.
        task: Everything needed to do it without this conversation.
    """
    job = await to_thread.run_sync(ctx.cron.add, name, schedule, task)
    when = describe_schedule(job.schedule)
    upcoming = _show_next(job, ctx.clock.now_ms())
    return ToolResult(
        text=f"Scheduled as {job.id}: {job.name}, {when} ({job.zone}), next on {upcoming}.",
        summary=f"Scheduled {job.name}: {when}",
        data={"id": job.id, "schedule": job.schedule, "timezone": job.zone},
    )


@tool(
    "core",
    Safety.AUTO,
    Effect.READS_PRIVATE,
    action="List scheduled tasks",
    example=("What runs by itself?", {}),
    found_by=(
        "Zeitplan anzeigen scheduled cron recurring geplant automatisch wann läuft next run what runs "
        "regelmäßig nächstes nightly wiederkehrend jobs Job"
    ),
)
async def list_scheduled_tasks(ctx: ToolContext) -> ToolResult:
    """List what runs on a schedule, with its next time."""
    jobs = await to_thread.run_sync(ctx.cron.list)
    if not jobs:
        return ToolResult(text="Nothing is scheduled.", summary="Nothing is scheduled", data={"tasks": []})
    now_ms = ctx.clock.now_ms()
    lines = [_line(job, now_ms) for job in jobs]
    return ToolResult(
        text="\n".join(lines),
        summary=count_of(len(jobs), "scheduled task"),
        data={"tasks": [_row(job, now_ms) for job in jobs]},
    )


@tool(
    "automation",
    Safety.CONFIRM,
    Effect.WRITES,
    Effect.DESTRUCTIVE,
    action="Delete the scheduled task {id}",
    example=("Stop the morning summary for good", {"id": "1755800000000-a1b2c3d4"}),
    found_by=(
        "turn off weekly job daily hourly ausschalten recurring Zeitplan löschen stop nicht mehr täglich "
        "cancel schedule abstellen cron remove abbestellen abschalten longer täglichen wöchentlichen Bericht "
        "report einstellen stell ab end reminder Erinnerung"
    ),
)
async def delete_scheduled_task(ctx: ToolContext, id: str) -> ToolResult:
    """Delete a scheduled task, when the person wants it gone for good.

    Args:
        id: Its id, from list_scheduled_tasks.
    """
    job = await to_thread.run_sync(ctx.cron.get, id.strip())
    if not await to_thread.run_sync(ctx.cron.delete, job.id):
        raise NotFoundError(f'No scheduled task with id "{job.id}"')
    return ToolResult(text=f"Deleted the scheduled task {job.name} ({job.id}).", summary=f"Deleted {job.name}")


def _line(job: Job, now_ms: int) -> str:
    state = f"next on {_show_next(job, now_ms)}" if job.enabled else "off"
    if job.paused_reason and not job.enabled:
        state = f"paused: {job.paused_reason}"
    task = " ".join(job.task.split())
    shown = task if len(task) <= _SHOWN_TASK else f"{task[:_SHOWN_TASK]}…"
    return f"- {job.name} [{describe_schedule(job.schedule)}, {job.zone}, {state}, id {job.id}]\n  {shown}"


def _row(job: Job, now_ms: int) -> JsonObject:
    upcoming = _find_next(job, now_ms) if job.enabled else None
    return {
        "id": job.id,
        "name": job.name,
        "schedule": job.schedule,
        "timezone": job.zone,
        "task": job.task,
        "enabled": job.enabled,
        "next": upcoming.isoformat() if upcoming else None,
    }


def _find_next(job: Job, now_ms: int) -> datetime | None:
    after = datetime.fromtimestamp(now_ms / 1000, UTC)
    return next(islice(next_runs(job.schedule, find_zone(job.zone), after), 1), None)


def _show_next(job: Job, now_ms: int) -> str:
    found = _find_next(job, now_ms)
    return "no day" if found is None else f"{found:%A, %Y-%m-%d %H:%M}"
