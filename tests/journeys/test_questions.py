"""What a person is asked in a conversation, what they are told with it, and what is kept of their answer."""

import anyio
import pytest

from skales.core.approval import Answered, Decision, Scope
from skales.core.events import ApprovalRequested, TurnEnded
from skales.core.message import Role
from skales.data.paths import DataDirectory
from tests.journeys.conftest import OpenApp, collect, wait_for
from tests.scripted import calls, says

pytestmark = pytest.mark.anyio


async def test_a_card_says_how_many_of_the_last_calls_a_wider_yes_would_have_covered(
    open_scripted: OpenApp, home: DataDirectory
) -> None:
    (home.workspace / "notes").mkdir()
    written = [("write_file", {"path": path, "content": "x"}) for path in ("notes/a", "notes/b", "c")]
    async with open_scripted(
        calls(*written), says("ok"), calls(("write_file", {"path": "notes/d", "content": ""}))
    ) as app:
        session_id = app.sessions.create().id
        ticket = await app.turns.start(session_id, "write")
        for _ in range(3):
            asked = await wait_for(app, session_id, ApprovalRequested, ticket.after)
            with anyio.fail_after(5):
                while not (waiting := await app.approvals.pending()):
                    await anyio.lowlevel.checkpoint()
            await app.approvals.decide(waiting[0].id, Decision(approved=False))
        await collect(app, session_id)
        other = app.sessions.create().id
        await app.turns.start(other, "write")
        asked = await wait_for(app, other, ApprovalRequested)
        assert isinstance(asked, ApprovalRequested)
        assert (asked.approval.past_covered, asked.approval.past_calls) == (2, 3)
        assert asked.approval.covers.startswith("write_file in the folder")


async def test_what_the_model_proposed_and_what_ran_are_kept_apart(open_scripted: OpenApp) -> None:
    async with open_scripted(calls(("write_file", {"path": "a.txt", "content": "ho"})), says("ok")) as app:
        session_id = app.sessions.create().id
        await app.turns.start(session_id, "write")
        asked = await wait_for(app, session_id, ApprovalRequested)
        assert isinstance(asked, ApprovalRequested)
        edited = {"path": "b.txt", "content": "ho"}
        await app.approvals.decide(asked.approval.id, Decision(approved=True, args=edited, scope=Scope.ONCE, by="page"))
        await collect(app, session_id)
        messages = app.sessions.load(session_id).messages
        assert messages[1].tool_calls[0].arguments == {"path": "a.txt", "content": "ho"}
        assert messages[2].text.startswith("The user changed the arguments before allowing this. It ran with")
        kept = await app.approvals.look_up(asked.approval.id)
        assert isinstance(kept, Answered)
        assert (kept.approval.args["path"], kept.edited, kept.effective) == ("a.txt", edited, edited)


async def test_why_explains_in_a_conversation_and_runs_nothing(open_scripted: OpenApp, home: DataDirectory) -> None:
    async with open_scripted() as app:
        session_id = app.sessions.create().id
        ticket = await app.turns.start(session_id, "/why write_file path=a_b.txt content=x")
        events = await collect(app, session_id)
        assert isinstance(events[-1], TurnEnded)
        answer = app.sessions.load(session_id).messages[-1]
        assert answer.role is Role.ASSISTANT
        assert "this would ask first." in answer.text
        assert "**level: this tool asks first in the safety mode safe** (this decides)" in answer.text
        assert "`safetyMode`" in answer.text
        assert not (home.workspace / "a_b.txt").exists()
        assert ticket.after >= 0


async def test_why_alone_explains_the_last_call_and_says_when_there_is_none(open_scripted: OpenApp) -> None:
    async with open_scripted(calls(("read_file", {"path": "a.txt"})), says("ok")) as app:
        session_id = app.sessions.create().id
        ticket = await app.turns.start(session_id, "/why")
        (*_, ended) = await collect(app, session_id, ticket.after)
        assert isinstance(ended, TurnEnded)
        assert "No tool was called" in ended.error
        for text in ("read it", "/why"):
            ticket = await app.turns.start(session_id, text)
            await collect(app, session_id, ticket.after)
        assert "a.txt" in app.sessions.load(session_id).messages[-1].text
        assert "would run" in app.sessions.load(session_id).messages[-1].text
