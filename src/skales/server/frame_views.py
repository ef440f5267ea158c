"""What the frame around every page is given: the sidebar, the way here, the tray, and the page of an error."""

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from skales.server.views import Moment, Screen, Trouble


class RowState(StrEnum):
    """What happens in a conversation, beside its title."""

    QUIET = "quiet"
    RUNNING = "running"
    WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A conversation in the sidebar. `folder` is empty for none."""

    id: str
    title: str
    when: Moment
    is_current: bool
    is_pinned: bool = False
    folder: str = ""
    state: RowState = RowState.QUIET


@dataclass(frozen=True, slots=True)
class SessionGroup:
    """Conversations of one period."""

    label: str
    rows: tuple[SessionRow, ...]


@dataclass(frozen=True, slots=True)
class SessionFolder:
    """A folder of the sidebar; what is in it is fetched when it is opened."""

    name: str
    count: int


@dataclass(frozen=True, slots=True)
class SessionHit:
    """A conversation that was found. `pieces` are the line around the words, those that are the words with true."""

    row: SessionRow
    address: str
    pieces: tuple[tuple[str, bool], ...] = ()


@dataclass(frozen=True, slots=True)
class SessionList:
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


@dataclass(frozen=True, slots=True)
class PlaceLink:
    """An entry of the navigation."""

    id: str
    address: str
    symbol: str
    label: str


@dataclass(frozen=True, slots=True)
class Crumb:
    """A screen above the one that is shown."""

    address: str
    label: str


@dataclass(frozen=True, slots=True)
class TrayEntry:
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


@dataclass(frozen=True, slots=True)
class Tray:
    """The notices. `place` says which state of the board this is, `showing` for which conversation's page."""

    template: ClassVar[str] = "tray.html"
    entries: tuple[TrayEntry, ...] = ()
    unread: int = 0
    place: str = ""
    showing: str = ""


@dataclass(frozen=True, slots=True)
class Shell:
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


@dataclass(frozen=True, slots=True)
class ErrorPage:
    """A page that cannot be shown, in plain words."""

    template: ClassVar[str] = "error.html"
    shell: Shell
    heading: str
    trouble: Trouble
    code: str = ""
