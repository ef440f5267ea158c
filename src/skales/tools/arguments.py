"""Checks the arguments a model wrote against a tool's schema, and makes harmless spellings right.

Covers exactly the schemas that `schema` derives; what it does not know it lets pass. Nothing is guessed: a value is
changed only when no meaning is lost.
"""

import difflib
import json
import math
import re
from collections.abc import Mapping, Sequence

from skales.core.errors import InputError
from skales.core.json import JsonObject, JsonValue, as_list, as_object, as_text, parse_json
from skales.core.tool import ToolSpec

# What other programs' tools call these parameters; models mix them up.
_OTHER_NAMES: Mapping[str, Sequence[str]] = {
    "path": ("file_path", "filepath", "filename", "file_name", "file", "dir", "directory", "folder", "target_file"),
    "content": ("text", "contents", "data", "body", "file_text"),
    "old_text": ("old", "old_string", "old_str", "search"),
    "new_text": ("new", "new_string", "new_str", "replacement"),
    "query": ("q", "search", "search_query", "keyword", "text"),
    "source": ("src", "from", "source_path", "old_path", "path"),
    "destination": ("dst", "dest", "to", "destination_path", "new_path", "target"),
    "url": ("uri", "link", "address", "href"),
    "command": ("cmd", "script", "shell_command"),
}
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}(\.0{1,6})?")
_SHOWN_VALUE = 60


class _MismatchError(Exception):
    """A value does not fit; `args[0]` says what was expected, as words."""


def check_arguments(spec: ToolSpec, arguments: JsonObject) -> JsonObject:
    """The arguments in schema order, made right. Raises InputError that names every fault and the known arguments."""
    properties = as_object(spec.parameters.get("properties"))
    required = [as_text(name) for name in as_list(spec.parameters.get("required"))]
    faults = [_unknown(name, properties, arguments) for name in arguments if name not in properties]
    checked: dict[str, JsonValue] = {}
    for name, schema in properties.items():
        value = arguments.get(name)
        if value is None:
            if name in required:
                faults.append(f"{name!r} is missing")
            continue
        try:
            checked[name] = _fit(_written_json(name, value), as_object(schema))
        except _MismatchError as mismatch:
            faults.append(f"{name!r} should be {mismatch}, got {_shown(value)}")
    if faults:
        raise InputError(
            f"The arguments of {spec.name} do not fit: {'; '.join(faults)}",
            hint=_known_arguments(properties, required),
            code="bad_arguments",
        )
    return checked


def _written_json(name: str, value: JsonValue) -> JsonValue:
    """The JSON text that a parameter of that kind takes, where its array or object was sent instead."""
    is_meant = name.endswith("_json") and not isinstance(value, str) and isinstance(value, (Sequence, Mapping))
    return json.dumps(value, ensure_ascii=False) if is_meant else value


def _fit(value: JsonValue, schema: JsonObject) -> JsonValue:
    match as_text(schema.get("type")):
        case "string":
            return _fit_text(value, schema)
        case "integer":
            return _within(_fit_whole(value), schema, "minimum", "maximum")
        case "number":
            return _within(_fit_number(value), schema, "minimum", "maximum")
        case "boolean":
            return _fit_flag(value)
        case "array":
            return _fit_list(value, schema)
        case "object":
            return _fit_object(value)
        case _:
            return value


def _fit_text(value: JsonValue, schema: JsonObject) -> str:
    if isinstance(value, bool):
        value = "true" if value else "false"
    elif isinstance(value, (int, float)):
        value = str(value)
    if not isinstance(value, str):
        raise _MismatchError("a text")
    choices = [as_text(choice) for choice in as_list(schema.get("enum"))]
    if not choices or value in choices:
        return value
    alike = [choice for choice in choices if choice.casefold() == value.strip().casefold()]
    if len(alike) != 1:
        raise _MismatchError(f"one of {', '.join(choices)}")
    return alike[0]


def _fit_whole(value: JsonValue) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, str) and _WHOLE.fullmatch(value.strip()):
        return int(value.strip().partition(".")[0])
    raise _MismatchError("a whole number")


def _fit_number(value: JsonValue) -> float:
    number: float | None = None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        number = value
    elif isinstance(value, str):
        try:
            number = float(value)
        except ValueError:
            number = None
    if number is None or not math.isfinite(number):
        raise _MismatchError("a number")
    return number


def _fit_flag(value: JsonValue) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, int) and value in {0, 1}:
        return value == 1
    if isinstance(value, str) and value.strip().casefold() in {"true", "false"}:
        return value.strip().casefold() == "true"
    raise _MismatchError("true or false")


def _fit_list(value: JsonValue, schema: JsonObject) -> Sequence[JsonValue]:
    items = as_object(schema.get("items"))
    if isinstance(value, str) and value.lstrip().startswith("["):
        value = _read_json(value, value)
    if isinstance(value, str) or not isinstance(value, Sequence):
        value = [value]
    fitted: list[JsonValue] = []
    for number, item in enumerate(value, start=1):
        try:
            fitted.append(_fit(item, items))
        except _MismatchError as mismatch:
            raise _MismatchError(f"a list whose entry {number} is {mismatch}") from mismatch
    least, most = schema.get("minItems"), schema.get("maxItems")
    if isinstance(least, int) and isinstance(most, int) and not least <= len(fitted) <= most:
        raise _MismatchError(f"a list of {least} to {most} entries")
    return fitted


def _fit_object(value: JsonValue) -> JsonObject:
    if isinstance(value, str):
        value = _read_json(value, None)
    if not isinstance(value, Mapping):
        raise _MismatchError("an object")
    return value


def _within(number: float, schema: JsonObject, least_key: str, most_key: str) -> int | float:
    least, most = schema.get(least_key), schema.get(most_key)
    if isinstance(least, (int, float)) and isinstance(most, (int, float)) and not least <= number <= most:
        raise _MismatchError(f"between {least} and {most}")
    return number


def _read_json(text: str, otherwise: JsonValue) -> JsonValue:
    try:
        return parse_json(text)
    except ValueError:
        return otherwise


def _unknown(name: str, properties: JsonObject, arguments: JsonObject) -> str:
    """Says that an argument does not exist, and which one may be meant; one that is already given is not meant."""
    free = [known for known in properties if known not in arguments]
    meant = [known for known in free if name.casefold() in _OTHER_NAMES.get(known, ())]
    meant += difflib.get_close_matches(name.casefold(), free, n=1, cutoff=0.6)
    return f"there is no {name!r}" + (f" (did you mean {meant[0]!r}?)" if meant else "")


def _known_arguments(properties: JsonObject, required: Sequence[str]) -> str:
    if not properties:
        return "It takes no arguments"
    parts: list[str] = []
    for name, schema in properties.items():
        kind = as_text(as_object(schema).get("type"))
        parts.append(f"{name} ({kind}{', required' if name in required else ''})")
    return f"It takes {', '.join(parts)}"


def _shown(value: JsonValue) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHOWN_VALUE else f"{text[:_SHOWN_VALUE]}…"
