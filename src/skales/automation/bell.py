"""Wakes a coroutine that waits, from whichever thread."""

import asyncio
from contextlib import suppress

import anyio


class Bell:
    """Rung once or often before somebody waits, it wakes them once."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._rung = anyio.Event()

    def open(self) -> None:
        """From now on rings count. Call it on the event loop."""
        self._loop = asyncio.get_running_loop()
        self._rung = anyio.Event()

    def ring(self) -> None:
        """Wake whoever waits, or will; before `open` and after the loop's end it does nothing."""
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(lambda: self._rung.set())

    async def wait(self, timeout_s: float | None = None) -> bool:
        """Return when it is rung, or when the time is over; whether it was rung."""
        with anyio.move_on_after(timeout_s):
            await self._rung.wait()
        was_rung = self._rung.is_set()
        self._rung = anyio.Event()
        return was_rung
