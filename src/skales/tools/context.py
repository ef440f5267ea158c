"""What a tool function gets as `ctx`: the surroundings of its call, the rules it obeys and the stores it may use.

Stores are named by what tools need of them, so that a tool's reach can be read here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from skales.core.clock import Clock
from skales.core.ids import IdSource
from skales.core.ports import CallScope
from skales.data.deploy_targets import DeployTarget
from skales.data.ftp_profiles import FtpProfile
from skales.data.index import SearchHit
from skales.data.memories import Memory, MemoryHit
from skales.data.paths import DataDirectory
from skales.data.published import PublishedFile
from skales.data.tasks import Task
from skales.security.network import NetworkPolicy
from skales.security.paths import PathPolicy


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


class FtpProfileBook(Protocol):
    """Servers a person set up to publish to, with their passwords: for connecting, never for showing."""

    def list(self) -> Sequence[FtpProfile]:
        """All of them."""
        ...

    def find(self, name: str) -> FtpProfile:
        """The profile of this id or alias. Raises NotFoundError."""
        ...

    def pin(self, profile_id: str, fingerprint: str) -> None:
        """Keep the key a server showed first. Raises NotFoundError."""
        ...


class DeployTargetBook(Protocol):
    """Where a person wants each project to go."""

    def find(self, project: Path) -> DeployTarget:
        """The target of a project's folder. Raises NotFoundError."""
        ...


class PublishedBook(Protocol):
    """What was last put where."""

    def load(self, place: str) -> Mapping[str, PublishedFile]:
        """Path → file; empty for a place nothing is known of."""
        ...

    def save(self, place: str, files: Mapping[str, PublishedFile]) -> None:
        """Replace what is known of a place."""
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
    ftp_profiles: FtpProfileBook
    deploy_targets: DeployTargetBook
    published: PublishedBook
    command_timeout_s: float = 120
