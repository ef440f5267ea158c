"""The JSON Schema of one choice: a tool with its arguments, or a reply. What the user named narrows the arguments.

A path or an address can only be one the user wrote; an optional argument is offered only where the worked example
shows it or the message speaks of it, because a weak model fills in whatever it is offered.
"""

from collections.abc import Mapping, Sequence

from skales.core.json import JsonObject, JsonValue, as_list, as_object, as_text
from skales.core.tool import ToolSpec
from skales.providers.weak.mentions import Mentions, find_mentions
from skales.providers.weak.spans import copyable_runs
from skales.providers.weak.words import stems

REPLY = "reply"

# What grammars understand; formats, defaults and descriptions would only cost the endpoint.
_KEPT = ("type", "enum", "items", "minimum", "maximum", "minItems", "maxItems", "properties", "required")


def build_choice_schema(tools: Sequence[ToolSpec], mentions: Mentions) -> JsonObject:
    """Any of the tools' calls, or `{"tool": "reply", "text": …}`."""
    calls = [_closed({"tool": {"const": tool.name}, "arguments": _arguments_schema(tool, mentions)}) for tool in tools]
    return {"anyOf": [*calls, _closed({"tool": {"const": REPLY}, "text": {"type": "string"}})]}


def build_example(tool: ToolSpec, mentions: Mentions) -> tuple[str, JsonObject] | None:
    """A request and the call it leads to, with just the arguments that are offered for the message of the mentions.

    Where the model may only copy, the example copies as well. None for a tool without an example.
    """
    if tool.example is None:
        return None
    offered = as_object(_arguments_schema(tool, mentions)["properties"])
    arguments = {name: value for name, value in tool.example.arguments.items() if name in offered}
    if mentions.runs is not None:
        properties = as_object(tool.parameters.get("properties"))
        runs = copyable_runs(tool.example.request, find_mentions(tool.example.request))
        free = [name for name in arguments if _kind(as_object(properties.get(name))) == "string"]
        arguments |= {name: _copied(as_text(arguments[name]), tool.example.request, runs) for name in free}
    return tool.example.request, {"tool": tool.name, "arguments": arguments}


def _copied(text: str, request: str, runs: Sequence[str]) -> str:
    """The text as the request says it, else the run of the request that shares most words with it."""
    bare = text.strip()
    if bare.lower() in request.lower() or not runs:
        return bare
    wanted = set(stems(bare))
    return max(runs, key=lambda run: (len(wanted.intersection(stems(run))), len(run)))


def _arguments_schema(tool: ToolSpec, mentions: Mentions) -> JsonObject:
    properties = {name: as_object(schema) for name, schema in as_object(tool.parameters.get("properties")).items()}
    required = {as_text(name) for name in as_list(tool.parameters.get("required"))}
    # A model that can only copy gets no argument the message does not speak of: it would fill it with anything.
    shown = tool.example.arguments if tool.example and mentions.runs is None else {}
    spare = _spare_mentions([properties[name] for name in required if name in properties], mentions)
    spoken = frozenset(stems(mentions.words))
    wanted = {
        name: _shape(schema, mentions, spoken)
        for name, schema in properties.items()
        if name in required or _is_wanted(name, schema, shown=name in shown, spare=spare, spoken=spoken)
    }
    binding = [name for name in wanted if name in required or _kind(properties[name]) in spare]
    return _closed(wanted, binding)


def _spare_mentions(required: Sequence[JsonObject], mentions: Mentions) -> Mapping[str, bool]:
    """For each kind of thing a message can name: whether it names more than the required arguments take."""
    kinds = [_kind(schema) for schema in required]
    found = {"path": mentions.paths, "uri": mentions.urls, "integer": mentions.numbers, "number": mentions.numbers}
    return {kind: len(named) > kinds.count(kind) for kind, named in found.items()}


def _is_wanted(
    name: str, schema: JsonObject, *, shown: bool, spare: Mapping[str, bool], spoken: frozenset[str]
) -> bool:
    """Whether an optional argument is worth offering."""
    kind = _kind(schema)
    if kind in spare:
        return spare[kind]
    named = any(spoken.intersection(stems(value)) for value in _choices(schema))
    return shown or named or spoken.issuperset(stems(name.replace("_", " ")) or [""])


def _shape(schema: JsonObject, mentions: Mentions, spoken: frozenset[str]) -> JsonObject:
    """The argument's schema without ornaments, narrowed to what the message names."""
    kept = {key: schema[key] for key in _KEPT if key in schema}
    if isinstance(kept.get("items"), Mapping):
        return {**kept, "items": _shape(as_object(kept["items"]), mentions, spoken)}
    if choices := _choices(schema):
        return {"enum": [value for value in choices if spoken.intersection(stems(value))] or list(choices)}
    match _kind(schema):
        case "path" if named := mentions.paths or mentions.quoted:
            return {"enum": list(named)}
        case "uri" if mentions.urls:
            return {"enum": list(mentions.urls)}
        case "integer" | "number" if mentions.numbers:
            return {"enum": [float(number) if "." in number else int(number) for number in mentions.numbers]}
        case "string" if mentions.runs:
            return {"enum": list(mentions.runs)}
        case _:
            return kept


def _choices(schema: JsonObject) -> Sequence[str]:
    return [value for value in as_list(schema.get("enum")) if isinstance(value, str)]


def _kind(schema: JsonObject) -> str:
    """The format when it has one, else the type; an array counts as what it holds."""
    inner = as_object(schema.get("items")) or schema
    return as_text(inner.get("format")) or as_text(inner.get("type"))


def _closed(properties: Mapping[str, JsonValue], required: Sequence[str] | None = None) -> JsonObject:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties if required is None else required),
        "additionalProperties": False,
    }
