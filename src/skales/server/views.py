"""What each template is given as `view`: frozen facts, ready to show. No template computes, loads or decides.

A class names its template; parts of a page that never stand alone name none. Built by the modules of `ui/`, where the
views of the tools and settings pages stand too.
"""

from collections.abc import Mapping
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
    HISTORY = "history"
    TOOLS = "tools"
    TASKS = "tasks"
    SCHEDULE = "schedule"
    ACTIVITY = "activity"
    COSTS = "costs"
    OUTBOX = "outbox"
    UNDO = "undo"
    ADDONS = "addons"
    GRANTS = "grants"
    SETTINGS = "settings"
    DEVELOPER = "developer"
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


class RowState(StrEnum):
    """What happens in a conversation, beside its title."""

    QUIET = "quiet"
    RUNNING = "running"
    WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A conversation in the sidebar. `folder` is empty for none."""

    id: str
    title: str
    when: Moment
    is_current: bool
    is_pinned: bool = False
    folder: str = ""
    state: RowState = RowState.QUIET


@dataclass(frozen=True, slots=True)
class SessionGroup:
    """Conversations of one period."""

    label: str
    rows: tuple[SessionRow, ...]


@dataclass(frozen=True, slots=True)
class SessionFolder:
    """A folder of the sidebar; what is in it is fetched when it is opened."""

    name: str
    count: int


@dataclass(frozen=True, slots=True)
class SessionHit:
    """A conversation that was found. `pieces` are the line around the words, those that are the words with true."""

    row: SessionRow
    address: str
    pieces: tuple[tuple[str, bool], ...] = ()


@dataclass(frozen=True, slots=True)
class SessionList:
    """A stretch of the sidebar's list. `next_before` is empty at the end; later stretches are not `is_first`.

    With a `query` only `hits` are shown; `folder` is the one the rows are in, empty outside of folders.
    """

    template: ClassVar[str] = "sessions.html"
    groups: tuple[SessionGroup, ...]
    query: str = ""
    current: str = ""
    next_before: str = ""
    is_first: bool = True
    pinned: tuple[SessionRow, ...] = ()
    folders: tuple[SessionFolder, ...] = ()
    hits: tuple[SessionHit, ...] = ()
    folder: str = ""


@dataclass(frozen=True, slots=True)
class PlaceLink:
    """An entry of the navigation."""

    id: str
    address: str
    symbol: str
    label: str


@dataclass(frozen=True, slots=True)
class Crumb:
    """A screen above the one that is shown."""

    address: str
    label: str


@dataclass(frozen=True, slots=True)
class TrayEntry:
    """Something that happened elsewhere. `kind` is `good`, `warn`, `bad` or `ask` and gives the colour."""

    id: str
    kind: str
    symbol: str
    label: str
    text: str
    detail: str
    when: Moment
    address: str
    is_new: bool


@dataclass(frozen=True, slots=True)
class Tray:
    """The notices. `place` says which state of the board this is, `showing` for which conversation's page."""

    template: ClassVar[str] = "tray.html"
    entries: tuple[TrayEntry, ...] = ()
    unread: int = 0
    place: str = ""
    showing: str = ""


@dataclass(frozen=True, slots=True)
class Shell:
    """The frame: navigation, conversations, look. `deleted` is a conversation that can still be brought back."""

    title: str
    screen: Screen
    theme: str
    accent: str
    sessions: SessionList
    deleted: str = ""
    places: tuple[PlaceLink, ...] = ()
    crumbs: tuple[Crumb, ...] = ()
    tray: Tray = Tray()


@dataclass(frozen=True, slots=True)
class ErrorPage:
    """A page that cannot be shown, in plain words."""

    template: ClassVar[str] = "error.html"
    shell: Shell
    heading: str
    trouble: Trouble
    code: str = ""


# --- the conversation ---


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture inside a message, as an inline address."""

    address: str
    name: str


@dataclass(frozen=True, slots=True)
class Versions:
    """Which of several tails is shown from message `at` on. `current` counts from 0."""

    template: ClassVar[str] = "chat/versions.html"
    at: int
    current: int
    count: int
    is_answer: bool = False

    @property
    def words(self) -> str:
        """`2/3`, as people count."""
        return f"{self.current + 1}/{self.count}"


@dataclass(frozen=True, slots=True)
class SummaryMark:
    """A summary stands for the messages above, when the model is asked. `html` is the summary, rendered.

    Only the newest one `can_undo`.
    """

    template: ClassVar[str] = "chat/summary.html"
    session_id: str
    up_to: int
    words: str
    facts: str
    html: Markup
    can_undo: bool


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file inside a message. `ending` is its kind in a few letters."""

    name: str
    ending: str
    facts: str


@dataclass(frozen=True, slots=True)
class UserEntry:
    """What the person said. `is_command` for `/tool …`."""

    template: ClassVar[str] = "chat/user.html"
    id: str
    text: str
    when: Moment
    pictures: tuple[Picture, ...] = ()
    is_command: bool = False
    versions: Versions | None = None
    files: tuple[SentFile, ...] = ()


@dataclass(frozen=True, slots=True)
class ReceiptRow:
    """One line of an answer's receipt."""

    label: str
    value: str


@dataclass(frozen=True, slots=True)
class UnconfirmedClaim:
    """A sentence of an answer, and why what it says is not confirmed."""

    sentence: str
    reason: str


@dataclass(frozen=True, slots=True)
class AnswerEntry:
    """What the model said. `facts` are model, tokens and time in words; `incomplete` says why it ends early.

    `can_continue` only on the last one. `receipt` is what `facts` stand for in short. `remark` says that somebody else
    wrote it than the conversation is set to. `turn_start` is the message from which on a new answer would be written.
    `unconfirmed` is what it says was done without a call that bears it out.
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
    receipt: tuple[ReceiptRow, ...] = ()
    remark: str = ""
    versions: Versions | None = None
    turn_start: int = 0
    unconfirmed: tuple[UnconfirmedClaim, ...] = ()


class StepState(StrEnum):
    """Where a tool call stands."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a call, as text. A long one gets its own lines; a very long one is `folded`: how much it is."""

    name: str
    value: str
    is_long: bool
    folded: str = ""


@dataclass(frozen=True, slots=True)
class OutputLine:
    """A line of a result that shows what changed. `kind` is `added`, `removed`, `place` or empty."""

    text: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class StepEntry:
    """A tool call: what it does in plain words, with what, and what came of it. `key` finds it on the page.

    `lines` is the change it made, or the result once more when that is a diff. `why` is where its rules are explained.
    """

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
    lines: tuple[OutputLine, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class StepGroup:
    """Consecutive calls of a turn that is over, under one line: `5 steps, 1 failed`."""

    template: ClassVar[str] = "chat/steps.html"
    words: str
    failed: bool
    steps: tuple[StepEntry, ...]


Entry = UserEntry | AnswerEntry | StepEntry | StepGroup | Versions | SummaryMark


@dataclass(frozen=True, slots=True)
class CardField:
    """An argument of a waiting call as a field. `control` is as on the tools page; `help` says what it is for."""

    name: str
    label: str
    control: str
    value: str
    help: str = ""
    choices: tuple[str, ...] = ()
    step: str = ""
    required: bool = False


@dataclass(frozen=True, slots=True)
class WhyLine:
    """One rule's word about a call: `outcome` is `allow`, `ask` or `deny`; `link` leads to what would change it."""

    rule: str
    outcome: str
    outcome_words: str
    words: str
    about: str = ""
    decides: bool = False
    setting: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True)
class ApprovalCard:
    """A question that holds a turn. `arguments` is JSON to edit; `covers` says what a wider yes would allow.

    `past` says how many of the last calls that would have been, `sandbox` where a command would run, `why` which rules
    led here. `fields` are the same arguments one by one, where their kinds are simple enough. `option_words` are the
    options as the person reads them. `preview` shows what the call would change; `lines` is the same when it is a diff.
    """

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
    fields: tuple[CardField, ...] = ()
    option_words: tuple[str, ...] = ()
    preview: str = ""
    lines: tuple[OutputLine, ...] = ()
    sandbox: str = ""
    past: str = ""
    why: tuple[WhyLine, ...] = ()


@dataclass(frozen=True, slots=True)
class NoticeLine:
    """A remark between messages. `level` is `info` or `warning`."""

    template: ClassVar[str] = "chat/notice.html"
    level: str
    text: str


# Codes of provider errors, by what a person can do about them.
_SET_UP_CODES = frozenset({"not_configured", "bad_key", "no_credit", "forbidden", "unreachable", "tls", "bad_answer"})
_OTHER_MODEL_CODES = frozenset(
    {
        "unknown_model",
        "context_overflow",
        "no_credit",
        "forbidden",
        "rate_limited",
        "overloaded",
        "unreachable",
        "timeout",
        "tls",
        "bad_request",
        "bad_answer",
    }
)


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
        """Whether the way out leads through the settings of the providers: key, address, sign-in, who stands by."""
        return self.code in _SET_UP_CODES

    @property
    def wants_model(self) -> bool:
        """Whether another model may answer what this one did not."""
        return self.code in _OTHER_MODEL_CODES

    @property
    def wants_patience(self) -> bool:
        """Whether a longer wait, which is a setting, may help."""
        return self.code == "timeout"


@dataclass(frozen=True, slots=True)
class Stretch:
    """Consecutive entries. `older_before` is the index to load older ones from, 0 when there are none.

    `newer_from` is the index to load newer ones from, 0 at the end of the conversation; only then `place` says up to
    which event this is, for a page that comes from further up.
    """

    template: ClassVar[str] = "chat/stretch.html"
    entries: tuple[Entry, ...]
    older_before: int = 0
    newer_from: int = 0
    place: str = ""


@dataclass(frozen=True, slots=True)
class Queue:
    """Messages that wait for the running turn to end. `files` names what goes with each, in the same order."""

    template: ClassVar[str] = "chat/queue.html"
    texts: tuple[str, ...]
    files: tuple[str, ...] = ()


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
    """The first page: who answers, what that is good for, something to try. `folder` is the workspace while empty."""

    template: ClassVar[str] = "chat/welcome.html"
    greeting: str
    model: ModelFacts
    starter: StarterFacts | None
    examples: tuple[Example, ...]
    folder: str = ""


@dataclass(frozen=True, slots=True)
class Composer:
    """The message field: who answers what is sent. No `provider_id` means what the settings say."""

    session_id: str = ""
    provider_id: str = ""
    model: str = ""
    label: str = ""
    provider: str = ""
    sees: bool = False

    def as_facts(self) -> Mapping[str, str]:
        """For the page's scripts."""
        sees = "true" if self.sees else "false"
        return {"provider": self.provider_id, "model": self.model, "label": self.label, "sees": sees}


@dataclass(frozen=True, slots=True)
class MarkList:
    """Whose text a conversation has read; empty shows nothing."""

    template: ClassVar[str] = "chat/marks.html"
    session_id: str = ""
    sources: tuple[str, ...] = ()


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
    composer: Composer = Composer()
    marks: MarkList = MarkList()
