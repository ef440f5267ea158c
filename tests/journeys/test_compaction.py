"""Long conversations over small windows: what is summarised, what survives, what an undo brings back, what fails."""

import json
from collections.abc import Sequence

import anyio
import pytest

from skales.app.app import App
from skales.core.errors import ConflictError, NotFoundError, ProviderError, ProviderFault
from skales.core.events import Compacted, Notice, TextDelta, TurnEnd, TurnEnded, TurnEvent
from skales.core.ids import SessionId
from skales.core.message import Message, Role, Usage
from skales.core.ports import ChatRequest, Finished, FinishReason, TextPiece, UsageCounted
from skales.data.paths import DataDirectory
from tests.journeys.conftest import OpenApp, collect, end_of, run_turn, wait_for
from tests.scripted import Hang, Piece, ScriptedProvider, Step, calls, says

pytestmark = pytest.mark.anyio

GOAL = "Plan the harbour festival in Husum and never book anything on a Monday."
FILLER = "The committee talked about tents, lamps and music for a long while. " * 30
SUMMARY = "## Goal\nA festival.\n## Decisions\nTents come from Lund."
WINDOW = 14_000


def is_summary(request: ChatRequest) -> bool:
    return "You keep the memory" in request.messages[0].text


def answering(answer: str = "Noted.", summary: Sequence[Piece] | None = None) -> Step:
    """A model that answers every message with many words, and a request for a summary with one."""

    def step(request: ChatRequest) -> Sequence[Piece]:
        if is_summary(request):
            return summary if summary is not None else says(SUMMARY)
        return says(f"{answer} {FILLER}")

    return step


def small(*steps: Step, window_tokens: int = WINDOW) -> ScriptedProvider:
    return ScriptedProvider(steps or [answering()], window_tokens=window_tokens)


async def talk(app: App, turns: int, session_id: SessionId | None = None) -> tuple[SessionId, list[TurnEvent]]:
    events: list[TurnEvent] = []
    for number in range(turns):
        text = GOAL if session_id is None else f"Point {number}: {FILLER}"
        session_id, came = await run_turn(app, text, session_id)
        events.extend(came)
    assert session_id is not None
    return session_id, events


async def talk_until_summarised(app: App) -> tuple[SessionId, Compacted]:
    session_id, events = await talk(app, 1)
    for _ in range(40):
        _, events = await talk(app, 1, session_id)
        for event in events:
            if isinstance(event, Compacted):
                return session_id, event
    raise AssertionError("never summarised")


def texts(messages: Sequence[Message]) -> str:
    return "\n".join(message.text for message in messages)


async def test_a_long_conversation_is_summarised_once_and_goes_on(open_scripted: OpenApp) -> None:
    provider = small()
    async with open_scripted(provider=provider) as app:
        session_id, compacted = await talk_until_summarised(app)
        session = app.sessions.load(session_id)
        last, before = provider.requests[-1], provider.requests[-2]
    assert is_summary(before)
    assert not before.tools
    assert sum(map(is_summary, provider.requests)) == 1
    assert [mark.up_to for mark in session.compactions] == [compacted.messages]
    # All messages are still there, and the newest go to the model as they are.
    assert [message.role for message in session.messages] == [Role.USER, Role.ASSISTANT] * (len(session.messages) // 2)
    assert last.messages[3:] == session.messages[compacted.messages : -1]
    assert [message.role for message in last.messages[:3]] == [Role.SYSTEM, Role.USER, Role.ASSISTANT]


async def test_goal_rules_and_decisions_reach_the_model_word_for_word(open_scripted: OpenApp) -> None:
    provider = small()
    async with open_scripted(provider=provider) as app:
        await talk_until_summarised(app)
    told = provider.requests[-1].messages[1].text
    assert "Tents come from Lund." in told
    assert GOAL in told


async def test_a_poor_summary_cannot_lose_goal_rules_files_and_open_tasks(
    open_scripted: OpenApp, home: DataDirectory
) -> None:
    (home.workspace / "budget.md").write_text("Lamps: 40", encoding="utf-8")
    did: Sequence[Step] = [
        calls(("read_file", {"path": "budget.md"}), ("create_task", {"title": "Ask the town hall"})),
        says("Read it."),
        answering(summary=says("Hm.")),
    ]
    provider = small(*did)
    async with open_scripted(provider=provider) as app:
        app.settings.set_value("safetyMode", "advanced")
        session_id, _ = await run_turn(app, "Always answer in Danish. Read the budget and note the town hall.")
        for _ in range(40):
            _, events = await talk(app, 1, session_id)
            if any(isinstance(event, Compacted) for event in events):
                break
        told = app.sessions.load(session_id).compaction
    assert told is not None
    assert "Hm." in told.summary
    assert "- Always answer in Danish." in told.summary
    assert "- budget.md" in told.summary
    assert "Ask the town hall" in told.summary.partition("Open tasks")[2]


async def test_an_undo_shows_the_model_everything_again_and_is_not_undone_by_itself(open_scripted: OpenApp) -> None:
    provider = small()
    async with open_scripted(provider=provider) as app:
        session_id, compacted = await talk_until_summarised(app)
        await app.turns.undo_compaction(session_id, compacted.messages)
        assert app.sessions.load(session_id).compaction is None
        _, events = await run_turn(app, "And now?", session_id)
        session = app.sessions.load(session_id)
        with pytest.raises(NotFoundError):
            await app.turns.undo_compaction(session_id, compacted.messages)
    assert not [event for event in events if isinstance(event, Compacted)]
    assert provider.requests[-1].messages[1:] == session.messages[:-1]


async def test_what_was_undone_is_summarised_again_only_when_nothing_fits_any_more(open_scripted: OpenApp) -> None:
    provider = small()
    async with open_scripted(provider=provider) as app:
        session_id, compacted = await talk_until_summarised(app)
        await app.turns.undo_compaction(session_id, compacted.messages)
        _, events = await talk(app, 3, session_id)
        marks = app.sessions.load(session_id).compactions
    assert [event for event in events if isinstance(event, Compacted)]
    assert not any(mark.undone for mark in marks)


async def test_a_second_summary_is_made_of_the_first_and_what_followed(open_scripted: OpenApp) -> None:
    provider = small()
    async with open_scripted(provider=provider) as app:
        session_id, first = await talk_until_summarised(app)
        _, events = await talk(app, 12, session_id)
        marks = app.sessions.load(session_id).compactions
        await app.turns.undo_compaction(session_id, marks[-1].up_to)
        left = app.sessions.load(session_id).compaction
    assert [event for event in events if isinstance(event, Compacted)]
    asked = [request for request in provider.requests if is_summary(request)]
    assert "<summary_so_far>" in asked[1].messages[1].text
    assert "Tents come from Lund." in asked[1].messages[1].text
    # An undo goes back by one.
    assert left == marks[-2]
    assert GOAL in marks[-1].summary
    assert first.messages == marks[0].up_to


@pytest.mark.parametrize(
    "failure",
    [
        [ProviderError("It is overloaded", fault=ProviderFault.OVERLOADED)],
        [TextPiece("  \n"), Finished(FinishReason.STOP)],
    ],
    ids=["error", "empty"],
)
async def test_a_summary_that_fails_leaves_out_the_oldest_and_says_so(
    open_scripted: OpenApp, failure: Sequence[Piece]
) -> None:
    provider = small(answering(summary=failure))
    async with open_scripted(provider=provider) as app:
        session_id, events = await talk(app, 14)
        assert app.sessions.load(session_id).compactions == ()
    ends = [event.end for event in events if isinstance(event, TurnEnded)]
    notices = [event.text for event in events if isinstance(event, Notice)]
    assert set(ends) == {TurnEnd.COMPLETED}
    assert any("could not be summarised" in text for text in notices)
    assert any("do not fit" in text for text in notices)


async def test_a_turn_with_many_steps_asks_for_a_failing_summary_once(open_scripted: OpenApp) -> None:
    failing: list[Piece] = [ProviderError("It is overloaded", fault=ProviderFault.OVERLOADED)]
    steps: list[Step] = [answering(summary=failing)] * 8
    provider = small(*steps)
    async with open_scripted(provider=provider) as app:
        session_id, _ = await talk(app, 8)
        before = len(provider.requests)

        def looks(request: ChatRequest) -> Sequence[Piece]:
            if is_summary(request):
                return failing
            return calls(("list_directory", {"path": f"{len(provider.requests)}"}))

        provider.steps = [*[answering()] * before, looks, looks, looks, looks, says("Done")]
        await run_turn(app, FILLER, session_id)
    assert sum(map(is_summary, provider.requests[before:])) == 1


async def test_a_crash_between_summary_and_write_leaves_the_session_as_it_was(
    open_scripted: OpenApp, home: DataDirectory
) -> None:
    provider = small(answering(summary=[TextPiece("## Goal"), Hang()]))
    async with open_scripted(provider=provider) as app:
        session_id, _ = await talk(app, 1)
        for _ in range(8):
            before = len(provider.requests)
            ticket = await app.turns.start(session_id, FILLER)
            with anyio.fail_after(5):
                while app.turns.running(session_id) and not any(map(is_summary, provider.requests[before:])):
                    await anyio.lowlevel.checkpoint()
            if app.turns.running(session_id):
                break
            await collect(app, session_id, ticket.after)
        raw = json.loads((home.sessions / f"{session_id}.json").read_text(encoding="utf-8"))
    # The program died while the summary was being written; the next life has every message and no mark.
    async with open_scripted(provider=small()) as app:
        after = app.sessions.load(session_id)
        assert after.compactions == ()
        assert len(after.messages) == len(raw["messages"])
        ticket = await app.turns.resume(session_id)
        events = await collect(app, session_id, ticket.after)
    assert end_of(events).end is TurnEnd.COMPLETED
    assert [event for event in events if isinstance(event, Compacted)]


async def test_a_stop_while_the_summary_is_written_stops_at_once(open_scripted: OpenApp) -> None:
    async with open_scripted(provider=small(answering(summary=[TextPiece("x"), Hang()]))) as app:
        session_id, _ = await talk(app, 3)
        await app.turns.compact(session_id)
        app.turns.stop(session_id)
        ended = await wait_for(app, session_id, TurnEnded, app.turns.last_number(session_id) - 1)
        assert isinstance(ended, TurnEnded)
        assert app.sessions.load(session_id).compactions == ()


async def test_an_unknown_window_is_left_alone_until_the_endpoint_says_too_long(open_scripted: OpenApp) -> None:
    too_long = ProviderError("Too long", fault=ProviderFault.CONTEXT_OVERFLOW)

    def step(request: ChatRequest) -> Sequence[Piece]:
        if is_summary(request):
            return says(SUMMARY)
        return [too_long] if len(request.messages) > 13 else says(FILLER)

    provider = small(step, window_tokens=0)
    async with open_scripted(provider=provider) as app:
        _, events = await talk(app, 8)
    ends = [event.end for event in events if isinstance(event, TurnEnded)]
    assert set(ends) == {TurnEnd.COMPLETED}
    assert len([event for event in events if isinstance(event, Compacted)]) == 1


async def test_an_endpoint_that_finds_even_the_summary_too_long_ends_the_turn_with_its_words(
    open_scripted: OpenApp,
) -> None:
    too_long = [ProviderError("Too long", fault=ProviderFault.CONTEXT_OVERFLOW)]
    provider = small(*[answering()] * 4, lambda request: says(SUMMARY) if is_summary(request) else too_long)
    async with open_scripted(provider=provider) as app:
        _, events = await talk(app, 5)
    assert end_of(events).code == "context_overflow"
    assert sum(map(is_summary, provider.requests)) == 1


async def test_never_means_never(open_scripted: OpenApp) -> None:
    too_long = [ProviderError("Too long", fault=ProviderFault.CONTEXT_OVERFLOW)]
    provider = small(*[answering()] * 14, too_long)
    async with open_scripted(provider=provider) as app:
        app.settings.set_value("compactAtPercent", "0")
        _, events = await talk(app, 15)
    assert not any(map(is_summary, provider.requests))
    assert end_of(events).code == "context_overflow"
    assert any("do not fit" in event.text for event in events if isinstance(event, Notice))


async def test_compact_does_it_now_although_there_is_room(open_scripted: OpenApp) -> None:
    provider = small(window_tokens=1_000_000)
    async with open_scripted(provider=provider) as app:
        session_id, _ = await talk(app, 4)
        ticket = await app.turns.compact(session_id)
        events = await collect(app, session_id, ticket.after)
        session = app.sessions.load(session_id)
    assert [event for event in events if isinstance(event, Compacted)]
    assert end_of(events).end is TurnEnd.COMPLETED
    assert not [event for event in events if isinstance(event, TextDelta)]
    assert session.compaction is not None
    assert session.messages[session.compaction.up_to].role is Role.USER
    assert len(session.messages) == 8


async def test_compact_says_when_there_is_nothing_to_summarise(open_scripted: OpenApp) -> None:
    async with open_scripted(provider=small()) as app:
        session_id, _ = await talk(app, 1)
        ticket = await app.turns.compact(session_id)
        events = await collect(app, session_id, ticket.after)
    assert "nothing to summarise" in end_of(events).error


async def test_neither_compact_nor_undo_work_while_a_turn_runs(open_scripted: OpenApp) -> None:
    async with open_scripted([TextPiece("one"), Hang()]) as app:
        session_id = app.sessions.create().id
        await app.turns.start(session_id, "hello")
        await wait_for(app, session_id, TextDelta)
        with pytest.raises(ConflictError):
            await app.turns.compact(session_id)
        with pytest.raises(ConflictError):
            await app.turns.undo_compaction(session_id, 2)


async def test_going_back_before_the_summary_takes_it_away(open_scripted: OpenApp) -> None:
    provider = small()
    async with open_scripted(provider=provider) as app:
        session_id, _ = await talk_until_summarised(app)
        ticket = await app.turns.rewind(session_id, 2, "Differently")
        await collect(app, session_id, ticket.after)
        session = app.sessions.load(session_id)
    assert session.compactions == ()
    assert provider.requests[-1].messages[1:] == session.messages[:-1]


async def test_a_branch_keeps_the_summary_of_what_it_shares(open_scripted: OpenApp) -> None:
    async with open_scripted(provider=small()) as app:
        session_id, compacted = await talk_until_summarised(app)
        whole = app.sessions.branch(session_id, compacted.messages)
        part = app.sessions.branch(session_id, compacted.messages - 2)
        assert app.sessions.load(whole.id).compaction == app.sessions.load(session_id).compaction
        assert app.sessions.load(part.id).compactions == ()


async def test_a_change_to_a_much_smaller_model_summarises_in_several_requests(open_scripted: OpenApp) -> None:
    provider = small(window_tokens=200_000)
    async with open_scripted(provider=provider) as app:
        session_id, _ = await talk(app, 40)
        provider.window_tokens = WINDOW
        _, events = await run_turn(app, "And now?", session_id)
    asked = [request for request in provider.requests if is_summary(request)]
    assert len(asked) > 1
    assert end_of(events).end is TurnEnd.COMPLETED
    assert all(len(texts(request.messages)) < WINDOW * 4 for request in asked)


async def test_the_summary_is_on_the_bill(open_scripted: OpenApp) -> None:
    counted: list[Piece] = [TextPiece(SUMMARY), UsageCounted(Usage(700, 70)), Finished(FinishReason.STOP)]
    async with open_scripted(provider=small(answering(summary=counted))) as app:
        session_id, _ = await talk(app, 3)
        ticket = await app.turns.compact(session_id)
        events = await collect(app, session_id, ticket.after)
        bill = [entry for entry in app.ledger.entries() if entry.purpose == "summary"]
    assert end_of(events).usage == Usage(700, 70)
    assert [(entry.session_id, entry.input_tokens) for entry in bill] == [(session_id, 700)]
