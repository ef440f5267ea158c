"""One turn: ask the model, run what it asks for, write each step down, until it answers or a limit is met.

The only writer of history. The user's message is on disk before the provider is asked, each tool result before the
next call; a crash loses at most the text that was still streaming. Spec: orchestrator.md, "Turn flow".
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import anyio
import anyio.to_thread

from skales.agent.answering import Answerer
from skales.agent.approvals import ApprovalDesk
from skales.agent.budget import SpendingStoppedError
from skales.agent.ceilings import TurnTime
from skales.agent.commands import WHY, is_tool_command, is_why_command, parse_tool_arguments, tool_name
from skales.agent.explain import render_explanation
from skales.agent.marks import FOUND_LINKS, SOURCES
from skales.agent.origin import CallOrigin, Marks
from skales.agent.repeats import Repeat, RepeatGuard
from skales.agent.standby import Needs, Standby, choose_or_stand_in, find_needs
from skales.agent.taint_round import links_of
from skales.agent.turn_parts import Seen, TurnOrder, TurnParts
from skales.core.errors import NotFoundError, ProviderError, SkalesError
from skales.core.events import (
    AnswerSaved,
    Notice,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnEnd,
    TurnEnded,
    TurnEvent,
    TurnStarted,
)
from skales.core.ids import TurnId
from skales.core.json import JsonValue, as_object, as_text
from skales.core.message import ImagePart, Message, Role, TextPart
from skales.core.ports import ChosenModel
from skales.core.tool import ToolCall, ToolResult
from skales.data.results import RESULT_LIMIT, shorten, spill
from skales.data.session_codec import Session
from skales.security.veiled_messages import veil_message, veil_result

_log = logging.getLogger(__name__)

# Spec: orchestrator.md, "Loop control".
MAX_ITERATIONS = 40
# Characters that are looked through in less time than another thread needs to begin.
_SHORT_TEXT = 2_000


class Turn:
    """Runs one order. Make a new one for each. The desk knows when a cancellation comes from the program's end."""

    def __init__(
        self, parts: TurnParts, desk: ApprovalDesk, order: TurnOrder, emit: Callable[[TurnEvent], None]
    ) -> None:
        self._parts = parts
        self._desk = desk
        self._order = order
        ceilings = parts.ceilings()
        self._time = TurnTime(ceilings.minutes, emit)
        self._emit = self._time.emit
        self._guard = RepeatGuard(ceilings.calls)
        self._answerer = Answerer(parts, order, self._emit)
        self._started_s = parts.clock.monotonic_s()
        self._id = TurnId(f"turn_{parts.ids.token(12)}")

    async def run(self) -> None:
        """Run to the end; the last event is always TurnEnded. Only cancellation is raised, after the end is written."""
        try:
            end = await self._run_order()
        except anyio.get_cancelled_exc_class():
            # Calls that wait for an answer or run stay open when the program ends: the next one goes on with them.
            if not self._desk.is_leaving:
                with anyio.CancelScope(shield=True):
                    await self._close_after_stop()
            self._emit(self._ended(TurnEnd.STOPPED))
            raise
        except SpendingStoppedError as error:
            end = replace(self._limit(error.message, error.hint), code=error.code)
        except SkalesError as error:
            end = self._failed(error.message, error.hint, error.code)
        except Exception as error:  # noqa: BLE001 - a fault of ours ends this turn, not the program; it is logged
            _log.exception("turn in %s failed", self._order.session_id)
            end = self._failed(f"Unexpected fault: {type(error).__name__}: {error}", "See the log for details", "fault")
        self._emit(end)

    async def _run_order(self) -> TurnEnded:
        order = self._order
        session, seen, fault = await anyio.to_thread.run_sync(self._take_up)
        if fault:
            self._emit(Notice("warning", fault))
        if seen is None:
            await self._close_open_calls("Cancelled, not run: the user went on with a new message", session)
            seen = await self._parts.append(order.session_id, order.message, unqueue=order.from_queue)
        if is_tool_command(order.text):
            return await self._run_command()
        if is_why_command(order.text):
            return await self._explain(session)
        chosen = self._choose(session)
        if order.speaks and await self._holds_secret():
            self._emit(Notice("info", "A secret in your message was hidden from the model and the history"))
        if order.compacts:
            await self._answerer.compact_now(chosen, session)
            return self._ended(TurnEnd.COMPLETED)
        with self._time.begin():
            return await self._loop(chosen, seen)
        return await self._end_late()

    def _take_up(self) -> tuple[Session, Seen | None, str]:
        """The conversation before this turn, and with its message; that waits while earlier calls are open.

        Who speaks withdraws the questions of an earlier run; at last why that failed, when it did.
        """
        order, parts = self._order, self._parts
        fault = self._withdraw_questions() if order.speaks else ""
        session = parts.sessions.load(order.session_id)
        if not order.speaks:
            return session, parts.look(session), fault
        if find_open_calls(session.messages):
            return session, None, fault
        return session, parts.look(parts.write(order.session_id, order.message, unqueue=order.from_queue)), fault

    def _withdraw_questions(self) -> str:
        try:
            self._desk.drop_now(self._order.session_id)
        except SkalesError as error:
            return str(error)
        return ""

    async def _holds_secret(self) -> bool:
        veil, message = self._parts.veil, self._order.message
        is_short = len(message.text) <= _SHORT_TEXT and len(message.content) == 1
        veiled = (
            veil_message(veil, message) if is_short else await anyio.to_thread.run_sync(veil_message, veil, message)
        )
        return veiled is not message

    def _choose(self, session: Session) -> ChosenModel:
        """Who is asked first; the turn has started, whoever it is. Raises ProviderError when there is nobody."""
        order, parts = self._order, self._parts

        def needs() -> Needs:
            said = (*session.messages, order.message) if order.speaks else session.messages
            return find_needs(said, offers_tools=bool(parts.toolbox.enabled()))

        try:
            chosen, notice = choose_or_stand_in(parts.chooser, (session.provider, session.model), needs)
        except ProviderError:
            self._emit(TurnStarted(self._id, order.session_id, order.text, session.provider, session.model))
            raise
        self._emit(TurnStarted(self._id, order.session_id, order.text, chosen.provider_id, chosen.model))
        if notice:
            self._emit(notice)
        return chosen

    async def _loop(self, chosen: ChosenModel, seen: Seen) -> TurnEnded:
        standby = Standby(self._parts.chooser, chosen, self._emit)
        calls = find_open_calls(seen.session.messages)
        for _ in range(MAX_ITERATIONS):
            if calls:
                answered = await self._answer_calls(calls, seen)
                if answered is None:
                    return self._limit("The model repeated the same call five times", "Say differently what you need")
                seen = answered
            answer = await self._answerer.ask(standby, seen.session)
            # As they were asked for; in the file their secrets are masked.
            calls = answer.tool_calls
            if not calls:
                return self._ended(TurnEnd.COMPLETED)
        return self._limit(f"The turn took {MAX_ITERATIONS} steps without an answer", "Write `continue` to go on")

    async def _end_late(self) -> TurnEnded:
        minutes = f"{self._time.minutes:g}"
        with anyio.CancelScope(shield=True):
            await self._close_open_calls(f"Not run: the turn took longer than {minutes} minutes")
        hint = "Write `continue` to go on, or allow more (`turnMinutes` in the settings)"
        return self._limit(f"The turn took longer than {minutes} minutes", hint)

    # --- tools ---

    async def _answer_calls(self, calls: Sequence[ToolCall], seen: Seen) -> Seen | None:
        """Answer each open call; the conversation with the results, None when the model is going in circles."""
        for index, call in enumerate(calls):
            repeat = self._guard.count(call)
            if repeat is Repeat.RUN:
                seen = await self._run_call(call, seen.marks, first_of_batch=index == 0)
                continue
            text = self._guard.explain(call)
            self._emit(ToolStarted(call, self._parts.gate.describe(call), index == 0))
            seen = await self._save_result(call, _not_run(text), 0)
            if repeat is Repeat.END:
                await self._close_open_calls("Not run: the turn ended")
                return None
        return seen

    async def _run_call(self, call: ToolCall, marks: Marks, *, first_of_batch: bool, by_user: bool = False) -> Seen:
        self._emit(ToolStarted(call, self._parts.gate.describe(call), first_of_batch))
        started_s = self._parts.clock.monotonic_s()
        if self._parts.started.is_marked(self._order.session_id, call.id):
            # It ran in an earlier life of the program and must not run twice.
            return await self._save_result(call, await self._interrupted(call), 0)
        origin = CallOrigin(
            session_id=self._order.session_id,
            surface=self._order.surface,
            emit=self._emit,
            by_user=by_user,
            decided=self._order.decisions.get(call.id),
            turn_id=self._id,
            marks=marks,
        )

        def keep(result: ToolResult) -> tuple[ToolFinished, Seen]:
            return self._keep_result(call, result, self._since_ms(started_s))

        finished, seen = await self._parts.gate.run_for(call, origin, keep)
        self._emit(finished)
        return seen

    async def _save_result(self, call: ToolCall, result: ToolResult, duration_ms: int) -> Seen:
        result = veil_result(self._parts.veil, result)
        finished, seen = await anyio.to_thread.run_sync(self._keep_result, call, result, duration_ms)
        self._emit(finished)
        return seen

    def _keep_result(self, call: ToolCall, result: ToolResult, duration_ms: int) -> tuple[ToolFinished, Seen]:
        """Write a result without secrets into the history. Not for the event loop's thread."""
        parts, session_id = self._parts, self._order.session_id
        if len(result.text) > RESULT_LIMIT:
            path = spill(parts.directory, session_id, call.id, result.text)
            if result.sources:
                parts.tainted.add([path], result.sources)
            result = replace(result, text=shorten(result.text, path), files=(*result.files, str(path)))
        seen = parts.look(parts.write(session_id, _result_message(call, result, duration_ms)))
        parts.started.clear(session_id, call.id)
        return ToolFinished(call, result, duration_ms), seen

    async def _close_open_calls(self, reason: str, session: Session | None = None) -> None:
        """Give each call that has no result one that says why, so that the session can go on.

        `session` is the conversation, where it was loaded just now.
        """
        try:
            if session is None:
                session = await anyio.to_thread.run_sync(self._parts.sessions.load, self._order.session_id)
        except NotFoundError:
            return
        for call in find_open_calls(session.messages):
            ran = self._parts.started.is_marked(self._order.session_id, call.id)
            await self._save_result(call, await self._interrupted(call) if ran else _not_run(reason), 0)

    async def _interrupted(self, call: ToolCall) -> ToolResult:
        known = await anyio.to_thread.run_sync(self._parts.fate, self._order.session_id, call.id)
        return known or _not_run(
            "Interrupted while it ran: what it did until then is not known. Look before doing it again"
        )

    async def _close_after_stop(self) -> None:
        try:
            await self._close_open_calls("Cancelled, not run: stopped by the user")
        except SkalesError:
            # A full disk must not keep a turn from stopping; what is missing is repaired before the next request.
            _log.warning("open calls of %s could not be closed", self._order.session_id, exc_info=True)

    async def _run_command(self) -> TurnEnded:
        """`/tool …`: the person's own call, written down like any other."""
        self._emit(TurnStarted(self._id, self._order.session_id, self._order.text, "", ""))
        name = tool_name(self._order.text)
        spec = self._parts.toolbox.find(name)
        if spec is None:
            raise NotFoundError(f"There is no tool named {name!r}", hint="`skales tools` and the Tools page list them")
        arguments = self._parts.toolbox.check_arguments(spec, parse_tool_arguments(self._order.text, spec))
        call = ToolCall(f"call_{self._parts.ids.token(12)}", spec.name, arguments)
        seen = await self._parts.append(
            self._order.session_id, Message(role=Role.ASSISTANT, tool_calls=(call,), extra={"source": "user"})
        )
        self._emit(AnswerSaved(""))
        await self._run_call(call, seen.marks, first_of_batch=True, by_user=True)
        return self._ended(TurnEnd.COMPLETED)

    async def _explain(self, session: Session) -> TurnEnded:
        """`/why …`: what would happen with a call, without a model; alone, with the last one of the conversation."""
        self._emit(TurnStarted(self._id, self._order.session_id, self._order.text, "", ""))
        call = self._wondered(session)
        origin = CallOrigin(session_id=self._order.session_id, surface=self._order.surface, emit=self._emit)
        explanation = await anyio.to_thread.run_sync(self._parts.gate.explain, call, origin)
        text = render_explanation(explanation)
        self._emit(TextDelta(text))
        message = Message(role=Role.ASSISTANT, content=(TextPart(text),), extra={"source": "user"})
        await self._parts.append(self._order.session_id, message)
        self._emit(AnswerSaved(text))
        return self._ended(TurnEnd.COMPLETED)

    def _wondered(self, session: Session) -> ToolCall:
        if self._order.text.strip() == WHY:
            calls = [call for message in session.messages for call in message.tool_calls]
            if not calls:
                raise NotFoundError("No tool was called in this conversation yet", hint="Write /why TOOL key=value")
            return calls[-1]
        name = tool_name(self._order.text)
        spec = self._parts.toolbox.find(name)
        return ToolCall("call_why", name, parse_tool_arguments(self._order.text, spec) if spec else {})

    # --- writing down ---

    def _ended(self, end: TurnEnd) -> TurnEnded:
        return TurnEnded(end, self._answerer.usage, self._since_ms(self._started_s))

    def _limit(self, error: str, hint: str) -> TurnEnded:
        return replace(self._ended(TurnEnd.LIMIT), error=error, hint=hint, code="limit")

    def _failed(self, error: str, hint: str, code: str) -> TurnEnded:
        return replace(self._ended(TurnEnd.FAILED), error=error, hint=hint, code=code)

    def _since_ms(self, started_s: float) -> int:
        return int((self._parts.clock.monotonic_s() - started_s) * 1000)


def find_open_calls(history: Sequence[Message]) -> tuple[ToolCall, ...]:
    """Calls of the last answer that have no result yet, when nothing but results follows it."""
    answered: set[str] = set()
    for message in reversed(history):
        if message.role is Role.TOOL:
            answered.add(message.tool_call_id)
        elif message.role is Role.ASSISTANT:
            return tuple(call for call in message.tool_calls if call.id not in answered)
        else:
            return ()
    return ()


def _not_run(reason: str) -> ToolResult:
    return ToolResult(text=reason, summary=reason[:200], is_error=True)


def _result_message(call: ToolCall, result: ToolResult, duration_ms: int) -> Message:
    pictures = (ImagePart(picture.media_type, picture.data_base64, picture.name) for picture in result.pictures)
    return Message(
        role=Role.TOOL,
        content=(TextPart(result.text), *pictures),
        tool_call_id=call.id,
        name=call.name,
        is_error=result.is_error,
        duration_ms=duration_ms,
        extra=_kept_data(result),
    )


def _kept_data(result: ToolResult) -> Mapping[str, JsonValue]:
    """What of a result the conversation keeps beside its text: the change to a file, and whose text it holds."""
    diff = as_text(as_object(result.data).get("diff"))
    kept: dict[str, JsonValue] = {"diff": diff} if diff else {}
    if result.sources:
        kept[SOURCES] = list(result.sources)
        if links := links_of(result):
            kept[FOUND_LINKS] = [*links]
    return kept
