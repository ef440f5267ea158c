"""The notices tray: its entries in words, and how an open page hears of changes.

A page has one live connection. Without a conversation that is `/ui/events`; with one, the conversation's own stream
carries the frames of the board too, by `push_with_notices`.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import assert_never

import anyio.to_thread
from fastapi import APIRouter
from fastapi.responses import Response

from skales.app.app import App
from skales.app.notices import BoardNotice, Subject
from skales.core.errors import SkalesError
from skales.core.ids import SessionId, is_safe_id
from skales.server.access import AppDep, PageSession
from skales.server.frame_views import Tray, TrayEntry
from skales.server.live import Frame
from skales.server.told import told
from skales.server.ui.pages import PageResponse, render
from skales.server.ui.phrases import show_moment
from skales.server.ui.push import PushResponse
from skales.server.views import Moment
from skales.server.words import _

router = APIRouter(prefix="/ui", dependencies=[PageSession])

FRAME = "notice-board"


def build_tray(app: App, showing: str = "") -> Tray:
    """The tray of a page that shows this conversation, or none. Reads the disk."""
    place = _place(app, app.notices.version)
    now_ms = app.clock.now_ms()
    entries = tuple(_entry(notice, show_moment(notice.when_ms, now_ms)) for notice in app.notices.entries(showing))
    return Tray(entries, sum(entry.is_new for entry in entries), place, showing)


@router.get("/notices", response_class=PageResponse)
def read_notices(app: AppDep, session: str = "") -> str:
    """The tray as it is now."""
    return render(build_tray(app, session if is_safe_id(session) else ""))


@router.post("/notices/seen")
async def mark_seen(app: AppDep) -> Response:
    """The person opened the tray; every page hears of it."""
    app.notices.mark_seen()
    return Response(status_code=204)


@router.get("/events")
async def watch(app: AppDep, after: str = "") -> PushResponse:
    """The live connection of a page without a conversation."""
    return PushResponse(board_frames(app, after))


async def board_frames(app: App, after: str, showing: str = "") -> AsyncGenerator[Frame, None]:
    """The tray's HTML each time it changes, at once when the page has another state than `after`."""
    epoch, _dash, number = after.rpartition("-")
    known = int(number) if epoch == app.turns.epoch and number.isdecimal() else -1
    async with aclosing(app.notices.changes(known)) as changes:
        async for _version in changes:
            tray = await anyio.to_thread.run_sync(build_tray, app, showing)
            title = await anyio.to_thread.run_sync(_title_of, app, showing)
            yield Frame(FRAME, {"html": render(tray), "unread": tray.unread, "place": tray.place, "title": title})


def push_with_notices(app: App, session_id: SessionId, frames: AsyncGenerator[Frame, None]) -> PushResponse:
    """A conversation's frames, and those of the board between them; ends with the conversation's."""
    return PushResponse(_shown(app, session_id, frames), beside=board_frames(app, "", session_id))


async def _shown(app: App, session_id: SessionId, frames: AsyncGenerator[Frame, None]) -> AsyncGenerator[Frame, None]:
    with app.notices.showing(session_id):
        app.notices.visit(session_id)
        async with aclosing(frames):
            async for frame in frames:
                yield frame


def _title_of(app: App, session_id: str) -> str:
    """What the conversation on the screen is called by now; empty without one."""
    try:
        return app.sessions.load(SessionId(session_id)).title if session_id else ""
    except SkalesError:  # deleted or broken, which its own stream tells
        return ""


def _place(app: App, version: int) -> str:
    return f"{app.turns.epoch}-{version}"


def _entry(notice: BoardNotice, when: Moment) -> TrayEntry:
    kind, symbol, label, address = _look(notice)
    text = notice.text or _("New chat")
    return TrayEntry(notice.id, kind, symbol, label, text, told(notice.detail), when, address, notice.is_new)


def _look(notice: BoardNotice) -> tuple[str, str, str, str]:
    """Colour, picture, what happened, and where to go."""
    chat = f"/chat/{notice.session_id}"
    match notice.subject:
        case Subject.WAITING:
            return "ask", "ask", _("Waits for your answer"), chat if notice.session_id else "/activity"
        case Subject.FINISHED:
            return "good", "done", _("Answer finished"), chat
        case Subject.FAILED:
            return "bad", "error", _("Answer broke off"), chat
        case Subject.BROKEN:
            return "warn", "broken", _("File set aside"), "/settings#broken-title"
        case Subject.TOLD:
            return "good", "bell", _("Skales tells you"), chat if notice.session_id else "/"
        case Subject.PAUSED:
            return "warn", "warning", _("Scheduled task paused"), "/schedule"
        case Subject.UNSURE:
            return "ask", "ask", _("May have been sent"), "/outbox"
        case _:
            assert_never(notice.subject)
