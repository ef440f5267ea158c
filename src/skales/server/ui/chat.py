"""The conversation: its page, its live stream, and what a person does in it."""

from typing import Annotated

import anyio.to_thread
from fastapi import APIRouter, Form, Header, Query, Response
from fastapi.responses import PlainTextResponse, RedirectResponse

from skales.app.app import App
from skales.core.errors import BrokenDocumentError, ConflictError, InputError, NotFoundError
from skales.core.ids import SessionId
from skales.core.message import Message, Role, TextPart
from skales.server.access import AppDep, PageSession
from skales.server.conversation_views import MarkList
from skales.server.live import parse_place, stream_frames
from skales.server.told import told
from skales.server.ui.bootstrap import wants_first_run
from skales.server.ui.conversation import build_chat_page, build_newer, build_older, build_transcript
from skales.server.ui.frame import build_error_page
from skales.server.ui.notices import push_with_notices
from skales.server.ui.pages import PageResponse, render
from skales.server.ui.push import PushResponse
from skales.server.views import Trouble
from skales.server.words import _

router = APIRouter(dependencies=[PageSession])


@router.get("/")
def open_start(app: AppDep) -> RedirectResponse:
    """The chat is the first screen, once somebody has been asked how they want it."""
    return RedirectResponse("/bootstrap" if wants_first_run(app) else "/chat")


@router.get("/chat", response_class=PageResponse)
async def open_new_chat(app: AppDep, q: str = "", deleted: str = "") -> str:
    """The welcome, ready for a first message."""
    page = await anyio.to_thread.run_sync(lambda: build_chat_page(app, None, query=q, deleted=deleted))
    return render(page)


@router.get("/chat/{session_id}", response_class=PageResponse)
async def open_chat(
    app: AppDep, session_id: SessionId, response: Response, q: str = "", at: Annotated[int | None, Query(ge=0)] = None
) -> str:
    """One conversation with its newest messages, or with those around `at`."""
    try:
        transcript = await build_transcript(app, session_id, at)
        page = await anyio.to_thread.run_sync(lambda: build_chat_page(app, transcript, query=q))
    except NotFoundError:
        gone = Trouble(
            _("This conversation does not exist"), _("It may have been deleted"), "/chat", _("Begin a new chat")
        )
        return await _show_trouble(app, response, _("Conversation not found"), gone)
    except BrokenDocumentError as error:
        trouble = Trouble(told(error.message), told(error.hint), "/settings", _("See the files set aside"))
        return await _show_trouble(app, response, _("This conversation cannot be read"), trouble)
    return render(page)


@router.get("/ui/chat/{session_id}/transcript", response_class=PageResponse)
async def read_transcript(app: AppDep, session_id: SessionId, at: Annotated[int | None, Query(ge=0)] = None) -> str:
    """The conversation as the disk has it; what a page fetches when it missed too much. Raises NotFoundError."""
    return render(await build_transcript(app, session_id, at))


@router.get("/ui/chat/{session_id}/older", response_class=PageResponse)
def read_older(app: AppDep, session_id: SessionId, before: Annotated[int, Query(ge=0)]) -> str:
    """The messages above an index. Raises NotFoundError."""
    return render(build_older(app, session_id, before))


@router.get("/ui/chat/{session_id}/newer", response_class=PageResponse)
async def read_newer(app: AppDep, session_id: SessionId, start: Annotated[int, Query(ge=0)]) -> str:
    """The messages from an index on. Raises NotFoundError."""
    return render(await anyio.to_thread.run_sync(build_newer, app, session_id, start))


@router.get("/ui/chat/{session_id}/messages/{index}")
def read_message(app: AppDep, session_id: SessionId, index: int) -> PlainTextResponse:
    """One message's own text, for copying. Raises NotFoundError."""
    return PlainTextResponse(_find_message(app, session_id, index).text.encode("utf-8", "replace"))


@router.get("/ui/chat/{session_id}/events")
async def watch(
    app: AppDep, session_id: SessionId, after: str = "", last_event_id: Annotated[str, Header()] = ""
) -> PushResponse:
    """The live stream from a place on; a browser that reconnects by itself names its last place in the header."""
    await anyio.to_thread.run_sync(app.sessions.load, session_id)
    frames = stream_frames(app, session_id, parse_place(last_event_id or after))
    return push_with_notices(app, session_id, frames)


@router.post("/ui/chat/{session_id}/stop")
async def stop(app: AppDep, session_id: SessionId) -> dict[str, bool]:
    """Stop the running turn; what it wrote is kept."""
    return {"stopped": app.turns.stop(session_id)}


@router.post("/ui/chat/{session_id}/resume")
async def resume(app: AppDep, session_id: SessionId) -> dict[str, bool]:
    """Go on where the conversation stands: after a stop, a cut answer, a restart."""
    ticket = await app.turns.resume(session_id)
    return {"queued": ticket.queued}


@router.post("/ui/chat/{session_id}/messages/{index}/edit")
async def edit_message(
    app: AppDep, session_id: SessionId, index: int, text: Annotated[str, Form()] = ""
) -> dict[str, bool]:
    """Say it differently and go on from there; what came of it before stays as a version. Attachments stay with it.

    Raises InputError, NotFoundError, ConflictError while a turn runs.
    """
    said = await anyio.to_thread.run_sync(_find_message, app, session_id, index)
    if said.role is not Role.USER:
        raise InputError("Only what you said can be edited", hint="Ask for another answer instead")
    attached = tuple(part for part in said.content if not isinstance(part, TextPart))
    if not text.strip() and not attached:
        raise InputError("The message is empty", code="empty_message")
    ticket = await app.turns.rewind(session_id, index, text, attached)
    return {"queued": ticket.queued}


@router.post("/ui/chat/{session_id}/messages/{index}/again")
async def answer_again(app: AppDep, session_id: SessionId, index: int) -> dict[str, bool]:
    """Answer anew from a message on; the answer so far stays as a version.

    Raises NotFoundError, ConflictError while a turn runs.
    """
    ticket = await app.turns.rewind(session_id, index)
    return {"queued": ticket.queued}


@router.post("/ui/chat/{session_id}/messages/{at}/version")
async def show_version(app: AppDep, session_id: SessionId, at: int, number: Annotated[int, Form()]) -> Response:
    """Show another version from a message on. Raises NotFoundError, ConflictError while a turn runs."""
    await app.turns.switch_version(session_id, at, number)
    return Response(status_code=204)


@router.post("/ui/chat/{session_id}/compaction/undo")
async def undo_compaction(app: AppDep, session_id: SessionId, up_to: Annotated[int, Form()]) -> Response:
    """Let the model see the messages again that a summary stands for.

    Raises NotFoundError, ConflictError while a turn runs.
    """
    await app.turns.undo_compaction(session_id, up_to)
    return Response(status_code=204)


@router.post("/ui/chat/{session_id}/messages/{index}/branch")
async def branch(app: AppDep, session_id: SessionId, index: int) -> dict[str, str]:
    """A new conversation that shares everything up to a message. Raises NotFoundError, ConflictError."""
    if app.turns.running(session_id):
        raise ConflictError("A turn runs in this conversation", hint="Stop it or wait for its end", code="turn_running")
    made = await anyio.to_thread.run_sync(app.sessions.branch, session_id, index)
    return {"go": f"/chat/{made.id}"}


@router.get("/ui/chat/{session_id}/marks", response_class=PageResponse)
def read_chip(app: AppDep, session_id: SessionId) -> str:
    """Whose text the conversation has read."""
    return render(MarkList(session_id, app.marks.of(session_id).sources))


@router.post("/ui/chat/{session_id}/marks/lift", response_class=PageResponse)
def lift_marks(app: AppDep, session_id: SessionId) -> str:
    """The person says that what was read until now is harmless. Raises NotFoundError."""
    app.marks.lift(session_id, surface="page")
    return render(MarkList(session_id, app.marks.of(session_id).sources))


@router.post("/ui/chat/{session_id}/queue/{number}/edit")
async def edit_waiting(
    app: AppDep, session_id: SessionId, number: int, text: Annotated[str, Form()], before: Annotated[str, Form()] = ""
) -> Response:
    """Change a message that waits. Raises InputError, ConflictError when it waits no longer."""
    if not text.strip():
        raise InputError("The message is empty", hint="Remove it instead", code="empty_message")
    await app.turns.change_queue(session_id, number, before, text)
    return Response(status_code=204)


@router.post("/ui/chat/{session_id}/queue/{number}/remove")
async def remove_waiting(
    app: AppDep, session_id: SessionId, number: int, before: Annotated[str, Form()] = ""
) -> Response:
    """Take a message away that waits. Raises ConflictError when it waits no longer."""
    await app.turns.change_queue(session_id, number, before, "")
    return Response(status_code=204)


def _find_message(app: App, session_id: SessionId, index: int) -> Message:
    messages = app.sessions.load(session_id).messages
    if not 0 <= index < len(messages):
        raise NotFoundError("This message does not exist")
    return messages[index]


async def _show_trouble(app: App, response: Response, heading: str, trouble: Trouble) -> str:
    response.status_code = 404
    return render(await anyio.to_thread.run_sync(build_error_page, app, heading, trouble))
