"""Builds requests in the format of Anthropic's Messages API from our messages and tools.

Spec: orchestrator.md, "Tool-call hardening"; https://platform.claude.com/docs/en/api/messages
"""

import re
from collections.abc import Iterator, Sequence
from typing import assert_never

from skales.core.json import JsonObject, JsonValue, as_list, as_object, as_text
from skales.core.message import ContentPart, FilePart, ImagePart, Message, Role, TextPart
from skales.core.ports import ChatRequest
from skales.core.tool import ToolCall, ToolSpec
from skales.providers.catalog import ProviderEntry
from skales.providers.formats.anthropic_stream import FORMAT
from skales.providers.formats.documents import concede_documents, describe_file, is_text_file, settle_documents
from skales.providers.formats.schema_repair import make_valid
from skales.providers.formats.schemas import (
    ANTHROPIC_ANSWER,
    NotExpressibleError,
    ask_in_words,
    reduce_answer_schema,
)
from skales.providers.formats.turns import NO_WORDS, Turn, build_turns, spell_file, split_system
from skales.providers.toolnames import to_wire_name

# For models that the catalogue does not know; an older one names its own limit when it refuses.
_USUAL_OUTPUT_TOKENS = 32_000
_PICTURES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
_CACHED: JsonObject = {"type": "ephemeral"}
# Anthropic looks back from a marker for what it has cached; the end of the request before this one is the second.
_MARKED_TURNS = 2

_OPTIONAL = {
    "temperature": re.compile("temperature"),
    "output_config": re.compile(r"output_config|(?<!input_)schema", re.IGNORECASE),
    "thinking": re.compile("thinking"),
}
_NOT_TAKEN = re.compile(
    r"not (?:supported|permitted|allowed|available)|unsupported|does not support|deprecated|unexpected|cannot be"
    r"|may only|only .{0,30}(?:allowed|supported)|invalid schema|too complex",
    re.IGNORECASE,
)
# Newer models bind thinking to all that stood before it, tools and system words too, which may have changed since:
# https://platform.claude.com/docs/en/build-with-claude/preserved-thinking
_UNREADABLE = re.compile(
    r"signature\W+in\W+thinking|thinking\W+block.{0,40}(?:bound|cannot be modified)", re.IGNORECASE
)
_THOUGHTS = frozenset({"thinking", "redacted_thinking"})
_TITLE_CHARACTERS = 500
_TOO_MANY = re.compile(r"max_tokens:? \d+ ?> ?(\d+)")


def build_body(entry: ProviderEntry, request: ChatRequest, conceded: frozenset[str]) -> JsonObject:
    """The JSON body of one request. `conceded` names fields this endpoint has refused before."""
    system, messages = split_system(settle_documents(request.messages, conceded, with_texts=True))
    body: dict[str, JsonValue] = {
        "model": request.model,
        "max_tokens": _output_limit(entry, request, conceded),
        "stream": True,
    }
    if request.temperature is not None and "temperature" not in conceded:
        # Other vendors go up to 2, this one to 1.
        body["temperature"] = min(request.temperature, 1.0)
    if request.model in entry.summarizes_thinking and "thinking" not in conceded:
        body["thinking"] = {"type": "adaptive", "display": "summarized"}
    if request.answer_schema is not None:
        wanted = None if "output_config" in conceded else _reduce(request.answer_schema)
        if wanted is not None:
            body["output_config"] = {"format": {"type": "json_schema", "schema": wanted}}
        else:
            system = "\n\n".join(filter(None, [system, ask_in_words(request.answer_schema)]))
    tools = _build_tools(request)
    if system:
        body["system"] = [{"type": "text", "text": system, "cache_control": _CACHED}]
    elif tools:
        tools[-1] = {**tools[-1], "cache_control": _CACHED}
    if tools:
        body["tools"] = tools
    if tools and not request.tools:
        body["tool_choice"] = {"type": "none"}
    turns = _build_messages(messages)
    seal = _find_seal(turns)
    body["messages"] = list(map(_without_thinking, turns)) if f"seal {seal}" in conceded else turns
    return body


def concede(body: JsonObject, refusal: str) -> str:
    """What a refusal is about: an optional field, a limit, thinking that is valid no more, documents; empty for none.

    Thinking is given up for one conversation, which its first seal names.
    """
    seal = _find_seal(as_list(body.get("messages")))
    if seal and _UNREADABLE.search(refusal):
        return f"seal {seal}"
    limit = _TOO_MANY.search(refusal)
    if limit and 0 < int(limit.group(1)) < int(str(body["max_tokens"])):
        return f"max_tokens {body['model']} {limit.group(1)}"
    refused = (name for name, words in _OPTIONAL.items() if name in body and words.search(refusal))
    optional = next(refused, "") if _NOT_TAKEN.search(refusal) else ""
    return optional or concede_documents(_sent_documents(body), refusal)


def _output_limit(entry: ProviderEntry, request: ChatRequest, conceded: frozenset[str]) -> int:
    """The limit, which this format demands: the caller's wish, else all that the model can."""
    known = entry.output_limit_of(request.model) or _USUAL_OUTPUT_TOKENS
    told = [wish.split()[2] for wish in conceded if wish.startswith(f"max_tokens {request.model} ")]
    return min([request.max_output_tokens or known, *map(int, told)])


def _reduce(schema: JsonObject) -> JsonObject | None:
    try:
        return reduce_answer_schema(schema, ANTHROPIC_ANSWER)
    except NotExpressibleError:
        return None


# --- messages ---


def _build_messages(messages: Sequence[Message]) -> list[JsonObject]:
    turns = build_turns(messages)
    marked = [index for index, turn in enumerate(turns) if not turn.is_model][-_MARKED_TURNS:]
    return [_build_turn(turn, is_marked=index in marked) for index, turn in enumerate(turns)]


def _build_turn(turn: Turn, *, is_marked: bool) -> JsonObject:
    blocks = [block for message in turn.messages for block in _build_blocks(message)]
    if is_marked:
        blocks[-1] = {**blocks[-1], "cache_control": _CACHED}
    return {"role": "assistant" if turn.is_model else "user", "content": blocks}


def _build_blocks(message: Message) -> Iterator[JsonObject]:
    match message.role:
        case Role.USER | Role.SYSTEM:
            yield from _build_parts(message)
        case Role.ASSISTANT:
            yield from _native_blocks(message) or _build_answer(message)
        case Role.TOOL:
            yield _build_result(message)
        case _:
            assert_never(message.role)


def _build_parts(message: Message) -> Iterator[JsonObject]:
    """Text, pictures and files; blank text would be refused."""
    for part in message.content:
        if not isinstance(part, TextPart) or part.text.strip():
            if isinstance(part, FilePart) and part.data_base64:
                yield {"type": "text", "text": describe_file(part)}
            yield _build_part(part)


def _build_part(part: ContentPart) -> JsonObject:
    match part:
        case TextPart(text):
            return {"type": "text", "text": text}
        case ImagePart(media_type, data_base64) if media_type in _PICTURES:
            return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data_base64}}
        case ImagePart(media_type):
            return {"type": "text", "text": f"(A picture of the type {media_type}, which this model cannot see.)"}
        case FilePart(media_type=media_type, data_base64=data_base64) if data_base64:
            return _build_document(part, {"type": "base64", "media_type": media_type, "data": data_base64})
        case FilePart(text=text) if is_text_file(part):
            document = _build_document(part, {"type": "text", "media_type": "text/plain", "data": text})
            return {**document, "context": describe_file(part).strip()}
        case FilePart():
            return {"type": "text", "text": spell_file(part)}
        case _:
            assert_never(part)


def _build_document(part: FilePart, source: JsonObject) -> JsonObject:
    named = {"title": part.name[:_TITLE_CHARACTERS]} if part.name.strip() else {}
    return {"type": "document", "source": source, **named}


def _sent_documents(body: JsonObject) -> Iterator[str]:
    for message in map(as_object, as_list(body.get("messages"))):
        for block in map(as_object, as_list(message.get("content"))):
            if block.get("type") == "document":
                yield as_text(as_object(block.get("source")).get("data"))


def _find_seal(turns: Sequence[JsonValue]) -> str:
    """The signature of the first thinking that goes back; empty when none does."""
    blocks = (as_object(block) for turn in turns for block in as_list(as_object(turn).get("content")))
    thoughts = (block for block in blocks if as_text(block.get("type")) in _THOUGHTS)
    return next((as_text(block.get("signature")) or as_text(block.get("data")) for block in thoughts), "")


def _without_thinking(turn: JsonObject) -> JsonObject:
    blocks = [block for block in as_list(turn.get("content")) if as_text(as_object(block).get("type")) not in _THOUGHTS]
    return {**turn, "content": blocks or [{"type": "text", "text": "(No answer.)"}]}


def _native_blocks(message: Message) -> list[JsonObject]:
    """The blocks as they came, signatures and all; none when they are another format's or do not fit the calls.

    Calls may have got other ids since, together with their results.
    """
    if message.native.get("format") != FORMAT:
        return []
    blocks = [as_object(block) for block in as_list(message.native.get("blocks"))]
    calls = iter(message.tool_calls)
    if sum(block.get("type") == "tool_use" for block in blocks) != len(message.tool_calls):
        return []
    return [_renamed(block, next(calls)) if block.get("type") == "tool_use" else block for block in blocks]


def _renamed(block: JsonObject, call: ToolCall) -> JsonObject:
    return {**block, "id": to_wire_name(call.id), "name": to_wire_name(as_text(block.get("name")) or call.name)}


def _build_answer(message: Message) -> Iterator[JsonObject]:
    """Text and calls."""
    if message.text.strip():
        yield {"type": "text", "text": message.text}
    elif not message.tool_calls:
        yield {"type": "text", "text": NO_WORDS}
    for call in message.tool_calls:
        # Ids of other vendors hold dots and colons; the rule for them is that of names.
        yield {
            "type": "tool_use",
            "id": to_wire_name(call.id),
            "name": to_wire_name(call.name),
            "input": call.arguments,
        }


def _build_result(message: Message) -> JsonObject:
    content = list(_build_parts(message)) or [{"type": "text", "text": "(no output)"}]
    result: JsonObject = {"type": "tool_result", "tool_use_id": to_wire_name(message.tool_call_id), "content": content}
    return {**result, "is_error": True} if message.is_error else result


# --- tools ---


def _build_tools(request: ChatRequest) -> list[JsonObject]:
    """Tools in the order given, the first of equal names.

    Calls in the history are refused when no tool is defined, so that their names are then told without more.
    """
    if request.tools:
        by_name: dict[str, JsonObject] = {}
        for tool in request.tools:
            by_name.setdefault(to_wire_name(tool.name), _build_tool(tool))
        return list(by_name.values())
    used = dict.fromkeys(to_wire_name(call.name) for message in request.messages for call in message.tool_calls)
    return [{"name": name, "input_schema": {"type": "object"}} for name in used]


def _build_tool(tool: ToolSpec) -> JsonObject:
    schema = make_valid(tool.parameters)
    return {"name": to_wire_name(tool.name), "description": tool.description, "input_schema": schema}
