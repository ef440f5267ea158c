from collections.abc import Sequence
from dataclasses import replace

from msgspec import structs

from skales.core.json import JsonObject, as_list, as_object
from skales.core.tool import ToolSpec
from skales.providers.weak.choice import build_choice_schema, build_example
from skales.providers.weak.mentions import Mentions, find_mentions
from tests.providers.weak.specs import CREATE_TASK, FETCH, LIST_TASKS, MOVE, READ, SEARCH, SYSTEM, WRITE, spec


def arguments(tool: ToolSpec, mentions: Mentions) -> JsonObject:
    choice = as_object(as_list(build_choice_schema([tool], mentions)["anyOf"])[0])
    return as_object(as_object(choice["properties"])["arguments"])


def shapes(tool: ToolSpec, message: str) -> JsonObject:
    return as_object(arguments(tool, find_mentions(message))["properties"])


def copying(message: str, *runs: str) -> Mentions:
    return structs.replace(find_mentions(message), runs=runs)


def test_a_choice_is_one_call_per_tool_or_a_reply() -> None:
    assert build_choice_schema([SYSTEM], Mentions()) == {
        "anyOf": [
            {
                "type": "object",
                "properties": {
                    "tool": {"const": "get_system_info"},
                    "arguments": {"type": "object", "properties": {}, "required": [], "additionalProperties": False},
                },
                "required": ["tool", "arguments"],
                "additionalProperties": False,
            },
            {
                "type": "object",
                "properties": {"tool": {"const": "reply"}, "text": {"type": "string"}},
                "required": ["tool", "text"],
                "additionalProperties": False,
            },
        ]
    }


def test_a_path_can_only_be_one_the_user_wrote() -> None:
    assert shapes(MOVE, "Move a.txt to b/a.txt") == {
        "source": {"enum": ["a.txt", "b/a.txt"]},
        "destination": {"enum": ["a.txt", "b/a.txt"]},
    }


def test_quoted_words_are_paths_when_no_path_is_named() -> None:
    assert shapes(READ, 'Read "my shopping list"') == {"path": {"enum": ["my shopping list"]}}


def test_an_address_can_only_be_one_the_user_wrote() -> None:
    assert shapes(FETCH, "What is on example.org?") == {"url": {"enum": ["https://example.org"]}}


def test_without_a_mention_the_model_writes_freely_and_formats_are_left_out() -> None:
    assert shapes(READ, "Read the shopping list") == {"path": {"type": "string"}}


def test_an_optional_path_is_offered_and_binding_once_the_message_names_one() -> None:
    assert list(shapes(SEARCH, "Search for TODO")) == ["query"]
    narrowed = arguments(SEARCH, find_mentions("Search for TODO in lib/"))
    assert as_object(narrowed["properties"])["path"] == {"enum": ["lib/"]}
    assert narrowed["required"] == ["query", "path"]


def test_numbers_are_offered_only_when_the_message_has_some() -> None:
    assert list(shapes(READ, "Read a.txt")) == ["path"]
    assert shapes(READ, "Read a.txt from line 20")["start"] == {"enum": [20]}


def test_a_named_value_of_a_list_narrows_it() -> None:
    assert shapes(LIST_TASKS, "List completed tasks")["status"] == {"enum": ["completed"]}


def test_arrays_of_paths_hold_paths_of_the_message() -> None:
    zipped = spec(
        "zip",
        "Zip.",
        {"paths": {"type": "array", "items": {"type": "string", "format": "path"}, "minItems": 1}},
        ["paths"],
    )
    assert shapes(zipped, "Zip a.txt and b.txt") == {
        "paths": {"type": "array", "items": {"enum": ["a.txt", "b.txt"]}, "minItems": 1}
    }


def test_a_model_that_copies_is_held_to_the_runs_and_gets_no_argument_nobody_spoke_of() -> None:
    mentions = copying("Create a task to buy milk", "buy milk", "milk")
    assert as_object(arguments(CREATE_TASK, mentions)["properties"]) == {"title": {"enum": ["buy milk", "milk"]}}


def test_a_model_that_writes_keeps_the_arguments_of_the_worked_example() -> None:
    assert list(shapes(CREATE_TASK, "Create a task to buy milk")) == ["title", "description"]


def test_an_example_shows_just_the_arguments_on_offer() -> None:
    assert build_example(LIST_TASKS, copying("Show me my tasks", "tasks")) == (
        "Which tasks are still open?",
        {"tool": "list_tasks", "arguments": {}},
    )


def test_an_example_for_a_copying_model_copies() -> None:
    example = build_example(CREATE_TASK, copying("Create a task to buy milk", "buy milk"))
    assert example == (
        "Later, compare the three offers",
        {"tool": "create_task", "arguments": {"title": "compare the three offers"}},
    )
    assert build_example(WRITE, copying("Write x to a.txt", "x")) == (
        "Save 'buy milk' as todo.txt",
        {"tool": "write_file", "arguments": {"path": "todo.txt", "content": "buy milk"}},
    )


def test_a_tool_without_an_example_shows_none() -> None:
    assert build_example(spec("plain", "Plain.", {}), Mentions()) is None


def test_schemas_without_properties_are_no_obstacle() -> None:
    names: Sequence[str] = list(arguments(replace(SYSTEM, parameters={}), Mentions())["properties"])  # type: ignore[arg-type]
    assert names == []
