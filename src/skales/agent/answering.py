"""A turn's dealings with models: who is asked, what came, what it took; and summaries when there is no more room.

An answer is on disk before anything comes of it, a part of one when it breaks off.
Spec: orchestrator.md, "Turn flow" and "Streaming, cost, interruption".
"""

from collections.abc import Callable, Sequence
from contextlib import aclosing
from typing import assert_never

import anyio
import anyio.to_thread
from msgspec import Struct, field

from skales.agent.context import BuiltRequest, Plan, Story, tell
from skales.agent.evidence import judge_answer
from skales.agent.origin import CallOrigin
from skales.agent.standby import Needs, Standby, find_needs, name_model
from skales.agent.turn_parts import TurnOrder, TurnParts
from skales.core.errors import InputError, ProviderError, ProviderFault, StorageError
from skales.core.events import AnswerSaved, Notice, Progress, ReasoningDelta, TextDelta, TurnEvent
from skales.core.evidence import Unconfirmed, unconfirmed_to_json
from skales.core.json import JsonObject
from skales.core.message import Message, Role, TextPart, Usage
from skales.core.ports import (
    CallReady,
    ChatRequest,
    ChosenModel,
    Finished,
    FinishReason,
    ModelCall,
    ModelTraits,
    NativeBlocks,
    Purpose,
    ReasoningPiece,
    RetryPlanned,
    TextPiece,
    UsageCounted,
)
from skales.core.tool import ToolCall
from skales.data.session_codec import Session

# Ends before the answer's own; calls may be missing then, and those that came are not run.
_BROKEN_OFF = ("stopped", "cut")


class _Draft(Struct):
    """An answer while it streams. `history` is what stands before it."""

    history: Sequence[Message] = ()
    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    native: JsonObject = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    finish: FinishReason | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing came that is worth keeping when the rest does not come."""
        return not self.text and not self.reasoning

    @property
    def is_answered(self) -> bool:
        """Whether the endpoint took the request, so that it may be on the bill."""
        return not self.is_empty or bool(self.calls) or self.finish is not None or self.usage != Usage()

    @property
    def characters(self) -> int:
        calls = sum(len(call.name) + len(str(call.arguments)) for call in self.calls)
        return sum(map(len, self.text)) + sum(map(len, self.reasoning)) + calls


class Answerer:
    """Asks models for one turn. `usage` is what all its requests took together."""

    def __init__(self, parts: TurnParts, order: TurnOrder, emit: Callable[[TurnEvent], None]) -> None:
        self._parts = parts
        self._order = order
        self._emit = emit
        self.usage = Usage()
        self._gave_up_summaries = False
        self._has_kept_text = False
        self._without_tools: set[tuple[str, str]] = set()

    async def ask(self, standby: Standby, session: Session) -> Message:
        """The answer of the conversation's model, or of one that stands by when it fails before it said anything.

        It is on disk. Raises ProviderError when nobody answers, SpendingStoppedError.
        """

        def needs() -> Needs:
            return find_needs(session.messages, offers_tools=bool(self._parts.toolbox.enabled()))

        chosen = standby.pick(needs)
        while True:
            self._has_kept_text = False
            try:
                answer = await self._ask_model(chosen, session)
            except ProviderError as error:
                # What somebody began another must not say once more.
                following = None if self._has_kept_text else standby.replace_failed(chosen, error, needs)
                if following is None:
                    raise
                chosen = following
                session = await anyio.to_thread.run_sync(self._parts.sessions.load, session.id)
            else:
                standby.note_success(chosen)
                return answer

    async def compact_now(self, chosen: ChosenModel, session: Session) -> None:
        """`/compact`: what a person asks for is done although there is still room."""
        if chosen.weak:
            raise InputError("This model is too small to summarise", hint="Choose another one for this conversation")
        story = self._tell(session, self._facts(chosen))
        end = self._parts.compactor.find_end(chosen, story, by_person=True)
        if not end:
            raise InputError("There is nothing to summarise yet", hint="The newest part always stays as it is")
        await self._compact(chosen, story, end)

    async def _ask_model(self, chosen: ChosenModel, session: Session) -> Message:
        facts = self._facts(chosen)
        session, plan = await self._make_room(chosen, session, facts)
        try:
            return await self._ask_once(chosen, self._build(chosen, plan, facts), session.messages)
        except ProviderError as error:
            if error.fault is not ProviderFault.CONTEXT_OVERFLOW or not self._parts.compactor.is_on:
                raise
            # The window is unknown, or smaller than anybody said.
            if (smaller := await self._summarise(chosen, session)) is None:
                raise
        plan = self._plan(chosen, smaller, facts)
        return await self._ask_once(chosen, self._build(chosen, plan, facts), smaller.messages)

    def _plan(self, chosen: ChosenModel, session: Session, facts: ModelTraits) -> Plan:
        return self._parts.context.plan(chosen, self._tell(session, facts))

    def _build(self, chosen: ChosenModel, plan: Plan, facts: ModelTraits) -> BuiltRequest:
        built = self._parts.context.finish(chosen, plan).with_cap(facts.output_cap_tokens)
        if built.left_out:
            self._emit(Notice("info", f"The {built.left_out} oldest messages do not fit this model's window"))
        if chosen.weak or not built.request.tools or facts.tools:
            return built
        key = (chosen.provider_id, chosen.model)
        if key not in self._without_tools:
            self._without_tools.add(key)
            self._emit(Notice("info", f"{name_model(chosen)} calls no tools; it answers without them"))
        return built.without_tools()

    async def _ask_once(self, chosen: ChosenModel, built: BuiltRequest, history: Sequence[Message]) -> Message:
        draft = _Draft(history)
        call = ModelCall(
            purpose=Purpose.CHAT,
            provider_id=chosen.provider_id,
            request=built.request,
            session_id=self._order.session_id,
            estimated_tokens=built.estimated_tokens,
        )
        await self._clear_budget(call)
        started_s = self._parts.clock.monotonic_s()

        async def keep(incomplete: str) -> Message:
            return await self._keep_answer(call, chosen, draft, self._since_ms(started_s), incomplete)

        try:
            await self._receive(chosen, draft, built.request)
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                if not draft.is_empty:
                    await keep("stopped")
                else:
                    # Before the first word it may have been thinking already, which is on the bill.
                    await self._account(call, draft)
            raise
        except ProviderError:
            if not draft.is_empty:
                self._has_kept_text = True
                await keep("cut")
            elif draft.is_answered:
                await self._account(call, draft)
            raise
        answer = await keep("length" if draft.finish is FinishReason.LENGTH else "")
        self._parts.context.learn(chosen, built, draft.usage)
        return answer

    # --- summaries of what is old ---

    async def _make_room(self, chosen: ChosenModel, session: Session, facts: ModelTraits) -> tuple[Session, Plan]:
        """The session, summarised when the next request would take too much of the window, and what that is made of."""
        plan = self._plan(chosen, session, facts)
        if chosen.weak or self._gave_up_summaries or not self._parts.compactor.is_due(plan.load, session):
            return session, plan
        smaller = await self._summarise(chosen, session)
        return (session, plan) if smaller is None else (smaller, self._plan(chosen, smaller, facts))

    async def _summarise(self, chosen: ChosenModel, session: Session) -> Session | None:
        """The session with a new summary, None when there is nothing to gain or the model failed, which is told."""
        story = self._tell(session, self._facts(chosen))
        end = 0 if chosen.weak or self._gave_up_summaries else self._parts.compactor.find_end(chosen, story)
        if not end:
            return None
        try:
            return await self._compact(chosen, story, end)
        except (ProviderError, InputError) as error:
            self._gave_up_summaries = True
            self._emit(Notice("warning", f"Earlier messages could not be summarised: {error}"))
            return None

    async def _compact(self, chosen: ChosenModel, story: Story, end: int) -> Session:
        self._emit(Progress("Summarising earlier messages", 0, 1, "steps"))
        try:
            compacted = await self._parts.compactor.compact(chosen, story, end, self._write_summary)
        finally:
            self._emit(Progress("Summarising earlier messages", 1, 1, "steps"))
        self._emit(compacted)
        return await anyio.to_thread.run_sync(self._parts.sessions.load, story.session_id)

    async def _write_summary(self, writer: ChosenModel, request: ChatRequest) -> str:
        """One request for a summary: within the budget and on the bill, but no part of the conversation."""
        call = ModelCall(
            purpose=Purpose.SUMMARY,
            provider_id=writer.provider_id,
            request=request,
            session_id=self._order.session_id,
        )
        await self._clear_budget(call)
        draft = _Draft()
        try:
            await self._receive(writer, draft, request, show=_keep_quiet)
        finally:
            if draft.is_answered:
                with anyio.CancelScope(shield=True):
                    await self._account(call, draft)
            self.usage = self.usage.plus(draft.usage)
        return "".join(draft.text)

    async def _clear_budget(self, call: ModelCall) -> None:
        order = self._order
        origin = CallOrigin(session_id=order.session_id, surface=order.surface, emit=self._emit)
        await self._parts.budget.clear(call, origin, order.decisions)

    async def _account(self, call: ModelCall, draft: _Draft) -> None:
        if fault := await anyio.to_thread.run_sync(self._write_cost, call, draft):
            self._emit(Notice("warning", fault))

    def _write_cost(self, call: ModelCall, draft: _Draft) -> str:
        """Put a request on the bill; why that failed, since what was answered is worth more than the line about it."""
        try:
            self._parts.accounts.record(call, draft.usage, draft.characters)
        except StorageError as error:
            return str(error)
        return ""

    def _facts(self, chosen: ChosenModel) -> ModelTraits:
        return self._parts.chooser.facts(chosen.provider_id, chosen.model)

    def _tell(self, session: Session, facts: ModelTraits) -> Story:
        return tell(session, sees=facts.vision, documents=facts.documents)

    async def _receive(
        self, chosen: ChosenModel, draft: _Draft, request: ChatRequest, show: Callable[[TurnEvent], None] | None = None
    ) -> None:
        show = show or self._emit
        async with aclosing(chosen.provider.stream(request)) as pieces:
            async for piece in pieces:
                match piece:
                    case TextPiece(text):
                        draft.text.append(text)
                        show(TextDelta(text))
                    case ReasoningPiece(text):
                        draft.reasoning.append(text)
                        show(ReasoningDelta(text))
                    case CallReady(call):
                        draft.calls.append(call)
                    case NativeBlocks(name, blocks):
                        draft.native = {"format": name, "blocks": list(blocks)}
                    case UsageCounted(usage):
                        draft.usage = usage
                    case RetryPlanned(reason, wait_s, attempt):
                        self._emit(Notice("info", f"{reason}. Trying again in {wait_s:.0f} s (attempt {attempt})"))
                    case Progress():
                        self._emit(piece)
                    case Finished(reason):
                        draft.finish = reason
                    case _:
                        assert_never(piece)

    async def _keep_answer(
        self, call: ModelCall, chosen: ChosenModel, draft: _Draft, duration_ms: int, incomplete: str
    ) -> Message:
        """Write an answer into the history, and its request on the bill."""
        text = "".join(draft.text)

        def write() -> tuple[Message, tuple[Unconfirmed, ...], str]:
            unconfirmed = self._find_unconfirmed(text, draft)
            message = Message(
                role=Role.ASSISTANT,
                content=(TextPart(text),) if text else (),
                tool_calls=() if incomplete in _BROKEN_OFF else tuple(draft.calls),
                reasoning="".join(draft.reasoning),
                provider=chosen.provider_id,
                model=chosen.model,
                incomplete=incomplete,
                native={} if incomplete else draft.native,
                usage=draft.usage,
                duration_ms=duration_ms,
                extra=unconfirmed_to_json(unconfirmed),
            )
            self._parts.write(self._order.session_id, message)
            return message, unconfirmed, self._write_cost(call, draft)

        # One thread does it all: to hand over costs more than each of these.
        message, unconfirmed, fault = await anyio.to_thread.run_sync(write)
        self.usage = self.usage.plus(draft.usage)
        self._emit(AnswerSaved(text, incomplete, unconfirmed))
        if fault:
            self._emit(Notice("warning", fault))
        return message

    def _find_unconfirmed(self, text: str, draft: _Draft) -> tuple[Unconfirmed, ...]:
        """What a last answer says was done and no call bears out. One with calls tells of what is still to come."""
        if draft.calls or not text:
            return ()
        session_id, is_unsure = self._order.session_id, self._parts.is_unsure
        return judge_answer(
            text, draft.history, self._parts.toolbox.find, lambda call_id: is_unsure(session_id, call_id)
        )

    def _since_ms(self, started_s: float) -> int:
        return int((self._parts.clock.monotonic_s() - started_s) * 1000)


def _keep_quiet(_event: TurnEvent) -> None:
    """What is written for the program itself is no answer."""
