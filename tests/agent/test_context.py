"""The request of one step: what goes in, in which order, and what is left out when it does not fit."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from skales.agent.context import ContextBuilder, tell
from skales.agent.offer import ToolOffer
from skales.agent.tokens import count_message
from skales.core.ids import SessionId
from skales.core.message import ImagePart, Message, Role, TextPart, Usage, text_message
from skales.core.ports import ChosenModel
from skales.core.tool import Safety
from skales.data.paths import DataDirectory
from skales.data.session_codec import Session
from skales.data.session_compactions import Compaction
from skales.providers.history import repair_history
from tests.agent.conftest import FakeToolbox, spec
from tests.conftest import FixedClock
from tests.scripted import ScriptedProvider

WORDS = "The committee talked about tents, lamps and music. " * 20


@pytest.fixture
def context(home: DataDirectory, clock: FixedClock) -> ContextBuilder:
    tools = [spec("read", Safety.AUTO), spec("by_hand", Safety.MANUAL), spec("off", Safety.AUTO, addon="extra")]
    return ContextBuilder(
        directory=home,
        offer=ToolOffer(FakeToolbox(tools)),
        repair=repair_history,
        custom_prompt=lambda: "Be brief.",
        clock=clock,
    )


def chosen(window_tokens: int = 0, *, weak: bool = False) -> ChosenModel:
    return ChosenModel("scripted", "gpt-demo", ScriptedProvider([], window_tokens=window_tokens), weak)


def session(*messages: Message, mark: Compaction | None = None) -> Session:
    return Session(
        id=SessionId("session_1"),
        title="",
        provider="",
        model="",
        agent_id="",
        created_ms=1,
        updated_ms=1,
        messages=messages,
        compactions=(mark,) if mark else (),
    )


def talk(turns: int) -> Sequence[Message]:
    return [
        text_message(role, f"{role} {number} {WORDS}")
        for number in range(turns)
        for role in (Role.USER, Role.ASSISTANT)
    ]


def test_a_request_has_the_rules_the_history_and_the_tools_a_model_may_start(context: ContextBuilder) -> None:
    history = talk(3)
    built = context.build(chosen(), session(*history), sees=True)
    assert [tool.name for tool in built.request.tools] == ["read"]
    assert built.request.messages[0].role is Role.SYSTEM
    assert list(built.request.messages[1:]) == history
    assert built.left_out == 0


def test_a_summary_stands_for_the_messages_before_its_end(context: ContextBuilder) -> None:
    history = talk(3)
    built = context.build(chosen(), session(*history, mark=Compaction(up_to=4, summary="They met.")), sees=True)
    _system, told, answer, *rest = built.request.messages
    assert "They met." in told.text
    assert (told.role, answer.role) == (Role.USER, Role.ASSISTANT)
    assert rest == history[4:]


def test_a_weak_model_gets_the_whole_history_and_takes_its_own_part(context: ContextBuilder) -> None:
    history = talk(3)
    mark = Compaction(up_to=4, summary="They met.")
    built = context.build(chosen(100, weak=True), session(*history, mark=mark), sees=True)
    assert list(built.request.messages[1:]) == history
    assert built.left_out == 0


def test_what_does_not_fit_is_left_out_from_the_oldest_up_to_a_user_message(context: ContextBuilder) -> None:
    history = talk(20)
    built = context.build(chosen(4_000), session(*history), sees=True)
    kept = list(built.request.messages[1:])
    assert kept == history[built.left_out :]
    assert kept[0].role is Role.USER
    assert sum(map(count_message, kept)) < 4_000
    assert len(kept) > 2


def test_the_last_turn_stays_however_long_it_is(context: ContextBuilder) -> None:
    history = [*talk(2), text_message(Role.USER, WORDS * 40)]
    built = context.build(chosen(1_000), session(*history), sees=True)
    assert list(built.request.messages[1:]) == history[-1:]
    alone = context.build(chosen(1_000), session(*history[-1:]), sees=True)
    assert alone.left_out == 0


def test_what_is_left_out_grows_in_steps_so_that_caches_fit_in_between(context: ContextBuilder) -> None:
    history = talk(80)
    cuts = [context.build(chosen(8_000), session(*history[: 2 * turns]), sees=True).left_out for turns in range(40, 80)]
    assert cuts == sorted(cuts)
    assert len(set(cuts)) < len(cuts) / 3


def test_a_model_that_does_not_see_gets_a_sentence_for_each_picture(context: ContextBuilder) -> None:
    picture = Message(role=Role.USER, content=(ImagePart("image/png", "AAAA", "cat.png"), TextPart("What?")))
    blind = context.build(chosen(), session(picture), sees=False)
    seeing = context.build(chosen(), session(picture), sees=True)
    assert "cat.png" in blind.request.messages[1].text
    assert seeing.request.messages[1] == picture
    assert seeing.estimated_tokens > blind.estimated_tokens + 1_000


def test_the_load_is_measured_in_the_models_own_tokens(context: ContextBuilder) -> None:
    story = session(*talk(10))
    model = chosen(10_000)
    before = context.measure(model, tell(story, sees=True))
    built = context.build(model, story, sees=True)
    context.learn(model, built, Usage(input_tokens=built.estimated_tokens * 2))
    after = context.measure(model, tell(story, sees=True))
    assert after.tokens == pytest.approx(before.tokens * 2, rel=0.01)
    assert after.share == after.tokens / 10_000
    assert context.measure(chosen(0), tell(story, sees=True)).share == 0.0


def test_a_tool_whose_words_change_is_counted_anew(home: DataDirectory, clock: FixedClock) -> None:
    box = FakeToolbox([spec("read", Safety.AUTO)])
    context = ContextBuilder(
        directory=home, offer=ToolOffer(box), repair=repair_history, custom_prompt=lambda: "", clock=clock
    )
    before = context.build(chosen(), session(*talk(1)), sees=True).estimated_tokens
    box.known = [replace(box.known[0], description=WORDS)]
    assert context.build(chosen(), session(*talk(1)), sees=True).estimated_tokens > before + 100
