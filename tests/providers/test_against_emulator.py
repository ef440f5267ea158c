"""Asks a server that other people wrote from the vendors' documentation: npm `@copilotkit/aimock`.

It is installed with `npm ci` in `tests/peers`; where it is not, these tests are skipped.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from skales.core.errors import ProviderFault
from skales.core.json import JsonObject
from skales.core.message import Message, Role, TextPart, Usage, text_message
from skales.core.ports import ChatRequest, FinishReason
from skales.core.tool import Safety, ToolSpec
from tests.providers.conftest import MakeProvider, ask
from tests.providers.outcome import collect

PEERS = Path(__file__).parent.parent / "peers"
PROGRAM = PEERS / "node_modules/@copilotkit/aimock/dist/cli.js"
NODE = shutil.which("node")
KEY = "sk-peer"

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(NODE is None or not PROGRAM.exists(), reason="needs node and `npm ci` in tests/peers"),
]


@pytest.fixture(scope="module")
def emulator() -> Iterator[str]:
    assert NODE is not None
    command = [NODE, str(PROGRAM), "-p", "0", "-f", str(PEERS / "aimock.json"), "--validate-on-load", "--strict"]
    process = subprocess.Popen(
        [*command, "--chunk-size", "4"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        env={**os.environ, "AIMOCK_API_KEYS": KEY},
    )
    with process:
        assert process.stdout is not None
        found = next(found for line in process.stdout if (found := re.search(r"listening on (http://\S+)", line)))
        yield f"{found.group(1)}/v1"
        process.terminate()


async def test_an_answer_streams_with_its_tokens(emulator: str, make_provider: MakeProvider) -> None:
    outcome = await collect(make_provider(base_url=emulator, key=KEY).stream(ask("hello")))
    assert outcome.text == "Grüße, Welt 🙂"
    assert outcome.usage == Usage(3, 4)
    assert outcome.finish is FinishReason.STOP


async def test_calls_are_answered_in_the_next_request(emulator: str, make_provider: MakeProvider) -> None:
    parameters: JsonObject = {"type": "object", "properties": {"town": {"type": "string"}}, "required": ["town"]}
    tool = ToolSpec(name="get_weather", description="", parameters=parameters, category="web", safety=Safety.AUTO)
    provider = make_provider(base_url=emulator, key=KEY)
    question = text_message(Role.USER, "weather")

    first = await collect(provider.stream(ChatRequest(model="m", messages=(question,), tools=(tool,))))

    assert (first.reasoning, first.text) == ("Two towns.", "Looking.")
    assert [(call.id, call.arguments) for call in first.calls] == [
        ("call_1", {"town": "Köln"}),
        ("call_2", {"town": "Bonn"}),
    ]
    assert first.finish is FinishReason.TOOL_CALLS
    answer = Message(role=Role.ASSISTANT, content=(TextPart(first.text),), tool_calls=tuple(first.calls))
    results = [Message(role=Role.TOOL, content=(TextPart("20°"),), tool_call_id=call.id) for call in first.calls]
    again = ChatRequest(model="m", messages=(question, answer, *results), tools=(tool,))
    assert (await collect(provider.stream(again))).text == "Köln 20°, Bonn 21°"


async def test_a_busy_endpoint_is_asked_again(emulator: str, make_provider: MakeProvider) -> None:
    outcome = await collect(make_provider(base_url=emulator, key=KEY).stream(ask("busy")))
    assert outcome.text == "Now."
    assert ["Slow down" in plan.reason for plan in outcome.retries] == [True]


async def test_a_truncated_answer_is_no_whole_one(emulator: str, make_provider: MakeProvider) -> None:
    outcome = await collect(make_provider(base_url=emulator, key=KEY).stream(ask("truncated")))
    assert outcome.finish is None
    assert outcome.text
    assert "The first of many".startswith(outcome.text)
    assert outcome.error is not None
    assert outcome.error.fault is ProviderFault.STREAM_CUT


async def test_the_output_limit_is_told(emulator: str, make_provider: MakeProvider) -> None:
    outcome = await collect(make_provider(base_url=emulator, key=KEY).stream(ask("limit")))
    assert (outcome.text, outcome.finish) == ("As far as it goes", FinishReason.LENGTH)


async def test_a_wrong_key_is_told(emulator: str, make_provider: MakeProvider) -> None:
    outcome = await collect(make_provider(base_url=emulator, key="sk-wrong").stream(ask("hello")))
    assert outcome.error is not None
    assert outcome.error.fault is ProviderFault.BAD_KEY


async def test_models_are_listed(emulator: str, make_provider: MakeProvider) -> None:
    assert "gpt-4o" in await make_provider(base_url=emulator, key=KEY).list_models()
