"""Makes the schema of a stranger's tool one that vendors take, since a single bad one costs the whole request.

OpenAI and Anthropic hold tools to JSON Schema 2020-12; tools are also written by older drafts, and by hand. What is
valid stays as it is. Google has a subset of its own, see `google_schema`.
"""

from collections.abc import Callable, Mapping

from msgspec import Struct

from skales.core.json import JsonObject, JsonValue, as_list, as_object
from skales.providers.formats.schema_merge import flatten_variants

_TYPES = frozenset({"string", "number", "integer", "boolean", "array", "object", "null"})

Rule = Callable[[JsonValue], JsonValue]


class _Made(Struct, frozen=True):
    """A schema, held so that no other takes its place in memory, and what became of it."""

    schema: JsonObject
    valid: JsonObject


# By the identity of the schema. More than all tools and a few servers with theirs.
_MOST_MADE = 2_000
_made: dict[int, _Made] = {}


def make_valid(parameters: JsonObject) -> JsonObject:
    """The parameters of a tool as one object with properties; neither vendor takes a union or a reference there.

    Nobody changes a schema once it is made, so that each is looked at once and not in every request.
    """
    known = _made.get(id(parameters))
    if known is not None:
        return known.valid
    if len(_made) >= _MOST_MADE:
        _made.clear()
    valid = _make_valid(parameters)
    _made[id(parameters)] = _Made(parameters, valid)
    return valid


def _make_valid(parameters: JsonObject) -> JsonObject:
    schema = flatten_variants(_repair(parameters))
    plain = {key: value for key, value in schema.items() if key not in ("not", "enum", "const")}
    return {**plain, "type": "object", "properties": schema.get("properties", {})}


def fill_items(schema: JsonValue) -> JsonValue:
    """The schema in which every array says what it holds, also when that may be anything; OpenAI demands it."""
    if isinstance(schema, list):
        return [fill_items(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    filled = {key: fill_items(value) for key, value in schema.items()}
    is_array = schema.get("type") == "array" or "array" in as_list(schema.get("type"))
    return {**filled, "items": {}} if is_array and "items" not in schema else filled


def _repair(value: JsonValue) -> JsonObject:
    """The schema without keywords whose value means nothing; those of older drafts are written anew."""
    node = _modernise(as_object(value))
    repaired = {key: _RULES[key](part) if key in _RULES else part for key, part in node.items()}
    return {key: part for key, part in repaired.items() if part is not None or key not in _RULES}


def _modernise(node: JsonObject) -> JsonObject:
    fresh: dict[str, JsonValue] = dict(node)
    if isinstance(node.get("items"), list):
        # Up to draft 2019-09 a list stood for the first items one by one.
        fresh["prefixItems"] = fresh.pop("items")
        if "additionalItems" in fresh:
            fresh["items"] = fresh.pop("additionalItems")
    for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        # In draft 4 it was a flag beside the bound.
        if isinstance(node.get(exclusive), bool):
            del fresh[exclusive]
            if node[exclusive] and bound in fresh:
                fresh[exclusive] = fresh.pop(bound)
    return fresh


# --- rules: the value as it may stand, None when it may not ---


def _one(value: JsonValue) -> JsonValue:
    return value if isinstance(value, bool) else _repair(value)


def _many(value: JsonValue) -> JsonValue:
    return [_one(part) for part in as_list(value)] or None


def _named(value: JsonValue) -> JsonValue:
    return {name: _one(part) for name, part in value.items()} if isinstance(value, Mapping) else None


def _type(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return value if value in _TYPES else None
    return list(dict.fromkeys(name for name in as_list(value) if isinstance(name, str) and name in _TYPES)) or None


def _names(value: JsonValue) -> JsonValue:
    if not isinstance(value, list):
        return None
    return list(dict.fromkeys(name for name in value if isinstance(name, str)))


def _listed(value: JsonValue) -> JsonValue:
    return value if isinstance(value, list) and value else None


def _text(value: JsonValue) -> JsonValue:
    return value if isinstance(value, str) else None


def _flag(value: JsonValue) -> JsonValue:
    return value if isinstance(value, bool) else None


def _number(value: JsonValue) -> JsonValue:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _count(value: JsonValue) -> JsonValue:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


_RULES: Mapping[str, Rule] = {
    **dict.fromkeys(("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"), _one),
    **dict.fromkeys(("anyOf", "oneOf", "allOf", "prefixItems"), _many),
    **dict.fromkeys(("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"), _named),
    **dict.fromkeys(("title", "description", "pattern", "format", "$ref", "$schema", "$id", "$comment"), _text),
    **dict.fromkeys(("uniqueItems", "deprecated", "readOnly", "writeOnly"), _flag),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _number),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), _count),
    **dict.fromkeys(("enum", "examples"), _listed),
    "type": _type,
    "required": _names,
}
