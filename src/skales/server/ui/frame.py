"""The frame around every page: theme, navigation, and the list of conversations."""

from collections.abc import Sequence
from itertools import groupby

from skales.app.wiring import App
from skales.core.ids import is_safe_id
from skales.data.index import SessionSummary
from skales.server.ui.phrases import show_moment, show_period
from skales.server.views import ErrorPage, Screen, SessionGroup, SessionList, SessionRow, Shell, Trouble

_SESSIONS_AT_ONCE = 60
_THEMES = ("light", "dark")
# Each has its tokens in css/tokens.css.
ACCENTS = ("viridian", "indigo", "amber")

Cursor = tuple[int, str]


def build_shell(app: App, title: str, screen: Screen, *, current: str = "", query: str = "") -> Shell:
    """The frame of a page. Reads the disk."""
    settings = app.settings.load()
    return Shell(
        title=title,
        screen=screen,
        theme=settings.theme if settings.theme in _THEMES else "system",
        accent=settings.accent if settings.accent in ACCENTS else ACCENTS[0],
        sessions=build_session_list(app, current=current, query=query),
    )


def build_session_list(app: App, *, current: str, query: str = "", before: Cursor | None = None) -> SessionList:
    """A stretch of conversations, newest first, after the one that `before` names. Reads the disk."""
    found = app.sessions.list(limit=_SESSIONS_AT_ONCE + 1, before=before, query=query)
    shown = found[:_SESSIONS_AT_ONCE]
    last = shown[-1] if len(found) > len(shown) else None
    now_ms = app.clock.now_ms()
    return SessionList(
        groups=_group(shown, current, now_ms, headed=show_period(before[0], now_ms) if before else ""),
        query=query,
        current=current,
        next_before=f"{last.updated_ms}~{last.id}" if last else "",
        is_first=before is None,
    )


def parse_cursor(text: str) -> Cursor | None:
    """The place a list goes on after, None for the start or anything unreadable."""
    moment, _, session_id = text.partition("~")
    return (int(moment), session_id) if moment.isdecimal() and is_safe_id(session_id) else None


def build_error_page(app: App, heading: str, trouble: Trouble) -> ErrorPage:
    """A page that says what went wrong. Reads the disk."""
    return ErrorPage(build_shell(app, heading, Screen.NONE), heading, trouble)


def _group(summaries: Sequence[SessionSummary], current: str, now_ms: int, headed: str) -> tuple[SessionGroup, ...]:
    """By period; the one that stands above already (`headed`) gets no second heading."""
    periods = groupby(summaries, key=lambda summary: show_period(summary.updated_ms, now_ms))
    return tuple(
        SessionGroup("" if label == headed else label, tuple(_row(summary, current, now_ms) for summary in members))
        for label, members in periods
    )


def _row(summary: SessionSummary, current: str, now_ms: int) -> SessionRow:
    when = show_moment(summary.updated_ms, now_ms)
    return SessionRow(summary.id, summary.title or "New chat", when, summary.id == current)
