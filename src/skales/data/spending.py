"""costs/sessions/<id>.json and costs/today.json: what a conversation and this day spent, and what was allowed beyond.

Running totals, so that looking before a call costs the same however long the past is. The single calls are in `ledger`.
Spec: orchestrator.md, "Streaming, cost, interruption" (ceilings).
"""

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct, structs

from skales.core.clock import Clock, to_datetime
from skales.core.errors import BrokenDocumentError, NotFoundError
from skales.core.ids import SessionId, is_safe_id
from skales.core.json import JsonObject, JsonValue, as_text
from skales.data.document import read_object
from skales.data.ledger import read_usd
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.records import update_or_start_over


class Spending(Struct, frozen=True, kw_only=True):
    """US dollars spent, those allowed beyond the ceiling, and whether the person was asked at half of it."""

    spent_usd: float = 0.0
    extra_usd: float = 0.0
    asked_at_half: bool = False


Change = Callable[[Spending], Spending]


class SpendingStore:
    """The totals of one data directory. May be used from several threads and programs."""

    def __init__(self, directory: DataDirectory, quarantine: Quarantine, clock: Clock) -> None:
        self._folder = directory.costs
        self._quarantine = quarantine
        self._clock = clock

    def of_session(self, session_id: SessionId) -> Spending:
        """What a conversation spent. Raises StorageError."""
        return _parse(self._load(self._session(session_id))) if is_safe_id(session_id) else Spending()

    def today(self) -> Spending:
        """What was spent since midnight, local time. Raises StorageError."""
        raw = self._load(self._day)
        return _parse(raw) if raw.get("date") == self._date() else Spending()

    def add(self, session_id: SessionId, cost_usd: float) -> None:
        """Count a call; without a conversation for the day alone. Raises StorageError."""

        def more(before: Spending) -> Spending:
            return structs.replace(before, spent_usd=before.spent_usd + cost_usd)

        self.change_today(more)
        if is_safe_id(session_id):
            self.change_session(session_id, more)

    def change_session(self, session_id: SessionId, change: Change) -> None:
        """Write down what `change` makes of a conversation's state. Raises StorageError."""

        def write(raw: dict[str, JsonValue]) -> None:
            raw.update(_dump(change(_parse(raw))))

        update_or_start_over(self._session(session_id), self._quarantine, write, missing={})

    def change_today(self, change: Change) -> None:
        """Write down what `change` makes of today's state. Raises StorageError."""
        today = self._date()

        def write(raw: dict[str, JsonValue]) -> None:
            before = _parse(raw) if as_text(raw.get("date")) == today else Spending()
            raw.update({"date": today, **_dump(change(before))})

        update_or_start_over(self._day, self._quarantine, write, missing={})

    @property
    def _day(self) -> Path:
        return self._folder / "today.json"

    def _session(self, session_id: SessionId) -> Path:
        return self._folder / "sessions" / f"{session_id}.json"

    def _load(self, path: Path) -> JsonObject:
        try:
            return read_object(path, self._quarantine)
        except (NotFoundError, BrokenDocumentError):
            return {}

    def _date(self) -> str:
        return f"{to_datetime(self._clock.now_ms()):%Y-%m-%d}"


def _parse(raw: JsonObject) -> Spending:
    return Spending(
        spent_usd=read_usd(raw.get("spentUsd")) or 0.0,
        extra_usd=read_usd(raw.get("extraUsd")) or 0.0,
        asked_at_half=raw.get("askedAtHalf") is True,
    )


def _dump(spending: Spending) -> dict[str, JsonValue]:
    return {
        "spentUsd": spending.spent_usd,
        "extraUsd": spending.extra_usd,
        "askedAtHalf": spending.asked_at_half,
    }
