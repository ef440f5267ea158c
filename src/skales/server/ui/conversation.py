"""Builds the chat page: a transcript of the newest messages, or the welcome."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import anyio.to_thread

from skales.app.wiring import App
from skales.core.approval import Approval
from skales.core.ids import SessionId, is_safe_id
from skales.core.message import Role
from skales.data.sessions import Session
from skales.server.live import place_on_disk
from skales.server.ui.frame import build_shell
from skales.server.ui.models import describe_model, describe_starter
from skales.server.ui.phrases import greet
from skales.server.ui.transcript import Indexed, Setting, build_card, build_entries, judge_end
from skales.server.views import ChatPage, Example, Queue, Screen, Stretch, Transcript, Welcome

_MESSAGES_AT_ONCE = 60
# A stretch must not begin with results whose calls are above it.
_STEP_BACK = 10

_EXAMPLES = (
    Example("Without a model", "/tool list_directory path=.", is_command=True),
    Example("A simple tool", "What is in my workspace?"),
    Example("Just words", "Say in one sentence what a haiku is."),
)


async def build_transcript(app: App, session_id: SessionId) -> Transcript:
    """The newest messages and all that waits. Raises NotFoundError, BrokenDocumentError, StorageError.

    The place is read before the disk: what happens between is in the transcript and comes again, which changes nothing.
    """
    place = place_on_disk(app, session_id)
    is_running = app.turns.running(session_id)
    approvals = [found for found in await app.approvals.pending() if found.session_id == session_id]
    build = partial(_build_transcript, app, session_id, is_running=is_running, approvals=approvals, place=str(place))
    return await anyio.to_thread.run_sync(build)


def build_older(app: App, session_id: SessionId, before: int) -> Stretch:
    """The stretch of messages above an index. Reads the disk; raises NotFoundError."""
    return _build_stretch(app, _load_stretch(app, session_id, before), is_running=False, is_end=False)


def build_chat_page(app: App, transcript: Transcript | None, *, query: str = "", deleted: str = "") -> ChatPage:
    """The page around a transcript, or the first page; `deleted` can still be brought back. Reads the disk."""
    session = app.sessions.load(SessionId(transcript.session_id)) if transcript else None
    title = (session.title or "New chat") if session else "New chat"
    current = session.id if session else ""
    shell = build_shell(app, title, Screen.CHAT, current=current, query=query)
    return ChatPage(
        shell=replace(shell, deleted=deleted if is_safe_id(deleted) else ""),
        session_id=current,
        title=title,
        model=describe_model(app, session.provider if session else "", session.model if session else ""),
        transcript=transcript,
        welcome=None if transcript and session and _is_begun(transcript, session) else _build_welcome(app),
    )


def _build_transcript(
    app: App, session_id: SessionId, *, is_running: bool, approvals: Sequence[Approval], place: str
) -> Transcript:
    messages = _load_stretch(app, session_id, None)
    session = app.sessions.load(session_id)
    return Transcript(
        session_id=session_id,
        stretch=_build_stretch(app, messages, is_running=is_running, is_end=True),
        place=place,
        is_running=is_running,
        queue=Queue(session.queued),
        approvals=tuple(build_card(approval) for approval in approvals),
        outcome=judge_end(messages, is_running=is_running, waits=bool(approvals)),
    )


def _load_stretch(app: App, session_id: SessionId, before: int | None) -> Sequence[Indexed]:
    messages = list(app.sessions.tail(session_id, _MESSAGES_AT_ONCE, before))
    while messages and messages[0][0] > 0 and messages[0][1].role is Role.TOOL:
        messages[:0] = app.sessions.tail(session_id, _STEP_BACK, messages[0][0])
    return messages


def _build_stretch(app: App, messages: Sequence[Indexed], *, is_running: bool, is_end: bool) -> Stretch:
    setting = Setting(app.gate.describe, app.clock.now_ms(), is_running)
    return Stretch(build_entries(messages, setting, is_end=is_end), messages[0][0] if messages else 0)


def _is_begun(transcript: Transcript, session: Session) -> bool:
    """A turn that was just started may not have written its message yet."""
    return transcript.is_running or bool(session.messages or session.queued)


def _build_welcome(app: App) -> Welcome:
    model = describe_model(app)
    return Welcome(
        greeting=greet(app.clock.now_ms()),
        model=model,
        starter=describe_starter(app) if model.is_starter else None,
        examples=_EXAMPLES,
    )
