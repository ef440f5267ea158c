"""How much a command may use, with all it starts: memory, processes, file sizes, and that the disk is not filled up.

The system holds single programs in (`prlimit`); their sum is looked at from outside, every half second.
"""

import os
import shutil
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from skales.tools.programs import Bounds
from skales.tools.system.tree import count_tasks, find_pids

_GIB = 1024**3


@cache
def usual_bounds() -> Bounds:
    """Half of the computer's memory, at most 8 GB; asked of the system once."""
    import psutil

    return Bounds(memory_bytes=min(8 * _GIB, psutil.virtual_memory().total // 2))


def limit_words(bounds: Bounds, *, counts_own: bool) -> Sequence[str]:
    """What stands before a program so that the system holds it in; nothing where there is no `prlimit`.

    With `counts_own` the person's other programs do not count as processes, as in a namespace of its own.
    """
    program = _prlimit()
    if program is None:
        return ()
    # Not the address space: node, Java and Go reserve far more of it than they ever use.
    limits = [f"--data={bounds.memory_bytes}", f"--fsize={bounds.file_bytes}", "--core=0"]
    return [program, *limits, *([f"--nproc={bounds.processes}"] if counts_own else ()), "--"]


def find_excess(pid: int, bounds: Bounds, folder: Path) -> str:
    """Of what the program and its descendants use too much, in words; empty while all is well."""
    members = find_pids(pid)
    if len(members) > bounds.processes:
        return f"more than {bounds.processes} processes"
    if sum(map(_memory, members)) > bounds.memory_bytes:
        return f"more than {bounds.memory_bytes // 1024**2} MB of memory"
    return "the last free space on the disk" if _is_full(folder, bounds) else ""


def is_flooded(bounds: Bounds, tasks_before: int) -> bool:
    """Whether so much was started on this computer since that it is worth a look at once."""
    return count_tasks() - tasks_before > bounds.processes


@contextmanager
def contained(pid: int, bounds: Bounds) -> Generator[None, None, None]:
    """On Windows a job object around the program, which ends with the block; nothing elsewhere."""
    if os.name != "nt":
        yield
        return
    from skales.tools.system.job_object import JobObject

    job = JobObject(bounds.memory_bytes, bounds.processes)
    try:
        job.add(pid)
        yield
    finally:
        job.close()


@cache
def _prlimit() -> str | None:
    return shutil.which("prlimit", path="/usr/bin:/bin")


def _memory(pid: int) -> int:
    """What it does not share with others."""
    import psutil

    try:
        memory = psutil.Process(pid).memory_info()
    except psutil.Error:
        return 0
    return max(0, memory.rss - getattr(memory, "shared", 0))


def _is_full(folder: Path, bounds: Bounds) -> bool:
    try:
        return shutil.disk_usage(folder).free < bounds.free_bytes
    except OSError:
        return False
