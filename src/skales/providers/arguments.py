"""Reads the arguments a model wrote for a tool call, or says what is wrong so that the model can repair them.

A call runs with what the model wrote or not at all: nothing is guessed. Spec: orchestrator.md, "Tool-call hardening".
"""

import re

from skales.core.json import JsonObject, JsonValue
from skales.providers.lenient_json import JsonFaultError, read_object, read_strict

# Arguments inside a JSON string inside a JSON string have been seen; more is garbage.
_MAX_ENCODINGS = 2
# How much of the text around the fault the model is shown, each side.
_EXCERPT = 20

_OBJECT_START = re.compile(r"""\{\s*(?:["']|[A-Za-z_$][\w$-]*\s*:)""")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_KINDS: dict[type, str] = {str: "a string", int: "a number", float: "a number", bool: "a boolean", list: "an array"}
_AGAIN = "Send the call again with one valid JSON object as its arguments."


def parse_arguments(raw: str) -> tuple[JsonObject, str]:
    """The arguments and an empty problem, or no arguments and the problem in words for the model."""
    try:
        arguments = _read(raw.strip(), _MAX_ENCODINGS)
    except JsonFaultError as fault:
        return {}, _explain(raw.strip(), fault)
    if _holds_half_character(arguments):
        return {}, f"The arguments hold half of a character (a lone surrogate such as \\ud83d). {_AGAIN}"
    return arguments, ""


def _read(text: str, encodings: int) -> JsonObject:
    if not text:
        return {}
    try:
        value = read_strict(text)
    except ValueError:
        return _find_object(text)
    if isinstance(value, dict):
        return value
    if value is None:
        return {}
    if isinstance(value, str) and encodings:
        return _read_inner(value.strip(), encodings)
    raise JsonFaultError(f"they are {_KINDS[type(value)]} instead of an object", 0)


def _read_inner(inner: str, encodings: int) -> JsonObject:
    """An object that was encoded twice. Positions inside it would mean nothing in the text the model wrote."""
    try:
        return _read(inner, encodings - 1)
    except JsonFaultError as fault:
        raise JsonFaultError(f"they are a string, and inside it {fault.reason}", 0) from fault


def _find_object(text: str) -> JsonObject:
    """The first JSON object out of prose or a code fence.

    Only braces that are plainly prose are passed over. What begins like an object counts as the model's answer, and a
    fault in it is reported; looking for something smaller inside would run the call with parts of its arguments.
    """
    start = text.find("{")
    while start >= 0:
        if _is_prose(text, start):
            start = text.find("{", start + 1)
            continue
        value, end = read_object(text, start)
        _refuse_second_object(text, start, end)
        return value
    raise JsonFaultError("there is no JSON object in them", 0)


def _is_prose(text: str, start: int) -> bool:
    """Whether a brace inside a sentence opens no object: `{name}`, `{ }`, `{…}`."""
    return start > 0 and _OBJECT_START.match(text, start) is None and text.find("{", start + 1) > 0


def _refuse_second_object(text: str, start: int, end: int) -> None:
    """Two objects back to back are two calls written into one; running only the first would lose the other."""
    rest = text[end:].lstrip()
    if rest.startswith("{") and not text[:start].strip() and rest != text[start:end]:
        raise JsonFaultError("a second object follows the first", end)


def _holds_half_character(value: JsonValue) -> bool:
    match value:
        case str():
            return not value.isascii() and _LONE_SURROGATE.search(value) is not None
        case dict():
            return any(_holds_half_character(key) or _holds_half_character(item) for key, item in value.items())
        case list():
            return any(_holds_half_character(item) for item in value)
        case _:
            return False


def _explain(text: str, fault: JsonFaultError) -> str:
    before = text[max(0, fault.position - _EXCERPT) : fault.position]
    after = text[fault.position : fault.position + _EXCERPT]
    where = f"at character {fault.position + 1} of {len(text)}"
    where += f", where {after!r} stands" if after else ""
    where += f" after {before!r}" if before else ""
    cut = " They seem to be cut off." if fault.is_cut else ""
    return f"The arguments cannot be used: {fault.reason}, {where}.{cut} {_AGAIN}"
