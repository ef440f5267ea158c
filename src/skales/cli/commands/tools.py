"""`skales tools`: list tools, show one, or run one without a model."""

import argparse
import asyncio
import json
import sys
from collections.abc import Collection, Sequence

from skales.cli.backend import open_backend
from skales.cli.conversation import answer_here
from skales.cli.progress_bar import ProgressBar
from skales.cli.terminal import can_ask, paint, row, title
from skales.core.approval import Approval
from skales.core.errors import InputError, NotFoundError
from skales.core.json import JsonObject, JsonValue, as_list, as_object, as_text, parse_typed
from skales.tools.index import load_index


def run(arguments: argparse.Namespace) -> int:
    """Dispatch the action; listing is the default."""
    match arguments.action:
        case "run":
            return asyncio.run(_run_tool(arguments.name, arguments.arguments))
        case "pin" | "unpin":
            return asyncio.run(_pin(arguments.name, is_pinned=arguments.action == "pin"))
        case "show":
            return _show(arguments.name)
        case _:
            return asyncio.run(_list(as_json="json" in arguments))


async def _list(*, as_json: bool) -> int:
    async with open_backend() as backend:
        report = await backend.report("tools")
    if as_json:
        print(json.dumps(report, ensure_ascii=False))
        return 0
    tools = [as_object(tool) for tool in as_list(report["tools"])]
    title(f"{len(tools)} tools")
    for tool in tools:
        mark = paint("●", "green") if tool["enabled"] else paint("○", "red")
        print(f"  {mark} {as_text(tool['name']):<22} {as_text(tool['description']).splitlines()[0][:80]}")
    print()
    return 0


def _show(name: str) -> int:
    spec = next((entry.spec for entry in load_index() if entry.spec.name == name), None)
    if spec is None:
        raise NotFoundError(f"There is no tool named {name!r}", hint="`skales tools` lists them")
    title(spec.name)
    print(f"  {spec.description}\n")
    row("category", spec.category)
    row("safety", spec.safety.value)
    required = as_list(spec.parameters.get("required"))
    for parameter, schema in as_object(spec.parameters.get("properties")).items():
        shape = as_object(schema)
        mark = (
            " (required)"
            if parameter in required
            else f" (default {json.dumps(shape['default'])})"
            if "default" in shape
            else ""
        )
        print(f"\n  --{parameter} {as_text(shape.get('type'))}{mark}\n      {as_text(shape.get('description'))}")
    print()
    return 0


async def _pin(name: str, *, is_pinned: bool) -> int:
    async with open_backend() as backend:
        status = await backend.pin_tool(name, is_pinned=is_pinned)
    always = status["pinned"] is True or status["basic"] is True
    print(f"{as_text(status['name'])} is offered {'always' if always else 'when it is found'}")
    return 0


async def _run_tool(name: str, words: Sequence[str]) -> int:
    as_json = "--json" in words[:1]
    arguments = parse_words(words[1:] if as_json else words, _text_parameters(name))
    async with open_backend() as backend:
        bar = ProgressBar()

        async def ask(approval: Approval) -> None:
            bar.clear()
            await answer_here(backend, approval)

        try:
            result = await backend.run_tool(name, arguments, bar.show, ask if can_ask() else None)
        finally:
            bar.clear()
    if as_json:
        print(json.dumps(result, ensure_ascii=False))
    else:
        print(as_text(result["text"]), file=sys.stderr if result["isError"] else sys.stdout)
    return 1 if result["isError"] else 0


def _text_parameters(tool: str) -> Collection[str]:
    """The parameters of a tool that take a text, which stays as it was typed even where it looks like JSON."""
    spec = next((entry.spec for entry in load_index() if entry.spec.name == tool), None)
    properties = as_object(spec.parameters.get("properties")) if spec else {}
    return {name for name, schema in properties.items() if as_object(schema).get("type") == "string"}


def parse_words(words: Sequence[str], texts: Collection[str] = ()) -> JsonObject:
    """`--name value`, `--name=value` and bare `--flag` as arguments; a repeated name makes a list.

    An array or object is read as JSON, unless the name is among `texts`.
    """
    arguments: dict[str, JsonValue] = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if not word.startswith("--") or len(word) == 2:
            raise InputError(f"{word!r} belongs to no parameter", hint="Write --parameter value")
        name, equals, value = word[2:].partition("=")
        name = name.replace("-", "_")
        if not equals:
            value = rest.pop(0) if rest and not rest[0].startswith("--") else "true"
        parsed = value if name in texts else parse_typed(value)
        arguments[name] = [*_as_items(arguments[name]), parsed] if name in arguments else parsed
    return arguments


def _as_items(value: JsonValue) -> Sequence[JsonValue]:
    return as_list(value) if not isinstance(value, str) else [value]
