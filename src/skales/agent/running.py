"""The calls that run at this moment, whoever made them, and a way to stop them all. A round of the gate."""

import anyio
from msgspec import Struct

from skales.agent.gate import PassedCall, Proceed
from skales.core.clock import Clock
from skales.core.errors import ToolError
from skales.core.tool import ToolResult


class RunningCall(Struct, frozen=True):
    """A call, since when it runs on the monotonic clock, and what stops it."""

    passed: PassedCall
    started_s: float
    scope: anyio.CancelScope


class RunningCalls:
    """Knows what runs. Everything on the event loop."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._calls: dict[int, RunningCall] = {}
        self._count = 0

    async def __call__(self, passed: PassedCall, proceed: Proceed) -> ToolResult:
        """Let the call run where `stop_all` reaches it."""
        self._count += 1
        number = self._count
        with anyio.CancelScope() as scope:
            self._calls[number] = RunningCall(passed, self._clock.monotonic_s(), scope)
            try:
                return await proceed(passed)
            finally:
                del self._calls[number]
        raise ToolError("Stopped by the kill switch", hint="Look at what it did until then")

    def list(self) -> tuple[RunningCall, ...]:
        """What runs, longest first."""
        return tuple(self._calls.values())

    def stop_all(self) -> None:
        """Stop every call; each ends with an error for whoever made it."""
        for call in self._calls.values():
            call.scope.cancel()
