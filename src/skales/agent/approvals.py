"""The desk where questions to the person wait: one answer counts, time-out means no, a restart loses none.

Spec: orchestrator.md, "Approvals".
"""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace

import anyio
import anyio.to_thread
from msgspec import Struct

from skales.core.approval import Answered, Approval, AskKind, Decision
from skales.core.clock import Clock
from skales.core.errors import InputError, NotFoundError, StorageError
from skales.core.ids import ApprovalId, SessionId
from skales.core.json import JsonObject
from skales.data.approvals import ApprovalStore
from skales.security.veil import Veil

_log = logging.getLogger(__name__)

# Checks edited arguments of a tool before an answer is taken; raises InputError.
ArgumentCheck = Callable[[str, JsonObject], JsonObject]
# Goes on with a turn whose question was answered after a restart.
OrphanAnswered = Callable[[Approval, Decision], Awaitable[None]]


class _Waiter(Struct):
    answered: anyio.Event
    decision: Decision | None = None


class ApprovalDesk:
    """Holds turns until a person answers. Every surface lists and answers the same questions."""

    def __init__(
        self, store: ApprovalStore, clock: Clock, check_arguments: ArgumentCheck, veil: Veil | None = None
    ) -> None:
        self._store = store
        self._clock = clock
        self._check_arguments = check_arguments
        self._veil = veil or Veil()
        self._waiters: dict[ApprovalId, _Waiter] = {}
        self.orphan_answered: OrphanAnswered | None = None
        self.is_leaving = False

    def leave(self) -> None:
        """Let questions outlive whoever waits for them from now on, because the program ends."""
        self.is_leaving = True

    async def ask(self, approval: Approval, *, on_disk: Callable[[], None]) -> Decision | None:
        """Wait for the answer; None when the time is over. The question is on disk before `on_disk` is called."""
        waiter = self._waiters[approval.id] = _Waiter(anyio.Event())
        outcome = "cancelled"
        try:
            await anyio.to_thread.run_sync(self._store.add, approval)
            on_disk()
            with anyio.move_on_after((approval.expires_ms - self._clock.now_ms()) / 1000):
                await waiter.answered.wait()
            outcome = "expired"
            return waiter.decision
        finally:
            del self._waiters[approval.id]
            # While the program ends, a question nobody answered stays for the next one to take the answer. One of no
            # conversation has nothing that could go on.
            if waiter.decision is not None or not self.is_leaving or not approval.session_id:
                with anyio.CancelScope(shield=True):
                    await anyio.to_thread.run_sync(self._close, approval, waiter.decision, outcome)

    def _close(self, approval: Approval, decision: Decision | None, outcome: str) -> None:
        """Take a question away and keep what became of it; that this cannot be kept changes no answer."""
        self._store.remove(approval.id)
        if decision is not None:
            outcome = "approved" if decision.approved else "declined"
        given = decision or Decision(approved=False)
        answered = Answered(
            approval=approval,
            outcome=outcome,
            answered_ms=self._clock.now_ms(),
            by=given.by,
            scope=given.scope,
            lasts=given.lasts,
            edited=_edited(approval, given, self._veil),
            instead=given.instead,
        )
        try:
            self._store.keep(answered)
        except StorageError:
            _log.warning("the answer to %s could not be kept", approval.id, exc_info=True)

    async def look_up(self, approval_id: str) -> Approval | Answered:
        """A question that waits, else what became of it. Raises NotFoundError."""
        try:
            return await anyio.to_thread.run_sync(self._store.get, approval_id)
        except NotFoundError:
            return await anyio.to_thread.run_sync(self._store.answered, approval_id)

    async def pending(self) -> list[Approval]:
        """Questions that can still be answered, oldest first; expired ones of earlier runs are cleared away.

        One of no conversation is answered while its run waits here, and never by going on.
        """
        kept: list[Approval] = []
        for approval in await anyio.to_thread.run_sync(self._store.pending):
            if approval.id in self._waiters:
                kept.append(approval)
            elif approval.expires_ms <= self._clock.now_ms():
                await anyio.to_thread.run_sync(self._store.remove, approval.id)
            elif approval.session_id:
                kept.append(approval)
        return kept

    async def decide(self, approval_id: ApprovalId, decision: Decision) -> Approval:
        """Take an answer. Raises NotFoundError when there is no such question or it was answered already.

        Edited arguments are checked first, so that a slip does not use the question up.
        """
        approval = await anyio.to_thread.run_sync(self._store.get, approval_id)
        if decision.args is not None and decision.approved and approval.kind is AskKind.TOOL:
            decision = replace(decision, args=self._check_arguments(approval.tool, decision.args))
        if approval.kind is AskKind.QUESTION and decision.approved and not decision.instead.strip():
            raise InputError("The answer is empty", hint="Send the answer as `instead`", code="empty_answer")
        waiter = self._waiters.get(approval_id)
        if waiter is None and approval.expires_ms <= self._clock.now_ms():
            await anyio.to_thread.run_sync(self._store.remove, approval_id)
            raise NotFoundError("The time to answer is over; it counts as no", hint="Ask again in the conversation")
        if waiter is None and not approval.session_id:
            raise NotFoundError("The run that asked this does not wait here", hint="Answer where it was started")
        if not await anyio.to_thread.run_sync(self._store.remove, approval_id):
            raise NotFoundError("This question was answered already")
        if waiter is not None:
            if self._waiters.get(approval_id) is not waiter:
                raise NotFoundError("The time to answer is over; it counts as no")
            waiter.decision = decision
            waiter.answered.set()
            return approval
        await anyio.to_thread.run_sync(self._close, approval, decision, "")
        if self.orphan_answered is not None:
            await self.orphan_answered(approval, decision)
        return approval

    async def drop(self, session_id: SessionId) -> None:
        """Withdraw the questions of a session that nobody waits for, because the conversation went on without them."""
        await anyio.to_thread.run_sync(self.drop_now, session_id)

    def drop_now(self, session_id: SessionId) -> None:
        """What `drop` does, in this thread, which is not the event loop's."""
        for approval in self._store.for_session(session_id):
            if approval.id not in self._waiters:
                self._store.remove(approval.id)


def _edited(approval: Approval, decision: Decision, veil: Veil) -> JsonObject | None:
    """The person's arguments as they may be kept; None when they left the proposed ones alone."""
    if decision.args is None or not decision.approved:
        return None
    edited = veil.fields(decision.args)
    return None if edited == approval.args else edited
