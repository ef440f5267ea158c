"""Fetching the starter model from a button, with progress while the page is open; what was fetched stays."""

from collections.abc import AsyncGenerator

import anyio
from fastapi import APIRouter

from skales.app.app import App
from skales.core.errors import SkalesError
from skales.core.events import Progress
from skales.server.access import AppDep, PageSession
from skales.server.live import Frame, describe_progress
from skales.server.told import told
from skales.server.ui.push import PushResponse

router = APIRouter(prefix="/ui/local", dependencies=[PageSession])


@router.post("/fetch")
async def fetch_starter(app: AppDep) -> PushResponse:
    """Frames `progress`, then `done` or `failed` with words. Leaving stops it; the next time goes on from there."""
    return PushResponse(_fetch(app))


async def _fetch(app: App) -> AsyncGenerator[Frame, None]:
    send, receive = anyio.create_memory_object_stream[Frame](max_buffer_size=1000)

    def report(progress: Progress) -> None:
        send.send_nowait(Frame("progress", describe_progress(progress)))

    async def fetch() -> None:
        with send:
            try:
                await app.local.fetch(report)
            except SkalesError as error:
                await send.send(Frame("failed", {"text": told(str(error))}))
            else:
                await send.send(Frame("done", {}))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(fetch)
        with receive:
            async for frame in receive:
                yield frame
