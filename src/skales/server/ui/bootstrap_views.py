"""What the templates of the first run are given; see `server.views`."""

from collections.abc import Sequence
from typing import ClassVar

from msgspec import Struct

from skales.server.conversation_views import StarterFacts
from skales.server.views import Trouble


class StepMark(Struct, frozen=True):
    """One step in the line above: done, current, or still to come."""

    label: str
    number: int
    is_done: bool
    is_current: bool


class Progression(Struct, frozen=True):
    """Where in the first run a page stands. `back` is empty on the first page."""

    title: str
    steps: Sequence[StepMark]
    theme: str
    accent: str
    back: str


class Option(Struct, frozen=True):
    """One of several to choose from."""

    value: str
    label: str
    help: str
    chosen: bool


class LanguageStep(Struct, frozen=True):
    """Which language the page speaks."""

    template: ClassVar[str] = "bootstrap/language.html"
    progression: Progression
    languages: Sequence[Option]


class FoundLocal(Struct, frozen=True):
    """A model server that runs on this computer."""

    provider_id: str
    label: str
    address: str
    models: Sequence[str]


class AnswererStep(Struct, frozen=True):
    """Who answers: the starter model, a server that runs here, or a provider with a key."""

    template: ClassVar[str] = "bootstrap/answerer.html"
    progression: Progression
    starter: StarterFacts
    found: Sequence[FoundLocal]
    providers: Sequence[Option]
    model: str
    base_url: str
    trouble: Trouble | None = None


class SafetyStep(Struct, frozen=True):
    """What may be done unasked, and where."""

    template: ClassVar[str] = "bootstrap/safety.html"
    progression: Progression
    modes: Sequence[Option]
    workspace: str
    folder: str
    suggestions: Sequence[str]
    trouble: Trouble | None = None


class Task(Struct, frozen=True):
    """Something to begin with: what it is about, and the whole message."""

    label: str
    text: str


class TaskStep(Struct, frozen=True):
    """Three first tasks on the person's own folder."""

    template: ClassVar[str] = "bootstrap/tasks.html"
    progression: Progression
    folder: str
    tasks: Sequence[Task]
    answerer: str
