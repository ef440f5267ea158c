"""Plays each `openai/*.toml` to a real provider over a real connection, whole and byte by byte.

A case holds `answer` (the body played), optionally `provider` (a catalogue id), `tools` (names offered), `history` (ids
of calls the conversation already holds), `content_type`, `status`, and `expect`: what came out, as far as it is not
empty. A quirk is a file; this code stays as it is.
"""

import tomllib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from skales.core.message import Message, Role, TextPart, Usage, text_message
from skales.core.ports import ChatRequest
from skales.core.tool import Safety, ToolCall, ToolSpec
from skales.providers.catalog import find_entry
from skales.providers.clients import SharedClients
from skales.providers.endpoint import Endpoint
from skales.providers.provider import Surroundings, build_provider
from skales.providers.retry import RetryPolicy
from tests.conftest import CountingIds, FixedClock
from tests.providers.outcome import Outcome, collect
from tests.servers.raw_sse import RawServer, Reply

CASES = {
    path.stem: tomllib.loads(path.read_text(encoding="utf-8"))
    for path in sorted((Path(__file__).parent / "openai").glob("*.toml"))
}


@pytest.fixture
def server() -> Iterator[RawServer]:
    with RawServer() as running:
        yield running


@pytest.fixture
async def clients(anyio_backend: str) -> AsyncIterator[SharedClients]:
    shared = SharedClients()
    yield shared
    await shared.aclose()


@pytest.mark.anyio
@pytest.mark.parametrize("piece_bytes", [0, 1], ids=["whole", "bytes"])
@pytest.mark.parametrize("name", CASES)
async def test_the_answer_comes_out_as_meant(
    name: str, piece_bytes: int, server: RawServer, clients: SharedClients
) -> None:
    case = CASES[name]
    reply = Reply(
        case["answer"].encode("utf-8"),
        case.get("status", 200),
        case.get("content_type", "text/event-stream"),
        piece_bytes=piece_bytes,
    )
    server.replies.append(reply)
    entry = find_entry(case.get("provider", "custom"))
    endpoint = Endpoint(entry=entry, provider_id="custom", base_url=server.url, api_key="sk-case")
    around = Surroundings(retry=RetryPolicy(tries=1), ids=CountingIds(), clock=FixedClock())

    outcome = await collect(build_provider(endpoint, clients, around).stream(build_request(case)))

    assert summarise(outcome) == expected(case["expect"])


def build_request(case: dict[str, Any]) -> ChatRequest:
    messages = [text_message(Role.USER, "Hello")]
    for call_id in case.get("history", []):
        messages.append(Message(role=Role.ASSISTANT, tool_calls=(ToolCall(call_id, "read_file"),)))
        messages.append(Message(role=Role.TOOL, content=(TextPart("done"),), tool_call_id=call_id))
    tools = tuple(
        ToolSpec(name=name, description="", parameters={}, category="files", safety=Safety.AUTO)
        for name in case.get("tools", ["read_file", "list_directory"])
    )
    return ChatRequest(model="demo", messages=tuple(messages), tools=tools)


def summarise(outcome: Outcome) -> dict[str, Any]:
    error = outcome.error
    return {
        "text": outcome.text,
        "reasoning": outcome.reasoning,
        "calls": [
            {"id": call.id, "name": call.name, "arguments": call.arguments, "problem": bool(call.problem)}
            for call in outcome.calls
        ],
        "usage": outcome.usage,
        "finish": outcome.finish.value if outcome.finish else "",
        "fault": error.fault.value if error else "",
        "says": error.message if error else "",
    }


class Containing(str):
    """Equal to every text that contains it."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and str(self) in str(other)

    __hash__ = str.__hash__


def expected(wanted: dict[str, Any]) -> dict[str, Any]:
    calls = [{"arguments": {}, "problem": False, **call} for call in wanted.get("calls", [])]
    usage = Usage(*wanted["usage"]) if "usage" in wanted else None
    return {
        "text": "",
        "reasoning": "",
        "finish": "",
        "fault": "",
        **wanted,
        "calls": calls,
        "usage": usage,
        "says": Containing(wanted.get("says", "")),
    }
