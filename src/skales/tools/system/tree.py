"""What a program started, and what that started. On Linux read from the kernel, which stays fast in a flood."""

import os
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import psutil

_PROC = "/proc"


def find_tree(pid: int) -> "list[psutil.Process]":
    """The program and its descendants, as far as they still hang together."""
    import psutil

    found: list[psutil.Process] = []
    for member in find_pids(pid):
        try:
            found.append(psutil.Process(member))
        except psutil.Error:
            continue
    return found


def find_pids(pid: int) -> Sequence[int]:
    """Their ids, outermost first."""
    children = _read_children()
    found: list[int] = []
    waiting = deque([pid])
    while waiting:
        found.append(waiting.popleft())
        waiting.extend(children.get(found[-1], ()))
    return found


def count_tasks() -> int:
    """How many threads there are on this computer, in one glance; 0 where nobody says."""
    try:
        return int(Path("/proc/loadavg").read_text(encoding="ascii").split()[3].partition("/")[2])
    except (OSError, ValueError, IndexError):
        return 0


def _read_children() -> Mapping[int, Sequence[int]]:
    """Who started whom."""
    children: dict[int, list[int]] = defaultdict(list)
    if not os.path.isdir(f"{_PROC}/1"):  # noqa: PTH112 - text, as below
        import psutil

        for process in psutil.process_iter(["ppid"]):
            children[process.info["ppid"] or 0].append(process.pid)
        return children
    for name in filter(str.isdigit, os.listdir(_PROC)):  # noqa: PTH208 - ten times faster than paths, in a flood
        try:
            with open(f"{_PROC}/{name}/stat", "rb") as file:  # noqa: PTH123 - as above
                line = file.read()
        except OSError:
            continue
        # The name in parentheses may hold anything; the parent is the second word behind it.
        children[int(line[line.rindex(b")") + 2 :].split(None, 2)[1])].append(int(name))
    return children
