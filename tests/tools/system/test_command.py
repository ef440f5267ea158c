"""execute_command, as the agent calls it."""

from pathlib import Path

import psutil
import pytest

from skales.core.errors import InputError, ToolError, ToolRefusedError
from skales.core.json import as_object
from skales.core.tool import Effect, Safety, property_formats
from skales.tools.programs import SandboxRules
from skales.tools.registry import BuiltinToolbox
from skales.tools.system.sandbox import find_sandbox
from tests.tools.conftest import Call, Rules

pytestmark = pytest.mark.anyio


def test_command_asks_first_and_may_do_anything(toolbox: BuiltinToolbox) -> None:
    spec = toolbox.find("execute_command")
    assert spec is not None
    assert (spec.category, spec.safety) == ("system", Safety.CONFIRM)
    assert spec.effects == {Effect.READS_PRIVATE, Effect.WRITES, Effect.DESTRUCTIVE, Effect.OUTBOUND}
    assert property_formats(spec) == {"command": "shell-command", "cwd": "path"}
    assert toolbox.describe(spec, {"command": "ls -l", "cwd": "notes"}) == "Run ls -l in notes"
    assert toolbox.describe(spec, {"command": "ls"}) == "Run ls"


async def test_command_runs_in_the_workspace(call: Call, workspace: Path) -> None:
    result = await call("execute_command", command="pwd; echo hello > made.txt; cat made.txt")
    assert result.text == f"Exit code 0 after 0.0 s.\n{workspace}\nhello"
    assert (result.summary, result.is_error) == ("Exit code 0 after 0.0 s", False)
    assert as_object(result.data) == {
        "exit_code": 0,
        "timed_out": False,
        "sandbox": find_sandbox().kind.value,
        "network": False,
    }


async def test_command_runs_in_the_named_folder(call: Call, workspace: Path) -> None:
    (workspace / "sub").mkdir()
    assert (await call("execute_command", command="pwd", cwd="sub")).text.endswith(f"{workspace}/sub")


async def test_folder_that_a_rule_forbids_is_refused(call: Call, rules: Rules) -> None:
    with pytest.raises(ToolRefusedError):
        await call("execute_command", command="ls", cwd=str(rules.paths.blocked[0]))


async def test_folder_that_is_missing_is_an_error(call: Call) -> None:
    with pytest.raises(ToolError, match="does not exist"):
        await call("execute_command", command="ls", cwd="nowhere")


async def test_command_that_fails_is_an_error_with_its_output(call: Call) -> None:
    result = await call("execute_command", command="echo before; echo 'it went wrong' >&2; exit 7")
    assert result.is_error
    assert result.text == "Exit code 7 after 0.0 s.\nbefore\nit went wrong"
    assert result.summary == "Exit code 7 after 0.0 s: it went wrong"
    silent = await call("execute_command", command="exit 1")
    assert (silent.text, silent.summary) == ("Exit code 1 after 0.0 s.\n(no output)", "Exit code 1 after 0.0 s")


async def test_command_ended_by_a_signal_says_so(call: Call) -> None:
    result = await call("execute_command", command="kill -TERM $$")
    assert (result.is_error, result.text) == (True, "Ended by signal 15 after 0.0 s.\n(no output)")


async def test_command_that_takes_too_long_is_ended_and_says_so(call: Call) -> None:
    result = await call("execute_command", command="echo begun; sleep 60", timeout_s=1)
    assert result.is_error
    assert result.text == "Ended after 1 s without being finished.\nbegun"
    assert as_object(result.data)["exit_code"] is None
    assert as_object(result.data)["timed_out"] is True


async def test_what_a_command_leaves_running_ends_with_it(call: Call) -> None:
    result = await call("execute_command", command="sleep 7351.7351 & echo started")
    assert result.text == "Exit code 0 after 0.0 s.\nstarted"
    words = [process.info["cmdline"] or [] for process in psutil.process_iter(["cmdline"])]
    assert ["sleep", "7351.7351"] not in words


async def test_without_a_sandbox_a_program_left_running_is_mentioned(call: Call, rules: Rules) -> None:
    rules.sandbox = SandboxRules(is_wanted=False)
    result = await call("execute_command", command="sleep 3 & echo started")
    assert result.text == (
        "Exit code 0 after 0.0 s.\nstarted\nSomething it started is still running; its further output is not seen."
    )
    assert as_object(result.data)["sandbox"] == "none"
    quiet = await call("execute_command", command="sleep 3 > /dev/null 2>&1 & echo started")
    assert quiet.text == "Exit code 0 after 0.0 s.\nstarted"


async def test_command_that_misses_the_network_is_told_how_to_get_it(call: Call, rules: Rules) -> None:
    failing = "echo 'Could not resolve host: example.org'; exit 6"
    assert (await call("execute_command", command=failing)).text.endswith("call again with network true.")
    assert "network true" not in (await call("execute_command", command=failing, network=True)).text
    assert "network true" not in (await call("execute_command", command="echo no such file; exit 1")).text
    rules.sandbox = SandboxRules(allows_network=False)
    closed = await call("execute_command", command=failing, network=True)
    assert closed.text.endswith("closed to commands by the setting sandboxNetwork.")
    assert as_object(closed.data)["network"] is False


async def test_settings_can_demand_a_sandbox(call: Call, rules: Rules, monkeypatch: pytest.MonkeyPatch) -> None:
    rules.sandbox = SandboxRules(is_required=True)
    assert not (await call("execute_command", command="true")).is_error
    monkeypatch.setenv("PATH", "/nowhere")
    find_sandbox.cache_clear()
    try:
        with pytest.raises(ToolRefusedError, match="demand a sandbox"):
            await call("execute_command", command="true")
        rules.sandbox = SandboxRules()
        assert as_object((await call("execute_command", command="true")).data)["sandbox"] == "none"
    finally:
        monkeypatch.undo()
        find_sandbox.cache_clear()


async def test_keys_in_the_environment_are_not_seen(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKALES_TEST_API_KEY", "secret-value")
    assert "secret-value" not in (await call("execute_command", command="env; set")).text


async def test_colours_and_hidden_characters_are_not_shown(call: Call) -> None:
    result = await call("execute_command", command=r"printf '\033[31mred\033[0m\r\nblue\xe2\x80\x8b\n'")
    assert result.text.endswith("\nred\nblue")


async def test_long_output_keeps_both_ends_and_says_what_is_missing(call: Call) -> None:
    result = await call("execute_command", command="seq 1 400000")
    lines = result.text.splitlines()
    assert lines[1:4] == ["1", "2", "3"]
    assert lines[-1] == "400000"
    note = next(line for line in lines if line.startswith("["))
    assert note.endswith("of output left out here]")
    assert all(line.isdigit() for line in lines[1:] if line != note)


async def test_command_with_a_zero_byte_is_refused(call: Call) -> None:
    with pytest.raises((InputError, ToolError), match="no program can be given"):
        await call("execute_command", command="echo \0")
