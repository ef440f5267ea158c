"""What a tool function gets as `ctx`: the surroundings of its call, the rules it obeys and the stores it may use.

Stores are named by what tools need of them, so that a tool's reach can be read here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from skales.core.clock import Clock
from skales.core.ids import IdSource
from skales.core.ports import CallScope
from skales.data.index import SearchHit
from skales.data.memories import Memory, MemoryHit
from skales.data.paths import DataDirectory
from skales.data.tasks import Task
from skales.security.network import NetworkPolicy
from skales.security.paths import PathPolicy
from skales.tools.programs import Background, Launch


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


class BackgroundPrograms(Protocol):
    """What commands were told to leave running; it ends with the app."""

    def start(self, launch: Launch, program: Background) -> Background:
        """Start it with its output in its file. Call it where it may run as long as the app. Raises ToolError."""
        ...

    def list(self) -> Sequence[Background]:
        """Those that run, and those that ended lately, newest first."""
        ...

    async def end(self, program_id: str) -> Background:
        """End it with everything it started. Raises NotFoundError."""
        ...


@dataclass(frozen=True, slots=True)
class SandboxRules:
    """How programs are confined: in a sandbox where there is one, only in one, or not at all; and their network."""

    is_wanted: bool = True
    is_required: bool = False
    allows_network: bool = True


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
    background: BackgroundPrograms
    sandbox: SandboxRules = SandboxRules()
    command_timeout_s: float = 120
