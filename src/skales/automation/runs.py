"""One turn that nobody watches: started, followed to its end within a time, and what became of it.

Rules hold as in any conversation. A question waits for the person, and that wait is not counted as time of the run.
"""

from contextlib import aclosing

import anyio
from msgspec import Struct, field

from skales.agent.ceilings import HeldDeadline
from skales.agent.turns import Ticket, Turns
from skales.core.events import (
    AnswerSaved,
    ApprovalRequested,
    ApprovalResolved,
    TurnEnd,
    TurnEnded,
    TurnEvent,
)
from skales.core.ids import ApprovalId, SessionId

ENDED_WITH_PROGRAM = "Skales ended while it ran"


class RunOrder(Struct, frozen=True, kw_only=True):
    """What to run and where. `surface` is what the audit log calls it."""

    session_id: SessionId
    text: str
    surface: str
    timeout_s: float


class RunOutcome(Struct, frozen=True, kw_only=True):
    """What became of it: the final answer, or why there is none. `refused` are actions that were not allowed."""

    ok: bool
    answer: str = ""
    error: str = ""
    refused: tuple[str, ...] = ()
    was_stopped: bool = False


class _Story(Struct):
    """What the events have told so far."""

    answer: str = ""
    incomplete: str = ""
    asked: dict[ApprovalId, str] = field(default_factory=dict[ApprovalId, str])
    refused: list[str] = field(default_factory=list[str])
    end: TurnEnded | None = None

    def take(self, event: TurnEvent) -> None:
        match event:
            case AnswerSaved(text, incomplete):
                self.answer, self.incomplete = text, incomplete
            case ApprovalRequested(approval):
                self.asked[approval.id] = approval.action
            case ApprovalResolved(approval_id, outcome):
                action = self.asked.pop(approval_id, "")
                if outcome in ("declined", "expired") and action:
                    self.refused.append(action)
            case TurnEnded():
                self.end = event
            case _:
                return


async def run_turn(turns: Turns, order: RunOrder) -> RunOutcome:
    """Run to the end. When this is cancelled or the time is over, the turn is stopped and nothing of it goes on.

    Raises InputError and NotFoundError for a message or conversation that cannot be used.
    """
    ticket = await turns.start(order.session_id, order.text, surface=order.surface)
    story = _Story()
    try:
        with anyio.CancelScope(deadline=anyio.current_time() + order.timeout_s) as scope:
            await _follow(turns, ticket, story, HeldDeadline(scope))
    except anyio.get_cancelled_exc_class():
        turns.stop(order.session_id)
        raise
    if story.end is not None:
        return _judge(story, story.end)
    if not scope.cancelled_caught:
        return RunOutcome(ok=False, error=ENDED_WITH_PROGRAM)
    turns.stop(order.session_id)
    return RunOutcome(ok=False, error=f"It took longer than {order.timeout_s:g} seconds", refused=tuple(story.refused))


async def _follow(turns: Turns, ticket: Ticket, story: _Story, limit: HeldDeadline) -> None:
    """Take the turn's events until its end; a message that had to wait comes after the end of another turn."""
    waits_for_another = ticket.queued
    async with aclosing(turns.events(ticket.session_id, ticket.after)) as events:
        async for numbered in events:
            if waits_for_another:
                waits_for_another = not isinstance(numbered.event, TurnEnded)
                continue
            story.take(numbered.event)
            limit.hold(wanted=bool(story.asked))
            if story.end is not None:
                return


def _judge(story: _Story, end: TurnEnded) -> RunOutcome:
    refused = tuple(story.refused)
    if end.end is TurnEnd.STOPPED:
        return RunOutcome(ok=False, error="It was stopped", refused=refused, was_stopped=True)
    if end.end is not TurnEnd.COMPLETED:
        words = f"{end.error}. {end.hint}" if end.hint else end.error
        return RunOutcome(ok=False, answer=story.answer, error=words, refused=refused)
    if not story.answer.strip():
        return RunOutcome(ok=False, error="It ended without an answer", refused=refused)
    if story.incomplete:
        return RunOutcome(ok=False, answer=story.answer, error="The answer broke off", refused=refused)
    return RunOutcome(ok=True, answer=story.answer, refused=refused)
