"""Every event survives the way through JSON."""

import json

import pytest

from skales.core.approval import Approval, AskKind
from skales.core.event_json import event_from_json, event_to_json
from skales.core.events import (
    AnswerSaved,
    ApprovalRequested,
    ApprovalResolved,
    Compacted,
    MessageQueued,
    Notice,
    Progress,
    ReasoningDelta,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnEnd,
    TurnEnded,
    TurnEvent,
    TurnStarted,
)
from skales.core.evidence import Unconfirmed
from skales.core.ids import ApprovalId, SessionId, TurnId
from skales.core.message import Usage
from skales.core.tool import ToolCall, ToolResult

CALL = ToolCall("c1", "read_file", {"path": "a", "nested": {"list": [1, None, "x"]}}, raw="{}")
APPROVAL = Approval(
    id=ApprovalId("ap_1"),
    kind=AskKind.QUESTION,
    session_id=SessionId("s"),
    call_id="c1",
    tool="ask_user",
    args={"question": "Which?"},
    action="Which?",
    reason="",
    options=("a", "b"),
    created_ms=1,
    expires_ms=2,
)
EVENTS: list[TurnEvent] = [
    TurnStarted(TurnId("t"), SessionId("s"), "hi \u2028 there", "p", "m"),
    TextDelta("x"),
    ReasoningDelta("y"),
    AnswerSaved("x", "stopped", (Unconfirmed("I sent it.", "No call of this turn sent anything"),)),
    ToolStarted(CALL, "Read a", first_of_batch=True),
    ToolFinished(CALL, ToolResult(text="t", summary="s", is_error=True, data={"a": 1}, files=("f",)), 3),
    ApprovalRequested(APPROVAL),
    ApprovalResolved(ApprovalId("ap_1"), "declined", "no"),
    Notice("warning", "w"),
    Progress("Fetching", 1, 2),
    Compacted(42, 800),
    MessageQueued("q"),
    TurnEnded(TurnEnd.FAILED, Usage(1, 2, 3), 4, "e", "h", "c"),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_an_event_comes_back_as_it_was(event: TurnEvent) -> None:
    assert event_from_json(json.loads(json.dumps(event_to_json(event)))) == event


def test_every_kind_of_event_is_covered_here() -> None:
    assert {type(event) for event in EVENTS} == set(TurnEvent.__args__)


@pytest.mark.parametrize("value", [{}, {"type": "Unknown"}, {"type": 3}])
def test_what_is_no_event_is_refused(value: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="unknown event type"):
        event_from_json(value)  # type: ignore[arg-type]
