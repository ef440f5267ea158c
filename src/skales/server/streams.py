"""Answers that go on: pieces gathered for a moment, sent together, with a sign of life in silence.

Gathering keeps the cost per token low on both sides. Neither the first piece nor the end is held up by it.
"""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Generic, TypeVar

import anyio
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from skales.server.frames import KEEP_ALIVE, KEEP_ALIVE_S

T = TypeVar("T")

_GATHER_S = 0.02


class GatheredResponse(Response, Generic[T]):
    """Sends server-sent events until they end or the client leaves; then their source is closed.

    `join` makes the bytes of everything that waits. What `beside` brings goes between, and ends with the source.
    """

    media_type = "text/event-stream"

    def __init__(
        self,
        source: AsyncGenerator[T, None],
        join: Callable[[Sequence[T]], bytes],
        headers: Mapping[str, str] | None = None,
        beside: AsyncGenerator[T, None] | None = None,
    ) -> None:
        self.status_code = 200
        self.background = None
        self._source = source
        self._beside = beside
        self._outbox = Outbox(join)
        self.init_headers({"cache-control": "no-store", **(headers or {})})

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_cancel_when_gone, receive, tasks.cancel_scope)
            tasks.start_soon(self._fill)
            if self._beside is not None:
                tasks.start_soon(self._put_all, self._beside)
            while (chunk := await self._outbox.take(KEEP_ALIVE_S)) is not None:
                await send({"type": "http.response.body", "body": chunk or KEEP_ALIVE, "more_body": True})
                await self._outbox.gather(_GATHER_S)
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            tasks.cancel_scope.cancel()

    async def _fill(self) -> None:
        await self._put_all(self._source)
        self._outbox.close()

    async def _put_all(self, pieces: AsyncGenerator[T, None]) -> None:
        async with aclosing(pieces):
            async for piece in pieces:
                self._outbox.put(piece)


class Outbox(Generic[T]):
    """Pieces that wait to be sent."""

    def __init__(self, join: Callable[[Sequence[T]], bytes]) -> None:
        self._join = join
        self._waiting: list[T] = []
        self._ready = anyio.Event()
        self._closed = anyio.Event()

    def put(self, piece: T) -> None:
        """Add a piece."""
        self._waiting.append(piece)
        self._ready.set()

    def close(self) -> None:
        """Say that nothing more comes."""
        self._closed.set()
        self._ready.set()

    async def take(self, patience_s: float) -> bytes | None:
        """Everything that waits; empty bytes when nothing came in time, None at the end."""
        with anyio.move_on_after(patience_s):
            await self._ready.wait()
        chunk, self._waiting = self._join(self._waiting), []
        if self._closed.is_set():
            return chunk or None
        self._ready = anyio.Event()
        return chunk

    async def gather(self, time_s: float) -> None:
        """Let more come, unless nothing more will."""
        with anyio.move_on_after(time_s):
            await self._closed.wait()


class EventStream(GatheredResponse[bytes]):
    """Frames that are bytes already."""

    def __init__(self, frames: AsyncGenerator[bytes, None]) -> None:
        super().__init__(frames, b"".join, {"x-accel-buffering": "no"})


async def _cancel_when_gone(receive: Receive, scope: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()
