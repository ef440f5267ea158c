"""The schedule page: what runs again and again, when it does next, and what became of its last runs."""

from datetime import UTC, datetime
from itertools import islice
from typing import Annotated, assert_never

import anyio.to_thread
from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response

from skales.app.app import App
from skales.app.work_reports import delete_job
from skales.automation.due import next_run_ms
from skales.core.errors import InputError, SkalesError
from skales.data.cron import Job
from skales.data.cron_runs import JobRun, RunKind, RunStatus
from skales.data.cron_times import (
    Rhythm,
    RhythmKind,
    check_expression,
    find_zone,
    local_zone_name,
    next_runs,
    read_rhythm,
)
from skales.server.access import AppDep, PageSession
from skales.server.told import told
from skales.server.ui.frame import build_shell
from skales.server.ui.history import chat_address
from skales.server.ui.pages import PageResponse, render
from skales.server.ui.phrases import show_moment
from skales.server.ui.schedule_views import JobBoard, JobRow, RunRow, SchedulePage, SchedulePreview
from skales.server.views import Screen, Trouble
from skales.server.words import N_, _, ngettext

router = APIRouter(dependencies=[PageSession])

_SHOWN_RUNS = 5
_SHOWN_NEXT = 3
_STATES = {
    RunStatus.RUNNING: (N_("Running"), "accent"),
    RunStatus.DONE: (N_("Done"), "good"),
    RunStatus.FAILED: (N_("Failed"), "bad"),
}
_EXAMPLES = (
    ("0 9 * * *", N_("Every day at 9:00")),
    ("0 9 * * 1-5", N_("Weekdays at 9:00")),
    ("0 9 * * 1", N_("Mondays at 9:00")),
    ("0 9 1 * *", N_("The first of each month at 9:00")),
    ("*/15 * * * *", N_("Every 15 minutes")),
)
_DAYS = (N_("Sunday"), N_("Monday"), N_("Tuesday"), N_("Wednesday"), N_("Thursday"), N_("Friday"), N_("Saturday"))
_Text = Annotated[str, Form()]


@router.get("/schedule", response_class=PageResponse)
def open_schedule(app: AppDep) -> str:
    """Every job, newest first."""
    return _show_page(app, ("", "", ""), "")


@router.get("/ui/schedule", response_class=PageResponse)
def show_board(app: AppDep) -> str:
    """The list as it is now."""
    return render(build_board(app))


@router.get("/ui/schedule/preview", response_class=PageResponse)
def preview(app: AppDep, schedule: str = "") -> str:
    """What a schedule being typed means."""
    return render(build_preview(schedule, app.clock.now_ms()))


@router.post("/schedule", response_class=PageResponse)
def create_job(app: AppDep, name: _Text = "", schedule: _Text = "", task: _Text = "") -> Response:
    """Make a job; what cannot be made comes back with the reason."""
    try:
        app.cron.add(name, schedule, task)
    except InputError as error:
        page = _show_page(app, (name, schedule, task), told(str(error)))
        return PageResponse(page, status_code=400)
    return RedirectResponse("/schedule", status_code=303)


@router.post("/schedule/{job_id}/switch")
async def switch_job(app: AppDep, request: Request, job_id: str, enabled: _Text = "") -> Response:
    """Turn it on or off."""

    def switch() -> None:
        app.cron.switch(job_id, enabled=enabled == "true")

    try:
        await anyio.to_thread.run_sync(switch)
    except SkalesError as error:
        return await _answer(app, request, error)
    return await _answer(app, request)


@router.post("/schedule/{job_id}/run")
async def run_job(app: AppDep, request: Request, job_id: str) -> Response:
    """Run it now, beside its schedule."""
    try:
        await app.scheduler.run_now(job_id)
    except SkalesError as error:
        return await _answer(app, request, error)
    return await _answer(app, request)


@router.post("/schedule/{job_id}/delete")
async def remove_job(app: AppDep, request: Request, job_id: str) -> Response:
    """Remove it; what it wrote stays."""
    await anyio.to_thread.run_sync(delete_job, app, job_id)
    return await _answer(app, request)


def build_board(app: App, trouble: Trouble | None = None) -> JobBoard:
    """The list as it is now. Reads the disk."""
    now_ms = app.clock.now_ms()
    return JobBoard(tuple(_row(app, job, now_ms) for job in app.cron.list()), not app.scheduler.is_open, trouble)


def build_preview(schedule: str, now_ms: int) -> SchedulePreview:
    """What a schedule means in this computer's zone."""
    if not schedule.strip():
        return SchedulePreview()
    try:
        expression = check_expression(schedule)
    except InputError as error:
        return SchedulePreview(error=told(error.hint))
    zone = find_zone(local_zone_name())
    coming = islice(next_runs(expression, zone, datetime.fromtimestamp(now_ms / 1000, UTC)), _SHOWN_NEXT)
    moments = tuple(show_moment(int(when.timestamp() * 1000), now_ms) for when in coming)
    return SchedulePreview(_say_rhythm(read_rhythm(expression)), moments)


async def _answer(app: App, request: Request, error: SkalesError | None = None) -> Response:
    """The list for the page's script, the page for a browser without one."""
    trouble = Trouble(told(error.message), told(error.hint)) if error else None
    if "hx-request" in request.headers:
        return PageResponse(render(await anyio.to_thread.run_sync(build_board, app, trouble)))
    if error is not None:
        raise error
    return RedirectResponse("/schedule", status_code=303)


def _show_page(app: App, typed: tuple[str, str, str], error: str) -> str:
    name, schedule, task = typed
    return render(
        SchedulePage(
            shell=build_shell(app, _("Schedule"), Screen.SCHEDULE),
            board=build_board(app),
            preview=build_preview(schedule, app.clock.now_ms()),
            examples=tuple((expression, _(words)) for expression, words in _EXAMPLES),
            name=name,
            schedule=schedule,
            task=task,
            error=error,
        )
    )


def _row(app: App, job: Job, now_ms: int) -> JobRow:
    next_ms = next_run_ms(job, now_ms)
    return JobRow(
        id=job.id,
        name=job.name,
        task=job.task,
        words=_say_rhythm(read_rhythm(job.schedule)),
        expression=job.schedule,
        zone=job.zone,
        enabled=job.enabled,
        paused=told(job.paused_reason) if not job.enabled else "",
        next_run=None if next_ms is None else show_moment(next_ms, now_ms),
        is_running=app.scheduler.running(job.id),
        runs=tuple(_run_row(run, now_ms) for run in app.job_runs.runs(job.id)[:_SHOWN_RUNS]),
    )


def _run_row(run: JobRun, now_ms: int) -> RunRow:
    words, kind = _STATES[run.status]
    return RunRow(
        state=_(words),
        kind=kind,
        when=show_moment(run.started_ms, now_ms),
        about=_say_why(run, now_ms),
        error=told(run.error),
        address=chat_address(run.session_id) if run.session_id else "",
    )


def _say_rhythm(rhythm: Rhythm) -> str:
    """A schedule in the person's words, empty where there are none."""
    match rhythm.kind:
        case RhythmKind.MINUTES:
            return ngettext("Every minute", "Every %(num)d minutes", rhythm.number)
        case RhythmKind.HOURLY:
            return _("Hourly, at minute %(minute)d", minute=rhythm.number)
        case RhythmKind.DAILY:
            return _("Daily at %(time)s", time=rhythm.time)
        case RhythmKind.WEEKDAYS:
            return _("Weekdays at %(time)s", time=rhythm.time)
        case RhythmKind.WEEKLY:
            return _("%(day)s at %(time)s, weekly", day=_(_DAYS[rhythm.number]), time=rhythm.time)
        case RhythmKind.MONTHLY:
            return _("Day %(day)d of each month at %(time)s", day=rhythm.number, time=rhythm.time)
        case RhythmKind.OTHER:
            return ""
        case _:
            assert_never(rhythm.kind)


def _say_why(run: JobRun, now_ms: int) -> str:
    match run.kind:
        case RunKind.BY_HAND:
            return _("by hand")
        case RunKind.CATCH_UP:
            planned = show_moment(run.planned_ms, now_ms).words
            return ngettext(
                "caught up: %(num)d missed run, planned for %(when)s",
                "caught up: %(num)d missed runs, the last planned for %(when)s",
                run.missed,
                when=planned,
            )
        case RunKind.SCHEDULED:
            return ""
        case _:
            assert_never(run.kind)
