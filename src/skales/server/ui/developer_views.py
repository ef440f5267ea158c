"""What the templates of the Developer section are given; see `server.views`."""

from collections.abc import Sequence
from typing import ClassVar

from markupsafe import Markup
from msgspec import Struct

from skales.server.frame_views import Shell
from skales.server.views import Moment


class RouteForm(Struct, frozen=True):
    """One operation with the form that calls it."""

    name: str
    method: str
    path: str
    what: str
    parameters: Sequence[str]
    body: str
    command: str
    is_current: bool


class Playground(Struct, frozen=True):
    """Every operation, and the chosen one's form. `has_token` false means that most calls will be refused."""

    template: ClassVar[str] = "developer/playground.html"
    shell: Shell
    routes: Sequence[RouteForm]
    current: RouteForm
    has_token: bool
    config_path: str


class Fact(Struct, frozen=True):
    """One named value of the status."""

    name: str
    value: str


class DebugTool(Struct, frozen=True):
    """A tool as the DevKit lists it."""

    name: str
    enabled: bool


class DebugSession(Struct, frozen=True):
    """A conversation as the DevKit lists it."""

    id: str
    title: str
    model: str
    messages: int
    when: Moment


class DebugMemory(Struct, frozen=True):
    """A memory as the DevKit lists it."""

    id: str
    category: str
    content: str


class DebugPanel(Struct, frozen=True):
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


class DevKitDocs(Struct, frozen=True):
    """DEVKIT.md, or what the routes say of themselves."""

    template: ClassVar[str] = "developer/docs.html"
    shell: Shell
    html: Markup
    path: str
    is_own: bool


class DevKitOff(Struct, frozen=True):
    """What the section shows while the DevKit is off."""

    template: ClassVar[str] = "developer/off.html"
    shell: Shell
    config_path: str
