from typing import Any

import pytest

from skales.core.json import JsonObject
from skales.core.message import Role, text_message
from skales.core.ports import ChatRequest
from skales.core.tool import Safety, ToolSpec
from skales.providers.catalog import find_entry
from skales.providers.formats.openai_request import build_body, concede
from skales.providers.formats.schema_repair import fill_items, make_valid

VALID: JsonObject = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "properties": {
        "a": {"type": ["string", "null"], "default": None, "format": "uri"},
        "b": {"anyOf": [{"type": "array", "uniqueItems": True}, {"$ref": "#/$defs/Row"}]},
        "c": {"const": None},
        "type": {"type": "string"},
    },
    "required": ["a"],
    "additionalProperties": False,
    "$defs": {"Row": {"type": "object", "additionalProperties": {"type": "string"}}},
}


def test_a_valid_schema_stays_as_it_is() -> None:
    assert make_valid(VALID) == VALID


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ({}, {"type": "object", "properties": {}}),
        ({"type": "object"}, {"type": "object", "properties": {}}),
        ({"properties": {"a": True}}, {"type": "object", "properties": {"a": True}}),
        (
            {"type": "object", "properties": {"a": {"type": "string", "required": True}}, "required": ["a", "a", 1]},
            {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
        ),
    ],
    ids=["nothing", "no properties", "no type", "required in many ways"],
)
def test_the_top_is_an_object_with_properties(written: JsonObject, sent: JsonObject) -> None:
    assert make_valid(written) == sent


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ({"items": [{"type": "string"}, {}]}, {"prefixItems": [{"type": "string"}, {}]}),
        ({"items": [{}], "additionalItems": False}, {"prefixItems": [{}], "items": False}),
        ({"minimum": 0, "exclusiveMinimum": True}, {"exclusiveMinimum": 0}),
        ({"maximum": 9, "exclusiveMaximum": False}, {"maximum": 9}),
        ({"type": "any"}, {}),
        ({"type": ["string", "file", "string"]}, {"type": ["string"]}),
        ({"anyOf": [], "enum": None, "description": None, "minLength": -1}, {}),
        ({"default": None, "x-order": None}, {"default": None, "x-order": None}),
        (None, {}),
    ],
)
def test_what_means_nothing_goes_and_what_is_old_is_written_anew(written: Any, sent: JsonObject) -> None:
    assert make_valid({"properties": {"a": written}})["properties"] == {"a": sent}


def test_arrays_say_what_they_hold_when_the_endpoint_demands_it() -> None:
    """`In context=('properties', 'a'), array schema missing items`: OpenAI; no other gets a schema that was changed."""
    parameters: JsonObject = {"type": "object", "properties": {"a": {"type": "array"}, "items": {"type": "string"}}}
    tool = ToolSpec(name="x", description="", parameters=parameters, category="c", safety=Safety.AUTO)
    request = ChatRequest(model="m", messages=(text_message(Role.USER, "Hi"),), tools=(tool,))
    entry = find_entry("openai")
    body: Any = build_body(entry, request, frozenset())
    assert body["tools"][0]["function"]["parameters"] == parameters
    wish = concede(body, "Invalid schema for function 'x': In context=('properties', 'a'), array schema missing items.")
    again: Any = build_body(entry, request, frozenset({wish}))
    assert again["tools"][0]["function"]["parameters"] == {
        "type": "object",
        "properties": {"a": {"type": "array", "items": {}}, "items": {"type": "string"}},
    }
    assert fill_items({"anyOf": [{"type": ["array", "null"]}, True]}) == {
        "anyOf": [{"type": ["array", "null"], "items": {}}, True]
    }
