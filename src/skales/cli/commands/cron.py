"""`skales cron`: scheduled tasks. Spec: cli.md, "Commands"; a running server does them."""

import argparse
import asyncio
import json
from datetime import datetime

from skales.cli.backend import open_backend
from skales.cli.terminal import paint, success, title
from skales.core.clock import to_datetime
from skales.core.errors import NotFoundError
from skales.core.json import JsonObject, JsonValue, as_list, as_object, as_text

_SHOWN_TASK = 120


def run(arguments: argparse.Namespace) -> int:
    """Dispatch the action; listing is the default."""
    as_json = "json" in arguments
    match arguments.action:
        case "add":
            return asyncio.run(_add(arguments, as_json=as_json))
        case "remove":
            return asyncio.run(_remove(arguments.id))
        case "enable" | "disable":
            return asyncio.run(_switch(arguments.id, enabled=arguments.action == "enable"))
        case "run":
            return asyncio.run(_run_now(arguments.id))
        case _:
            return asyncio.run(_list(as_json=as_json))


async def _list(*, as_json: bool) -> int:
    async with open_backend() as backend:
        report = await backend.report("cron")
    if as_json:
        print(json.dumps(report, ensure_ascii=False))
        return 0
    jobs = [as_object(item) for item in as_list(report["jobs"])]
    title(f"{len(jobs)} scheduled {'task' if len(jobs) == 1 else 'tasks'}")
    for job in jobs:
        _print_job(job)
    print()
    return 0


def _print_job(job: JsonObject) -> None:
    is_on = job.get("enabled") is not False
    mark = paint("●", "green") if is_on else paint("○", "red")
    print(f"  {mark} {as_text(job.get('name'))}")
    task = " ".join(as_text(job.get("task")).split())
    when = [as_text(job.get("scheduleHuman")), as_text(job.get("timezone"))]
    agent = as_text(job.get("agent"))
    facts = [as_text(job["id"]), *dict.fromkeys(when), *([f"as {agent}"] if agent else [])]
    print(paint(f"    {'  '.join(fact for fact in facts if fact)}", "dim"))
    print(paint(f"    {task if len(task) <= _SHOWN_TASK else f'{task[:_SHOWN_TASK]}…'}", "dim"))
    print(paint(f"    next {_moment(job.get('nextRun'))}  last {_moment(job.get('lastRun'))}", "dim"))
    if reason := as_text(job.get("pausedReason")):
        print(paint(f"    {reason}", "yellow"))


def _moment(value: JsonValue) -> str:
    """Milliseconds or ISO, as the contract allows both."""
    if isinstance(value, str) and value:
        return f"{datetime.fromisoformat(value):%Y-%m-%d %H:%M}"
    if isinstance(value, (int, float)) and value:
        return f"{to_datetime(int(value)):%Y-%m-%d %H:%M}"
    return "never"


async def _add(arguments: argparse.Namespace, *, as_json: bool) -> int:
    body: dict[str, JsonValue] = {
        "name": arguments.name,
        "schedule": arguments.schedule,
        "task": " ".join(arguments.task),
        **({"agent": arguments.agent} if arguments.agent else {}),
    }
    async with open_backend() as backend:
        report = await backend.add_job(body)
    if as_json:
        print(json.dumps(report, ensure_ascii=False))
        return 0
    success(f"Scheduled: {as_text(as_object(report['job'])['name'])}")
    print(paint(f"  {as_text(as_object(report['job'])['id'])}", "dim"))
    return 0


async def _remove(job_id: str) -> int:
    async with open_backend() as backend:
        if not await backend.remove_job(job_id):
            raise NotFoundError(f'No scheduled task with id "{job_id}"')
    success(f"Removed: {job_id}")
    return 0


async def _switch(job_id: str, *, enabled: bool) -> int:
    async with open_backend() as backend:
        await backend.switch_job(job_id, enabled=enabled)
    success(f"{'On' if enabled else 'Off'}: {job_id}")
    return 0


async def _run_now(job_id: str) -> int:
    async with open_backend() as backend:
        report = await backend.run_job(job_id)
    success(f"Triggered: {job_id} ({as_text(report['status'])})")
    return 0
