"""A turn that takes too long or calls one tool too often ends with the way on, and what it wrote stays."""

import pytest

from skales.core.events import TurnEnd, TurnEnded
from skales.core.ports import CallReady, Finished, FinishReason, TextPiece
from skales.core.tool import ToolCall
from tests.journeys.conftest import OpenApp, run_turn
from tests.scripted import Hang, Step, says

pytestmark = pytest.mark.anyio

SHORT_MINUTES = "0.03"


def asks_for(*calls: ToolCall) -> Step:
    return [*(CallReady(call) for call in calls), Finished(FinishReason.TOOL_CALLS)]


async def test_a_turn_that_takes_too_long_ends_with_the_way_on(open_scripted: OpenApp) -> None:
    async with open_scripted([TextPiece("So far"), Hang()], says("On it goes.")) as app:
        app.settings.set_value("turnMinutes", SHORT_MINUTES)
        session_id, events = await run_turn(app, "go")
        end = events[-1]
        assert isinstance(end, TurnEnded)
        assert (end.end, end.code) == (TurnEnd.LIMIT, "limit")
        assert "0.03 minutes" in end.error
        assert "turnMinutes" in end.hint
        assert app.sessions.load(session_id).messages[-1].text == "So far"
        app.settings.set_value("turnMinutes", "0")
        _same, events = await run_turn(app, "continue", session_id)
        assert events[-1].end is TurnEnd.COMPLETED  # type: ignore[union-attr]


async def test_a_tool_is_cut_off_and_its_call_closed(open_scripted: OpenApp) -> None:
    call = ToolCall("c1", "execute_command", {"command": "sleep 77.5"})
    async with open_scripted(asks_for(call)) as app:
        app.settings.set_value("safetyMode", "advanced")
        app.settings.set_value("turnMinutes", SHORT_MINUTES)
        session_id, events = await run_turn(app, "go")
        assert events[-1].end is TurnEnd.LIMIT  # type: ignore[union-attr]
        last = app.sessions.load(session_id).messages[-1]
        assert (last.tool_call_id, last.is_error) == ("c1", True)
        assert "Interrupted while it ran" in last.text


async def test_calls_of_one_tool_have_a_ceiling(open_scripted: OpenApp) -> None:
    calls = [ToolCall(f"c{number}", "list_tasks", {"limit": number + 1}) for number in range(3)]
    async with open_scripted(asks_for(*calls), says("Done.")) as app:
        app.settings.set_value("callsPerTurn", "2")
        session_id, _events = await run_turn(app, "go")
        results = [message.text for message in app.sessions.load(session_id).messages if message.tool_call_id]
        assert [text.startswith("Not run") for text in results] == [False, False, True]
        assert "callsPerTurn" in results[-1]
