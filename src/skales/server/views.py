"""What each template is given as `view`: frozen facts, ready to show. No template computes, loads or decides.

A class names its template; parts of a page that never stand alone name none. The frame's, the steps' and the
conversation's stand in `*_views.py` beside this, those of other pages with what builds them in `ui/`.
"""

from enum import StrEnum
from typing import ClassVar, Protocol

from msgspec import Struct


class View(Protocol):
    """Anything that can be rendered."""

    template: ClassVar[str]


class Screen(StrEnum):
    """Which entry of the navigation is lit."""

    CHAT = "chat"
    HISTORY = "history"
    TOOLS = "tools"
    TASKS = "tasks"
    SCHEDULE = "schedule"
    ACTIVITY = "activity"
    COSTS = "costs"
    OUTBOX = "outbox"
    UNDO = "undo"
    ADDONS = "addons"
    GRANTS = "grants"
    SETTINGS = "settings"
    DEVELOPER = "developer"
    NONE = "none"


class Moment(Struct, frozen=True):
    """A time for people, and for machines."""

    iso: str
    words: str


class Trouble(Struct, frozen=True):
    """Something went wrong: what, what to do next, and where that can be done."""

    message: str
    hint: str = ""
    link: str = ""
    link_words: str = ""
