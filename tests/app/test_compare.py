"""The same message to several models: asked at once, without tools, nothing on disk until one answer is picked."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import dataclass, field

import anyio
import pytest

from skales.app.app import App
from skales.app.compare import Answered, Comparison, Grew, Thought, Waits
from skales.app.wiring import build_app
from skales.core.errors import ConflictError, InputError, NotFoundError, ProviderError, ProviderFault
from skales.core.ids import SessionId
from skales.core.message import ImagePart, Message, Role, TextPart, Usage, text_message
from skales.core.ports import ChosenModel, Finished, FinishReason, ModelTraits, ReasoningPiece, RetryPlanned, TextPiece
from skales.data.instance import InstanceLock
from skales.data.paths import DataDirectory
from tests.conftest import CountingIds, FixedClock
from tests.scripted import Hang, Piece, ScriptedChooser, ScriptedProvider, Step, calls, says

pytestmark = pytest.mark.anyio

ONE, TWO, THREE = ("a", "one"), ("b", "two"), ("c", "three")
DOWN = ProviderError("a cannot be reached", fault=ProviderFault.UNREACHABLE, hint="Start it")


@dataclass
class NamedChooser(ScriptedChooser):
    """A scripted provider for each provider id."""

    providers: dict[str, ScriptedProvider] = field(default_factory=dict)

    def choose(self, provider_id: str = "", model: str = "") -> ChosenModel:
        return ChosenModel(provider_id, model, self.providers[provider_id])


Asked = dict[str, ScriptedProvider]
Opened = Callable[..., AbstractAsyncContextManager[App]]


@pytest.fixture
def asked() -> Asked:
    """Who is asked, by provider id; filled when the app opens."""
    return {}


@pytest.fixture
def opened(home: DataDirectory, clock: FixedClock, ids: CountingIds, asked: Asked) -> Opened:
    """`async with opened(a=steps, b=steps) as app`."""

    @asynccontextmanager
    async def open_app(traits: ModelTraits | None = None, **steps: Sequence[Step]) -> AsyncIterator[App]:
        asked.update({name: ScriptedProvider(step) for name, step in steps.items()})
        chooser = NamedChooser(ScriptedProvider([]), traits=traits or ModelTraits(), providers=asked)
        app = build_app(home, InstanceLock(home), clock, ids, chooser)
        async with anyio.create_task_group() as tasks:
            app.turns.open(tasks)
            app.settings.set_value("sessionBudgetUsd", "0")
            yield app
            tasks.cancel_scope.cancel()

    return open_app


async def run(app: App, text: str, *choices: tuple[str, str], session_id: str = "") -> Comparison:
    made = await app.comparisons.begin(text, choices, session_id)
    with anyio.fail_after(5):
        async with aclosing(app.comparisons.stream(made)) as events:
            async for _ in events:
                pass
    return made


async def test_each_model_gets_the_message_and_no_tools(opened: Opened, asked: Asked) -> None:
    async with opened(a=[says("A.")], b=[says("B.")], c=[says("C.")]) as app:
        made = await run(app, "Which?", ONE, TWO, THREE)
        assert [(column.text, column.incomplete) for column in made.columns] == [("A.", ""), ("B.", ""), ("C.", "")]
        for name in "abc":
            (request,) = asked[name].requests
            assert request.tools == ()
            assert request.messages[-1].text == "Which?"
            assert "there are no tools" in request.messages[0].text


async def test_events_name_their_column(opened: Opened) -> None:
    slow = [ReasoningPiece("hm"), RetryPlanned("It is busy", 2.0, 1), TextPiece("A"), Finished(FinishReason.STOP)]
    async with opened(a=[slow], b=[says("BB")]) as app:
        made = await app.comparisons.begin("Which?", [ONE, TWO])
        async with aclosing(app.comparisons.stream(made)) as stream:
            events = [event async for event in stream]
    first = [event for event in events if event.column == 0]
    assert first == [Thought(0), Waits(0, "It is busy. Trying again in 2 s"), Grew(0, "A"), Answered(0)]
    assert [event for event in events if event.column == 1] == [Grew(1, "B"), Grew(1, "B"), Answered(1)]


async def test_the_kill_switch_ends_a_comparison_and_keeps_what_came(opened: Opened) -> None:
    slow: list[Piece] = [TextPiece("half"), Hang()]
    async with opened(a=[slow], b=[slow]) as app:
        made = await app.comparisons.begin("Which?", [ONE, TWO])
        with anyio.fail_after(5):
            async with aclosing(app.comparisons.stream(made)) as events:
                grown = 0
                async for event in events:
                    grown += isinstance(event, Grew)
                    if grown == 2:
                        await app.kill_switch.use("test")
        assert [(column.text, column.incomplete) for column in made.columns] == [("half", "stopped")] * 2
        assert "1 under way" in app.incidents.list(1)[0].text
        assert app.comparisons.stop_all() == 0


async def test_one_that_fails_does_not_take_the_others_along(opened: Opened) -> None:
    async with opened(a=[[DOWN]], b=[says("B.")]) as app:
        made = await run(app, "Which?", ONE, TWO)
        assert made.columns[0].error is DOWN
        assert not made.columns[0].can_be_kept
        assert made.columns[1].text == "B."


async def test_an_answer_without_words_is_said_to_be_none(opened: Opened) -> None:
    async with opened(a=[calls(("read_file", {"path": "x"}))], b=[says("B.")]) as app:
        made = await run(app, "Which?", ONE, TWO)
        assert str(made.columns[0].error) == "The model answered nothing. Ask again"


async def test_nothing_is_written_but_the_costs(opened: Opened, home: DataDirectory) -> None:
    async with opened(a=[says("A.")], b=[says("B.")]) as app:
        await run(app, "Which?", ONE, TWO)
        assert list(home.sessions.glob("*.json")) == []
        entries = list(app.ledger.entries())
        assert sorted((entry.provider, entry.model, entry.purpose, entry.input_tokens) for entry in entries) == [
            ("a", "one", "compare", 10),
            ("b", "two", "compare", 10),
        ]


async def test_going_on_makes_a_conversation_with_that_answer_and_model(opened: Opened) -> None:
    async with opened(a=[says("A.")], b=[says("B.")]) as app:
        made = await run(app, "Which?", ONE, TWO)
        session_id = await app.comparisons.keep(made.id, 1)
        session = app.sessions.load(session_id)
        assert [message.text for message in session.messages] == ["Which?", "B."]
        answer = session.messages[1]
        assert (answer.provider, answer.model, answer.usage) == ("b", "two", Usage(10, 5))
        assert (session.provider, session.model, session.title) == ("b", "two", "Which?")
        with pytest.raises(NotFoundError):
            await app.comparisons.keep(made.id, 0)


async def test_from_a_conversation_its_history_is_shown_and_the_answer_goes_there(opened: Opened, asked: Asked) -> None:
    async with opened(a=[says("A.")], b=[says("B.")]) as app:
        session_id = app.sessions.create().id
        app.sessions.append(session_id, text_message(Role.USER, "Hello"), text_message(Role.ASSISTANT, "Hi"))
        made = await run(app, "Which?", ONE, TWO, session_id=session_id)
        request = asked["a"].requests[0]
        assert [message.text for message in request.messages[1:]] == ["Hello", "Hi", "Which?"]
        assert await app.comparisons.keep(made.id, 0) == session_id
        texts = [message.text for message in app.sessions.load(session_id).messages]
        assert texts == ["Hello", "Hi", "Which?", "A."]


async def test_a_conversation_that_went_on_meanwhile_is_left_alone(opened: Opened) -> None:
    async with opened(a=[says("A.")], b=[says("B.")]) as app:
        session_id = app.sessions.create().id
        made = await run(app, "Which?", ONE, TWO, session_id=session_id)
        app.sessions.append(session_id, text_message(Role.USER, "Something else"))
        with pytest.raises(ConflictError, match="went on meanwhile"):
            await app.comparisons.keep(made.id, 0)
        assert [message.text for message in app.sessions.load(session_id).messages] == ["Something else"]


async def test_pictures_are_described_to_a_model_that_does_not_see(opened: Opened, asked: Asked) -> None:
    async with opened(a=[says("A.")], b=[says("B.")]) as app:
        session_id = app.sessions.create().id
        picture = Message(role=Role.USER, content=(ImagePart("image/png", "AAAA", "cat.png"), TextPart("Look")))
        app.sessions.append(session_id, picture, text_message(Role.ASSISTANT, "Nice"))
        await run(app, "Which?", ONE, TWO, session_id=session_id)
        assert "'cat.png'" in asked["a"].requests[0].messages[1].text


async def test_stopping_stops_all_and_keeps_what_was_said(opened: Opened) -> None:
    hanging = [TextPiece("Half"), Hang()]
    async with opened(a=[hanging], b=[hanging]) as app:
        made = await app.comparisons.begin("Which?", [ONE, TWO])
        grown: set[int] = set()
        with anyio.fail_after(5):
            async with aclosing(app.comparisons.stream(made)) as events:
                async for event in events:
                    grown.add(event.column)
                    if len(grown) == 2:
                        break
        assert [(column.text, column.incomplete) for column in made.columns] == [("Half", "stopped")] * 2
        assert len(list(app.ledger.entries())) == 2
        kept = app.sessions.load(await app.comparisons.keep(made.id, 0))
        assert kept.messages[-1].incomplete == "stopped"


@pytest.mark.parametrize(
    ("text", "choices"),
    [
        ("Which?", [ONE]),
        ("Which?", [ONE, ONE]),
        (" ", [ONE, TWO]),
        ("Which?", [ONE, TWO, THREE, ("a", "x"), ("a", "y")]),
    ],
)
async def test_what_cannot_be_compared_is_refused(
    opened: Opened, text: str, choices: Sequence[tuple[str, str]]
) -> None:
    async with opened(a=[], b=[], c=[]) as app:
        with pytest.raises(InputError):
            await app.comparisons.begin(text, choices)


async def test_a_conversation_that_does_not_exist_is_refused(opened: Opened) -> None:
    async with opened(a=[], b=[]) as app:
        with pytest.raises(NotFoundError):
            await app.comparisons.begin("Which?", [ONE, TWO], SessionId("session_1"))


async def test_only_the_newest_comparisons_are_kept(opened: Opened) -> None:
    async with opened(a=[says("A.")], b=[says("B.")]) as app:
        made = [await app.comparisons.begin("Which?", [ONE, TWO]) for _ in range(17)]
        with pytest.raises(NotFoundError):
            app.comparisons.find(made[0].id)
        assert app.comparisons.find(made[1].id) is made[1]


async def test_a_ceiling_that_is_reached_stops_the_call(opened: Opened, asked: Asked) -> None:
    priced = ModelTraits(input_usd_per_million=1_000_000, output_usd_per_million=1_000_000)
    async with opened(priced, a=[says("A.")], b=[says("B.")]) as app:
        app.settings.set_value("dailyBudgetUsd", "1")
        made = await run(app, "Which?", ONE, TWO)
        assert [str(column.error) for column in made.columns] == [
            "This call would reach the ceiling for costs. Change the ceiling in Settings, Chat"
        ] * 2
        assert asked["a"].requests == []
