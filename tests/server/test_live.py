"""What a page is told about a session's turns, with the real app and a scripted provider."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from typing import Any

import anyio
import pytest
from selectolax.lexbor import LexborHTMLParser as HTMLParser

from skales.app.app import App
from skales.app.wiring import build_app
from skales.core.approval import Decision
from skales.core.clock import SystemClock
from skales.core.errors import ProviderError, ProviderFault
from skales.core.events import Progress, TurnEnd, TurnEnded
from skales.core.ids import ApprovalId, RandomIds, SessionId
from skales.core.message import Usage
from skales.core.ports import Finished, FinishReason, ReasoningPiece, TextPiece
from skales.data.instance import InstanceLock
from skales.data.paths import DataDirectory
from skales.server.live import Frame, Place, describe_end, describe_progress, parse_place, place_on_disk, stream_frames
from skales.server.ui.conversation import build_transcript
from skales.server.ui.pages import render
from skales.server.ui.push import encode_frame
from tests.scripted import Hang, ScriptedChooser, ScriptedProvider, Step, calls, says

pytestmark = pytest.mark.anyio

Open = Callable[..., AbstractAsyncContextManager[App]]


@pytest.fixture
def opened(home: DataDirectory) -> Open:
    @asynccontextmanager
    async def start(*steps: Step) -> AsyncIterator[App]:
        chooser = ScriptedChooser(ScriptedProvider(steps))
        app = build_app(home, InstanceLock(home), SystemClock(), RandomIds(), chooser)
        async with anyio.create_task_group() as tasks:
            app.turns.open(tasks)
            yield app
            tasks.cancel_scope.cancel()

    return start


async def frames_until(app: App, session_id: SessionId, after: Place | None, last: str = "end") -> list[Frame]:
    """Frames up to the first of a name, within five seconds."""
    found: list[Frame] = []
    with anyio.fail_after(5):
        async with aclosing(stream_frames(app, session_id, after)) as frames:
            async for frame in frames:
                found.append(frame)
                if frame.name == last:
                    break
    return found


async def turn(app: App, text: str, last: str = "end") -> tuple[SessionId, list[Frame]]:
    session_id = app.sessions.create().id
    after = place_on_disk(app, session_id)
    await app.turns.start(session_id, text)
    return session_id, await frames_until(app, session_id, after, last)


def data(frames: Sequence[Frame], name: str) -> list[Any]:
    return [frame.data for frame in frames if frame.name == name]


def words(html: str) -> str:
    return " ".join(HTMLParser(html).body.text().split())  # type: ignore[union-attr]


async def test_text_streams_and_each_finished_block_comes_rendered(opened: Open) -> None:
    async with opened(says("First **one**.\n\nSecond *two*.")) as app:
        _, frames = await turn(app, "go")
    assert "".join(data(frames, "")) == "First **one**.\nSecond *two*."
    assert data(frames, "block") == ["<p>First <strong>one</strong>.</p>\n"]


async def test_the_saved_answer_comes_whole_with_its_place_in_the_conversation(opened: Open) -> None:
    async with opened(says("![x][y] and\n\n[y]: https://pictures.example/a.png")) as app:
        _, frames = await turn(app, "go")
    (answer,) = data(frames, "answer")
    assert answer["id"] == "m-1"
    tree = HTMLParser(answer["html"])
    assert tree.css_first("a.picture .host") is not None
    assert "demo" in words(answer["html"])


async def test_the_persons_message_comes_with_its_place(opened: Open) -> None:
    async with opened(says("ok")) as app:
        _, frames = await turn(app, "hello <b>you</b>")
    (started,) = data(frames, "turn")
    assert started["id"] == "m-0"
    assert "hello <b>you</b>" in words(started["html"])


async def test_a_thousand_tokens_cost_less_than_60_kib_even_when_each_travels_alone(opened: Open) -> None:
    paragraph = "Files are **read** in order and the last one wins; see `config get` for more.\n\n"
    text = (paragraph * 3 + "1. first\n2. second\n\n```python\nprint(open('a').read())\n```\n\n") * 14
    tokens = [text[start : start + 4] for start in range(0, len(text), 4)][:1000]
    assert len(tokens) == 1000
    async with opened([*[TextPiece(token) for token in tokens], Finished(FinishReason.STOP)]) as app:
        _, frames = await turn(app, "go")
    assert sum(len(encode_frame(frame)) for frame in frames) < 60 * 1024


async def test_thinking_is_kept_apart_from_the_answer(opened: Open) -> None:
    async with opened([ReasoningPiece("hmm"), TextPiece("ok"), Finished(FinishReason.STOP)]) as app:
        _, frames = await turn(app, "go")
    assert data(frames, "think") == ["hmm"]
    assert "".join(data(frames, "")) == "ok"


async def test_tool_steps_start_and_finish_under_one_key(opened: Open, home: DataDirectory) -> None:
    (home.workspace / "a.txt").write_text("alpha", encoding="utf-8")
    async with opened(calls(("read_file", {"path": "a.txt"}), ("read_file", {"path": "no.txt"})), says("ok")) as app:
        _, frames = await turn(app, "go")
    steps = [(step["key"], HTMLParser(step["html"]).css_first("details")) for step in data(frames, "step")]
    states = [(key, node.attributes["data-state"]) for key, node in steps if node is not None]
    first, second = states[0][0], states[2][0]
    assert states == [(first, "running"), (first, "done"), (second, "running"), (second, "failed")]
    assert "alpha" in data(frames, "step")[1]["html"]


async def test_an_approval_is_shown_and_goes_away_when_answered(opened: Open, home: DataDirectory) -> None:
    async with opened(calls(("write_file", {"path": "n.txt", "content": "hi"})), says("done")) as app:
        session_id, frames = await turn(app, "write", last="ask")
        (asked,) = data(frames, "ask")
        assert 'data-state="open"' in data(frames, "step")[-1]["html"]
        assert "write_file" in asked["html"]
        after = frames[-1].place
        await app.approvals.decide(ApprovalId(asked["id"]), Decision(approved=True))
        frames = await frames_until(app, session_id, after)
    assert {"id": asked["id"], "text": "Allowed"} in data(frames, "asked")


async def test_a_question_offers_its_options(opened: Open) -> None:
    question = ("ask_user", {"question": "Which folder?", "options": ["Here", "There"]})
    async with opened(calls(question), says("ok")) as app:
        _, frames = await turn(app, "go", last="ask")
    tree = HTMLParser(data(frames, "ask")[0]["html"])
    assert [button.attributes["data-option"] for button in tree.css("[data-option]")] == ["Here", "There"]


async def test_a_waiting_message_is_shown_until_its_turn_starts(opened: Open) -> None:
    async with opened([TextPiece("a"), Hang()], says("b")) as app:
        session_id = app.sessions.create().id
        after = place_on_disk(app, session_id)
        await app.turns.start(session_id, "first")
        await frames_until(app, session_id, after, last="")
        await app.turns.start(session_id, "second")
        app.turns.stop(session_id)
        frames: list[Frame] = []
        with anyio.fail_after(5):
            async with aclosing(stream_frames(app, session_id, place_on_disk(app, session_id))) as stream:
                async for frame in stream:
                    frames.append(frame)
                    if len(data(frames, "end")) == 2:
                        break
    assert words(data(frames, "queue")[-1]["html"]) == ""
    assert "second" in words(data(frames, "turn")[-1]["html"])


async def test_a_page_that_knows_everything_is_told_to_forget_only_what_is_not_on_disk(opened: Open) -> None:
    async with opened([TextPiece("half an"), Hang()]) as app:
        session_id, frames = await turn(app, "go", last="")
        again = await frames_until(app, session_id, place_on_disk(app, session_id), last="")
        app.turns.stop(session_id)
    assert again[0].name == "sync"
    assert again[0].data == {"running": True}
    assert "".join(data(again, "")) == "".join(data(frames, "")) == "half an"


@pytest.mark.parametrize("epoch", ["", "another"])
async def test_a_page_that_missed_something_is_told_to_fetch_it(opened: Open, epoch: str) -> None:
    async with opened(says("ok")) as app:
        session_id, frames = await turn(app, "go")
        behind = Place(epoch or app.turns.epoch, 0)
        assert frames[-1].place is not None
        assert [frame.name for frame in await frames_until(app, session_id, behind, "reload")] == ["reload"]
        assert [frame.name for frame in await frames_until(app, session_id, None, "reload")] == ["reload"]


async def test_the_transcript_and_the_stream_together_show_each_message_once(opened: Open) -> None:
    """A page that is fetched at any moment of a turn and then attached ends with what the disk has."""
    async with opened(calls(("list_directory", {"path": "."}), text="I look."), says("One.\n\nTwo.")) as app:
        session_id = app.sessions.create().id
        await app.turns.start(session_id, "go")
        seen: dict[str, str] = {}
        transcript = await build_transcript(app, session_id)
        for node in HTMLParser(render(transcript)).css("article[id]"):
            seen[str(node.attributes["id"])] = words(str(node.html))
        for frame in await frames_until(app, session_id, parse_place(transcript.place)):
            if frame.name in ("turn", "answer") and frame.data["id"]:  # type: ignore[index, call-overload]
                seen[frame.data["id"]] = words(frame.data["html"])  # type: ignore[index, call-overload, arg-type]
        final = HTMLParser(render(await build_transcript(app, session_id)))
    assert seen == {node.attributes["id"]: words(str(node.html)) for node in final.css("article[id]")}


async def test_a_page_that_comes_after_a_failed_turn_still_learns_why(opened: Open) -> None:
    error = ProviderError("The key was refused", fault=ProviderFault.BAD_KEY)
    async with opened([error]) as app:
        session_id, _ = await turn(app, "go")
        place = parse_place((await build_transcript(app, session_id)).place)
        frames = await frames_until(app, session_id, place)
    assert [frame.name for frame in frames] == ["sync", "end"]
    assert "The key was refused" in words(data(frames, "end")[0]["html"])


async def test_a_failed_turn_says_what_to_do(opened: Open) -> None:
    error = ProviderError("The key was refused", fault=ProviderFault.BAD_KEY, hint="Check the key")
    async with opened([error]) as app:
        _, frames = await turn(app, "go")
    (end,) = data(frames, "end")
    assert "The key was refused. Check the key. Try again" in words(end["html"])
    assert HTMLParser(end["html"]).css_first('a[href^="/settings"]') is not None


async def test_a_stopped_answer_keeps_its_text_and_can_go_on(opened: Open) -> None:
    async with opened([TextPiece("half"), Hang()]) as app:
        session_id, _ = await turn(app, "go", last="")
        app.turns.stop(session_id)
        frames = await frames_until(app, session_id, place_on_disk(app, session_id))
    (answer,) = data(frames, "answer")
    assert "Stopped before the end" in words(answer["html"])
    assert HTMLParser(answer["html"]).css_first("[data-continue]") is not None
    assert data(frames, "end") == [{"html": "", "text": ""}]


async def test_a_conversation_that_is_deleted_meanwhile_is_fetched_again(opened: Open) -> None:
    async with opened([TextPiece("a"), Hang()]) as app:
        session_id = app.sessions.create().id
        async with aclosing(stream_frames(app, session_id, place_on_disk(app, session_id))) as slow:
            assert (await anext(slow)).name == "sync"
            ticket = await app.turns.start(session_id, "go")
            await anext(app.turns.events(session_id, ticket.after + 1))
            app.sessions.delete(session_id)
            with anyio.fail_after(5):
                assert [frame.name async for frame in slow] == ["reload"]


@pytest.mark.parametrize(
    ("end", "explained", "expected"),
    [
        (TurnEnd.COMPLETED, False, None),
        (TurnEnd.STOPPED, True, None),
        (TurnEnd.STOPPED, False, "Stopped"),
        (TurnEnd.FAILED, False, "It broke"),
        (TurnEnd.LIMIT, True, "It broke"),
    ],
)
def test_an_end_is_explained_once(end: TurnEnd, explained: bool, expected: str | None) -> None:
    outcome = describe_end(TurnEnded(end, Usage(), 0, error="It broke"), explained=explained)
    assert (outcome.words if outcome else None) == expected


def test_progress_has_words_for_bytes_and_for_steps() -> None:
    assert describe_progress(Progress("Model", 5_000_000, 98_000_000)) == {
        "label": "Model",
        "done": 5_000_000,
        "total": 98_000_000,
        "words": "5.0 MB of 98 MB",
    }
    assert describe_progress(Progress("Pages", 2, 0, "steps"))["words"] == "2"  # type: ignore[index, call-overload]
    assert describe_progress(Progress("Starting", 0, 0, "steps"))["words"] == ""  # type: ignore[index, call-overload]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("ab12-7", Place("ab12", 7)),
        ("a-b-7", Place("a-b", 7)),
        ("", None),
        ("7", None),
        ("ab-", None),
        ("ab-x", None),
        ("-7", None),
    ],
)
def test_a_place_is_read_or_not_at_all(text: str, place: Place | None) -> None:
    assert parse_place(text) == place


async def end_of_turn(app: App, session_id: SessionId, after: int) -> None:
    with anyio.fail_after(5):
        async with aclosing(app.turns.follow(session_id, after)) as events:
            async for _ in events:
                pass


async def test_a_summary_is_told_with_a_way_back_and_only_until_it_is_undone(opened: Open) -> None:
    async with opened(says("one"), says("two"), says("They met.")) as app:
        session_id, _ = await turn(app, "first")
        ticket = await app.turns.start(session_id, "second")
        await end_of_turn(app, session_id, ticket.after)
        ticket = await app.turns.compact(session_id)
        after = Place(app.turns.epoch, ticket.after)
        frames = await frames_until(app, session_id, after, "notice")
        await end_of_turn(app, session_id, ticket.after)
        shown = render(await build_transcript(app, session_id))
        await app.turns.undo_compaction(session_id, 2)
        bare = render(await build_transcript(app, session_id))
    (mark,) = data(frames, "notice")
    assert mark["text"] == "Summarised 2 earlier messages"
    for html in (mark["html"], shown):
        tree = HTMLParser(html)
        assert tree.css_first("details.summary-mark [data-undo-summary='2']") is not None
        assert "They met." in words(html)
    assert "summary-mark" not in bare


async def test_a_result_with_text_of_others_makes_the_page_fetch_the_marks(opened: Open, home: DataDirectory) -> None:
    (home.workspace / "received.html").write_text("<p>Hello</p>", encoding="utf-8")
    (home.workspace / "own.txt").write_text("mine", encoding="utf-8")
    for name, tells in (("received.html", True), ("own.txt", False)):
        async with opened(calls(("read_file", {"path": name})), says("Read.")) as app:
            _session, frames = await turn(app, "read it")
            assert ("marks" in [frame.name for frame in frames]) is tells
