"""Skales as a person starts it: its own process, its own data directory, an echoing model behind it."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
import pytest

from skales.data.document import write_object
from skales.data.paths import DataDirectory
from tests.servers.echo_model import EchoModel

TOKEN = "process-test-token"
_START_WAIT_S = 20


def run_skales(home: DataDirectory, *arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    """One command from start to end."""
    return subprocess.run(
        [sys.executable, "-m", "skales.cli.main", *arguments],
        env=environment(home),
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=50,
        check=False,
    )


def environment(home: DataDirectory) -> Mapping[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SKALES", "COV"))}
    return {**kept, "SKALES_DATA_DIR": str(home.root), "NO_COLOR": "1"}


@dataclass
class Served:
    """A running `skales serve`."""

    home: DataDirectory
    process: subprocess.Popen[bytes]
    url: str
    headers: Mapping[str, str] = field(default_factory=lambda: {"authorization": f"Bearer {TOKEN}"})

    def kill(self) -> None:
        """As the power cut would."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        """As Ctrl-C does; the exit code."""
        self.process.terminate()
        return self.process.wait(timeout=20)


def start_server(home: DataDirectory, *arguments: str) -> Served:
    """Start it on a free port and wait until it answers."""
    process = subprocess.Popen(
        [sys.executable, "-m", "skales.cli.main", "serve", "--no-window", "--port", "0", *arguments],
        env=environment(home),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline_s = time.monotonic() + _START_WAIT_S
    while time.monotonic() < deadline_s and process.poll() is None:
        url = _published(home, process.pid)
        if url and _answers(url):
            return Served(home, process, url)
        time.sleep(0.02)
    process.kill()
    process.wait()
    raise AssertionError("skales serve did not start")


def _published(home: DataDirectory, pid: int) -> str:
    try:
        found = json.loads(home.instance.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""
    return str(found["url"]) if found["pid"] == pid else ""


def _answers(url: str) -> bool:
    try:
        return httpx2.get(f"{url}/api/health", trust_env=False).is_success
    except httpx2.HTTPError:
        return False


@pytest.fixture
def model() -> Iterator[EchoModel]:
    with EchoModel() as model:
        yield model


@pytest.fixture
def ready_home(home: DataDirectory, model: EchoModel) -> DataDirectory:
    """A data directory set up for the echoing model, with the DevKit on."""
    write_object(
        home.settings,
        {"activeProvider": "custom", "providers": {"custom": {"baseUrl": model.url, "model": "echo"}}},
    )
    write_object(home.devkit, {"enabled": True, "version": "0.5.0", "api": {"token": TOKEN}})
    return home


def sessions_on_disk(folder: Path) -> list[dict[str, object]]:
    """Every session file, parsed; a torn one fails here."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
