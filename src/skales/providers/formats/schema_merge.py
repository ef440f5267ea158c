"""Reads JSON Schema where one thing can be said in several places: references, `allOf`, types that are only implied."""

import re
from collections.abc import Mapping

from skales.core.json import JsonObject, JsonValue, as_list, as_object, as_text

_IMPLIED = {
    "object": ("properties", "additionalProperties", "required", "patternProperties", "propertyNames"),
    "array": ("items", "prefixItems", "minItems", "maxItems", "uniqueItems"),
    "string": ("minLength", "maxLength", "pattern"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
}
_KINDS: dict[type, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    list: "array",
    dict: "object",
}


def find_reference(reference: str, root: JsonObject) -> JsonObject:
    """What a local reference such as `#/$defs/Span` names; an empty schema when it leads nowhere."""
    node: JsonValue = root
    if not reference.startswith("#"):
        return {}
    for step in reference[1:].split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        items = as_list(node)
        is_index = re.fullmatch(r"\d{1,4}", name) is not None and int(name) < len(items)
        node = items[int(name)] if is_index else as_object(node).get(name)
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


def keywords_of_others(kind: str) -> frozenset[str]:
    """Keywords that say nothing about values of this type."""
    own = _IMPLIED.get("number" if kind == "integer" else kind, ())
    return frozenset(keyword for keywords in _IMPLIED.values() for keyword in keywords if keyword not in own)


def flatten_variants(schema: JsonObject) -> JsonObject:
    """The arguments of a tool as one object: where variants may not stand, the properties of all of them.

    Required is what every variant requires; the gate checks the rest against the original.
    """
    node = merge_all_of(_follow(schema, schema), schema)
    variants = [as_object(part) for key in ("anyOf", "oneOf") for part in as_list(node.get(key))]
    if not variants:
        return node
    resolved = [merge_all_of(_follow(variant, schema), schema) for variant in variants]
    required = [set(map(str, as_list(variant.get("required")))) for variant in resolved]
    properties: dict[str, JsonValue] = dict(as_object(node.get("properties")))
    for variant in resolved:
        for name, part in as_object(variant.get("properties")).items():
            properties.setdefault(name, part)
    always = [*map(str, as_list(node.get("required"))), *sorted(set.intersection(*required))]
    rest = {key: value for key, value in node.items() if key not in ("anyOf", "oneOf", "additionalProperties")}
    return {**rest, "properties": properties, "required": list(dict.fromkeys(always))}


def _follow(node: JsonObject, root: JsonObject) -> JsonObject:
    """The schema with what its reference names, one step."""
    reference = as_text(node.get("$ref"))
    beside = {key: value for key, value in node.items() if key != "$ref"}
    return merge_schemas(find_reference(reference, root), beside) if reference else node


def merge_all_of(node: JsonObject, root: JsonObject) -> JsonObject:
    """The schema with the parts of `allOf` in itself, also those that references in it lead to."""
    return _merge_parts(node, root, set())


def _merge_parts(node: JsonObject, root: JsonObject, merged_already: set[str]) -> JsonObject:
    """Each reference counts once: demanding a thing twice demands no more, and some lead back to themselves."""
    if "allOf" not in node:
        return node
    merged: JsonObject = {key: value for key, value in node.items() if key != "allOf"}
    for part in map(as_object, as_list(node["allOf"])):
        reference = as_text(part.get("$ref"))
        if reference not in merged_already:
            merged_already.update({reference} - {""})
            merged = merge_schemas(merged, _merge_parts(_follow(part, root), root, merged_already))
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
