"""What a tool function gets as `ctx`: the surroundings of its call, the rules it obeys and the stores it may use.

Stores are named by what tools need of them, so that a tool's reach can be read here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from skales.core.clock import Clock
from skales.core.ids import IdSource
from skales.core.ports import CallScope
from skales.data.cron import Job
from skales.data.index import SearchHit
from skales.data.memories import Memory, MemoryHit
from skales.data.paths import DataDirectory
from skales.data.tasks import Task
from skales.data.workflows import Workflow
from skales.security.network import NetworkPolicy
from skales.security.paths import PathPolicy
from skales.tools.starting import WorkStarter


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


class ScheduledJobs(Protocol):
    """What runs on a schedule."""

    def add(self, name: str, schedule: str, task: str) -> Job:
        """Make a job that is on; an identical one is returned instead. Raises InputError."""
        ...

    def list(self) -> Sequence[Job]:
        """All jobs, newest first."""
        ...

    def get(self, job_id: str) -> Job:
        """One job. Raises NotFoundError."""
        ...

    def delete(self, job_id: str) -> bool:
        """Remove a job; whether there was one."""
        ...


class SavedWorkflows(Protocol):
    """Workflows that were written down."""

    def find(self, trigger: str) -> Workflow:
        """One by its trigger. Raises NotFoundError that names those there are."""
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
    cron: ScheduledJobs = field(kw_only=True)
    workflows: SavedWorkflows = field(kw_only=True)
    work: WorkStarter = field(kw_only=True)
