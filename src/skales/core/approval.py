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


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """One pending question. Kept on disk, so that a restart does not lose it.

    `covers` says in words what a wider yes would allow. `options` are suggested answers of a question. `preview` shows
    what the call would change, as a unified diff or in plain lines; empty when that cannot be told.
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
    created_ms: int = 0
    expires_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A person's answer. `args` replaces the proposed arguments; `instead` is told to the model."""

    approved: bool
    scope: Scope = Scope.ONCE
    args: JsonObject | None = None
    instead: str = ""
    by: str = ""
