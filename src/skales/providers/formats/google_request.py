"""Builds requests in the format of Google's generateContent from our messages and tools.

Spec: orchestrator.md, "Tool-call hardening"; https://ai.google.dev/api/generate-content
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from skales.core.json import JsonObject, JsonValue, as_list, as_object, as_text
from skales.core.message import FilePart, ImagePart, Message, Role, TextPart
from skales.core.ports import ChatRequest
from skales.core.tool import ToolCall, ToolSpec
from skales.providers.formats.documents import concede_documents, describe_file, settle_documents
from skales.providers.formats.google_schema import translate_parameters
from skales.providers.formats.google_stream import FORMAT, spell_name
from skales.providers.formats.schemas import GOOGLE_ANSWER, ask_in_words, reduce_answer_schema
from skales.providers.formats.turns import NO_WORDS, build_turns, spell_file, split_system
from skales.providers.lenient_json import read_strict

# Numbers are doubles there; a larger whole one would come out as another.
_MAX_EXACT = 2**53
# Google's own word for a call that another model made: https://ai.google.dev/gemini-api/docs/thought-signatures#faqs
_NO_SIGNATURE = "skip_thought_signature_validator"

_UNSIGNED = re.compile(r"missing (?:a )?`?thought_?signature", re.IGNORECASE)
_NOT_TAKEN = re.compile(
    r"not (?:supported|enabled|allowed|available)|unsupported|does not support|unknown name|cannot find field"
    r"|too complex|too many states|invalid json schema",
    re.IGNORECASE,
)
# What a refusal calls the fields that the request can do without.
_OPTIONAL = {
    "systemInstruction": re.compile(r"developer instruction|system_?instruction", re.IGNORECASE),
    "thinkingConfig": re.compile(r"thinking|include_?thoughts", re.IGNORECASE),
    "responseJsonSchema": re.compile(r"response_?(?:mime|json|schema)|response mime|json mode|schema", re.IGNORECASE),
    "temperature": re.compile(r"temperature", re.IGNORECASE),
}


def build_body(request: ChatRequest, conceded: frozenset[str]) -> JsonObject:
    """The JSON body of one request. `conceded` names fields this endpoint has refused before."""
    system, messages = split_system(settle_documents(request.messages, conceded))
    config = _build_config(request, conceded)
    if request.answer_schema is not None and "responseJsonSchema" not in config:
        system = "\n\n".join(filter(None, [system, ask_in_words(request.answer_schema)]))
    if system and "systemInstruction" in conceded:
        messages = [Message(role=Role.USER, content=(TextPart(system),)), *messages]
        system = ""
    body: dict[str, JsonValue] = {"contents": _build_contents(messages, conceded)}
    if system:
        body["systemInstruction"] = {"parts": [{"text": system}]}
    if request.tools:
        body["tools"] = [{"functionDeclarations": _build_tools(request.tools)}]
    if config:
        body["generationConfig"] = config
    return body


def concede(body: JsonObject, refusal: str) -> str:
    """The optional field that a refusal is about; empty when it is about anything else."""
    if _UNSIGNED.search(refusal):
        return "thoughtSignature" if any(map(_lacks_signature, as_list(body.get("contents")))) else ""
    sent = {*body, *as_object(body.get("generationConfig"))}
    refused = (name for name, words in _OPTIONAL.items() if name in sent and words.search(refusal))
    optional = next(refused, "") if _NOT_TAKEN.search(refusal) else ""
    return optional or concede_documents(_sent_documents(body), refusal)


def _build_config(request: ChatRequest, conceded: frozenset[str]) -> JsonObject:
    config: dict[str, JsonValue] = {}
    if "thinkingConfig" not in conceded:
        # Changes what is shown, not how much is thought.
        config["thinkingConfig"] = {"includeThoughts": True}
    if request.temperature is not None and "temperature" not in conceded:
        config["temperature"] = request.temperature
    if request.max_output_tokens:
        config["maxOutputTokens"] = request.max_output_tokens
    if request.answer_schema is not None and "responseJsonSchema" not in conceded:
        config["responseMimeType"] = "application/json"
        config["responseJsonSchema"] = reduce_answer_schema(request.answer_schema, GOOGLE_ANSWER)
    return config


# --- contents ---


def _build_contents(messages: Sequence[Message], conceded: frozenset[str]) -> list[JsonValue]:
    callers = _name_calls(messages)
    contents: list[JsonValue] = []
    for turn in build_turns(messages):
        if turn.is_model:
            parts = [part for message in turn.messages for part in _build_answer(message)]
            contents.append({"role": "model", "parts": _signed(parts) if "thoughtSignature" in conceded else parts})
        else:
            results = [_build_result(message, callers) for message in turn.messages if message.role is Role.TOOL]
            others = [part for message in turn.messages for part in _build_parts(message)]
            contents.append({"role": "user", "parts": [*results, *others]})
    return contents


def _name_calls(messages: Sequence[Message]) -> Mapping[str, JsonObject]:
    """By our id of a call, how a result names it: the tool, and the id that the model gave, if it gave one."""
    found: dict[str, JsonObject] = {}
    for message in messages:
        for call, part in zip(message.tool_calls, _call_parts(_build_answer(message)), strict=True):
            given = as_object(part["functionCall"])
            found[call.id] = {key: given[key] for key in ("id", "name") if given.get(key)}
    return found


def _call_parts(parts: Iterator[JsonObject]) -> Iterator[JsonObject]:
    return (part for part in parts if "functionCall" in part)


def _build_answer(message: Message) -> Iterator[JsonObject]:
    """The parts as they came, signatures where they were; else text and calls."""
    if native := _native_parts(message):
        yield from native
        return
    if message.text.strip():
        yield {"text": message.text}
    elif not message.tool_calls:
        yield {"text": NO_WORDS}
    for call in message.tool_calls:
        yield {"functionCall": {"name": spell_name(call.name), "args": call.arguments}}


def _native_parts(message: Message) -> list[JsonObject]:
    """None when they are another format's or do not fit the calls."""
    if message.native.get("format") != FORMAT:
        return []
    parts = [as_object(part) for part in as_list(message.native.get("blocks"))]
    calls = iter(message.tool_calls)
    if sum("functionCall" in part for part in parts) != len(message.tool_calls):
        return []
    return [_named(part, next(calls)) if "functionCall" in part else part for part in parts]


def _named(part: JsonObject, call: ToolCall) -> JsonObject:
    """The part; a call that named no tool gets the name that we gave it, since none would be refused from now on."""
    given = as_object(part["functionCall"])
    return part if given.get("name") else {**part, "functionCall": {**given, "name": spell_name(call.name)}}


def _build_parts(message: Message) -> Iterator[JsonObject]:
    """Text, pictures and files of a user message, and the pictures of a result, which holds none itself."""
    is_result = message.role is Role.TOOL
    pictures = [part for part in message.content if isinstance(part, ImagePart)]
    if is_result and pictures:
        yield {"text": f"Pictures from the result of {message.name or message.tool_call_id}:"}
    for part in message.content:
        if isinstance(part, ImagePart):
            yield _build_blob(part)
        elif isinstance(part, FilePart) and part.data_base64:
            yield {"text": describe_file(part)}
            yield _build_blob(part)
        elif isinstance(part, FilePart):
            yield {"text": spell_file(part)}
        elif not is_result and part.text.strip():
            yield {"text": part.text}


def _build_blob(part: ImagePart | FilePart) -> JsonObject:
    return {"inlineData": {"mimeType": part.media_type, "data": part.data_base64}}


def _sent_documents(body: JsonObject) -> Iterator[str]:
    for content in map(as_object, as_list(body.get("contents"))):
        for part in map(as_object, as_list(content.get("parts"))):
            blob = as_object(part.get("inlineData"))
            if blob and not as_text(blob.get("mimeType")).startswith("image/"):
                yield as_text(blob.get("data"))


def _build_result(message: Message, callers: Mapping[str, JsonObject]) -> JsonObject:
    caller = callers.get(message.tool_call_id) or {"name": spell_name(message.name)}
    return {"functionResponse": {**caller, "response": _build_response(message)}}


def _build_response(message: Message) -> JsonObject:
    """The tool's own object, or its text in one: only objects are taken."""
    text = message.text or "(no output)"
    if message.is_error:
        return {"error": text}
    try:
        value = read_strict(text) if text.lstrip().startswith("{") else None
    except ValueError:
        value = None
    return value if isinstance(value, dict) and _is_exact(value) else {"output": text}


def _is_exact(value: JsonValue) -> bool:
    match value:
        case int():
            return abs(value) <= _MAX_EXACT
        case dict():
            return all(map(_is_exact, value.values()))
        case list():
            return all(map(_is_exact, value))
        case _:
            return True


def _lacks_signature(content: JsonValue) -> bool:
    """Whether the first call of a model's turn carries none; the others need none."""
    table = as_object(content)
    parts = [as_object(part) for part in as_list(table.get("parts"))]
    first = next(_call_parts(iter(parts)), None)
    return table.get("role") == "model" and first is not None and not as_text(first.get("thoughtSignature"))


def _signed(parts: Sequence[JsonObject]) -> list[JsonObject]:
    """Parts in which the first call is marked as another model's, when nothing signed it."""
    if not _lacks_signature({"role": "model", "parts": parts}):
        return list(parts)
    first = next(index for index, part in enumerate(parts) if "functionCall" in part)
    return [{**part, "thoughtSignature": _NO_SIGNATURE} if index == first else part for index, part in enumerate(parts)]


# --- tools ---


def _build_tools(tools: Sequence[ToolSpec]) -> list[JsonValue]:
    """Tools in the order given; a name that occurs twice would cost the whole request, so the first counts."""
    by_name: dict[str, JsonValue] = {}
    for tool in tools:
        by_name.setdefault(spell_name(tool.name), _build_tool(tool))
    return list(by_name.values())


def _build_tool(tool: ToolSpec) -> JsonObject:
    declaration: JsonObject = {"name": spell_name(tool.name), "description": tool.description}
    parameters = translate_parameters(tool.parameters).schema
    return {**declaration, "parameters": parameters} if parameters else declaration
