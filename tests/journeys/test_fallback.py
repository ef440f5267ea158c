"""When the chosen provider does not answer: who stands by goes on in the same turn, visibly, and no tool runs twice."""

import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

import anyio
import pytest

from skales.app.app import App
from skales.app.model_rest import RestingProviders
from skales.app.wiring import build_app
from skales.core.clock import Clock
from skales.core.errors import ProviderError, ProviderFault
from skales.core.events import AnswerSaved, Notice, TextDelta, ToolStarted, TurnEnd, TurnEvent
from skales.core.ids import RandomIds, SessionId
from skales.core.message import ImagePart, Message, Role, TextPart
from skales.core.ports import CallReady, ChosenModel, Finished, FinishReason, ModelTraits, TextPiece
from skales.core.tool import ToolCall
from skales.data.instance import InstanceLock
from skales.data.paths import DataDirectory
from tests.conftest import FixedClock
from tests.journeys.conftest import collect, end_of, run_turn, wait_for
from tests.scripted import Hang, Piece, ScriptedChooser, ScriptedProvider, Step, calls, says

pytestmark = pytest.mark.anyio

DOWN = ProviderError("Home cannot be reached", fault=ProviderFault.UNREACHABLE, hint="Start it")
CUT = ProviderError("The answer of Home was cut off", fault=ProviderFault.STREAM_CUT, hint="Write `continue`")
INSTEAD = "spare-1 (spare) answers instead until it does"


class RestingChooser(ScriptedChooser):
    """`home` answers, `spare` and `third` stand by; who failed rests for a minute of the clock."""

    def __init__(self, clock: Clock, providers: dict[str, ScriptedProvider], traits: ModelTraits) -> None:
        others = [ChosenModel(name, f"{name}-1", provider) for name, provider in providers.items() if name != "home"]
        super().__init__(providers["home"], others=others, traits=traits)
        self._rest = RestingProviders(clock)
        self.off: ProviderError | None = None
        self.needs: list[tuple[bool, bool]] = []

    def choose(self, provider_id: str = "", model: str = "") -> ChosenModel:
        if self.off:
            raise self.off
        return ChosenModel("home", "home-1", self.provider)

    def fallbacks(
        self, provider_id: str, model: str, *, needs_vision: bool = False, needs_tools: bool = False
    ) -> Sequence[ChosenModel]:
        self.needs.append((needs_vision, needs_tools))
        return [chosen for chosen in self.others if not self.is_resting(chosen.provider_id)]

    def is_resting(self, provider_id: str) -> bool:
        return self._rest.is_resting(provider_id)

    def report_failure(self, provider_id: str) -> None:
        self._rest.report_failure(provider_id)

    def report_success(self, provider_id: str) -> None:
        self._rest.report_success(provider_id)


@dataclass
class Site:
    """A running app and everybody it may ask."""

    app: App
    chooser: RestingChooser
    providers: dict[str, ScriptedProvider]

    def asked(self, name: str) -> int:
        return len(self.providers[name].requests)

    def written(self, session_id: SessionId) -> list[tuple[str, str, str]]:
        """Who wrote which answer, and why it ends early."""
        messages = self.app.sessions.load(session_id).messages
        return [
            (message.provider, message.text, message.incomplete)
            for message in messages
            if message.role is Role.ASSISTANT
        ]


Open = Callable[..., AbstractAsyncContextManager[Site]]


@pytest.fixture
def opened(home: DataDirectory, clock: FixedClock) -> Open:
    """`async with opened(home=steps, spare=steps) as site`."""

    @asynccontextmanager
    async def open_app(traits: ModelTraits | None = None, **steps: Sequence[Step]) -> AsyncIterator[Site]:
        providers = {name: ScriptedProvider(step) for name, step in steps.items()}
        chooser = RestingChooser(clock, providers, traits or ModelTraits())
        lock = InstanceLock(home)
        lock.acquire(exclusive=True)
        try:
            async with anyio.create_task_group() as tasks:
                app = build_app(home, lock, clock, RandomIds(), chooser)
                app.turns.open(tasks)
                yield Site(app, chooser, providers)
                tasks.cancel_scope.cancel()
        finally:
            lock.release()

    return open_app


def notices(events: Sequence[TurnEvent]) -> list[str]:
    return [event.text for event in events if isinstance(event, Notice)]


async def test_before_the_first_word_the_next_answers_and_says_so(opened: Open) -> None:
    async with opened(home=[[DOWN]], spare=[says("Paris.")]) as site:
        session_id, events = await run_turn(site.app, "Capital of France?")
        assert end_of(events).end is TurnEnd.COMPLETED
        assert notices(events) == [f"home-1 (home) does not answer (Home cannot be reached); {INSTEAD}"]
        assert site.written(session_id) == [("spare", "Paris.", "")]
        assert site.app.sessions.load(session_id).messages[1].model == "spare-1"


OFF = ProviderError("home is switched off", fault=ProviderFault.NOT_CONFIGURED, hint="Switch it on in the settings")


async def test_a_model_that_cannot_be_asked_at_all_gives_way_until_it_can(opened: Open) -> None:
    async with opened(home=[says("Paris.")], spare=[says("Lyon.")]) as site:
        site.chooser.off = OFF
        session_id, events = await run_turn(site.app, "Capital of France?")
        assert end_of(events).end is TurnEnd.COMPLETED
        assert notices(events) == ["home is switched off; spare-1 (spare) answers instead"]
        site.chooser.off = None
        _, events = await run_turn(site.app, "Sure?", session_id)
        assert notices(events) == []
        assert site.written(session_id) == [("spare", "Lyon.", ""), ("home", "Paris.", "")]


async def test_who_stands_by_for_it_has_the_rest_of_the_chain_behind(opened: Open) -> None:
    async with opened(home=[], spare=[[DOWN]], third=[says("Paris.")]) as site:
        site.chooser.off = OFF
        session_id, events = await run_turn(site.app, "Capital of France?")
        assert end_of(events).end is TurnEnd.COMPLETED
        assert len(notices(events)) == 2
        assert site.written(session_id) == [("third", "Paris.", "")]


async def test_when_nobody_stands_by_its_own_error_ends_the_turn(opened: Open) -> None:
    async with opened(home=[]) as site:
        site.chooser.off = OFF
        _, events = await run_turn(site.app, "Capital of France?")
        end = end_of(events)
        assert (end.end, end.error, end.hint) == (TurnEnd.FAILED, OFF.message, OFF.hint)


async def test_a_picture_in_the_message_counts_when_somebody_stands_in(opened: Open) -> None:
    async with opened(home=[], spare=[says("A cat.")]) as site:
        site.chooser.off = OFF
        session_id = site.app.sessions.create().id
        await site.app.turns.start(session_id, "What is it?", (ImagePart("image/png", "AAAA", "cat.png"),))
        await collect(site.app, session_id)
        assert site.chooser.needs[0] == (True, True)


async def test_the_whole_chain_is_asked_before_the_turn_fails_with_the_last_ones_words(opened: Open) -> None:
    broke = ProviderError("The credit at Third is used up", fault=ProviderFault.NO_CREDIT, hint="Add credit")
    async with opened(home=[[DOWN]], spare=[[DOWN]], third=[[broke]]) as site:
        _, events = await run_turn(site.app, "Capital of France?")
        end = end_of(events)
        assert (end.end, end.error, end.code) == (TurnEnd.FAILED, broke.message, "no_credit")
        assert [site.asked(name) for name in ("home", "spare", "third")] == [1, 1, 1]
        assert len(notices(events)) == 2


async def test_after_the_first_word_the_text_stays_and_nobody_else_is_asked(opened: Open) -> None:
    async with opened(home=[[TextPiece("The capital of"), CUT]], spare=[says("Paris.")]) as site:
        session_id, events = await run_turn(site.app, "Capital of France?")
        assert end_of(events).code == "stream_cut"
        assert site.written(session_id) == [("home", "The capital of", "cut")]
        assert site.asked("spare") == 0
        assert notices(events) == []


async def test_a_cut_answer_can_be_continued(opened: Open) -> None:
    async with opened(home=[[TextPiece("The capital of"), CUT], says("France is Paris.")], spare=[]) as site:
        session_id, _ = await run_turn(site.app, "Capital of France?")
        ticket = await site.app.turns.resume(session_id)
        events = await collect(site.app, session_id, ticket.after)
        assert end_of(events).end is TurnEnd.COMPLETED
        assert [text for _, text, _ in site.written(session_id)] == ["The capital of", "France is Paris."]


async def test_between_two_tool_steps_the_turn_goes_on_and_each_tool_ran_once(
    opened: Open, home: DataDirectory
) -> None:
    first = calls(("write_file", {"path": "a.txt", "content": "one"}))
    second = calls(("append_file", {"path": "a.txt", "content": "+two"}))
    async with opened(home=[first, [DOWN]], spare=[second, says("Both are done.")]) as site:
        site.app.settings.set_value("safetyMode", "unrestricted")
        session_id, events = await run_turn(site.app, "write both")
        started = [event.call.name for event in events if isinstance(event, ToolStarted)]
        assert started == ["write_file", "append_file"]
        assert (home.workspace / "a.txt").read_text(encoding="utf-8") == "one+two"
        assert [who for who, _, _ in site.written(session_id)] == ["home", "spare", "spare"]
        assert len(notices(events)) == 1
        results = [message for message in site.providers["spare"].requests[0].messages if message.role is Role.TOOL]
        assert len(results) == 1


async def test_calls_of_a_broken_answer_are_not_run(opened: Open, home: DataDirectory) -> None:
    call = CallReady(ToolCall("call_1", "write_file", {"path": "a.txt", "content": "one"}))
    broken: list[Piece] = [call, CUT]
    async with opened(home=[broken], spare=[says("Nothing to do.")]) as site:
        site.app.settings.set_value("safetyMode", "unrestricted")
        session_id, events = await run_turn(site.app, "write it")
        assert not (home.workspace / "a.txt").exists()
        assert site.written(session_id) == [("spare", "Nothing to do.", "")]
        assert end_of(events).end is TurnEnd.COMPLETED


async def test_for_a_minute_the_spare_answers_then_the_first_is_asked_again(opened: Open, clock: FixedClock) -> None:
    async with opened(home=[[DOWN], says("I am back.")], spare=[says("Here.")]) as site:
        session_id, _ = await run_turn(site.app, "one")
        clock.advance(59)
        _, events = await run_turn(site.app, "two", session_id)
        assert notices(events) == [f"home-1 (home) does not answer (it failed a moment ago); {INSTEAD}"]
        clock.advance(2)
        _, events = await run_turn(site.app, "three", session_id)
        assert notices(events) == []
        assert site.written(session_id) == [("spare", "Here.", ""), ("spare", "Here.", ""), ("home", "I am back.", "")]


async def test_within_one_turn_the_first_comes_back_after_a_minute(
    opened: Open, clock: FixedClock, home: DataDirectory
) -> None:
    (home.workspace / "a.txt").write_text("alpha", encoding="utf-8")

    def wait_a_minute(_request: object) -> Sequence[Piece]:
        clock.advance(61)
        return calls(("read_file", {"path": "a.txt"}))

    async with opened(home=[[DOWN], says("alpha")], spare=[wait_a_minute]) as site:
        session_id, events = await run_turn(site.app, "read it")
        assert [who for who, _, _ in site.written(session_id)] == ["spare", "home"]
        assert notices(events)[1] == "home-1 (home) is asked again"


async def test_without_anybody_standing_by_a_failure_is_what_it_was(opened: Open) -> None:
    async with opened(home=[[DOWN], says("Here.")]) as site:
        session_id, events = await run_turn(site.app, "one")
        assert (end_of(events).error, end_of(events).hint) == (DOWN.message, DOWN.hint)
        _, events = await run_turn(site.app, "two", session_id)
        assert end_of(events).end is TurnEnd.COMPLETED
        assert notices(events) == []


@pytest.mark.parametrize("fault", [ProviderFault.CONTEXT_OVERFLOW, ProviderFault.BAD_REQUEST])
async def test_what_is_wrong_with_the_request_ends_the_turn(opened: Open, fault: ProviderFault) -> None:
    wrong = ProviderError("That cannot be answered", fault=fault, hint="Say less")
    async with opened(home=[[wrong]], spare=[says("Paris.")]) as site:
        _, events = await run_turn(site.app, "Capital of France?")
        assert end_of(events).code == fault.value
        assert site.asked("spare") == 0


async def test_a_stop_asks_nobody_else(opened: Open) -> None:
    async with opened(home=[[TextPiece("The"), Hang()]], spare=[says("Paris.")]) as site:
        session_id = site.app.sessions.create().id
        await site.app.turns.start(session_id, "Capital of France?")
        await wait_for(site.app, session_id, TextDelta)
        site.app.turns.stop(session_id)
        assert end_of(await collect(site.app, session_id)).end is TurnEnd.STOPPED
        assert site.asked("spare") == 0


async def test_what_the_history_and_the_tools_need_is_asked_for(opened: Open) -> None:
    async with opened(home=[[DOWN]], spare=[says("A cat.")]) as site:
        session_id = site.app.sessions.create().id
        picture = Message(role=Role.USER, content=(ImagePart("image/png", "AAAA", "cat.png"), TextPart("What is it?")))
        site.app.sessions.append(session_id, picture)
        ticket = await site.app.turns.resume(session_id)
        await collect(site.app, session_id, ticket.after)
        assert site.chooser.needs == [(True, True)]


async def test_a_model_that_calls_no_tools_is_offered_none_and_that_is_said_once(opened: Open) -> None:
    empty: list[Piece] = [TextPiece("Hi"), Finished(FinishReason.STOP)]
    async with opened(ModelTraits(tools=False), home=[empty]) as site:
        _, events = await run_turn(site.app, "Hello")
        assert site.providers["home"].requests[0].tools == ()
        assert notices(events) == ["home-1 (home) calls no tools; it answers without them"]
        assert [event for event in events if isinstance(event, AnswerSaved)] == [AnswerSaved("Hi")]


async def test_the_session_file_names_who_wrote_each_answer(opened: Open, home: DataDirectory) -> None:
    async with opened(home=[says("One."), [DOWN]], spare=[says("Two.")]) as site:
        session_id, _ = await run_turn(site.app, "one")
        await run_turn(site.app, "two", session_id)
    messages = json.loads((home.sessions / f"{session_id}.json").read_text(encoding="utf-8"))["messages"]
    assert [(entry["provider"], entry["model"]) for entry in messages if entry["role"] == "assistant"] == [
        ("home", "home-1"),
        ("spare", "spare-1"),
    ]
