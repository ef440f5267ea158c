"""What the machine says: how busy it was meanwhile, and what a tree of programs uses. Linux only."""

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, monotonic_ns

import psutil

_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(slots=True)
class Load:
    """Cores in use on the whole machine while something ran, this benchmark's own programs included."""

    cores: float = 0.0


@contextmanager
def watched() -> Generator[Load, None, None]:
    """Measure the load of the block."""
    load = Load()
    busy_s, start_s = _busy_s(), monotonic()
    yield load
    load.cores = (_busy_s() - busy_s) / max(monotonic() - start_s, 1e-9)


def idle_cores_taken(over_s: float = 1.0) -> float:
    """Cores that others use now, while we do nothing."""
    return psutil.cpu_percent(interval=over_s) / 100 * (os.cpu_count() or 1)


def pss_mib(pid: int) -> float:
    """Proportional memory of a program and its children."""
    return sum(_pss_kib(member) for member in _tree(pid)) / 1024


def cpu_ms(pid: int) -> float:
    """CPU time a program and its living children used so far; counted by the nanosecond."""
    return sum(_cpu_ns(member) for member in _tree(pid)) / 1e6


def spent_ms(pid: int) -> float:
    """The same with threads and children that have ended, which the system counts in steps of 10 ms."""
    return sum(_spent_ticks(member) for member in _tree(pid)) * 1000 / _TICKS


def timed_ms(work: Callable[[], object]) -> float:
    """Wall time of a call."""
    start_ns = monotonic_ns()
    work()
    return (monotonic_ns() - start_ns) / 1e6


def _busy_s() -> float:
    with Path("/proc/stat").open(encoding="ascii") as file:
        user, nice, system, _idle, _wait, irq, softirq, *_ = (int(field) for field in file.readline().split()[1:])
    return (user + nice + system + irq + softirq) / _TICKS


def _tree(pid: int) -> list[int]:
    root = psutil.Process(pid)
    return [pid, *(child.pid for child in root.children(recursive=True))]


def _pss_kib(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8").splitlines()
    except OSError:  # ended meanwhile
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


def _cpu_ns(pid: int) -> int:
    try:
        threads = list(Path(f"/proc/{pid}/task").iterdir())
        return sum(int((thread / "schedstat").read_text(encoding="utf-8").split()[0]) for thread in threads)
    except OSError:
        return 0


def _spent_ticks(pid: int) -> int:
    try:
        # The name before the last bracket may hold blanks.
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return 0
    return sum(int(field) for field in fields[11:15])
