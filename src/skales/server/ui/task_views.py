"""What the tasks page is given: states in words, and which actions each task allows now."""

from typing import ClassVar

from msgspec import Struct

from skales.server.frame_views import Shell
from skales.server.views import Moment, Trouble


class TaskRow(Struct, frozen=True):
    """One task. `kind` colours its state; an empty address or text is not there. `waits` for the person's answer."""

    id: str
    title: str
    description: str
    state: str
    kind: str
    priority: str
    when: Moment
    duration: str
    result: str
    error: str
    notes: tuple[str, ...]
    address: str
    waits: bool
    can_cancel: bool
    can_retry: bool
    can_delete: bool


class TaskBoard(Struct, frozen=True):
    """The list. `is_idle` says that this program runs no tasks; `trouble` what an action could not do."""

    template: ClassVar[str] = "tasks/board.html"
    rows: tuple[TaskRow, ...]
    more: int
    is_idle: bool
    trouble: Trouble | None = None


class TasksPage(Struct, frozen=True):
    """The page: the list, and a form to file a task with what was typed when it could not be filed."""

    template: ClassVar[str] = "tasks/page.html"
    shell: Shell
    board: TaskBoard
    priorities: tuple[tuple[str, str], ...]
    priority: str
    title: str = ""
    description: str = ""
    error: str = ""
