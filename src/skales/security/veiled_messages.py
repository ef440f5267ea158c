"""Messages, calls and results without their secrets. Pictures and files as they are stay: nobody can mask those."""

from dataclasses import replace
from typing import assert_never

from skales.core.approval import Approval
from skales.core.json import JsonObject, JsonValue, as_list, as_object, as_text
from skales.core.message import ContentPart, FilePart, ImagePart, Message, TextPart
from skales.core.tool import ToolCall, ToolResult
from skales.security.veil import Veil

_SUMMARY_LIMIT = 200
# What a format wants back unchanged, to the letter, or not at all.
_SIGNED = ("thinking", "redacted_thinking", "reasoning")


def veil_message(veil: Veil, message: Message) -> Message:
    """The message with a marker for every secret in it; the very same when there is none."""
    content = tuple(veil_part(veil, part) for part in message.content)
    calls = tuple(veil_call(veil, call) for call in message.tool_calls)
    reasoning, extra = veil.text(message.reasoning), veil.fields(message.extra)
    native = _veil_native(veil, message.native)
    stood = (message.content, message.tool_calls, message.reasoning, message.native, message.extra)
    if (content, calls, reasoning, native, extra) == stood:
        return message
    return replace(message, content=content, tool_calls=calls, reasoning=reasoning, native=native, extra=extra)


def veil_part(veil: Veil, part: ContentPart) -> ContentPart:
    """A part of a message."""
    match part:
        case TextPart(text):
            shown = veil.text(text)
            return part if shown == text else TextPart(shown)
        case ImagePart():
            return replace(part, name=veil.text(part.name))
        case FilePart():
            return replace(part, name=veil.text(part.name), text=veil.text(part.text))
        case _:
            assert_never(part)


def veil_call(veil: Veil, call: ToolCall) -> ToolCall:
    """A call as it may be kept and shown, not as it may run; the very same when it holds no secret."""
    arguments, raw, problem = veil.fields(call.arguments), veil.text(call.raw), veil.text(call.problem)
    if (arguments, raw, problem) == (call.arguments, call.raw, call.problem):
        return call
    return replace(call, arguments=arguments, raw=raw, problem=problem)


def veil_result(veil: Veil, result: ToolResult) -> ToolResult:
    """What came of a call; the very same when it holds no secret."""
    text, summary, data = veil.text(result.text), veil.text(result.summary)[:_SUMMARY_LIMIT], veil.value(result.data)
    if (text, summary, data) == (result.text, result.summary, result.data):
        return result
    return replace(result, text=text, summary=summary, data=data)


def veil_approval(veil: Veil, approval: Approval) -> Approval:
    """A question as it may be kept and shown."""
    return replace(
        approval,
        args=veil.fields(approval.args),
        action=veil.text(approval.action),
        reason=veil.text(approval.reason),
        covers=veil.text(approval.covers),
        options=tuple(map(veil.text, approval.options)),
        preview=veil.text(approval.preview),
    )


def _veil_native(veil: Veil, native: JsonObject) -> JsonObject:
    """A format's own form of an answer. When what it signed holds a secret it cannot be kept at all."""
    if not native:
        return native
    veiled = veil.fields(native)
    before, after = as_list(native.get("blocks")), as_list(veiled.get("blocks"))
    is_broken = any(_is_signed(old) and old != new for old, new in zip(before, after, strict=True))
    return {} if is_broken else veiled


def _is_signed(block: JsonValue) -> bool:
    entry = as_object(block)
    return as_text(entry.get("type")) in _SIGNED or entry.get("thought") is True
