"""The one gate: exists → add-on on → arguments valid → policy → safety level → approval → run. Nothing else runs a tool.

Each decision is one audit line. A refusal or failure is a result for the model, never an exception of the turn.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from difflib import get_close_matches

import anyio.to_thread

from skales.agent.approvals import ApprovalDesk
from skales.agent.policy import Policy
from skales.core.approval import Approval, AskKind, Decision, Scope
from skales.core.clock import Clock
from skales.core.errors import InputError, SkalesError, StorageError
from skales.core.events import ApprovalRequested, ApprovalResolved, Notice, Progress, TurnEvent
from skales.core.ids import ApprovalId, IdSource, SessionId
from skales.core.ports import CallScope, Question, Toolbox
from skales.core.tool import Effect, Outcome, ToolCall, ToolResult, ToolSpec, property_formats
from skales.data.audit import AuditEntry, AuditLog
from skales.data.grants import GrantStore
from skales.data.started import StartedCalls
from skales.security.shell import covers, suggest_prefix

_log = logging.getLogger(__name__)

# Calls with these effects are marked before they run: after a crash it must be known that they may have run.
_LASTING = frozenset({Effect.OUTBOUND, Effect.WRITES, Effect.DESTRUCTIVE, Effect.SPENDS})


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOrigin:
    """Where a call comes from and where its events go. `decided` carries an answer given before a restart."""

    session_id: SessionId
    surface: str
    emit: Callable[[TurnEvent], None]
    by_user: bool = False
    decided: Decision | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GateParts:
    """What the gate is built from."""

    toolbox: Toolbox
    policy: Callable[[], Policy]
    desk: ApprovalDesk
    grants: GrantStore
    audit: AuditLog
    started: StartedCalls
    clock: Clock
    ids: IdSource
    approval_timeout_s: Callable[[], int]


@dataclass(frozen=True, slots=True)
class _Stopped:
    """The gate stayed shut; the model gets this."""

    result: ToolResult
    decision: str


@dataclass(frozen=True, slots=True)
class _Open:
    """The call may run with these arguments."""

    spec: ToolSpec
    call: ToolCall
    decision: str


class Gate:
    """Lets a call run, or says why not."""

    def __init__(self, parts: GateParts) -> None:
        self._parts = parts

    async def run(self, call: ToolCall, origin: CallOrigin) -> ToolResult:
        """Judge a call and run it when it may. Always returns a result; only cancellation is raised."""
        started_s = self._parts.clock.monotonic_s()
        passed = await self._judge(call, origin)
        if isinstance(passed, _Stopped):
            result, decision, final = passed.result, passed.decision, call
        else:
            result, decision, final = await self._execute(passed, origin), passed.decision, passed.call
        entry = AuditEntry(
            session_id=origin.session_id,
            surface=origin.surface,
            tool=final.name,
            decision=decision,
            arguments=final.arguments,
            ok=not result.is_error,
            error=result.summary if result.is_error else "",
            duration_ms=int((self._parts.clock.monotonic_s() - started_s) * 1000),
        )
        await self._write_down(entry, origin)
        return result

    def describe(self, call: ToolCall) -> str:
        """What the call would do, in plain words; its name when it cannot be understood."""
        spec = self._parts.toolbox.find(call.name)
        return self._parts.toolbox.describe(spec, call.arguments) if spec else call.name

    async def _judge(self, call: ToolCall, origin: CallOrigin) -> _Open | _Stopped:
        spec = self._parts.toolbox.find(call.name)
        if spec is None:
            return _Stopped(_refusal(self._unknown(call.name)), "unknown")
        if not self._parts.toolbox.is_enabled(spec.name):
            return _Stopped(
                _refusal(f"BLOCKED: {spec.name} belongs to the add-on {spec.addon!r}, which is switched off"), "blocked"
            )
        if call.problem:
            return _Stopped(_refusal(f"The arguments of {spec.name} cannot be read: {call.problem}"), "malformed")
        try:
            arguments = self._parts.toolbox.check_arguments(spec, call.arguments)
        except InputError as error:
            return _Stopped(_refusal(str(error)), "malformed")
        return await self._apply_rules(spec, replace(call, name=spec.name, arguments=arguments), origin)

    async def _apply_rules(self, spec: ToolSpec, call: ToolCall, origin: CallOrigin) -> _Open | _Stopped:
        verdict = await anyio.to_thread.run_sync(
            lambda: self._parts.policy().judge(spec, call.arguments, by_user=origin.by_user)
        )
        match verdict.outcome:
            case Outcome.DENY:
                return _Stopped(_refusal(f"BLOCKED: {verdict.reason}"), "blocked")
            case Outcome.ALLOW:
                return _Open(spec, call, "user" if origin.by_user else "auto")
            case Outcome.ASK:
                if origin.by_user:
                    return _Open(spec, call, "user")
                if await anyio.to_thread.run_sync(self._is_granted, spec, call, origin.session_id):
                    return _Open(spec, call, "granted")
                decision = origin.decided or await self._ask_person(spec, call, verdict.reason, origin)
                return await self._follow(decision, spec, call, origin)

    async def _follow(
        self, decision: Decision | None, spec: ToolSpec, call: ToolCall, origin: CallOrigin
    ) -> _Open | _Stopped:
        if decision is None:
            return _Stopped(
                _refusal("BLOCKED: nobody answered in time, which counts as no. Do not try again; say what you would do"),
                "expired",
            )
        if not decision.approved:
            words = decision.instead.strip()
            told = f"The user declined this and says: {words}" if words else "BLOCKED: the user declined this call"
            return _Stopped(_refusal(told), "declined")
        if decision.args is not None and decision.args != call.arguments:
            edited = replace(call, arguments=self._parts.toolbox.check_arguments(spec, decision.args))
            verdict = self._parts.policy().judge(spec, edited.arguments, by_user=True)
            if verdict.outcome is Outcome.DENY:
                return _Stopped(_refusal(f"BLOCKED: {verdict.reason}"), "blocked")
            call = edited
        if decision.scope is not Scope.ONCE:
            await anyio.to_thread.run_sync(self._remember, spec, call, decision.scope, origin.session_id)
        return _Open(spec, call, "approved")

    async def _write_down(self, entry: AuditEntry, origin: CallOrigin) -> None:
        try:
            await anyio.to_thread.run_sync(self._parts.audit.write, entry)
        except StorageError as error:
            origin.emit(Notice("warning", str(error)))

    async def _execute(self, passed: _Open, origin: CallOrigin) -> ToolResult:
        async def ask(question: Question) -> str:
            return await self._ask_question(question, passed.call, origin)

        def report(progress: Progress) -> None:
            origin.emit(progress)

        scope = CallScope(session_id=origin.session_id, call_id=passed.call.id, ask=ask, report=report)
        try:
            if passed.spec.effects & _LASTING:
                await anyio.to_thread.run_sync(self._parts.started.mark, origin.session_id, passed.call.id)
            return await self._parts.toolbox.run(passed.spec, passed.call.arguments, scope)
        except SkalesError as error:
            return _refusal(str(error))
        except Exception as error:  # noqa: BLE001 - a faulty tool must not end the turn; the traceback is logged
            _log.exception("tool %s failed", passed.spec.name)
            return _refusal(f"{passed.spec.name} failed unexpectedly: {type(error).__name__}: {error}")

    async def _ask_person(
        self, spec: ToolSpec, call: ToolCall, reason: str, origin: CallOrigin
    ) -> Decision | None:
        prefix = _shell_prefix(spec, call)
        covered = f"commands that begin with `{prefix}`" if prefix else f"every call of {spec.name}"
        if prefix is None:
            covered = ""
        return await self._put_to_desk(
            self._new_approval(call, origin, AskKind.TOOL, reason, covered), origin
        )

    async def _ask_question(self, question: Question, call: ToolCall, origin: CallOrigin) -> str:
        approval = replace(
            self._new_approval(call, origin, AskKind.QUESTION, "", ""), action=question.text, options=question.options
        )
        decision = origin.decided or await self._put_to_desk(approval, origin)
        if decision is None:
            return "The user did not answer in time."
        return decision.instead.strip() if decision.approved else "The user does not want to answer."

    async def _put_to_desk(self, approval: Approval, origin: CallOrigin) -> Decision | None:
        outcome = "cancelled"
        instead = ""
        try:
            decision = await self._parts.desk.ask(
                approval, on_disk=lambda: origin.emit(ApprovalRequested(approval))
            )
            outcome = "expired" if decision is None else "approved" if decision.approved else "declined"
            instead = decision.instead if decision else ""
        finally:
            origin.emit(ApprovalResolved(approval.id, outcome, instead))
        return decision

    def _new_approval(
        self, call: ToolCall, origin: CallOrigin, kind: AskKind, reason: str, covers_words: str
    ) -> Approval:
        now_ms = self._parts.clock.now_ms()
        return Approval(
            id=ApprovalId(f"ap_{self._parts.ids.token(16)}"),
            kind=kind,
            session_id=origin.session_id,
            call_id=call.id,
            tool=call.name,
            args=call.arguments,
            action=self.describe(call),
            reason=reason,
            covers=covers_words,
            created_ms=now_ms,
            expires_ms=now_ms + self._parts.approval_timeout_s() * 1000,
        )

    def _is_granted(self, spec: ToolSpec, call: ToolCall, session_id: SessionId) -> bool:
        grants = self._parts.grants.matching(spec.name, session_id)
        command = _shell_command(spec, call)
        if command is None:
            return any(not grant.prefix for grant in grants)
        return any(grant.prefix and covers(grant.prefix, command) for grant in grants)

    def _remember(self, spec: ToolSpec, call: ToolCall, scope: Scope, session_id: SessionId) -> None:
        prefix = _shell_prefix(spec, call)
        if prefix is None:
            return
        self._parts.grants.add(spec.name, session_id if scope is Scope.SESSION else "", prefix)

    def _unknown(self, name: str) -> str:
        known = [spec.name for spec in self._parts.toolbox.specs() if self._parts.toolbox.is_enabled(spec.name)]
        near = get_close_matches(name, known, n=3)
        return f"There is no tool named {name!r}. {'Did you mean ' + ', '.join(near) + '?' if near else ''}".strip()


def _refusal(text: str) -> ToolResult:
    return ToolResult(text=text, summary=text[:200], is_error=True)


def _shell_command(spec: ToolSpec, call: ToolCall) -> str | None:
    """The command of a shell tool's call, None for other tools."""
    for name, kind in property_formats(spec).items():
        if kind == "shell-command":
            return str(call.arguments.get(name, ""))
    return None


def _shell_prefix(spec: ToolSpec, call: ToolCall) -> str | None:
    """What "always" would cover: a command prefix, "" for every call of a plain tool, None when it cannot be offered."""
    command = _shell_command(spec, call)
    return "" if command is None else suggest_prefix(command)
