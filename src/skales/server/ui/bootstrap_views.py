"""What the templates of the first run are given; see `server.views`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from skales.server.conversation_views import StarterFacts
from skales.server.views import Trouble


@dataclass(frozen=True, slots=True)
class StepMark:
    """One step in the line above: done, current, or still to come."""

    label: str
    number: int
    is_done: bool
    is_current: bool


@dataclass(frozen=True, slots=True)
class Progression:
    """Where in the first run a page stands. `back` is empty on the first page."""

    title: str
    steps: Sequence[StepMark]
    theme: str
    accent: str
    back: str


@dataclass(frozen=True, slots=True)
class Option:
    """One of several to choose from."""

    value: str
    label: str
    help: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class LanguageStep:
    """Which language the page speaks."""

    template: ClassVar[str] = "bootstrap/language.html"
    progression: Progression
    languages: Sequence[Option]


@dataclass(frozen=True, slots=True)
class FoundLocal:
    """A model server that runs on this computer."""

    provider_id: str
    label: str
    address: str
    models: Sequence[str]


@dataclass(frozen=True, slots=True)
class AnswererStep:
    """Who answers: the starter model, a server that runs here, or a provider with a key."""

    template: ClassVar[str] = "bootstrap/answerer.html"
    progression: Progression
    starter: StarterFacts
    found: Sequence[FoundLocal]
    providers: Sequence[Option]
    model: str
    base_url: str
    trouble: Trouble | None = None


@dataclass(frozen=True, slots=True)
class SafetyStep:
    """What may be done unasked, and where."""

    template: ClassVar[str] = "bootstrap/safety.html"
    progression: Progression
    modes: Sequence[Option]
    workspace: str
    folder: str
    suggestions: Sequence[str]
    trouble: Trouble | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """Something to begin with: what it is about, and the whole message."""

    label: str
    text: str


@dataclass(frozen=True, slots=True)
class TaskStep:
    """Three first tasks on the person's own folder."""

    template: ClassVar[str] = "bootstrap/tasks.html"
    progression: Progression
    folder: str
    tasks: Sequence[Task]
    answerer: str
