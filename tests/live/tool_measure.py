"""Asks a model the recorded requests and judges its calls: the tool, the arguments, and none where none is needed."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skales.core.json import JsonObject, JsonValue
from skales.core.message import Role, text_message
from skales.core.ports import CallReady, ChatRequest, Provider, TextPiece
from skales.core.tool import ToolCall, ToolSpec

REQUESTS = Path(__file__).with_name("tool_requests.toml")


@dataclass(frozen=True, slots=True)
class Expected:
    """A request and what a right call of it looks like; see the head of the file."""

    request: str
    tools: tuple[str, ...]
    args: Mapping[str, Sequence[str]] = field(default_factory=dict)
    args_may: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the model did with one request."""

    expected: Expected
    call: ToolCall | None
    text: str
    tool_right: bool
    all_right: bool


def load_requests(group: str) -> list[Expected]:
    """`dev` or `held_out`."""
    return [
        Expected(entry["request"], tuple(entry["tool"].split("|")), entry.get("args", {}), entry.get("args_may", {}))
        for entry in _document()[group]
    ]


def load_plain(group: str) -> list[str]:
    """Messages that need no tool."""
    return list(_document()["plain"][group])


async def measure(
    provider: Provider, model: str, tools: Sequence[ToolSpec], requests: Sequence[Expected]
) -> list[Outcome]:
    """One outcome per request, each asked in a conversation of its own."""
    return [await _measure_one(provider, model, tools, expected) for expected in requests]


async def ask(provider: Provider, model: str, tools: Sequence[ToolSpec], text: str) -> tuple[ToolCall | None, str]:
    """The call the model makes, else the first it says."""
    request = ChatRequest(model=model, messages=(text_message(Role.USER, text),), tools=tuple(tools))
    async with aclosing(provider.stream(request)) as events:
        async for event in events:
            match event:
                case CallReady(call):
                    return call, ""
                case TextPiece(piece) if piece.strip():
                    return None, piece
                case _:
                    pass
    return None, ""


async def _measure_one(provider: Provider, model: str, tools: Sequence[ToolSpec], expected: Expected) -> Outcome:
    call, text = await ask(provider, model, tools, expected.request)
    tool_right = call is not None and call.name in expected.tools
    all_right = tool_right and call is not None and not call.problem and _are_right(call.arguments, expected)
    return Outcome(expected, call, text, tool_right, all_right)


def _are_right(arguments: JsonObject, expected: Expected) -> bool:
    left = dict(arguments)
    for names, accepted in expected.args.items():
        name = next((name for name in names.split("|") if name in left), "")
        if not name or not _is_right(left.pop(name), accepted):
            return False
    allowed = {name: values for names, values in expected.args_may.items() for name in names.split("|")}
    return all(name in allowed and _is_right(value, allowed[name]) for name, value in left.items())


def _is_right(value: JsonValue, accepted: Sequence[str]) -> bool:
    said = _normal(str(value))
    return any(
        all(any(word in said for word in words.split("|")) for words in wanted[1:].split())
        if wanted.startswith("*")
        else said == _normal(wanted)
        for wanted in accepted
    )


def _normal(text: str) -> str:
    """Lower case, without quotes, end marks and a trailing slash: spellings that mean the same."""
    return " ".join(re.sub(r"[\"'“”]", "", text).lower().split()).rstrip("./").strip() or "."


def _document() -> dict[str, Any]:
    return tomllib.loads(REQUESTS.read_text(encoding="utf-8"))
