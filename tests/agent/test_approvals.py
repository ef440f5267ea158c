"""The desk: one answer counts, late ones change nothing, a restart loses no question."""

import subprocess
import sys
import threading
from contextlib import ExitStack
from dataclasses import replace

import anyio
import pytest

from skales.agent.approvals import ApprovalDesk
from skales.core.approval import Answered, Approval, AskKind, Decision, Lasting, RuleStep, Scope
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


async def test_what_became_of_a_question_is_kept_with_proposed_edited_and_effective_arguments(
    desk: ApprovalDesk, store: ApprovalStore, approval: Approval
) -> None:
    given = Decision(approved=True, args={"path": "b"}, scope=Scope.ALWAYS, lasts=Lasting.WEEK, instead="", by="page")
    for number, decision in enumerate([given, YES, Decision(approved=False, instead="ask Ada")]):
        question = replace(approval, id=ApprovalId(f"ap_{number}"), why=(RuleStep("level", "ask", "w", decides=True),))
        store.add(question)
        await desk.decide(question.id, decision)
    edited, plain, declined = [store.answered(f"ap_{number}") for number in range(3)]
    assert (edited.approval.args, edited.edited, edited.effective) == ({"path": "a"}, {"path": "b"}, {"path": "b"})
    assert (edited.by, edited.scope, edited.lasts) == ("page", Scope.ALWAYS, Lasting.WEEK)
    assert edited.approval.why[0].decides
    assert (plain.edited, plain.effective) == (None, {"path": "a"})
    assert (declined.outcome, declined.effective, declined.instead) == ("declined", None, "ask Ada")
    assert isinstance(await desk.look_up("ap_0"), Answered)
    with pytest.raises(NotFoundError):
        await desk.look_up("ap_404")


async def test_a_question_that_nobody_answers_is_kept_as_expired(
    desk: ApprovalDesk, store: ApprovalStore, approval: Approval
) -> None:
    assert await desk.ask(replace(approval, expires_ms=approval.created_ms), on_disk=lambda: None) is None
    assert (store.answered("ap_1").outcome, store.answered("ap_1").effective) == ("expired", None)


def test_of_many_threads_that_answer_at_once_exactly_one_counts(
    store: ApprovalStore, clock: FixedClock, approval: Approval
) -> None:
    store.add(approval)
    begin = threading.Barrier(8)
    outcomes: list[str] = []

    async def answer(approved: bool) -> None:
        begin.wait()
        try:
            await ApprovalDesk(store, clock, keep).decide(approval.id, Decision(approved=approved))
            outcomes.append("approved" if approved else "declined")
        except NotFoundError:
            outcomes.append("late")

    threads = [threading.Thread(target=anyio.run, args=(answer, number % 2 == 0)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    counted = [outcome for outcome in outcomes if outcome != "late"]
    assert (len(outcomes), len(counted)) == (8, 1)
    assert [store.answered(approval.id).outcome] == counted


_ANSWERER = """
import sys
from pathlib import Path
import anyio
from skales.agent.approvals import ApprovalDesk
from skales.core.approval import Decision
from skales.core.clock import SystemClock
from skales.core.errors import NotFoundError
from skales.core.ids import ApprovalId
from skales.data.approvals import ApprovalStore
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine

class Early(SystemClock):
    def now_ms(self):
        return 0

home = DataDirectory(Path(sys.argv[1]))
desk = ApprovalDesk(ApprovalStore(home, Quarantine(home.quarantine, Early())), Early(), lambda _tool, given: given)

async def main():
    for name in sys.stdin:
        try:
            await desk.decide(ApprovalId(name.strip()), Decision(approved=True, by=sys.argv[2]))
            print("counted", flush=True)
        except NotFoundError:
            print("late", flush=True)

anyio.run(main)
"""


def test_of_two_processes_that_answer_at_once_exactly_one_counts(
    store: ApprovalStore, home: DataDirectory, approval: Approval
) -> None:
    with ExitStack() as stack:
        others = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", _ANSWERER, str(home.root), f"process {number}"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    encoding="utf-8",
                )
            )
            for number in range(2)
        ]
        for number in range(10):
            question = replace(approval, id=ApprovalId(f"ap_{number}"))
            store.add(question)
            for other in others:
                assert other.stdin is not None
                other.stdin.write(f"{question.id}\n")
            for other in others:
                assert other.stdin is not None
                other.stdin.flush()
            said = [other.stdout.readline().strip() for other in others if other.stdout is not None]
            assert sorted(said) == ["counted", "late"]
            assert store.answered(question.id).by == f"process {said.index('counted')}"


async def test_a_question_of_no_conversation_is_not_answered_for_a_run_that_is_gone(
    desk: ApprovalDesk, store: ApprovalStore, approval: Approval
) -> None:
    went_on: list[Approval] = []

    async def go_on(answered: Approval, _decision: Decision) -> None:
        went_on.append(answered)

    desk.orphan_answered = go_on
    store.add(replace(approval, session_id=SessionId("")))
    assert await desk.pending() == []
    with pytest.raises(NotFoundError, match="does not wait here"):
        await desk.decide(approval.id, YES)
    assert went_on == []
    # Another program may wait for it.
    assert len(store.pending()) == 1


async def test_a_question_of_no_conversation_ends_with_the_program(
    desk: ApprovalDesk, store: ApprovalStore, approval: Approval
) -> None:
    asked = anyio.Event()
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: desk.ask(replace(approval, session_id=SessionId("")), on_disk=asked.set))
            await asked.wait()
            desk.leave()
            tasks.cancel_scope.cancel()
    assert store.pending() == []
