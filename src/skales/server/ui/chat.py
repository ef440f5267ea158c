"""The conversation: its page, its live stream, and what a person does in it."""

from typing import Annotated

import anyio.to_thread
from fastapi import APIRouter, Form, Header, Query, Response
from fastapi.responses import JSONResponse, PlainTextResponse, RedirectResponse

from skales.app.wiring import App
from skales.core.errors import BrokenDocumentError, InputError, NotFoundError
from skales.core.ids import SessionId
from skales.server.access import AppDep, PageSession
from skales.server.live import parse_place, stream_frames
from skales.server.ui import assets, local, sessions
from skales.server.ui.conversation import build_chat_page, build_older, build_transcript
from skales.server.ui.frame import build_error_page
from skales.server.ui.pages import PageResponse, render
from skales.server.ui.push import PushResponse
from skales.server.views import Trouble

router = APIRouter()
_pages = APIRouter(dependencies=[PageSession])

_GONE = Trouble("This conversation does not exist", "It may have been deleted", "/chat", "Begin a new chat")


@_pages.get("/")
def open_start() -> RedirectResponse:
    """The chat is the first screen."""
    return RedirectResponse("/chat")


@_pages.get("/chat", response_class=PageResponse)
async def open_new_chat(app: AppDep, q: str = "", deleted: str = "") -> str:
    """The welcome, ready for a first message."""
    page = await anyio.to_thread.run_sync(lambda: build_chat_page(app, None, query=q, deleted=deleted))
    return render(page)


@_pages.get("/chat/{session_id}", response_class=PageResponse)
async def open_chat(app: AppDep, session_id: SessionId, response: Response, q: str = "") -> str:
    """One conversation with its newest messages."""
    try:
        transcript = await build_transcript(app, session_id)
        page = await anyio.to_thread.run_sync(lambda: build_chat_page(app, transcript, query=q))
    except NotFoundError:
        return await _show_trouble(app, response, "Conversation not found", _GONE)
    except BrokenDocumentError as error:
        trouble = Trouble(error.message, error.hint, "/settings", "See the files set aside")
        return await _show_trouble(app, response, "This conversation cannot be read", trouble)
    return render(page)


@_pages.get("/ui/chat/{session_id}/transcript", response_class=PageResponse)
async def read_transcript(app: AppDep, session_id: SessionId) -> str:
    """The conversation as the disk has it; what a page fetches when it missed too much. Raises NotFoundError."""
    return render(await build_transcript(app, session_id))


@_pages.get("/ui/chat/{session_id}/older", response_class=PageResponse)
def read_older(app: AppDep, session_id: SessionId, before: Annotated[int, Query(ge=0)]) -> str:
    """The messages above an index. Raises NotFoundError."""
    return render(build_older(app, session_id, before))


@_pages.get("/ui/chat/{session_id}/messages/{index}")
def read_message(app: AppDep, session_id: SessionId, index: int) -> PlainTextResponse:
    """One message's own text, for copying. Raises NotFoundError."""
    messages = app.sessions.load(session_id).messages
    if not 0 <= index < len(messages):
        raise NotFoundError("This message does not exist")
    return PlainTextResponse(messages[index].text.encode("utf-8", "replace"))


@_pages.get("/ui/chat/{session_id}/events")
async def watch(
    app: AppDep, session_id: SessionId, after: str = "", last_event_id: Annotated[str, Header()] = ""
) -> PushResponse:
    """The live stream from a place on; a browser that reconnects by itself names its last place in the header."""
    await anyio.to_thread.run_sync(app.sessions.load, session_id)
    return PushResponse(stream_frames(app, session_id, parse_place(last_event_id or after)))


@_pages.post("/ui/chat/send", response_model=None)
async def send(
    app: AppDep,
    text: Annotated[str, Form()] = "",
    session_id: Annotated[str, Form()] = "",
    accept: Annotated[str, Header()] = "",
) -> RedirectResponse | JSONResponse:
    """Take a message, in a new conversation when none is named. Without scripts a redirect answers.

    Raises InputError, NotFoundError.
    """
    if not text.strip():
        raise InputError("The message is empty", code="empty_message")
    if text.strip() == "/new":
        return _lead_to("/chat", accept)
    wanted = SessionId(session_id) or (await anyio.to_thread.run_sync(app.sessions.create)).id
    ticket = await app.turns.start(wanted, text)
    where = f"/chat/{wanted}"
    if "application/json" not in accept:
        return RedirectResponse(where, status_code=303)
    return JSONResponse({"go": where, "queued": ticket.queued})


@_pages.post("/ui/chat/{session_id}/stop")
async def stop(app: AppDep, session_id: SessionId) -> dict[str, bool]:
    """Stop the running turn; what it wrote is kept."""
    return {"stopped": app.turns.stop(session_id)}


@_pages.post("/ui/chat/{session_id}/resume")
async def resume(app: AppDep, session_id: SessionId) -> dict[str, bool]:
    """Go on where the conversation stands: after a stop, a cut answer, a restart."""
    ticket = await app.turns.resume(session_id)
    return {"queued": ticket.queued}


def _lead_to(where: str, accept: str) -> RedirectResponse | JSONResponse:
    return JSONResponse({"go": where}) if "application/json" in accept else RedirectResponse(where, status_code=303)


async def _show_trouble(app: App, response: Response, heading: str, trouble: Trouble) -> str:
    response.status_code = 404
    return render(await anyio.to_thread.run_sync(build_error_page, app, heading, trouble))


for part in (_pages, assets.router, sessions.router, local.router):
    router.include_router(part)
