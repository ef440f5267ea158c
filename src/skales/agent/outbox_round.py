"""What goes out goes out once: a round of the gate writes it down, a judge asks before the same is sent again.

How far a tool is with sending it says itself (`core.ports.Delivery`); an error before it began may be repeated, one
after it leaves a question that only a person answers. What a person decides about it is told here too.
"""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace

import anyio
import anyio.to_thread
from msgspec import Struct

from skales.agent.gate import PassedCall, Proceed
from skales.agent.origin import CallOrigin
from skales.core.clock import to_datetime
from skales.core.errors import SkalesError, StorageError
from skales.core.events import TurnEvent
from skales.core.ids import SessionId
from skales.core.json import JsonObject
from skales.core.message import Role
from skales.core.tool import Outcome, ToolCall, ToolResult, ToolSpec, Verdict, fill_defaults, sends_once
from skales.data.outbox import OPEN_STATES, UNSURE_STATES, Draft, Intent, OutboxState, OutboxStore, content_of
from skales.data.sessions import SessionStore
from skales.data.started import StartedCalls

_log = logging.getLogger(__name__)

_RULE = "outbox"
_ALLOWED = Verdict(Outcome.ALLOW)
_MAYBE = frozenset({OutboxState.MAYBE})
_UNKNOWN_FATE = "It may have arrived all the same. Do not send it again: the user is asked what became of it"
Run = Callable[[ToolCall, CallOrigin], Awaitable[ToolResult]]


class OutboxParts(Struct, frozen=True, kw_only=True):
    """What the outbox is built from.

    `conversation_of` names the conversation whose work a session does, `turn_began_ms` when a person last wrote in one.
    `tell` is called when a question came up or was settled. All but `tell` may read the disk.
    """

    store: OutboxStore
    started: StartedCalls
    describe: Callable[[ToolSpec, JsonObject], str]
    conversation_of: Callable[[SessionId], SessionId]
    turn_began_ms: Callable[[SessionId], int]
    tell: Callable[[], None]


class Outbox:
    """The judge and the round for the gate, and what a person can say of a sending that nobody is sure of."""

    def __init__(self, parts: OutboxParts) -> None:
        self._parts = parts
        self._taken_up: dict[str, Intent] = {}

    @property
    def store(self) -> OutboxStore:
        """What is written down."""
        return self._parts.store

    def recover(self, *, is_alone: bool) -> None:
        """Turn what programs left on its way that run no more into questions. Call it before anything runs."""
        self._parts.store.recover(is_alone=is_alone, is_alive=_is_alive, was_let_run=self._was_let_run)

    # --- the gate's ---

    def judge(self, spec: ToolSpec, call: ToolCall, origin: CallOrigin) -> Verdict:
        """Ask before the same is sent again, also where a lasting yes covers it. Reads the disk."""
        if origin.by_user or not sends_once(spec, call.arguments):
            return _ALLOWED
        conversation = self._conversation_of(origin.session_id)
        content = content_of(conversation, spec.name, fill_defaults(spec, call.arguments))
        same = [intent for intent in self._parts.store.list() if intent.content == content]
        for intent in same:
            if intent.state in UNSURE_STATES:
                when = _moment(intent.created_ms)
                reason = f"The same was sent before, on {when}, and may have arrived"
                return Verdict(Outcome.ASK, reason, _RULE, insists=True)
        sent_ms = max((intent.changed_ms for intent in same if intent.state is OutboxState.SENT), default=0)
        if sent_ms and sent_ms >= self._parts.turn_began_ms(conversation):
            when = _moment(sent_ms)
            return Verdict(Outcome.ASK, f"The same was sent already, on {when}", _RULE, insists=True)
        return _ALLOWED

    async def round(self, passed: PassedCall, proceed: Proceed) -> ToolResult:
        """Write the call down before it runs and what became of it afterwards."""
        written = passed.written or passed.call
        if not sends_once(passed.spec, written.arguments):
            return await proceed(passed)
        intent = self._taken_up.pop(passed.call.id, None) or await self._intend(passed, written)
        delivery = _CountedDelivery(self._parts.store, intent)
        try:
            result = await proceed(replace(passed, delivery=delivery))
        except BaseException:  # a cancelled call may have sent as well
            with anyio.CancelScope(shield=True):
                await self._settle(delivery, None)
            raise
        return await self._settle(delivery, result)

    # --- what a person decides ---

    async def mark_sent(self, intent_id: str, by: str) -> Intent:
        """It arrived. Raises NotFoundError, ConflictError when it is settled already."""
        return await self._decide(intent_id, OutboxState.SENT, by)

    async def drop(self, intent_id: str, by: str) -> Intent:
        """It is not to be sent any more. Raises NotFoundError, ConflictError when it is settled already."""
        return await self._decide(intent_id, OutboxState.DROPPED, by)

    async def send_again(self, intent_id: str, by: str, run: Run) -> ToolResult:
        """Run the call once more, with the same key. Raises NotFoundError, ConflictError when it is settled already."""
        intent = await anyio.to_thread.run_sync(self._parts.store.take_up, intent_id, by)
        draft = intent.draft
        self._taken_up[intent.id] = intent
        origin = CallOrigin(session_id=draft.session_id, surface=by, emit=_ignore, by_user=True)
        try:
            return await run(ToolCall(intent.id, draft.tool, draft.arguments), origin)
        finally:
            with anyio.CancelScope(shield=True):
                if self._taken_up.pop(intent.id, None) is not None:  # the gate did not let it through
                    await self._move(intent.id, OPEN_STATES, OutboxState.MAYBE, "It could not be sent again")
                self._parts.started.clear(draft.session_id, intent.id)
                self._parts.tell()

    def tell_fate(self, session_id: SessionId, call_id: str) -> ToolResult | None:
        """What is known of a call that was cut off; None when it sent nothing that counts. Reads the disk."""
        draft_of = (session_id, call_id)
        found = (item for item in self._parts.store.list() if (item.draft.session_id, item.draft.call_id) == draft_of)
        intent = next(found, None)
        if intent is None:
            return None
        when = _moment(intent.changed_ms)
        match intent.state:
            case OutboxState.SENT:
                return _result(f"It was sent on {when}; the answer to it was lost when Skales ended")
            case OutboxState.FAILED:
                return _result("It was not sent: it ended before. Send it again if it is still wanted", is_error=True)
            case OutboxState.DROPPED:
                return _result("The user decided that it is not sent", is_error=True)
            case _:
                return _result(f"Interrupted while it was sent. {_UNKNOWN_FATE}", is_error=True)

    # --- steps ---

    def is_unsure(self, session_id: SessionId, call_id: str) -> bool:
        """Whether nobody knows if this call arrived. Reads the disk."""
        return any((it.draft.session_id, it.draft.call_id) == (session_id, call_id) for it in self.store.unsure())

    def _was_let_run(self, intent: Intent) -> bool:
        return self._parts.started.is_marked(intent.draft.session_id, intent.draft.call_id)

    def _conversation_of(self, session_id: SessionId) -> SessionId:
        return self._parts.conversation_of(session_id) if session_id else session_id

    async def _intend(self, passed: PassedCall, written: ToolCall) -> Intent:
        return await anyio.to_thread.run_sync(self._write_down, passed, written)

    def _write_down(self, passed: PassedCall, written: ToolCall) -> Intent:
        """Put it on disk; when a person agreed to it, it settles what was unsure of the same before."""
        arguments = fill_defaults(passed.spec, written.arguments)
        draft = Draft(
            session_id=passed.origin.session_id,
            conversation=self._conversation_of(passed.origin.session_id),
            call_id=passed.call.id,
            tool=passed.spec.name,
            arguments=arguments,
            action=self._parts.describe(passed.spec, written.arguments),
        )
        store = self._parts.store
        unsure = [
            intent
            for intent in store.unsure()
            if intent.content == content_of(draft.conversation, draft.tool, arguments)
        ]
        intent = store.intend(draft)
        for older in unsure if passed.decision in ("user", "approved") else ():
            store.move(older.id, _MAYBE, OutboxState.DROPPED, note="It was sent again by another call")
        return intent

    async def _settle(self, delivery: "_CountedDelivery", result: ToolResult | None) -> ToolResult:
        """Write down what became of it. `result` is None when the call was cut off."""
        state = delivery.outcome(succeeded=result is not None and not result.is_error)
        note = result.summary if result is not None and result.is_error else ""
        note = note or ("It was stopped while it was sent" if state is OutboxState.MAYBE else "")
        if state is not delivery.on_disk:
            await self._move(delivery.intent.id, OPEN_STATES, state, note)
        result = result or _result("", is_error=True)
        if state is not OutboxState.MAYBE:
            return result
        self._parts.tell()
        return replace(result, text=f"{result.text}\n{_UNKNOWN_FATE}")

    async def _move(self, intent_id: str, allowed: frozenset[OutboxState], to: OutboxState, note: str) -> None:
        """What cannot be written stays open on disk, which counts as unsure; the call is over either way."""
        try:
            await anyio.to_thread.run_sync(lambda: self._parts.store.move(intent_id, allowed, to, note=note))
        except SkalesError:
            _log.warning("what became of %s could not be written down", intent_id, exc_info=True)

    async def _decide(self, intent_id: str, to: OutboxState, by: str) -> Intent:
        decided = await anyio.to_thread.run_sync(lambda: self._parts.store.move(intent_id, _MAYBE, to, by=by))
        self._parts.tell()
        return decided


class _CountedDelivery:
    """How far one sending is; each step is on disk before the tool goes on."""

    def __init__(self, store: OutboxStore, intent: Intent) -> None:
        self.intent = intent
        self.on_disk = intent.state
        self._store = store
        self._reached = intent.state

    @property
    def key(self) -> str:
        """The same each time this very thing is sent."""
        return self.intent.key

    async def begin(self) -> None:
        """Raises StorageError: then nothing may be sent."""
        if self._reached is OutboxState.INTENDED:
            await self._write(OutboxState.SENDING)
            self._reached = OutboxState.SENDING

    async def accept(self) -> None:
        """It arrived, whether or not that can be written down."""
        await self._end(OutboxState.SENT)

    async def refuse(self) -> None:
        """It was not taken."""
        await self._end(OutboxState.FAILED)

    def outcome(self, *, succeeded: bool) -> OutboxState:
        """What to think of it now that the call is over."""
        match self._reached:
            case OutboxState.SENDING:
                return OutboxState.MAYBE
            case OutboxState.INTENDED:
                return OutboxState.SENT if succeeded else OutboxState.FAILED
            case _:
                return self._reached

    async def _end(self, state: OutboxState) -> None:
        if self._reached not in OPEN_STATES:
            return
        self._reached = state
        try:
            # A call that is stopped now must not leave a question about what is certain.
            with anyio.CancelScope(shield=True):
                await self._write(state)
        except StorageError:
            _log.warning("%s: %s could not be written down", self.intent.id, state, exc_info=True)

    async def _write(self, state: OutboxState) -> None:
        await anyio.to_thread.run_sync(lambda: self._store.move(self.intent.id, OPEN_STATES, state))
        self.on_disk = state


def find_turn_start(sessions: SessionStore, session_id: SessionId) -> int:
    """When a person last wrote in a conversation, in milliseconds; 0 when nobody did. Reads the disk."""
    try:
        said = sessions.load(session_id).messages
    except SkalesError:
        return 0
    return next((message.timestamp_ms for message in reversed(said) if message.role is Role.USER), 0)


def _is_alive(process: int) -> bool:
    import psutil  # loaded only when another program's sending is open

    return psutil.pid_exists(process)


def _result(text: str, *, is_error: bool = False) -> ToolResult:
    return ToolResult(text=text, summary=text[:200], is_error=is_error)


def _moment(moment_ms: int) -> str:
    return f"{to_datetime(moment_ms):%Y-%m-%d, %H:%M}"


def _ignore(_event: TurnEvent) -> None:
    """What is sent again from outside a turn has no stream to show events in."""
