"""Types for JSON values, and the one strict reader of JSON text that nobody vetted."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import cast

JsonValue = str | int | float | bool | None | Mapping[str, "JsonValue"] | Sequence["JsonValue"]
JsonObject = Mapping[str, JsonValue]


def parse_json(text: str) -> JsonValue:
    """Read one JSON value. Raises ValueError, also for nesting that would exhaust the stack."""
    try:
        return cast(JsonValue, json.loads(text))
    except RecursionError as error:
        raise ValueError("the JSON is nested too deeply") from error


def parse_typed(text: str) -> JsonValue:
    """A value as a person types it: JSON when it is an array or object, else the text as it is.

    Numbers and switches stay text; whoever knows the schema makes them right.
    """
    if text[:1] not in ("[", "{"):
        return text
    try:
        return parse_json(text)
    except ValueError:
        return text


def as_object(value: JsonValue) -> JsonObject:
    """The value when it is an object, else an empty one: for reading optional parts of foreign JSON."""
    # What a parser made, without asking what counts as a mapping: streams come through here piece by piece.
    if type(value) is dict:
        return value
    return value if value is not None and isinstance(value, Mapping) else {}


def as_list(value: JsonValue) -> Sequence[JsonValue]:
    """The value when it is an array, else an empty one."""
    if type(value) is list:
        return value
    return value if value is not None and isinstance(value, Sequence) and not isinstance(value, str) else ()


def as_text(value: JsonValue) -> str:
    """The value when it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def as_int(value: JsonValue) -> int:
    """The value as a whole number, else 0; booleans and infinities are no numbers here."""
    match value:
        case bool():
            return 0
        case int():
            return value
        case float() if math.isfinite(value):
            return int(value)
        case _:
            return 0
