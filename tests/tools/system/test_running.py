"""A program ends with everything it started, and nothing it leaves behind holds the caller up."""

import os
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path

import anyio
import psutil
import pytest

from skales.core.errors import InputError, ToolError
from skales.tools.programs import Launch
from skales.tools.system.running import HEAD_BYTES, TAIL_BYTES, Ended, run_program

pytestmark = pytest.mark.anyio

Run = Callable[..., Coroutine[None, None, Ended]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    async def run_shell(command: str, timeout_s: float = 20) -> Ended:
        with anyio.fail_after(15):
            return await run_program(Launch(["/bin/sh", "-c", command], tmp_path, dict(os.environ)), timeout_s)

    return run_shell


def is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def eventually(check: Callable[[], bool]) -> bool:
    """Whether it holds within five seconds."""
    for _ in range(250):
        if check():
            return True
        await anyio.sleep(0.02)
    return check()


async def gone(pid: int) -> bool:
    return await eventually(lambda: not is_alive(pid))


def written(file: Path) -> str:
    return file.read_text(encoding="utf-8").strip() if file.exists() else ""


async def pid_in(file: Path) -> int:
    assert await eventually(lambda: bool(written(file)))
    return int(written(file))


async def test_outputs_arrive_as_one_in_order_with_the_exit_code(run: Run) -> None:
    ended = await run("echo one; echo two >&2; echo three; exit 3")
    assert (ended.head, ended.tail, ended.exit_code) == (b"one\ntwo\nthree\n", b"", 3)
    assert (ended.timed_out, ended.has_heirs, ended.left_out_bytes) == (False, False, 0)


async def test_program_gets_no_input(run: Run) -> None:
    assert (await run("cat; echo done")).head == b"done\n"


async def test_signal_shows_as_a_negative_code(run: Run) -> None:
    assert (await run("kill -9 $$")).exit_code == -9


async def test_output_keeps_its_beginning_and_its_end(run: Run) -> None:
    code = "import sys; [sys.stdout.write('x' * 99_999 + str(n % 10)) for n in range(30)]"
    ended = await run(f'{sys.executable} -c "{code}"')
    assert len(ended.head) == HEAD_BYTES
    assert TAIL_BYTES <= len(ended.tail) <= TAIL_BYTES + 300_000
    assert ended.head[99_999:100_000] + ended.tail[-1:] == b"09"
    assert len(ended.head) + len(ended.tail) + ended.left_out_bytes == 3_000_000


async def test_time_limit_ends_the_program_and_its_children(run: Run, tmp_path: Path) -> None:
    ended = await run("sleep 60 & echo $! > child; echo started; wait", timeout_s=0.3)
    assert (ended.timed_out, ended.head) == (True, b"started\n")
    assert await gone(await pid_in(tmp_path / "child"))


async def test_child_that_left_the_group_is_ended_too(run: Run, tmp_path: Path) -> None:
    ended = await run("setsid sh -c 'echo $$ > child; sleep 60' & wait", timeout_s=0.5)
    assert ended.timed_out
    assert await gone(await pid_in(tmp_path / "child"))


async def test_tree_is_ended_where_there_are_no_process_groups(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "getpgid")
    monkeypatch.delattr(os, "killpg")
    ended = await run("sleep 60 & echo $! > child; wait", timeout_s=0.3)
    assert ended.timed_out
    assert await gone(await pid_in(tmp_path / "child"))


async def test_program_that_ignores_the_polite_signal_is_killed(run: Run, tmp_path: Path) -> None:
    ended = await run("trap '' TERM; echo $$ > parent; while true; do sleep 0.1; done", timeout_s=0.5)
    assert (ended.timed_out, ended.exit_code) == (True, -9)
    assert await gone(await pid_in(tmp_path / "parent"))


async def test_program_may_tidy_up_before_it_is_ended(run: Run) -> None:
    ended = await run("trap 'echo tidied; exit 0' TERM; echo ready; while true; do sleep 0.05; done", timeout_s=0.5)
    assert ended.timed_out
    assert ended.head.endswith(b"tidied\n")


async def test_background_child_that_keeps_the_output_open_holds_nobody_up(run: Run, tmp_path: Path) -> None:
    ended = await run("sleep 60 & echo $! > child; echo started")
    child = await pid_in(tmp_path / "child")
    try:
        assert (ended.exit_code, ended.head, ended.has_heirs) == (0, b"started\n", True)
        assert is_alive(child)
    finally:
        psutil.Process(child).kill()


async def test_cancelling_the_caller_ends_the_program(run: Run, tmp_path: Path) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run, "echo $$ > parent; sleep 60 & echo $! > child; wait")
        parent, child = await pid_in(tmp_path / "parent"), await pid_in(tmp_path / "child")
        tasks.cancel_scope.cancel()
    assert await gone(parent)
    assert await gone(child)


async def test_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="does not exist"):
        await run_program(Launch(["/bin/sh", "-c", "true"], tmp_path / "none", {}), 5)


async def test_words_no_program_can_get_are_refused(run: Run) -> None:
    with pytest.raises(InputError, match="no program can be given"):
        await run("echo \0")
    with pytest.raises(ToolError, match="cannot be started"):
        await run("echo " + "x" * 300_000)
