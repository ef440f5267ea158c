import json

import pytest

from skales.core.json import JsonObject
from skales.providers.formats.schemas import (
    ANTHROPIC_ANSWER,
    GOOGLE_ANSWER,
    NotExpressibleError,
    Subset,
    reduce_answer_schema,
)

REDUCED: dict[str, tuple[Subset, JsonObject, JsonObject]] = {
    "an open object is closed": (
        ANTHROPIC_ANSWER,
        {"properties": {"a": {"type": "string", "minLength": 1}}, "additionalProperties": True},
        {
            "properties": {"a": {"type": "string", "description": "At least 1 characters."}},
            "additionalProperties": False,
        },
    ),
    "definitions and references stay": (
        ANTHROPIC_ANSWER,
        {"$ref": "#/$defs/A", "$defs": {"A": {"type": "array", "items": {"const": 1}, "minItems": 2}}},
        {
            "$ref": "#/$defs/A",
            "$defs": {"A": {"type": "array", "items": {"const": 1}, "description": "At least 2 items."}},
        },
    ),
    "one of becomes any of": (
        ANTHROPIC_ANSWER,
        {"oneOf": [{"type": "null"}, {"type": "integer", "maximum": 3}]},
        {"anyOf": [{"type": "null"}, {"type": "integer", "description": "At most 3."}]},
    ),
    "positions stay for Google": (
        GOOGLE_ANSWER,
        {"type": "array", "prefixItems": [{"const": 1}], "items": False, "uniqueItems": True},
        {"type": "array", "prefixItems": [{"enum": [1]}], "items": False, "description": "No item occurs twice."},
    ),
    "open names stay for Google": (
        GOOGLE_ANSWER,
        {"type": "object", "additionalProperties": {"type": "string"}, "uniqueItems": False, "title": "T"},
        {"type": "object", "additionalProperties": {"type": "string"}, "title": "T"},
    ),
}


@pytest.mark.parametrize("name", REDUCED)
def test_a_schema_is_reduced_to_a_subset(name: str) -> None:
    subset, schema, reduced = REDUCED[name]
    before = json.dumps(schema)
    assert reduce_answer_schema(schema, subset) == reduced
    assert json.dumps(schema) == before


@pytest.mark.parametrize(
    "schema",
    [{"type": "object"}, {"anyOf": [{"properties": {"a": {}}, "additionalProperties": {"type": "string"}}]}],
)
def test_objects_of_any_names_have_no_closed_schema(schema: JsonObject) -> None:
    with pytest.raises(NotExpressibleError):
        reduce_answer_schema(schema, ANTHROPIC_ANSWER)
