"""What a conversation is given: its entries, the queue, the field for the next message."""

from collections.abc import Mapping
from typing import ClassVar

from markupsafe import Markup
from msgspec import Struct

from skales.server.frame_views import Shell
from skales.server.step_views import ApprovalCard, StepEntry, StepGroup
from skales.server.views import Moment, Trouble


class Picture(Struct, frozen=True):
    """A picture inside a message, as an inline address."""

    address: str
    name: str


class Versions(Struct, frozen=True):
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


class SummaryMark(Struct, frozen=True):
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


class SentFile(Struct, frozen=True):
    """A file inside a message. `ending` is its kind in a few letters."""

    name: str
    ending: str
    facts: str


class UserEntry(Struct, frozen=True):
    """What the person said. `is_command` for `/tool …`."""

    template: ClassVar[str] = "chat/user.html"
    id: str
    text: str
    when: Moment
    pictures: tuple[Picture, ...] = ()
    is_command: bool = False
    versions: Versions | None = None
    files: tuple[SentFile, ...] = ()


class ReceiptRow(Struct, frozen=True):
    """One line of an answer's receipt."""

    label: str
    value: str


class UnconfirmedClaim(Struct, frozen=True):
    """A sentence of an answer, and why what it says is not confirmed."""

    sentence: str
    reason: str


class AnswerEntry(Struct, frozen=True):
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


Entry = UserEntry | AnswerEntry | StepEntry | StepGroup | Versions | SummaryMark


class NoticeLine(Struct, frozen=True):
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


class TurnOutcome(Struct, frozen=True):
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


class Stretch(Struct, frozen=True):
    """Consecutive entries. `older_before` is the index to load older ones from, 0 when there are none.

    `newer_from` is the index to load newer ones from, 0 at the end of the conversation; only then `place` says up to
    which event this is, for a page that comes from further up.
    """

    template: ClassVar[str] = "chat/stretch.html"
    entries: tuple[Entry, ...]
    older_before: int = 0
    newer_from: int = 0
    place: str = ""


class Queue(Struct, frozen=True):
    """Messages that wait for the running turn to end. `files` names what goes with each, in the same order."""

    template: ClassVar[str] = "chat/queue.html"
    texts: tuple[str, ...]
    files: tuple[str, ...] = ()


class Transcript(Struct, frozen=True):
    """The conversation as the disk has it. `place` says up to which event that is, for attaching to the stream."""

    template: ClassVar[str] = "chat/transcript.html"
    session_id: str
    stretch: Stretch
    place: str
    is_running: bool
    queue: Queue
    approvals: tuple[ApprovalCard, ...] = ()
    outcome: TurnOutcome | None = None


class Example(Struct, frozen=True):
    """Something to try. `text` goes into the message field."""

    label: str
    text: str
    is_command: bool = False


class ModelFacts(Struct, frozen=True):
    """Who answers. `ready` false means that `trouble` says what is missing; `is_starter` shows the starter's card."""

    provider: str
    model: str
    provider_id: str
    is_starter: bool
    ready: bool
    trouble: Trouble | None = None


class StarterFacts(Struct, frozen=True):
    """The model that comes with the program. `fetch_size` is empty when everything is on this computer already."""

    template: ClassVar[str] = "settings/starter.html"
    installed: bool
    running: bool
    fetch_size: str
    accuracy: str


class Welcome(Struct, frozen=True):
    """The first page: who answers, what that is good for, something to try. `folder` is the workspace while empty."""

    template: ClassVar[str] = "chat/welcome.html"
    greeting: str
    model: ModelFacts
    starter: StarterFacts | None
    examples: tuple[Example, ...]
    folder: str = ""


class Composer(Struct, frozen=True):
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


class MarkList(Struct, frozen=True):
    """Whose text a conversation has read; empty shows nothing."""

    template: ClassVar[str] = "chat/marks.html"
    session_id: str = ""
    sources: tuple[str, ...] = ()


class ChatPage(Struct, frozen=True):
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
