"""How turns end and what they pass on: faults, notices, thinking, native blocks, deletions, many conversations."""

import json

import anyio
import pytest

from skales.core.errors import InputError, NotFoundError, ProviderError, ProviderFault
from skales.core.events import Notice, Progress, ReasoningDelta, TextDelta, TurnEnd, TurnEnded
from skales.core.ids import SessionId
from skales.core.message import Role
from skales.core.ports import (
    ChatRequest,
    Finished,
    FinishReason,
    NativeBlocks,
    ReasoningPiece,
    RetryPlanned,
    TextPiece,
)
from skales.data.paths import DataDirectory
from tests.journeys.conftest import OpenApp, collect, end_of, run_turn, wait_for
from tests.scripted import Hang, Piece, ScriptedProvider, calls, says

pytestmark = pytest.mark.anyio

OVERLOADED = ProviderError("It is overloaded", fault=ProviderFault.OVERLOADED, hint="Wait a minute")


async def test_a_provider_that_fails_before_a_word_ends_the_turn_with_its_words(open_scripted: OpenApp) -> None:
    async with open_scripted([OVERLOADED]) as app:
        session_id, events = await run_turn(app, "hello")
        end = end_of(events)
        assert (end.end, end.error, end.hint, end.code) == (
            TurnEnd.FAILED,
            "It is overloaded",
            "Wait a minute",
            "overloaded",
        )
        assert [message.role for message in app.sessions.load(session_id).messages] == [Role.USER]


async def test_a_fault_of_ours_ends_the_turn_and_not_the_program(open_scripted: OpenApp) -> None:
    def broken(_request: ChatRequest) -> list[Piece]:
        raise ZeroDivisionError("oops")

    async with open_scripted(broken, says("fine")) as app:
        session_id, events = await run_turn(app, "hello")
        assert "ZeroDivisionError" in end_of(events).error
        _, events = await run_turn(app, "again", session_id)
        assert end_of(events).end is TurnEnd.COMPLETED


async def test_a_provider_that_is_not_set_up_says_what_to_do_and_keeps_the_message(
    open_scripted: OpenApp, home: DataDirectory
) -> None:
    async with open_scripted(says("unused"), real_models=True) as app:
        app.settings.set_provider("openai", model="gpt-5.5", activate=True)
        session_id, events = await run_turn(app, "hello")
        assert "key" in end_of(events).error
        assert end_of(events).hint
        assert app.sessions.load(session_id).messages[0].text == "hello"


async def test_thinking_retries_and_progress_are_shown_and_kept_apart(open_scripted: OpenApp) -> None:
    step: list[Piece] = [
        RetryPlanned("Too many requests", 2.0, 2),
        Progress("Loading", 1, 2),
        ReasoningPiece("hm"),
        TextPiece("ok"),
        Finished(FinishReason.LENGTH),
    ]
    async with open_scripted(step) as app:
        session_id, events = await run_turn(app, "hello")
        (answer,) = [message for message in app.sessions.load(session_id).messages if message.role is Role.ASSISTANT]
    assert (answer.text, answer.reasoning, answer.incomplete) == ("ok", "hm", "length")
    kinds = [type(event) for event in events]
    assert [kind for kind in kinds if kind in (Notice, Progress, ReasoningDelta)] == [Notice, Progress, ReasoningDelta]


async def test_native_blocks_are_kept_on_disk_and_come_back(open_scripted: OpenApp, home: DataDirectory) -> None:
    blocks = ({"type": "thinking", "thinking": "", "signature": "c2ln"}, {"type": "text", "text": "ok"})
    provider = ScriptedProvider(
        [[NativeBlocks("anthropic", blocks), TextPiece("ok"), Finished(FinishReason.STOP)], says("two")]
    )
    async with open_scripted(provider=provider) as app:
        session_id, _ = await run_turn(app, "hello")
        await run_turn(app, "again", session_id)
    sent = next(message for message in provider.requests[1].messages if message.role is Role.ASSISTANT)
    assert sent.native == {"format": "anthropic", "blocks": [*blocks]}


async def test_an_empty_message_starts_nothing(open_scripted: OpenApp) -> None:
    async with open_scripted(says("unused")) as app:
        with pytest.raises(InputError, match="empty"):
            await app.turns.start(app.sessions.create().id, "  \n")
        assert not app.turns.stop(SessionId("session_1"))


async def test_resuming_goes_on_where_a_failed_turn_stands(open_scripted: OpenApp) -> None:
    provider = ScriptedProvider([[OVERLOADED], says("there")])
    async with open_scripted(provider=provider) as app:
        session_id, _ = await run_turn(app, "hello")
        ticket = await app.turns.resume(session_id)
        events = await collect(app, session_id, ticket.after)
        assert end_of(events).end is TurnEnd.COMPLETED
        assert [message.text for message in app.sessions.load(session_id).messages] == ["hello", "there"]


async def test_resuming_a_running_turn_changes_nothing(open_scripted: OpenApp) -> None:
    async with open_scripted([TextPiece("one"), Hang()]) as app:
        session_id = app.sessions.create().id
        await app.turns.start(session_id, "hello")
        await wait_for(app, session_id, TextDelta)
        assert (await app.turns.resume(session_id)).queued


async def test_a_conversation_deleted_while_it_runs_ends_and_stays_deleted(open_scripted: OpenApp) -> None:
    async with open_scripted([TextPiece("one"), Hang()]) as app:
        session_id = app.sessions.create().id
        await app.turns.start(session_id, "hello")
        await wait_for(app, session_id, TextDelta)
        app.sessions.delete(session_id)
        app.turns.stop(session_id)
        await wait_for(app, session_id, TurnEnded)
        with anyio.fail_after(5):
            while app.turns.running(session_id):
                await anyio.lowlevel.checkpoint()
        with pytest.raises(NotFoundError):
            app.sessions.load(session_id)


async def test_streams_of_quiet_conversations_are_let_go_and_numbers_still_go_up(open_scripted: OpenApp) -> None:
    async with open_scripted(says("ok")) as app:
        first, _ = await run_turn(app, "hello")
        before = app.turns.last_number(first)
        for _ in range(70):
            app.turns.last_number(app.sessions.create().id)
        assert app.turns.last_number(first) >= before
        _, events = await run_turn(app, "again", first)
        assert end_of(events).end is TurnEnd.COMPLETED
        app.turns.end_streams()
        assert [numbered async for numbered in app.turns.events(first, app.turns.last_number(first))] == []


async def test_a_session_that_breaks_while_it_runs_can_still_be_stopped(
    open_scripted: OpenApp, home: DataDirectory
) -> None:
    async with open_scripted([TextPiece("one"), Hang()], says("fine")) as app:
        broken, other = app.sessions.create().id, app.sessions.create().id
        await app.turns.start(broken, "hello")
        await wait_for(app, broken, TextDelta)
        (home.sessions / f"{broken}.json").write_bytes(b"{ torn")
        app.turns.stop(broken)
        await wait_for(app, broken, TurnEnded)
        _, events = await run_turn(app, "hello", other)
        assert end_of(events).end is TurnEnd.COMPLETED


async def test_a_question_that_cannot_be_withdrawn_is_told_and_stops_nothing(
    open_scripted: OpenApp, home: DataDirectory
) -> None:
    home.approvals.write_text("in the way", encoding="utf-8")
    async with open_scripted(says("fine")) as app:
        _, events = await run_turn(app, "hello")
    assert end_of(events).end is TurnEnd.COMPLETED
    assert [event.level for event in events if isinstance(event, Notice)] == ["warning"]


async def test_each_step_is_on_disk_once(open_scripted: OpenApp, home: DataDirectory) -> None:
    async with open_scripted(calls(("list_directory", {"path": "."})), says("ok")) as app:
        session_id, _ = await run_turn(app, "look")
    roles = [
        message["role"]
        for message in json.loads((home.sessions / f"{session_id}.json").read_text(encoding="utf-8"))["messages"]
    ]
    assert roles == ["user", "assistant", "tool", "assistant"]
