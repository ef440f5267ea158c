"""A person's own run of a tool, as it goes: its progress, what it asks, then its result. Leaving ends the run."""

import math
from collections.abc import AsyncGenerator

import anyio

from skales.app.app import App
from skales.core.events import ApprovalRequested, ApprovalResolved, Progress, TurnEvent
from skales.core.json import JsonObject
from skales.core.tool import ToolResult

RunStep = Progress | ApprovalRequested | ApprovalResolved

# Progress that nobody has taken yet; older news is not worth waiting for.
_WAITING = 16


async def follow_run(
    app: App, name: str, arguments: JsonObject, *, surface: str, attended: bool = True
) -> AsyncGenerator[RunStep | ToolResult, None]:
    """Run a tool as the person and tell how it goes; the result comes last. Closing it cancels the run.

    What the tool asks is answered at the desk; not `attended` it is refused at once. Raises NotFoundError for a tool
    that does not exist.
    """
    app.require_tool(name)
    send, receive = anyio.create_memory_object_stream[RunStep](math.inf)
    results: list[ToolResult] = []

    def report(event: TurnEvent) -> None:
        told = send.statistics()
        if not told.open_receive_streams:  # left; the run is being ended
            return
        match event:
            case Progress() if told.current_buffer_used < _WAITING:
                send.send_nowait(event)
            case ApprovalRequested() | ApprovalResolved():
                send.send_nowait(event)
            case _:
                return

    async def run() -> None:
        with send:
            results.append(await app.run_tool(name, arguments, surface=surface, emit=report, attended=attended))

    is_left = False
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        with receive:
            try:
                async for step in receive:
                    yield step
            except GeneratorExit:  # which a task group would hand on in a group
                is_left = True
                tasks.cancel_scope.cancel()
    if not is_left:
        yield results[0]
