"""Commands that were left running are tracked, listed and ended, and nothing of them stays."""

import os
from collections.abc import Callable
from pathlib import Path

import anyio
import psutil
import pytest

from skales.core.errors import ConflictError, InputError, NotFoundError, ToolError, ToolRefusedError
from skales.core.json import as_list, as_object
from skales.core.ports import CallScope
from skales.core.tool import ToolResult
from skales.tools.context import ToolContext
from skales.tools.programs import Background, Bounds, Launch, SandboxRules
from skales.tools.system.background import ProcessTable
from tests.conftest import FixedClock
from tests.tools.conftest import Call, Rules
from tests.tools.system.test_running import eventually, gone

pytestmark = pytest.mark.anyio


def pid_of(result: ToolResult) -> int:
    pid = as_object(result.data)["pid"]
    assert isinstance(pid, int)
    return pid


@pytest.mark.parametrize("is_wanted", [True, False], ids=["sandbox", "no-sandbox"])
async def test_background_command_runs_on_and_writes_to_its_file(
    is_wanted: bool, call: Call, rules: Rules, workspace: Path
) -> None:
    rules.sandbox = SandboxRules(is_wanted=is_wanted)
    started = await call("execute_command", command="echo begun; sleep 300", background=True)
    name = str(as_object(started.data)["id"])
    output = workspace / "results" / f"{name}.log"
    assert started.files == (str(output),)
    assert name in started.text
    assert await eventually(lambda: output.read_text(encoding="utf-8") == "begun\n")
    listed = await call("list_processes", mine=True)
    assert listed.text.startswith(f"{name}: echo begun; sleep 300 - runs for 0 s as process {pid_of(started)}")
    assert listed.summary == "1 background command"
    own = {"id": name, "pid": pid_of(started), "command": "echo begun; sleep 300", "exit_code": None}
    assert listed.data == {"background": [{**own, "output": str(output)}]}
    everything = as_object((await call("list_processes", limit=200)).data)
    assert everything["background"] == [{**own, "output": str(output)}]
    pids = {as_object(row)["pid"] for row in as_list(everything["processes"])}
    assert {os.getpid()} <= pids
    ended = await call("kill_process", id=name)
    assert (ended.summary, ended.is_error) == (f"Ended {name}", False)
    assert await gone(pid_of(started))
    assert " - ended with code " in (await call("list_processes", mine=True)).text


async def test_background_command_is_ended_by_its_process_id_with_all_it_started(call: Call, workspace: Path) -> None:
    started = await call("execute_command", command="sleep 301.5 & sleep 301.5 & wait", background=True)

    def sleepers() -> int:
        found = [process.info["cmdline"] or [] for process in psutil.process_iter(["cmdline"])]
        return sum(words[-2:] == ["sleep", "301.5"] for words in found)

    assert await eventually(lambda: sleepers() == 2)
    await call("kill_process", pid=pid_of(started))
    assert await eventually(lambda: sleepers() == 0)


async def test_first_line_of_the_list_is_the_own_command(call: Call) -> None:
    started = await call("execute_command", command="sleep 300", background=True)
    listed = await call("list_processes", limit=200)
    lines = listed.text.splitlines()
    assert lines[0].startswith(str(as_object(started.data)["id"]))
    assert lines[1] == "pid, name, user, memory, processor"
    assert any(line.startswith(f"{os.getpid()}, ") for line in lines)
    named = await call("list_processes", name="SLEEP")
    assert all("sleep" in line for line in named.text.splitlines()[2:])


async def test_folder_for_output_that_leads_elsewhere_is_refused(call: Call, workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (workspace / "results").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ToolError, match="cannot be made"):
        await call("execute_command", command="echo x", background=True)
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("pid", [1, os.getpid(), os.getppid()], ids=["first", "own", "parent"])
async def test_system_and_skales_itself_are_never_ended(pid: int, call: Call) -> None:
    with pytest.raises(ToolRefusedError):
        await call("kill_process", pid=pid)
    assert psutil.pid_exists(pid)


async def test_any_other_process_is_ended_with_its_tree(call: Call, tmp_path: Path) -> None:
    async with await anyio.open_process(
        ["/bin/sh", "-c", f"sleep 300 & echo $! > {tmp_path}/child; wait"], start_new_session=True
    ) as other:
        assert await eventually(lambda: bool((tmp_path / "child").exists() and (tmp_path / "child").read_text("utf-8")))
        child = int((tmp_path / "child").read_text(encoding="utf-8"))
        result = await call("kill_process", pid=other.pid)
        assert result.text == f"Process {other.pid} (sh) has ended."
        assert await gone(child)


async def test_what_is_not_there_cannot_be_ended(call: Call) -> None:
    with pytest.raises((NotFoundError, ToolError), match="no process"):
        await call("kill_process", pid=2**30)
    with pytest.raises((NotFoundError, ToolError), match="no background program"):
        await call("kill_process", id="bg_none")
    for both in ({}, {"pid": 5, "id": "bg_1"}):
        with pytest.raises((InputError, ToolError), match="either pid or id"):
            await call("kill_process", **both)


def launch(tmp_path: Path, command: str, bounds: Bounds | None = None) -> Launch:
    return Launch(["/bin/sh", "-c", command], tmp_path, dict(os.environ), bounds=bounds)


async def test_closing_ends_everything_that_runs(tmp_path: Path, clock: FixedClock) -> None:
    table = ProcessTable(clock)
    programs = [
        table.start(
            launch(tmp_path, "trap '' TERM; sleep 300 & wait; sleep 300"),
            Background(id=f"bg_{number}", command="x", output=tmp_path / "out" / f"{number}.log"),
        )
        for number in range(3)
    ]
    with anyio.fail_after(10):
        await table.close()
    assert [program.exit_code is not None for program in table.list()] == [True, True, True]
    assert not any(psutil.pid_exists(program.pid) for program in programs)


async def test_too_many_at_once_are_refused(tmp_path: Path, clock: FixedClock) -> None:
    table = ProcessTable(clock)

    def start(number: int) -> None:
        place = tmp_path / "out" / f"{number}.log"
        table.start(launch(tmp_path, "sleep 300"), Background(id=f"bg_{number}", command="x", output=place))

    try:
        for number in range(20):
            start(number)
        with pytest.raises(ConflictError, match="20 programs run"):
            start(20)
        assert len(table.list()) == 20
    finally:
        await table.close()


async def test_one_that_uses_too_much_is_ended_and_says_why(tmp_path: Path, clock: FixedClock) -> None:
    table = ProcessTable(clock)
    bounds = Bounds(memory_bytes=2**40, processes=3)
    async with anyio.create_task_group() as tasks:
        table.open(tasks)
        command = "for i in 1 2 3 4 5; do sleep 300 & done; wait"
        table.start(
            launch(tmp_path, command, bounds), Background(id="bg_1", command="x", output=tmp_path / "out" / "1.log")
        )
        assert await eventually(lambda: table.list()[0].ended_for != "")
        tasks.cancel_scope.cancel()
    assert table.list()[0].ended_for == "it used more than 3 processes"


async def test_output_file_that_is_there_already_is_not_touched(
    contexts: Callable[[CallScope], ToolContext], scope: CallScope, tmp_path: Path
) -> None:
    place = tmp_path / "there.log"
    place.write_text("kept", encoding="utf-8")
    with pytest.raises(ToolError, match="cannot be made"):
        contexts(scope).background.start(launch(tmp_path, "echo x"), Background(id="bg_1", command="x", output=place))
    assert place.read_text(encoding="utf-8") == "kept"
