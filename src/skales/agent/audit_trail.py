"""What is written down about one call at the gate: a line for the decision, and one for what came of running it.

Also a call that is cut off gets its lines. Decides nothing; that a line cannot be written is told and stops nothing.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

import anyio
import anyio.to_thread
from msgspec import Struct, structs

from skales.agent.origin import CallOrigin
from skales.core.approval import AskKind
from skales.core.clock import Clock
from skales.core.errors import StorageError
from skales.core.events import ApprovalRequested, Notice, TurnEvent
from skales.core.json import JsonObject
from skales.core.tool import ToolCall, ToolResult, ToolSpec
from skales.data.audit import AuditDecision, AuditLog, AuditRun
from skales.security.placeholders import secret_names

Passage = TypeVar("Passage")
Kept = TypeVar("Kept")

STOPPED = "Stopped while it ran"


class Said(Struct, frozen=True):
    """What the gate decided: the word for it, why, and the call as it stands then.

    `proposed` are the model's arguments where the person changed them.
    """

    decision: str
    reason: str
    call: ToolCall
    spec: ToolSpec | None = None
    approval_id: str = ""
    proposed: JsonObject | None = None


class CallTrail:
    """The two lines of one call. `origin` is the call's, and also tells the trail which questions were asked."""

    def __init__(self, audit: AuditLog, clock: Clock, call: ToolCall, origin: CallOrigin) -> None:
        self._audit = audit
        self._clock = clock
        self._call = call
        self._given = origin
        self._asked: list[str] = []
        self._approval = ""
        self._number = 0
        self._started_s = 0.0
        self.origin = structs.replace(origin, emit=self._take)

    async def judge(self, judging: Awaitable[Passage], say: Callable[[Passage], Said]) -> Passage:
        """Wait for the decision and write it down, unless it was noted already."""
        try:
            passage = await judging
        except anyio.get_cancelled_exc_class():
            await self._write_decision(Said("cancelled", "", self._call))
            raise
        if not self._number:
            await self._write_decision(say(passage))
        return passage

    def note(self, said: Said) -> None:
        """Write the decision down in this thread, which is not the event loop's; what fails is tried once more."""
        with suppress(StorageError):
            self._number = self._audit.decided(self._entry(said))

    async def run(
        self,
        running: Awaitable[ToolResult],
        settle: Callable[[ToolResult], ToolResult],
        keep: Callable[[ToolResult], Kept],
    ) -> Kept:
        """Wait for what comes of it, write down what `settle` makes of that, and let `keep` have it.

        All this is one piece of work in a thread, which a cancellation does not keep from its end.
        """
        self._started_s = self._clock.monotonic_s()
        try:
            result = await running
        except anyio.get_cancelled_exc_class():
            entry = self._run_entry(ToolResult(text="", summary=STOPPED, is_error=True))
            await self._write(lambda: self._audit.ran(entry))
            raise

        def write() -> tuple[Kept, str]:
            settled, fault = settle(result), ""
            try:
                self._audit.ran(self._run_entry(settled))
            except StorageError as error:
                fault = str(error)
            return keep(settled), fault

        with anyio.CancelScope(shield=True):
            kept, fault = await anyio.to_thread.run_sync(write)
            if fault:
                self._given.emit(Notice("warning", fault))
            return kept
        raise AssertionError("a shield takes nothing away")

    def _take(self, event: TurnEvent) -> None:
        match event:
            case ApprovalRequested(approval) if approval.kind is AskKind.TOOL:
                self._approval = approval.id
            case ApprovalRequested(approval):
                self._asked.append(approval.id)
            case _:
                pass
        self._given.emit(event)

    async def _write_decision(self, said: Said) -> None:
        entry = self._entry(said)
        self._number = await self._write(lambda: self._audit.decided(entry))

    def _entry(self, said: Said) -> AuditDecision:
        return AuditDecision(
            session_id=self._given.session_id,
            turn_id=self._given.turn_id,
            call_id=said.call.id,
            surface=self._given.surface,
            tool=said.call.name,
            decision=said.decision,
            arguments=said.call.arguments,
            effects=tuple(sorted(effect.value for effect in said.spec.effects)) if said.spec else (),
            reason=said.reason,
            approval_id=said.approval_id or self._approval,
            proposed=said.proposed,
            secrets=secret_names(said.call.arguments),
        )

    def _run_entry(self, result: ToolResult) -> AuditRun:
        return AuditRun(
            session_id=self._given.session_id,
            turn_id=self._given.turn_id,
            call_id=self._call.id,
            tool=self._call.name,
            decision_number=self._number,
            ok=not result.is_error,
            error=result.summary if result.is_error else "",
            duration_ms=int((self._clock.monotonic_s() - self._started_s) * 1000),
            questions=tuple(self._asked),
        )

    async def _write(self, write: Callable[[], int]) -> int:
        number = 0
        with anyio.CancelScope(shield=True):
            try:
                number = await anyio.to_thread.run_sync(write)
            except StorageError as error:
                self._given.emit(Notice("warning", str(error)))
        return number
