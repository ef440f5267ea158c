"""A session as its file spells it and as the program sees it; pure, no disk.

What a file says survives: unknown keys go to `extra`, and so does the raw form of a known key that we would write
differently (a list for one text, `null` for none); it is written back as long as it still means what the message says.
Spec: data-directory.md, "sessions/<id>.json".
"""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from skales.core.ids import SessionId
from skales.core.json import JsonObject, JsonValue, as_list, as_object, as_text, parse_json
from skales.core.message import ContentPart, ImagePart, Message, Role, TextPart, Usage
from skales.core.tool import ToolCall

_TITLE_CHARACTERS = 60
_LATEST_MS = 8_640_000_000_000_000  # the last moment a JavaScript date can hold
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_OWN_ID = re.compile(r"session_([0-9]{12,14})")
_DATA_URL = re.compile(r"data:(image/[\w.+-]+);base64,(.*)", re.DOTALL)
_ROLES = {role.value: role for role in Role}
# Other programs write `reasoning`; it stays under that key.
_REASONING, _OTHER_REASONING = "reasoning_content", "reasoning"
_SESSION_KEYS = {"id", "title", "provider", "model", "agentId", "createdAt", "updatedAt", "messages", "queued"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One conversation. `messages` leaves out entries of the file that are no messages; the file keeps them.

    `queued` are texts the person sent while a turn ran. `extra` holds keys of the file that we do not know.
    """

    id: SessionId
    title: str
    provider: str
    model: str
    agent_id: str
    created_ms: int
    updated_ms: int
    messages: tuple[Message, ...] = ()
    queued: tuple[str, ...] = ()
    extra: Mapping[str, JsonValue] = field(default_factory=dict)

    @property
    def answered_by(self) -> tuple[str, str]:
        """Provider and model chosen for this conversation, else those that wrote its last answer, for showing."""
        if self.provider:
            return self.provider, self.model
        writers = ((message.provider, message.model) for message in reversed(self.messages) if message.provider)
        return next(writers, ("", self.model))


def check_session(raw: JsonObject) -> None:
    """Raises ValueError with the reason when an object cannot be a session."""
    if not isinstance(raw.get("messages", []), (list, type(None))):
        raise ValueError("`messages` is not a list")  # noqa: TRY004 - the document's reader expects ValueError


def session_from_disk(session_id: SessionId, raw: JsonObject, *, mtime_ms: int) -> Session:
    """The session of a file. Missing times come from the messages, then from the id, then from the file's own."""
    messages = messages_from_disk(raw.get("messages"))
    times = [message.timestamp_ms for message in messages if message.timestamp_ms]
    own = _OWN_ID.fullmatch(session_id)
    title = as_text(raw.get("title"))
    return Session(
        id=session_id,
        title=title if title.strip() else default_title(messages),
        provider=as_text(raw.get("provider")),
        model=as_text(raw.get("model")),
        agent_id=as_text(raw.get("agentId")),
        created_ms=read_moment(raw.get("createdAt")) or (times[0] if times else int(own.group(1)) if own else mtime_ms),
        updated_ms=read_moment(raw.get("updatedAt")) or (times[-1] if times else mtime_ms),
        messages=messages,
        queued=tuple(text for text in as_list(raw.get("queued")) if isinstance(text, str)),
        extra={key: value for key, value in raw.items() if key not in _SESSION_KEYS},
    )


def new_session_to_disk(session: Session) -> dict[str, JsonValue]:
    """The first content of a session's file; `agentId` and `queued` only when there is something to say."""
    raw: dict[str, JsonValue] = {
        "id": session.id,
        "title": session.title,
        "provider": session.provider,
        "model": session.model,
        "createdAt": session.created_ms,
        "updatedAt": session.updated_ms,
        "messages": [message_to_disk(message) for message in session.messages],
    }
    if session.agent_id:
        raw["agentId"] = session.agent_id
    if session.queued:
        raw["queued"] = list(session.queued)
    return raw | dict(session.extra)


def messages_from_disk(raw: JsonValue) -> tuple[Message, ...]:
    """The entries that are messages, in order; anything else in the list is passed over."""
    return tuple(message for entry in as_list(raw) if (message := message_from_disk(entry)) is not None)


def message_from_disk(raw: JsonValue) -> Message | None:
    """One entry of `messages`, None when it is no object or its role is not one of ours."""
    entry = as_object(raw)
    role = _ROLES.get(as_text(entry.get("role")))
    if role is None:
        return None
    message = _read(role, entry)
    ours = _write(message)
    two_reasonings = _REASONING in entry and _OTHER_REASONING in entry
    extra = {
        key: value
        for key, value in entry.items()
        if key not in ours or not _is_same(ours[key], value) or (key == _REASONING and two_reasonings)
    }
    return replace(message, extra=extra) if extra else message


def message_to_disk(message: Message) -> dict[str, JsonValue]:
    """One entry of `messages`, with everything `message_from_disk` put into `extra`."""
    written = _write(message)
    kept = _read(message.role, message.extra)
    both = _REASONING in message.extra and _OTHER_REASONING in message.extra
    if _OTHER_REASONING in message.extra and not both and kept.reasoning == message.reasoning:
        written.pop(_REASONING, None)
    for key, value in message.extra.items():
        known = None if both and key == _OTHER_REASONING else _FIELDS.get(key)
        if known is None or getattr(kept, known.name) == getattr(message, known.name):
            written[key] = value
    return written


def default_title(messages: Sequence[Message]) -> str:
    """The first line of the first thing the user wrote, at most 60 characters, cut at a word."""
    for message in messages:
        if message.role is Role.USER and message.text.strip():
            line = " ".join(message.text.strip().splitlines()[0].split())
            if len(line) <= _TITLE_CHARACTERS:
                return line
            head = line[:_TITLE_CHARACTERS]
            whole_words = head.rpartition(" ")[0] or head[:-1]
            return whole_words.rstrip(" ,;:.-") + "…"
    return ""


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


def _read(role: Role, entry: JsonObject) -> Message:
    said = {spelled.name: spelled.read(entry[key]) for key, spelled in _FIELDS.items() if key in entry}
    return Message(role=role, **said)


def _write(message: Message) -> dict[str, JsonValue]:
    """The fields as we spell them, without `extra`; `content` always, others only when they say something."""
    written: dict[str, JsonValue] = {"role": message.role.value, "content": _write_content(message.content)}
    for key, spelled in _WRITTEN_FIELDS.items():
        value = getattr(message, spelled.name)
        if value:
            written[key] = spelled.write(value)
    return written


def _is_same(ours: JsonValue, theirs: JsonValue) -> bool:
    """Equal also in type and order of keys, so that nothing is respelled: 1 is not true, 1.0 is not 1."""
    if ours is theirs:
        return True
    return type(ours) is type(theirs) and repr(ours) == repr(theirs)


def _read_content(raw: JsonValue) -> tuple[ContentPart, ...]:
    if isinstance(raw, str):
        return (TextPart(raw),) if raw else ()
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
        case _:
            return None


def _write_content(content: tuple[ContentPart, ...]) -> JsonValue:
    match content:
        case ():
            return ""
        case (TextPart(text),):
            return text
        case _:
            return [_write_part(part) for part in content]


def _write_part(part: ContentPart) -> JsonObject:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    named = {"name": part.name} if part.name else {}
    return {"type": "image", "media_type": part.media_type, "data": part.data_base64} | named


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
    return Usage(*(_read_count(raw.get(key)) for key in ("input_tokens", "output_tokens", "cached_tokens")))


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


@dataclass(frozen=True, slots=True)
class _Spelling:
    """How one key of an entry becomes one attribute of a Message, and back."""

    name: str
    read: Callable[[JsonValue], Any]
    write: Callable[[Any], JsonValue]


def _as_is(value: JsonValue) -> JsonValue:
    return value


# Both spellings of the reasoning fill the same attribute; the last one in this order wins, and is the one we write.
_FIELDS = {
    "content": _Spelling("content", _read_content, _write_content),
    "timestamp": _Spelling("timestamp_ms", read_moment, _as_is),
    "tool_calls": _Spelling("tool_calls", _read_calls, _write_calls),
    "tool_call_id": _Spelling("tool_call_id", as_text, _as_is),
    "name": _Spelling("name", as_text, _as_is),
    "is_error": _Spelling("is_error", _read_flag, _as_is),
    _OTHER_REASONING: _Spelling("reasoning", as_text, _as_is),
    _REASONING: _Spelling("reasoning", as_text, _as_is),
    "provider": _Spelling("provider", as_text, _as_is),
    "model": _Spelling("model", as_text, _as_is),
    "incomplete": _Spelling("incomplete", as_text, _as_is),
    "usage": _Spelling("usage", _read_usage, _write_usage),
    "duration_ms": _Spelling("duration_ms", _read_count, _as_is),
    "native": _Spelling("native", as_object, _as_is),
}
_WRITTEN_FIELDS = {key: spelled for key, spelled in _FIELDS.items() if key not in ("content", _OTHER_REASONING)}
