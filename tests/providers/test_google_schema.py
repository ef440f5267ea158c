import json
from typing import Any

import pytest

from skales.core.json import JsonObject, JsonValue, as_object
from skales.providers.formats.google_schema import translate_parameters
from tests.conftest import CASES

FOLDER = CASES / "providers"
TOOLS = {tool["name"]: tool for tool in json.loads((FOLDER / "PRV-05-gemini-schemas.json").read_text(encoding="utf-8"))}
WANTED = json.loads((FOLDER / "PRV-05-gemini-schemas.expected.json").read_text(encoding="utf-8"))
ANY = {"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "boolean"}]}
AS_TEXT = "Objects and arrays are written as JSON text."


def translate(name: str) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(json.dumps(translate_parameters(TOOLS[name]["parameters"]).schema))
    return schema


def at(schema: Any, path: str) -> Any:
    for step in path.split("/")[1:]:
        schema = schema[step]
    return schema


def one(schema: JsonValue, defs: JsonObject | None = None) -> Any:
    """How one property is written."""
    wire = translate_parameters({"type": "object", "properties": {"a": schema}, "$defs": defs or {}})
    return json.loads(json.dumps(wire.schema))["properties"]["a"]


def back(schema: JsonValue, value: JsonValue, defs: JsonObject | None = None) -> JsonValue:
    """How the value of one property comes back."""
    wire = translate_parameters({"type": "object", "properties": {"a": schema}, "$defs": defs or {}})
    return as_object(wire.turn_back({"a": value}))["a"]


def names_of_keywords(schema: Any) -> set[str]:
    found = set(schema)
    items = [schema["items"]] if "items" in schema else []
    for inner in [*schema.get("properties", {}).values(), *schema.get("anyOf", []), *items]:
        found |= names_of_keywords(inner)
    return found


# --- PRV-05 ---


@pytest.mark.parametrize("name", TOOLS)
def test_only_the_documented_subset_is_sent_and_the_tool_keeps_its_schema(name: str) -> None:
    before = json.dumps(TOOLS[name])
    assert not names_of_keywords(translate(name)) & set(WANTED["forbidden_anywhere"])
    assert json.dumps(TOOLS[name]) == before


@pytest.mark.parametrize("rule", [rule for rule in WANTED["assert"] if "is" in rule], ids=lambda rule: rule["at"])
def test_what_the_case_spells_out_is_so(rule: dict[str, Any]) -> None:
    found = at(translate(rule["tool"]), rule["at"])
    kept = {key: found[key] for key in rule["is"]} if isinstance(found, dict) else found
    assert kept == rule["is"]


def test_the_rules_of_the_case_hold() -> None:
    lamp, link = translate("set_lamp")["properties"], translate("open_link")["properties"]
    assert lamp["level"] == {"type": "string", "enum": ["0", "25", "50", "100"]}
    assert lamp["warm"] == {"type": "boolean", "description": "Always true."}
    assert link["url"] == {"type": "string", "minLength": 1, "description": "Format: uri."}
    assert link["tries"] == {"type": "integer", "minimum": 1, "maximum": 5}
    assert translate("ping_self") == {}
    tags = translate("tag_all")["properties"]
    assert tags["tags"]["items"] == {"type": "string"}
    assert tags["mode"] == {"type": "string", "enum": ["fast", "slow"]}
    assert tags["labels"]["type"] == "string"
    people = translate("find_slot")["properties"]["people"]
    assert people == {"type": "array", "items": {"type": "string", "nullable": True}}


def test_what_the_wire_forced_is_turned_back() -> None:
    lamp = translate_parameters(TOOLS["set_lamp"]["parameters"])
    assert lamp.turn_back({"level": "25"}) == {"level": 25}
    with pytest.raises(ValueError, match=r"level: must be one of 0, 25, 50, 100, not '30'"):
        lamp.turn_back({"level": "30"})
    assert back(TOOLS["tag_all"]["parameters"]["properties"]["labels"], '{"a": "b"}') == {"a": "b"}


# --- each kind of schema: how it is written, and how values come back ---

DEFS: JsonObject = {
    "Variants": {"anyOf": [{"type": "string"}, {"type": "boolean"}]},
    "Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}, "required": ["next"]},
    "Item": {"type": "string", "maxLength": 9},
    "Loop": {"$ref": "#/$defs/Loop"},
}

WRITTEN: dict[str, tuple[JsonValue, object]] = {
    "anything": ({}, ANY),
    "anything, as true": (True, ANY),
    "anything, described": (
        {"description": "Any."},
        {"anyOf": [{"type": "string", "description": "Any."}, *ANY["anyOf"][1:]]},
    ),
    "a type nobody knows": ({"type": "file"}, ANY),
    "null": ({"type": "null"}, {"type": "null"}),
    "null among variants only": ({"anyOf": [{"type": "null"}]}, {"type": "null"}),
    "null as the only value": ({"const": None}, {"type": "string", "nullable": True}),
    "two types": (
        {"type": ["integer", "string"], "minimum": 1, "minLength": 2, "description": "d"},
        {
            "anyOf": [
                {"type": "integer", "minimum": 1, "description": "d"},
                {"type": "string", "minLength": 2, "description": "d"},
            ]
        },
    ),
    "two types or null": (
        {"type": ["integer", "boolean", "null"]},
        {"anyOf": [{"type": "integer", "nullable": True}, {"type": "boolean", "nullable": True}]},
    ),
    "nullable as OpenAPI says it": ({"type": "string", "nullable": True}, {"type": "string", "nullable": True}),
    "a union in a union": (
        {"oneOf": [{"anyOf": [{"type": "string"}, {"type": "integer"}]}, {"type": "boolean"}], "nullable": True},
        {"anyOf": [{"type": kind, "nullable": True} for kind in ("string", "integer", "boolean")]},
    ),
    "one variant": ({"anyOf": [{"type": "string"}], "description": "d"}, {"type": "string", "description": "d"}),
    "variants of what is required": (
        {"properties": {"x": {"type": "string"}}, "anyOf": [{"required": ["x"]}, {"type": "null"}]},
        {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"], "nullable": True},
    ),
    "all of": (
        {"allOf": [{"$ref": "#/$defs/Item"}, {"maxLength": 5, "minLength": 1}, {"minLength": 2}]},
        {"type": "string", "maxLength": 5, "minLength": 2},
    ),
    "all of objects": (
        {
            "allOf": [
                {"properties": {"x": {"type": "integer", "minimum": 1}}, "required": ["x"]},
                {"properties": {"x": {"maximum": 3}, "y": {"enum": ["a"]}}, "required": ["x", "y"]},
            ]
        },
        {
            "type": "object",
            "properties": {
                "x": {"type": "integer", "minimum": 1, "maximum": 3},
                "y": {"type": "string", "enum": ["a"]},
            },
            "required": ["x", "y"],
        },
    ),
    "all of lists": (
        {"allOf": [{"items": {"enum": ["a", "b"]}}, {"items": {"enum": ["b", "c"]}}, {"minItems": 1}]},
        {"type": "array", "items": {"type": "string", "enum": ["b"]}, "minItems": 1},
    ),
    "a reference": (
        {"$ref": "#/$defs/Item", "description": "d"},
        {"type": "string", "maxLength": 9, "description": "d"},
    ),
    "a reference to nowhere": ({"$ref": "#/$defs/Ghost"}, ANY),
    "a reference to elsewhere": ({"$ref": "https://example.com/schema"}, ANY),
    "a reference into a list": ({"$ref": "#/$defs/Variants/anyOf/1"}, {"type": "boolean"}),
    "a reference beyond a list": ({"$ref": "#/$defs/Variants/anyOf/7"}, ANY),
    "a reference to itself": ({"$ref": "#/$defs/Loop"}, {"type": "string", "description": AS_TEXT}),
    "an endless object": (
        {"$ref": "#/$defs/Node"},
        {
            "type": "object",
            "properties": {"next": {"type": "string", "description": AS_TEXT}},
            "required": ["next"],
        },
    ),
    "strings listed": ({"enum": ["b", "a", "b", ""]}, {"type": "string", "enum": ["b", "a"]}),
    "nothing but an empty string": ({"enum": [""]}, {"type": "string"}),
    "strings or null listed": ({"enum": ["a", None]}, {"type": "string", "enum": ["a"], "nullable": True}),
    "values of several types listed": ({"enum": [1, "x", 0.5]}, {"type": "string", "enum": ["1", "x", "0.5"]}),
    "booleans listed": ({"enum": [True, False]}, {"type": "boolean"}),
    "a number that is always the same": ({"const": 7}, {"type": "string", "enum": ["7"]}),
    "a string of a known format": (
        {"type": "string", "format": "date-time"},
        {"type": "string", "format": "date-time"},
    ),
    "a string of the gate's format": ({"type": "string", "format": "path"}, {"type": "string"}),
    "a pattern": ({"type": "string", "pattern": "^a+$"}, {"type": "string", "pattern": "^a+$"}),
    "a pattern that looks ahead": (
        {"type": "string", "pattern": "^(?=a)"},
        {"type": "string", "description": "Fits the pattern ^(?=a)."},
    ),
    "whole numbers between fractions": (
        {"type": "integer", "minimum": 0.5, "maximum": 4.5, "multipleOf": 2},
        {"type": "integer", "minimum": 1, "maximum": 4, "description": "A multiple of 2."},
    ),
    "exclusive bounds as older schemas say them": (
        {"type": "integer", "minimum": 0, "exclusiveMinimum": True, "maximum": 6, "exclusiveMaximum": True},
        {"type": "integer", "minimum": 1, "maximum": 5},
    ),
    "exclusive bounds of fractions": (
        {"type": "number", "exclusiveMinimum": 0, "maximum": 1, "format": "double"},
        {"type": "number", "maximum": 1, "format": "double", "description": "Greater than 0."},
    ),
    "a number by its bounds": ({"minimum": 1}, {"type": "number", "minimum": 1}),
    "a list of what is not said": ({"type": "array"}, {"type": "array", "items": {"type": "string"}}),
    "a list of positions": (
        {"prefixItems": [{"type": "string"}], "maxItems": 2},
        {"type": "array", "items": {"type": "string"}, "maxItems": 2},
    ),
    "words for the rest": (
        {"type": "string", "description": "Name.", "default": "x", "not": {"const": "y"}, "title": "T"},
        {"type": "string", "description": 'Name. Default: x. Also holds: {"not": {"const": "y"}}.'},
    ),
    "an object of any names": (
        {"type": "object", "description": "Map."},
        {"type": "string", "description": "Map. A JSON object, written as text."},
    ),
    "names that are not legal": (
        {"type": "object", "properties": {"a": False, "b": {"type": "string"}}, "required": ["a", "b", "b"]},
        {"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"]},
    ),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_a_schema_is_translated(name: str) -> None:
    schema, written = WRITTEN[name]
    assert one(schema, DEFS) == written


@pytest.mark.parametrize(
    ("schema", "value", "turned"),
    [
        ({}, "[1, 2]", [1, 2]),
        ({}, "[1, 2", "[1, 2"),
        ({}, "5", "5"),
        ({}, 5, 5),
        ({"type": "integer"}, 5.0, 5),
        ({"type": "integer"}, 5.5, 5.5),
        ({"type": "number"}, 5.0, 5.0),
        ({"enum": [1, "x", 0.5, None]}, "0.5", 0.5),
        ({"enum": [1, "x", None]}, 1, 1),
        ({"enum": [1, "x", None]}, None, None),
        ({"const": 7}, None, None),
        ({"type": "object"}, ' {"a": 1} ', {"a": 1}),
        ({"type": "object"}, {"a": 1}, {"a": 1}),
        ({"type": "array", "items": {"enum": [1, 2]}}, ["1", 2], [1, 2]),
        ({"type": "array", "items": {"enum": [1, 2]}}, "1", "1"),
        ({"type": "array"}, ['{"a": 1}', "b"], [{"a": 1}, "b"]),
        ({"properties": {"x": {"enum": [1]}}}, {"x": "1", "y": "1"}, {"x": 1, "y": "1"}),
        ({"properties": {"x": {"enum": [1]}}}, "text", "text"),
        ({"anyOf": [{"enum": [1, 2]}, {"type": "string"}]}, "2", 2),
        ({"anyOf": [{"enum": [1, 2]}, {"type": "string"}]}, "3", "3"),
        ({"anyOf": [{"type": "object"}, {"type": "boolean"}]}, "nonsense", "nonsense"),
        ({"anyOf": [{"type": "boolean"}, {"type": "object"}]}, '{"a": 1}', {"a": 1}),
        ({"anyOf": [{"type": "integer"}, {"type": "array"}, {"type": "number"}]}, 1.5, 1.5),
        ({"anyOf": [{"type": "integer"}, {"type": "array"}]}, ["a"], ["a"]),
        ({"anyOf": [{"type": "integer"}, {"type": "boolean"}, {"type": "null"}]}, None, None),
        ({"anyOf": [{"type": "integer"}, {}]}, "[1]", [1]),
        ({"anyOf": [{"enum": [1, "a"]}, {"enum": [None, 2, "b"]}]}, None, None),
        ({"$ref": "#/$defs/Node"}, {"next": '{"next": {}}'}, {"next": {"next": {}}}),
    ],
)
def test_a_value_is_turned_back(schema: JsonValue, value: JsonValue, turned: JsonValue) -> None:
    found = back(schema, value, DEFS)
    assert (found, type(found)) == (turned, type(turned))


@pytest.mark.parametrize(
    ("schema", "value", "words"),
    [
        ({"type": "object"}, "nonsense", "a: must be one JSON object"),
        ({"type": "object"}, '{"a": 1} {}', "a: must be one JSON object"),
        ({"type": "object"}, '{"a": nonsense}', "a: must be a JSON object written as text"),
        ({"type": "array", "items": {"enum": [1]}}, ["1", "2"], "a: 1: must be one of 1, not '2'"),
    ],
)
def test_a_value_that_cannot_be_turned_back_is_explained(schema: JsonValue, value: JsonValue, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        back(schema, value)


def test_names_that_are_not_legal_are_spelled_and_turned_back() -> None:
    names = ["$filter", "user-id", "user_id", "ü", "9", "x" * 70, "x" * 71]
    schema: JsonObject = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
    wire = translate_parameters({**schema, "required": names})
    properties = json.loads(json.dumps(wire.schema))["properties"]
    assert len(properties) == len(names)
    assert all(name.isidentifier() and name.isascii() and len(name) <= 64 for name in properties)
    assert wire.schema["required"] == list(properties)
    assert wire.turn_back(dict.fromkeys(properties, "v")) == dict.fromkeys(names, "v")


def test_variants_of_all_arguments_become_one_object() -> None:
    wire = translate_parameters(
        {
            "oneOf": [{"$ref": "#/$defs/A"}, {"properties": {"b": {"type": "string"}, "id": {}}, "required": ["id"]}],
            "$defs": {"A": {"properties": {"a": {"enum": [1]}, "id": {"type": "string"}}, "required": ["a", "id"]}},
        }
    )
    assert set(json.loads(json.dumps(wire.schema))["properties"]) == {"a", "b", "id"}
    assert wire.schema["required"] == ["id"]
    assert wire.turn_back({"a": "1", "id": "x"}) == {"a": 1, "id": "x"}


def test_a_schema_that_multiplies_stays_small() -> None:
    defs: dict[str, JsonValue] = {
        f"L{level}": {
            "type": "object",
            "properties": {f"p{index}": {"$ref": f"#/$defs/L{level + 1}"} for index in range(20)},
            "allOf": [{"$ref": f"#/$defs/L{level}"}, {"$ref": f"#/$defs/L{level}"}],
        }
        for level in range(10)
    }
    wire = translate_parameters({"type": "object", "properties": {"a": {"$ref": "#/$defs/L0"}}, "$defs": defs})
    assert len(json.dumps(wire.schema)) < 1_000_000
