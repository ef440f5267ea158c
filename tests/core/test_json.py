"""Reading foreign JSON: the wanted type or its empty value, never an exception."""

import pytest

from skales.core.json import JsonValue, as_int, as_list, as_object, as_text, parse_json


@pytest.mark.parametrize(
    ("value", "expected"),
    [(3, 3), (3.9, 3), (True, 0), ("3", 0), (None, 0), (float("inf"), 0), (float("nan"), 0), ([1], 0)],
)
def test_a_whole_number_or_zero(value: JsonValue, expected: int) -> None:
    assert as_int(value) == expected


def test_other_types_are_empty() -> None:
    assert (as_object([1]), as_object({"a": 1})) == ({}, {"a": 1})
    assert (as_list("text"), as_list([1])) == ((), [1])
    assert (as_text(1), as_text("a")) == ("", "a")


def test_nesting_that_would_exhaust_the_stack_is_an_error_and_not_a_crash() -> None:
    with pytest.raises(ValueError, match="nested too deeply"):
        parse_json("[" * 100_000)
