"""Plays scripted answers to a real provider over a real connection, for the test of each wire format.

A case holds `answer` (the body played), optionally `provider` (a catalogue id), `tools` (names offered, or tables with
`name` and `parameters`), `history` (ids of calls the conversation already holds), `content_type`, `status`, and
`expect`: what came out, as far as it is not empty. A quirk is a file; this code stays as it is.
"""

import tomllib
from pathlib import Path
from typing import Any

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

Case = dict[str, Any]


def load_cases(wire_format: str) -> dict[str, Case]:
    folder = Path(__file__).parent / wire_format
    return {path.stem: tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.toml"))}


async def play(
    case: Case, provider_id: str, piece_bytes: int, server: RawServer, clients: SharedClients
) -> dict[str, Any]:
    reply = Reply(
        case["answer"].encode("utf-8"),
        case.get("status", 200),
        case.get("content_type", "text/event-stream"),
        piece_bytes=piece_bytes,
    )
    server.replies.append(reply)
    name = case.get("provider", provider_id)
    endpoint = Endpoint(entry=find_entry(name), provider_id=name, base_url=server.url, api_key="sk-case")
    around = Surroundings(retry=RetryPolicy(tries=1), ids=CountingIds(), clock=FixedClock())
    return summarise(await collect(build_provider(endpoint, clients, around).stream(build_request(case))))


def build_spec(tool: str | dict[str, Any]) -> ToolSpec:
    name, parameters = (tool, {}) if isinstance(tool, str) else (tool["name"], tool["parameters"])
    return ToolSpec(name=name, description="", parameters=parameters, category="files", safety=Safety.AUTO)


def build_request(case: Case) -> ChatRequest:
    messages = [text_message(Role.USER, "Hello")]
    for call_id in case.get("history", []):
        messages.append(Message(role=Role.ASSISTANT, tool_calls=(ToolCall(call_id, "read_file"),)))
        messages.append(Message(role=Role.TOOL, content=(TextPart("done"),), tool_call_id=call_id))
    tools = tuple(map(build_spec, case.get("tools", ["read_file", "list_directory"])))
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
        "native": [block for blocks in outcome.native for block in blocks.blocks],
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
        "native": [],
        **wanted,
        "calls": calls,
        "usage": usage,
        "says": Containing(wanted.get("says", "")),
    }
