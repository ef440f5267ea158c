"""`skales tasks`: what was filed for later. A running server does the tasks; this command only looks and changes."""

import argparse
import asyncio
import json

from skales.cli.backend import open_backend
from skales.cli.terminal import format_duration, paint, row, success, title
from skales.core.clock import to_datetime
from skales.core.json import JsonObject, as_int, as_list, as_object, as_text

_COLOURS = {"completed": "green", "failed": "red", "running": "cyan", "cancelled": "yellow"}
_DONE = {"cancel": "Cancelled", "retry": "Waits again", "delete": "Deleted"}


def run(arguments: argparse.Namespace) -> int:
    """Dispatch the action; listing is the default."""
    as_json = "json" in arguments
    match arguments.action:
        case "show":
            return asyncio.run(_show(arguments.id, as_json=as_json))
        case "cancel" | "retry" | "delete":
            return asyncio.run(_change(arguments.id, arguments.action))
        case _:
            return asyncio.run(_list(getattr(arguments, "status", ""), as_json=as_json))


async def _list(status: str, *, as_json: bool) -> int:
    async with open_backend() as backend:
        report = await backend.report("tasks")
    tasks = [as_object(item) for item in as_list(report["tasks"])]
    shown = [task for task in tasks if not status or task.get("status") == status]
    if as_json:
        print(json.dumps({"tasks": shown, "count": len(shown)}, ensure_ascii=False))
        return 0
    title(f"{len(shown)} {'task' if len(shown) == 1 else 'tasks'}")
    for task in shown:
        state = as_text(task.get("status"))
        print(f"  {paint(f'[{state}]', _COLOURS.get(state, 'dim'))} {as_text(task.get('title'))}")
        filed = to_datetime(as_int(task.get("createdAt", 0)))
        print(paint(f"    {task['id']}  {as_text(task.get('priority'))}  {filed:%Y-%m-%d %H:%M}", "dim"))
    print()
    return 0


async def _show(task_id: str, *, as_json: bool) -> int:
    async with open_backend() as backend:
        task = as_object((await backend.task(task_id))["task"])
    if as_json:
        print(json.dumps(task, ensure_ascii=False))
        return 0
    title(as_text(task.get("title")))
    row("State", as_text(task.get("status")))
    row("Priority", as_text(task.get("priority")))
    row("Filed", f"{to_datetime(as_int(task.get('createdAt', 0))):%Y-%m-%d %H:%M}")
    if duration_ms := as_int(task.get("durationMs", 0)):
        row("Took", format_duration(duration_ms))
    if session_id := as_text(task.get("sessionId")):
        row("Session", session_id)
    _print_texts(task)
    return 0


def _print_texts(task: JsonObject) -> None:
    if description := as_text(task.get("description")):
        print(f"\n{description}")
    for line in as_list(task.get("logs")):
        print(paint(f"\n{as_text(as_object(line).get('message'))}", "yellow"))
    if error := as_text(task.get("error")):
        print(f"\n{paint('Error:', 'red')} {error}")
    if result := as_text(task.get("result")):
        print(f"\n{result}")
    print()


async def _change(task_id: str, action: str) -> int:
    async with open_backend() as backend:
        if action == "delete":
            await backend.delete_task(task_id)
        else:
            await backend.change_task(task_id, action)
    success(f"{_DONE[action]}: {task_id}")
    return 0
