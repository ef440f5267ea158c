"""Gets the person's word about a call: from what was allowed before, else by asking. Does not judge and runs nothing.

Spec: orchestrator.md, "Approvals".
"""

from collections.abc import Callable, Collection
from dataclasses import replace

from msgspec import Struct, field

from skales.agent.approvals import ApprovalDesk
from skales.agent.origin import CallOrigin
from skales.agent.reach import covers_call, offer_reach
from skales.agent.reach_words import describe_reach
from skales.core.approval import Approval, AskKind, Decision, Lasting, RuleStep, Scope
from skales.core.clock import Clock, to_datetime
from skales.core.errors import ToolError
from skales.core.events import ApprovalRequested, ApprovalResolved, Notice
from skales.core.ids import ApprovalId, IdSource, SessionId
from skales.core.ports import Question
from skales.core.tool import ToolCall, ToolSpec
from skales.data.grant_uses import GrantUses
from skales.data.grants import Grant, GrantStore, Reach, ReachKind
from skales.security.paths import PathPolicy
from skales.security.veil import Veil
from skales.security.veiled_messages import veil_approval

_WEEK_MS = 7 * 24 * 3_600_000
_NARROWER = (
    "The wider yes was not kept: the call was changed and is no longer of the kind it was offered for. "
    "It counted for this call alone"
)
_WHERE = "Run it on the tool's page or in a terminal"

# Of the last calls of a tool but this one: how many a reach would have covered, and how many there were.
LookBack = Callable[[ToolSpec, Reach, str], tuple[int, int]]


class PermissionParts(Struct, frozen=True, kw_only=True):
    """What asking is built from. `paths` are the rules of this moment."""

    desk: ApprovalDesk
    grants: GrantStore
    uses: GrantUses
    clock: Clock
    ids: IdSource
    timeout_s: Callable[[], int]
    paths: Callable[[], PathPolicy]
    look_back: LookBack = lambda _spec, _reach, _but: (0, 0)
    veil: Veil = field(default_factory=Veil)


class Asking(Struct, frozen=True, kw_only=True):
    """What the person is told of a call: what it would do and change, why they are asked, where it would run."""

    action: str
    reason: str
    preview: str = ""
    sandbox: str = ""
    why: tuple[RuleStep, ...] = ()


class Wider(Struct, frozen=True):
    """What a wider yes to a call would cover, in words, and how many of the last calls it would have covered."""

    covers: str = ""
    past_covered: int = 0
    past_calls: int = 0
    reach: Reach | None = None


class PermittedCall(Struct, frozen=True):
    """A call as the person let it run, what it does in words, their answer, and what a wider one was to cover."""

    call: ToolCall
    action: str
    decision: Decision
    offered: Reach | None


class Permission:
    """Asks, remembers wider answers, and knows which calls they cover."""

    def __init__(self, parts: PermissionParts) -> None:
        self._parts = parts

    async def ask(
        self, call: ToolCall, asking: Asking, wider: Wider, origin: CallOrigin
    ) -> tuple[Decision | None, ApprovalId]:
        """Whether a call may run, None when nobody answered; and the question's id."""
        approval = replace(
            self._approval(AskKind.TOOL, call, asking.action, origin),
            reason=asking.reason,
            covers=wider.covers,
            past_covered=wider.past_covered,
            past_calls=wider.past_calls,
            preview=asking.preview,
            sandbox=asking.sandbox,
            why=asking.why,
        )
        return await self._put(approval, origin), approval.id

    async def question(self, question: Question, call: ToolCall, origin: CallOrigin) -> str:
        """The person's answer to a tool's question. Raises ToolError when there is none, or nobody to ask."""
        if not origin.is_attended and origin.decided is None:
            raise ToolError(f"Nobody can be asked here, and this must be: {question.text}", hint=_WHERE, code="nobody")
        approval = replace(self._approval(AskKind.QUESTION, call, question.text, origin), options=question.options)
        decision = origin.decided or await self._put(approval, origin)
        if decision is None:
            raise ToolError("The user did not answer in time")
        if not decision.approved:
            raise ToolError("The user does not want to answer")
        return decision.instead.strip()

    def find_grant(
        self, spec: ToolSpec, call: ToolCall, session_id: SessionId, *, sources: Collection[str] = ()
    ) -> Grant | None:
        """The earlier, wider yes that covers this call. Reads the disk.

        With `sources` only one counts that was given when at least their text had been read.
        """
        paths = self._parts.paths()
        matching = self._parts.grants.matching(spec.name, session_id)
        grants = [grant for grant in matching if set(sources) <= set(grant.sources)]
        return next((grant for grant in grants if covers_call(grant.reach, spec, call, paths)), None)

    def note_use(self, grant: Grant) -> None:
        """Count a call that ran by a grant. Writes the disk."""
        self._parts.uses.note(grant.id)

    def offer(self, spec: ToolSpec, call: ToolCall, *, is_marked: bool = False) -> Wider:
        """What a wider yes would cover; nothing where none can be offered. Reads the disk.

        Given in a marked conversation it ends with the next source.
        """
        reach = offer_reach(spec, call, self._parts.paths())
        if reach is None:
            return Wider()
        covers = describe_reach(spec.name, reach)
        words = f"{covers}, until text from another source is read" if is_marked else covers
        return Wider(words, *self._parts.look_back(spec, reach, call.id), reach)

    def remember(self, spec: ToolSpec, ran: PermittedCall, origin: CallOrigin) -> None:
        """Keep a wider yes as far as it was offered. Writes the disk.

        The rule is that of the card, which the person read, and only while it covers what they made of the call.
        """
        decision = ran.decision
        if decision.scope is Scope.ONCE or (decision.scope is Scope.SESSION and not origin.session_id):
            return  # no conversation to remember it for; an empty id would mean everywhere
        paths, reach = self._parts.paths(), ran.offered
        if reach is None:
            return
        if not covers_call(reach, spec, ran.call, paths):
            changed = offer_reach(spec, ran.call, paths)
            if reach.kind is not ReachKind.CALL or changed is None or changed.kind is not ReachKind.CALL:
                origin.emit(Notice("info", _NARROWER))
                return
            reach = changed
        self._parts.grants.add(
            Grant(
                id="",
                tool=spec.name,
                session_id=origin.session_id if decision.scope is Scope.SESSION else "",
                reach=reach,
                about=self._parts.veil.text(ran.action),
                surface=decision.by or origin.surface,
                given_in=origin.session_id,
                expires_ms=self._expiry_ms(decision.lasts),
                sources=tuple(sorted(origin.sources)),
            )
        )

    def _expiry_ms(self, lasts: Lasting) -> int:
        now_ms = self._parts.clock.now_ms()
        match lasts:
            case Lasting.REVOKED:
                return 0
            case Lasting.TODAY:
                now = to_datetime(now_ms).astimezone()
                midnight = now.replace(hour=23, minute=59, second=59, microsecond=999_000)
                return int(midnight.timestamp() * 1000)
            case Lasting.WEEK:
                return now_ms + _WEEK_MS

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
