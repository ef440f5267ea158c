"""A turn's time stands still while a person is asked."""

from math import inf

import pytest

from skales.agent.ceilings import TurnTime
from skales.core.approval import Approval, AskKind
from skales.core.events import ApprovalRequested, ApprovalResolved, TextDelta, TurnEvent
from skales.core.ids import ApprovalId, SessionId

pytestmark = pytest.mark.anyio


def asked(name: str) -> ApprovalRequested:
    approval = Approval(
        id=ApprovalId(name),
        kind=AskKind.TOOL,
        session_id=SessionId("s"),
        call_id="c",
        tool="look",
        args={},
        action="Look",
        reason="",
    )
    return ApprovalRequested(approval)


async def test_time_stands_still_until_the_last_question_is_over() -> None:
    passed_on: list[TurnEvent] = []
    time = TurnTime(1, passed_on.append)
    time.emit(TextDelta("before it began"))
    scope = time.begin()
    before = scope.deadline
    for event in (asked("a"), asked("b"), ApprovalResolved(ApprovalId("a"), "approved")):
        time.emit(event)
        assert scope.deadline == inf
    time.emit(ApprovalResolved(ApprovalId("b"), "declined"))
    assert before <= scope.deadline < before + 30
    assert len(passed_on) == 5


async def test_no_minutes_are_no_ceiling() -> None:
    time = TurnTime(0, lambda _event: None)
    scope = time.begin()
    assert scope.deadline == inf
    time.emit(asked("a"))
    time.emit(ApprovalResolved(ApprovalId("a"), "approved"))
    assert scope.deadline == inf
