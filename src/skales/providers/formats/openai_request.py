"""Builds requests in the format of OpenAI's chat completions from our messages and tools.

Spec: orchestrator.md, "Tool-call hardening"; providers.md, "Quirks" (as named fields of the catalogue).
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import assert_never

from skales.core.json import JsonObject, JsonValue, as_list, as_object, as_text
from skales.core.message import ContentPart, FilePart, ImagePart, Message, Role, TextPart
from skales.core.ports import ChatRequest
from skales.core.tool import ToolCall, ToolSpec
from skales.providers.catalog import ProviderEntry
from skales.providers.formats.documents import concede_documents, describe_file, settle_documents
from skales.providers.formats.openai_functions import (
    BARE_ARRAY,
    ITEMS,
    NOT_TAKEN,
    build_arguments,
    build_functions,
    is_strict,
)
from skales.providers.formats.turns import NO_WORDS, place_roles, spell_data, spell_files
from skales.providers.quirks import bridge_results, find_tool_turns, shorten_call_ids
from skales.providers.toolnames import to_wire_name

# Fields that an endpoint may refuse without making the request useless.
_OPTIONAL = ("stream_options", "temperature", "max_tokens", "max_completion_tokens", "response_format")
_OTHER_LIMIT = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}


def build_body(entry: ProviderEntry, request: ChatRequest, conceded: frozenset[str]) -> JsonObject:
    """The JSON body of one request. `conceded` names fields this endpoint has refused before."""
    body: dict[str, JsonValue] = {
        "model": request.model,
        "messages": _build_messages(settle_documents(request.messages, conceded), entry),
        "stream": True,
    }
    if entry.asks_usage and "stream_options" not in conceded:
        body["stream_options"] = {"include_usage": True}
    if request.tools:
        body["tools"] = _build_tools(request.tools, fills_items=ITEMS in conceded)
    if request.temperature is not None and "temperature" not in conceded:
        body["temperature"] = request.temperature
    if request.max_output_tokens:
        limit: str = entry.output_limit
        if limit in conceded:
            limit = _OTHER_LIMIT[limit]
        if limit not in conceded:
            body[limit] = request.max_output_tokens
    if request.answer_schema is not None:
        body.update(_ask_for_json(entry, request, request.answer_schema, conceded))
    return body


def concede(body: JsonObject, refusal: str) -> str:
    """What of the body a refusal does not take: an optional field, documents; empty when it is about anything else."""
    if "tools" in body and BARE_ARRAY.search(refusal):
        return ITEMS
    refused = (name for name in _OPTIONAL if name in body and name in refusal)
    optional = next(refused, "") if NOT_TAKEN.search(refusal) else ""
    return optional or concede_documents(_sent_documents(body), refusal)


# --- messages ---


def _build_messages(messages: Sequence[Message], entry: ProviderEntry) -> list[JsonValue]:
    """Our messages as theirs, bent to what the vendor demands."""
    messages = _move_pictures(spell_files(place_roles(messages)))
    if entry.bridges_results:
        messages = bridge_results(messages)
    if entry.short_call_ids:
        messages = shorten_call_ids(messages)
    thinking = find_tool_turns(messages) if entry.reasoning_back else frozenset[int]()
    return [_build_message(message, with_reasoning=index in thinking) for index, message in enumerate(messages)]


def _move_pictures(messages: Sequence[Message]) -> Sequence[Message]:
    """Pictures in results into a user message after the last result, since tool messages hold text only."""
    moved: list[Message] = []
    pictures: list[ContentPart] = []
    for message in messages:
        if message.role is not Role.TOOL and pictures:
            moved.append(Message(role=Role.USER, content=tuple(pictures)))
            pictures = []
        moved.append(message)
        if message.role is Role.TOOL:
            pictures.extend(_name_pictures(message))
    if pictures:
        moved.append(Message(role=Role.USER, content=tuple(pictures)))
    return moved


def _name_pictures(message: Message) -> Iterator[ContentPart]:
    pictures = [part for part in message.content if isinstance(part, ImagePart)]
    if pictures:
        yield TextPart(f"Pictures from the result of {message.name or message.tool_call_id}:")
        yield from pictures


def _build_message(message: Message, *, with_reasoning: bool) -> JsonObject:
    match message.role:
        case Role.SYSTEM:
            return {"role": "system", "content": message.text}
        case Role.USER:
            return {"role": "user", "content": _build_content(message)}
        case Role.ASSISTANT:
            return _build_answer(message, with_reasoning=with_reasoning)
        case Role.TOOL:
            return _build_result(message)
        case _:
            assert_never(message.role)


def _build_content(message: Message) -> JsonValue:
    """A string when there is only text, which every endpoint takes; else a list of parts."""
    if all(isinstance(part, TextPart) for part in message.content):
        return message.text
    return [built for part in message.content for built in _build_part(part)]


def _build_part(part: ContentPart) -> Iterator[JsonObject]:
    match part:
        case TextPart(text):
            yield {"type": "text", "text": text}
        case ImagePart():
            yield {"type": "image_url", "image_url": {"url": spell_data(part)}}
        case FilePart():
            # Files without bytes are spelled as text before.
            yield {"type": "text", "text": describe_file(part)}
            yield {"type": "file", "file": {"filename": part.name, "file_data": spell_data(part)}}
        case _:
            assert_never(part)


def _sent_documents(body: JsonObject) -> Iterator[str]:
    for message in map(as_object, as_list(body.get("messages"))):
        for part in map(as_object, as_list(message.get("content"))):
            yield as_text(as_object(part.get("file")).get("file_data")).partition(",")[2]


def _build_answer(message: Message, *, with_reasoning: bool) -> JsonObject:
    answer: dict[str, JsonValue] = {"role": "assistant", "content": message.text or NO_WORDS}
    if message.tool_calls:
        answer["content"] = message.text or None
        answer["tool_calls"] = [_build_call(call) for call in message.tool_calls]
    if with_reasoning:
        # Also when empty: the field itself is demanded.
        answer["reasoning_content"] = message.reasoning
    return answer


def _build_call(call: ToolCall) -> JsonObject:
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": to_wire_name(call.name), "arguments": build_arguments(call)},
    }


def _build_result(message: Message) -> JsonObject:
    text = message.text or "(no output)"
    if message.is_error and not text.lower().startswith("error"):
        text = f"Error: {text}"
    return {"role": "tool", "tool_call_id": message.tool_call_id, "content": text}


# --- tools and answers of a given shape ---


def _build_tools(tools: Sequence[ToolSpec], *, fills_items: bool) -> list[JsonValue]:
    return [{"type": "function", "function": function} for function in build_functions(tools, fills_items=fills_items)]


def _ask_for_json(
    entry: ProviderEntry, request: ChatRequest, schema: JsonObject, conceded: frozenset[str]
) -> Mapping[str, JsonValue]:
    """Fields that ask for JSON of a schema: by the endpoint's own means, else in words."""
    if entry.answer_schema == "schema" and "response_format" not in conceded:
        wanted: JsonObject = {"name": "answer", "schema": schema, "strict": is_strict(schema)}
        return {"response_format": {"type": "json_schema", "json_schema": wanted}}
    words = (
        f"Answer with nothing but one JSON object that fits this JSON Schema: {json.dumps(schema, ensure_ascii=False)}"
    )
    messages = _add_to_system(settle_documents(request.messages, conceded), words)
    fields: dict[str, JsonValue] = {"messages": _build_messages(messages, entry)}
    if "response_format" not in conceded:
        fields["response_format"] = {"type": "json_object"}
    return fields


def _add_to_system(messages: Sequence[Message], words: str) -> Sequence[Message]:
    """Further words in the first message; many chat templates take no system message later on."""
    if messages and messages[0].role is Role.SYSTEM:
        first = replace(messages[0], content=(TextPart(f"{messages[0].text}\n\n{words}"),))
        return (first, *messages[1:])
    return (Message(role=Role.SYSTEM, content=(TextPart(words),)), *messages)
