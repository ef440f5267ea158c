"""A small model names new conversations, in the background and only where nobody else did."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field

import anyio
import pytest

from skales.app.app import App
from skales.app.small_jobs import read_title
from skales.app.wiring import build_app
from skales.core.clock import SystemClock
from skales.core.errors import ProviderError, ProviderFault
from skales.core.events import TurnEnd
from skales.core.ids import RandomIds, SessionId
from skales.core.message import Role, text_message
from skales.core.ports import ChosenModel, Purpose
from skales.data.instance import InstanceLock
from skales.data.paths import DataDirectory
from tests.journeys.conftest import end_of, run_turn
from tests.scripted import Hang, Piece, ScriptedChooser, ScriptedProvider, Step, calls, says

pytestmark = pytest.mark.anyio

DOWN = ProviderError("tiny cannot be reached", fault=ProviderFault.UNREACHABLE)


@dataclass
class TwoModels(ScriptedChooser):
    """The scripted provider, and a small one under `tiny`."""

    small: ScriptedProvider = field(default_factory=lambda: ScriptedProvider([]))
    weak: bool = False

    def choose(self, provider_id: str = "", model: str = "") -> ChosenModel:
        if provider_id == "tiny":
            return ChosenModel("tiny", model, self.small, weak=self.weak)
        return super().choose(provider_id, model)


@dataclass
class Opened:
    """A running app and its small model."""

    app: App
    small: ScriptedProvider

    async def title_of(self, session_id: SessionId, wanted: str) -> None:
        """Wait for a title, at most five seconds."""
        with anyio.fail_after(5):
            while self.app.sessions.load(session_id).title != wanted:  # noqa: ASYNC110 - a file has no event
                await anyio.sleep(0.01)

    async def asked(self) -> None:
        """Wait until the small model is asked."""
        with anyio.fail_after(5):
            while not self.small.requests:  # noqa: ASYNC110 - as above
                await anyio.sleep(0.01)


Open = Callable[..., AbstractAsyncContextManager[Opened]]


@pytest.fixture
def opened(home: DataDirectory) -> Open:
    @asynccontextmanager
    async def open_app(
        *steps: Step, answer: Step = (), is_on: bool = True, weak: bool = False
    ) -> AsyncIterator[Opened]:
        small = ScriptedProvider([answer])
        chooser = TwoModels(ScriptedProvider(steps), small=small, weak=weak)
        app = build_app(home, InstanceLock(home), SystemClock(), RandomIds(), chooser)
        if is_on:
            app.settings.set_value("smallModel.provider", "tiny")
            app.settings.set_value("smallModel.model", "t1")
        async with anyio.create_task_group() as tasks:
            app.turns.open(tasks)
            app.small_jobs.open(tasks)
            yield Opened(app, small)
            tasks.cancel_scope.cancel()

    return open_app


async def test_the_first_answer_gives_the_conversation_a_title(opened: Open) -> None:
    async with opened(says("Bake it."), answer=says("“Baking plain bread.”")) as site:
        session_id, _ = await run_turn(site.app, "how do I bake a plain bread without yeast at home")
        await site.title_of(session_id, "Baking plain bread")
        (request,) = site.small.requests
        assert request.model == "t1"
        assert "without yeast" in request.messages[-1].text
        assert "Bake it." in request.messages[-1].text
        purposes = [(entry.provider, entry.purpose) for entry in site.app.ledger.entries()]
        assert sorted(purposes) == [("scripted", "chat"), ("tiny", "title")]


async def test_pages_hear_of_a_new_title(opened: Open) -> None:
    async with opened(says("Bake it."), answer=says("Bread")) as site:
        before = site.app.notices.version
        session_id, _ = await run_turn(site.app, "how do I bake bread")
        await site.title_of(session_id, "Bread")
        with anyio.fail_after(5):
            while site.app.notices.version < before + 2:  # noqa: ASYNC110 - the end of the turn, then the title
                await anyio.sleep(0.01)


async def test_without_a_small_model_the_first_words_stay_the_title(opened: Open) -> None:
    async with opened(says("Bake it."), answer=says("Bread"), is_on=False) as site:
        session_id, _ = await run_turn(site.app, "how do I bake bread")
        site.app.small_jobs.note_end(session_id, TurnEnd.COMPLETED)
        await anyio.wait_all_tasks_blocked()
        assert site.app.sessions.load(session_id).title == "how do I bake bread"
        assert site.small.requests == []


async def test_a_turn_does_not_wait_for_its_title(opened: Open) -> None:
    async with opened(says("Bake it."), says("Yes."), answer=[Hang()]) as site:
        session_id, events = await run_turn(site.app, "how do I bake bread")
        assert end_of(events).end is TurnEnd.COMPLETED
        await site.asked()
        _, events = await run_turn(site.app, "sure?", session_id)
        assert end_of(events).end is TurnEnd.COMPLETED


async def test_a_name_that_the_person_gave_meanwhile_stays(opened: Open) -> None:
    def rename(_request: object) -> Sequence[Piece]:
        session_id = site.app.sessions.list(limit=1)[0].id
        site.app.sessions.update(session_id, title="My bread")
        return says("Bread")

    async with opened(says("Bake it."), answer=rename) as site:
        session_id, _ = await run_turn(site.app, "how do I bake bread")
        await site.asked()
        await anyio.wait_all_tasks_blocked()
        assert site.app.sessions.load(session_id).title == "My bread"


@pytest.mark.parametrize("case", ["named", "weak", "second", "tools only"])
async def test_who_needs_no_title_is_not_asked_about(opened: Open, case: str) -> None:
    steps = {"tools only": [calls(("read_file", {"path": "x"})), says("")]}.get(case, [says("Bake it.")])
    async with opened(*steps, answer=says("Bread"), weak=case == "weak") as site:
        session_id = site.app.sessions.create(title="Named" if case == "named" else "").id
        if case == "second":
            site.app.sessions.append(session_id, text_message(Role.USER, "a"), text_message(Role.ASSISTANT, "b"))
        await run_turn(site.app, "how do I bake bread", session_id)
        await anyio.wait_all_tasks_blocked()
        assert site.small.requests == []


async def test_a_failure_is_silent_and_the_first_words_stay(opened: Open) -> None:
    async with opened(says("Bake it."), answer=[DOWN]) as site:
        session_id, events = await run_turn(site.app, "how do I bake bread")
        await site.asked()
        await anyio.wait_all_tasks_blocked()
        assert end_of(events).end is TurnEnd.COMPLETED
        assert site.app.sessions.load(session_id).title == "how do I bake bread"


async def test_closing_gives_up_a_title_that_is_not_there_yet(opened: Open) -> None:
    async with opened(says("Bake it."), answer=[Hang()]) as site:
        session_id, _ = await run_turn(site.app, "how do I bake bread")
        await site.asked()
    assert site.app.sessions.load(session_id).title == "how do I bake bread"


async def test_others_ask_the_small_model_for_summaries(opened: Open) -> None:
    async with opened(answer=says("They baked.")) as site:
        said = [text_message(Role.USER, "Sum up")]
        assert await site.app.small_jobs.ask(Purpose.SUMMARY, said, SessionId("session_1")) == "They baked."
        (entry,) = site.app.ledger.entries()
        assert (entry.purpose, entry.session_id) == ("summary", "session_1")


async def test_summaries_are_written_by_the_small_model_unless_it_is_weak(opened: Open) -> None:
    own = ChosenModel("scripted", "demo", ScriptedProvider([]))
    for weak, writer in ((False, "tiny"), (True, "scripted")):
        async with opened(weak=weak) as site:
            assert site.app.small_jobs.writer(own).provider_id == writer
    async with opened(is_on=False) as site:
        site.app.settings.set_value("smallModel.provider", "")
        assert site.app.small_jobs.writer(own) is own


async def test_without_a_small_model_a_summary_says_what_to_set(opened: Open) -> None:
    async with opened(is_on=False) as site:
        with pytest.raises(ProviderError, match="No small model is chosen"):
            await site.app.small_jobs.ask(Purpose.SUMMARY, [], SessionId(""))


@pytest.mark.parametrize(
    ("answer", "title"),
    [
        ("Baking bread", "Baking bread"),
        ("Title: **Baking bread**", "Baking bread"),
        ("<think>They want bread</think>\n\n„Brot backen.“", "Brot backen"),
        ("One two three four five six seven eight", "One two three four five six"),
        ("# Bread\nand more", "Bread"),
        ("<think>never ends", ""),
        (" \n ", ""),
        ("a" * 80, f"{'a' * 59}…"),
    ],
)
def test_a_title_is_read_out_of_whatever_comes(answer: str, title: str) -> None:
    assert read_title(answer) == title
