"""How much one turn may do: minutes, and calls of one tool. Waiting for a person is not counted as time.

Spec: orchestrator.md, "Loop control".
"""

from collections.abc import Callable
from math import inf

import anyio
from msgspec import Struct, field

from skales.core.events import ApprovalRequested, ApprovalResolved, TurnEvent
from skales.core.ids import ApprovalId


class Ceilings(Struct, frozen=True):
    """`minutes` 0 is none. `calls` counts those of one tool, whatever the arguments."""

    minutes: float = 60.0
    calls: int = 15


class HeldDeadline(Struct):
    """A scope's deadline that stands still while somebody is asked."""

    scope: anyio.CancelScope
    left_s: float = 0.0
    is_held: bool = False

    def hold(self, *, wanted: bool) -> None:
        """Stand still from now on, or go on with the time that was left."""
        if wanted and not self.is_held:
            self.left_s = self.scope.deadline - anyio.current_time()
            self.scope.deadline = inf
        elif self.is_held and not wanted:
            self.scope.deadline = anyio.current_time() + self.left_s
        self.is_held = wanted


class TurnTime(Struct):
    """Lets a turn run for its minutes. All events of the turn pass through `emit`, which tells it who is asked."""

    minutes: float
    pass_on: Callable[[TurnEvent], None]
    _deadline: HeldDeadline | None = None
    _asked: set[ApprovalId] = field(default_factory=set[ApprovalId])

    def begin(self) -> anyio.CancelScope:
        """The scope to run in; it is cancelled when the time is over."""
        limit_s = self.minutes * 60 if self.minutes else inf
        scope = anyio.CancelScope(deadline=anyio.current_time() + limit_s)
        self._deadline = HeldDeadline(scope)
        return scope

    def emit(self, event: TurnEvent) -> None:
        """Pass an event on, and stand still while a question waits."""
        if isinstance(event, (ApprovalRequested, ApprovalResolved)):
            self._stand(event)
        self.pass_on(event)

    def _stand(self, event: ApprovalRequested | ApprovalResolved) -> None:
        match event:
            case ApprovalRequested(approval):
                self._asked.add(approval.id)
            case ApprovalResolved(approval_id):
                self._asked.discard(approval_id)
        if self._deadline is not None:
            self._deadline.hold(wanted=bool(self._asked))
