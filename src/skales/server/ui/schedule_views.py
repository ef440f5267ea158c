"""What the schedule page is given: jobs with their next and last runs in words, and what a typed schedule means."""

from typing import ClassVar

from msgspec import Struct

from skales.server.frame_views import Shell
from skales.server.views import Moment, Trouble


class RunRow(Struct, frozen=True):
    """One run. `kind` colours its state; `about` says why it began where that is not plain."""

    state: str
    kind: str
    when: Moment
    about: str
    error: str
    address: str


class JobRow(Struct, frozen=True):
    """One job. `next_run` is None when it is off or never due; `runs` are the last ones, newest first."""

    id: str
    name: str
    task: str
    words: str
    expression: str
    zone: str
    enabled: bool
    paused: str
    next_run: Moment | None
    is_running: bool
    runs: tuple[RunRow, ...]


class JobBoard(Struct, frozen=True):
    """The list. `is_idle` says that this program runs no jobs; `trouble` what an action could not do."""

    template: ClassVar[str] = "schedule/board.html"
    rows: tuple[JobRow, ...]
    is_idle: bool
    trouble: Trouble | None = None


class SchedulePreview(Struct, frozen=True):
    """What a schedule means: in words and as its next runs, or what is wrong with it; empty for an empty one."""

    template: ClassVar[str] = "schedule/preview.html"
    words: str = ""
    next_runs: tuple[Moment, ...] = ()
    error: str = ""


class SchedulePage(Struct, frozen=True):
    """The page: the list, and a form for a new job with what was typed when it could not be made."""

    template: ClassVar[str] = "schedule/page.html"
    shell: Shell
    board: JobBoard
    preview: SchedulePreview
    examples: tuple[tuple[str, str], ...]
    name: str = ""
    schedule: str = ""
    task: str = ""
    error: str = ""
