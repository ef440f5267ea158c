"""What each template is given as `view`: frozen facts, ready to show. No template computes, loads or decides.

A class names its template; parts of a page that never stand alone name none. Built by the modules of `ui/`.
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


# --- tools ---


@dataclass(frozen=True, slots=True)
class ToolRow:
    """A tool in the list."""

    name: str
    summary: str
    enabled: bool
    is_current: bool


@dataclass(frozen=True, slots=True)
class ToolGroup:
    """Tools of one category."""

    label: str
    rows: tuple[ToolRow, ...]


class Control(StrEnum):
    """How a parameter is entered."""

    LINE = "line"
    TEXT = "text"
    NUMBER = "number"
    SWITCH = "switch"
    CHOICE = "choice"
    LIST = "list"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class ToolField:
    """One parameter of a tool as a form field. `field` is its name in the form."""

    name: str
    label: str
    help: str
    control: Control
    required: bool
    value: str = ""
    choices: tuple[str, ...] = ()
    step: str = ""
    minimum: str = ""
    maximum: str = ""
    example: str = ""
    error: str = ""

    @property
    def field(self) -> str:
        """Prefixed, so that no parameter name can meet a form's own."""
        return f"arg-{self.name}"


@dataclass(frozen=True, slots=True)
class ToolResultView:
    """What a direct run brought; `trouble` when it did not come to run."""

    template: ClassVar[str] = "tools/result.html"
    ok: bool
    text: str
    duration: str
    files: tuple[str, ...] = ()
    data: str = ""
    trouble: Trouble | None = None


@dataclass(frozen=True, slots=True)
class ToolDetail:
    """One tool with its form. `effects` and `safety` are in plain words."""

    template: ClassVar[str] = "tools/detail.html"
    name: str
    description: str
    category: str
    safety: str
    effects: tuple[str, ...]
    is_risky: bool
    enabled: bool
    addon: str
    fields: tuple[ToolField, ...]
    command: str
    result: ToolResultView | None = None


@dataclass(frozen=True, slots=True)
class ToolList:
    """Tools that fit the search."""

    template: ClassVar[str] = "tools/list.html"
    groups: tuple[ToolGroup, ...]
    query: str
    total: int


@dataclass(frozen=True, slots=True)
class ToolsPage:
    """The tool list, and the chosen tool beside it."""

    template: ClassVar[str] = "tools/page.html"
    shell: Shell
    tools: ToolList
    detail: ToolDetail | None


# --- settings ---


@dataclass(frozen=True, slots=True)
class KeyField:
    """The write-only field of a key; `mask` is all the page ever learns of the stored one.

    `is_update` replaces the field that is on the page already.
    """

    template: ClassVar[str] = "settings/key_field.html"
    provider_id: str
    mask: str
    needed: bool
    is_update: bool = False


@dataclass(frozen=True, slots=True)
class ProviderCard:
    """A model provider. `key` is None for one that takes none."""

    template: ClassVar[str] = "settings/provider.html"
    id: str
    label: str
    badges: tuple[str, ...]
    is_active: bool
    state: str
    base_url: str
    default_url: str
    model: str
    default_model: str
    models: tuple[str, ...]
    key: KeyField | None
    starter: StarterFacts | None = None
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class ProviderList:
    """Those that are set up, the active one first, and the others."""

    template: ClassVar[str] = "settings/providers.html"
    chosen: tuple[ProviderCard, ...]
    others: tuple[ProviderCard, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several; exactly one is `chosen`."""

    value: str
    label: str
    help: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class BrokenFileLine:
    """A file that could not be read, where it lies now, and why."""

    path: str
    kept_at: str
    reason: str
    when: Moment


@dataclass(frozen=True, slots=True)
class SettingsPage:
    """Everything the settings page shows."""

    template: ClassVar[str] = "settings/page.html"
    shell: Shell
    providers: ProviderList
    safety: tuple[Choice, ...]
    themes: tuple[Choice, ...]
    data_folder: str
    broken_files: tuple[BrokenFileLine, ...]


@dataclass(frozen=True, slots=True)
class Saved:
    """The answer to a change: what was saved, or why not."""

    template: ClassVar[str] = "settings/saved.html"
    words: str = "Saved"
    trouble: Trouble | None = None
    key: KeyField | None = None


@dataclass(frozen=True, slots=True)
class ConnectionReport:
    """What a connection test found."""

    template: ClassVar[str] = "settings/report.html"
    provider_id: str
    words: str
    models: tuple[str, ...]
    trouble: Trouble | None = None
