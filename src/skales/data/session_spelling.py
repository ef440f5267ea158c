"""Each field of a message: how files spell it, what it means, and how we write it; pure.

Files of other programs spell many things in other ways; all of them are read, one is written.
Spec: data-directory.md, "sessions/<id>.json".
"""

import json
import math
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, assert_never, cast

from msgspec import Struct

from skales.core.json import JsonObject, JsonValue, as_list, as_object, as_text, parse_json
from skales.core.message import ContentPart, FilePart, ImagePart, Role, TextPart, Usage
from skales.core.tool import ToolCall

_LATEST_MS = 8_640_000_000_000_000  # the last moment a JavaScript date can hold
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DATA_URL = re.compile(r"data:(image/[\w.+-]+);base64,(.*)", re.DOTALL)
_ROLES = {role.value: role for role in Role}
# Other programs write `reasoning`; it stays under that key.
REASONING, OTHER_REASONING = "reasoning_content", "reasoning"
CONTENT = "content"
_CALL_KEYS = ("id", "type", "function")
_FUNCTION_KEYS = ("name", "arguments")
_USAGE_KEYS = ("input_tokens", "output_tokens", "cached_tokens")


def role_of(raw: JsonValue) -> Role | None:
    """Who speaks in an entry of `messages`; None when it is no message."""
    # Asking for `dict` first is several times as fast, and there are thousands of these.
    role = raw.get("role") if isinstance(raw, (dict, Mapping)) else None
    return _ROLES.get(role) if isinstance(role, str) else None


def read_moment(raw: JsonValue) -> int:
    """Milliseconds since 1970 of a number, digits, or an ISO 8601 text; 0 when unclear. Without a zone it is UTC."""
    if isinstance(raw, str) and not raw.isdecimal():
        try:
            moment = datetime.fromisoformat(raw)
            value = ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH) // timedelta(milliseconds=1)
        except (ValueError, OverflowError):
            return 0
    else:
        value = _read_count(int(raw) if isinstance(raw, str) and len(raw) < len(str(_LATEST_MS)) else raw)
    return value if 0 < value <= _LATEST_MS else 0


def _read_content(raw: JsonValue) -> tuple[ContentPart, ...]:
    text = _own_content(raw)
    if text is not None:
        return text
    return tuple(part for entry in as_list(raw) if (part := _read_part(entry)) is not None)


def _read_part(raw: JsonValue) -> ContentPart | None:
    """Our parts, and the picture and text parts of the OpenAI and Anthropic wire formats, which tools paste in."""
    entry = as_object(raw)
    match entry.get("type"):
        case "text" if text := as_text(entry.get("text")):
            return TextPart(text)
        case "image":
            source = as_object(entry.get("source")) or entry
            media_type, data = as_text(source.get("media_type")), as_text(source.get("data"))
            return ImagePart(media_type, data, as_text(entry.get("name"))) if media_type and data else None
        case "image_url":
            address = as_text(as_object(entry.get("image_url")).get("url"))
            inline = _DATA_URL.fullmatch(address)
            return ImagePart(inline.group(1), inline.group(2)) if inline else None
        case "file":
            return _read_file(entry)
        case _:
            return None


def _read_file(entry: JsonObject) -> FilePart | None:
    """A file with its text. OpenAI's parts of this type name none and stay as they are."""
    name, text = as_text(entry.get("name")), entry.get("text")
    if not name or not isinstance(text, str):
        return None
    media_type, path = as_text(entry.get("media_type")), as_text(entry.get("path"))
    return FilePart(name, media_type, _read_count(entry.get("size_bytes")), text, path)


def read_parts(raw: JsonValue) -> tuple[ContentPart, ...]:
    """The parts of a message that is kept elsewhere than in the history."""
    return _read_content(raw)


def write_parts(parts: tuple[ContentPart, ...]) -> JsonValue:
    """What `read_parts` reads."""
    return [_write_part(part) for part in parts]


def _write_content(content: tuple[ContentPart, ...]) -> JsonValue:
    match content:
        case ():
            return ""
        case (TextPart(text),):
            return text
        case _:
            return [_write_part(part) for part in content]


def _write_part(part: ContentPart) -> JsonObject:
    match part:
        case TextPart(text):
            return {"type": "text", "text": text}
        case ImagePart(media_type, data_base64, name):
            named = {"name": name} if name else {}
            return {"type": "image", "media_type": media_type, "data": data_base64} | named
        case FilePart(name, media_type, size_bytes, text, path):
            kept = {"path": path} if path else {}
            facts = {"name": name, "media_type": media_type, "size_bytes": size_bytes}
            return {"type": "file", **facts, "text": text, **kept}
        case _:
            assert_never(part)


def _read_flag(raw: JsonValue) -> bool:
    return raw is True


def _read_calls(raw: JsonValue) -> tuple[ToolCall, ...]:
    return tuple(call for entry in as_list(raw) if (call := _read_call(entry)) is not None)


def _write_calls(calls: tuple[ToolCall, ...]) -> JsonValue:
    return [_write_call(call) for call in calls]


def _read_call(raw: JsonValue) -> ToolCall | None:
    entry = as_object(raw)
    function = as_object(entry.get("function"))
    name = as_text(function.get("name"))
    if not name:
        return None
    arguments = function.get("arguments")
    if isinstance(arguments, Mapping):
        return ToolCall(as_text(entry.get("id")), name, arguments)
    text = as_text(arguments)
    found, problem = _read_arguments(text)
    return ToolCall(as_text(entry.get("id")), name, found, problem, text)


def _write_call(call: ToolCall) -> JsonObject:
    """The model's own spelling where it says the same: an unchanged history keeps the provider's prompt cache warm."""
    faithful = call.raw and (call.problem or _read_arguments(call.raw) == (call.arguments, ""))
    text = call.raw if faithful else json.dumps(call.arguments, ensure_ascii=False)
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": text}}


def _read_arguments(text: str) -> tuple[JsonObject, str]:
    """Arguments, and what is wrong with them in words for the model."""
    if not text.strip():
        return {}, ""
    try:
        value = parse_json(text)
    except ValueError as error:
        return {}, f"The arguments are not valid JSON: {error}"
    return (value, "") if isinstance(value, Mapping) else ({}, "The arguments are not a JSON object")


def _read_usage(raw: JsonValue) -> Usage | None:
    if not isinstance(raw, Mapping):
        return None
    return Usage(*(_read_count(raw.get(key)) for key in _USAGE_KEYS))


def _write_usage(usage: Usage) -> JsonValue:
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cached_tokens": usage.cached_tokens,
    }


def _read_count(raw: JsonValue) -> int:
    """A whole number; 0 for anything else, `1e999` and `NaN` included."""
    match raw:
        case bool():
            return 0
        case int():
            return raw
        case float() if math.isfinite(raw):
            return int(raw)
        case _:
            return 0


def _own_content(raw: JsonValue) -> tuple[ContentPart, ...] | None:
    if type(raw) is not str:
        return None
    return (TextPart(raw),) if raw else ()


def _own_text(raw: JsonValue) -> str | None:
    return raw if type(raw) is str and raw else None


def _own_moment(raw: JsonValue) -> int | None:
    return raw if type(raw) is int and 0 < raw <= _LATEST_MS else None


def _own_count(raw: JsonValue) -> int | None:
    return raw if type(raw) is int and raw else None


def _own_flag(raw: JsonValue) -> bool | None:
    return True if raw is True else None


def _own_object(raw: JsonValue) -> JsonObject | None:
    return raw if type(raw) is dict and raw else None


def _own_calls(raw: JsonValue) -> tuple[ToolCall, ...] | None:
    if type(raw) is not list or not raw:
        return None
    calls = [_own_call(entry) for entry in raw]
    return None if None in calls else tuple(cast("list[ToolCall]", calls))


def _own_call(raw: JsonValue) -> ToolCall | None:
    if type(raw) is not dict or tuple(raw) != _CALL_KEYS or raw["type"] != "function":
        return None
    function = raw["function"]
    if type(function) is not dict or tuple(function) != _FUNCTION_KEYS:
        return None
    call_id, name, text = raw["id"], function["name"], function["arguments"]
    if type(call_id) is not str or type(name) is not str or type(text) is not str or not (name and text):
        return None
    return ToolCall(call_id, name, *_read_arguments(text), text)


def _own_usage(raw: JsonValue) -> Usage | None:
    if type(raw) is not dict or tuple(raw) != _USAGE_KEYS:
        return None
    given, written, cached = raw.values()
    if type(given) is not int or type(written) is not int or type(cached) is not int:
        return None
    return Usage(given, written, cached)


class _Spelling(Struct, frozen=True):
    """How one key of an entry becomes one attribute of a Message, and back.

    `recognise` is `read` for values that `write` would spell just so, and None for any other. Without it every message
    is written again to find out, which takes most of the time that a long conversation needs to open.
    """

    name: str
    read: Callable[[JsonValue], Any]
    write: Callable[[Any], JsonValue]
    recognise: Callable[[JsonValue], Any]


def _as_is(value: JsonValue) -> JsonValue:
    return value


# Both spellings of the reasoning fill the same attribute; the last one in this order wins, and is the one we write.
FIELDS = {
    CONTENT: _Spelling("content", _read_content, _write_content, _own_content),
    "timestamp": _Spelling("timestamp_ms", read_moment, _as_is, _own_moment),
    "tool_calls": _Spelling("tool_calls", _read_calls, _write_calls, _own_calls),
    "tool_call_id": _Spelling("tool_call_id", as_text, _as_is, _own_text),
    "name": _Spelling("name", as_text, _as_is, _own_text),
    "is_error": _Spelling("is_error", _read_flag, _as_is, _own_flag),
    OTHER_REASONING: _Spelling("reasoning", as_text, _as_is, _own_text),
    REASONING: _Spelling("reasoning", as_text, _as_is, _own_text),
    "provider": _Spelling("provider", as_text, _as_is, _own_text),
    "model": _Spelling("model", as_text, _as_is, _own_text),
    "incomplete": _Spelling("incomplete", as_text, _as_is, _own_text),
    "usage": _Spelling("usage", _read_usage, _write_usage, _own_usage),
    "duration_ms": _Spelling("duration_ms", _read_count, _as_is, _own_count),
    "native": _Spelling("native", as_object, _as_is, _own_object),
}
OUR_FIELDS = {key: spelled for key, spelled in FIELDS.items() if key != OTHER_REASONING}
