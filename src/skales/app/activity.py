"""What happened lately: calls of the audit log by what they were, and where each stands in its conversation."""

from collections.abc import Callable, Collection, Iterator, Mapping
from enum import StrEnum
from typing import Protocol

from msgspec import Struct

from skales.app.cost_report import parse_since
from skales.core.errors import SkalesError
from skales.core.ids import SessionId
from skales.core.json import JsonObject, as_object, parse_json
from skales.core.ports import Toolbox
from skales.core.tool import Effect
from skales.data.audit_reading import AuditedCall, read_calls, take
from skales.data.paths import DataDirectory
from skales.data.sessions import SessionStore

# A call of a conversation: its session and its own id.
CallKey = tuple[str, str]
_ASKED = frozenset({"approved", "declined", "expired", "cancelled"})
_CHANGES = frozenset({Effect.WRITES.value, Effect.DESTRUCTIVE.value})


class Undoable(Protocol):
    """Knows which calls can be undone. Filled in where there is a timeline of changes."""

    def addresses(self, calls: Collection[CallKey]) -> Mapping[CallKey, str]:
        """Where each of these calls can be undone in the page; those that cannot are left out. Reads the disk."""
        ...


class ActivityKind(StrEnum):
    """What somebody may look for."""

    ALL = "all"
    ASKED = "asked"
    OUTBOUND = "outbound"
    CHANGES = "changes"
    REFUSED = "refused"


class ActivityOutcome(StrEnum):
    """How it ended."""

    ALL = "all"
    DONE = "done"
    FAILED = "failed"
    NOT_RUN = "not-run"


class ActivityFilter(Struct, frozen=True, kw_only=True):
    """What is wanted. `tool` is part of a name; `days` counts today; `before` is the key of the last one seen."""

    days: int = 7
    kind: ActivityKind = ActivityKind.ALL
    outcome: ActivityOutcome = ActivityOutcome.ALL
    tool: str = ""
    session_id: str = ""
    before: str = ""

    def wants(self, call: AuditedCall) -> bool:
        """Whether a call fits."""
        return (
            self.tool.lower() in call.tool.lower()
            and self.session_id in ("", call.session_id)
            and _KINDS[self.kind](call)
            and _OUTCOMES[self.outcome](call)
        )


_KINDS: Mapping[ActivityKind, Callable[[AuditedCall], bool]] = {
    ActivityKind.ALL: lambda _call: True,
    ActivityKind.ASKED: lambda call: bool(call.approval_id or call.questions) or call.decision in _ASKED,
    ActivityKind.OUTBOUND: lambda call: Effect.OUTBOUND.value in call.effects and call.ok is not None,
    ActivityKind.CHANGES: lambda call: bool(call.effects & _CHANGES) and call.ok is not None,
    ActivityKind.REFUSED: lambda call: call.decision in ("blocked", "declined", "expired"),
}
_OUTCOMES: Mapping[ActivityOutcome, Callable[[AuditedCall], bool]] = {
    ActivityOutcome.ALL: lambda _call: True,
    ActivityOutcome.DONE: lambda call: call.ok is True,
    ActivityOutcome.FAILED: lambda call: call.ok is False,
    ActivityOutcome.NOT_RUN: lambda call: call.kind == "call" and call.ok is None,
}


def find_activity(
    directory: DataDirectory, wanted: ActivityFilter, now_ms: int, limit: int
) -> tuple[tuple[AuditedCall, ...], bool]:
    """The newest calls that fit, and whether there are more. Raises StorageError."""
    since_ms = parse_since(f"{wanted.days}d", now_ms)
    return take(read_calls(directory, since_ms=since_ms), wanted.wants, limit, before=wanted.before)


def find_uses(directory: DataDirectory, tool: str, limit: int) -> tuple[AuditedCall, ...]:
    """The last calls of one tool. Raises StorageError."""
    return take(read_calls(directory), lambda call: call.tool == tool, limit)[0]


def describe_call(toolbox: Toolbox, call: AuditedCall) -> str:
    """What it would do or did, in plain words; empty where that cannot be told from what was kept."""
    spec = toolbox.find(call.tool)
    arguments = _arguments(call)
    if spec is None or arguments is None:
        return ""
    try:
        return toolbox.describe(spec, arguments)
    except (SkalesError, TypeError, ValueError):
        # What a model sent, and what was cut and masked, need not be what the tool takes.
        return ""


def find_places(sessions: SessionStore, calls: Collection[AuditedCall]) -> Mapping[CallKey, int]:
    """The message of its conversation that each call stands in. Reads the disk."""
    found: dict[CallKey, int] = {}
    for session_id in {call.session_id for call in calls if call.session_id}:
        found.update(_places_in(sessions, session_id))
    return found


def _places_in(sessions: SessionStore, session_id: str) -> Iterator[tuple[CallKey, int]]:
    try:
        messages = sessions.load(SessionId(session_id)).messages
    except SkalesError:
        return
    for index, message in enumerate(messages):
        for call in message.tool_calls:
            yield (session_id, call.id), index


def _arguments(call: AuditedCall) -> JsonObject | None:
    """The masked arguments; None when they were too long to be kept whole."""
    try:
        return as_object(parse_json(call.preview))
    except ValueError:
        return None
