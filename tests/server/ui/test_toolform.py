"""A tool's form: fields from its schema, arguments from what was filled in."""

from collections.abc import Mapping
from typing import Any

import pytest

from skales.core.errors import InputError
from skales.core.json import JsonObject, JsonValue
from skales.core.tool import Safety, ToolExample, ToolSpec
from skales.server.ui.tool_views import Control
from skales.server.ui.toolform import build_fields, read_arguments, write_command


def spec(properties: Mapping[str, Any], required: tuple[str, ...] = (), example: JsonObject | None = None) -> ToolSpec:
    return ToolSpec(
        name="demo",
        description="Demo.",
        parameters={"type": "object", "properties": dict(properties), "required": list(required)},
        category="file",
        safety=Safety.AUTO,
        example=ToolExample("do it", example) if example else None,
    )


@pytest.mark.parametrize(
    ("name", "schema", "control"),
    [
        ("path", {"type": "string", "format": "path"}, Control.LINE),
        ("content", {"type": "string"}, Control.TEXT),
        ("count", {"type": "integer"}, Control.NUMBER),
        ("ratio", {"type": "number"}, Control.NUMBER),
        ("deep", {"type": "boolean"}, Control.SWITCH),
        ("mode", {"type": "string", "enum": ["a", "b"]}, Control.CHOICE),
        ("paths", {"type": "array", "items": {"type": "string", "format": "path"}}, Control.LIST),
        ("rows", {"type": "array", "items": {"type": "object"}}, Control.JSON),
        ("headers", {"type": "object"}, Control.JSON),
        ("maybe", {"anyOf": [{"type": "integer"}, {"type": "null"}]}, Control.NUMBER),
        ("maybe", {"type": ["string", "null"]}, Control.LINE),
        ("anything", {}, Control.JSON),
    ],
)
def test_each_type_has_its_control(name: str, schema: JsonObject, control: Control) -> None:
    (field,) = build_fields(spec({name: schema}))
    assert field.control is control


def test_a_field_tells_default_help_bounds_and_whether_it_must_be_given() -> None:
    count, path = build_fields(
        spec(
            {
                "count": {"type": "integer", "description": "How many.", "default": 5, "minimum": 1, "maximum": 9},
                "path": {"type": "string", "format": "path"},
            },
            ("path",),
        )
    )
    assert (count.value, count.help, count.minimum, count.maximum, count.step) == ("5", "How many.", "1", "9", "1")
    assert not count.required
    assert path.required
    assert "workspace" in path.help


@pytest.mark.parametrize(
    ("schema", "filled", "expected"),
    [
        ({"type": "string"}, "a b", "a b"),
        ({"type": "string"}, "a\r\nb", "a\nb"),
        ({"type": "integer"}, " 7 ", 7),
        ({"type": "number"}, "1.5", 1.5),
        ({"type": "array", "items": {"type": "string"}}, "a\r\n\r\n b ", ["a", "b"]),
        ({"type": "object"}, '{"a": [1]}', {"a": [1]}),
        ({"type": "string", "enum": ["x", "y"]}, "y", "y"),
    ],
)
def test_a_filled_field_becomes_its_value(schema: JsonObject, filled: str, expected: JsonValue) -> None:
    assert read_arguments(spec({"value": schema}), {"arg-value": filled}) == {"value": expected}


def test_empty_optional_fields_are_left_out_and_empty_required_text_is_sent() -> None:
    wanted = spec({"a": {"type": "string"}, "b": {"type": "integer"}, "c": {"type": "string"}}, ("c",))
    assert read_arguments(wanted, {"arg-a": " ", "arg-b": "", "arg-c": ""}) == {"c": ""}


@pytest.mark.parametrize(
    ("default", "filled", "expected"),
    [
        (False, {}, {}),
        (False, {"arg-deep": "true"}, {"deep": True}),
        (True, {}, {"deep": False}),
        (True, {"arg-deep": "true"}, {}),
    ],
)
def test_a_switch_is_sent_when_it_differs_from_its_default(
    default: bool, filled: Mapping[str, str], expected: JsonObject
) -> None:
    assert read_arguments(spec({"deep": {"type": "boolean", "default": default}}), filled) == expected


@pytest.mark.parametrize(
    ("schema", "filled", "words"),
    [
        ({"type": "integer"}, "soon", "Value must be a whole number"),
        ({"type": "integer"}, "1.5", "Value must be a whole number"),
        ({"type": "number"}, "x", "Value must be a number"),
        ({"type": "object"}, "{", "Value is not valid JSON"),
    ],
)
def test_a_wrong_value_is_refused_by_its_fields_name(schema: JsonObject, filled: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_arguments(spec({"value": schema}), {"arg-value": filled})


def test_a_parameter_named_like_a_fields_own_does_not_collide() -> None:
    wanted = spec({"action": {"type": "string"}, "name": {"type": "string"}})
    assert read_arguments(wanted, {"arg-action": "go", "action": "evil"}) == {"action": "go"}


def test_what_was_filled_in_stays_in_the_form() -> None:
    (field,) = build_fields(spec({"a": {"type": "string", "default": "x"}}), {"arg-a": "y"})
    assert field.value == "y"


def test_the_command_line_shows_the_required_parameters_with_the_tools_own_example() -> None:
    wanted = spec({"path": {"type": "string"}, "text": {"type": "string"}}, ("path", "text"), {"path": "my notes.txt"})
    assert write_command(wanted) == '/tool demo path="my notes.txt" text=…'
