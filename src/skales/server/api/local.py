"""Our own routes for the terminal and scripts: turns as event streams, direct tool runs."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import asdict

import anyio.to_thread
from fastapi import APIRouter

from skales.app.app import App
from skales.app.kill_switch import kill_json
from skales.app.pins import pin_tool
from skales.app.reports import report_result
from skales.app.tool_runs import follow_run
from skales.core.errors import InputError
from skales.core.event_json import event_to_json
from skales.core.events import ApprovalRequested, ApprovalResolved, Progress
from skales.core.ids import SessionId
from skales.core.json import JsonObject
from skales.core.tool import ToolResult
from skales.server.access import AppDep, KnownCaller
from skales.server.bodies import Answer, JsonBody
from skales.server.errors import HttpError
from skales.server.frames import encode_frame
from skales.server.streams import EventStream

router = APIRouter(prefix="/api", dependencies=[KnownCaller])


@router.post("/killswitch")
async def use_kill_switch(app: AppDep) -> Answer:
    """End everything that runs, and pause tasks and the schedule."""
    return kill_json(await app.kill_switch.use("cli"))


@router.post("/sessions")
async def create_session(app: AppDep) -> Answer:
    """A new, empty conversation."""
    session = await anyio.to_thread.run_sync(app.sessions.create)
    return {"id": session.id}


@router.post("/sessions/{session_id}/messages")
async def send_message(app: AppDep, session_id: str, body: JsonBody) -> Answer:
    """Start a turn, or queue the message behind the running one."""
    message = body.get("message")
    if not isinstance(message, str):
        raise HttpError(400, "message is required")
    ticket = await app.turns.start(SessionId(session_id), message, surface="cli")
    return {"sessionId": session_id, "queued": ticket.queued, "after": ticket.after}


@router.post("/sessions/{session_id}/resume")
async def resume_turn(app: AppDep, session_id: str) -> Answer:
    """Go on after a stop, a cut answer or a restart."""
    ticket = await app.turns.resume(SessionId(session_id), surface="cli")
    return {"sessionId": session_id, "queued": ticket.queued, "after": ticket.after}


@router.post("/sessions/{session_id}/compact")
async def compact_session(app: AppDep, session_id: str) -> Answer:
    """Have the oldest part summarised for the model; a turn of its own that asks nothing else."""
    ticket = await app.turns.compact(SessionId(session_id), surface="cli")
    return {"sessionId": session_id, "queued": ticket.queued, "after": ticket.after}


@router.post("/sessions/{session_id}/stop")
async def stop_turn(app: AppDep, session_id: str) -> Answer:
    """Stop the running turn; what it wrote is kept."""
    return {"stopped": app.turns.stop(SessionId(session_id))}


@router.get("/sessions/{session_id}/events")
async def watch_turn(app: AppDep, session_id: str, after: int = 0) -> EventStream:
    """The session's events above `after` up to the turn's end, as JSON frames."""
    await anyio.to_thread.run_sync(app.sessions.load, SessionId(session_id))
    return EventStream(_frames(app, SessionId(session_id), after))


@router.post("/tools/{name}/run")
async def run_tool(app: AppDep, name: str, body: JsonBody, *, attended: bool = True) -> Answer:
    """Run a tool as the person at this machine; rules still hold, approval is the call itself.

    A question of the tool waits in `/api/approvals`; with `attended=false` it is refused at once.
    """
    return report_result(await app.run_tool(name, body, surface="cli", attended=attended))


@router.post("/tools/{name}/follow")
async def follow_tool(app: AppDep, name: str, body: JsonBody, *, attended: bool = True) -> EventStream:
    """The same as it goes: frames `{progress: {label, done, total, unit}}`, `{ask: …}`, `{asked: …}`, `{result: …}`.

    What is asked is answered at `/api/approvals`. Leaving ends the run.
    """
    app.require_tool(name)
    return EventStream(_run_frames(app, name, body, attended=attended))


@router.put("/tools/{name}/pin")
def pin(app: AppDep, name: str, body: JsonBody) -> Answer:
    """Offer it to models always, or only when it is found."""
    is_pinned = body.get("pinned")
    if not isinstance(is_pinned, bool):
        raise InputError("'pinned' must be true or false")
    status = pin_tool(app, app.require_tool(name), is_pinned=is_pinned)
    return {"name": status.spec.name, "pinned": status.is_pinned, "basic": status.spec.is_basic}


async def _run_frames(app: App, name: str, arguments: JsonObject, *, attended: bool) -> AsyncGenerator[bytes, None]:
    async with aclosing(follow_run(app, name, arguments, surface="cli", attended=attended)) as steps:
        async for step in steps:
            match step:
                case Progress():
                    yield encode_frame({"progress": asdict(step)})
                case ApprovalRequested():
                    yield encode_frame({"ask": event_to_json(step)})
                case ApprovalResolved():
                    yield encode_frame({"asked": event_to_json(step)})
                case ToolResult():
                    yield encode_frame({"result": report_result(step)})


async def _frames(app: App, session_id: SessionId, after: int) -> AsyncGenerator[bytes, None]:
    async with aclosing(app.turns.follow(session_id, after)) as events:
        async for numbered in events:
            yield encode_frame({"number": numbered.number, "event": event_to_json(numbered.event)})
