"""The JSON Schema of one choice: a tool with its arguments, or a reply. What the user named narrows the arguments.

A path or an address can only be one the user wrote; an optional argument is offered only where the worked example
shows it or the message speaks of it, because a weak model fills in whatever it is offered.
"""

from collections.abc import Mapping, Sequence

from skales.core.json import JsonObject, JsonValue, as_list, as_object, as_text
from skales.core.tool import ToolSpec
from skales.providers.weak.mentions import Mentions
from skales.providers.weak.words import stems

REPLY = "reply"

# What llama.cpp's grammar understands; formats, defaults and descriptions would only cost it.
_KEPT = ("type", "enum", "items", "minimum", "maximum", "minItems", "maxItems", "properties", "required")


def build_choice_schema(tools: Sequence[ToolSpec], mentions: Mentions, *, reply: bool, runs: Sequence[str] = ()) -> JsonObject:
    """Any of the tools' calls, and `{"tool": "reply", "text": …}` when `reply` is on."""
    choices: list[JsonValue] = [_call_schema(tool, mentions, runs) for tool in tools]
    if reply:
        text: JsonObject = {"tool": {"const": REPLY}, "text": {"type": "string"}}
        choices.append(_closed(text, ("tool", "text")))
    return {"anyOf": choices}


def _call_schema(tool: ToolSpec, mentions: Mentions, runs: Sequence[str]) -> JsonObject:
    return _closed({"tool": {"const": tool.name}, "arguments": _arguments_schema(tool, mentions, runs)}, ("tool", "arguments"))


def _arguments_schema(tool: ToolSpec, mentions: Mentions, runs: Sequence[str]) -> JsonObject:
    properties = as_object(tool.parameters.get("properties"))
    required = [as_text(name) for name in as_list(tool.parameters.get("required"))]
    wanted = [name for name in properties if name in required or _is_wanted(tool, name, required, mentions)]
    shapes = {name: _shape(as_object(properties[name]), mentions, runs) for name in wanted}
    return _closed(shapes, [name for name in wanted if name in required or _is_named(properties[name], mentions)])


def _is_wanted(tool: ToolSpec, name: str, required: Sequence[str], mentions: Mentions) -> bool:
    schema = as_object(as_object(tool.parameters["properties"]).get(name))
    match _kind(schema):
        case "path":
            return len(mentions.paths) > _count(tool, required, "path")
        case "uri":
            return len(mentions.urls) > _count(tool, required, "uri")
        case "integer" | "number":
            return bool(mentions.numbers)
        case _:
            spoken = set(stems(mentions.words))
            values = [value for value in as_list(schema.get("enum")) if isinstance(value, str)]
            named = any(set(stems(value)) & spoken for value in values)
            shown = tool.example is not None and name in tool.example.arguments
            return named or shown or set(stems(name.replace("_", " "))) <= spoken


def _is_named(schema: JsonValue, mentions: Mentions) -> bool:
    return _kind(as_object(schema)) in {"path", "uri"}


def _count(tool: ToolSpec, names: Sequence[str], kind: str) -> int:
    properties = as_object(tool.parameters.get("properties"))
    return sum(_kind(as_object(properties.get(name))) == kind for name in names)


def _kind(schema: JsonObject) -> str:
    """The format when it has one, else the type; an array counts as what it holds."""
    inner = as_object(schema.get("items")) or schema
    return as_text(inner.get("format")) or as_text(inner.get("type"))


def _shape(schema: JsonObject, mentions: Mentions, runs: Sequence[str]) -> JsonObject:
    kept = {key: schema[key] for key in _KEPT if key in schema}
    if isinstance(kept.get("items"), Mapping):
        return {**kept, "items": _shape(as_object(kept["items"]), mentions, runs)}
    named = {"path": mentions.paths, "uri": mentions.urls}.get(_kind(schema), ())
    if named and "enum" not in kept:
        return {"enum": list(named)}
    if mentions.numbers and _kind(schema) in {"integer", "number"}:
        return {"enum": [float(number) if "." in number else int(number) for number in mentions.numbers]}
    spoken = set(stems(mentions.words))
    values = [value for value in as_list(kept.get("enum")) if isinstance(value, str) and set(stems(value)) & spoken]
    if values:
        return {"enum": values}
    return {"enum": list(runs)} if runs and kept == {"type": "string"} else kept


def _closed(properties: Mapping[str, JsonValue], required: Sequence[str]) -> JsonObject:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }
