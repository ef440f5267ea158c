"""What the templates of the tools page are given; see `server.views`."""

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from skales.server.frame_views import Shell
from skales.server.ui.activity_views import ActivityRow
from skales.server.views import Trouble


@dataclass(frozen=True, slots=True)
class ToolRow:
    """A tool in the list."""

    name: str
    summary: str
    enabled: bool
    is_current: bool


@dataclass(frozen=True, slots=True)
class ToolGroup:
    """Tools of one category."""

    label: str
    rows: tuple[ToolRow, ...]


class Control(StrEnum):
    """How a parameter is entered."""

    LINE = "line"
    TEXT = "text"
    NUMBER = "number"
    SWITCH = "switch"
    CHOICE = "choice"
    LIST = "list"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class ToolField:
    """One parameter of a tool as a form field. `field` is its name in the form."""

    name: str
    label: str
    help: str
    control: Control
    required: bool
    value: str = ""
    choices: tuple[str, ...] = ()
    step: str = ""
    minimum: str = ""
    maximum: str = ""
    example: str = ""
    error: str = ""

    @property
    def field(self) -> str:
        """Prefixed, so that no parameter name can meet a form's own."""
        return f"arg-{self.name}"


@dataclass(frozen=True, slots=True)
class ToolResultView:
    """What a direct run brought; `trouble` when it did not come to run."""

    template: ClassVar[str] = "tools/result.html"
    ok: bool
    text: str
    duration: str
    files: tuple[str, ...] = ()
    data: str = ""
    trouble: Trouble | None = None


@dataclass(frozen=True, slots=True)
class ToolPin:
    """Whether models always get the tool; of a basic one they do in any case."""

    template: ClassVar[str] = "tools/pin.html"
    name: str
    is_pinned: bool
    is_basic: bool


@dataclass(frozen=True, slots=True)
class ToolDetail:
    """One tool with its form. `effects` and `safety` are in plain words, `uses` its last calls."""

    template: ClassVar[str] = "tools/detail.html"
    name: str
    description: str
    category: str
    safety: str
    effects: tuple[str, ...]
    is_risky: bool
    enabled: bool
    why_off: str
    fields: tuple[ToolField, ...]
    command: str
    pin: ToolPin
    uses: tuple[ActivityRow, ...]
    result: ToolResultView | None = None


@dataclass(frozen=True, slots=True)
class ToolList:
    """Tools that fit the search."""

    template: ClassVar[str] = "tools/list.html"
    groups: tuple[ToolGroup, ...]
    query: str
    total: int


@dataclass(frozen=True, slots=True)
class ToolsPage:
    """The tool list, and the chosen tool beside it."""

    template: ClassVar[str] = "tools/page.html"
    shell: Shell
    tools: ToolList
    detail: ToolDetail | None
