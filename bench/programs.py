"""Skales, the bare proxy and the model as programs of their own, started and stopped."""

import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from time import monotonic, monotonic_ns, sleep
from typing import IO

import psutil

TOKEN = "bench-token"
_SKALES = "skales.cli.main"
_ROOT = Path(__file__).parent.parent
# What would steer the program, or make it compile itself anew at each start.
_DROPPED = ("SKALES", "COV", "PYTHONDONTWRITEBYTECODE")
_START_WAIT_S = 300.0
_COMMAND_WAIT_S = 300.0
_POLL_S = 0.002


@dataclass(frozen=True, slots=True)
class Command:
    """What is started: its words, its whole environment, and the folder it runs in."""

    words: Sequence[str]
    environment: Mapping[str, str]
    folder: Path = _ROOT


@dataclass(frozen=True, slots=True)
class Ended:
    """A command that ran to its end. `errors` is what it wrote to its error stream."""

    started_ns: int
    ended_ns: int
    errors: bytes

    @property
    def elapsed_ms(self) -> float:
        """Wall time."""
        return (self.ended_ns - self.started_ns) / 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How a server is asked for a turn.

    `compose` makes the body of a text and a session; an empty session is a new chat. `session_of` finds the session in
    an answer; None where a chat cannot go on.
    """

    path: str
    compose: Callable[[str, str], bytes]
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    session_of: Callable[[bytes], str] | None = None


@dataclass(frozen=True, slots=True)
class Program:
    """A running server. `started_ns` is when its process was asked for, `ready_ms` when it first answered 200."""

    url: str
    pid: int
    started_ns: int
    ready_ms: float
    dialect: Dialect
    errors: IO[bytes]

    def read_errors(self) -> bytes:
        """What it wrote to its error stream until now."""
        self.errors.seek(0)
        return self.errors.read()

    @property
    def headers(self) -> Mapping[str, str]:
        """What goes with every request."""
        return self.dialect.headers


@dataclass(frozen=True, slots=True)
class Stage:
    """Where a measurement takes place: the model's address and a folder to throw away."""

    model_url: str
    folder: Path

    def new_home(self, name: str) -> Path:
        """A data directory that is set up for the model, with the DevKit on."""
        home = self.folder / f"{name}-{monotonic_ns()}"
        (home / "workspace").mkdir(parents=True)
        (home / "devkit").mkdir()
        custom = {"baseUrl": f"{self.model_url}/v1", "model": "bench"}
        settings = {"activeProvider": "custom", "providers": {"custom": custom}}
        (home / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
        devkit = {"enabled": True, "version": "0.5.0", "api": {"token": TOKEN}}
        (home / "devkit" / "devkit.json").write_text(json.dumps(devkit), encoding="utf-8")
        (home / "workspace" / "notes.txt").write_text(
            "".join(f"Line {number}\n" for number in range(40)), encoding="utf-8"
        )
        return home


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """Who is measured: the commands it is, each for a data directory. None for what it cannot do."""

    new_home: Callable[[Stage, str], Path]
    help: Callable[[Path], Command] | None
    chat: Callable[[Path, str], Command] | None
    serve: Callable[[Path], AbstractContextManager[Program]] | None


@contextmanager
def open_stage() -> Generator[Stage, None, None]:
    """The model runs until the block ends."""
    port = free_port()
    model = python_command("-m", "bench.model", str(port))
    with TemporaryDirectory(prefix="skales-bench-") as folder, _running(model):
        _wait_until(lambda: _accepts(port))
        yield Stage(f"http://127.0.0.1:{port}", Path(folder))


@contextmanager
def run_skales(home: Path) -> Generator[Program, None, None]:
    """`skales serve` on a data directory."""
    port = free_port()
    command = python_command("-m", _SKALES, "serve", "--no-window", "--port", str(port), home=home)
    with serve(command, port, "/api/health", _OURS) as program:
        yield program


@contextmanager
def run_proxy(stage: Stage) -> Generator[Program, None, None]:
    """The bare limit, with its history in the stage's folder."""
    port = free_port()
    database = str(stage.folder / "proxy.db")
    command = python_command("-m", "bench.proxy", str(port), f"{stage.model_url}/v1", database)
    with serve(command, port, "/", _BARE) as program:
        yield program


def run_command(command: Command) -> Ended:
    """Run a command to its end. Raises CalledProcessError, TimeoutExpired."""
    started_ns = monotonic_ns()
    with _running(command, stderr=subprocess.PIPE) as program:
        _, told = program.communicate(timeout=_COMMAND_WAIT_S)
        ended_ns = monotonic_ns()
        if program.returncode:
            raise subprocess.CalledProcessError(program.returncode, list(command.words), stderr=told)
    return Ended(started_ns, ended_ns, told)


def measure_cpu_ms(command: Command) -> float:
    """CPU time of a command and of all it started, by the system's own account of it."""
    with _running(command) as program:
        _, status, used = os.wait4(program.pid, 0)
        program.returncode = os.waitstatus_to_exitcode(status)
    if program.returncode:
        raise subprocess.CalledProcessError(program.returncode, list(command.words))
    return (used.ru_utime + used.ru_stime) * 1000


def free_port() -> int:
    """A loopback port that nobody uses now, below those that the system gives to clients meanwhile."""
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def python_command(*arguments: str, home: Path | None = None) -> Command:
    """A command of this interpreter, with what ours needs around it."""
    return Command([sys.executable, *arguments], plain_environment({"SKALES_DATA_DIR": str(home)} if home else {}))


def plain_environment(added: Mapping[str, str]) -> dict[str, str]:
    """This environment without what would steer a program, and with more."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_DROPPED)}
    return {**kept, "NO_COLOR": "1", **added}


@contextmanager
def serve(command: Command, port: int, path: str, dialect: Dialect) -> Generator[Program, None, None]:
    """A server from the moment at which the path answers 200. Raises RuntimeError, TimeoutError."""
    started_ns = monotonic_ns()
    with TemporaryFile() as told, _running(command, told) as program:

        def answers() -> bool:
            if program.poll() is not None:
                told.seek(0)
                lines = told.read().decode("utf-8", "replace").strip().splitlines()
                raise RuntimeError(f"it ended with {program.returncode}: {lines[-1] if lines else 'without a word'}")
            return _answers(port, path)

        _wait_until(answers)
        ready_ms = (monotonic_ns() - started_ns) / 1e6
        yield Program(f"http://127.0.0.1:{port}", program.pid, started_ns, ready_ms, dialect, told)


@contextmanager
def _running(
    command: Command, stderr: int | IO[bytes] = subprocess.DEVNULL
) -> Generator[subprocess.Popen[bytes], None, None]:
    with subprocess.Popen(
        command.words,
        cwd=command.folder,
        env=command.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=stderr,
    ) as program:
        try:
            yield program
        finally:
            _stop(program)


def _stop(program: subprocess.Popen[bytes]) -> None:
    """Ask it to end, then make it; what it started does not outlive it."""
    if program.poll() is not None:
        return
    started = psutil.Process(program.pid).children(recursive=True)
    program.send_signal(signal.SIGTERM)
    try:
        program.wait(timeout=20)
    except subprocess.TimeoutExpired:
        program.kill()
        program.wait()
    for child in started:
        with suppress(psutil.NoSuchProcess):
            child.kill()


def _wait_until(is_so: Callable[[], bool]) -> None:
    deadline_s = monotonic() + _START_WAIT_S
    while not is_so():
        if monotonic() > deadline_s:
            raise TimeoutError("a program of the benchmark did not start")
        sleep(_POLL_S)


def _accepts(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except OSError:
        return False
    return True


def _answers(port: int, path: str) -> bool:
    """A whole 200, asked for with as little of the machine as possible."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
            connection.sendall(f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nconnection: close\r\n\r\n".encode())
            return connection.recv(4096).startswith(b"HTTP/1.1 200")
    except OSError:
        return False


def _compose(text: str, session_id: str) -> bytes:
    return json.dumps({"message": text, **({"sessionId": session_id} if session_id else {})}).encode()


def _session_of(answer: bytes) -> str:
    found = re.search(rb'"sessionId":"([^"]+)"', answer)
    assert found, "the last frame names the session"
    return found.group(1).decode()


_OURS = Dialect(
    path="/api/cli/chat",
    compose=_compose,
    headers={"authorization": f"Bearer {TOKEN}"},
    session_of=_session_of,
)
_BARE = Dialect(path="/chat", compose=_compose)
SKALES = Subject(
    new_home=Stage.new_home,
    help=lambda home: python_command("-m", _SKALES, "--help", home=home),
    chat=lambda home, text: python_command("-m", _SKALES, "chat", text, home=home),
    serve=run_skales,
)
