"""Schemas as tools of strangers have them, and shapes of answers that may be asked for."""

from collections.abc import Mapping

from skales.core.json import JsonObject


def tool(**properties: object) -> JsonObject:
    return {"type": "object", "properties": properties}  # type: ignore[dict-item]


_SPAN: JsonObject = {"type": "object", "properties": {"from": {"type": "string"}}, "required": ["from"]}
_TREE: JsonObject = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "parts": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}},
}

TOOLS: Mapping[str, JsonObject] = {
    "nothing": {},
    "no properties": {"type": "object", "properties": {}},
    "no type": {"properties": {"path": {"type": "string"}}},
    "draft": {"$schema": "http://json-schema.org/draft-07/schema#", **tool(a={"type": "string"})},
    "null in types": tool(
        a={"type": ["string", "null"]}, b={"type": "null"}, c={"type": ["integer", "string", "null"]}
    ),
    "nullable": tool(a={"type": "string", "nullable": True}),
    "any of": tool(a={"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]}),
    "one of": tool(a={"oneOf": [_SPAN, {"type": "string", "enum": ["all", ""]}]}),
    "any of one": tool(a={"anyOf": [{"type": "null"}, {"type": "string"}]}, b={"anyOf": [{"type": "null"}]}),
    "all of": tool(a={"allOf": [_SPAN, {"properties": {"to": {"type": "string"}}}]}),
    "unions in unions": tool(a={"anyOf": [{"anyOf": [{"type": "string"}, {"type": "null"}]}, {"type": "number"}]}),
    "a union at the top": {"anyOf": [tool(a={"type": "string"}), tool(b={"type": "integer"})]},
    "a choice at the top": {"type": "object", "oneOf": [{**_SPAN}, {"required": ["b"], **tool(b={"type": "integer"})}]},
    "a reference": {**tool(span={"$ref": "#/$defs/Span", "description": "When"}), "$defs": {"Span": _SPAN}},
    "a reference at the top": {"$ref": "#/$defs/Span", "$defs": {"Span": _SPAN}},
    "definitions": {**tool(span={"$ref": "#/definitions/Span"}), "definitions": {"Span": _SPAN}},
    "a tree": {**tool(tree={"$ref": "#/$defs/Tree"}), "$defs": {"Tree": _TREE}},
    "a reference to itself": {"type": "object", "properties": {"next": {"$ref": "#"}}},
    "constants": tool(a={"const": "x"}, b={"const": 3}, c={"const": True}, d={"const": None}, e={"const": ""}),
    "lists of values": tool(
        a={"enum": ["x", "y"]},
        b={"enum": [1, 2.5, True, None, "z"]},
        c={"type": "integer", "enum": [0, 25]},
        d={"type": "boolean", "enum": [True]},
        e={"enum": [None]},
        f={"type": "string", "enum": [""]},
        g={"enum": [{"x": 1}, [2]]},
    ),
    "formats": tool(
        a={"type": "string", "format": "uri"},
        b={"type": "string", "format": "date-time"},
        c={"type": "string", "format": "path"},
        d={"type": "integer", "format": "int64"},
        e={"type": "integer", "format": "uint32"},
        f={"type": "number", "format": "double"},
    ),
    "defaults": tool(
        a={"type": "string", "default": "x"},
        b={"type": "object", "default": {}},
        c={"type": "array", "items": {"type": "string"}, "default": []},
        d={"default": None},
    ),
    "bounds": tool(
        a={"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 6, "multipleOf": 1},
        b={"type": "number", "minimum": 0, "exclusiveMaximum": 1.5},
        c={"type": "string", "minLength": 1, "maxLength": 9, "pattern": "^(?=x).*$"},
        d={"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 2, "uniqueItems": True},
        e={"type": "object", "minProperties": 1, "maxProperties": 2},
    ),
    "arrays": tool(
        a={"type": "array"},
        b={"type": "array", "items": {}},
        c={"type": "array", "items": True},
        d={"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]},
        e={"type": "array", "items": {"type": "array", "items": {"type": "array"}}},
    ),
    "objects of any name": tool(
        a={"type": "object", "additionalProperties": {"type": "string"}},
        b={"type": "object", "patternProperties": {"^x": {"type": "string"}}},
        c={"type": "object", "propertyNames": {"pattern": "^[a-z]+$"}, "additionalProperties": True},
        d={"type": "object"},
    ),
    "conditions": {
        **tool(a={"type": "string"}, b={"not": {"type": "null"}}),
        "if": {"required": ["a"]},
        "then": {"required": ["b"]},
        "else": {},
        "dependentRequired": {"a": ["b"]},
    },
    "names of properties": tool(
        **{"a b": {"type": "string"}, "ü": {"type": "string"}, "$ref": {"type": "string"}, "x" * 80: {}}
    ),
    "a required name that does not exist": {**tool(a={"type": "string"}), "required": ["a", "b", "a"]},
    "schemas that are true": tool(a=True, b={}),
    "words for readers": tool(
        a={"type": "string", "title": "A", "examples": ["x"], "deprecated": True, "readOnly": True}
    ),
    "an older draft": {
        "$schema": "http://json-schema.org/draft-04/schema#",
        **tool(
            a={"type": "array", "items": [{"type": "string"}, {"type": "number"}], "additionalItems": False},
            b={"type": "number", "minimum": 0, "exclusiveMinimum": True, "maximum": 9, "exclusiveMaximum": False},
            c={"type": "string", "required": True, "id": "c"},
        ),
    },
    "values that mean nothing": {
        **tool(
            a={"type": "any", "description": None, "enum": None, "minLength": -1},
            b={"type": ["string", "file", "string"], "pattern": 3, "format": None, "title": 1},
            c={"type": [], "anyOf": [], "properties": [], "required": None, "items": None},
            d=None,
            e={"type": None, "minimum": "0", "uniqueItems": "yes", "allOf": None, "additionalProperties": "none"},
        ),
        "required": "a",
    },
    "properties that are none": {"type": "object", "properties": None, "additionalProperties": False},
    "keywords nobody knows": {**tool(a={"type": "string", "x-order": 1, "markdownDescription": "*x*"}), "x-y": {}},
}

ANSWERS: Mapping[str, JsonObject] = {
    "strict": {**tool(a={"type": "string"}), "required": ["a"], "additionalProperties": False},
    "loose": tool(a={"type": "string"}, b={"type": "integer", "minimum": 0}),
    "open": {"type": "object"},
    "nested": {
        **tool(rows={"type": "array", "items": {"$ref": "#/$defs/Row"}}),
        "$defs": {"Row": {**tool(kind={"const": "x"}, size={"type": ["integer", "null"]}), "required": ["kind"]}},
    },
    "choices": tool(a={"oneOf": [{"type": "string"}, {"type": "null"}]}, b={"enum": [1, "x", None]}),
}
