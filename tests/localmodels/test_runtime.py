import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import anyio
import psutil
import pytest
from msgspec import structs

from skales.core.errors import ConfigurationError
from skales.core.events import Progress
from skales.localmodels.child_process import ServeOrder, is_answering, open_log, trim_log
from skales.localmodels.runtime import LocalAddress, ModelRunner
from tests.conftest import FixedClock
from tests.localmodels.conftest import HERE, Child, ignore

ORDER = ServeOrder(
    model_path="/models/a.gguf",
    model_id="a",
    api_key="secret-key",
    context_tokens=8192,
    threads=1,
    gpu_layers=0,
    temperature=0.2,
    top_p=0.95,
    repeat_penalty=1.05,
)


async def until(condition: Callable[[], bool]) -> None:
    """Wait for something that happens soon."""
    with anyio.fail_after(5):
        while not condition():  # noqa: ASYNC110 - processes set no events
            await anyio.sleep(0.01)


def is_gone(pid: int) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


@pytest.fixture
def runner(clock: FixedClock) -> ModelRunner:
    return ModelRunner(clock)


@pytest.mark.anyio
async def test_a_model_is_started_once_and_answers_with_its_key(runner: ModelRunner, child: Child) -> None:
    shown: list[Progress] = []
    try:
        address = await runner.ensure(child.launcher(), ORDER, shown.append)
        assert await runner.ensure(child.launcher(), ORDER, shown.append) == address
        assert (address.model, address.api_key, address.context_tokens) == ("a", "secret-key", 2048)
        base = address.base_url.removesuffix("/v1")
        assert await anyio.to_thread.run_sync(is_answering, base, "secret-key")
        assert not await anyio.to_thread.run_sync(is_answering, base, "wrong")
        assert runner.running_model() == "a"
        assert len(child.pids()) == 1
        assert [progress.label for progress in shown] == ["Starting the model a"]
    finally:
        await runner.stop()


@pytest.mark.anyio
async def test_the_key_is_neither_an_argument_nor_in_the_environment(runner: ModelRunner, child: Child) -> None:
    try:
        await runner.ensure(child.launcher(), ORDER, ignore)
        process = psutil.Process(child.pids()[0])
        assert "secret-key" not in " ".join(process.cmdline())
        assert "secret-key" not in str(process.environ())
        assert process.environ()["GOMP_SPINCOUNT"] == "20000"
        assert "secret-key" not in repr(await runner.ensure(child.launcher(), ORDER, ignore))
    finally:
        await runner.stop()


@pytest.mark.anyio
async def test_a_killed_model_is_started_anew_when_it_is_needed(runner: ModelRunner, child: Child) -> None:
    try:
        await runner.ensure(child.launcher(), ORDER, ignore)
        os.kill(child.pids()[0], signal.SIGKILL)
        await until(lambda: runner.running_model() == "")
        await runner.ensure(child.launcher(), replace(ORDER, api_key="second"), ignore)
        assert (runner.running_model(), len(child.pids())) == ("a", 2)
    finally:
        await runner.stop()


@pytest.mark.anyio
async def test_a_model_that_keeps_crashing_is_given_up_with_its_last_words(runner: ModelRunner, child: Child) -> None:
    async def crash() -> None:
        await runner.ensure(child.launcher(), ORDER, ignore)
        os.kill(child.pids()[-1], signal.SIGKILL)
        await until(lambda: runner.running_model() == "")

    try:
        for _ in range(4):
            await crash()
        with pytest.raises(ConfigurationError, match="crashed 4 times") as caught:
            await runner.ensure(child.launcher(), ORDER, ignore)
        assert "start 4 of a" in caught.value.hint
        await runner.ensure(child.launcher(), ORDER, ignore)
        assert len(child.pids()) == 5
    finally:
        await runner.stop()


@pytest.mark.anyio
async def test_crashes_long_ago_are_forgotten(runner: ModelRunner, child: Child, clock: FixedClock) -> None:
    try:
        for _ in range(6):
            await runner.ensure(child.launcher(), ORDER, ignore)
            os.kill(child.pids()[-1], signal.SIGKILL)
            await until(lambda: runner.running_model() == "")
            clock.advance(120)
        assert len(child.pids()) == 6
    finally:
        await runner.stop()


@pytest.mark.anyio
async def test_a_child_that_dies_while_loading_is_tried_four_times(runner: ModelRunner, child: Child) -> None:
    child.mode = "die"
    with pytest.raises(ConfigurationError, match="out of memory") as caught:
        await runner.ensure(child.launcher(), ORDER, ignore)
    assert str(child.log) in caught.value.hint
    assert len(child.pids()) == 4
    assert runner.running_model() == ""


@pytest.mark.anyio
async def test_a_child_that_dies_once_is_no_trouble(runner: ModelRunner, child: Child) -> None:
    child.mode = "die_once"
    try:
        await runner.ensure(child.launcher(), ORDER, ignore)
        assert len(child.pids()) == 2
    finally:
        await runner.stop()


@pytest.mark.anyio
async def test_a_model_that_is_refused_is_not_tried_again(runner: ModelRunner, child: Child) -> None:
    child.mode = "refuse"
    with pytest.raises(ConfigurationError, match="'a' cannot be loaded") as caught:
        await runner.ensure(child.launcher(), ORDER, ignore)
    assert caught.value.code == "bad_model"
    assert len(child.pids()) == 1


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["hang", "deaf"])
async def test_a_start_that_hangs_is_ended_with_a_reason(runner: ModelRunner, child: Child, mode: str) -> None:
    child.mode = mode
    with pytest.raises(ConfigurationError) as caught:
        await runner.ensure(child.launcher(start_timeout_s=1.5), ORDER, ignore)
    assert caught.value.code == "start_timeout"
    assert [pid for pid in child.pids() if not is_gone(pid)] == []


@pytest.mark.anyio
async def test_a_program_that_is_not_there_is_named(runner: ModelRunner, child: Child) -> None:
    with pytest.raises(ConfigurationError) as caught:
        await runner.ensure(structs.replace(child.launcher(), command=("/nowhere/python",)), ORDER, ignore)
    assert caught.value.code == "cannot_start"


@pytest.mark.anyio
async def test_cancelling_a_start_leaves_no_process(runner: ModelRunner, child: Child) -> None:
    child.mode = "hang"
    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as tasks:

            async def cancel_once_started() -> None:
                await until(lambda: bool(child.pids()))
                scope.cancel()

            tasks.start_soon(cancel_once_started)
            await runner.ensure(child.launcher(), ORDER, ignore)
    assert scope.cancelled_caught
    assert is_gone(child.pids()[0])


@pytest.mark.anyio
async def test_stopping_ends_the_process_and_may_be_repeated(runner: ModelRunner, child: Child) -> None:
    await runner.stop()
    await runner.ensure(child.launcher(), ORDER, ignore)
    await runner.stop()
    await runner.stop()
    assert runner.running_model() == ""
    assert is_gone(child.pids()[0])


@pytest.mark.anyio
async def test_stopping_while_it_starts_ends_the_start(runner: ModelRunner, child: Child) -> None:
    child.mode = "hang"
    async with anyio.create_task_group() as tasks:

        async def stop_once_started() -> None:
            await until(lambda: bool(child.pids()))
            await runner.stop()

        tasks.start_soon(stop_once_started)
        with pytest.raises(ConfigurationError):
            await runner.ensure(child.launcher(), ORDER, ignore)
    assert len(child.pids()) == 1


@pytest.mark.anyio
async def test_another_model_takes_the_place_of_the_first(runner: ModelRunner, child: Child) -> None:
    try:
        first = await runner.ensure(child.launcher(), ORDER, ignore)
        second = await runner.ensure(child.launcher(), replace(ORDER, model_id="b"), ignore)
        assert (first.model, second.model, runner.running_model()) == ("a", "b", "b")
        assert is_gone(child.pids()[0])
    finally:
        await runner.stop()


@pytest.mark.anyio
async def test_several_callers_start_one_model(runner: ModelRunner, child: Child) -> None:
    found: list[LocalAddress] = []

    async def ask() -> None:
        found.append(await runner.ensure(child.launcher(), ORDER, ignore))

    try:
        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(ask)
        assert len(set(found)) == 1
        assert len(child.pids()) == 1
    finally:
        await runner.stop()


PARENT = """
import anyio, os, sys
from pathlib import Path
from tests.localmodels.conftest import Child, ignore
from tests.localmodels.test_runtime import ORDER
from skales.core.clock import SystemClock
from skales.localmodels.runtime import ModelRunner

async def main():
    folder = Path(sys.argv[1])
    child = Child("serve", folder / "starts.txt", folder / "log.txt")
    await ModelRunner(SystemClock()).ensure(child.launcher(), ORDER, ignore)
    os.kill(os.getpid(), 9)

anyio.run(main)
"""


@pytest.mark.anyio
async def test_a_model_does_not_outlive_a_killed_program(tmp_path: Path) -> None:
    process = await anyio.to_thread.run_sync(
        lambda: subprocess.run(
            [sys.executable, "-c", PARENT, str(tmp_path)],
            cwd=HERE.parent.parent,
            check=False,
            capture_output=True,
            timeout=30,
        )
    )
    assert process.returncode == -signal.SIGKILL, process.stderr.decode()
    pid = int((tmp_path / "starts.txt").read_text(encoding="utf-8"))
    await until(lambda: is_gone(pid))


def test_a_log_that_is_too_long_starts_anew_and_keeps_one_old_part(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "local-model.log"
    with open_log(log) as file:
        file.write(b"old\n" * 1_000_000)
        file.flush()
        trim_log(log)
        file.write(b"new\n")
        file.flush()
    assert log.read_bytes() == b"new\n"
    assert log.with_name("local-model.log.1").stat().st_size == 4_000_000
    assert log.stat().st_mode & 0o077 == 0
