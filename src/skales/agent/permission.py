"""Gets the person's word about a call: from what was allowed before, else by asking. Does not judge and runs nothing.

Spec: orchestrator.md, "Approvals".
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from skales.agent.approvals import ApprovalDesk
from skales.agent.origin import CallOrigin
from skales.core.approval import Approval, AskKind, Decision, Scope
from skales.core.clock import Clock
from skales.core.errors import ToolError
from skales.core.events import ApprovalRequested, ApprovalResolved
from skales.core.ids import ApprovalId, IdSource, SessionId
from skales.core.ports import Question
from skales.core.tool import ToolCall, ToolSpec, property_formats
from skales.data.grants import GrantStore
from skales.security.veil import Veil
from skales.security.veiled_messages import veil_approval


@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionParts:
    """What asking is built from."""

    desk: ApprovalDesk
    grants: GrantStore
    clock: Clock
    ids: IdSource
    timeout_s: Callable[[], int]
    veil: Veil = field(default_factory=Veil)


class Permission:
    """Asks, remembers wider answers, and knows which calls they cover."""

    def __init__(self, parts: PermissionParts) -> None:
        self._parts = parts

    async def ask(
        self, spec: ToolSpec, call: ToolCall, words: tuple[str, str, str], origin: CallOrigin
    ) -> Decision | None:
        """Whether a call may run; `words` are its action, the reason for asking and a preview of what it would change.

        None when nobody answered.
        """
        action, reason, preview = words
        prefix = _wider_prefix(spec, call)
        covered = f"commands that begin with `{prefix}`" if prefix else f"every call of {spec.name}"
        approval = self._approval(AskKind.TOOL, call, action, origin)
        covers = "" if prefix is None else covered
        return await self._put(replace(approval, reason=reason, covers=covers, preview=preview), origin)

    async def question(self, question: Question, call: ToolCall, origin: CallOrigin) -> str:
        """The person's answer to `ask_user`. Raises ToolError when there is none."""
        approval = replace(self._approval(AskKind.QUESTION, call, question.text, origin), options=question.options)
        decision = origin.decided or await self._put(approval, origin)
        if decision is None:
            raise ToolError("The user did not answer in time")
        if not decision.approved:
            raise ToolError("The user does not want to answer")
        return decision.instead.strip()

    def is_granted(self, spec: ToolSpec, call: ToolCall, session_id: SessionId) -> bool:
        """Whether an earlier, wider yes covers this call. Reads the disk."""
        grants = self._parts.grants.matching(spec.name, session_id)
        command = _command(spec, call)
        if command is None:
            return any(not grant.prefix for grant in grants)
        from skales.security.shell import covers  # loaded with the first command, not with the program

        return any(grant.prefix and covers(grant.prefix, command) for grant in grants)

    def remember(self, spec: ToolSpec, call: ToolCall, scope: Scope, session_id: SessionId) -> None:
        """Keep a wider yes, where one can be offered for such a call. Writes the disk."""
        prefix = _wider_prefix(spec, call)
        if scope is Scope.SESSION and not session_id:
            return  # no conversation to remember it for; an empty id would mean everywhere
        if prefix is not None and scope is not Scope.ONCE:
            self._parts.grants.add(spec.name, session_id if scope is Scope.SESSION else SessionId(""), prefix)

    async def _put(self, approval: Approval, origin: CallOrigin) -> Decision | None:
        outcome, instead = "cancelled", ""
        approval = veil_approval(self._parts.veil, approval)
        try:
            decision = await self._parts.desk.ask(approval, on_disk=lambda: origin.emit(ApprovalRequested(approval)))
            outcome = "expired" if decision is None else "approved" if decision.approved else "declined"
            instead = decision.instead if decision else ""
        finally:
            origin.emit(ApprovalResolved(approval.id, outcome, instead))
        return decision

    def _approval(self, kind: AskKind, call: ToolCall, action: str, origin: CallOrigin) -> Approval:
        now_ms = self._parts.clock.now_ms()
        return Approval(
            id=ApprovalId(f"ap_{self._parts.ids.token(16)}"),
            kind=kind,
            session_id=origin.session_id,
            call_id=call.id,
            tool=call.name,
            args=call.arguments,
            action=action,
            reason="",
            created_ms=now_ms,
            expires_ms=now_ms + self._parts.timeout_s() * 1000,
        )


def _command(spec: ToolSpec, call: ToolCall) -> str | None:
    """The command of a shell tool's call, None for other tools."""
    for name, kind in property_formats(spec).items():
        if kind == "shell-command":
            return str(call.arguments.get(name, ""))
    return None


def _wider_prefix(spec: ToolSpec, call: ToolCall) -> str | None:
    """What a wider yes covers: a command prefix, "" for every call of a plain tool, None when none can be offered."""
    command = _command(spec, call)
    if command is None:
        return ""
    from skales.security.shell import suggest_prefix  # loaded with the first command, not with the program

    return suggest_prefix(command)
