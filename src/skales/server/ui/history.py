"""The sidebar's conversations: pinned ones first, folders, then by date; and what a search finds in them."""

from collections.abc import Sequence
from itertools import groupby
from urllib.parse import quote, urlencode

from msgspec import Struct

from skales.app.app import App
from skales.app.notices import Subject
from skales.core.ids import SessionId, is_safe_id
from skales.data.index import SearchHit, SessionSummary
from skales.server.frame_views import RowState, SessionFolder, SessionGroup, SessionHit, SessionList, SessionRow
from skales.server.ui.phrases import show_moment, show_period
from skales.server.words import _

Cursor = tuple[int, str]
Pieces = tuple[tuple[str, bool], ...]

_SESSIONS_AT_ONCE = 60
_MOST_PINNED = 200
_MOST_HITS = 40


class _Rows(Struct, frozen=True):
    """What every row of a list needs to know."""

    app: App
    current: str
    now_ms: int
    waiting: frozenset[str]

    def build(self, summary: SessionSummary) -> SessionRow:
        return SessionRow(
            id=summary.id,
            title=summary.title or _("New chat"),
            when=show_moment(summary.updated_ms, self.now_ms),
            is_current=summary.id == self.current,
            is_pinned=summary.pinned,
            folder=summary.folder,
            state=self._state(summary.id),
        )

    def _state(self, session_id: SessionId) -> RowState:
        if session_id in self.waiting:
            return RowState.WAITING
        return RowState.RUNNING if self.app.turns.running(session_id) else RowState.QUIET


def build_session_list(
    app: App, *, current: str, query: str = "", before: Cursor | None = None, folder: str = ""
) -> SessionList:
    """A stretch of conversations, newest first, after the one that `before` names. Reads the disk.

    The first stretch outside of folders brings the pinned ones and the folders along.
    """
    rows = _rows(app, current)
    if query.strip():
        return SessionList((), query, current, hits=_find(app, query, rows))
    is_first = before is None
    top = app.sessions.overview(_SESSIONS_AT_ONCE + 1, _MOST_PINNED) if is_first and not folder else None
    found = top.loose if top else _list_more(app, before, folder)
    shown = found[:_SESSIONS_AT_ONCE]
    last = shown[-1] if len(found) > len(shown) else None
    headed = show_period(before[0], rows.now_ms) if before else ""
    return SessionList(
        groups=(SessionGroup("", tuple(map(rows.build, shown))),) if folder else _group(shown, rows, headed),
        current=current,
        next_before=show_cursor(last) if last else "",
        is_first=is_first,
        pinned=tuple(map(rows.build, top.pinned)) if top else (),
        folders=tuple(SessionFolder(found.name, found.count) for found in top.folders) if top else (),
        folder=folder,
    )


def _list_more(app: App, before: Cursor | None, folder: str) -> Sequence[SessionSummary]:
    return app.sessions.list(
        limit=_SESSIONS_AT_ONCE + 1, before=before, folder=folder, pinned=None if folder else False
    )


def show_cursor(last: SessionSummary) -> str:
    """The place after a conversation, as an address spells it; `parse_cursor` reads it."""
    return f"{last.updated_ms}~{last.id}"


def parse_cursor(text: str) -> Cursor | None:
    """The place a list goes on after, None for the start or anything unreadable."""
    moment, _tilde, session_id = text.partition("~")
    is_moment = moment.isascii() and moment.isdecimal() and len(moment) < 17
    return (int(moment), session_id) if is_moment and is_safe_id(session_id) else None


def mark_pieces(snippet: str, spans: Sequence[tuple[int, int]]) -> Pieces:
    """A line cut at the matches in it: words that were found with true, what is between them with false."""
    pieces: list[tuple[str, bool]] = []
    at = 0
    for start, end in spans:
        if at < start:
            pieces.append((snippet[at:start], False))
        if start < end:
            pieces.append((snippet[start:end], True))
        at = max(at, end)
    if at < len(snippet):
        pieces.append((snippet[at:], False))
    return tuple(pieces)


def chat_address(session_id: str, index: int | None = None, words: str = "") -> str:
    """A conversation's page, at a message when one is named, where these words are marked."""
    address = f"/chat/{quote(session_id)}"
    return address if index is None else f"{address}?{urlencode({'at': index, 'find': words})}"


def _rows(app: App, current: str) -> _Rows:
    asked = (entry for entry in app.notices.entries() if entry.subject is Subject.WAITING)
    return _Rows(app, current, app.clock.now_ms(), frozenset(entry.session_id for entry in asked))


def _group(summaries: Sequence[SessionSummary], rows: _Rows, headed: str) -> tuple[SessionGroup, ...]:
    """By period; the one that stands above already (`headed`) gets no second heading."""
    periods = groupby(summaries, key=lambda summary: show_period(summary.updated_ms, rows.now_ms))
    return tuple(
        SessionGroup("" if label == headed else label, tuple(map(rows.build, members))) for label, members in periods
    )


def _find(app: App, query: str, rows: _Rows) -> tuple[SessionHit, ...]:
    """The conversations that match best, with the place of the match in each."""
    return tuple(_hit(hit, query, rows) for hit in app.sessions.search(query, _MOST_HITS))


def _hit(hit: SearchHit, query: str, rows: _Rows) -> SessionHit:
    row = SessionRow(
        id=hit.session_id,
        title=hit.title or _("New chat"),
        when=show_moment(rows.now_ms, rows.now_ms),
        is_current=hit.session_id == rows.current,
    )
    return SessionHit(row, chat_address(hit.session_id, hit.message_index, query), mark_pieces(hit.snippet, hit.spans))
