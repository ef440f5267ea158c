"""The tools around tasks: file work for later, list it, remove a record. Running tasks is not done here."""

from enum import StrEnum
from typing import Annotated

from anyio import to_thread

from skales.core.clock import to_datetime
from skales.core.json import JsonObject
from skales.core.tool import Effect, Safety, ToolResult
from skales.data.tasks import Task, TaskPriority, TaskStatus
from skales.tools.context import ToolContext
from skales.tools.define import Range, tool

_SHOWN_RESULT = 300


class StatusFilter(StrEnum):
    """Which tasks to list."""

    ALL = "all"
    PENDING = TaskStatus.PENDING.value
    RUNNING = TaskStatus.RUNNING.value
    COMPLETED = TaskStatus.COMPLETED.value
    FAILED = TaskStatus.FAILED.value
    CANCELLED = TaskStatus.CANCELLED.value


@tool(
    "core",
    Safety.AUTO,
    Effect.WRITES,
    action="File the task {title}",
    example=(
        "Later, compare the three offers",
        {"title": "Compare the three offers", "description": "Price, delivery time and warranty, as a table"},
    ),
    found_by=(
        "Hintergrund background later später Aufgabe nebenbei for the agent erledigen lassen queue heute "
        "Nacht tonight overnight rush eilt übernacht while away aufgeben Auftrag"
    ),
)
async def create_task(
    ctx: ToolContext, title: str, description: str = "", priority: TaskPriority = TaskPriority.MEDIUM
) -> ToolResult:
    """File a background task for later, when the person wants something done but not in this conversation.

    Args:
        title: What is to be done, in a few words.
        description: Everything needed to do it without this conversation.
        priority: How urgent it is.
    """
    await ctx.work.refuse_filing(ctx.scope.session_id)
    task = await to_thread.run_sync(ctx.tasks.add, title, description, priority)
    return ToolResult(
        text=f"Filed as {task.id}: {task.title} ({task.status}, {task.priority} priority)",
        summary=f"Filed the task {task.title}",
        data={"id": task.id, "status": task.status},
    )


@tool(
    "core",
    Safety.AUTO,
    Effect.READS_PRIVATE,
    action="List tasks[ ({status})]",
    example=("Which tasks are still open?", {"status": "pending"}),
    found_by=(
        "Aufgaben anzeigen running background tasks Stand status pending was läuft Hintergrundaufgaben weit "
        "progress Fortschritt done fertig jobs queue Warteschlange far"
    ),
)
async def list_tasks(
    ctx: ToolContext, status: StatusFilter = StatusFilter.ALL, limit: Annotated[int, Range(1, 200)] = 50
) -> ToolResult:
    """List background tasks with their state, newest first.

    Args:
        status: Only tasks in this state.
        limit: How many at most.
    """
    wanted = "" if status is StatusFilter.ALL else status.value
    tasks = await to_thread.run_sync(ctx.tasks.list, wanted)
    kind = f"{wanted} tasks" if wanted else "tasks"
    if not tasks:
        return ToolResult(text=f"There are no {kind}.", summary=f"No {kind}", data={"tasks": [], "total": 0})
    lines = [_line(task) for task in tasks[:limit]]
    if len(tasks) > limit:
        lines.append(f"{len(tasks) - limit} older ones are not shown.")
    return ToolResult(
        text="\n".join(lines),
        summary=f"{len(tasks)} {kind if len(tasks) > 1 else kind[:-1]}",
        data={"tasks": [_row(task) for task in tasks[:limit]], "total": len(tasks)},
    )


@tool(
    "core",
    Safety.CONFIRM,
    Effect.WRITES,
    Effect.DESTRUCTIVE,
    action="Delete the task {id}",
    example=("Remove that task from the list", {"id": "task_1755800000000_a1b2c3d4"}),
    found_by=(
        "Aufgabe löschen cancel remove task abbrechen drop background job Hintergrundaufgabe streichen queued "
        "needed mehr nötig verwerfen discard newsletter"
    ),
)
async def delete_task(ctx: ToolContext, id: str) -> ToolResult:
    """Remove a background task from the list, when the person wants it gone.

    Args:
        id: Its id, from list_tasks.
    """
    task_id = id.strip()
    await ctx.work.delete_task(task_id)
    return ToolResult(text=f"Deleted the task {task_id}.", summary="Deleted the task", data={"id": task_id})


def _row(task: Task) -> JsonObject:
    return {
        "id": task.id,
        "title": task.title,
        "status": task.status,
        "priority": task.priority,
        "createdAt": task.created_ms,
        "error": task.error or None,
    }


def _line(task: Task) -> str:
    day = to_datetime(task.created_ms).strftime("%Y-%m-%d %H:%M")
    line = f"- {task.title} [{task.status}, {task.priority} priority, filed {day}, id {task.id}]"
    outcome = " ".join((task.error or task.result).split())
    if outcome:
        shown = outcome if len(outcome) <= _SHOWN_RESULT else f"{outcome[:_SHOWN_RESULT]}…"
        line += f"\n  {'Error' if task.error else 'Result'}: {shown}"
    return line
