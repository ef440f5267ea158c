"""The desk: one answer counts, late ones change nothing, a restart loses no question."""

from dataclasses import replace

import anyio
import pytest

from skales.agent.approvals import ApprovalDesk
from skales.core.approval import Approval, AskKind, Decision
from skales.core.errors import InputError, NotFoundError
from skales.core.ids import ApprovalId, SessionId
from skales.core.json import JsonObject
from skales.data.approvals import ApprovalStore
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from tests.conftest import FixedClock

pytestmark = pytest.mark.anyio

YES = Decision(approved=True)


def keep(_tool: str, arguments: JsonObject) -> JsonObject:
    return arguments


@pytest.fixture
def store(home: DataDirectory, clock: FixedClock) -> ApprovalStore:
    return ApprovalStore(home, Quarantine(home.quarantine, clock))


@pytest.fixture
def desk(store: ApprovalStore, clock: FixedClock) -> ApprovalDesk:
    return ApprovalDesk(store, clock, keep)


@pytest.fixture
def approval(clock: FixedClock) -> Approval:
    return Approval(
        id=ApprovalId("ap_1"),
        kind=AskKind.TOOL,
        session_id=SessionId("session_1"),
        call_id="c1",
        tool="write_file",
        args={"path": "a"},
        action="Write",
        reason="it asks",
        created_ms=clock.now_ms(),
        expires_ms=clock.now_ms() + 60_000,
    )


async def test_a_question_waits_on_disk_and_one_answer_counts(
    desk: ApprovalDesk, store: ApprovalStore, approval: Approval
) -> None:
    answers: list[Decision | None] = []
    asked = anyio.Event()

    async def ask() -> None:
        answers.append(await desk.ask(approval, on_disk=asked.set))

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await asked.wait()
            assert [found.id for found in store.pending()] == [approval.id]
            await desk.decide(approval.id, YES)
    assert answers == [YES]
    with pytest.raises(NotFoundError):
        await desk.decide(approval.id, YES)


async def test_of_two_answers_at_once_one_is_told_that_it_came_late(desk: ApprovalDesk, approval: Approval) -> None:
    asked = anyio.Event()
    refused: list[str] = []

    async def answer() -> None:
        try:
            await desk.decide(approval.id, YES)
        except NotFoundError as error:
            refused.append(error.message)

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: desk.ask(approval, on_disk=asked.set))
            await asked.wait()
            tasks.start_soon(answer)
            tasks.start_soon(answer)
    assert len(refused) == 1


async def test_a_question_of_an_earlier_life_is_answered_by_going_on(
    desk: ApprovalDesk, store: ApprovalStore, approval: Approval
) -> None:
    went_on: list[Approval] = []

    async def go_on(answered: Approval, _decision: Decision) -> None:
        went_on.append(answered)

    store.add(approval)
    desk.orphan_answered = go_on
    assert [found.id for found in await desk.pending()] == [approval.id]
    await desk.decide(approval.id, YES)
    assert [found.id for found in went_on] == [approval.id]
    assert await desk.pending() == []


async def test_without_anybody_to_go_on_an_answer_still_counts_once(
    desk: ApprovalDesk, store: ApprovalStore, approval: Approval
) -> None:
    store.add(approval)
    await desk.decide(approval.id, YES)
    assert store.pending() == []


async def test_time_over_means_no_and_clears_the_question_away(
    desk: ApprovalDesk, store: ApprovalStore, approval: Approval, clock: FixedClock
) -> None:
    store.add(approval)
    store.add(replace(approval, id=ApprovalId("ap_2"), expires_ms=approval.expires_ms + 60_000))
    clock.advance(61)
    with pytest.raises(NotFoundError, match="time to answer is over"):
        await desk.decide(approval.id, YES)
    store.add(approval)
    assert [found.id for found in await desk.pending()] == ["ap_2"]
    assert [found.id for found in store.pending()] == ["ap_2"]


async def test_an_empty_answer_to_a_question_does_not_use_it_up(
    desk: ApprovalDesk, store: ApprovalStore, approval: Approval
) -> None:
    store.add(replace(approval, kind=AskKind.QUESTION))
    with pytest.raises(InputError, match="empty"):
        await desk.decide(approval.id, Decision(approved=True, instead="  "))
    assert len(store.pending()) == 1


async def test_questions_nobody_waits_for_are_withdrawn_when_the_conversation_goes_on(
    desk: ApprovalDesk, store: ApprovalStore, approval: Approval
) -> None:
    store.add(replace(approval, id=ApprovalId("ap_0")))
    store.add(replace(approval, id=ApprovalId("ap_2"), session_id=SessionId("session_2")))
    asked = anyio.Event()
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: desk.ask(approval, on_disk=asked.set))
            await asked.wait()
            await desk.drop(SessionId("session_1"))
            assert {found.id for found in store.pending()} == {"ap_1", "ap_2"}
            tasks.cancel_scope.cancel()
    assert {found.id for found in store.pending()} == {"ap_2"}
