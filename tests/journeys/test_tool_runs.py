"""A person's own run of a tool: progress, then the result; whoever leaves ends it."""

from contextlib import aclosing

import anyio
import pytest

from skales.app.pins import pin_tool
from skales.app.tool_runs import follow_run
from skales.core.errors import NotFoundError
from skales.core.tool import ToolResult
from skales.data.paths import DataDirectory
from tests.journeys.conftest import OpenApp

pytestmark = pytest.mark.anyio


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
