"""Event streams over HTTP: frames as they come, a comment line when nothing came for a while."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

import anyio
from fastapi.responses import StreamingResponse

from skales.server.frames import KEEP_ALIVE, KEEP_ALIVE_S


def event_stream(frames: AsyncGenerator[bytes, None]) -> StreamingResponse:
    """An SSE answer that ends with `frames` and closes them when the client leaves."""
    return StreamingResponse(
        with_keep_alive(frames),
        media_type="text/event-stream",
        headers={"cache-control": "no-store", "x-accel-buffering": "no"},
    )


async def with_keep_alive(
    frames: AsyncGenerator[bytes, None], *, every_s: float = KEEP_ALIVE_S
) -> AsyncIterator[bytes]:
    """Pass frames on; send a comment after each silence of `every_s` seconds."""
    async with anyio.create_task_group() as tasks:
        send, receive = anyio.create_memory_object_stream[bytes](max_buffer_size=16)

        async def pump() -> None:
            async with send, aclosing(frames):
                async for frame in frames:
                    await send.send(frame)

        tasks.start_soon(pump)
        async with receive:
            while True:
                frame = KEEP_ALIVE
                with anyio.move_on_after(every_s):
                    try:
                        frame = await receive.receive()
                    except anyio.EndOfStream:
                        break
                yield frame
        tasks.cancel_scope.cancel()
