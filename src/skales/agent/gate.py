"""The one gate: exists → add-on on → arguments valid → policy → safety level → approval → run. Nothing else runs tools.

Each decision is one audit line. A refusal or failure is a result for the model, never an exception of the turn.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches

import anyio.to_thread

from skales.agent.origin import CallOrigin
from skales.agent.permission import Permission
from skales.agent.policy import Policy
from skales.core.approval import Decision
from skales.core.clock import Clock
from skales.core.errors import InputError, SkalesError, StorageError
from skales.core.events import Notice, Progress
from skales.core.json import as_object
from skales.core.ports import CallScope, Question, Toolbox
from skales.core.tool import Effect, Outcome, ToolCall, ToolResult, ToolSpec, Verdict, strictest
from skales.data.audit import AuditEntry, AuditLog
from skales.data.started import StartedCalls
from skales.security.veil import Veil, reveal

_log = logging.getLogger(__name__)

# Calls with these effects are marked before they run: after a crash it must be known that they may have run.
_LASTING = frozenset({Effect.OUTBOUND, Effect.WRITES, Effect.DESTRUCTIVE, Effect.SPENDS})


@dataclass(frozen=True, slots=True)
class PassedCall:
    """A call that may run, and how it came to: `auto`, `user`, `granted` or `approved`."""

    decision: str
    spec: ToolSpec
    call: ToolCall
    origin: CallOrigin


Proceed = Callable[[PassedCall], Awaitable[ToolResult]]
# Goes around a call that may run: looks at it, lets it proceed or not, looks at what came of it.
Round = Callable[[PassedCall, Proceed], Awaitable[ToolResult]]
# Says more of a call than the policy does, such as what the conversation has read before. The strictest word counts.
Judge = Callable[[ToolSpec, ToolCall, CallOrigin], Verdict]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateParts:
    """What the gate is built from. Judges may read the disk; the first of the rounds is the outermost."""

    toolbox: Toolbox
    policy: Callable[[], Policy]
    permission: Permission
    audit: AuditLog
    started: StartedCalls
    clock: Clock
    judges: Sequence[Judge] = ()
    rounds: Sequence[Round] = ()
    veil: Veil = field(default_factory=Veil)


@dataclass(frozen=True, slots=True)
class _Shut:
    """The call does not run; the model gets `text`."""

    decision: str
    text: str


class Gate:
    """Lets a call run, or says why not."""

    def __init__(self, parts: GateParts) -> None:
        self._parts = parts

    async def run(self, call: ToolCall, origin: CallOrigin) -> ToolResult:
        """Judge a call and run it when it may. Always returns a result; only cancellation is raised."""
        started_s = self._parts.clock.monotonic_s()
        passage = await self._judge(call, origin)
        if isinstance(passage, _Shut):
            result, final = _refusal(passage.text), call
        else:
            result, final = await self._proceed(passage, self._parts.rounds), passage.call
        entry = AuditEntry(
            session_id=origin.session_id,
            surface=origin.surface,
            tool=final.name,
            decision=passage.decision,
            arguments=final.arguments,
            ok=not result.is_error,
            error=result.summary if result.is_error else "",
            duration_ms=int((self._parts.clock.monotonic_s() - started_s) * 1000),
        )
        await self._write_down(entry, origin)
        return result

    def describe(self, call: ToolCall) -> str:
        """What the call would do, in plain words; its name when there is no such tool."""
        spec = self._parts.toolbox.find(call.name)
        return self._parts.toolbox.describe(spec, call.arguments) if spec else call.name

    async def _judge(self, call: ToolCall, origin: CallOrigin) -> PassedCall | _Shut:
        spec = self._parts.toolbox.find(call.name)
        if spec is None:
            return _Shut("unknown", self._unknown(call.name))
        if not self._parts.toolbox.is_enabled(spec.name):
            return _Shut("blocked", f"BLOCKED: {self._parts.toolbox.why_off(spec.name)}")
        if call.problem:
            return _Shut("malformed", f"The arguments of {spec.name} cannot be read: {call.problem}")
        try:
            arguments = self._parts.toolbox.check_arguments(spec, call.arguments)
        except InputError as error:
            return _Shut("malformed", str(error))
        return await self._apply_rules(spec, replace(call, name=spec.name, arguments=arguments), origin)

    async def _apply_rules(self, spec: ToolSpec, call: ToolCall, origin: CallOrigin) -> PassedCall | _Shut:
        verdict, is_granted = await anyio.to_thread.run_sync(self._look_up, spec, call, origin)
        if verdict.outcome is Outcome.DENY:
            return _Shut("blocked", f"BLOCKED: {verdict.reason}")
        if verdict.outcome is Outcome.ALLOW or origin.by_user:
            return PassedCall("user" if origin.by_user else "auto", spec, call, origin)
        if is_granted:
            return PassedCall("granted", spec, call, origin)
        decision = origin.decided
        if decision is None:
            preview = await anyio.to_thread.run_sync(self._preview, spec, call, abandon_on_cancel=True)
            words = (self.describe(call), verdict.reason, preview)
            decision = await self._parts.permission.ask(spec, call, words, origin)
        return await self._follow(decision, spec, call, origin)

    def _preview(self, spec: ToolSpec, call: ToolCall) -> str:
        try:
            return self._parts.toolbox.preview(spec, call.arguments)
        except Exception:  # noqa: BLE001 - a fault in showing must not run or refuse anything
            # The person can decide without it.
            _log.exception("the preview of %s failed", spec.name)
            return ""

    def _look_up(self, spec: ToolSpec, call: ToolCall, origin: CallOrigin) -> tuple[Verdict, bool]:
        """The rules' verdict, and whether an earlier yes covers what they would ask about. Reads the disk."""
        verdict = self._weigh(spec, call, origin, by_user=origin.by_user)
        asks = verdict.outcome is Outcome.ASK and not origin.by_user
        return verdict, asks and self._parts.permission.is_granted(spec, call, origin.session_id)

    def _weigh(self, spec: ToolSpec, call: ToolCall, origin: CallOrigin, *, by_user: bool) -> Verdict:
        said = (judge(spec, call, origin) for judge in self._parts.judges)
        return strictest(self._parts.policy().judge(spec, call.arguments, by_user=by_user), *said)

    async def _follow(
        self, decision: Decision | None, spec: ToolSpec, call: ToolCall, origin: CallOrigin
    ) -> PassedCall | _Shut:
        """Do what the person said."""
        if decision is None:
            return _Shut("expired", "BLOCKED: nobody answered in time, which counts as no. Say what you would do")
        if not decision.approved:
            words = decision.instead.strip()
            told = f"The user declined this and says: {words}" if words else "BLOCKED: the user declined this call"
            return _Shut("declined", told)
        if decision.args is not None:
            edited = as_object(reveal(decision.args, call.arguments, self._parts.veil))
            call = replace(call, arguments=self._parts.toolbox.check_arguments(spec, edited))
            verdict = await anyio.to_thread.run_sync(lambda: self._weigh(spec, call, origin, by_user=True))
            if verdict.outcome is Outcome.DENY:
                return _Shut("blocked", f"BLOCKED: {verdict.reason}")
        await anyio.to_thread.run_sync(self._parts.permission.remember, spec, call, decision.scope, origin.session_id)
        return PassedCall("approved", spec, call, origin)

    async def _proceed(self, passed: PassedCall, rounds: Sequence[Round]) -> ToolResult:
        if not rounds:
            return await self._execute(passed)
        try:
            return await rounds[0](passed, lambda inner: self._proceed(inner, rounds[1:]))
        except SkalesError as error:
            return _refusal(str(error))

    async def _execute(self, passage: PassedCall) -> ToolResult:
        origin = passage.origin

        async def ask(question: Question) -> str:
            return await self._parts.permission.question(question, passage.call, origin)

        def report(progress: Progress) -> None:
            origin.emit(progress)

        scope = CallScope(session_id=origin.session_id, call_id=passage.call.id, ask=ask, report=report)
        try:
            if passage.spec.effects & _LASTING:
                await anyio.to_thread.run_sync(self._parts.started.mark, origin.session_id, passage.call.id)
            return await self._parts.toolbox.run(passage.spec, passage.call.arguments, scope)
        except SkalesError as error:
            return _refusal(str(error))
        except Exception as error:  # noqa: BLE001 - a faulty tool must not end the turn; the traceback is logged
            _log.exception("tool %s failed", passage.spec.name)
            return _refusal(f"{passage.spec.name} failed unexpectedly: {type(error).__name__}: {error}")

    async def _write_down(self, entry: AuditEntry, origin: CallOrigin) -> None:
        try:
            await anyio.to_thread.run_sync(self._parts.audit.write, entry)
        except StorageError as error:
            origin.emit(Notice("warning", str(error)))

    def _unknown(self, name: str) -> str:
        known = [spec.name for spec in self._parts.toolbox.specs() if self._parts.toolbox.is_enabled(spec.name)]
        near = get_close_matches(name, known, n=3)
        return f"There is no tool named {name!r}. {'Did you mean ' + ', '.join(near) + '?' if near else ''}".strip()


def _refusal(text: str) -> ToolResult:
    return ToolResult(text=text, summary=text[:200], is_error=True)
