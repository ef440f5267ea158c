"""What the frame around every page is given: the sidebar, the way here, the tray, and the page of an error."""

from enum import StrEnum
from typing import ClassVar

from msgspec import Struct

from skales.server.views import Moment, Screen, Trouble


class RowState(StrEnum):
    """What happens in a conversation, beside its title."""

    QUIET = "quiet"
    RUNNING = "running"
    WAITING = "waiting"


class SessionRow(Struct, frozen=True):
    """A conversation in the sidebar. `folder` is empty for none."""

    id: str
    title: str
    when: Moment
    is_current: bool
    is_pinned: bool = False
    folder: str = ""
    state: RowState = RowState.QUIET


class SessionGroup(Struct, frozen=True):
    """Conversations of one period."""

    label: str
    rows: tuple[SessionRow, ...]


class SessionFolder(Struct, frozen=True):
    """A folder of the sidebar; what is in it is fetched when it is opened."""

    name: str
    count: int


class SessionHit(Struct, frozen=True):
    """A conversation that was found. `pieces` are the line around the words, those that are the words with true."""

    row: SessionRow
    address: str
    pieces: tuple[tuple[str, bool], ...] = ()


class SessionList(Struct, frozen=True):
    """A stretch of the sidebar's list. `next_before` is empty at the end; later stretches are not `is_first`.

    With a `query` only `hits` are shown; `folder` is the one the rows are in, empty outside of folders.
    """

    template: ClassVar[str] = "sessions.html"
    groups: tuple[SessionGroup, ...]
    query: str = ""
    current: str = ""
    next_before: str = ""
    is_first: bool = True
    pinned: tuple[SessionRow, ...] = ()
    folders: tuple[SessionFolder, ...] = ()
    hits: tuple[SessionHit, ...] = ()
    folder: str = ""


class PlaceLink(Struct, frozen=True):
    """An entry of the navigation."""

    id: str
    address: str
    symbol: str
    label: str


class Crumb(Struct, frozen=True):
    """A screen above the one that is shown."""

    address: str
    label: str


class TrayEntry(Struct, frozen=True):
    """Something that happened elsewhere. `kind` is `good`, `warn`, `bad` or `ask` and gives the colour."""

    id: str
    kind: str
    symbol: str
    label: str
    text: str
    detail: str
    when: Moment
    address: str
    is_new: bool


class Tray(Struct, frozen=True):
    """The notices. `place` says which state of the board this is, `showing` for which conversation's page."""

    template: ClassVar[str] = "tray.html"
    entries: tuple[TrayEntry, ...] = ()
    unread: int = 0
    place: str = ""
    showing: str = ""


class Shell(Struct, frozen=True):
    """The frame: navigation, conversations, look. `deleted` is a conversation that can still be brought back."""

    title: str
    screen: Screen
    theme: str
    accent: str
    sessions: SessionList
    deleted: str = ""
    places: tuple[PlaceLink, ...] = ()
    crumbs: tuple[Crumb, ...] = ()
    tray: Tray = Tray()


class ErrorPage(Struct, frozen=True):
    """A page that cannot be shown, in plain words."""

    template: ClassVar[str] = "error.html"
    shell: Shell
    heading: str
    trouble: Trouble
    code: str = ""
