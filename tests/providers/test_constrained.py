import json
from collections.abc import AsyncGenerator, Mapping, Sequence

import pytest

from skales.core.errors import ProviderError, ProviderFault
from skales.core.events import Progress
from skales.core.message import ImagePart, Message, Role, TextPart, Usage, text_message
from skales.core.ports import (
    CallReady,
    ChatRequest,
    Finished,
    FinishReason,
    ProviderEvent,
    ReasoningPiece,
    TextPiece,
    UsageCounted,
)
from skales.core.tool import ToolCall
from skales.providers.constrained import ConstrainedProvider
from tests.conftest import CountingIds
from tests.providers.weak.specs import READ, TOOLS, WRITE
from tests.scripted import Piece, ScriptedProvider, Step

STOP = Finished(FinishReason.STOP)
READ_NOTES: Mapping[str, object] = {"tool": "read_file", "arguments": {"path": "notes.txt"}}


def says(text: str, *, size: int = 5, finish: FinishReason = FinishReason.STOP) -> Sequence[Piece]:
    return [*(TextPiece(text[at : at + size]) for at in range(0, len(text), size)), Finished(finish)]


def chooses(value: Mapping[str, object]) -> Sequence[Piece]:
    return says(json.dumps(value))


def fails(fault: ProviderFault) -> Sequence[Piece]:
    return [ProviderError("no", fault=fault)]


def user(text: str) -> Message:
    return text_message(Role.USER, text)


def system(text: str = "You are Skales.") -> Message:
    return text_message(Role.SYSTEM, text)


def tool_turn(result: str, *, is_error: bool = False) -> tuple[Message, Message]:
    call = ToolCall("c1", "read_file", {"path": "notes.txt"})
    answer = Message(
        role=Role.TOOL, content=(TextPart(result),), tool_call_id="c1", name="read_file", is_error=is_error
    )
    return Message(role=Role.ASSISTANT, tool_calls=(call,)), answer


class Asked:
    """A constrained provider over a script, and what went each way."""

    def __init__(self, *steps: Step, tiny: bool = False, max_tools: int = 6, window_tokens: int = 8192) -> None:
        self.inner = ScriptedProvider(steps, window_tokens)
        self.provider = ConstrainedProvider(self.inner, max_tools, tiny=tiny, ids=CountingIds())

    async def ask(self, *messages: Message, request: ChatRequest | None = None) -> list[ProviderEvent]:
        asked = request or ChatRequest(model="m", messages=messages, tools=TOOLS)
        return [event async for event in self.provider.stream(asked)]

    @property
    def last(self) -> ChatRequest:
        return self.inner.requests[-1]

    def spoken(self) -> list[tuple[str, str]]:
        return [(message.role.value, message.text) for message in self.last.messages]


def text_of(events: Sequence[ProviderEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextPiece))


# --- choosing ---


@pytest.mark.anyio
async def test_a_choice_becomes_a_call() -> None:
    asked = Asked(chooses(READ_NOTES))
    raw = json.dumps(READ_NOTES)
    call = ToolCall("call_000000000001", "read_file", {"path": "notes.txt"}, raw=raw)
    assert await asked.ask(system(), user("Read notes.txt")) == [CallReady(call), Finished(FinishReason.TOOL_CALLS)]


@pytest.mark.anyio
async def test_the_choice_is_asked_with_a_schema_low_temperature_and_no_native_tools() -> None:
    asked = Asked(chooses(READ_NOTES))
    await asked.ask(system(), user("Read notes.txt"))
    assert asked.last.tools == ()
    assert asked.last.temperature == 0
    assert 0 < asked.last.max_output_tokens <= 1024
    assert '"const": "read_file"' in json.dumps(asked.last.answer_schema)


@pytest.mark.anyio
async def test_each_offered_tool_is_listed_and_shown_by_example_the_likeliest_last() -> None:
    asked = Asked(chooses(READ_NOTES))
    await asked.ask(system(), user("Read notes.txt"))
    spoken = asked.spoken()
    assert spoken[0][0] == "system"
    assert spoken[0][1].startswith("You are Skales.")
    assert "- read_file: Read a text file." in spoken[0][1]
    assert spoken[-3:] == [
        ("user", "What does poem.txt say?"),
        ("assistant", '{"tool": "read_file", "arguments": {"path": "poem.txt"}}'),
        ("user", "Read notes.txt"),
    ]


@pytest.mark.anyio
async def test_the_offer_is_no_larger_than_allowed() -> None:
    asked = Asked(chooses(READ_NOTES), max_tools=1)
    await asked.ask(user("Read, write, search or move the file notes.txt"))
    schema = asked.last.answer_schema
    assert schema is not None
    assert json.dumps(schema).count('"arguments": {') == 1


@pytest.mark.anyio
async def test_the_same_request_is_put_in_the_same_words() -> None:
    asked = Asked(chooses(READ_NOTES))
    await asked.ask(system(), user("Read notes.txt"))
    await asked.ask(system(), user("Read notes.txt"))
    assert asked.inner.requests[0] == asked.inner.requests[1]


@pytest.mark.anyio
async def test_a_reply_streams_as_it_arrives_and_keeps_its_reason() -> None:
    text = 'Ein "Zitat"\n😀'
    asked = Asked(says(json.dumps({"tool": "reply", "text": text}), size=3, finish=FinishReason.LENGTH))
    events = await asked.ask(user("Read notes.txt"))
    assert text_of(events) == text
    assert len(events) > 3
    assert events[-1] == Finished(FinishReason.LENGTH)


@pytest.mark.anyio
async def test_reasoning_and_progress_pass_through() -> None:
    asked = Asked([ReasoningPiece("hm"), Progress("Loading", 1, 2), *chooses(READ_NOTES)])
    events = await asked.ask(user("Read notes.txt"))
    assert events[:2] == [ReasoningPiece("hm"), Progress("Loading", 1, 2)]


@pytest.mark.anyio
async def test_a_call_cut_off_by_the_length_says_so() -> None:
    asked = Asked(says('{"tool": "write_file", "arguments": {"path": "a.txt", "cont', finish=FinishReason.LENGTH))
    events = await asked.ask(user("Write a poem to a.txt"))
    call = events[0]
    assert isinstance(call, CallReady)
    assert (call.call.name, call.call.arguments) == ("write_file", {})
    assert "cut off" in call.call.problem


@pytest.mark.anyio
async def test_wrong_arguments_are_left_to_the_gate() -> None:
    asked = Asked(chooses({"tool": "read_file", "arguments": {"nonsense": 1}}))
    events = await asked.ask(user("Read notes.txt"))
    assert isinstance(events[0], CallReady)
    assert events[0].call.arguments == {"nonsense": 1}


# --- plain chat ---


@pytest.mark.anyio
async def test_a_message_that_needs_no_tool_is_plain_chat() -> None:
    asked = Asked(says("Paris."))
    events = await asked.ask(system(), user("What is the capital of France?"))
    assert text_of(events) == "Paris."
    assert asked.last.answer_schema is None
    assert asked.spoken() == [("system", "You are Skales."), ("user", "What is the capital of France?")]


@pytest.mark.anyio
@pytest.mark.parametrize("fault", [ProviderFault.OVERLOADED, ProviderFault.BAD_ANSWER, ProviderFault.BAD_REQUEST])
async def test_an_endpoint_that_fails_at_the_choice_is_asked_again_without_tools(fault: ProviderFault) -> None:
    asked = Asked(fails(fault), says("I cannot look."))
    assert text_of(await asked.ask(user("Read notes.txt"))) == "I cannot look."
    assert asked.last.answer_schema is None


@pytest.mark.anyio
async def test_an_answer_nobody_can_read_is_asked_again_without_tools_and_both_are_counted() -> None:
    asked = Asked([UsageCounted(Usage(10, 1)), *says("{")], [*says("Hello.")[:-1], UsageCounted(Usage(20, 2, 5)), STOP])
    events = await asked.ask(user("Read notes.txt"))
    assert text_of(events) == "Hello."
    assert [event.usage for event in events if isinstance(event, UsageCounted)] == [Usage(10, 1), Usage(30, 3, 5)]


@pytest.mark.anyio
async def test_an_endpoint_that_is_gone_is_not_asked_again() -> None:
    asked = Asked(fails(ProviderFault.UNREACHABLE), says("never"))
    with pytest.raises(ProviderError):
        await asked.ask(user("Read notes.txt"))
    assert len(asked.inner.requests) == 1


@pytest.mark.anyio
async def test_a_failure_after_text_was_shown_is_not_hidden() -> None:
    begun = TextPiece('{"tool": "reply", "text": "The fi')
    asked = Asked([begun, ProviderError("cut", fault=ProviderFault.BAD_ANSWER)], says("never"))
    with pytest.raises(ProviderError):
        await asked.ask(user("Read notes.txt"))


@pytest.mark.anyio
async def test_a_request_for_json_is_passed_on_without_tools() -> None:
    schema = {"type": "object"}
    asked = Asked(says("{}"))
    request = ChatRequest(model="m", messages=(user("Read notes.txt"),), tools=TOOLS, answer_schema=schema)
    assert text_of(await asked.ask(request=request)) == "{}"
    assert (asked.last.answer_schema, asked.last.tools) == (schema, ())


@pytest.mark.anyio
async def test_an_answer_that_goes_round_in_circles_is_ended() -> None:
    asked = Asked([*says("The lady said: " + "the lady of the lake, " * 200)[:-1], STOP])
    events = await asked.ask(user("Tell me about France"))
    assert len(text_of(events)) < 200
    assert events[-1] == Finished(FinishReason.LENGTH)


@pytest.mark.anyio
@pytest.mark.parametrize("text", ["=" * 500, "| 0 | 0 | 0 |\n" * 100, "ha" * 10, "no, " * 3])
async def test_lines_tables_and_laughter_are_no_circles(text: str) -> None:
    asked = Asked(says(text))
    assert text_of(await asked.ask(user("Tell me about France"))) == text


# --- results ---


@pytest.mark.anyio
async def test_a_result_is_folded_into_the_question_and_asked_without_tools() -> None:
    question = "What does notes.txt say?"
    asked = Asked(says("It says: buy milk."))
    events = await asked.ask(system(), user(question), *tool_turn("1\tbuy milk"))
    assert text_of(events) == "It says: buy milk."
    assert asked.last.answer_schema is None
    assert asked.spoken() == [
        ("system", "You are Skales."),
        (
            "user",
            "\n\n".join([question, "Result of read_file:\n1\tbuy milk", "Answer in one sentence, from this result."]),
        ),
    ]


@pytest.mark.anyio
async def test_a_failed_call_is_folded_as_a_failure() -> None:
    asked = Asked(says("It is missing."))
    await asked.ask(user("What does notes.txt say?"), *tool_turn("'notes.txt' does not exist", is_error=True))
    question = asked.spoken()[-1][1]
    assert "Failure of read_file:\n'notes.txt' does not exist" in question
    assert question.endswith("Say in one sentence what went wrong.")


@pytest.mark.anyio
async def test_a_long_result_is_cut_to_the_window() -> None:
    asked = Asked(says("Long."), window_tokens=1000)
    await asked.ask(system(), user("What does notes.txt say?"), *tool_turn("x" * 100_000))
    question = asked.spoken()[-1][1]
    assert question.startswith("What does notes.txt say?")
    assert "[…]" in question
    assert len(question) < 3000


@pytest.mark.anyio
async def test_a_tiny_model_does_not_retell_a_result() -> None:
    asked = Asked(says("never"), tiny=True)
    events = await asked.ask(user("What does notes.txt say?"), *tool_turn("1\tbuy milk"))
    assert events == [TextPiece("`read_file` returned:\n\n```\n1\tbuy milk\n```"), STOP]
    assert asked.inner.requests == []


# --- history ---


@pytest.mark.anyio
async def test_earlier_tool_traffic_is_left_out_and_the_answers_stay() -> None:
    asked = Asked(says("Fine."))
    await asked.ask(
        user("Read notes.txt"),
        *tool_turn("1\tbuy milk"),
        text_message(Role.ASSISTANT, "Buy milk."),
        user("Thank you!"),
    )
    assert asked.spoken() == [("user", "Read notes.txt"), ("assistant", "Buy milk."), ("user", "Thank you!")]


@pytest.mark.anyio
async def test_two_messages_of_a_kind_in_a_row_become_one() -> None:
    asked = Asked(says("Yes."))
    await asked.ask(text_message(Role.ASSISTANT, "Hello."), user("One"), user("Two"), user("Thank you!"))
    assert asked.spoken() == [("user", "One\n\nTwo"), ("user", "Thank you!")]


@pytest.mark.anyio
async def test_a_long_history_loses_its_oldest_exchanges_and_keeps_system_and_question() -> None:
    asked = Asked(says("Yes."), window_tokens=1000)
    exchanges = [
        message
        for number in range(50)
        for message in (user(f"Number {number}"), text_message(Role.ASSISTANT, "word " * 20))
    ]
    await asked.ask(system(), *exchanges, user("Thank you!"))
    spoken = asked.spoken()
    assert spoken[0] == ("system", "You are Skales.")
    assert spoken[-1] == ("user", "Thank you!")
    assert spoken[-3] == ("user", "Number 49")
    assert 5 < len(spoken) < 40
    assert spoken[1][0] == "user"


@pytest.mark.anyio
async def test_a_question_longer_than_the_window_says_so() -> None:
    asked = Asked(says("never"), window_tokens=1000)
    with pytest.raises(ProviderError) as caught:
        await asked.ask(system(), user("word " * 5000))
    assert caught.value.fault is ProviderFault.CONTEXT_OVERFLOW
    assert caught.value.hint


@pytest.mark.anyio
async def test_a_choice_that_does_not_fit_is_asked_as_plain_chat() -> None:
    asked = Asked(says("Yes."), window_tokens=400)
    events = await asked.ask(system("s " * 200), user("Read the file notes.txt " + "please " * 30))
    assert text_of(events) == "Yes."
    assert asked.last.answer_schema is None


@pytest.mark.anyio
async def test_pictures_of_the_question_are_kept() -> None:
    picture = ImagePart("image/png", "AAAA")
    asked = Asked(says("A cat."))
    await asked.ask(Message(role=Role.USER, content=(TextPart("Tell me what you see"), picture)))
    assert picture in asked.last.messages[-1].content


@pytest.mark.anyio
async def test_earlier_answers_are_shown_to_the_choice_in_its_own_form() -> None:
    asked = Asked(chooses(READ_NOTES))
    await asked.ask(user("Hello"), text_message(Role.ASSISTANT, "Hi."), user("Read notes.txt"))
    assert asked.spoken()[-3:] == [
        ("user", "Hello"),
        ("assistant", '{"tool": "reply", "text": "Hi."}'),
        ("user", "Read notes.txt"),
    ]


# --- tiny models ---


@pytest.mark.anyio
async def test_a_tiny_model_gets_its_own_prompt_no_history_and_examples_only() -> None:
    asked = Asked(chooses(READ_NOTES), tiny=True)
    await asked.ask(system("Long soul."), user("Hello"), text_message(Role.ASSISTANT, "Hi."), user("Read notes.txt"))
    spoken = asked.spoken()
    assert spoken[0] == ("system", "You are a helpful assistant.")
    assert spoken[-1] == ("user", "Read notes.txt")
    assert ("user", "Hello") not in spoken


@pytest.mark.anyio
async def test_a_tiny_model_may_only_copy_text() -> None:
    request = ChatRequest(model="m", messages=(user("Write hello world to hello.txt"),), tools=(READ, WRITE))
    asked = Asked(chooses(READ_NOTES), tiny=True)
    await asked.ask(request=request)
    assert '"content": {"enum": ["hello world"' in json.dumps(asked.last.answer_schema)


# --- the rest of the port ---


@pytest.mark.anyio
async def test_models_and_window_are_those_of_the_inner_provider() -> None:
    asked = Asked(says(""), window_tokens=123)
    assert await asked.provider.list_models() == ["scripted"]
    assert asked.provider.max_tokens("m") == 123


@pytest.mark.anyio
async def test_closing_the_stream_closes_the_inner_one() -> None:
    closed: list[bool] = []

    class Watched(ScriptedProvider):
        async def stream(self, request: ChatRequest) -> AsyncGenerator[ProviderEvent, None]:
            try:
                yield TextPiece("{")
                yield TextPiece('"tool": "reply", "text": "Hello')
                yield TextPiece(" there")
            finally:
                closed.append(True)

    stream = ConstrainedProvider(Watched([])).stream(
        ChatRequest(model="m", messages=(user("Read a.txt"),), tools=TOOLS)
    )
    assert await anext(stream) == TextPiece("Hello")
    await stream.aclose()
    assert closed == [True]
