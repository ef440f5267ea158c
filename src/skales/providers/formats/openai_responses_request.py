"""Builds requests in the format of OpenAI's Responses from our messages and tools. Nothing is stored at the vendor.

Spec: https://platform.openai.com/docs/api-reference/responses/create
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import assert_never

from skales.core.json import JsonObject, JsonValue, as_list, as_object, as_text
from skales.core.message import ContentPart, FilePart, ImagePart, Message, Role, TextPart
from skales.core.ports import ChatRequest
from skales.core.tool import ToolCall
from skales.providers.formats.documents import concede_documents, describe_file, settle_documents
from skales.providers.formats.openai_functions import (
    BARE_ARRAY,
    ITEMS,
    NOT_TAKEN,
    build_arguments,
    build_functions,
    is_strict,
)
from skales.providers.formats.openai_responses_stream import FORMAT
from skales.providers.formats.schemas import ask_in_words
from skales.providers.formats.turns import NO_WORDS, build_turns, spell_data, spell_file, split_system
from skales.providers.toolnames import to_wire_name

# ChatGPT refuses a request without any.
_PLAIN_INSTRUCTIONS = "Answer the user."
_LEAST_OUTPUT_TOKENS = 16
_ENCRYPTED = "reasoning.encrypted_content"
# Fields that an endpoint may refuse without making the request useless.
_OPTIONAL = {
    "temperature": re.compile(r"\btemperature\b"),
    "max_output_tokens": re.compile(r"\bmax_output_tokens\b"),
    "include": re.compile(r"\binclude\b|encrypted[_ ]content", re.IGNORECASE),
    "reasoning": re.compile(r"\breasoning\b(?!\.encrypted)"),
    "text": re.compile(r"\btext\b|response_format|json_schema"),
}
# Thinking is bound to the account and the model that wrote it.
_UNREADABLE = re.compile(r"encrypted[_ ]content|reasoning['\"` ]+.{0,60}(?:without|required following)", re.IGNORECASE)


def build_body(request: ChatRequest, conceded: frozenset[str]) -> JsonObject:
    """The JSON body of one request. `conceded` names what this endpoint has refused before."""
    instructions, messages = split_system(settle_documents(request.messages, conceded))
    body: dict[str, JsonValue] = {"model": request.model, "stream": True, "store": False}
    if request.answer_schema is not None and "text" not in conceded:
        body["text"] = {"format": _build_format(request.answer_schema)}
    elif request.answer_schema is not None:
        instructions = "\n\n".join(filter(None, [instructions, ask_in_words(request.answer_schema)]))
    body["instructions"] = instructions or _PLAIN_INSTRUCTIONS
    items = [item for turn in build_turns(messages) for message in turn.messages for item in _build_items(message)]
    body["input"] = _without_thinking(items) if _name_thinking(items) in conceded else items
    if request.tools:
        functions = build_functions(request.tools, fills_items=ITEMS in conceded)
        body["tools"] = [{"type": "function", **function, "strict": False} for function in functions]
    optional: JsonObject = {
        "temperature": request.temperature,
        "max_output_tokens": max(request.max_output_tokens, _LEAST_OUTPUT_TOKENS)
        if request.max_output_tokens
        else None,
        "include": [_ENCRYPTED],
        "reasoning": {"summary": "auto"},
    }
    return body | {name: value for name, value in optional.items() if value is not None and name not in conceded}


def concede(body: JsonObject, refusal: str) -> str:
    """What a refusal does not take: an optional field, thinking, documents; empty when it is about anything else."""
    if "tools" in body and BARE_ARRAY.search(refusal):
        return ITEMS
    if (thinking := _name_thinking(as_list(body.get("input")))) and _UNREADABLE.search(refusal):
        return thinking
    refused = (name for name, words in _OPTIONAL.items() if name in body and words.search(refusal))
    optional = next(refused, "") if NOT_TAKEN.search(refusal) else ""
    return optional or concede_documents(_sent_documents(body), refusal)


def _build_format(schema: JsonObject) -> JsonObject:
    return {"type": "json_schema", "name": "answer", "schema": schema, "strict": is_strict(schema)}


# --- items ---


def _build_items(message: Message) -> Iterator[JsonObject]:
    match message.role:
        case Role.USER | Role.SYSTEM:
            yield {"type": "message", "role": "user", "content": list(_build_parts(message))}
        case Role.ASSISTANT:
            yield from _native_items(message) or _build_answer(message)
        case Role.TOOL:
            yield _build_output(message)
        case _:
            assert_never(message.role)


def _build_parts(message: Message) -> Iterator[JsonObject]:
    for part in message.content:
        yield from _build_part(part)


def _build_part(part: ContentPart) -> Iterator[JsonObject]:
    match part:
        case TextPart(text):
            yield {"type": "input_text", "text": text}
        case ImagePart():
            yield {"type": "input_image", "image_url": spell_data(part), "detail": "auto"}
        case FilePart() if part.data_base64:
            yield {"type": "input_text", "text": describe_file(part)}
            yield {"type": "input_file", "filename": part.name, "file_data": spell_data(part)}
        case FilePart():
            yield {"type": "input_text", "text": spell_file(part)}
        case _:
            assert_never(part)


def _native_items(message: Message) -> list[JsonObject]:
    """The items as they came, thinking and all; none when they are another format's or do not fit the calls.

    Calls may have got other ids since, together with their results.
    """
    if message.native.get("format") != FORMAT:
        return []
    items = [as_object(item) for item in as_list(message.native.get("blocks"))]
    calls = iter(message.tool_calls)
    if sum(item.get("type") == "function_call" for item in items) != len(message.tool_calls):
        return []
    return [_build_call(next(calls)) if item.get("type") == "function_call" else item for item in items]


def _build_answer(message: Message) -> Iterator[JsonObject]:
    if message.text.strip():
        yield {"type": "message", "role": "assistant", "content": message.text}
    elif not message.tool_calls:
        yield {"type": "message", "role": "assistant", "content": NO_WORDS}
    yield from map(_build_call, message.tool_calls)


def _build_call(call: ToolCall) -> JsonObject:
    # Ids of other vendors may be longer than is taken; the rule for them is that of names.
    return {
        "type": "function_call",
        "call_id": to_wire_name(call.id),
        "name": to_wire_name(call.name),
        "arguments": build_arguments(call),
    }


def _build_output(message: Message) -> JsonObject:
    """A result; with pictures it is a list of parts."""
    text = message.text or "(no output)"
    if message.is_error and not text.lower().startswith("error"):
        text = f"Error: {text}"
    pictures = [built for part in message.content if isinstance(part, ImagePart) for built in _build_part(part)]
    output: JsonValue = [{"type": "input_text", "text": text}, *pictures] if pictures else text
    return {"type": "function_call_output", "call_id": to_wire_name(message.tool_call_id), "output": output}


def _name_thinking(items: Sequence[JsonValue]) -> str:
    """What is conceded for the conversation whose first thinking this is; empty when none goes back."""
    thoughts = (as_text(as_object(item).get("encrypted_content")) for item in items)
    first = next(filter(None, thoughts), "")
    return f"thinking {hashlib.sha256(first.encode('utf-8', 'replace')).hexdigest()[:32]}" if first else ""


def _without_thinking(items: Sequence[JsonObject]) -> list[JsonValue]:
    return [item for item in items if item.get("type") != "reasoning"]


def _sent_documents(body: JsonObject) -> Iterator[str]:
    for item in map(as_object, as_list(body.get("input"))):
        for part in map(as_object, as_list(item.get("content"))):
            yield as_text(part.get("file_data")).partition(",")[2]
