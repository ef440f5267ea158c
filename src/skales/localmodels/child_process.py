"""One child process that serves a model: started, asked whether it answers, ended. Knows nothing of restarts.

What it writes goes to the log; what it says on standard output is one JSON line. It ends when its standard input
closes, so that it does not outlive us.
"""

import http.client
import json
import os
import queue
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from skales.core.json import JsonObject, as_object, parse_json
from skales.data.document import storage_errors

PORTS = (8234, 8235, 8236, 8237, 8238)  # spec local-models.md

_LOG_LIMIT_BYTES = 2 * 1024 * 1024
_TAIL_BYTES = 2000
_TAIL_LINES = 6
_TERM_S = 3.0
_PROBE_S = 2.0
# Two threads on cores that others use too: 32 to 56 tokens a second instead of 4 to 19 (measured).
_SPIN = {"GOMP_SPINCOUNT": "20000"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOrder:
    """What the child is told. Goes through its standard input: arguments can be read by every user of the computer."""

    model_path: str
    model_id: str
    api_key: str = field(repr=False)
    context_tokens: int
    threads: int
    gpu_layers: int
    temperature: float
    top_p: float
    repeat_penalty: float
    chat_template: str = ""
    idle_s: int = -1
    ports: Sequence[int] = PORTS


class ModelProcess:
    """A started child. May be used from several threads."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], order: ServeOrder, log: Path) -> None:
        """Start it. Raises OSError when the system cannot, StorageError when the log cannot be written."""
        self.order = order
        self._answers: queue.SimpleQueue[JsonObject] = queue.SimpleQueue()
        with open_log(log) as output:
            self._child = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                env={**os.environ, **_SPIN, **environment},
                start_new_session=True,  # Ctrl-C in the terminal is for us; we end it in our own order
            )
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        threading.Thread(target=self._listen, args=(self._child.stdout,), daemon=True).start()
        with suppress(BrokenPipeError):  # it died at once; `is_alive` tells
            self._child.stdin.write(json.dumps(asdict(order)).encode() + b"\n")
            self._child.stdin.flush()

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self._child.pid

    def is_alive(self) -> bool:
        """Whether it still runs."""
        return self._child.poll() is None

    def answer(self) -> JsonObject | None:
        """What it said, once: `address` and `context_tokens`, or `error` and `words`."""
        try:
            return self._answers.get_nowait()
        except queue.Empty:
            return None

    def end(self) -> None:
        """Ask it to end, and after three seconds end it. The second time is harmless."""
        with suppress(OSError):
            self._child.terminate()
        try:
            self._child.wait(_TERM_S)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        if self._child.stdin is not None:
            with suppress(OSError):
                self._child.stdin.close()

    def _listen(self, lines: IO[bytes]) -> None:
        """Reads to the end, so that a chatty child never blocks on a full pipe."""
        with lines:
            for line in lines:
                with suppress(ValueError):
                    said = as_object(parse_json(line.decode("utf-8", "replace")))
                    if "address" in said or "error" in said:
                        self._answers.put(said)


def build_command(runtime: Path) -> tuple[tuple[str, ...], Mapping[str, str]]:
    """How the child is started, and its environment beside ours: the runtime's folder comes first on the path."""
    inherited = os.environ.get("PYTHONPATH", "")
    path = os.pathsep.join(part for part in (str(runtime), inherited) if part)
    return (sys.executable, "-m", "skales.localmodels.child"), {"PYTHONPATH": path}


def is_answering(address: str, api_key: str) -> bool:
    """Whether a server at the address takes our key. Waits two seconds at most."""
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=_PROBE_S)
    try:
        connection.request("GET", "/v1/models", headers={"Authorization": f"Bearer {api_key}"})
        return connection.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def choose_threads() -> int:
    """One per physical core we may use; the second thread of a core only gets in the way."""
    import psutil  # loaded with the first model, not with the program

    physical = psutil.cpu_count(logical=False) or os.cpu_count() or 1
    usable = len(os.sched_getaffinity(0)) if sys.platform == "linux" else physical
    return max(1, min(physical, usable))


def open_log(path: Path) -> IO[bytes]:
    """The log for appending; what outgrew its limit is kept as `<name>.1`. Raises StorageError."""
    with storage_errors(path, "written"):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        trim_log(path)
        return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab")


def trim_log(path: Path) -> None:
    """Start the log anew when it is too long. Whoever has it open for appending goes on in the emptied file."""
    with suppress(OSError):
        if path.stat().st_size > _LOG_LIMIT_BYTES:
            shutil.copyfile(path, path.with_name(f"{path.name}.1"))
            os.truncate(path, 0)


def read_log_tail(path: Path) -> str:
    """The last lines of the log as one line of text, empty when there is none."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _TAIL_BYTES))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    return " | ".join(line.strip() for line in lines[-_TAIL_LINES:] if line.strip())
