"""Runs one model in a supervised child process: start, watch, stop. Knows nothing of downloads.

Spec: local-models.md; ports 8234 to 8238 first.
"""

import json
import os
import secrets
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio
from anyio.abc import Process

from skales.core.errors import ProviderError, ProviderFault
from skales.core.json import as_object, as_text, parse_json
from skales.localmodels.download import end_process

PORTS = range(8234, 8239)
_START_WAIT_S = 120.0
_TRIES = 3
_MAX_LOG_BYTES = 5_000_000
_LOG_TAIL_BYTES = 600
_MAGIC = b"GGUF"


@dataclass(frozen=True, slots=True)
class LocalAddress:
    """Where the running model answers."""

    base_url: str
    api_key: str = field(repr=False)
    model: str
    context_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOrder:
    """Which model to run, and how. `command` starts the child; tests put a small server there."""

    model_id: str
    path: Path
    runtime: Path
    log: Path
    context_tokens: int
    threads: int
    command: Sequence[str] = (sys.executable, "-m", "skales.localmodels.child")


class ModelProcess:
    """At most one child at a time. Calls must not overlap; the owner holds a lock."""

    def __init__(self) -> None:
        self._process: Process | None = None
        self._address: LocalAddress | None = None

    @property
    def address(self) -> LocalAddress | None:
        """Where the child answers, None when none runs or it has ended by itself."""
        if self._process is None or self._process.returncode is not None:
            return None
        return self._address

    async def start(self, order: ModelOrder) -> LocalAddress:
        """Start the model; a child that dies while loading is tried twice more. Raises ProviderError with its words."""
        _check_file(order.path)
        for attempt in range(1, _TRIES + 1):
            await self.stop()
            address = await self._start_once(order)
            if address is not None:
                return address
            await anyio.sleep(0.5 * attempt)
        raise ProviderError(
            f"The model {order.model_id} does not start: {_log_tail(order.log)}",
            fault=ProviderFault.UNREACHABLE,
            hint=f"See {order.log}, or choose another model",
        )

    async def stop(self) -> None:
        """End the child, if any."""
        process, self._process, self._address = self._process, None, None
        if process is not None:
            await end_process(process)

    async def _start_once(self, order: ModelOrder) -> LocalAddress | None:
        key = secrets.token_hex(24)
        _open_log(order.log)
        with order.log.open("ab") as log:
            process = await anyio.open_process(
                list(order.command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, env=_environment(order)
            )
        self._process = process
        url = None
        with anyio.move_on_after(_START_WAIT_S):
            url = await _converse(process, order, key)
        if url is None:
            await self.stop()
            return None
        self._address = LocalAddress(f"{url}/v1", key, order.model_id, order.context_tokens)
        return self._address


async def _converse(process: Process, order: ModelOrder, key: str) -> str | None:
    """Tell the child what to run; where it answers, or None when it ended instead."""
    assert process.stdin is not None, "opened as a pipe"
    assert process.stdout is not None, "opened as a pipe"
    line = {
        "model": str(order.path),
        "alias": order.model_id,
        "port": _free_port(),
        "key": key,
        "threads": order.threads,
        "context": order.context_tokens,
    }
    try:
        await process.stdin.send(f"{json.dumps(line)}\n".encode())
        answer = b""
        async for piece in process.stdout:
            answer += piece
            # The runtime may print lines of its own before ours.
            for text in answer.split(b"\n")[:-1]:
                if text.startswith(b'{"address"'):
                    return as_text(as_object(parse_json(text.decode()))["address"])
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        pass
    return None


def _free_port() -> int:
    """The first free one of the usual five, else 0, which lets the system choose."""
    for port in PORTS:
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    return 0


def _environment(order: ModelOrder) -> dict[str, str]:
    # Spinning threads fight over shared cores: without this 4 to 19 tokens a second instead of 32 to 56.
    return {**os.environ, "PYTHONPATH": str(order.runtime), "GOMP_SPINCOUNT": "20000", "PYTHONUNBUFFERED": "1"}


def _check_file(path: Path) -> None:
    """The runtime reports every fault of a file the same way, so the usual ones are told apart first."""
    try:
        with path.open("rb") as file:
            magic = file.read(len(_MAGIC))
    except OSError as error:
        raise ProviderError(
            f"The model file {path.name!r} cannot be read: {error.strerror}",
            fault=ProviderFault.UNKNOWN_MODEL,
            hint=f"Check {path}, or choose another model",
        ) from error
    if magic != _MAGIC:
        raise ProviderError(
            f"The model file {path.name!r} is not a GGUF file",
            fault=ProviderFault.UNKNOWN_MODEL,
            hint="Fetch it again; downloads that were cut off look like this",
        )


def _open_log(log: Path) -> None:
    """Keep one earlier file beside a log that grew too large."""
    log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if log.exists() and log.stat().st_size > _MAX_LOG_BYTES:
        log.replace(log.with_name(f"{log.name}.1"))


def _log_tail(log: Path) -> str:
    try:
        text = log.read_bytes()[-_LOG_TAIL_BYTES:].decode("utf-8", "replace")
    except OSError:
        return "it wrote no log"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it said nothing"
