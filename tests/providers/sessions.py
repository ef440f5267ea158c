"""Reads the session files of the cases, so that this room's tests need no other room."""

from skales.core.json import JsonObject, JsonValue, as_list, as_object, as_text, parse_json
from skales.core.message import Message, Role, TextPart
from skales.core.tool import ToolCall


def read_session(session: JsonValue) -> list[Message]:
    return [_read_message(as_object(message)) for message in as_list(as_object(session).get("messages"))]


def _read_message(stored: JsonObject) -> Message:
    text = as_text(stored.get("content"))
    return Message(
        role=Role(as_text(stored.get("role"))),
        content=(TextPart(text),) if text else (),
        tool_calls=tuple(_read_call(as_object(call)) for call in as_list(stored.get("tool_calls"))),
        tool_call_id=as_text(stored.get("tool_call_id")),
        name=as_text(stored.get("name")),
        reasoning=as_text(stored.get("reasoning_content")),
    )


def _read_call(stored: JsonObject) -> ToolCall:
    function = as_object(stored.get("function"))
    raw = as_text(function.get("arguments"))
    return ToolCall(as_text(stored.get("id")), as_text(function.get("name")), as_object(parse_json(raw)), raw=raw)
