"""The tasks page: what was filed for later, how far it is, and what came of it."""

from typing import Annotated

import anyio.to_thread
from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response

from skales.app.app import App
from skales.app.notices import Subject
from skales.core.errors import InputError, SkalesError
from skales.core.json import as_list, as_object, as_text
from skales.data.tasks import Task, TaskPriority, TaskStatus
from skales.server.access import AppDep, PageSession
from skales.server.told import told
from skales.server.ui.frame import build_shell
from skales.server.ui.history import chat_address
from skales.server.ui.pages import PageResponse, render
from skales.server.ui.phrases import show_duration, show_moment
from skales.server.ui.task_views import TaskBoard, TaskRow, TasksPage
from skales.server.views import Screen, Trouble
from skales.server.words import N_, _

router = APIRouter(dependencies=[PageSession])

_MOST_ROWS = 100
_SHOWN_TEXT = 600
_STATES = {
    TaskStatus.PENDING.value: (N_("Waiting"), ""),
    TaskStatus.RUNNING.value: (N_("Running"), "accent"),
    TaskStatus.COMPLETED.value: (N_("Done"), "good"),
    TaskStatus.FAILED.value: (N_("Failed"), "bad"),
    TaskStatus.CANCELLED.value: (N_("Cancelled"), "warn"),
}
_PRIORITIES = {
    TaskPriority.HIGH.value: N_("High priority"),
    TaskPriority.MEDIUM.value: N_("Medium priority"),
    TaskPriority.LOW.value: N_("Low priority"),
}
_Text = Annotated[str, Form()]


@router.get("/tasks", response_class=PageResponse)
def open_tasks(app: AppDep) -> str:
    """Every task, newest first."""
    return _show_page(app)


@router.get("/ui/tasks", response_class=PageResponse)
def show_board(app: AppDep) -> str:
    """The list as it is now."""
    return render(build_board(app))


@router.post("/tasks", response_class=PageResponse)
def file_task(
    app: AppDep, title: _Text = "", description: _Text = "", priority: _Text = TaskPriority.MEDIUM.value
) -> Response:
    """File a task; what cannot be filed comes back with the reason."""
    try:
        app.tasks.add(title, description.strip(), priority)
    except InputError as error:
        return PageResponse(_show_page(app, title, description, told(str(error))), status_code=400)
    return RedirectResponse("/tasks", status_code=303)


@router.post("/tasks/{task_id}/cancel")
async def cancel_task(app: AppDep, request: Request, task_id: str) -> Response:
    """Stop it, or keep it from running."""
    try:
        await app.task_runner.cancel(task_id)
    except SkalesError as error:
        return await _answer(app, request, error)
    return await _answer(app, request)


@router.post("/tasks/{task_id}/retry")
async def retry_task(app: AppDep, request: Request, task_id: str) -> Response:
    """Let it wait again."""
    try:
        await anyio.to_thread.run_sync(app.tasks.start_over, task_id)
    except SkalesError as error:
        return await _answer(app, request, error)
    return await _answer(app, request)


@router.post("/tasks/{task_id}/delete")
async def delete_task(app: AppDep, request: Request, task_id: str) -> Response:
    """Remove it from the list; its conversation stays."""
    try:
        await app.task_runner.delete(task_id)
    except SkalesError as error:
        return await _answer(app, request, error)
    return await _answer(app, request)


def build_board(app: App, trouble: Trouble | None = None) -> TaskBoard:
    """The list as it is now. Reads the disk."""
    tasks = app.tasks.list()
    waiting = {entry.session_id for entry in app.notices.entries() if entry.subject is Subject.WAITING}
    now_ms = app.clock.now_ms()
    rows = tuple(_row(task, now_ms, waits=task.session_id in waiting) for task in tasks[:_MOST_ROWS])
    return TaskBoard(rows, max(0, len(tasks) - _MOST_ROWS), not app.task_runner.is_open, trouble)


async def _answer(app: App, request: Request, error: SkalesError | None = None) -> Response:
    """The list for the page's script, the page for a browser without one."""
    trouble = Trouble(told(error.message), told(error.hint)) if error else None
    if "hx-request" in request.headers:
        return PageResponse(render(await anyio.to_thread.run_sync(build_board, app, trouble)))
    if error is not None:
        raise error
    return RedirectResponse("/tasks", status_code=303)


def _show_page(app: App, title: str = "", description: str = "", error: str = "") -> str:
    return render(
        TasksPage(
            shell=build_shell(app, _("Tasks"), Screen.TASKS),
            board=build_board(app),
            priorities=tuple((value, _(words)) for value, words in _PRIORITIES.items()),
            priority=TaskPriority.MEDIUM.value,
            title=title,
            description=description,
            error=error,
        )
    )


def _row(task: Task, now_ms: int, *, waits: bool) -> TaskRow:
    words, kind = _STATES.get(task.status, ("", ""))
    priority = "" if task.priority == TaskPriority.MEDIUM.value else _PRIORITIES.get(task.priority, "")
    return TaskRow(
        id=task.id,
        title=task.title,
        description=_cut(task.description),
        state=_(words) if words else task.status,
        kind=kind,
        priority=_(priority) if priority else "",
        when=show_moment(task.completed_ms or task.started_ms or task.created_ms, now_ms),
        duration=show_duration(task.duration_ms) if task.duration_ms else "",
        result=_cut(task.result),
        error=told(task.error),
        notes=tuple(told(as_text(as_object(line).get("message"))) for line in as_list(task.raw.get("logs"))),
        address=chat_address(task.session_id) if task.session_id else "",
        waits=waits,
        can_cancel=not task.is_over,
        can_retry=task.is_over,
        can_delete=task.status != TaskStatus.RUNNING.value,
    )


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN_TEXT else f"{text[:_SHOWN_TEXT].rstrip()}…"
