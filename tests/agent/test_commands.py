"""`/tool` as people type it."""

import pytest

from skales.agent.commands import is_tool_command, parse_tool_arguments, tool_name
from skales.core.errors import InputError
from skales.core.json import JsonObject
from skales.core.tool import Safety, ToolSpec

SPEC = ToolSpec(
    name="write_file",
    description="Write",
    parameters={
        "type": "object",
        "properties": {"path": {"type": "string"}, "content": {"type": "string"}, "tags": {"type": "array"}},
        "required": ["path", "content"],
    },
    category="file",
    safety=Safety.CONFIRM,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/tool write_file path=a.txt content=hi", {"path": "a.txt", "content": "hi"}),
        ('/tool write_file path="my notes.txt" content=hi', {"path": "my notes.txt", "content": "hi"}),
        ("/tool write_file a.txt 'two words'", {"path": "a.txt", "content": "two words"}),
        ("/tool write_file content=x=1 a.txt", {"content": "x=1", "path": "a.txt"}),
        ('/tool write_file a.txt x tags=\'["a", "b"]\'', {"path": "a.txt", "content": "x", "tags": ["a", "b"]}),
        ("/tool write_file a.txt x tags=[oops", {"path": "a.txt", "content": "x", "tags": "[oops"}),
        ("/tool write_file", {}),
        ("/tool  write_file\npath=a.txt\ncontent=b", {"path": "a.txt", "content": "b"}),
    ],
)
def test_arguments_are_read_as_a_person_means_them(text: str, expected: JsonObject) -> None:
    assert tool_name(text) == "write_file"
    assert parse_tool_arguments(text, SPEC) == expected


@pytest.mark.parametrize("text", ["/tool write_file 'open", "/tool write_file a b c"])
def test_what_cannot_be_read_is_refused_with_advice(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_tool_arguments(text, SPEC)
    assert caught.value.hint


def test_a_command_without_a_name_is_refused() -> None:
    with pytest.raises(InputError, match="No tool is named"):
        tool_name("/tool")


@pytest.mark.parametrize(
    ("text", "expected"), [("/tool", True), ("/tool x", True), ("/tools", False), ("a /tool x", False)]
)
def test_only_messages_that_begin_with_the_command_are_commands(text: str, expected: bool) -> None:
    assert is_tool_command(text) is expected
