"""Time as an argument: rooms take a Clock, so that tests decide what time it is."""

import time
from datetime import datetime, tzinfo
from typing import Protocol


class Clock(Protocol):
    """Wall time for records, monotonic time for durations."""

    def now_ms(self) -> int:
        """Milliseconds since 1970-01-01 UTC."""
        ...

    def monotonic_s(self) -> float:
        """Seconds on a clock that never goes back; only differences mean anything."""
        ...


class SystemClock:
    """The machine's clock."""

    def now_ms(self) -> int:
        """Milliseconds since 1970-01-01 UTC."""
        return time.time_ns() // 1_000_000

    def monotonic_s(self) -> float:
        """Seconds on a clock that never goes back."""
        return time.monotonic()


def to_datetime(moment_ms: int, zone: tzinfo | None = None) -> datetime:
    """A moment in a zone; without one, in the machine's own."""
    return datetime.fromtimestamp(moment_ms / 1000, tz=zone).astimezone(zone)
