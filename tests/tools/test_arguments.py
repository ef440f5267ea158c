from typing import Any

import pytest

from skales.core.errors import InputError
from skales.core.json import JsonValue
from skales.core.tool import Safety, ToolSpec
from skales.tools.arguments import check_arguments


def spec_of(required: tuple[str, ...] = (), **properties: Any) -> ToolSpec:
    schema: Any = {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }
    return ToolSpec(name="probe", description="d", parameters=schema, category="core", safety=Safety.AUTO)


TEXT = {"type": "string"}
WHOLE = {"type": "integer", "minimum": 1, "maximum": 100}
NUMBER = {"type": "number"}
FLAG = {"type": "boolean"}
CHOICE = {"type": "string", "enum": ["fast", "slow"]}
TEXTS = {"type": "array", "items": TEXT}
WHOLES = {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 3}
OBJECT = {"type": "object"}


@pytest.mark.parametrize(
    ("schema", "given", "checked"),
    [
        (TEXT, "a", "a"),
        (TEXT, "", ""),
        (TEXT, 3, "3"),
        (TEXT, 1.5, "1.5"),
        (TEXT, True, "true"),
        (WHOLE, 3, 3),
        (WHOLE, "3", 3),
        (WHOLE, " 3 ", 3),
        (WHOLE, 3.0, 3),
        (WHOLE, "3.0", 3),
        (NUMBER, 3, 3),
        (NUMBER, "3.5", 3.5),
        (FLAG, True, True),
        (FLAG, "true", True),
        (FLAG, "False", False),
        (FLAG, 1, True),
        (FLAG, 0, False),
        (CHOICE, "slow", "slow"),
        (CHOICE, " Slow ", "slow"),
        (TEXTS, ["a", "b"], ["a", "b"]),
        (TEXTS, "a", ["a"]),
        (TEXTS, '["a", "b"]', ["a", "b"]),
        (TEXTS, "[draft] notes.txt", ["[draft] notes.txt"]),
        (TEXTS, [], []),
        (WHOLES, ["1", 2], [1, 2]),
        (WHOLES, 7, [7]),
        (OBJECT, {"a": 1}, {"a": 1}),
        (OBJECT, '{"a": 1}', {"a": 1}),
        ({}, ["anything"], ["anything"]),
    ],
)
def test_harmless_spellings_are_made_right(schema: Any, given: JsonValue, checked: JsonValue) -> None:
    result = check_arguments(spec_of(value=schema), {"value": given})["value"]
    assert result == checked
    assert type(result) is type(checked)


@pytest.mark.parametrize(
    ("schema", "given", "expected"),
    [
        (TEXT, ["a"], "a text"),
        (TEXT, {"a": 1}, "a text"),
        (WHOLE, "three", "a whole number"),
        (WHOLE, 3.5, "a whole number"),
        (WHOLE, True, "a whole number"),
        (WHOLE, "", "a whole number"),
        (WHOLE, "9" * 5000, "a whole number"),
        (WHOLE, "٣", "a whole number"),
        (WHOLE, 1e300, "a whole number"),
        (WHOLE, 0, "between 1 and 100"),
        (WHOLE, "101", "between 1 and 100"),
        (NUMBER, "much", "a number"),
        (NUMBER, "nan", "a number"),
        (NUMBER, float("inf"), "a number"),
        (FLAG, "yes", "true or false"),
        (FLAG, 2, "true or false"),
        (CHOICE, "medium", "one of fast, slow"),
        (WHOLES, ["1", "x"], "a list whose entry 2 is a whole number"),
        (WHOLES, [1, 2, 3, 4], "a list of 1 to 3 entries"),
        (WHOLES, [], "a list of 1 to 3 entries"),
        (OBJECT, "a", "an object"),
        (OBJECT, [1], "an object"),
    ],
)
def test_what_would_lose_meaning_is_refused_and_named(schema: Any, given: JsonValue, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        check_arguments(spec_of(value=schema), {"value": given})
    assert f"'value' should be {expected}, got" in caught.value.message
    assert len(caught.value.message) < 200


@pytest.mark.parametrize(
    ("given", "checked"),
    [
        ('[{"title": "Ä"}]', '[{"title": "Ä"}]'),
        ([{"title": "Ä"}], '[{"title": "Ä"}]'),
        ({"month": "May"}, '{"month": "May"}'),
        ([], "[]"),
        ("not json", "not json"),
        (None, None),
    ],
)
def test_a_json_text_takes_its_array_or_object_too(given: JsonValue, checked: str | None) -> None:
    assert check_arguments(spec_of(parts_json=TEXT), {"parts_json": given}).get("parts_json") == checked


def test_a_missing_argument_is_named_with_all_there_are() -> None:
    with pytest.raises(InputError) as caught:
        check_arguments(spec_of(("path",), path=TEXT, count=WHOLE), {"count": 3})
    assert caught.value.message == "The arguments of probe do not fit: 'path' is missing"
    assert caught.value.hint == "It takes path (string, required), count (integer)"


def test_null_means_not_given() -> None:
    assert check_arguments(spec_of(count=WHOLE), {"count": None}) == {}
    with pytest.raises(InputError, match="'count' is missing"):
        check_arguments(spec_of(("count",), count=WHOLE), {"count": None})


@pytest.mark.parametrize(
    ("known", "given", "meant"),
    [
        ("path", "file_path", "path"),
        ("path", "filename", "path"),
        ("path", "Path", "path"),
        ("old_text", "old_string", "old_text"),
        ("content", "text", "content"),
        ("destination", "dest", "destination"),
        ("recursive", "recursiv", "recursive"),
    ],
)
def test_an_unknown_argument_is_refused_with_the_one_that_is_meant(known: str, given: str, meant: str) -> None:
    with pytest.raises(InputError, match=f"there is no '{given}' \\(did you mean '{meant}'\\?\\)"):
        check_arguments(spec_of((), **{known: TEXT}), {given: "x"})


def test_an_argument_that_is_given_already_is_not_suggested() -> None:
    with pytest.raises(InputError) as caught:
        check_arguments(spec_of(path=TEXT), {"path": "a", "file_path": "b"})
    assert caught.value.message == "The arguments of probe do not fit: there is no 'file_path'"


def test_all_faults_are_told_at_once() -> None:
    with pytest.raises(InputError) as caught:
        check_arguments(spec_of(("path",), path=TEXT, count=WHOLE), {"speed": 1, "count": "x"})
    assert caught.value.message.count(";") == 2


def test_arguments_come_in_the_order_of_the_schema() -> None:
    assert list(check_arguments(spec_of(a=TEXT, b=TEXT), {"b": "2", "a": "1"})) == ["a", "b"]


def test_checking_twice_changes_nothing() -> None:
    spec = spec_of(a=WHOLE, b=TEXTS, c=FLAG)
    once = check_arguments(spec, {"a": "3", "b": "x", "c": "true"})
    assert check_arguments(spec, once) == once


def test_a_tool_without_arguments_says_so() -> None:
    with pytest.raises(InputError) as caught:
        check_arguments(spec_of(), {"path": "a"})
    assert caught.value.hint == "It takes no arguments"
