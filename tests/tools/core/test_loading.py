"""load_tools: finds by words and by name, and its first line names what can be called then."""

import pytest

from skales.core.errors import ToolError
from tests.tools.conftest import Call


@pytest.mark.anyio
async def test_tools_are_found_by_what_is_to_be_done(call: Call) -> None:
    result = await call("load_tools", query="pack these files into a zip")
    assert result.text.startswith("Ready to call: create_archive")
    assert "- create_archive: " in result.text


@pytest.mark.anyio
async def test_tools_are_found_by_name_and_by_beginning(call: Call) -> None:
    result = await call("load_tools", names=["move_file", "create_"])
    assert isinstance(result.data, list)
    assert result.data[0] == "move_file"
    assert {"create_archive", "create_directory", "create_task"} < set(result.data)
    assert all(str(name).startswith("create_") for name in result.data[1:])


@pytest.mark.anyio
@pytest.mark.parametrize("arguments", [{}, {"query": " "}, {"query": "xyzzy"}, {"names": ["no_such_tool"]}])
async def test_nothing_found_is_an_error_that_says_so(call: Call, arguments: dict[str, object]) -> None:
    with pytest.raises(ToolError):
        await call("load_tools", **arguments)
