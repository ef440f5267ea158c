"""Reduces the JSON Schema of an answer to what a vendor enforces, and puts what it does not into words.

The original schema is never changed. Tool schemas for Google are the business of `google_schema`.
"""

import json
from collections.abc import Mapping

from msgspec import Struct

from skales.core.json import JsonObject, JsonValue, as_list, as_object, as_text

_WORDS = {
    "multipleOf": "A multiple of {}.",
    "uniqueItems": "No item occurs twice.",
    "exclusiveMinimum": "Greater than {}.",
    "exclusiveMaximum": "Less than {}.",
    "minimum": "At least {}.",
    "maximum": "At most {}.",
    "minLength": "At least {} characters.",
    "maxLength": "At most {} characters.",
    "minItems": "At least {} items.",
    "maxItems": "At most {} items.",
    "minProperties": "At least {} entries.",
    "maxProperties": "At most {} entries.",
    "pattern": "Fits the pattern {}.",
    "format": "Format: {}.",
    "default": "Default: {}.",
    "const": "Always {}.",
}
# Keywords that say nothing about the value itself.
_SILENT = frozenset(
    {"$schema", "$id", "$anchor", "$comment", "$defs", "definitions", "title", "examples", "example", "deprecated"}
    | {"readOnly", "writeOnly", "additionalItems", "unevaluatedProperties", "propertyOrdering"}
)


class NotExpressibleError(ValueError):
    """The vendor's subset has no schema that admits what this one does."""


class Subset(Struct, frozen=True):
    """Which keywords a vendor enforces. `closes_objects`: every object has to refuse unknown properties."""

    keywords: frozenset[str]
    closes_objects: bool = False


ANTHROPIC_ANSWER = Subset(
    frozenset({"type", "enum", "const", "anyOf", "allOf", "$ref", "$defs", "definitions", "items", "properties"})
    | {"required", "description", "title", "additionalProperties"},
    closes_objects=True,
)
GOOGLE_ANSWER = Subset(
    frozenset({"type", "enum", "anyOf", "$ref", "$defs", "items", "prefixItems", "minItems", "maxItems", "minimum"})
    | {"maximum", "properties", "required", "description", "title", "additionalProperties"}
)


def ask_in_words(schema: JsonObject) -> str:
    """A sentence that asks for JSON of a schema, for endpoints that cannot be held to it."""
    shown = json.dumps(schema, ensure_ascii=False)
    return f"Answer with nothing but one JSON object that fits this JSON Schema: {shown}"


def reduce_answer_schema(schema: JsonObject, subset: Subset) -> JsonObject:
    """The schema in a vendor's subset. Raises NotExpressibleError.

    Constraints that are not enforced stand in the description; whoever asked checks the answer anyway.
    """
    node = dict(schema)
    if "oneOf" in node and "anyOf" not in node:
        node["anyOf"] = node.pop("oneOf")
    if "const" in node and "const" not in subset.keywords:
        node["enum"] = [node.pop("const")]
    kept = {key: value for key, value in node.items() if key in subset.keywords}
    for key in ("anyOf", "allOf", "prefixItems"):
        if key in kept:
            kept[key] = [reduce_answer_schema(as_object(part), subset) for part in as_list(kept[key])]
    for key in ("properties", "$defs", "definitions"):
        if key in kept:
            kept[key] = {name: reduce_answer_schema(as_object(part), subset) for name, part in _items(kept[key])}
    if isinstance(kept.get("items"), Mapping):
        kept["items"] = reduce_answer_schema(as_object(kept["items"]), subset)
    if subset.closes_objects:
        kept = _closed(kept)
    return add_words(kept, {key: value for key, value in node.items() if key not in kept})


def add_words(schema: JsonObject, rest: JsonObject) -> JsonObject:
    """The schema with constraints that it cannot carry in its description."""
    words = [as_text(schema.get("description")), *(_put_in_words(key, value) for key, value in rest.items())]
    if description := " ".join(filter(None, words)):
        return {**schema, "description": description}
    return schema


def _put_in_words(key: str, value: JsonValue) -> str:
    if key in _SILENT or value is None or value is False:
        return ""
    shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if key in _WORDS:
        return _WORDS[key].format(shown)
    return f"Also holds: {json.dumps({key: value}, ensure_ascii=False)}."


def _closed(node: JsonObject) -> dict[str, JsonValue]:
    """An object schema that admits no other properties, for vendors that know no open ones."""
    is_object = node.get("type") == "object" or "properties" in node
    others = node.get("additionalProperties", False)
    if others not in (False, True) or (is_object and not as_object(node.get("properties")) and "$ref" not in node):
        raise NotExpressibleError("an object with names of any kind")
    closed = {key: value for key, value in node.items() if key != "additionalProperties"}
    return {**closed, "additionalProperties": False} if is_object else closed


def _items(value: JsonValue) -> list[tuple[str, JsonValue]]:
    return list(as_object(value).items())
