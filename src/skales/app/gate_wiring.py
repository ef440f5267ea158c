"""Builds the gate with all that has a say in a call or goes around it: permission, taint, secrets, outbox, undo."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from msgspec import Struct

from skales.agent.approvals import ApprovalDesk
from skales.agent.clicks import judge_click
from skales.agent.gate import Gate, GateParts
from skales.agent.look_back import LookBack
from skales.agent.marks import MarkBook
from skales.agent.outbox_round import Outbox, OutboxParts, find_turn_start
from skales.agent.permission import Permission, PermissionParts
from skales.agent.policy import Policy
from skales.agent.running import RunningCalls
from skales.agent.secrecy import judge_markers
from skales.agent.secrets_round import SecretUse
from skales.agent.taint import TaintJudge
from skales.agent.taint_round import TaintRound
from skales.app.notices import NoticeBoard
from skales.app.undo import Undo
from skales.app.undo_stores import Stores
from skales.app.undo_wiring import UndoNeeds, build_undo
from skales.automation.origins import parent_of
from skales.core.clock import Clock
from skales.core.ids import IdSource
from skales.core.json import JsonObject
from skales.core.ports import Toolbox
from skales.data.approvals import ApprovalStore
from skales.data.audit import AuditLog
from skales.data.grant_uses import GrantUses
from skales.data.outbox import OutboxStore
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.secret_store import SecretStore
from skales.data.started import StartedCalls
from skales.data.tainted_files import TaintedFiles
from skales.data.undo import UndoStore
from skales.data.vault import Vault
from skales.security.paths import PathPolicy
from skales.security.veil import Veil


class GateNeeds(Struct, frozen=True, kw_only=True):
    """What it is built from; `undone` are the stores whose changes can be undone."""

    directory: DataDirectory
    quarantine: Quarantine
    clock: Clock
    ids: IdSource
    vault: Vault
    secrets: SecretStore
    undone: Stores
    grant_uses: GrantUses
    questions: ApprovalStore
    intents: OutboxStore
    started: StartedCalls
    tainted: TaintedFiles
    toolbox: Toolbox
    policy: Callable[[], Policy]
    notices: NoticeBoard
    veil: Veil


class GateRooms(Struct, frozen=True, kw_only=True):
    """One of each."""

    desk: ApprovalDesk
    permission: Permission
    audit: AuditLog
    marks: MarkBook
    calls: RunningCalls
    outbox: Outbox
    undo: Undo
    gate: Gate


def build_gate(needs: GateNeeds) -> GateRooms:
    """All of it; the order of the rounds is that of `agent/gate.py`, the outermost first."""
    settings, sessions, veil = needs.undone.settings, needs.undone.sessions, needs.veil
    desk = ApprovalDesk(needs.questions, needs.clock, partial(_check_arguments, needs.toolbox), veil)
    permission = _build_permission(needs, desk)
    audit = AuditLog(needs.directory, needs.clock, veil.value, lambda: settings.load().audit_days)
    marks = MarkBook(sessions, audit, needs.clock)
    calls = RunningCalls(needs.clock)
    outbox = _build_outbox(needs)
    undo, undo_round = build_undo(
        UndoNeeds(
            changes=UndoStore(
                needs.directory, needs.quarantine, needs.clock, needs.ids, lambda: settings.load().undo_megabytes
            ),
            stores=needs.undone,
            policy=needs.policy,
            own=(needs.directory.results, needs.directory.root),
            describe=lambda spec, call: veil.text(needs.toolbox.describe(spec, call.arguments)),
            audit=audit,
        )
    )
    secret_use = SecretUse(needs.secrets)
    taint = TaintJudge(lambda: needs.policy().mode, lambda: _working_folders(needs.policy().paths))
    taint_round = TaintRound(
        judge=taint, workspace=needs.directory.workspace, marks=marks, files=needs.tainted, clock=needs.clock
    )
    gate = Gate(
        GateParts(
            toolbox=needs.toolbox,
            policy=needs.policy,
            permission=permission,
            audit=audit,
            started=needs.started,
            clock=needs.clock,
            judges=(taint.judge, judge_markers(), judge_click, secret_use.judge, outbox.judge, undo_round.judge_size),
            rounds=(calls, secret_use.go_around, taint_round.run, outbox.round, undo_round),
            veil=veil,
        )
    )
    return GateRooms(
        desk=desk, permission=permission, audit=audit, marks=marks, calls=calls, outbox=outbox, undo=undo, gate=gate
    )


def _build_permission(needs: GateNeeds, desk: ApprovalDesk) -> Permission:
    return Permission(
        PermissionParts(
            desk=desk,
            grants=needs.undone.grants,
            uses=needs.grant_uses,
            clock=needs.clock,
            ids=needs.ids,
            timeout_s=lambda: needs.undone.settings.load().approval_timeout_s,
            paths=lambda: needs.policy().paths,
            look_back=LookBack(needs.undone.sessions, lambda: needs.policy().paths).count,
            veil=needs.veil,
        )
    )


def _build_outbox(needs: GateNeeds) -> Outbox:
    sessions = needs.undone.sessions
    return Outbox(
        OutboxParts(
            store=needs.intents,
            started=needs.started,
            describe=needs.toolbox.describe,
            conversation_of=lambda session_id: parent_of(sessions, session_id) or session_id,
            turn_began_ms=partial(find_turn_start, sessions),
            tell=needs.notices.tell,
        )
    )


def _check_arguments(toolbox: Toolbox, tool: str, arguments: JsonObject) -> JsonObject:
    """The arguments of a tool named by an approval; one that is gone by now is left to the gate."""
    spec = toolbox.find(tool)
    return toolbox.check_arguments(spec, arguments) if spec else arguments


def _working_folders(paths: PathPolicy) -> tuple[Path, ...]:
    return paths.workspace, *paths.allowed
