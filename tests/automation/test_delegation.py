"""dispatch_subtasks and run_workflow in a real turn: side by side, one level deep, ended with their parent."""

import json
from collections.abc import Mapping, Sequence

import anyio
import pytest

from skales.app.app import App
from skales.core.approval import Decision
from skales.core.errors import ProviderError, ProviderFault
from skales.core.events import Progress, ToolFinished, TurnEnd
from skales.core.ids import SessionId
from skales.core.message import Role
from skales.core.ports import ChatRequest, ModelTraits
from skales.core.tool import ToolResult
from skales.data.document import write_object
from skales.data.paths import DataDirectory
from tests.automation.conftest import OpenApp, first_question, until
from tests.journeys.conftest import collect, end_of
from tests.scripted import Hang, Piece, ScriptedProvider, calls, says

pytestmark = pytest.mark.anyio


def dispatch(*tasks: str, title: str = "") -> list[Piece]:
    parts = json.dumps([{"title": task, "task": f"do {task}"} for task in tasks])
    return calls(("dispatch_subtasks", {"parent_title": title, "subtasks_json": parts}))


def by_part(first: Sequence[Piece], parts: Mapping[str, Sequence[Piece]]) -> ScriptedProvider:
    """The parent asks for parts, then answers; each part answers as the table says."""

    def answer(request: ChatRequest) -> Sequence[Piece]:
        said = next(message.text for message in request.messages if message.role is Role.USER)
        for task, pieces in parts.items():
            if said.startswith(f"do {task}"):
                return pieces
        return says("All gathered.") if request.messages[-1].role is Role.TOOL else first

    return ScriptedProvider([answer])


async def start(app: App) -> SessionId:
    session_id = app.sessions.create().id
    await app.turns.start(session_id, "go")
    await app.approvals.decide((await first_question(app)).id, Decision(approved=True))
    return session_id


async def finish(app: App, session_id: SessionId) -> ToolResult:
    events = await collect(app, session_id)
    assert end_of(events).end is TurnEnd.COMPLETED
    return next(event.result for event in events if isinstance(event, ToolFinished))


def parts_of(app: App, parent: SessionId) -> list[SessionId]:
    sessions = [app.sessions.load(found.id) for found in app.sessions.list(folder="Subtasks")]
    return [session.id for session in sessions if session.extra["parentSessionId"] == parent]


async def test_parts_are_done_in_conversations_of_their_own_and_gathered(open_app: OpenApp) -> None:
    provider = by_part(dispatch("A", "B", title="Offers"), {"A": says("A costs 3."), "B": says("B costs 4.")})
    async with open_app(provider=provider) as app:
        parent = await start(app)
        result = await finish(app, parent)
        children = parts_of(app, parent)
        assert sorted(app.sessions.load(child).title for child in children) == ["A", "B"]
        # How a part ended is told by the whole, not by the tray.
        await until(lambda: bool(app.notices.entries()))
        assert [entry.session_id for entry in app.notices.entries()] == [parent]
    assert not result.is_error
    assert result.summary == "2 of 2 subtasks done"
    assert "## 1. A: ok\nA costs 3." in result.text
    assert "## 2. B: ok\nB costs 4." in result.text
    asked = [request.messages[-1].text for request in provider.requests]
    assert any("one part of 'Offers', named 'A'" in text for text in asked)


async def test_a_part_that_fails_is_named_and_the_others_count(open_app: OpenApp) -> None:
    broken = [ProviderError("Out of credit", fault=ProviderFault.NO_CREDIT)]
    async with open_app(provider=by_part(dispatch("A", "B"), {"A": broken, "B": says("B is fine.")})) as app:
        result = await finish(app, await start(app))
    assert result.summary == "1 of 2 subtasks done, 1 FAILED: A"
    assert "## 1. A: FAILED\nReason: Out of credit" in result.text
    assert "## 2. B: ok" in result.text


async def test_when_all_parts_fail_the_call_has_failed(open_app: OpenApp) -> None:
    async with open_app(provider=by_part(dispatch("A", "B"), {"A": says(""), "B": says("")})) as app:
        result = await finish(app, await start(app))
    assert result.is_error
    assert result.summary.startswith("0 of 2 subtasks done, 2 FAILED")


async def test_three_at_once_and_progress_is_told(open_app: OpenApp) -> None:
    names = ["A", "B", "C", "D"]
    provider = by_part(dispatch(*names), {name: [Hang()] for name in names})
    async with open_app(provider=provider) as app:
        parent = await start(app)
        await until(lambda: len(provider.requests) == 4)
        assert len(parts_of(app, parent)) == 3
        app.turns.stop(parts_of(app, parent)[0])
        await until(lambda: len(parts_of(app, parent)) == 4)
        app.turns.stop(parent)
        events = await collect(app, parent)
    told = [(event.done, event.total) for event in events if isinstance(event, Progress)]
    assert told[:3] == [(0, 4)] * 3
    assert (1, 4) in told


async def test_stopping_the_parent_ends_every_part(open_app: OpenApp) -> None:
    provider = by_part(dispatch("A", "B"), {"A": [Hang()], "B": [Hang()]})
    async with open_app(provider=provider) as app:
        parent = await start(app)
        await until(lambda: len(provider.requests) == 3)
        children = parts_of(app, parent)
        assert all(app.turns.running(child) for child in children)
        app.turns.stop(parent)
        await until(lambda: not any(app.turns.running(session) for session in (parent, *children)))


async def test_a_part_cannot_hand_work_on_or_file_tasks(open_app: OpenApp) -> None:
    inner = calls(
        ("create_task", {"title": "More"}),
        ("dispatch_subtasks", {"subtasks_json": '["deeper"]'}),
        ("run_workflow", {"trigger": "report", "parameters_json": '{"month": "May"}'}),
    )
    seen: list[str] = []

    def answer(request: ChatRequest) -> Sequence[Piece]:
        said = next(message.text for message in request.messages if message.role is Role.USER)
        if said.startswith("do A"):
            results = [message.text for message in request.messages if message.role is Role.TOOL]
            seen[:] = results
            return says("I did it myself.") if results else inner
        return says("ok") if request.messages[-1].role is Role.TOOL else dispatch("A")

    async with open_app(provider=ScriptedProvider([answer])) as app:
        save_workflow(app)
        parent = await start(app)
        for _ in range(2):
            await app.approvals.decide((await first_question(app)).id, Decision(approved=True))
        result = await finish(app, parent)
        assert not app.tasks.list()
        assert len(parts_of(app, parent)) == 1
    assert not result.is_error
    assert [text.startswith("A subtask cannot hand work on") for text in seen] == [True] * 3


async def test_what_a_part_may_not_do_is_said(open_app: OpenApp, home: DataDirectory) -> None:
    def answer(request: ChatRequest) -> Sequence[Piece]:
        said = next(message.text for message in request.messages if message.role is Role.USER)
        answered = request.messages[-1].role is Role.TOOL
        if said.startswith("do A"):
            return says("Not written.") if answered else calls(("write_file", {"path": "a.txt", "content": "x"}))
        return says("ok") if answered else dispatch("A")

    async with open_app(provider=ScriptedProvider([answer])) as app:
        parent = await start(app)
        await app.approvals.decide((await first_question(app)).id, Decision(approved=False))
        result = await finish(app, parent)
    assert "Not allowed: Write" in result.text
    assert not (home.workspace / "a.txt").exists()


async def test_what_parts_spend_counts_against_the_ceiling_of_the_whole(open_app: OpenApp) -> None:
    provider = by_part(dispatch("A", "B"), {"A": says("a"), "B": says("b")})
    async with open_app(provider=provider) as app:
        app.settings.set_value("sessionBudgetUsd", "0")
        app.accounts._facts = lambda _provider, _model: ModelTraits(
            input_usd_per_million=1_000.0, output_usd_per_million=1_000.0
        )
        parent = await start(app)
        await finish(app, parent)
        lines = list(app.ledger.entries(0))
        assert {line.session_id for line in lines} == {parent, *parts_of(app, parent)}
        assert app.spending.of_session(parent).spent_usd == pytest.approx(sum(line.cost_usd or 0 for line in lines))


def save_workflow(app: App) -> None:
    app.settings.update(lambda raw: raw.update({"addons": {"workflow": True}}))
    write_object(
        app.directory.workflows,
        {
            "workflows": [
                {
                    "id": "w1",
                    "name": "Report",
                    "trigger": "report",
                    "objective": "do report for {{month}}",
                    "steps": [{"text": "Read the notes", "tools": ["read_file"]}, {"text": "Sum up {{month}}"}],
                    "acceptance": ["One page"],
                    "parameters": [{"name": "month", "type": "string", "required": True}],
                }
            ]
        },
    )


async def test_a_saved_workflow_runs_as_one_order_in_a_conversation_of_its_own(open_app: OpenApp) -> None:
    order = calls(("run_workflow", {"trigger": "/goal-report", "parameters_json": '{"month": "May"}'}))
    provider = by_part(order, {"report": says("The report is written.")})
    async with open_app(provider=provider) as app:
        save_workflow(app)
        parent = await start(app)
        result = await finish(app, parent)
        (child,) = parts_of(app, parent)
        said = app.sessions.load(child).messages[0].text
    assert result.text == "The report is written."
    assert said.startswith(
        "do report for May\n\nSteps, in this order; stop and say so when one cannot be done:\n"
        "1. Read the notes (tools that help: read_file)\n2. Sum up May\n\nDone when:\n- One page\n"
    )


async def test_a_workflow_that_fails_is_a_failed_call(open_app: OpenApp) -> None:
    order = calls(("run_workflow", {"trigger": "report", "parameters_json": '{"month": "May"}'}))
    async with open_app(provider=by_part(order, {"report": says("")})) as app:
        save_workflow(app)
        result = await finish(app, await start(app))
    assert result.is_error
    assert "The workflow 'Report' failed: It ended without an answer" in result.text


async def test_the_programs_end_leaves_no_part_running(open_app: OpenApp) -> None:
    provider = by_part(dispatch("A"), {"A": [Hang()]})
    with anyio.fail_after(5):
        async with open_app(provider=provider) as app:
            await start(app)
            await until(lambda: len(provider.requests) == 2)
