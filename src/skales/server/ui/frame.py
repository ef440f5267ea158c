"""The frame around every page: theme, navigation, notices, and the list of conversations, which `history` builds."""

from collections.abc import Sequence

from skales.app.app import App
from skales.server.frame_views import Crumb, ErrorPage, SessionList, Shell
from skales.server.ui.history import build_session_list
from skales.server.ui.notices import build_tray
from skales.server.ui.places import list_places, list_plain_places
from skales.server.views import Screen, Trouble

_THEMES = ("light", "dark")
# Each has its tokens in css/tokens.css.
ACCENTS = ("viridian", "indigo", "amber")


def build_shell(  # noqa: PLR0913 - what differs from page to page
    app: App, title: str, screen: Screen, *, current: str = "", query: str = "", crumbs: Sequence[Crumb] = ()
) -> Shell:
    """The frame of a page; `crumbs` are the screens above it. Reads the disk."""
    theme, accent = pick_look(app)
    return Shell(
        title=title,
        screen=screen,
        theme=theme,
        accent=accent,
        sessions=build_session_list(app, current=current, query=query),
        places=list_places(app),
        crumbs=tuple(crumbs),
        tray=build_tray(app, current),
    )


def build_plain_shell(title: str) -> Shell:
    """A frame without anything that must be read, for when reading is what failed."""
    return Shell(title, Screen.NONE, "system", ACCENTS[0], SessionList(()), places=list_plain_places())


def pick_look(app: App) -> tuple[str, str]:
    """The theme and the accent that were chosen, where there are such. Reads the disk."""
    settings = app.settings.load()
    theme = settings.theme if settings.theme in _THEMES else "system"
    return theme, settings.accent if settings.accent in ACCENTS else ACCENTS[0]


def build_error_page(app: App, heading: str, trouble: Trouble, *, code: str = "") -> ErrorPage:
    """A page that says what went wrong; `code` is the status it is known by. Reads the disk."""
    return ErrorPage(build_shell(app, heading, Screen.NONE), heading, trouble, code)
