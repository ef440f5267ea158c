"""What the templates of the Developer section are given; see `server.views`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from markupsafe import Markup

from skales.server.frame_views import Shell
from skales.server.views import Moment


@dataclass(frozen=True, slots=True)
class RouteForm:
    """One operation with the form that calls it."""

    name: str
    method: str
    path: str
    what: str
    parameters: Sequence[str]
    body: str
    command: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class Playground:
    """Every operation, and the chosen one's form. `has_token` false means that most calls will be refused."""

    template: ClassVar[str] = "developer/playground.html"
    shell: Shell
    routes: Sequence[RouteForm]
    current: RouteForm
    has_token: bool
    config_path: str


@dataclass(frozen=True, slots=True)
class Fact:
    """One named value of the status."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class DebugTool:
    """A tool as the DevKit lists it."""

    name: str
    enabled: bool


@dataclass(frozen=True, slots=True)
class DebugSession:
    """A conversation as the DevKit lists it."""

    id: str
    title: str
    model: str
    messages: int
    when: Moment


@dataclass(frozen=True, slots=True)
class DebugMemory:
    """A memory as the DevKit lists it."""

    id: str
    category: str
    content: str


@dataclass(frozen=True, slots=True)
class DebugPanel:
    """What the routes would answer now, read by the same readers; long lists show their newest entries."""

    template: ClassVar[str] = "developer/debug.html"
    shell: Shell
    status: Sequence[Fact]
    tools: Sequence[DebugTool]
    tools_on: int
    sessions: Sequence[DebugSession]
    session_count: int
    memories: Sequence[DebugMemory]
    memory_count: int
    raw: str


@dataclass(frozen=True, slots=True)
class DevKitDocs:
    """DEVKIT.md, or what the routes say of themselves."""

    template: ClassVar[str] = "developer/docs.html"
    shell: Shell
    html: Markup
    path: str
    is_own: bool


@dataclass(frozen=True, slots=True)
class DevKitOff:
    """What the section shows while the DevKit is off."""

    template: ClassVar[str] = "developer/off.html"
    shell: Shell
    config_path: str
