"""`skales why`: the rules a call meets, and the one that decides. Nothing is run."""

import argparse
import asyncio
import json

from skales.cli.backend import open_backend
from skales.cli.terminal import aside, paint, title
from skales.core.errors import InputError
from skales.core.json import JsonObject, JsonValue, as_list, as_object, as_text, parse_typed

_APPROVAL = "ap_"
_OUTCOMES = {"allow": "It would run", "ask": "It would ask first", "deny": "It would be refused"}
_MARKS = {"allow": ("✓", "green"), "ask": ("?", "yellow"), "deny": ("✗", "red")}
_ANSWERS = {
    "pending": "waits for an answer",
    "approved": "was allowed",
    "declined": "was declined",
    "expired": "was not answered in time, which counts as no",
    "cancelled": "was withdrawn",
}


def run(arguments: argparse.Namespace) -> int:
    """A question's own chain of rules, or that of a call nobody made."""
    as_json = "json" in arguments
    if arguments.what.startswith(_APPROVAL):
        return asyncio.run(_explain_question(arguments.what, as_json=as_json))
    return asyncio.run(_explain_call(arguments.what, _read_arguments(arguments.arg), as_json=as_json))


async def _explain_call(tool: str, arguments: JsonObject, *, as_json: bool) -> int:
    async with open_backend() as backend:
        explanation = await backend.explain(tool, arguments)
    if as_json:
        print(json.dumps(explanation, ensure_ascii=False))
        return 0
    title(f"{as_text(explanation['action'])}: {_OUTCOMES[as_text(explanation['outcome'])]}")
    _show_steps(explanation["steps"])
    if explanation["covers"]:
        aside(f"\n  A wider yes would cover {as_text(explanation['covers'])}")
    return 0


async def _explain_question(approval_id: str, *, as_json: bool) -> int:
    async with open_backend() as backend:
        question = await backend.approval(approval_id)
    if as_json:
        print(json.dumps(question, ensure_ascii=False))
        return 0
    outcome = as_text(question["outcome"])
    title(f"{as_text(question['action'])}: {_ANSWERS.get(outcome, outcome)}")
    _show_steps(question["why"])
    print(f"\n  proposed  {_render(question['args'])}")
    if question.get("edited") is not None:
        print(f"  edited    {_render(question['edited'])}")
    if question.get("effective") is not None:
        print(f"  ran with  {_render(question['effective'])}")
    return 0


def _show_steps(steps: JsonValue) -> None:
    for step in map(as_object, as_list(steps)):
        mark, colour = _MARKS[as_text(step["outcome"])]
        about = f" ({as_text(step['about'])})" if step["about"] else ""
        line = f"{as_text(step['rule']):<10} {as_text(step['words'])}{about}"
        print(f"  {paint(mark, colour)} {paint(line, 'bold') if step['decides'] else line}")
        if step["decides"]:
            aside(f"    {'':<10} this decides{_where_to_change(as_text(step['setting']))}")


def _where_to_change(setting: str) -> str:
    match setting:
        case "":
            return ""
        case "grants":
            return "; `skales grants` lists and revokes it"
        case _:
            return f"; the setting {setting} would change it"


def _read_arguments(given: list[str]) -> JsonObject:
    read: dict[str, JsonValue] = {}
    for word in given:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise InputError(f"{word!r} is no argument", hint="Write --arg path=notes.txt")
        read[name] = parse_typed(value)
    return read


def _render(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False)
