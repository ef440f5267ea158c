"""Ends a program with everything it started: asks first, and ends by force what is still there after two seconds.

Who must be quick takes that time away for a while (`PATIENCE`).
"""

import os
import signal
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import anyio

from skales.tools.system.tree import find_tree

if TYPE_CHECKING:
    import psutil

# How long a program has to end by itself, and when there is no patience.
_TERMINATE_S = 2.0
_HURRY_S = 0.25
_POLL_S = 0.05


class Patience:
    """How long programs are waited for, everywhere in this process."""

    def __init__(self) -> None:
        self._hurries = 0

    @property
    def limit_s(self) -> float:
        """The time there is at the moment."""
        return _HURRY_S if self._hurries else _TERMINATE_S

    @contextmanager
    def gone(self) -> Generator[None]:
        """Wait hardly at all inside the block, also where somebody waits already."""
        self._hurries += 1
        try:
            yield
        finally:
            self._hurries -= 1


PATIENCE = Patience()


async def end_tree(pid: int, *, dies_together: bool, politely: bool = True) -> None:
    """End the program and all that hangs together with it; returns when nothing of it runs any more.

    Args:
        pid: The first program, started in a session of its own.
        dies_together: Ending the first program ends all others at once, so only those are asked.
        politely: Ask before ending by force.
    """
    if dies_together and not politely:
        _signal_all(pid, (), by_force=True)
    tree = find_tree(pid)
    if politely:
        if dies_together:
            _signal_each(tree[1:], by_force=False)
        else:
            _signal_all(pid, tree, by_force=False)
        await _wait_for_end(tree)
    _signal_all(pid, [*tree, *find_tree(pid)], by_force=True)
    await _wait_for_end(tree)


async def _wait_for_end(tree: "Sequence[psutil.Process]") -> None:
    begun_s = anyio.current_time()
    while (  # noqa: ASYNC110 - what others started tells nobody here of its end
        any(map(_is_running, tree)) and anyio.current_time() - begun_s < PATIENCE.limit_s
    ):
        await anyio.sleep(_POLL_S)


def _signal_all(pid: int, tree: "Sequence[psutil.Process]", *, by_force: bool) -> None:
    """Signal the program's process group, which holds orphans too, and whoever of its tree left the group."""
    if hasattr(os, "killpg"):
        with suppress(OSError):
            os.killpg(pid, signal.SIGKILL if by_force else signal.SIGTERM)
    _signal_each([process for process in tree if not _is_in_group(process, pid)], by_force=by_force)


def _signal_each(tree: "Sequence[psutil.Process]", *, by_force: bool) -> None:
    import psutil

    for process in tree:
        with suppress(psutil.Error):
            (process.kill if by_force else process.terminate)()


def _is_in_group(process: "psutil.Process", pid: int) -> bool:
    """Windows has no such groups."""
    try:
        return os.getpgid(process.pid) == pid
    except (OSError, AttributeError):
        return False


def _is_running(process: "psutil.Process") -> bool:
    """A zombie does not run: it waits to be noticed by a parent that may never look."""
    import psutil

    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False
