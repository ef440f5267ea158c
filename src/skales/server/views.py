"""What each template is given: frozen facts, ready to show. No template computes, loads or decides.

A page template gets one `…Page` as `view`; a fragment gets its own class. Built by the modules of `ui/`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from markupsafe import Markup


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
    """A stretch of the sidebar's list. `next_offset` is 0 at the end; `is_first` tells it from an appended stretch."""

    groups: tuple[SessionGroup, ...]
    query: str = ""
    current: str = ""
    next_offset: int = 0
    is_first: bool = True


@dataclass(frozen=True, slots=True)
class Shell:
    """The frame: navigation, conversations, look. `static` is the address below which this version's files lie."""

    title: str
    screen: Screen
    theme: str
    static: str
    sessions: SessionList
    deleted: str = ""


@dataclass(frozen=True, slots=True)
class ErrorPage:
    """A page that cannot be shown, in plain words."""

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

    id: str
    text: str
    when: Moment
    pictures: tuple[Picture, ...] = ()
    is_command: bool = False


@dataclass(frozen=True, slots=True)
class AnswerEntry:
    """What the model said. `facts` are model, tokens and time in words; `incomplete` says why it ends early."""

    id: str
    html: Markup
    source: str
    reasoning: str
    when: Moment
    facts: tuple[str, ...] = ()
    incomplete: str = ""


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

    level: str
    text: str


@dataclass(frozen=True, slots=True)
class TurnOutcome:
    """How a turn ended when it did not simply finish. `code` is the error's, empty when it was stopped."""

    words: str
    hint: str = ""
    code: str = ""
    can_continue: bool = True

    @property
    def wants_settings(self) -> bool:
        """Whether the way out leads through the settings page."""
        return self.code in ("not_configured", "bad_key", "unknown_model", "no_credit", "forbidden", "unreachable")


@dataclass(frozen=True, slots=True)
class Stretch:
    """Consecutive entries. `older_before` is the index to load older ones from, 0 when there are none."""

    entries: tuple[Entry, ...]
    older_before: int = 0


@dataclass(frozen=True, slots=True)
class Transcript:
    """The conversation as the disk has it. `place` says up to which event that is, for attaching to the stream."""

    session_id: str
    stretch: Stretch
    place: str
    is_running: bool
    approvals: tuple[ApprovalCard, ...] = ()
    queued: tuple[str, ...] = ()
    outcome: TurnOutcome | None = None


@dataclass(frozen=True, slots=True)
class Example:
    """Something to try. `text` goes into the message field."""

    label: str
    text: str


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

    installed: bool
    running: bool
    fetch_size: str
    accuracy: str


@dataclass(frozen=True, slots=True)
class Welcome:
    """The first page: who answers, what that is good for, something to try."""

    greeting: str
    model: ModelFacts
    starter: StarterFacts | None
    examples: tuple[Example, ...]


@dataclass(frozen=True, slots=True)
class ChatPage:
    """The conversation page; either a transcript or the welcome."""

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
    """What a direct run brought."""

    ok: bool
    summary: str
    text: str
    duration: str
    files: tuple[str, ...] = ()
    data: str = ""


@dataclass(frozen=True, slots=True)
class ToolDetail:
    """One tool with its form. `effects` and `safety` are in plain words."""

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
    trouble: Trouble | None = None


@dataclass(frozen=True, slots=True)
class ToolList:
    """Tools that fit the search."""

    groups: tuple[ToolGroup, ...]
    query: str
    count: int


@dataclass(frozen=True, slots=True)
class ToolsPage:
    """The tool list, and the chosen tool beside it."""

    shell: Shell
    tools: ToolList
    detail: ToolDetail | None


# --- settings ---


@dataclass(frozen=True, slots=True)
class ProviderCard:
    """A model provider. `key_mask` is all the page ever learns of a key; `needs_key` comes from the catalogue."""

    id: str
    label: str
    badges: tuple[str, ...]
    is_active: bool
    is_set_up: bool
    state: str
    base_url: str
    default_url: str
    model: str
    models: tuple[str, ...]
    needs_key: bool
    takes_key: bool
    key_mask: str
    key_help: str = ""
    is_open: bool = False


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

    shell: Shell
    model: ModelFacts
    starter: StarterFacts
    providers: tuple[ProviderCard, ...]
    safety: tuple[Choice, ...]
    themes: tuple[Choice, ...]
    data_folder: str
    broken_files: tuple[BrokenFileLine, ...]


@dataclass(frozen=True, slots=True)
class Saved:
    """The answer to a change: what was saved, or why not."""

    words: str = "Saved"
    trouble: Trouble | None = None


@dataclass(frozen=True, slots=True)
class ConnectionReport:
    """What a connection test found."""

    provider_id: str
    models: tuple[str, ...]
    trouble: Trouble | None = None


@dataclass(frozen=True, slots=True)
class Fragment:
    """Named values for a fragment that needs more than one view."""

    values: Mapping[str, object] = field(default_factory=dict)
