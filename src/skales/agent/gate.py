"""The one gate: exists → add-on on → arguments valid → policy → safety level → approval → run. Nothing else runs tools.

Each decision is one audit line, and what came of a call another. A refusal or failure is a result for the model, never
an exception of the turn.
"""

import json
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches

import anyio.to_thread
import msgspec
from msgspec import Struct, structs

from skales.agent.audit_trail import CallTrail, Kept, Said
from skales.agent.explain import Explanation, Refused, build_explanation, chain_rules
from skales.agent.origin import TAINT_RULE, CallOrigin
from skales.agent.permission import Asking, Permission, PermittedCall, Wider
from skales.agent.policy import Finding, Policy
from skales.core.approval import Decision
from skales.core.clock import Clock
from skales.core.errors import InputError, SkalesError, StorageError
from skales.core.events import Notice, Progress
from skales.core.json import JsonObject, as_object
from skales.core.ports import UNCOUNTED, CallScope, Delivery, Question, Toolbox
from skales.core.tool import Effect, Outcome, ToolCall, ToolResult, ToolSpec, Verdict, property_formats, strictest
from skales.data.audit import AuditLog
from skales.data.grants import Grant
from skales.data.started import StartedCalls
from skales.security.veil import Veil, reveal
from skales.security.veiled_messages import veil_result

_log = logging.getLogger(__name__)

# Calls with these effects are marked before they run: after a crash it must be known that they may have run.
_LASTING = frozenset({Effect.OUTBOUND, Effect.WRITES, Effect.DESTRUCTIVE, Effect.SPENDS})
# Characters of changed arguments that a model is told.
_CHANGES_LIMIT = 2_000
_CONFINED = "It runs in the sandbox: it reaches the workspace and the allowed folders, and nothing else of yours"


Afterwards = Callable[[ToolResult], ToolResult]


@dataclass(frozen=True, slots=True)
class PassedCall:
    """A call that may run, and how it came to: `auto`, `user`, `granted` or `approved`; `reason` is why it was asked.

    `approval_id` is the question it was allowed by, `grant_id` the earlier yes. `proposed` are the model's arguments
    where the person changed them. A round may put something else into `call`, such as a secret for its name; `written`
    is what a person agreed to. `delivery` counts what the call sends. `environment` is what its command finds besides
    the usual. `afterwards` takes what a round has to do with the result and the disk: it is done in this order, in the
    thread that writes the call's last line, since to hand over to a thread costs more than most of it.
    """

    decision: str
    spec: ToolSpec
    call: ToolCall
    origin: CallOrigin
    approval_id: str = ""
    grant_id: str = ""
    proposed: JsonObject | None = None
    reason: str = ""
    written: ToolCall | None = None
    delivery: Delivery = UNCOUNTED
    environment: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    afterwards: list[Afterwards] = field(default_factory=list[Afterwards], repr=False, compare=False)


Proceed = Callable[[PassedCall], Awaitable[ToolResult]]
# Goes around a call that may run: looks at it, lets it proceed or not, looks at what came of it.
Round = Callable[[PassedCall, Proceed], Awaitable[ToolResult]]
# Says more of a call than the policy does, such as what the conversation has read before. The strictest word counts.
Judge = Callable[[ToolSpec, ToolCall, CallOrigin], Verdict]


class GateParts(Struct, frozen=True, kw_only=True):
    """What the gate is built from. Judges may read the disk; the first of the rounds is the outermost."""

    toolbox: Toolbox
    policy: Callable[[], Policy]
    permission: Permission
    audit: AuditLog
    started: StartedCalls
    clock: Clock
    judges: Sequence[Judge] = ()
    rounds: Sequence[Round] = ()
    veil: Veil = msgspec.field(default_factory=Veil)


class _Shut(Struct, frozen=True):
    """The call does not run; the model gets `text`."""

    decision: str
    text: str
    approval_id: str = ""


class _Weighed(Struct, frozen=True):
    """What the rules say of a call, and the earlier yes that covers what they would ask about."""

    findings: tuple[Finding, ...]
    grant: Grant | None

    @property
    def verdict(self) -> Verdict:
        return strictest(*(finding.verdict for finding in self.findings))

    @property
    def asks_anew(self) -> bool:
        """Whether a judge asks, for a reason that no earlier yes can have known."""
        return any(found.verdict.rule != TAINT_RULE for found in self._asking_judges)

    @property
    def asks_for_taint(self) -> bool:
        """Whether a judge asks because of what the conversation has read; a yes that knew of it answers."""
        return any(found.verdict.rule == TAINT_RULE for found in self._asking_judges)

    @property
    def _asking_judges(self) -> list[Finding]:
        return [found for found in self.findings if found.kind == "more" and found.verdict.outcome is Outcome.ASK]


class Gate:
    """Lets a call run, or says why not."""

    def __init__(self, parts: GateParts) -> None:
        self._parts = parts

    async def run(self, call: ToolCall, origin: CallOrigin) -> ToolResult:
        """Judge a call and run it when it may. Always returns a result; only cancellation is raised."""
        return await self.run_for(call, origin, lambda result: result)

    async def run_for(self, call: ToolCall, origin: CallOrigin, keep: Callable[[ToolResult], Kept]) -> Kept:
        """Like `run`, with what `keep` makes of the result, in the thread that writes the last line about the call.

        What it raises is raised. A call that was run is kept even when it is cancelled afterwards.
        """
        trail = CallTrail(self._parts.audit, self._parts.clock, call, origin)
        passage = await trail.judge(self._judge(call, trail), lambda found: self._say(found, call))
        veil = self._parts.veil
        if isinstance(passage, _Shut):
            return await anyio.to_thread.run_sync(keep, veil_result(veil, _refusal(passage.text)))
        marked = replace(passage, written=passage.call)
        return await trail.run(
            self._proceed(marked, self._parts.rounds),
            lambda result: veil_result(veil, _settle(marked, result)),
            lambda result: keep(_with_changes(result, marked, veil)),
        )

    def describe(self, call: ToolCall) -> str:
        """What the call would do, in plain words; its name when there is no such tool."""
        spec = self._parts.toolbox.find(call.name)
        return self._parts.toolbox.describe(spec, call.arguments) if spec else call.name

    def explain(self, call: ToolCall, origin: CallOrigin) -> Explanation:
        """What would happen with a call, rule by rule. Runs nothing, asks nobody, writes nothing; reads the disk."""
        ready = self._prepare(call)
        if isinstance(ready, Refused):
            return build_explanation(call, ready)
        spec, call = ready
        weighed = self._weigh(spec, call, origin)
        wider = self._wider(spec, call, weighed, origin) if weighed.verdict.outcome is Outcome.ASK else Wider()
        steps = chain_rules(spec, weighed.findings, by_user=origin.by_user, grant=weighed.grant)
        return build_explanation(call, steps, action=self.describe(call), covers=wider.covers)

    def _prepare(self, call: ToolCall) -> tuple[ToolSpec, ToolCall] | Refused:
        """The tool and its checked arguments, or why there is nothing to judge."""
        spec = self._parts.toolbox.find(call.name)
        if spec is None:
            return Refused("tool", "unknown", self._unknown(call.name))
        if not self._parts.toolbox.is_enabled(spec.name):
            return Refused("addon", "blocked", self._parts.toolbox.why_off(spec.name))
        if call.problem:
            return Refused("arguments", "malformed", f"The arguments of {spec.name} cannot be read: {call.problem}")
        try:
            arguments = self._parts.toolbox.check_arguments(spec, call.arguments)
        except InputError as error:
            return Refused("arguments", "malformed", str(error))
        return spec, replace(call, name=spec.name, arguments=arguments)

    async def _judge(self, call: ToolCall, trail: CallTrail) -> PassedCall | _Shut:
        ready = self._prepare(call)
        if isinstance(ready, Refused):
            return _Shut(ready.decision, f"BLOCKED: {ready.words}" if ready.decision == "blocked" else ready.words)
        return await self._apply_rules(*ready, trail)

    async def _apply_rules(self, spec: ToolSpec, call: ToolCall, trail: CallTrail) -> PassedCall | _Shut:
        origin = trail.origin
        try:
            weighed = await anyio.to_thread.run_sync(self._settle, spec, call, trail)
        except StorageError as error:  # what was agreed or sent before cannot be read
            return _Shut("blocked", f"BLOCKED: {error}")
        if not isinstance(weighed, _Weighed):
            return weighed
        verdict = weighed.verdict
        if weighed.grant is not None:
            await self._note_use(weighed.grant, origin)
            return PassedCall("granted", spec, call, origin, grant_id=weighed.grant.id, reason=verdict.reason)
        asked = PassedCall("approved", spec, call, origin, reason=verdict.reason)
        wider = await anyio.to_thread.run_sync(self._wider, spec, call, weighed, origin)
        if origin.decided is not None:
            return await self._follow(origin.decided, asked, wider)
        asking = await anyio.to_thread.run_sync(self._asking, spec, call, weighed, abandon_on_cancel=True)
        decision, approval_id = await self._parts.permission.ask(call, asking, wider, origin)
        return await self._follow(decision, replace(asked, approval_id=approval_id), wider)

    def _settle(self, spec: ToolSpec, call: ToolCall, trail: CallTrail) -> PassedCall | _Shut | _Weighed:
        """What the rules say, and its line in the log where they need nobody for it. Reads and writes the disk."""
        origin, weighed = trail.origin, self._weigh(spec, call, trail.origin)
        verdict = weighed.verdict
        passage: PassedCall | _Shut
        if verdict.outcome is Outcome.DENY:
            passage = _Shut("blocked", f"BLOCKED: {verdict.reason}")
        elif verdict.outcome is Outcome.ALLOW or origin.by_user:
            passage = PassedCall("user" if origin.by_user else "auto", spec, call, origin)
        else:
            return weighed
        trail.note(self._say(passage, call))
        return passage

    def _wider(self, spec: ToolSpec, call: ToolCall, weighed: _Weighed, origin: CallOrigin) -> Wider:
        if weighed.asks_anew:
            return Wider()
        return self._parts.permission.offer(spec, call, is_marked=bool(origin.sources))

    def _asking(self, spec: ToolSpec, call: ToolCall, weighed: _Weighed) -> Asking:
        return Asking(
            action=self.describe(call),
            reason=weighed.verdict.reason,
            preview=self._preview(spec, call),
            sandbox=self._sandbox(spec),
            why=chain_rules(spec, weighed.findings, by_user=False, grant=None),
        )

    def _sandbox(self, spec: ToolSpec) -> str:
        """Where a command would run, in words; empty for tools that run none."""
        if "shell-command" not in property_formats(spec).values():
            return ""
        return self._parts.policy().unconfined() or _CONFINED

    async def _note_use(self, grant: Grant, origin: CallOrigin) -> None:
        try:
            await anyio.to_thread.run_sync(self._parts.permission.note_use, grant)
        except StorageError as error:
            origin.emit(Notice("warning", str(error)))

    def _preview(self, spec: ToolSpec, call: ToolCall) -> str:
        try:
            return self._parts.toolbox.preview(spec, call.arguments)
        except Exception:  # noqa: BLE001 - a fault in showing must not run or refuse anything
            # The person can decide without it.
            _log.exception("the preview of %s failed", spec.name)
            return ""

    def _weigh(self, spec: ToolSpec, call: ToolCall, origin: CallOrigin, *, edited: bool = False) -> _Weighed:
        """What judges and rules say, and whether an earlier yes covers what they would ask about. Reads the disk.

        A judge's reason says more than that the tool asks, so of equals it comes first.
        """
        by_user = origin.by_user or edited
        said = [Finding("more", judge(spec, call, origin)) for judge in self._parts.judges]
        weighed = _Weighed((*said, *self._parts.policy().findings(spec, call.arguments, by_user=by_user)), None)
        if weighed.verdict.outcome is not Outcome.ASK or by_user or weighed.asks_anew:
            return weighed
        # What was allowed before the conversation read other people's text does not cover what that text may want.
        sources = origin.sources if weighed.asks_for_taint else ()
        grant = self._parts.permission.find_grant(spec, call, origin.session_id, sources=sources)
        return structs.replace(weighed, grant=grant)

    async def _follow(self, decision: Decision | None, asked: PassedCall, wider: Wider) -> PassedCall | _Shut:
        """Do what the person said."""
        if decision is None:
            told = "BLOCKED: nobody answered in time, which counts as no. Say what you would do"
            return _Shut("expired", told, asked.approval_id)
        if not decision.approved:
            words = decision.instead.strip()
            told = f"The user declined this and says: {words}" if words else "BLOCKED: the user declined this call"
            return _Shut("declined", told, asked.approval_id)
        passed = self._with_edits(decision, asked)
        if passed.proposed is not None:
            weighed = await anyio.to_thread.run_sync(
                lambda: self._weigh(passed.spec, passed.call, passed.origin, edited=True)
            )
            if weighed.verdict.outcome is Outcome.DENY:
                return _Shut("blocked", f"BLOCKED: {weighed.verdict.reason}", asked.approval_id)
        ran = PermittedCall(passed.call, self.describe(passed.call), decision, wider.reach)
        await anyio.to_thread.run_sync(self._parts.permission.remember, passed.spec, ran, passed.origin)
        return passed

    def _with_edits(self, decision: Decision, asked: PassedCall) -> PassedCall:
        """The call as the person changed it, what they left masked put back. Raises InputError."""
        if decision.args is None:
            return asked
        edited = as_object(reveal(decision.args, asked.call.arguments, self._parts.veil))
        arguments = self._parts.toolbox.check_arguments(asked.spec, edited)
        if arguments == asked.call.arguments:
            return asked
        return replace(asked, call=replace(asked.call, arguments=arguments), proposed=asked.call.arguments)

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

        scope = CallScope(
            origin.session_id, passage.call.id, ask, report, passage.delivery, environment=passage.environment
        )
        try:
            if passage.spec.effects & _LASTING:
                await anyio.to_thread.run_sync(self._parts.started.mark, origin.session_id, passage.call.id)
            return await self._parts.toolbox.run(passage.spec, passage.call.arguments, scope)
        except SkalesError as error:
            return _refusal(str(error))
        except Exception as error:  # noqa: BLE001 - a faulty tool must not end the turn; the traceback is logged
            _log.exception("tool %s failed", passage.spec.name)
            return _refusal(f"{passage.spec.name} failed unexpectedly: {type(error).__name__}: {error}")

    def _say(self, passage: PassedCall | _Shut, call: ToolCall) -> Said:
        """The decision for the audit log."""
        if isinstance(passage, PassedCall):
            proposed = passage.proposed
            return Said(passage.decision, passage.reason, passage.call, passage.spec, passage.approval_id, proposed)
        spec = self._parts.toolbox.find(call.name)
        named = replace(call, name=spec.name) if spec else call
        return Said(passage.decision, passage.text, named, spec, passage.approval_id)

    def _unknown(self, name: str) -> str:
        known = [spec.name for spec in self._parts.toolbox.specs() if self._parts.toolbox.is_enabled(spec.name)]
        near = get_close_matches(name, known, n=3)
        return f"There is no tool named {name!r}. {'Did you mean ' + ', '.join(near) + '?' if near else ''}".strip()


def _settle(passed: PassedCall, result: ToolResult) -> ToolResult:
    """What the rounds make of a result afterwards; what cannot be noted of it withholds it."""
    try:
        for settle in passed.afterwards:
            result = settle(result)
    except SkalesError as error:
        return _refusal(str(error))
    return result


def _with_changes(result: ToolResult, passed: PassedCall, veil: Veil) -> ToolResult:
    """The result with what it ran with, where that is not what the model asked for: it must not believe otherwise."""
    if passed.proposed is None:
        return result
    shown = json.dumps(veil.fields(passed.call.arguments), ensure_ascii=False, default=str)[:_CHANGES_LIMIT]
    return replace(
        result, text=f"The user changed the arguments before allowing this. It ran with {shown}\n{result.text}"
    )


def _refusal(text: str) -> ToolResult:
    return ToolResult(text=text, summary=text[:200], is_error=True)
