"""A question to the person that holds a turn: may this tool run, or what should the agent know."""

from dataclasses import dataclass
from enum import StrEnum

from skales.core.ids import ApprovalId, SessionId
from skales.core.json import JsonObject


class AskKind(StrEnum):
    """A tool call to allow, or a question of `ask_user` to answer in words."""

    TOOL = "tool"
    QUESTION = "question"


class Scope(StrEnum):
    """How far a yes reaches: this call, this kind in this conversation, everywhere until revoked."""

    ONCE = "once"
    SESSION = "session"
    ALWAYS = "always"


class Lasting(StrEnum):
    """How long a wider yes counts."""

    REVOKED = "revoked"
    TODAY = "today"
    WEEK = "week"


@dataclass(frozen=True, slots=True)
class RuleStep:
    """What one rule said of a call: `allow`, `ask` or `deny`, in words.

    `rule` is its kind: `tool`, `addon`, `arguments`, `level`, `path`, `host`, `command`, `more`, `person` or `grant`.
    `about` is what it looked at. One step decides. `setting` names what would change it, empty when nothing would.
    """

    rule: str
    outcome: str
    words: str
    about: str = ""
    setting: str = ""
    decides: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """One pending question. Kept on disk, so that a restart does not lose it.

    `covers` says in words what a wider yes would allow, and would have allowed of the last calls of this tool:
    `past_covered` of `past_calls`. `options` are suggested answers of a question. `preview` shows what the call would
    change, as a unified diff or in plain lines; empty when that cannot be told. `sandbox` says where a command would
    run. `why` is the chain of rules that led here.
    """

    id: ApprovalId
    kind: AskKind
    session_id: SessionId
    call_id: str
    tool: str
    args: JsonObject
    action: str
    reason: str
    covers: str = ""
    options: tuple[str, ...] = ()
    preview: str = ""
    sandbox: str = ""
    past_covered: int = 0
    past_calls: int = 0
    why: tuple[RuleStep, ...] = ()
    created_ms: int = 0
    expires_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A person's answer. `args` replaces the proposed arguments; `instead` is told to the model."""

    approved: bool
    scope: Scope = Scope.ONCE
    lasts: Lasting = Lasting.REVOKED
    args: JsonObject | None = None
    instead: str = ""
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A question with what became of it.

    `outcome` is `approved`, `declined`, `expired` or `cancelled`. The question holds the proposed arguments, `edited`
    what a person made of them, None when they left them alone.
    """

    approval: Approval
    outcome: str
    answered_ms: int
    by: str = ""
    scope: Scope = Scope.ONCE
    lasts: Lasting = Lasting.REVOKED
    edited: JsonObject | None = None
    instead: str = ""

    @property
    def effective(self) -> JsonObject | None:
        """The arguments the call ran with; None when it did not run."""
        if self.outcome != "approved":
            return None
        return self.approval.args if self.edited is None else self.edited
