"""A person's own run of a tool: progress, its questions, then the result; whoever leaves ends it."""

from contextlib import aclosing

import anyio
import pytest

from skales.app.notices import Subject
from skales.app.pins import pin_tool
from skales.app.tool_runs import follow_run
from skales.core.approval import Approval, Decision
from skales.core.errors import NotFoundError
from skales.core.events import ApprovalRequested, ApprovalResolved
from skales.core.json import JsonObject
from skales.core.tool import ToolResult
from skales.data.paths import DataDirectory
from tests.journeys.conftest import OpenApp

pytestmark = pytest.mark.anyio

TEA: JsonObject = {"question": "Tea or coffee?", "options": ["Tea", "Coffee"]}


async def test_the_result_comes_last(open_scripted: OpenApp, home: DataDirectory) -> None:
    (home.workspace / "notes.txt").write_text("buy milk", encoding="utf-8")
    async with open_scripted([]) as app:
        steps = [step async for step in follow_run(app, "read_file", {"path": "notes.txt"}, surface="test")]
    assert isinstance(steps[-1], ToolResult)
    assert "buy milk" in steps[-1].text


async def test_leaving_ends_the_run(open_scripted: OpenApp, home: DataDirectory) -> None:
    alive = home.workspace / "alive"
    async with open_scripted([]) as app:
        command = f"while true; do date > {alive.name}; sleep 0.05; done"
        with anyio.move_on_after(1):
            async with aclosing(follow_run(app, "execute_command", {"command": command}, surface="test")) as steps:
                async for _step in steps:
                    pass
        assert alive.exists()
        written_ns = alive.stat().st_mtime_ns
        await anyio.sleep(0.3)
        assert alive.stat().st_mtime_ns == written_ns


async def test_a_tool_that_does_not_exist_is_said_before_anything_runs(open_scripted: OpenApp) -> None:
    async with open_scripted([]) as app:
        with pytest.raises(NotFoundError):
            async for _step in follow_run(app, "no_such_tool", {}, surface="test"):
                pass


async def test_pins_keep_their_order_and_what_others_wrote(open_scripted: OpenApp) -> None:
    async with open_scripted([]) as app:
        app.settings.update(lambda raw: raw.update({"pinnedTools": ["of_another_program", "move_file"]}))
        pin_tool(app, app.require_tool("copy_file"), is_pinned=True)
        pin_tool(app, app.require_tool("copy_file"), is_pinned=True)
        assert app.settings.load().pinned_tools == ["of_another_program", "move_file", "copy_file"]
        pin_tool(app, app.require_tool("move_file"), is_pinned=False)
        assert app.settings.load().pinned_tools == ["of_another_program", "copy_file"]


async def test_a_question_of_a_run_waits_where_every_question_waits_and_is_answered_once(
    open_scripted: OpenApp,
) -> None:
    steps: list[object] = []
    waiting: list[Approval] = []
    async with open_scripted([]) as app:
        version = app.notices.version
        with anyio.fail_after(5):
            async for step in follow_run(app, "ask_user", TEA, surface="test"):
                steps.append(step)
                if isinstance(step, ApprovalRequested):
                    waiting = await app.approvals.pending()
                    (notice,) = app.notices.entries()
                    assert (notice.subject, notice.text) == (Subject.WAITING, "Tea or coffee?")
                    assert app.notices.version > version
                    await app.approvals.decide(step.approval.id, Decision(approved=True, instead="Tea"))
                    with pytest.raises(NotFoundError):
                        await app.approvals.decide(step.approval.id, Decision(approved=True, instead="Coffee"))
        assert await app.approvals.pending() == []
        assert app.notices.entries() == []
    asked, resolved, result = steps
    assert isinstance(asked, ApprovalRequested)
    assert waiting == [asked.approval]
    assert isinstance(resolved, ApprovalResolved)
    assert isinstance(result, ToolResult)
    assert (result.text, result.is_error) == ("The person answered: Tea", False)


async def test_where_nobody_can_be_asked_a_run_is_refused_at_once_with_the_question(open_scripted: OpenApp) -> None:
    async with open_scripted([]) as app:
        with anyio.fail_after(5):
            steps = [step async for step in follow_run(app, "ask_user", TEA, surface="test", attended=False)]
    (result,) = steps
    assert isinstance(result, ToolResult)
    assert result.is_error
    assert "Nobody can be asked here, and this must be: Tea or coffee?" in result.text


async def test_leaving_a_run_withdraws_its_question(open_scripted: OpenApp) -> None:
    async with open_scripted([]) as app:
        async with aclosing(follow_run(app, "ask_user", TEA, surface="test")) as steps:
            async for step in steps:
                if isinstance(step, ApprovalRequested):
                    break
        assert await app.approvals.pending() == []
        assert app.notices.entries() == []
