"""A person's own run of a tool, as it goes: its progress, then its result. Leaving ends the run."""

from collections.abc import AsyncGenerator

import anyio

from skales.app.app import App
from skales.core.events import Progress, TurnEvent
from skales.core.json import JsonObject
from skales.core.tool import ToolResult

# Progress that nobody has taken yet; older news is not worth waiting for.
_WAITING = 16


async def follow_run(
    app: App, name: str, arguments: JsonObject, *, surface: str
) -> AsyncGenerator[Progress | ToolResult, None]:
    """Run a tool as the person and tell how it goes; the result comes last. Closing it cancels the run.

    Raises NotFoundError for a tool that does not exist.
    """
    app.require_tool(name)
    send, receive = anyio.create_memory_object_stream[Progress](_WAITING)
    results: list[ToolResult] = []

    def report(event: TurnEvent) -> None:
        if isinstance(event, Progress) and send.statistics().current_buffer_used < _WAITING:
            send.send_nowait(event)

    async def run() -> None:
        with send:
            results.append(await app.run_tool(name, arguments, surface=surface, emit=report))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        with receive:
            async for progress in receive:
                yield progress
    yield results[0]
