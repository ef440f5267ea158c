"""The programs that commands were told to leave running: started, listed and ended here, and ended with the app."""

import os
import subprocess
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup
from msgspec import structs

from skales.core.clock import Clock
from skales.core.errors import ConflictError, NotFoundError, ToolError
from skales.tools.programs import Background, Launch
from skales.tools.system.bounds import contained, find_excess
from skales.tools.system.ending import end_tree

# Running at the same time; and ended ones that are still listed.
_LIMIT = 20
_KEPT = 20
_LOOK_S = 1.0


class _Entry:
    def __init__(self, program: Background, launch: Launch, started: subprocess.Popen[bytes]) -> None:
        self.program = program
        self.launch = launch
        self.started = started
        self.job = ExitStack()

    def look(self) -> Background:
        """The program as it is now."""
        code = self.started.poll()
        if code is not None and self.program.exit_code is None:
            self.program = structs.replace(self.program, exit_code=code)
            self.job.close()
        return self.program


class ProcessTable:
    """All programs in the background of one app."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._entries: dict[str, _Entry] = {}

    def open(self, tasks: TaskGroup) -> None:
        """Look from now on that nothing in the background uses too much."""
        tasks.start_soon(self._watch)

    def start(self, launch: Launch, program: Background) -> Background:
        """Start it with its output in its file, which must not exist.

        Call it in the thread that lives as long as the app: the sandbox ends with the thread that made it.

        Raises:
            ConflictError: Too many run.
            ToolError: It cannot be started.
        """
        if sum(entry.look().exit_code is None for entry in self._entries.values()) >= _LIMIT:
            raise ConflictError(
                f"{_LIMIT} programs run in the background already", hint="End one with kill_process first"
            )
        with ExitStack() as files:
            output = files.enter_context(_fresh_file(program.output))
            started = _popen(launch, output)
        shown = structs.replace(program, pid=started.pid, started_ms=self._clock.now_ms())
        entry = _Entry(shown, launch, started)
        if launch.bounds:
            entry.job.enter_context(contained(started.pid, launch.bounds))
        self._entries[program.id] = entry
        self._forget_old()
        return shown

    def list(self) -> Sequence[Background]:
        """Those that run, and those that ended lately, newest first."""
        return [entry.look() for entry in reversed(self._entries.values())]

    async def end(self, program_id: str) -> Background:
        """End it with everything it started; one that ended already stays as it is. Raises NotFoundError."""
        entry = self._entries.get(program_id)
        if entry is None:
            raise NotFoundError(f"There is no background program {program_id!r}", hint="list_processes shows them")
        return await self._end(entry, "")

    async def close(self) -> None:
        """End all of them."""
        async with anyio.create_task_group() as tasks:
            for entry in self._entries.values():
                tasks.start_soon(self._end, entry, "")

    async def _end(self, entry: _Entry, reason: str) -> Background:
        if entry.look().exit_code is None:
            await end_tree(entry.started.pid, dies_together=entry.launch.dies_together, politely=not reason)
            await to_thread.run_sync(_wait_for(entry.started))
            entry.look()
            entry.program = structs.replace(entry.program, ended_for=reason)
        return entry.program

    async def _watch(self) -> None:
        while True:
            await anyio.sleep(_LOOK_S)
            for entry in list(self._entries.values()):
                bounds = entry.launch.bounds
                if entry.look().exit_code is not None or bounds is None:
                    continue
                excess = await to_thread.run_sync(find_excess, entry.started.pid, bounds, entry.launch.folder)
                if excess:
                    await self._end(entry, f"it used {excess}")

    def _forget_old(self) -> None:
        over = [name for name, entry in self._entries.items() if entry.look().exit_code is not None]
        for name in over[: max(0, len(over) - _KEPT)]:
            del self._entries[name]


def _wait_for(started: subprocess.Popen[bytes]) -> Callable[[], object]:
    def wait() -> None:
        with suppress(subprocess.TimeoutExpired):
            started.wait(5)

    return wait


def _popen(launch: Launch, output: int) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(  # noqa: S603 - judged before
            launch.words,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=launch.folder,
            env=dict(launch.environment),
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except (OSError, ValueError) as error:
        raise ToolError(f"The command cannot be started in the background: {error}") from error


@contextmanager
def _fresh_file(path: Path) -> Generator[int, None, None]:
    """A new file that no link leads elsewhere, as a descriptor: a program may have prepared the folder."""
    no_link = getattr(os, "O_NOFOLLOW", 0)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | no_link | getattr(os, "O_CLOEXEC", 0)
    try:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        if os.name == "nt":
            made = os.open(path, flags, 0o600)
        else:
            folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | no_link)
            try:
                made = os.open(path.name, flags, 0o600, dir_fd=folder)
            finally:
                os.close(folder)
    except OSError as error:
        raise ToolError(f"The output file {str(path)!r} cannot be made: {error.strerror}") from error
    try:
        yield made
    finally:
        os.close(made)
