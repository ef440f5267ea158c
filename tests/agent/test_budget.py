"""What is asked at a ceiling, and which answers let a call through; the accounts are a port and play a script."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import anyio
import pytest

from skales.agent.approvals import ApprovalDesk
from skales.agent.budget import Budget, SpendingStoppedError, question_id, show_usd
from skales.agent.origin import CallOrigin
from skales.agent.permission import Permission, PermissionParts
from skales.core.approval import Approval, AskKind, Decision
from skales.core.clock import SystemClock
from skales.core.events import ApprovalRequested, TurnEvent
from skales.core.ids import SessionId
from skales.core.message import Usage
from skales.core.ports import Ceiling, CeilingMet, ChatRequest, ModelCall, Purpose
from skales.data.approvals import ApprovalStore
from skales.data.grant_uses import GrantUses
from skales.data.grants import GrantStore
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.security.paths import PathPolicy
from tests.conftest import CountingIds

pytestmark = pytest.mark.anyio

CALL = ModelCall(
    session_id=SessionId("session_1"),
    purpose=Purpose.CHAT,
    provider_id="openai",
    request=ChatRequest(model="gpt", messages=()),
)
HALF = CeilingMet(ceiling=Ceiling.SESSION, is_full=False, limit_usd=5, spent_usd=2.61, next_usd=5)
FULL = CeilingMet(ceiling=Ceiling.DAY, is_full=True, limit_usd=5, spent_usd=5.02, next_usd=10)


@dataclass
class ScriptedAccounts:
    """Meets these ceilings one after the other; an answer that goes on leads to the next."""

    ceilings: list[CeilingMet]
    settled: list[tuple[CeilingMet, bool]] = field(default_factory=list)

    def check(self, call: ModelCall) -> CeilingMet | None:
        return self.ceilings[0] if self.ceilings else None

    def settle(self, call: ModelCall, met: CeilingMet, *, go_on: bool) -> None:
        self.settled.append((met, go_on))
        self.ceilings.remove(met)

    def record(self, call: ModelCall, usage: Usage, output_characters: int) -> None:
        raise AssertionError("a budget records nothing")


@dataclass
class Stage:
    """A budget at a real desk, where every question gets the next of these answers."""

    home: DataDirectory
    ids: CountingIds
    accounts: ScriptedAccounts
    answers: list[Decision]
    timeout_s: int = 60
    asked: list[Approval] = field(default_factory=list)

    async def clear(self, decisions: Mapping[str, Decision] | None = None) -> None:
        clock = SystemClock()
        quarantine = Quarantine(self.home.quarantine, clock)
        desk = ApprovalDesk(ApprovalStore(self.home, quarantine), clock, lambda _tool, arguments: arguments)
        parts = PermissionParts(
            desk=desk,
            grants=GrantStore(self.home, quarantine, clock, self.ids),
            uses=GrantUses(self.home, quarantine, clock),
            clock=clock,
            ids=self.ids,
            timeout_s=lambda: self.timeout_s,
            paths=lambda: PathPolicy(self.home.workspace),
        )
        async with anyio.create_task_group() as tasks:

            def emit(event: TurnEvent) -> None:
                if isinstance(event, ApprovalRequested):
                    self.asked.append(event.approval)
                    if self.answers:
                        tasks.start_soon(desk.decide, event.approval.id, self.answers.pop(0))

            origin = CallOrigin(session_id=CALL.session_id, surface="test", emit=emit)
            try:
                await Budget(self.accounts, Permission(parts)).clear(CALL, origin, decisions or {})
            except SpendingStoppedError as error:
                self.stopped = error.message
            else:
                self.stopped = ""

    stopped: str = "never asked"


def says(text: str) -> Decision:
    return Decision(approved=True, instead=text)


def open_stage(home: DataDirectory, ids: CountingIds, *met: CeilingMet, answers: list[Decision]) -> Stage:
    return Stage(home, ids, ScriptedAccounts(list(met)), answers)


async def test_a_call_below_every_ceiling_asks_nothing(home: DataDirectory, ids: CountingIds) -> None:
    stage = open_stage(home, ids, answers=[])
    await stage.clear()
    assert (stage.asked, stage.stopped) == ([], "")


async def test_every_ceiling_that_is_met_is_asked_for(home: DataDirectory, ids: CountingIds) -> None:
    stage = open_stage(home, ids, HALF, FULL, answers=[says("Go on"), says("yes.")])
    await stage.clear()
    assert stage.accounts.settled == [(HALF, True), (FULL, True)]
    assert [(asked.kind, asked.tool, asked.options, asked.action) for asked in stage.asked] == [
        (
            AskKind.QUESTION,
            "costs",
            ("Go on", "Stop"),
            "Half of this conversation's 5 USD is spent, 2.61 USD with the next call (estimated from list prices). "
            "Go on?",
        ),
        (
            AskKind.QUESTION,
            "costs",
            ("Go on", "Stop"),
            "All of today's 5 USD is spent, 5.02 USD with the next call (estimated from list prices). "
            "Go on, up to 10 USD?",
        ),
    ]
    assert stage.stopped == ""


@pytest.mark.parametrize("answer", ["Stop", "no", "go on tomorrow", "maybe"])
async def test_anything_but_a_clear_yes_stops_and_is_kept(home: DataDirectory, ids: CountingIds, answer: str) -> None:
    stage = open_stage(home, ids, HALF, answers=[says(answer)])
    await stage.clear()
    assert stage.accounts.settled == [(HALF, False)]
    assert stage.stopped == (
        "Stopped before the next call to the model: half of this conversation's 5 USD is spent, 2.61 USD"
    )


async def test_a_question_that_is_skipped_stops_and_is_asked_again(home: DataDirectory, ids: CountingIds) -> None:
    stage = open_stage(home, ids, FULL, answers=[Decision(approved=False)])
    await stage.clear()
    assert stage.stopped
    assert stage.accounts.settled == []


async def test_no_answer_in_time_stops(home: DataDirectory, ids: CountingIds) -> None:
    stage = open_stage(home, ids, FULL, answers=[])
    stage.timeout_s = 0
    await stage.clear()
    assert stage.stopped
    assert stage.accounts.settled == []


async def test_an_answer_after_a_restart_reaches_its_own_question_and_no_other(
    home: DataDirectory, ids: CountingIds
) -> None:
    stage = open_stage(home, ids, HALF, FULL, answers=[says("Stop")])
    await stage.clear({question_id(HALF): says("Go on")})
    assert stage.accounts.settled == [(HALF, True), (FULL, False)]
    assert len(stage.asked) == 1


@pytest.mark.parametrize(
    ("amount", "text"), [(5, "5"), (2.6, "2.60"), (0.1, "0.10"), (0.0042, "0.0042"), (0, "0"), (12.5, "12.50")]
)
def test_amounts_have_as_many_places_as_they_need(amount: float, text: str) -> None:
    assert show_usd(amount) == text
