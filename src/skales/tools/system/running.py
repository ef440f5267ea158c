"""Runs one program to its end, or ends it with everything it started. Knows nothing of shells or tools.

The program's end counts, not that of its output: a background child that keeps the pipe open holds nobody up.
"""

import asyncio
import os
import subprocess
from collections import deque
from contextlib import nullcontext, suppress
from typing import cast

import anyio
from anyio import to_thread
from msgspec import Struct

from skales.core.errors import InputError, ToolError
from skales.tools.programs import Launch
from skales.tools.system.bounds import contained, find_excess, is_flooded
from skales.tools.system.ending import end_tree
from skales.tools.system.tree import count_tasks

# What is kept of the output: its beginning and its end.
HEAD_BYTES = 500_000
TAIL_BYTES = 500_000
# How long output may still come after a program ended.
_DRAIN_S = 0.5
# How often it is seen whether much was started, and every how many times all that a program uses is added up.
_GLANCE_S = 0.02
_LOOK_EVERY = 25
# Behind the person's own programs, and behind the one that watches over it.
_NICENESS = 5
# Shells and sandboxes say "ended by signal n" as 128 + n.
_SIGNAL_CODES = range(129, 160)


class Ended(Struct, frozen=True):
    """How a program ended.

    `exit_code` is negative for the signal that ended it. `left_out_bytes` of output are missing between `head` and
    `tail`. `has_heirs` says that something it started still holds its output open. `excess` says of what it used too
    much and was ended for. `sandbox` and `network` say how it ran.
    """

    exit_code: int
    head: bytes
    tail: bytes
    left_out_bytes: int
    timed_out: bool
    has_heirs: bool
    excess: str = ""
    sandbox: str = "none"
    network: bool = True


async def run_program(launch: Launch, timeout_s: float) -> Ended:
    """Run until it ends or the time is up. Standard input is empty; both outputs arrive as one, in order.

    When the time is up, or the caller is cancelled, the program and everything it started are ended first.

    Raises:
        InputError: The words cannot be passed to a program.
        ToolError: The program cannot be started.
    """
    listener = _Listener()
    transport: asyncio.SubprocessTransport | None = None
    excess, tasks_before = "", count_tasks()
    # A start that is cancelled halfway would end the program alone, not what it has started by then.
    with anyio.CancelScope(shield=True):
        transport = await _start(launch, listener)
    assert transport is not None
    pid = transport.get_pid()
    try:
        with contained(pid, launch.bounds) if launch.bounds else nullcontext():
            with anyio.move_on_after(timeout_s) as limit:
                excess = await _watch(launch, pid, listener, tasks_before)
            if limit.cancelled_caught or excess:
                await _end_all(pid, listener, launch, politely=not excess)
            with anyio.move_on_after(_DRAIN_S) as drain:
                await listener.closed.wait()
        return Ended(
            exit_code=_exit_code(transport, launch),
            head=bytes(listener.head),
            tail=b"".join(listener.tail),
            left_out_bytes=listener.left_out_bytes,
            timed_out=limit.cancelled_caught,
            has_heirs=drain.cancelled_caught,
            excess="" if limit.cancelled_caught else excess,
            sandbox=launch.kind,
            network=launch.network,
        )
    finally:
        if not listener.exited.is_set():
            with anyio.CancelScope(shield=True):
                await _end_all(pid, listener, launch)
        transport.close()


async def _watch(launch: Launch, pid: int, listener: "_Listener", tasks_before: int) -> str:
    """Wait for the end; what the program uses too much of comes back before."""
    if launch.bounds is None:
        await listener.exited.wait()
        return ""
    glances = 0
    while True:
        with anyio.move_on_after(_GLANCE_S):
            await listener.exited.wait()
            return ""
        glances += 1
        if glances % _LOOK_EVERY and not is_flooded(launch.bounds, tasks_before):
            continue
        excess = await to_thread.run_sync(find_excess, pid, launch.bounds, launch.folder)
        if excess and not listener.exited.is_set():
            return excess


def _exit_code(transport: asyncio.SubprocessTransport, launch: Launch) -> int:
    code = cast(int, transport.get_returncode())
    return 128 - code if launch.dies_together and code in _SIGNAL_CODES else code


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
        if launch.folder.is_dir():
            raise ToolError(f"The program {launch.words[0]!r} is not installed") from error
        raise ToolError(
            f"The folder {str(launch.folder)!r} does not exist", hint="Create it first, or choose another cwd"
        ) from error
    except OSError as error:
        raise ToolError(f"The command cannot be started: {error.strerror}") from error
    if launch.bounds and hasattr(os, "setpriority"):
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, transport.get_pid(), _NICENESS)
    return transport


async def _end_all(pid: int, listener: _Listener, launch: Launch, *, politely: bool = True) -> None:
    await end_tree(pid, dies_together=launch.dies_together, politely=politely)
    await listener.exited.wait()
