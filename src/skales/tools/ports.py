"""What tools need of the stores and services around them: only what they use of each, so that their reach is seen."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from skales.core.ids import SessionId
from skales.core.tool import ToolSpec
from skales.data.agent_skills import SkillShelf
from skales.data.capabilities import CapabilityNote
from skales.data.connectors import Connector
from skales.data.cron import Job
from skales.data.deploy_targets import DeployTarget
from skales.data.ftp_profiles import FtpProfile
from skales.data.graph_shape import Entity, EntityChange
from skales.data.index import SearchHit
from skales.data.knowledge_graph import Excerpt, Link, Updated
from skales.data.memories import Memory, MemoryHit
from skales.data.planner import PlannerTask, Span
from skales.data.published import PublishedFile
from skales.data.skill_text import Skill
from skales.data.tasks import Task
from skales.data.workflows import Workflow
from skales.tools.conditions import Standing
from skales.tools.programs import Background, Launch

if TYPE_CHECKING:
    from skales.tools.web.search_desk import ReadyEngine


class ToolSearch(Protocol):
    """The tools there are, for finding more of them."""

    def enabled(self) -> Sequence[ToolSpec]:
        """Those that are on, in a stable order."""
        ...

    def search(self, request: str, limit: int) -> Sequence[ToolSpec]:
        """Those that are on and that a request may be about, the likeliest first."""
        ...


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


class Planner(Protocol):
    """What the person means to do themselves."""

    def now(self) -> datetime:
        """This moment where the person is."""
        ...

    def add(
        self, title: str, *, day: str = ..., at: str = ..., duration_min: int = ..., notes: str = ...
    ) -> PlannerTask:
        """Make an entry. Raises InputError."""
        ...

    def list(self, span: Span = ..., *, first: str = ..., last: str = ...) -> Sequence[PlannerTask]:
        """Entries in the order of their time. Raises InputError for a day that is none."""
        ...


class Graph(Protocol):
    """Entities and their relations."""

    def query(self, words: str = ..., kind: str = ..., *, depth: int = ..., limit: int = ...) -> Excerpt:
        """The best answers first, with what is around them."""
        ...

    def update(self, change: EntityChange, link: Link | None = ...) -> Updated:
        """Make an entity or merge into it, and relate it to another. Raises InputError."""
        ...

    def delete(self, name: str, kind: str = ...) -> tuple[Entity, int]:
        """Remove an entity; how many relations went with it. Raises InputError."""
        ...

    def unrelate(self, source: str, target: str, relation: str = ...) -> int:
        """Remove relations; how many. Raises InputError."""
        ...


class SkillStore(Protocol):
    """Instructions for kinds of tasks."""

    def list(self) -> SkillShelf:
        """All of them, and the broken ones."""
        ...

    def find(self, name: str) -> Skill:
        """The one of this name or folder. Raises InputError."""
        ...

    def files(self, skill: Skill) -> Sequence[str]:
        """What lies beside its text."""
        ...

    def read_file(self, skill: Skill, name: str) -> str:
        """A text beside it. Raises InputError, StorageError."""
        ...

    def create(self, name: str, description: str, body: str) -> Skill:
        """Write a new one. Raises InputError."""
        ...


class NoticeSink(Protocol):
    """Where the person sees what happened elsewhere; to be called on the event loop."""

    def add_word(self, title: str, text: str, session_id: SessionId = ...) -> None:
        """Tell the person something."""
        ...


class ProgramView(Protocol):
    """The program as it stands, without secrets; looking makes no request."""

    def status(self) -> Mapping[str, str]:
        """What is set up and how it fares, by name."""
        ...

    def tools(self) -> Sequence[tuple[ToolSpec, bool]]:
        """Every tool there is at this moment, and whether it is on."""
        ...

    def identity(self) -> Sequence[tuple[str, str]]:
        """The texts about who Skales is and whom it works for, by name."""
        ...

    def notes(self) -> Sequence[CapabilityNote]:
        """What was noted about its abilities."""
        ...

    def note(self, noted: CapabilityNote) -> bool:
        """Keep a note, in place of the former one of that name; whether there was one. Raises InputError."""
        ...


class VaultFolder(Protocol):
    """A folder of notes, as the person set it up."""

    @property
    def path(self) -> str:
        """Where it is, `~` allowed."""
        ...

    @property
    def alias(self) -> str:
        """What the person calls it; may be empty."""
        ...


class NoteFormat(Protocol):
    """How new notes are made; empty texts are plain."""

    @property
    def folder(self) -> str:
        """Where they go unless said otherwise."""
        ...

    @property
    def template(self) -> str:
        """Their text, with `{title} {date} {time} {content} {tag}`."""
        ...

    @property
    def tag(self) -> str:
        """A tag that each gets."""
        ...

    @property
    def filename(self) -> str:
        """Their names, with `{title} {date} {time}`."""
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


class Camera(Protocol):
    """A camera that the person has set up."""

    @property
    def address(self) -> str:
        """Where it gives one picture, or its device."""
        ...

    @property
    def username(self) -> str:
        """Empty when it asks for none."""
        ...

    @property
    def password(self) -> str:
        """Never shown to anybody."""
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
