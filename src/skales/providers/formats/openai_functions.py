"""What OpenAI's two formats spell alike: functions on offer, arguments of calls, answer schemas, words of a refusal."""

import json
import re
from collections.abc import Sequence

from skales.core.json import JsonObject, JsonValue, as_list, as_object, parse_json
from skales.core.tool import ToolCall, ToolSpec
from skales.providers.formats.schema_repair import fill_items, make_valid
from skales.providers.toolnames import to_wire_name

NOT_TAKEN = re.compile(
    r"not (?:supported|permitted|allowed)|unsupported|does not support|only .{0,30}(?:allowed|supported)"
    r"|unrecognized|unknown (?:field|parameter|name)|unexpected|unavailable|extra_forbidden",
    re.IGNORECASE,
)
# Only OpenAI itself minds arrays without items, so that the others get the schema as it was written.
BARE_ARRAY = re.compile("array schema missing items")
# What is conceded then.
ITEMS = "items of arrays"


def build_functions(tools: Sequence[ToolSpec], *, fills_items: bool) -> list[JsonObject]:
    """Tools in the order given; a name that occurs twice would cost the whole request, so the first counts."""
    by_name: dict[str, JsonObject] = {}
    for tool in tools:
        name = to_wire_name(tool.name)
        valid = make_valid(tool.parameters)
        parameters = fill_items(valid) if fills_items else valid
        by_name.setdefault(name, {"name": name, "description": tool.description, "parameters": parameters})
    return list(by_name.values())


def build_arguments(call: ToolCall) -> str:
    """What the model wrote when it is JSON, so that its prompt cache still fits; endpoints refuse anything else."""
    try:
        if isinstance(parse_json(call.raw), dict):
            return call.raw
    except ValueError:
        pass
    return json.dumps(call.arguments, ensure_ascii=False)


def is_strict(schema: JsonValue) -> bool:
    """Whether a schema keeps to the subset that OpenAI enforces: every object closed, every property required."""
    node = as_object(schema)
    if node.get("type") == "object":
        properties = as_object(node.get("properties"))
        is_closed = node.get("additionalProperties") is False
        if not is_closed or set(properties) != set(map(str, as_list(node.get("required")))):
            return False
        return all(is_strict(inner) for inner in properties.values())
    inner_schemas = [*as_list(node.get("anyOf")), *as_object(node.get("$defs")).values()]
    if "items" in node:
        inner_schemas.append(node["items"])
    return bool(node) and all(is_strict(inner) for inner in inner_schemas)
