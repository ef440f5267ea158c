"""What turns cost: every call in the ledger, and a question at half of a ceiling and at all of it, on every surface."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import anyio
import pytest

from skales.app.app import App
from skales.app.wiring import build_app
from skales.core.approval import Decision
from skales.core.clock import SystemClock
from skales.core.errors import ProviderError, ProviderFault
from skales.core.events import ApprovalRequested, Notice, TextDelta, TurnEnd
from skales.core.ids import RandomIds, SessionId
from skales.core.message import Role, Usage
from skales.core.ports import ModelTraits, TextPiece, UsageCounted
from skales.data.instance import InstanceLock
from skales.data.paths import DataDirectory
from tests.journeys.conftest import collect, end_of, run_turn, wait_for
from tests.scripted import Hang, Piece, ScriptedChooser, ScriptedProvider, Step, calls, says

pytestmark = pytest.mark.anyio

# Five tokens out, as `says` tells, are 2.60 USD, and what is estimated of a request is next to nothing.
DEAR = ModelTraits(input_usd_per_million=1, output_usd_per_million=520_000)
CUT = ProviderError("The stream broke off", fault=ProviderFault.STREAM_CUT)
REFUSED = ProviderError("The key is wrong", fault=ProviderFault.BAD_KEY)

OpenPriced = Callable[..., AbstractAsyncContextManager[App]]


@pytest.fixture
def open_priced(home: DataDirectory) -> OpenPriced:
    @asynccontextmanager
    async def opened(*steps: Step, traits: ModelTraits = DEAR) -> AsyncIterator[App]:
        chooser = ScriptedChooser(ScriptedProvider(steps), traits=traits)
        async with anyio.create_task_group() as tasks:
            app = build_app(home, InstanceLock(home), SystemClock(), RandomIds(), chooser)
            app.turns.open(tasks)
            yield app
            tasks.cancel_scope.cancel()

    return opened


def ledger_of(app: App) -> Sequence[tuple[str, int, int, bool]]:
    return [
        (entry.purpose, entry.input_tokens, entry.output_tokens, entry.estimated_tokens)
        for entry in app.ledger.entries()
    ]


async def answer_next(app: App, session_id: SessionId, text: str, after: int = 0) -> ApprovalRequested:
    asked = await wait_for(app, session_id, ApprovalRequested, after)
    assert isinstance(asked, ApprovalRequested)
    await app.approvals.decide(asked.approval.id, Decision(approved=True, instead=text))
    return asked


async def test_every_call_of_a_turn_is_in_the_ledger(open_priced: OpenPriced) -> None:
    priced = ModelTraits(input_usd_per_million=2, output_usd_per_million=8)
    async with open_priced(calls(("list_tasks", {})), says("Done."), traits=priced) as app:
        session_id, _ = await run_turn(app, "hello")
        entries = list(app.ledger.entries())
    assert [(entry.session_id, entry.provider, entry.model) for entry in entries] == [
        (session_id, "scripted", "demo")
    ] * 2
    assert [entry.estimated_tokens for entry in entries] == [True, False]
    assert entries[1].cost_usd == pytest.approx((10 * 2 + 5 * 8) / 1_000_000)


async def test_an_answer_that_breaks_off_counts_with_what_was_told(open_priced: OpenPriced) -> None:
    script: list[Piece] = [TextPiece("half"), UsageCounted(Usage(12, 3)), CUT]
    async with open_priced(script, traits=ModelTraits()) as app:
        await run_turn(app, "hello")
        assert ledger_of(app) == [("chat", 12, 3, False)]


async def test_a_request_that_was_refused_costs_nothing(open_priced: OpenPriced) -> None:
    async with open_priced([REFUSED], traits=ModelTraits()) as app:
        await run_turn(app, "hello")
        assert ledger_of(app) == []


@pytest.mark.parametrize("said", [[], [TextPiece("half an answer")]])
async def test_a_stopped_answer_counts_as_far_as_it_can_be_estimated(
    open_priced: OpenPriced, said: list[Piece]
) -> None:
    async with open_priced([*said, Hang()], traits=ModelTraits()) as app:
        session_id = app.sessions.create().id
        ticket = await app.turns.start(session_id, "hello")
        if said:
            await wait_for(app, session_id, TextDelta)
        else:
            with anyio.fail_after(5):
                while len(app.sessions.load(session_id).messages) < 1:  # noqa: ASYNC110 - nothing is told before
                    await anyio.sleep(0.01)
                await anyio.sleep(0.05)
        app.turns.stop(session_id)
        await collect(app, session_id, ticket.after)
        (entry,) = app.ledger.entries()
    assert (entry.estimated_tokens, entry.output_tokens) == (True, 4 if said else 0)
    assert entry.input_tokens > 0


async def test_a_ledger_that_cannot_be_written_costs_no_answer(open_priced: OpenPriced, home: DataDirectory) -> None:
    home.costs.write_text("not a folder", encoding="utf-8")
    async with open_priced(says("Fine."), traits=ModelTraits()) as app:
        app.settings.set_value("sessionBudgetUsd", "0")
        session_id, events = await run_turn(app, "hello")
        assert end_of(events).end is TurnEnd.COMPLETED
        assert app.sessions.load(session_id).messages[-1].text == "Fine."
    assert [event.level for event in events if isinstance(event, Notice)] == ["warning"]


async def test_half_of_a_ceiling_is_asked_once_and_a_yes_goes_on(open_priced: OpenPriced) -> None:
    async with open_priced(says("One."), says("Two."), traits=DEAR) as app:
        app.settings.set_value("sessionBudgetUsd", "10")
        session_id = app.sessions.create().id
        app.spending.add(session_id, 4.999)
        ticket = await app.turns.start(session_id, "hello")
        asked = await answer_next(app, session_id, "Go on")
        assert end_of(await collect(app, session_id, ticket.after)).end is TurnEnd.COMPLETED
        assert asked.approval.action.startswith("Half of this conversation's 10 USD is spent")
        _, events = await run_turn(app, "again", session_id)
        assert end_of(events).end is TurnEnd.COMPLETED
        assert not [event for event in events if isinstance(event, ApprovalRequested)]


async def test_a_no_ends_the_turn_before_the_model_is_asked_and_says_why(open_priced: OpenPriced) -> None:
    async with open_priced(says("Never.")) as app:
        session_id = app.sessions.create().id
        app.spending.add(session_id, 5)
        ticket = await app.turns.start(session_id, "hello")
        await answer_next(app, session_id, "Stop")
        end = end_of(await collect(app, session_id, ticket.after))
        assert [message.role for message in app.sessions.load(session_id).messages] == [Role.USER]
        assert list(app.ledger.entries()) == []
    assert (end.end, end.code) == (TurnEnd.LIMIT, "budget")
    assert end.error.startswith("Stopped before the next call to the model: all of this conversation's 5 USD is spent")
    assert "Settings, Chat" in end.hint


async def test_a_question_about_the_day_that_is_skipped_ends_the_turn(open_priced: OpenPriced) -> None:
    async with open_priced(says("Never.")) as app:
        app.settings.set_value("dailyBudgetUsd", "1")
        app.spending.add(SessionId(""), 1)
        session_id = app.sessions.create().id
        ticket = await app.turns.start(session_id, "hello")
        asked = await wait_for(app, session_id, ApprovalRequested)
        assert isinstance(asked, ApprovalRequested)
        await app.approvals.decide(asked.approval.id, Decision(approved=False))
        end = end_of(await collect(app, session_id, ticket.after))
    assert (end.end, end.code) == (TurnEnd.LIMIT, "budget")
    assert "today's 1 USD" in end.error


async def test_a_question_about_money_survives_a_restart_and_its_answer_goes_on(
    open_priced: OpenPriced, home: DataDirectory
) -> None:
    async with open_priced(says("Never.")) as app:
        session_id = app.sessions.create().id
        app.spending.add(session_id, 5)
        await app.turns.start(session_id, "hello")
        asked = await wait_for(app, session_id, ApprovalRequested)
        assert isinstance(asked, ApprovalRequested)
        saved = (home.approvals / f"{asked.approval.id}.json").read_bytes()
    # As kill -9 would have left it.
    (home.approvals / f"{asked.approval.id}.json").write_bytes(saved)
    async with open_priced(says("Here it is.")) as app:
        (pending,) = await app.approvals.pending()
        await app.approvals.decide(pending.id, Decision(approved=True, instead="Go on"))
        events = await collect(app, session_id)
        assert end_of(events).end is TurnEnd.COMPLETED
        assert app.sessions.load(session_id).messages[-1].text == "Here it is."
        assert not [event for event in events if isinstance(event, ApprovalRequested)]
        assert app.spending.of_session(session_id).extra_usd == 5
