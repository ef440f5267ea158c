"""The tools `list_processes` and `kill_process`: what runs on this computer, and ending it."""

import os
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import anyio
from anyio import to_thread
from msgspec import Struct

from skales.core.errors import InputError, NotFoundError, ToolError, ToolRefusedError
from skales.core.json import JsonValue
from skales.core.tool import Effect, Safety, ToolResult
from skales.tools.context import ToolContext
from skales.tools.define import Range, tool
from skales.tools.describe import render_size, visible
from skales.tools.file.wording import count_of
from skales.tools.programs import Background
from skales.tools.system.ending import end_tree

if TYPE_CHECKING:
    import psutil

# Processor use is what a process did in between two looks.
_BETWEEN_S = 0.2
_NAME_LIMIT = 60


class Order(StrEnum):
    """What stands first."""

    MEMORY = "memory"
    PROCESSOR = "processor"
    NAME = "name"
    AGE = "age"


class _Row(Struct, frozen=True):
    pid: int
    name: str
    user: str
    memory_bytes: int
    percent: float
    started_s: float


@tool(
    "system",
    Safety.AUTO,
    Effect.READS_PRIVATE,
    Effect.UNTRUSTED_OUTPUT,
    action="List running processes[ named {name}]",
    example=("Which programs use the most memory?", {"sort": "memory", "limit": 10}),
    found_by=(
        "laufende verbraucht Programme processes running was läuft task manager Prozesse using CPU hängt memory hog "
        "meisten RAM frisst slow langsam busy process top programs open offen"
    ),
)
async def list_processes(
    ctx: ToolContext,
    name: str = "",
    mine: bool = False,
    sort: Order = Order.MEMORY,
    limit: Annotated[int, Range(1, 200)] = 25,
) -> ToolResult:
    """List running processes with memory and processor use; background commands of yours come first.

    Args:
        name: Only those whose name contains this.
        mine: True for only the commands that you left running in the background.
        sort: What stands first.
        limit: How many at most.
    """
    own = [program for program in ctx.background.list() if name.lower() in program.command.lower()]
    lines = [_own_line(ctx, program) for program in own]
    own_rows = [_own_row(program) for program in own]
    if mine:
        return ToolResult(
            text="\n".join(lines) or "No command runs in the background.",
            summary=count_of(len(own), "background command"),
            data={"background": own_rows},
        )
    rows = await _look(name)
    shown = sorted(rows, key=_ORDERS[sort])[:limit]
    lines += ["pid, name, user, memory, processor", *map(_line, shown)]
    if len(rows) > len(shown):
        lines.append(f"{len(rows) - len(shown)} more are not shown.")
    return ToolResult(
        text="\n".join(lines),
        summary=count_of(len(rows), "process", "processes"),
        data={
            "background": own_rows,
            "processes": [{"pid": row.pid, "name": row.name, "memory_bytes": row.memory_bytes} for row in shown],
            "total": len(rows),
        },
    )


@tool(
    "system",
    Safety.CONFIRM,
    Effect.DESTRUCTIVE,
    action="End[ process {pid}][ the background command {id}] and everything it started",
    example=("Stop process 4242", {"pid": 4242}),
    found_by=(
        "beenden abschießen stop program force quit einfriert hung Prozess schließen terminate hängt hang "
        "stuck frozen schieß töten kill close beende aufgehängt reagiert responding"
    ),
)
async def kill_process(
    ctx: ToolContext, pid: Annotated[int, Range(1, 2**31 - 1)] | None = None, id: str = ""
) -> ToolResult:
    """End a process with everything it started, or a background command of yours.

    It is asked first, and ended by force after two seconds.

    Args:
        pid: The process id, as list_processes shows it.
        id: The id of a background command, such as bg_1a2b3c4d.
    """
    if (pid is None) == (not id):
        raise InputError("Give either pid or id", hint="list_processes shows both")
    own = id or next((program.id for program in ctx.background.list() if program.pid == pid), "")
    if own:
        ended = await ctx.background.end(own)
        return ToolResult(text=f"{own} has ended; its output is in {ended.output}.", summary=f"Ended {own}")
    return await _end_process(pid or 0)


async def _end_process(pid: int) -> ToolResult:
    process = await to_thread.run_sync(_find, pid)
    name = await to_thread.run_sync(_name_of, process)
    await end_tree(pid, dies_together=False)
    if await to_thread.run_sync(_still_runs, process):
        raise ToolError(f"Process {pid} ({name}) did not end", hint="It may belong to another account")
    return ToolResult(text=f"Process {pid} ({name}) has ended.", summary=f"Ended process {pid} ({name})")


def _find(pid: int) -> "psutil.Process":
    """The process, when it may be ended. Raises NotFoundError, ToolRefusedError."""
    import psutil

    own = psutil.Process()
    if pid in {1, own.pid, *(parent.pid for parent in own.parents())}:
        raise ToolRefusedError(
            f"Process {pid} is the system's first one, Skales itself, or what Skales runs in", hint="Choose another one"
        )
    try:
        return psutil.Process(pid)
    except psutil.Error as error:
        raise NotFoundError(f"There is no process {pid}", hint="list_processes shows those that run") from error


def _name_of(process: "psutil.Process") -> str:
    import psutil

    try:
        return visible(process.name())[:_NAME_LIMIT]
    except psutil.Error:
        return "ended already"


def _still_runs(process: "psutil.Process") -> bool:
    import psutil

    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


async def _look(name: str) -> Sequence[_Row]:
    processes = await to_thread.run_sync(_begin)
    await anyio.sleep(_BETWEEN_S)
    rows = await to_thread.run_sync(lambda: [row for process in processes if (row := _read(process))])
    return [row for row in rows if name.lower() in row.name.lower()]


def _begin() -> "Sequence[psutil.Process]":
    import psutil

    found: list[psutil.Process] = []
    for process in psutil.process_iter():
        try:
            process.cpu_percent(None)
        except psutil.Error:
            continue
        found.append(process)
    return found


def _read(process: "psutil.Process") -> _Row | None:
    import psutil

    try:
        with process.oneshot():
            return _Row(
                process.pid,
                visible(process.name())[:_NAME_LIMIT],
                _user(process),
                process.memory_info().rss,
                process.cpu_percent(None),
                process.create_time(),
            )
    except psutil.Error:
        return None


def _user(process: "psutil.Process") -> str:
    """Whether it is the person's own; names of accounts are nobody's business."""
    import psutil

    try:
        return "you" if not hasattr(os, "getuid") or process.uids().real == os.getuid() else "other"
    except psutil.Error:
        return "other"


_ORDERS: Mapping[Order, Callable[[_Row], tuple[float | str, int]]] = {
    Order.MEMORY: lambda row: (-row.memory_bytes, row.pid),
    Order.PROCESSOR: lambda row: (-row.percent, row.pid),
    Order.NAME: lambda row: (row.name.lower(), row.pid),
    Order.AGE: lambda row: (row.started_s, row.pid),
}


def _line(row: _Row) -> str:
    return f"{row.pid}, {row.name}, {row.user}, {render_size(row.memory_bytes)}, {row.percent:.0f} %"


def _own_row(program: Background) -> JsonValue:
    return {
        "id": program.id,
        "pid": program.pid,
        "command": program.command,
        "exit_code": program.exit_code,
        "output": str(program.output),
    }


def _own_line(ctx: ToolContext, program: Background) -> str:
    command = visible(program.command)[:100]
    if program.exit_code is not None:
        why = f" because {program.ended_for}" if program.ended_for else ""
        return f"{program.id}: {command} - ended with code {program.exit_code}{why}, output in {program.output}"
    age_s = (ctx.clock.now_ms() - program.started_ms) // 1000
    return f"{program.id}: {command} - runs for {age_s} s as process {program.pid}, output in {program.output}"
