"""Reads JSON Schema where one thing can be said in several places: references, `allOf`, types that are only implied."""

import re
from collections.abc import Mapping

from skales.core.json import JsonObject, JsonValue, as_list, as_object, as_text

_MAX_DEPTH = 16
_IMPLIED = {
    "object": ("properties", "additionalProperties", "required", "patternProperties", "propertyNames"),
    "array": ("items", "prefixItems", "minItems", "maxItems", "uniqueItems"),
    "string": ("minLength", "maxLength", "pattern"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
}
_KINDS: dict[type, str] = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}


def find_reference(reference: str, root: JsonObject) -> JsonObject:
    """What a local reference such as `#/$defs/Span` names; an empty schema when it leads nowhere."""
    node: JsonValue = root
    if not reference.startswith("#"):
        return {}
    for step in reference[1:].split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(node, list) and re.fullmatch(r"\d{1,4}", name) and int(name) < len(node):
            node = node[int(name)]
        else:
            node = as_object(node).get(name)
    return as_object(node)


def list_types(node: JsonObject) -> list[str]:
    """The types a schema names or implies; none when it admits anything."""
    named = node.get("type")
    if isinstance(named, str):
        return [named]
    if types := [as_text(name) for name in as_list(named)]:
        return types
    listed = [node["const"]] if "const" in node else as_list(node.get("enum"))
    if listed:
        return sorted({"null" if value is None else _KINDS.get(type(value), "string") for value in listed})
    return [kind for kind, keywords in _IMPLIED.items() if any(keyword in node for keyword in keywords)][:1]


def merge_all_of(node: JsonObject, root: JsonObject, depth: int = 0) -> JsonObject:
    """The schema with the parts of `allOf` in itself."""
    if "allOf" not in node:
        return node
    merged: JsonObject = {key: value for key, value in node.items() if key != "allOf"}
    for part in as_list(node["allOf"]):
        inner = as_object(part)
        if reference := as_text(inner.get("$ref")):
            inner = {**find_reference(reference, root), **{key: inner[key] for key in inner if key != "$ref"}}
        if depth < _MAX_DEPTH:
            merged = merge_schemas(merged, merge_all_of(inner, root, depth + 1))
    return merged


def merge_schemas(first: JsonObject, second: JsonObject) -> JsonObject:
    """One schema that demands what both demand; of words, those of the second."""
    merged: dict[str, JsonValue] = {**first, **second}
    for key in first.keys() & second.keys():
        merged[key] = _merge_keyword(key, first[key], second[key])
    return merged


def _merge_keyword(key: str, first: JsonValue, second: JsonValue) -> JsonValue:
    match key:
        case "properties":
            both: dict[str, JsonValue] = {**as_object(first), **as_object(second)}
            for name in as_object(first).keys() & as_object(second).keys():
                both[name] = merge_schemas(as_object(as_object(first)[name]), as_object(as_object(second)[name]))
            return both
        case "required":
            return list(dict.fromkeys([*as_list(first), *as_list(second)]))
        case "enum":
            return [value for value in as_list(first) if value in as_list(second)]
        case "minimum" | "exclusiveMinimum" | "minLength" | "minItems" if _are_numbers(first, second):
            return max(first, second)  # type: ignore[type-var]
        case "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" if _are_numbers(first, second):
            return min(first, second)  # type: ignore[type-var]
        case "items" if isinstance(first, Mapping) and isinstance(second, Mapping):
            return merge_schemas(first, second)
        case _:
            return second


def _are_numbers(*values: JsonValue) -> bool:
    return all(isinstance(value, int | float) for value in values)
