"""What a tool function gets as `ctx`: the surroundings of its call, the rules it obeys and the stores it may use.

Stores are named by what tools need of them, so that a tool's reach can be read here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from skales.core.clock import Clock
from skales.core.ids import IdSource
from skales.core.ports import CallScope
from skales.data.paths import DataDirectory
from skales.security.network import NetworkPolicy
from skales.security.paths import PathPolicy


class SessionHit(Protocol):
    """One place in a past conversation that holds the words asked for."""

    @property
    def session_id(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def snippet(self) -> str: ...
    @property
    def timestamp_ms(self) -> int: ...


class SessionSearch(Protocol):
    """Past conversations, for reading."""

    def search(self, query: str, limit: int) -> Sequence[SessionHit]:
        """Best places first."""
        ...


class Memory(Protocol):
    """One remembered fact."""

    @property
    def id(self) -> str: ...
    @property
    def content(self) -> str: ...


class MemoryNotes(Protocol):
    """What the agent remembers between conversations."""

    def add(self, content: str) -> Memory:
        """Remember a fact."""
        ...

    def search(self, query: str, limit: int) -> Sequence[Memory]:
        """Best matches first."""
        ...


class Task(Protocol):
    """One background task."""

    @property
    def id(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def state(self) -> str: ...


class TaskList(Protocol):
    """Background tasks."""

    def add(self, title: str, description: str, priority: str) -> Task:
        """File a task for later."""
        ...

    def list(self) -> Sequence[Task]:
        """All tasks, newest first."""
        ...


@dataclass(frozen=True, slots=True)
class ToolContext:
    """The surroundings of one call. Path arguments arrive checked; what a tool derives from them it checks again.

    `command_timeout_s` bounds a shell command or script.
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
