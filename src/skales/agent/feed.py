"""A session's stream of numbered events: what surfaces attach to with "after n", whenever they come and go.

Kept in memory only. What matters is on disk before its event is published; the feed lets a page catch up.
"""

from collections import deque
from collections.abc import AsyncGenerator

import anyio

from skales.core.events import AnswerSaved, Compacted, Notice, NumberedEvent, ToolFinished, TurnEvent, TurnStarted

# Events kept for late surfaces; a long answer has a few thousand deltas.
_KEPT = 20_000


class Feed:
    """Numbers go up from `floor` + 1, which is above every number this session had before in this process."""

    def __init__(self, floor: int = 0) -> None:
        self._events: deque[NumberedEvent] = deque(maxlen=_KEPT)
        self._wake: anyio.Event | None = None
        self._listeners = 0
        self._is_closed = False
        self.last_number = floor
        self.saved_number = floor

    @property
    def listened(self) -> bool:
        """Whether a surface is attached now."""
        return self._listeners > 0

    def publish(self, event: TurnEvent) -> None:
        """Give the event the next number and wake every surface. Call it on the event loop only."""
        self.last_number += 1
        if isinstance(event, TurnStarted):
            self._forget_saved()
        self._events.append(NumberedEvent(self.last_number, event))
        # Why a turn ended and what waits in the queue come again to every page; no message on disk tells them.
        if isinstance(event, (TurnStarted, AnswerSaved, ToolFinished, Compacted)):
            self.saved_number = self.last_number
        self._wake_waiting()

    def restart(self) -> None:
        """Tell every surface that the history is another now. Call it only while no turn runs.

        A number is left out, which says to a page that it missed something: it fetches the history again.
        """
        self.last_number += 1
        self.publish(Notice("info", "The conversation was changed"))
        self.saved_number = self.last_number

    def close(self) -> None:
        """End every stream: the program stops."""
        self._is_closed = True
        self._wake_waiting()

    async def events(self, after: int) -> AsyncGenerator[NumberedEvent, None]:
        """Every kept event with a number above `after`, then each new one, until `close`."""
        self._listeners += 1
        try:
            while True:
                fresh = self._above(after)
                for numbered in fresh:
                    after = numbered.number
                    yield numbered
                if self._is_closed:
                    return
                if not fresh:
                    if self._wake is None:
                        self._wake = anyio.Event()
                    await self._wake.wait()
        finally:
            self._listeners -= 1

    def _wake_waiting(self) -> None:
        # Those who wait next make a new one: most events find nobody waiting.
        if self._wake is not None:
            self._wake.set()
            self._wake = None

    def _above(self, after: int) -> list[NumberedEvent]:
        fresh: list[NumberedEvent] = []
        for numbered in reversed(self._events):
            if numbered.number <= after:
                break
            fresh.append(numbered)
        fresh.reverse()
        return fresh

    def _forget_saved(self) -> None:
        """A new turn begins: what earlier turns said is on disk, and pages read it there."""
        while self._events and self._events[0].number <= self.saved_number:
            self._events.popleft()
