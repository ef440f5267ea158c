"""What happens in a turn, as one stream that every surface renders: page, terminal, DevKit, channels.

A surface handles the union with `match` and `assert_never`, so that a new event names every renderer to extend.
"""

from dataclasses import dataclass
from enum import StrEnum

from skales.core.approval import Approval
from skales.core.evidence import Unconfirmed
from skales.core.ids import ApprovalId, SessionId, TurnId
from skales.core.message import Usage
from skales.core.tool import ToolCall, ToolResult


class TurnEnd(StrEnum):
    """How a turn ended."""

    COMPLETED = "completed"
    STOPPED = "stopped"
    FAILED = "failed"
    LIMIT = "limit"


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """A turn runs now. `text` is the user's message, empty when a turn resumes after a restart."""

    turn_id: TurnId
    session_id: SessionId
    text: str
    provider: str
    model: str


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The next piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """The next piece of what the model thinks aloud; never part of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class AnswerSaved:
    """The text streamed since the last one is on disk as a message; further text belongs to a new one.

    `unconfirmed` is what a finished answer says was done without a call that bears it out.
    """

    text: str
    incomplete: str = ""
    unconfirmed: tuple[Unconfirmed, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A call reached the gate. `first_of_batch` marks the first of the calls one answer asked for."""

    call: ToolCall
    action: str
    first_of_batch: bool


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """A call has its result, good or bad, and the result is on disk."""

    call: ToolCall
    result: ToolResult
    duration_ms: int


@dataclass(frozen=True, slots=True)
class ApprovalRequested:
    """The turn waits for a person."""

    approval: Approval


@dataclass(frozen=True, slots=True)
class ApprovalResolved:
    """The wait is over. `outcome` is `approved`, `declined`, `expired` or `cancelled`."""

    approval_id: ApprovalId
    outcome: str
    instead: str = ""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the person should know, such as a retry. `level` is `info` or `warning`."""

    level: str
    text: str


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a long step is. `total` is 0 while unknown; `unit` is `bytes` or `steps`."""

    label: str
    done: int
    total: int
    unit: str = "bytes"


@dataclass(frozen=True, slots=True)
class Compacted:
    """A summary now stands for so many of the oldest messages when the model is asked; they stay on disk."""

    messages: int
    summary_tokens: int


@dataclass(frozen=True, slots=True)
class MessageQueued:
    """A message sent while the turn runs; it starts the next one. It is already on disk."""

    text: str


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The last event of a turn. `error` and `hint` are set when it failed or met a limit."""

    end: TurnEnd
    usage: Usage
    duration_ms: int
    error: str = ""
    hint: str = ""
    code: str = ""


TurnEvent = (
    TurnStarted
    | TextDelta
    | ReasoningDelta
    | AnswerSaved
    | ToolStarted
    | ToolFinished
    | ApprovalRequested
    | ApprovalResolved
    | Notice
    | Progress
    | Compacted
    | MessageQueued
    | TurnEnded
)


@dataclass(frozen=True, slots=True)
class NumberedEvent:
    """An event with its place in the session's stream, so that a surface can attach with "after n"."""

    number: int
    event: TurnEvent
