"""The formats of Anthropic and Google against the server that other people wrote; see `test_against_emulator`."""

import pytest

from skales.core.errors import ProviderFault
from skales.core.json import JsonObject
from skales.core.message import Message, Role, TextPart, text_message
from skales.core.ports import ChatRequest, FinishReason
from skales.core.tool import Safety, ToolSpec
from tests.providers.conftest import MakeProvider, ask
from tests.providers.outcome import collect
from tests.providers.test_against_emulator import KEY, NODE, PROGRAM, emulator

__all__ = ["emulator"]

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(NODE is None or not PROGRAM.exists(), reason="needs node and `npm ci` in tests/peers"),
    pytest.mark.parametrize("provider", ["anthropic", "google"]),
]


def address(emulator: str, provider: str) -> str:
    return emulator if provider == "anthropic" else f"{emulator}beta"


async def test_an_answer_streams(provider: str, emulator: str, make_provider: MakeProvider) -> None:
    asked = make_provider(provider, base_url=address(emulator, provider), key=KEY)
    outcome = await collect(asked.stream(ask("hello")))
    assert (outcome.text, outcome.error) == ("Grüße, Welt 🙂", None)
    assert outcome.finish is FinishReason.STOP


async def test_calls_are_answered_in_the_next_request(
    provider: str, emulator: str, make_provider: MakeProvider
) -> None:
    parameters: JsonObject = {"type": "object", "properties": {"town": {"type": "string"}}, "required": ["town"]}
    tool = ToolSpec(name="get_weather", description="", parameters=parameters, category="web", safety=Safety.AUTO)
    asked = make_provider(provider, base_url=address(emulator, provider), key=KEY)
    question = text_message(Role.USER, "weather")

    first = await collect(asked.stream(ChatRequest(model="m", messages=(question,), tools=(tool,))))

    assert (first.reasoning, first.text) == ("Two towns.", "Looking.")
    assert [call.arguments for call in first.calls] == [{"town": "Köln"}, {"town": "Bonn"}]
    assert first.finish is FinishReason.TOOL_CALLS
    answer = Message(
        role=Role.ASSISTANT,
        content=(TextPart(first.text),),
        tool_calls=tuple(first.calls),
        native={"format": first.native[0].format, "blocks": first.native[0].blocks} if first.native else {},
    )
    results = [Message(role=Role.TOOL, content=(TextPart("20°"),), tool_call_id=call.id) for call in first.calls]
    again = ChatRequest(model="m", messages=(question, answer, *results), tools=(tool,))
    assert (await collect(asked.stream(again))).text == "Köln 20°, Bonn 21°"


async def test_a_busy_endpoint_is_asked_again(provider: str, emulator: str, make_provider: MakeProvider) -> None:
    asked = make_provider(provider, base_url=address(emulator, provider), key=KEY)
    outcome = await collect(asked.stream(ask("busy")))
    assert outcome.text == "Now."


async def test_a_truncated_answer_is_no_whole_one(provider: str, emulator: str, make_provider: MakeProvider) -> None:
    asked = make_provider(provider, base_url=address(emulator, provider), key=KEY)
    outcome = await collect(asked.stream(ask("truncated")))
    assert outcome.error is not None
    assert outcome.error.fault is ProviderFault.STREAM_CUT


async def test_the_output_limit_is_told(provider: str, emulator: str, make_provider: MakeProvider) -> None:
    asked = make_provider(provider, base_url=address(emulator, provider), key=KEY)
    outcome = await collect(asked.stream(ask("limit")))
    assert (outcome.text, outcome.finish) == ("As far as it goes", FinishReason.LENGTH)


async def test_a_wrong_key_is_told(provider: str, emulator: str, make_provider: MakeProvider) -> None:
    asked = make_provider(provider, base_url=address(emulator, provider), key="sk-wrong")
    outcome = await collect(asked.stream(ask("hello")))
    assert outcome.error is not None
    assert outcome.error.fault is ProviderFault.BAD_KEY
