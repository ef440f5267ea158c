"""What a tool function gets as `ctx`: the surroundings of its call, the rules it obeys and the stores it may use.

Stores are named by what tools need of them, so that a tool's reach can be read here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from skales.core.clock import Clock
from skales.core.ids import IdSource
from skales.core.ports import CallScope
from skales.data.connectors import Connector
from skales.data.index import SearchHit
from skales.data.memories import Memory, MemoryHit
from skales.data.paths import DataDirectory
from skales.data.tasks import Task
from skales.security.network import NetworkPolicy
from skales.security.paths import PathPolicy
from skales.tools.conditions import Standing

if TYPE_CHECKING:
    from skales.tools.web.search_desk import ReadyEngine


class SessionSearch(Protocol):
    """Past conversations, for reading."""

    def search(self, query: str, limit: int) -> Sequence[SearchHit]:
        """The best place of each conversation, best first."""
        ...


class MemoryNotes(Protocol):
    """What the agent remembers between conversations."""

    def add(self, content: str, category: str = ..., keywords: Sequence[str] = ..., *, source: str = ...) -> Memory:
        """Keep a memory; one that says the same already is returned instead. Raises InputError."""
        ...

    def search(self, query: str, limit: int) -> Sequence[MemoryHit]:
        """The best matches first."""
        ...


class TaskList(Protocol):
    """Background tasks."""

    def add(self, title: str, description: str = ..., priority: str = ..., *, agent: str = ...) -> Task:
        """Make a pending task. Raises InputError."""
        ...

    def list(self, status: str = ...) -> Sequence[Task]:
        """All tasks, or those of one status, newest first. Raises InputError for an unknown status."""
        ...


class SearchEngines(Protocol):
    """The search engines that can be asked now."""

    def engines(self) -> "Sequence[ReadyEngine]":
        """Those to ask, in their order."""
        ...

    def buzzwords(self) -> Sequence[str]:
        """Words that no result may hold, in small letters."""
        ...

    def report_failure(self, engine_id: str) -> None:
        """It did not answer as it should."""
        ...

    def report_success(self, engine_id: str) -> None:
        """It answered."""
        ...

    def standing(self) -> Standing:
        """Whether there is one to ask."""
        ...


class Connectors(Protocol):
    """REST services that the person set up, with their keys."""

    def get(self, name: str) -> Connector:
        """The one of an id or name. Raises NotFoundError."""
        ...

    def add(self, connector: Connector) -> Connector:
        """Keep a new one. Raises InputError."""
        ...


@dataclass(frozen=True, slots=True)
class ToolContext:
    """The surroundings of one call. Path arguments arrive checked; what a tool derives from them it checks again.

    `command_timeout_s` bounds a shell command or script. `service_urls` are addresses the person named instead of the
    usual ones of keyless services.
    """

    scope: CallScope
    paths: PathPolicy
    network: NetworkPolicy
    data: DataDirectory
    sessions: SessionSearch
    memories: MemoryNotes
    tasks: TaskList
    clock: Clock
    ids: IdSource
    command_timeout_s: float = 120
    search: SearchEngines = field(kw_only=True)
    connectors: Connectors = field(kw_only=True)
    service_urls: Mapping[str, str] = field(kw_only=True)
