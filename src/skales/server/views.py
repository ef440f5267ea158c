"""What each template is given as `view`: frozen facts, ready to show. No template computes, loads or decides.

A class names its template; parts of a page that never stand alone name none. Built by the modules of `ui/`, where the
views of the tools and settings pages stand too.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Protocol

from markupsafe import Markup


class View(Protocol):
    """Anything that can be rendered."""

    template: ClassVar[str]


class Screen(StrEnum):
    """Which entry of the navigation is lit."""

    CHAT = "chat"
    TOOLS = "tools"
    SETTINGS = "settings"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Moment:
    """A time for people, and for machines."""

    iso: str
    words: str


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something went wrong: what, what to do next, and where that can be done."""

    message: str
    hint: str = ""
    link: str = ""
    link_words: str = ""


# --- the frame around every page ---


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A conversation in the sidebar."""

    id: str
    title: str
    when: Moment
    is_current: bool


@dataclass(frozen=True, slots=True)
class SessionGroup:
    """Conversations of one period."""

    label: str
    rows: tuple[SessionRow, ...]


@dataclass(frozen=True, slots=True)
class SessionList:
    """A stretch of the sidebar's list. `next_before` is empty at the end; later stretches are not `is_first`."""

    template: ClassVar[str] = "sessions.html"
    groups: tuple[SessionGroup, ...]
    query: str = ""
    current: str = ""
    next_before: str = ""
    is_first: bool = True


@dataclass(frozen=True, slots=True)
class Shell:
    """The frame: navigation, conversations, look. `deleted` is a conversation that can still be brought back."""

    title: str
    screen: Screen
    theme: str
    accent: str
    sessions: SessionList
    deleted: str = ""


@dataclass(frozen=True, slots=True)
class ErrorPage:
    """A page that cannot be shown, in plain words."""

    template: ClassVar[str] = "error.html"
    shell: Shell
    heading: str
    trouble: Trouble


# --- the conversation ---


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture inside a message, as an inline address."""

    address: str
    name: str


@dataclass(frozen=True, slots=True)
class UserEntry:
    """What the person said. `is_command` for `/tool …`."""

    template: ClassVar[str] = "chat/user.html"
    id: str
    text: str
    when: Moment
    pictures: tuple[Picture, ...] = ()
    is_command: bool = False


@dataclass(frozen=True, slots=True)
class AnswerEntry:
    """What the model said. `facts` are model, tokens and time in words; `incomplete` says why it ends early.

    `can_continue` only on the last one.
    """

    template: ClassVar[str] = "chat/answer.html"
    id: str
    html: Markup
    has_footer: bool
    reasoning: str
    when: Moment
    facts: tuple[str, ...] = ()
    incomplete: str = ""
    can_continue: bool = False


class StepState(StrEnum):
    """Where a tool call stands."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a call, as text."""

    name: str
    value: str
    is_long: bool


@dataclass(frozen=True, slots=True)
class StepEntry:
    """A tool call: what it does in plain words, with what, and what came of it. `key` finds it on the page."""

    template: ClassVar[str] = "chat/step.html"
    key: str
    tool: str
    action: str
    state: StepState
    state_words: str
    arguments: tuple[Argument, ...] = ()
    result: str = ""
    files: tuple[str, ...] = ()
    duration: str = ""


Entry = UserEntry | AnswerEntry | StepEntry


@dataclass(frozen=True, slots=True)
class ApprovalCard:
    """A question that holds a turn. `arguments` is JSON to edit; `covers` says what a wider yes would allow."""

    template: ClassVar[str] = "chat/approval.html"
    id: str
    call_key: str
    tool: str
    action: str
    reason: str
    arguments: str
    covers: str
    created_ms: int
    expires_ms: int
    is_question: bool = False
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NoticeLine:
    """A remark between messages. `level` is `info` or `warning`."""

    template: ClassVar[str] = "chat/notice.html"
    level: str
    text: str


@dataclass(frozen=True, slots=True)
class TurnOutcome:
    """How a turn ended when it did not simply finish. `code` is the error's, empty when it was stopped."""

    template: ClassVar[str] = "chat/outcome.html"
    words: str
    hint: str = ""
    code: str = ""
    is_error: bool = True
    can_continue: bool = True

    @property
    def wants_settings(self) -> bool:
        """Whether the way out leads through the settings page."""
        return self.code in ("not_configured", "bad_key", "unknown_model", "no_credit", "forbidden", "unreachable")


@dataclass(frozen=True, slots=True)
class Stretch:
    """Consecutive entries. `older_before` is the index to load older ones from, 0 when there are none."""

    template: ClassVar[str] = "chat/stretch.html"
    entries: tuple[Entry, ...]
    older_before: int = 0


@dataclass(frozen=True, slots=True)
class Queue:
    """Messages that wait for the running turn to end."""

    template: ClassVar[str] = "chat/queue.html"
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Transcript:
    """The conversation as the disk has it. `place` says up to which event that is, for attaching to the stream."""

    template: ClassVar[str] = "chat/transcript.html"
    session_id: str
    stretch: Stretch
    place: str
    is_running: bool
    queue: Queue
    approvals: tuple[ApprovalCard, ...] = ()
    outcome: TurnOutcome | None = None


@dataclass(frozen=True, slots=True)
class Example:
    """Something to try. `text` goes into the message field."""

    label: str
    text: str
    is_command: bool = False


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """Who answers. `ready` false means that `trouble` says what is missing; `is_starter` shows the starter's card."""

    provider: str
    model: str
    provider_id: str
    is_starter: bool
    ready: bool
    trouble: Trouble | None = None


@dataclass(frozen=True, slots=True)
class StarterFacts:
    """The model that comes with the program. `fetch_size` is empty when everything is on this computer already."""

    template: ClassVar[str] = "settings/starter.html"
    installed: bool
    running: bool
    fetch_size: str
    accuracy: str


@dataclass(frozen=True, slots=True)
class Welcome:
    """The first page: who answers, what that is good for, something to try."""

    template: ClassVar[str] = "chat/welcome.html"
    greeting: str
    model: ModelFacts
    starter: StarterFacts | None
    examples: tuple[Example, ...]


@dataclass(frozen=True, slots=True)
class ChatPage:
    """The conversation page; either a transcript or the welcome."""

    template: ClassVar[str] = "chat/page.html"
    shell: Shell
    session_id: str
    title: str
    model: ModelFacts
    transcript: Transcript | None
    welcome: Welcome | None
