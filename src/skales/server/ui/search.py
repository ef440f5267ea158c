"""The history page: all conversations with filters, what a search finds in each, and the trash."""

from datetime import date, datetime, time, timedelta
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query
from fastapi.responses import Response
from msgspec import Struct

from skales.app.app import App
from skales.core.ids import SessionId
from skales.data.index import SearchHit, SessionSummary
from skales.data.session_trash import delete_for_good, list_deleted
from skales.server.access import AppDep, PageSession
from skales.server.frame_views import Crumb
from skales.server.ui.frame import build_shell
from skales.server.ui.history import Cursor, chat_address, mark_pieces, parse_cursor, show_cursor
from skales.server.ui.history_views import (
    DeletedRow,
    Excerpt,
    FoundPage,
    FoundSession,
    HistoryFilter,
    HistoryPage,
    Trash,
)
from skales.server.ui.pages import PageResponse, render
from skales.server.ui.phrases import show_moment
from skales.server.views import Screen
from skales.server.words import _, ngettext

router = APIRouter(dependencies=[PageSession])

_ROWS_AT_ONCE = 30
_SHOWN_DELETED = 200
_MOST_FOUND = 1000


async def _read_filter(
    q: str = "", folder: str = "", since: str = "", until: str = "", model: str = ""
) -> HistoryFilter:
    return HistoryFilter(q, folder, since, until, model)


@router.get("/history", response_class=PageResponse)
def open_history(
    app: AppDep,
    asked: Annotated[HistoryFilter, Depends(_read_filter)],
    before: str = "",
    deleted: Annotated[bool, Query()] = False,
) -> str:
    """All conversations that fit, newest first; or what was deleted."""
    title, crumbs = (_("Deleted"), (Crumb("/history", _("History")),)) if deleted else (_("History"), ())
    page = HistoryPage(
        shell=build_shell(app, title, Screen.HISTORY, crumbs=crumbs),
        filter=asked,
        folders=tuple(found.name for found in app.sessions.folders()),
        total=app.sessions.count(),
        content=build_trash(app) if deleted else find_sessions(app, asked, parse_cursor(before)),
    )
    return render(page)


@router.delete("/ui/history/trash/{session_id}")
def purge(app: AppDep, session_id: SessionId) -> Response:
    """Delete a conversation for good. Raises NotFoundError."""
    delete_for_good(app.directory, session_id)
    return Response(status_code=204)


@router.get("/ui/sessions/{session_id}/find")
def find_within(app: AppDep, session_id: SessionId, q: str = "") -> dict[str, object]:
    """Which messages of a conversation have the words, by their indices in order. Raises NotFoundError."""
    hits = [hit.index for hit in app.sessions.find_within(session_id, q, _MOST_FOUND)]
    return {"hits": hits, "total": len(hits)}


def build_trash(app: App) -> Trash:
    """What was deleted, last first. Reads the disk."""
    now_ms = app.clock.now_ms()
    found = list_deleted(app.directory, app.quarantine, _SHOWN_DELETED)
    rows = tuple(
        DeletedRow(
            gone.id, gone.title or _("New chat"), show_moment(gone.deleted_ms, now_ms), _messages(gone.message_count)
        )
        for gone in found.shown
    )
    return Trash(rows, max(found.count - _SHOWN_DELETED, 0))


def find_sessions(app: App, asked: HistoryFilter, before: Cursor | None) -> FoundPage:
    """A stretch of the conversations that fit, newest first. Reads the disk."""
    found = _select(app, asked, before)
    shown = found[:_ROWS_AT_ONCE]
    places = app.sessions.find_places([summary.id for summary in shown], asked.query) if asked.query.strip() else ()
    hits = {hit.session_id: hit for hit in places}
    now_ms = app.clock.now_ms()
    return FoundPage(
        rows=tuple(_row(summary, asked, hits.get(summary.id), now_ms) for summary in shown),
        is_filtered=not asked.is_empty,
        is_first=before is None,
        next_address=_address(asked, show_cursor(shown[-1])) if len(found) > len(shown) else "",
    )


class _Bounds(Struct, frozen=True):
    since_ms: int
    until: Cursor | None


def _select(app: App, asked: HistoryFilter, before: Cursor | None) -> list[SessionSummary]:
    """The next rows, and one more when there are more."""
    bounds = _bounds(asked)
    cursor = min((cursor for cursor in (before, bounds.until) if cursor is not None), default=None)
    found = app.sessions.list(
        _ROWS_AT_ONCE + 1, cursor, asked.query, folder=asked.folder or None, model=asked.model.strip()
    )
    return [summary for summary in found if summary.updated_ms >= bounds.since_ms]


def _bounds(asked: HistoryFilter) -> _Bounds:
    since, until = _read_day(asked.since), _read_day(asked.until)
    return _Bounds(
        since_ms=_start_ms(since) if since else 0,
        until=(_start_ms(until + timedelta(days=1)), "") if until else None,
    )


def _read_day(text: str) -> date | None:
    """A day, none for anything unreadable and for years that no conversation is from."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return day if 1971 <= day.year <= 9000 else None


def _start_ms(day: date) -> int:
    """The first moment of a day in this machine's zone."""
    return int(datetime.combine(day, time()).astimezone().timestamp() * 1000)


def _row(summary: SessionSummary, asked: HistoryFilter, hit: SearchHit | None, now_ms: int) -> FoundSession:
    model = "/".join(name for name in (summary.provider, summary.model) if name)
    excerpt = _excerpt(summary, asked.query, hit)
    return FoundSession(
        id=summary.id,
        title=summary.title or _("New chat"),
        address=excerpt.address if excerpt else chat_address(summary.id),
        when=show_moment(summary.updated_ms, now_ms),
        facts=tuple(fact for fact in (_messages(summary.message_count), model) if fact),
        folder=summary.folder,
        is_pinned=summary.pinned,
        excerpts=(excerpt,) if excerpt else (),
    )


def _excerpt(summary: SessionSummary, query: str, hit: SearchHit | None) -> Excerpt | None:
    """Where the words are; nothing when it is the title, which stands there anyway."""
    if hit is None or hit.message_index is None:
        return None
    return Excerpt(mark_pieces(hit.snippet, hit.spans), chat_address(summary.id, hit.message_index, query))


def _messages(count: int) -> str:
    return ngettext("%(num)d message", "%(num)d messages", count)


def _address(asked: HistoryFilter, cursor: str) -> str:
    values = {
        "q": asked.query,
        "folder": asked.folder,
        "since": asked.since,
        "until": asked.until,
        "model": asked.model,
        "before": cursor,
    }
    return f"/history?{urlencode({name: value for name, value in values.items() if value})}"
