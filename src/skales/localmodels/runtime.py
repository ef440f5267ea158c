"""Keeps one model running: starts it when asked, restarts it after a crash, ends it with the app.

One model at a time; asking for another one ends the first. Restarts happen when somebody asks, not on their own.
Spec: local-models.md.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import anyio.to_thread
from msgspec import Struct

from skales.core.clock import Clock
from skales.core.errors import ConfigurationError
from skales.core.events import Progress
from skales.core.json import as_int, as_text
from skales.localmodels.child_process import ModelProcess, ServeOrder, is_answering, read_log_tail, trim_log

_POLL_S = 0.05
_BACK_OFF_S = (0.5, 1.0, 2.0)
_CRASH_WINDOW_S = 300.0
_REASONS: Mapping[str, tuple[str, str]] = {
    "no_runtime": (
        "The program that runs local models cannot be loaded",
        "On Linux it needs the system library libgomp1. Otherwise delete local-models/runtime; it is fetched anew",
    ),
    "bad_model": (
        "The model {model!r} cannot be loaded",
        "The file may be damaged, too large for the memory, or of a kind this version does not know",
    ),
}


@dataclass(frozen=True, slots=True)
class LocalAddress:
    """Where the running model is asked. The key is new at every start."""

    base_url: str
    api_key: str = field(repr=False)
    model: str
    context_tokens: int


class Launcher(Struct, frozen=True, kw_only=True):
    """How a child is started. Tests start another program here."""

    command: Sequence[str]
    environment: Mapping[str, str]
    log: Path
    start_timeout_s: float = 180.0
    back_off_s: Sequence[float] = _BACK_OFF_S


class ModelRunner:
    """The one running model. Safe to use from several tasks of one event loop."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = anyio.Lock()
        self._process: ModelProcess | None = None
        self._address: LocalAddress | None = None
        self._crashes: list[float] = []
        self._is_closing = False

    def running_model(self) -> str:
        """The id of the model that answers now, empty for none."""
        process, address = self._process, self._address
        return address.model if address and process and process.is_alive() else ""

    async def ensure(self, launcher: Launcher, order: ServeOrder, report: Callable[[Progress], None]) -> LocalAddress:
        """The address of the model of the order, started if need be. Raises ConfigurationError, StorageError."""
        async with self._lock:
            trim_log(launcher.log)
            if self._address and self.running_model() == order.model_id:
                return self._address
            has_crashed = self._address is not None and not self.running_model()
            await self._end()
            if has_crashed:
                self._note_crash(launcher)
            self._is_closing = False
            report(Progress(f"Starting the model {order.model_id}", 0, 0, "steps"))
            return await self._start(launcher, order)

    async def stop(self) -> None:
        """End the model; one that is just starting fails with the reason. The second time is harmless."""
        self._is_closing = True
        await self._end()

    async def _start(self, launcher: Launcher, order: ServeOrder) -> LocalAddress:
        for pause_s in (*launcher.back_off_s, None):
            try:
                return await self._start_once(launcher, order)
            except _CrashedError as crash:
                if pause_s is None or self._is_closing:
                    raise _start_failed(crash.words, launcher) from crash
                await anyio.sleep(pause_s)
        raise AssertionError("the last try returns or raises")

    async def _start_once(self, launcher: Launcher, order: ServeOrder) -> LocalAddress:
        try:
            process = ModelProcess(launcher.command, launcher.environment, order, launcher.log)
        except OSError as error:
            raise ConfigurationError(
                f"The local model cannot be started: {error.strerror}", code="cannot_start"
            ) from error
        self._process, self._address = process, None
        is_up = False
        try:
            with anyio.fail_after(launcher.start_timeout_s):
                address = await _wait_until_ready(process, launcher)
        except TimeoutError as error:
            raise ConfigurationError(
                f"The model {order.model_id!r} did not start within {launcher.start_timeout_s:.0f} seconds",
                hint=f"Try a smaller model. {_log_words(launcher)}",
                code="start_timeout",
            ) from error
        else:
            self._address, is_up = address, True
            return address
        finally:
            if not is_up:
                await self._end()

    async def _end(self) -> None:
        process, self._process, self._address = self._process, None, None
        if process is not None:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(process.end)

    def _note_crash(self, launcher: Launcher) -> None:
        now_s = self._clock.monotonic_s()
        self._crashes = [moment for moment in self._crashes if now_s - moment < _CRASH_WINDOW_S]
        self._crashes.append(now_s)
        if len(self._crashes) > len(launcher.back_off_s):
            self._crashes.clear()  # asking once more tries once more
            raise ConfigurationError(
                f"The local model crashed {len(launcher.back_off_s) + 1} times in five minutes",
                hint=f"Try a smaller model. {_log_words(launcher)}",
                code="crashed",
            )


class _CrashedError(Exception):
    """The child ended before it answered."""

    def __init__(self, words: str) -> None:
        super().__init__(words)
        self.words = words


async def _wait_until_ready(process: ModelProcess, launcher: Launcher) -> LocalAddress:
    order = process.order
    address = ""
    context_tokens = 0
    while True:
        if said := process.answer():
            if reason := as_text(said.get("error")):
                raise _refusal(reason, order, launcher)
            address, context_tokens = as_text(said.get("address")), as_int(said.get("context_tokens"))
        elif not process.is_alive():
            raise _CrashedError(read_log_tail(launcher.log))
        is_up = bool(address) and await anyio.to_thread.run_sync(is_answering, address, order.api_key)
        if is_up:
            return LocalAddress(f"{address}/v1", order.api_key, order.model_id, context_tokens or order.context_tokens)
        await anyio.sleep(_POLL_S)


def _refusal(reason: str, order: ServeOrder, launcher: Launcher) -> ConfigurationError:
    message, hint = _REASONS.get(reason, ("The local model cannot be started", ""))
    return ConfigurationError(
        message.format(model=order.model_id), hint=f"{hint}. {_log_words(launcher)}".lstrip(". "), code=reason
    )


def _start_failed(words: str, launcher: Launcher) -> ConfigurationError:
    tries = len(launcher.back_off_s) + 1
    return ConfigurationError(
        f"The local model ended {tries} times before it answered{f': {words}' if words else ''}",
        hint=f"The whole log is {str(launcher.log)!r}",
        code="cannot_start",
    )


def _log_words(launcher: Launcher) -> str:
    tail = read_log_tail(launcher.log)
    return f"Its log {str(launcher.log)!r} ends: {tail}" if tail else f"Its log is {str(launcher.log)!r}"
