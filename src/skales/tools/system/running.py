"""Runs one program to its end, or ends it with everything it started. Knows nothing of shells or tools.

The program's end counts, not that of its output: a background child that keeps the pipe open holds nobody up.
"""

import asyncio
import os
import signal
import subprocess
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import anyio

from skales.core.errors import InputError, ToolError

if TYPE_CHECKING:
    import psutil

# What is kept of the output: its beginning and its end.
HEAD_BYTES = 500_000
TAIL_BYTES = 500_000
# How long a program has to end by itself, and how long output may still come after it ended.
_TERMINATE_S = 2.0
_DRAIN_S = 0.5
_POLL_S = 0.05


@dataclass(frozen=True, slots=True)
class Launch:
    """What to start: the program with its arguments, where, and all it learns of the environment."""

    words: Sequence[str]
    folder: Path
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended.

    `exit_code` is negative for the signal that ended it. `left_out_bytes` of output are missing between `head` and
    `tail`. `has_heirs` says that something it started still holds its output open.
    """

    exit_code: int
    head: bytes
    tail: bytes
    left_out_bytes: int
    timed_out: bool
    has_heirs: bool


async def run_program(launch: Launch, timeout_s: float) -> Ended:
    """Run until it ends or the time is up. Standard input is empty; both outputs arrive as one, in order.

    When the time is up, or the caller is cancelled, the program and everything it started are ended first.

    Raises:
        InputError: The words cannot be passed to a program.
        ToolError: The program cannot be started.
    """
    listener = _Listener()
    transport: asyncio.SubprocessTransport | None = None
    # A start that is cancelled halfway would end the program alone, not what it has started by then.
    with anyio.CancelScope(shield=True):
        transport = await _start(launch, listener)
    assert transport is not None
    try:
        with anyio.move_on_after(timeout_s) as limit:
            await listener.exited.wait()
        if limit.cancelled_caught:
            await _end_all(transport.get_pid(), listener)
        with anyio.move_on_after(_DRAIN_S) as drain:
            await listener.closed.wait()
        return Ended(
            exit_code=cast(int, transport.get_returncode()),
            head=bytes(listener.head),
            tail=b"".join(listener.tail),
            left_out_bytes=listener.left_out_bytes,
            timed_out=limit.cancelled_caught,
            has_heirs=drain.cancelled_caught,
        )
    finally:
        if not listener.exited.is_set():
            with anyio.CancelScope(shield=True):
                await _end_all(transport.get_pid(), listener)
        transport.close()


class _Listener(asyncio.SubprocessProtocol):
    """Collects the output of a program, within bounds, and notes its end."""

    def __init__(self) -> None:
        self.exited = asyncio.Event()
        self.closed = asyncio.Event()
        self.head = bytearray()
        self.tail: deque[bytes] = deque()
        self.left_out_bytes = 0
        self._tail_bytes = 0

    def pipe_data_received(self, fd: int, data: bytes) -> None:  # noqa: ARG002 - asyncio's signature
        room = HEAD_BYTES - len(self.head)
        self.head += data[:room]
        if rest := data[max(room, 0) :]:
            self.tail.append(rest)
            self._tail_bytes += len(rest)
        while self._tail_bytes - len(self.tail[0] if self.tail else b"") >= TAIL_BYTES:
            dropped = len(self.tail.popleft())
            self._tail_bytes -= dropped
            self.left_out_bytes += dropped

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        self.closed.set()

    def process_exited(self) -> None:
        self.exited.set()


async def _start(launch: Launch, listener: _Listener) -> asyncio.SubprocessTransport:
    try:
        transport, _protocol = await asyncio.get_running_loop().subprocess_exec(
            lambda: listener,
            *launch.words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=launch.folder,
            env=dict(launch.environment),
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except ValueError as error:
        raise InputError("The command contains a character that no program can be given") from error
    except (FileNotFoundError, NotADirectoryError) as error:
        raise ToolError(
            f"The folder {str(launch.folder)!r} does not exist", hint="Create it first, or choose another cwd"
        ) from error
    except OSError as error:
        raise ToolError(f"The command cannot be started: {error.strerror}") from error
    return transport


async def _end_all(pid: int, listener: _Listener) -> None:
    """Ask the whole tree to end, and end it by force when something of it is still there after two seconds."""
    tree = _tree(pid)
    _signal_all(pid, tree, by_force=False)
    with anyio.move_on_after(_TERMINATE_S):
        while any(map(_is_running, tree)):  # noqa: ASYNC110 - what others started tells nobody here of its end
            await anyio.sleep(_POLL_S)
    _signal_all(pid, [*tree, *_tree(pid)], by_force=True)
    await listener.exited.wait()


def _tree(pid: int) -> "list[psutil.Process]":
    """The program and its descendants, as far as they still hang together."""
    import psutil

    try:
        root = psutil.Process(pid)
        return [root, *root.children(recursive=True)]
    except psutil.Error:
        return []


def _signal_all(pid: int, tree: "Sequence[psutil.Process]", *, by_force: bool) -> None:
    """Signal the program's process group, which holds orphans too, and whoever of its tree left the group."""
    import psutil

    if hasattr(os, "killpg"):
        with suppress(OSError):
            os.killpg(pid, signal.SIGKILL if by_force else signal.SIGTERM)
    for process in tree:
        if not _is_in_group(process, pid):
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
