"""POST /api/cli/chat: one turn as DevKit frames. Spec: http-api.md 1."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

import anyio.to_thread
from fastapi import APIRouter

from skales.app.app import App
from skales.core.ids import SessionId
from skales.server.access import AppDep, DevKitToken
from skales.server.bodies import JsonBody
from skales.server.errors import HttpError
from skales.server.frames import DevKitFrames
from skales.server.streams import EventStream

router = APIRouter(prefix="/api/cli", dependencies=[DevKitToken])

_TITLE = "CLI Session"


@router.post("/chat")
async def chat(app: AppDep, body: JsonBody) -> EventStream:
    """Run a message; the turn goes on when the client leaves."""
    message, session_id = body.get("message"), body.get("sessionId")
    if not isinstance(message, str) or not message.strip():
        raise HttpError(400, "message is required")
    if session_id is None:
        session_id = (await anyio.to_thread.run_sync(lambda: app.sessions.create(title=_TITLE))).id
    if not isinstance(session_id, str):
        raise HttpError(400, "sessionId must be a string")
    ticket = await app.turns.start(SessionId(session_id), message, surface="devkit")
    return EventStream(_frames(app, ticket.session_id, ticket.after))


async def _frames(app: App, session_id: SessionId, after: int) -> AsyncGenerator[bytes, None]:
    frames = DevKitFrames(session_id)
    async with aclosing(app.turns.follow(session_id, after)) as events:
        async for numbered in events:
            rendered = frames.render(numbered.event)
            if rendered:
                yield rendered
