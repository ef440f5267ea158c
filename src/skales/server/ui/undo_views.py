"""What the templates of the undo pages are given; see `server.views`."""

from typing import ClassVar

from msgspec import Struct

from skales.server.frame_views import Shell
from skales.server.views import Moment


class UndoRow(Struct, frozen=True):
    """One step of the timeline. Addresses are empty where nothing can be taken back or brought back."""

    id: str
    when: Moment
    summary: str
    facts: str
    state: str
    state_words: str
    undo_address: str
    redo_address: str


class UndoTurn(Struct, frozen=True):
    """What belongs together: the steps of one turn, newest first. `chat_address` is empty outside of conversations."""

    heading: str
    chat_address: str
    undo_address: str
    redo_address: str
    rows: tuple[UndoRow, ...]


class UndoPage(Struct, frozen=True):
    """The timeline. `told` says what was just done."""

    template: ClassVar[str] = "undo/page.html"
    shell: Shell
    turns: tuple[UndoTurn, ...]
    older_address: str
    told: str


class DiffLine(Struct, frozen=True):
    """A line of a diff; `kind` is added, removed, place or empty."""

    kind: str
    text: str


class UndoChange(Struct, frozen=True):
    """What happens to one thing; with a problem, nothing does."""

    name: str
    what: str
    note: str
    problem: str
    lines: tuple[DiffLine, ...]


class UndoStepPage(Struct, frozen=True):
    """What taking a step or a turn back would do, before it is done."""

    template: ClassVar[str] = "undo/step.html"
    shell: Shell
    heading: str
    step_id: str
    is_turn: bool
    is_redo: bool
    turn_address: str
    steps: tuple[str, ...]
    notes: tuple[str, ...]
    ready: int
    blocked: tuple[UndoChange, ...]
    changes: tuple[UndoChange, ...]
