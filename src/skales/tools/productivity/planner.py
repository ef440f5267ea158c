"""The tools `planner_create_task` and `planner_list_tasks`: what the person means to do themselves.

Nothing here ticks an entry off: that is theirs. Work for agents is filed with `create_task`.
"""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Annotated

from anyio import to_thread

from skales.core.json import JsonObject
from skales.core.tool import Effect, Safety, ToolResult
from skales.data.planner import MOST_MINUTES, PlannerTask, Span
from skales.tools.context import ToolContext
from skales.tools.define import Range, tool
from skales.tools.describe import visible
from skales.tools.file.wording import count_of

_SHOWN_NOTES = 300


@tool(
    "productivity",
    Safety.AUTO,
    Effect.WRITES,
    action="Put {title} into the planner[ for {date}][ at {time}]",
    example=(
        "Remind me to call the tax office tomorrow at ten",
        {"title": "Call the tax office", "date": "tomorrow", "time": "10:00"},
    ),
    found_by=(
        "Termin Aufgabe eintragen todo to-do erinnern appointment Planer reminder meeting Uhr morgen planen "
        "einplanen Kalender buy trag add dentist Zahnarzt Arzt Treffen Freitag Thursday tomorrow kaufen "
        "remind erinner daran call anrufen don't forget calendar deadline"
    ),
)
async def planner_create_task(  # noqa: PLR0913 - what a model may say in one call
    ctx: ToolContext,
    title: str,
    date: str = "",
    time: str = "",
    duration_minutes: Annotated[int, Range(0, MOST_MINUTES)] = 0,
    notes: str = "",
) -> ToolResult:
    """Put something the person wants to do themselves into their planner.

    Args:
        title: What is to be done.
        date: As 2031-05-17, today or tomorrow; empty for some day.
        time: As 09:30, in the person's own time.
        duration_minutes: How long it takes.
        notes: Anything else.
    """
    add = partial(ctx.planner.add, title, day=date, at=time, duration_min=duration_minutes, notes=notes)
    task = await to_thread.run_sync(add)
    now = ctx.planner.now()
    past = " That is in the past." if task.is_overdue(now) else ""
    return ToolResult(
        text=f"Planned as {task.id}: {_words(task, now)}.{past}",
        summary=f"Planned {visible(task.title)}{_when(task, now)}",
        data=_data(task, now),
    )


@tool(
    "productivity",
    Safety.AUTO,
    Effect.READS_PRIVATE,
    action="Look at the planner[ from {first_date}][ to {last_date}]",
    example=("What is overdue?", {"show": "overdue"}),
    found_by=(
        "Planer heute Tagesplan todo list agenda was steht an due overdue überfällig my tasks diese Woche "
        "today vorhaben free frei tomorrow morgen anstehen schedule Termine appointments to-dos week ansteht "
        "Kalender calendar plan plate"
    ),
)
async def planner_list_tasks(
    ctx: ToolContext,
    show: Span = Span.OPEN,
    first_date: str = "",
    last_date: str = "",
    limit: Annotated[int, Range(1, 200)] = 50,
) -> ToolResult:
    """List the person's planner in order of time, by days or what is overdue.

    Args:
        show: Open ones, overdue ones, or all with those done.
        first_date: First day, as 2031-05-17, today or tomorrow.
        last_date: Last day, included.
        limit: How many at most.
    """
    tasks = await to_thread.run_sync(partial(ctx.planner.list, show, first=first_date, last=last_date))
    now = ctx.planner.now()
    today = now.strftime("Now it is %A, %Y-%m-%d, %H:%M.")
    if not tasks:
        return ToolResult(
            text=f"{today} The planner holds nothing of that kind.",
            summary="Nothing planned",
            data={"tasks": [], "total": 0},
        )
    return ToolResult(
        text="\n".join([today, *_list(tasks, limit, now)]),
        summary=count_of(len(tasks), "planner entry", "planner entries"),
        data={"tasks": [_data(task, now) for task in tasks[:limit]], "total": len(tasks)},
    )


def _list(tasks: Sequence[PlannerTask], limit: int, now: datetime) -> Sequence[str]:
    lines = [f"- {_words(task, now)} [{task.id}]{_notes(task)}" for task in tasks[:limit]]
    hidden = len(tasks) - limit
    return [*lines, f"[{hidden:,} more; name days, or a larger limit]"] if hidden > 0 else lines


def _words(task: PlannerTask, now: datetime) -> str:
    state = ", done" if task.is_done else ", overdue" if task.is_overdue(now) else ""
    length = f", {task.duration_min} min" if task.duration_min else ""
    return f"{visible(task.title)}{_when(task, now)}{length}{state}"


def _when(task: PlannerTask, now: datetime) -> str:
    if task.day is None:
        return ", some day"
    near = {0: " (today)", 1: " (tomorrow)"}.get((task.day - now.date()).days, "")
    return f", {task.day:%a %Y-%m-%d}{near}{f' {task.at:%H:%M}' if task.at else ''}"


def _notes(task: PlannerTask) -> str:
    text = visible(task.notes)
    short = text if len(text) <= _SHOWN_NOTES else f"{text[:_SHOWN_NOTES]}…"
    return f"\n  {short}" if short else ""


def _data(task: PlannerTask, now: datetime) -> JsonObject:
    return {
        "id": task.id,
        "title": task.title,
        "date": task.day.isoformat() if task.day else None,
        "time": task.at.strftime("%H:%M") if task.at else None,
        "durationMinutes": task.duration_min,
        "done": task.is_done,
        "overdue": task.is_overdue(now),
    }
