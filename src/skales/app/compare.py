"""The same message to several models side by side. No tools run, and no file is written until the person picks.

What was answered is kept in memory for the newest comparisons, so that the page need not send an answer back to have it
kept. Costs are written down at once. Spec: issue "All 26 providers", "Selection".
"""

from collections import OrderedDict
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace
from functools import partial

import anyio
import anyio.to_thread
from anyio.streams.memory import MemoryObjectSendStream
from msgspec import Struct, field, structs

from skales.agent.context import ContextBuilder
from skales.agent.turns import Turns
from skales.app.costs import MeteredProvider
from skales.core.clock import Clock
from skales.core.errors import ConflictError, InputError, NotFoundError, SkalesError
from skales.core.ids import IdSource, SessionId
from skales.core.json import JsonObject
from skales.core.message import Message, Role, TextPart, Usage, text_message
from skales.core.ports import (
    Accounts,
    ChatRequest,
    ChosenModel,
    Finished,
    FinishReason,
    ModelCall,
    ModelChooser,
    NativeBlocks,
    ProviderEvent,
    Purpose,
    ReasoningPiece,
    RetryPlanned,
    TextPiece,
    UsageCounted,
)
from skales.data.session_codec import Session
from skales.data.sessions import SessionStore

FEWEST, MOST = 2, 4
# Comparisons that can still be gone on with.
_KEPT = 16
_NO_TOOLS = "\n\nFor this answer there are no tools: answer from what you know and from what is written here."

_NOWHERE = Session(id=SessionId(""), title="", provider="", model="", agent_id="", created_ms=0, updated_ms=0)

Choice = tuple[str, str]


class Grew(Struct, frozen=True):
    """More text of one answer."""

    column: int
    text: str


class Thought(Struct, frozen=True):
    """The model of a column thinks before it answers."""

    column: int


class Waits(Struct, frozen=True):
    """The request of a column failed before any output and is sent again."""

    column: int
    text: str


class Answered(Struct, frozen=True):
    """One answer is over, well or not; it stands in the comparison."""

    column: int


CompareEvent = Grew | Thought | Waits | Answered


class Column(Struct):
    """One model's answer. `incomplete` is empty for a finished one, as in a message; `error` says why it failed."""

    chosen: ChosenModel
    text: str = ""
    reasoning: str = ""
    native: JsonObject = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    duration_ms: int = 0
    incomplete: str = "stopped"
    error: SkalesError | None = None

    @property
    def can_be_kept(self) -> bool:
        """Whether there is something to go on with."""
        return bool(self.text.strip())

    def take(self, event: ProviderEvent) -> None:
        """Add what came."""
        match event:
            case TextPiece(text):
                self.text += text
            case ReasoningPiece(text):
                self.reasoning += text
            case NativeBlocks(name, blocks):
                self.native = {"format": name, "blocks": list(blocks)}
            case UsageCounted(usage):
                self.usage = usage
            case Finished(reason):
                self.incomplete = "length" if reason is FinishReason.LENGTH else ""
            case _:
                pass


class Comparison(Struct):
    """A message and its answers. `before` is the conversation it goes on from; its id is empty outside of any."""

    id: str
    before: Session
    text: str
    columns: Sequence[Column]


class CompareParts(Struct, frozen=True, kw_only=True):
    """What comparisons are made with."""

    chooser: ModelChooser
    context: ContextBuilder
    sessions: SessionStore
    turns: Turns
    accounts: Accounts
    clock: Clock
    ids: IdSource


class Comparisons:
    """The newest comparisons of this life of the program. Call it on the event loop."""

    def __init__(self, parts: CompareParts) -> None:
        self._parts = parts
        self._kept: OrderedDict[str, Comparison] = OrderedDict()
        self._running: dict[str, anyio.CancelScope] = {}

    async def begin(self, text: str, choices: Sequence[Choice], session_id: str = "") -> Comparison:
        """Get ready to ask; nobody is asked yet.

        Raises InputError, NotFoundError, and ProviderError for a model that cannot be asked as it is set up.
        """
        if not text.strip():
            raise InputError("The message is empty", code="empty_message")
        wanted = list(dict.fromkeys(choices))
        if not FEWEST <= len(wanted) <= MOST:
            raise InputError(f"Choose {FEWEST} to {MOST} different models", code="bad_comparison")
        before = _NOWHERE
        if session_id:
            before = await anyio.to_thread.run_sync(self._parts.sessions.load, SessionId(session_id))
        made = Comparison(
            id=self._parts.ids.token(16),
            before=before,
            text=text,
            columns=[Column(self._parts.chooser.choose(*choice)) for choice in wanted],
        )
        self._kept[made.id] = made
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return made

    def find(self, comparison_id: str) -> Comparison:
        """A comparison of this life of the program. Raises NotFoundError."""
        if comparison_id not in self._kept:
            raise NotFoundError("This comparison is gone", hint="Ask the models again")
        return self._kept[comparison_id]

    async def stream(self, made: Comparison) -> AsyncGenerator[CompareEvent, None]:
        """Ask all at once, and yield what comes until all are done; closing it stops them, and keeps their text."""
        send, receive = anyio.create_memory_object_stream[CompareEvent](64)
        async with anyio.create_task_group() as tasks:
            self._running[made.id] = tasks.cancel_scope
            try:
                for number in range(len(made.columns)):
                    tasks.start_soon(self._ask, made, number, send.clone())
                send.close()
                async with receive:
                    try:
                        async for event in receive:
                            yield event
                    except GeneratorExit:
                        # Closed from outside; a task group would wrap this in a group of its own.
                        tasks.cancel_scope.cancel()
            finally:
                self._running.pop(made.id, None)

    def stop_all(self) -> int:
        """Stop all that are being answered; what came is kept. How many."""
        scopes = list(self._running.values())
        for scope in scopes:
            scope.cancel()
        return len(scopes)

    async def keep(self, comparison_id: str, number: int) -> SessionId:
        """Make an answer part of its conversation, or of a new one, which its model goes on answering.

        Raises NotFoundError, and ConflictError when the conversation went on meanwhile.
        """
        made = self.find(comparison_id)
        if not 0 <= number < len(made.columns) or not made.columns[number].can_be_kept:
            raise NotFoundError("There is no such answer to go on with")
        column = made.columns[number]
        chosen = column.chosen
        session_id = made.before.id
        if not session_id:
            session_id = (await anyio.to_thread.run_sync(self._parts.sessions.create)).id
        said, answer = text_message(Role.USER, made.text), _to_message(column)
        await self._parts.turns.add(session_id, said, answer, after=len(made.before.messages))
        await anyio.to_thread.run_sync(
            partial(self._parts.sessions.update, session_id, provider=chosen.provider_id, model=chosen.model)
        )
        del self._kept[comparison_id]
        return session_id

    async def _ask(self, made: Comparison, number: int, send: MemoryObjectSendStream[CompareEvent]) -> None:
        column = made.columns[number]
        started_s = self._parts.clock.monotonic_s()
        async with send:
            # Nobody listens any more when all of them are stopped.
            with suppress(anyio.BrokenResourceError):
                try:
                    await self._receive(made, number, send)
                except SkalesError as error:
                    column.error = error
                    column.incomplete = "cut" if column.text else "failed"
                finally:
                    column.duration_ms = int((self._parts.clock.monotonic_s() - started_s) * 1000)
                await send.send(Answered(number))

    async def _receive(self, made: Comparison, number: int, send: MemoryObjectSendStream[CompareEvent]) -> None:
        column = made.columns[number]
        chosen = column.chosen
        request = self._build(made, chosen)
        call = partial(_describe_call, chosen, made.before.id)
        met = await anyio.to_thread.run_sync(self._parts.accounts.check, call(request))
        if met is not None and met.is_full:
            raise ConflictError(
                "This call would reach the ceiling for costs",
                hint="Change the ceiling in Settings, Chat",
                code="budget",
            )
        provider = MeteredProvider(chosen.provider, self._parts.accounts, call)
        async with aclosing(provider.stream(request)) as events:
            async for event in events:
                column.take(event)
                told = _tell(number, event)
                if told is not None:
                    await send.send(told)
        if not column.can_be_kept:
            raise ConflictError("The model answered nothing", hint="Ask again", code="empty_answer")

    def _build(self, made: Comparison, chosen: ChosenModel) -> ChatRequest:
        facts = self._parts.chooser.facts(chosen.provider_id, chosen.model)
        said = text_message(Role.USER, made.text)
        # Under an id of its own, so that what is counted of the conversation itself stays right.
        asked = structs.replace(made.before, id=SessionId(f"compare-{made.id}"), messages=(*made.before.messages, said))
        built = self._parts.context.build(chosen, asked, sees=facts.vision, documents=facts.documents)
        request = built.with_cap(facts.output_cap_tokens).request
        first, *others = request.messages
        if not chosen.weak:
            first = replace(first, content=(*first.content, TextPart(_NO_TOOLS)))
        return replace(request, messages=(first, *others), tools=())


def _describe_call(chosen: ChosenModel, session_id: SessionId, request: ChatRequest) -> ModelCall:
    return ModelCall(purpose=Purpose.COMPARE, provider_id=chosen.provider_id, request=request, session_id=session_id)


def _tell(number: int, event: ProviderEvent) -> CompareEvent | None:
    match event:
        case TextPiece(text):
            return Grew(number, text)
        case ReasoningPiece():
            return Thought(number)
        case RetryPlanned(reason, wait_s, _):
            return Waits(number, f"{reason}. Trying again in {wait_s:.0f} s")
        case _:
            return None


def _to_message(column: Column) -> Message:
    return Message(
        role=Role.ASSISTANT,
        content=(TextPart(column.text),),
        reasoning=column.reasoning,
        provider=column.chosen.provider_id,
        model=column.chosen.model,
        incomplete=column.incomplete,
        native={} if column.incomplete else column.native,
        usage=column.usage,
        duration_ms=column.duration_ms,
    )
