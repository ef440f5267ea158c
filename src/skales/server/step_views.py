"""What a tool step and the question before it are given."""

from enum import StrEnum
from typing import ClassVar

from msgspec import Struct


class StepState(StrEnum):
    """Where a tool call stands."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    OPEN = "open"


class Argument(Struct, frozen=True):
    """One argument of a call, as text. A long one gets its own lines; a very long one is `folded`: how much it is."""

    name: str
    value: str
    is_long: bool
    folded: str = ""


class OutputLine(Struct, frozen=True):
    """A line of a result that shows what changed. `kind` is `added`, `removed`, `place` or empty."""

    text: str
    kind: str = ""


class StepEntry(Struct, frozen=True):
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


class StepGroup(Struct, frozen=True):
    """Consecutive calls of a turn that is over, under one line: `5 steps, 1 failed`."""

    template: ClassVar[str] = "chat/steps.html"
    words: str
    failed: bool
    steps: tuple[StepEntry, ...]


class CardField(Struct, frozen=True):
    """An argument of a waiting call as a field. `control` is as on the tools page; `help` says what it is for."""

    name: str
    label: str
    control: str
    value: str
    help: str = ""
    choices: tuple[str, ...] = ()
    step: str = ""
    required: bool = False


class WhyLine(Struct, frozen=True):
    """One rule's word about a call: `outcome` is `allow`, `ask` or `deny`; `link` leads to what would change it."""

    rule: str
    outcome: str
    outcome_words: str
    words: str
    about: str = ""
    decides: bool = False
    setting: str = ""
    link: str = ""


class ApprovalCard(Struct, frozen=True):
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
