"""run_script, as the agent calls it."""

import sys
from pathlib import Path

import pytest

from skales.core.errors import InputError, ToolError
from skales.core.tool import Effect, Safety, property_formats
from skales.tools.registry import BuiltinToolbox
from tests.tools.conftest import Call

pytestmark = pytest.mark.anyio


def test_script_asks_first_and_its_shell_text_is_judged(toolbox: BuiltinToolbox) -> None:
    spec = toolbox.find("run_script")
    assert spec is not None
    assert (spec.category, spec.safety) == ("system", Safety.CONFIRM)
    assert spec.effects == {Effect.READS_PRIVATE, Effect.WRITES, Effect.DESTRUCTIVE, Effect.OUTBOUND}
    assert property_formats(spec) == {"shell": "shell-command", "cwd": "path"}
    assert toolbox.describe(spec, {"python": "print(1)"}) == "Run a script in Python: print(1)"


async def test_python_script_gets_arguments_and_folder(call: Call, workspace: Path) -> None:
    (workspace / "sub").mkdir()
    code = "import os, sys\nprint(sys.argv[1:], os.getcwd(), 'ü', sys.version_info[:2])"
    result = await call("run_script", python=code, arguments=["a b", "$HOME"], cwd="sub")
    assert result.text == (
        f"Exit code 0 after 0.0 s.\n['a b', '$HOME'] {workspace}/sub ü {sys.version_info[0], sys.version_info[1]}"
    )


async def test_shell_script_may_have_several_lines(call: Call) -> None:
    result = await call("run_script", shell="set -e\nfor i in 1 2; do\n  echo $i\ndone\nfalse\necho never")
    assert (result.is_error, result.text) == (True, "Exit code 1 after 0.0 s.\n1\n2")


async def test_error_of_a_script_names_its_line(call: Call) -> None:
    result = await call("run_script", python="x = 1\nraise ValueError('wrong')")
    assert result.is_error
    assert result.summary == "Exit code 1 after 0.0 s: ValueError: wrong"
    assert "line 2" in result.text


async def test_script_cannot_read_what_is_private(call: Call, workspace: Path) -> None:
    (workspace.parent / "settings.json").write_text('{"k": "TOP"}', encoding="utf-8")
    result = await call("run_script", python=f"print(open({str(workspace.parent / 'settings.json')!r}).read())")
    assert result.is_error
    assert "TOP" not in result.text


async def test_module_of_the_workspace_does_not_stand_in_for_the_librarys(call: Call, workspace: Path) -> None:
    (workspace / "json.py").write_text("print('mine')", encoding="utf-8")
    assert (await call("run_script", python="import json; print(json.dumps(1))")).text.endswith("\n1")


@pytest.mark.parametrize("given", [{}, {"python": "1", "shell": "ls"}, {"python": ""}])
async def test_exactly_one_script_must_be_given(given: dict[str, str], call: Call) -> None:
    with pytest.raises((InputError, ToolError), match="either python or shell"):
        await call("run_script", **given)


async def test_script_that_takes_too_long_is_ended(call: Call) -> None:
    result = await call("run_script", python="print('begun', flush=True)\nwhile True: pass", timeout_s=1)
    assert result.text == "Ended after 1 s without being finished.\nbegun"
