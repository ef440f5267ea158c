"""Frames to a page over one long answer: gathered for a moment, sent together, with a sign of life in silence.

Gathering keeps the cost per token low on both sides; text frames that wait together become one.
"""

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing

import anyio
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from skales.server.live import Frame

_GATHER_S = 0.02
_PING_S = 15.0
_PING = b": ping\n\n"


class PushResponse(Response):
    """Sends frames as server-sent events until they end or the page leaves; then the frames are closed."""

    media_type = "text/event-stream"

    def __init__(self, frames: AsyncGenerator[Frame, None], headers: Mapping[str, str] | None = None) -> None:
        self.status_code = 200
        self.background = None
        self._frames = frames
        self._outbox = Outbox()
        self.init_headers({"cache-control": "no-store", **(headers or {})})

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_cancel_when_gone, receive, tasks.cancel_scope)
            tasks.start_soon(self._fill)
            while (chunk := await self._outbox.take(_PING_S)) is not None:
                await send({"type": "http.response.body", "body": chunk or _PING, "more_body": True})
                await anyio.sleep(_GATHER_S)
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            tasks.cancel_scope.cancel()

    async def _fill(self) -> None:
        async with aclosing(self._frames) as frames:
            async for frame in frames:
                self._outbox.put(frame)
        self._outbox.close()


class Outbox:
    """Frames that wait to be sent."""

    def __init__(self) -> None:
        self._waiting: list[bytes] = []
        self._text: list[str] = []
        self._ready = anyio.Event()
        self._closed = False

    def put(self, frame: Frame) -> None:
        """Add a frame; text joins the text before it."""
        if frame.name == "":
            self._text.append(str(frame.data))
        else:
            self._flush_text()
            self._waiting.append(encode_frame(frame))
        self._ready.set()

    def close(self) -> None:
        """Say that nothing more comes."""
        self._closed = True
        self._ready.set()

    async def take(self, patience_s: float) -> bytes | None:
        """Everything that waits; empty bytes when nothing came in time, None at the end."""
        with anyio.move_on_after(patience_s):
            await self._ready.wait()
        self._ready = anyio.Event()
        self._flush_text()
        chunk, self._waiting = b"".join(self._waiting), []
        if self._closed:
            self._ready.set()
            return chunk or None
        return chunk

    def _flush_text(self) -> None:
        if self._text:
            self._waiting.append(encode_frame(Frame("", "".join(self._text))))
            self._text = []


def encode_frame(frame: Frame) -> bytes:
    """One server-sent event; the data is JSON, so that no line break is ever special."""
    data = json.dumps(frame.data, ensure_ascii=False, separators=(",", ":"))
    name = f"event: {frame.name}\n" if frame.name else ""
    place = f"id: {frame.place}\n" if frame.place else ""
    return f"{name}{place}data: {data}\n\n".encode("utf-8", "backslashreplace")


async def _cancel_when_gone(receive: Receive, scope: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()
