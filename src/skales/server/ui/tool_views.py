"""What the templates of the tools page are given; see `server.views`."""

from enum import StrEnum
from typing import ClassVar

from msgspec import Struct

from skales.server.frame_views import Shell
from skales.server.ui.activity_views import ActivityRow
from skales.server.views import Trouble


class ToolRow(Struct, frozen=True):
    """A tool in the list."""

    name: str
    summary: str
    enabled: bool
    is_current: bool


class ToolGroup(Struct, frozen=True):
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


class ToolField(Struct, frozen=True):
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


class ToolResultView(Struct, frozen=True):
    """What a direct run brought; `trouble` when it did not come to run."""

    template: ClassVar[str] = "tools/result.html"
    ok: bool
    text: str
    duration: str
    files: tuple[str, ...] = ()
    data: str = ""
    trouble: Trouble | None = None


class ToolPin(Struct, frozen=True):
    """Whether models always get the tool; of a basic one they do in any case."""

    template: ClassVar[str] = "tools/pin.html"
    name: str
    is_pinned: bool
    is_basic: bool


class ToolDetail(Struct, frozen=True):
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


class ToolList(Struct, frozen=True):
    """Tools that fit the search."""

    template: ClassVar[str] = "tools/list.html"
    groups: tuple[ToolGroup, ...]
    query: str
    total: int


class ToolsPage(Struct, frozen=True):
    """The tool list, and the chosen tool beside it."""

    template: ClassVar[str] = "tools/page.html"
    shell: Shell
    tools: ToolList
    detail: ToolDetail | None
