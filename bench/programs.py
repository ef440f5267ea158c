"""Skales, the bare proxy and the model as programs of their own, started and stopped."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, monotonic_ns, sleep

TOKEN = "bench-token"
_ROOT = Path(__file__).parent.parent
# What would steer the program, or make it compile itself anew at each start.
_DROPPED = ("SKALES", "COV", "PYTHONDONTWRITEBYTECODE")
_START_WAIT_S = 300.0
_POLL_S = 0.002


@dataclass(frozen=True, slots=True)
class Program:
    """A running server. `started_ns` is when its process was asked for, `ready_ms` when it first answered 200."""

    url: str
    pid: int
    started_ns: int
    ready_ms: float
    headers: Mapping[str, str]
    chat_path: str


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


@contextmanager
def open_stage() -> Generator[Stage, None, None]:
    """The model runs until the block ends."""
    port = free_port()
    with TemporaryDirectory(prefix="skales-bench-") as folder, _running([*_module("bench.model"), str(port)]):
        _wait_until(lambda: _accepts(port))
        yield Stage(f"http://127.0.0.1:{port}", Path(folder))


@contextmanager
def run_skales(home: Path) -> Generator[Program, None, None]:
    """`skales serve` on a data directory."""
    port = free_port()
    command = [*_module("skales.cli.main"), "serve", "--no-window", "--port", str(port)]
    with _serving(command, port, "/api/health", home) as (pid, started_ns, ready_ms):
        headers = {"authorization": f"Bearer {TOKEN}"}
        yield Program(f"http://127.0.0.1:{port}", pid, started_ns, ready_ms, headers, "/api/cli/chat")


@contextmanager
def run_proxy(stage: Stage) -> Generator[Program, None, None]:
    """The bare limit, with its history in the stage's folder."""
    port = free_port()
    command = [*_module("bench.proxy"), str(port), f"{stage.model_url}/v1", str(stage.folder / "proxy.db")]
    with _serving(command, port, "/", None) as (pid, started_ns, ready_ms):
        yield Program(f"http://127.0.0.1:{port}", pid, started_ns, ready_ms, {}, "/chat")


def run_command(arguments: Sequence[str], home: Path | None = None) -> tuple[int, int]:
    """Run a Python command to its end; when it was started and when it had ended, in nanoseconds."""
    started_ns = monotonic_ns()
    subprocess.run(
        [sys.executable, *arguments],
        cwd=_ROOT,
        env=_environment(home),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=True,
    )
    return started_ns, monotonic_ns()


def free_port() -> int:
    """A loopback port that nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def _module(name: str) -> list[str]:
    return [sys.executable, "-m", name]


def _environment(home: Path | None) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_DROPPED)}
    return {**kept, "NO_COLOR": "1", **({"SKALES_DATA_DIR": str(home)} if home else {})}


@contextmanager
def _running(command: Sequence[str], home: Path | None = None) -> Generator[subprocess.Popen[bytes], None, None]:
    program = subprocess.Popen(
        command,
        cwd=_ROOT,
        env=_environment(home),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield program
    finally:
        program.send_signal(signal.SIGTERM)
        try:
            program.wait(timeout=20)
        except subprocess.TimeoutExpired:
            program.kill()
            program.wait()


@contextmanager
def _serving(
    command: Sequence[str], port: int, path: str, home: Path | None
) -> Generator[tuple[int, int, float], None, None]:
    started_ns = monotonic_ns()
    with _running(command, home) as program:

        def answers() -> bool:
            if program.poll() is not None:
                raise RuntimeError(f"{' '.join(command)} ended with {program.returncode}")
            return _answers(port, path)

        _wait_until(answers)
        yield program.pid, started_ns, (monotonic_ns() - started_ns) / 1e6


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
