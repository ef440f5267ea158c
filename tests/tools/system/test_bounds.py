"""What a command uses is bounded, program by program and all together."""

import os
from pathlib import Path

import anyio
import pytest

from skales.tools.programs import Bounds, Launch
from skales.tools.system.bounds import find_excess, limit_words, usual_bounds
from skales.tools.system.job_object import build_limits
from skales.tools.system.running import run_program
from skales.tools.system.tree import count_tasks, find_pids

pytestmark = pytest.mark.anyio


def test_usual_bounds_leave_half_of_the_memory() -> None:
    import psutil

    assert 0 < usual_bounds().memory_bytes <= psutil.virtual_memory().total // 2


def test_limits_stand_before_the_program() -> None:
    bounds = Bounds(memory_bytes=1000, file_bytes=2000, processes=7)
    words = list(limit_words(bounds, counts_own=True))
    assert words[1:] == ["--data=1000", "--fsize=2000", "--core=0", "--nproc=7", "--"]
    assert "--nproc=7" not in limit_words(bounds, counts_own=False)


def test_job_object_says_the_same() -> None:
    limits = build_limits(5000, 12)
    assert (limits.JobMemoryLimit, limits.BasicLimitInformation.ActiveProcessLimit) == (5000, 12)
    assert limits.BasicLimitInformation.LimitFlags == 0x2000 | 0x0400 | 0x0200 | 0x0008


async def test_excess_is_put_into_words(tmp_path: Path) -> None:
    wide = Bounds(memory_bytes=2**50, processes=10_000, free_bytes=0)
    assert find_excess(os.getpid(), wide, tmp_path) == ""
    assert find_excess(os.getpid(), Bounds(memory_bytes=2**20), tmp_path) == "more than 1 MB of memory"
    full = Bounds(memory_bytes=2**50, processes=10_000, free_bytes=2**60)
    assert find_excess(os.getpid(), full, tmp_path) == "the last free space on the disk"
    async with await anyio.open_process(["sleep", "300"]) as child:
        assert child.pid in find_pids(os.getpid())
        assert find_excess(os.getpid(), Bounds(memory_bytes=2**50, processes=1), tmp_path) == "more than 1 processes"
        child.kill()
    assert count_tasks() > 1


async def test_program_that_uses_too_much_is_ended_and_says_so(tmp_path: Path) -> None:
    bounds = Bounds(memory_bytes=2**40, processes=4)
    words = ["/bin/sh", "-c", "for i in 1 2 3 4 5 6; do sleep 300 & done; echo started; wait"]
    with anyio.fail_after(10):
        ended = await run_program(Launch(words, tmp_path, dict(os.environ), bounds=bounds), 60)
    assert (ended.excess, ended.timed_out, ended.head) == ("more than 4 processes", False, b"started\n")
