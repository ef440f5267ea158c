"""A screen of its own without a monitor, and a real program on it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import anyio
import pytest

from skales.core.json import JsonObject

_FORM = Path(__file__).with_name("form.py")
_PACKAGES = "apt-get install -y xvfb tesseract-ocr python3-tk fonts-dejavu-core"
_WAIT_S = 15


@dataclass
class Form:
    """The program `form.py` as it runs, and what it noted."""

    log: Path
    process: "subprocess.Popen[bytes]"

    def notes(self, event: str) -> Sequence[JsonObject]:
        text = self.log.read_text(encoding="utf-8") if self.log.exists() else ""
        found = [cast(JsonObject, json.loads(line)) for line in text.splitlines() if line.endswith("}")]
        return [note for note in found if note["event"] == event]

    async def wait_for(self, event: str, is_it: Callable[[JsonObject], bool] = lambda _note: True) -> JsonObject:
        """The first note of an event for which the question is true; fails when it does not come."""
        with anyio.fail_after(_WAIT_S):
            while True:
                for note in self.notes(event):
                    if is_it(note):
                        return note
                await anyio.sleep(0.02)


@pytest.fixture(scope="session")
def xvfb() -> Iterator[str]:
    """The name of a screen, 1280 x 800, that exists for the tests only."""
    process, name = start_screen()
    yield name
    process.terminate()
    process.wait(timeout=_WAIT_S)


def start_screen() -> tuple["subprocess.Popen[bytes]", str]:
    """A screen that runs, and its name; fails when the program is not installed."""
    reading, writing = os.pipe()
    try:
        process = subprocess.Popen(
            ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1280x800x24", "-nolisten", "tcp", "-noreset"],
            pass_fds=[writing],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except FileNotFoundError:
        pytest.fail(f"Xvfb is not installed: {_PACKAGES}")
    os.close(writing)
    with os.fdopen(reading, encoding="ascii") as numbers:
        number = numbers.readline().strip()
    return process, f":{number}"


@pytest.fixture
def screen(xvfb: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The screen, as the one that this program runs on."""
    monkeypatch.setenv("DISPLAY", xvfb)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.delenv("XAUTHORITY", raising=False)
    return xvfb


@pytest.fixture
def open_form(screen: str, tmp_path: Path) -> Iterator[Callable[..., Form]]:
    """`open_form(title="…")` starts the program; it is ended after the test."""
    running: list[subprocess.Popen[bytes]] = []

    def start(title: str = "Form of the tests") -> Form:
        log = tmp_path / f"form-{len(running)}.jsonl"
        running.append(subprocess.Popen([_python_with_tkinter(), str(_FORM), str(log), title]))
        return Form(log, running[-1])

    yield start
    for process in running:
        process.kill()
        process.wait(timeout=_WAIT_S)


@pytest.fixture
async def form(open_form: Callable[..., Form]) -> Form:
    """The program, ready, with the focus in its first field."""
    started = open_form()
    await started.wait_for("ready")
    return started


def _python_with_tkinter() -> str:
    for python in (sys.executable, "/usr/bin/python3"):
        if (
            Path(python).exists()
            and subprocess.run([python, "-c", "import tkinter"], capture_output=True).returncode == 0
        ):
            return python
    pytest.fail(f"No Python here has tkinter: {_PACKAGES}")
