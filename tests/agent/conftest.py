"""A gate with real stores and a toolbox of three made-up tools; the toolbox is a port."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from skales.agent.approvals import ApprovalDesk
from skales.agent.gate import Gate, GateParts, Judge, Round
from skales.agent.origin import CallOrigin
from skales.agent.permission import Permission, PermissionParts
from skales.agent.policy import Policy
from skales.core.approval import Decision
from skales.core.clock import SystemClock
from skales.core.errors import InputError, ToolError
from skales.core.events import ApprovalRequested, TurnEvent
from skales.core.ids import SessionId
from skales.core.json import JsonObject
from skales.core.ports import CallScope
from skales.core.tool import Effect, Safety, SafetyMode, ToolResult, ToolSpec
from skales.data.approvals import ApprovalStore
from skales.data.audit import AuditLog
from skales.data.grant_uses import GrantUses
from skales.data.grants import GrantStore
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.started import StartedCalls
from skales.security.network import NetworkPolicy
from skales.security.paths import PathPolicy
from skales.security.redact import redact_value
from tests.conftest import CountingIds

SESSION = SessionId("session_1")


def spec(name: str, safety: Safety, *, addon: str = "", **formats: str) -> ToolSpec:
    return ToolSpec(
        name=name,
        description=name,
        parameters={
            "type": "object",
            "properties": {key: {"type": "string", "format": form} for key, form in formats.items()},
        },
        category="core",
        safety=safety,
        effects=frozenset({Effect.WRITES}),
        addon=addon,
        links=frozenset({"link"}) & formats.keys(),
        is_basic=True,
    )


@dataclass
class FakeToolbox:
    """Runs nothing; a tool named `break_…` fails in the way its name says."""

    known: Sequence[ToolSpec]
    ran: list[tuple[str, JsonObject]] = field(default_factory=list)

    def specs(self) -> Sequence[ToolSpec]:
        return self.known

    def is_enabled(self, name: str) -> bool:
        return not any(tool.addon for tool in self.known if tool.name == name)

    def enabled(self) -> Sequence[ToolSpec]:
        return [tool for tool in self.known if not tool.addon]

    def search(self, request: str, limit: int) -> Sequence[ToolSpec]:
        return [tool for tool in self.enabled() if tool.name in request][:limit]

    def why_off(self, name: str) -> str:
        addon = next((tool.addon for tool in self.known if tool.name == name), "")
        return f"{name} belongs to the add-on {addon!r}, which is switched off" if addon else ""

    def find(self, name: str) -> ToolSpec | None:
        return next((tool for tool in self.known if tool.name == name), None)

    def check_arguments(self, spec: ToolSpec, arguments: JsonObject) -> JsonObject:
        if "wrong" in arguments:
            raise InputError("'wrong' is not an argument")
        return arguments

    def describe(self, spec: ToolSpec, arguments: JsonObject) -> str:
        return f"Do {spec.name}"

    def preview(self, spec: ToolSpec, arguments: JsonObject) -> str:
        if spec.name == "break_badly":
            raise ZeroDivisionError("oops")
        return f"--- before\n+++ after {spec.name}"

    async def run(self, spec: ToolSpec, arguments: JsonObject, scope: CallScope) -> ToolResult:
        self.ran.append((spec.name, arguments))
        if spec.name == "break_badly":
            raise ZeroDivisionError("oops")
        if spec.name == "break_well":
            raise ToolError("It cannot be done", hint="Try later")
        return ToolResult(text="done", summary="done")


@dataclass
class Stage:
    """The gate, what it is built from, and the events it sent."""

    home: DataDirectory
    toolbox: FakeToolbox
    desk: ApprovalDesk
    gate: Gate
    grants: GrantStore
    events: list[TurnEvent] = field(default_factory=list)

    def origin(self, *, by_user: bool = False, decided: Decision | None = None) -> CallOrigin:
        return CallOrigin(session_id=SESSION, surface="test", emit=self.events.append, by_user=by_user, decided=decided)

    @property
    def asked(self) -> list[ApprovalRequested]:
        return [event for event in self.events if isinstance(event, ApprovalRequested)]


OpenStage = Callable[..., Stage]


@pytest.fixture
def open_stage(home: DataDirectory, ids: CountingIds) -> OpenStage:
    def opened(
        *tools: ToolSpec,
        mode: SafetyMode = SafetyMode.SAFE,
        timeout_s: int = 60,
        judges: Sequence[Judge] = (),
        rounds: Sequence[Round] = (),
    ) -> Stage:
        clock = SystemClock()
        quarantine = Quarantine(home.quarantine, clock)
        toolbox = FakeToolbox(tools)
        desk = ApprovalDesk(
            ApprovalStore(home, quarantine), clock, lambda name, given: toolbox.check_arguments(tools[0], given)
        )
        grants = GrantStore(home, quarantine, clock, ids)
        policy = Policy(mode, PathPolicy(home.workspace, blocked=home.private), NetworkPolicy())
        permission = Permission(
            PermissionParts(
                desk=desk,
                grants=grants,
                uses=GrantUses(home, quarantine, clock),
                clock=clock,
                ids=ids,
                timeout_s=lambda: timeout_s,
                paths=lambda: policy.paths,
            )
        )
        parts = GateParts(
            toolbox=toolbox,
            policy=lambda: policy,
            permission=permission,
            audit=AuditLog(home, clock, redact_value),
            started=StartedCalls(home),
            clock=clock,
            judges=judges,
            rounds=rounds,
        )
        return Stage(home, toolbox, desk, Gate(parts), grants)

    return opened
