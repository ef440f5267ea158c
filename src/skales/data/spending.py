"""costs/sessions/<id>.json and costs/today.json: what a conversation and this day spent, and what was allowed beyond.

Running totals, so that looking before a call costs the same however long the past is; read again only when somebody
else wrote. The single calls are in `ledger`.
Spec: orchestrator.md, "Streaming, cost, interruption" (ceilings).
"""

import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct, structs

from skales.core.clock import Clock, to_datetime
from skales.core.ids import SessionId, is_safe_id
from skales.core.json import JsonObject, JsonValue, as_text
from skales.data.ledger import read_usd
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.records import KeptObject, update_or_start_over

# Files that are kept: those of the conversations that go on, and today's.
_MOST_KEPT = 64


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
        self._kept: OrderedDict[Path, KeptObject] = OrderedDict()
        self._lock = threading.Lock()

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

        self._write(self._session(session_id), write)

    def change_today(self, change: Change) -> None:
        """Write down what `change` makes of today's state. Raises StorageError."""
        today = self._date()

        def write(raw: dict[str, JsonValue]) -> None:
            before = _parse(raw) if as_text(raw.get("date")) == today else Spending()
            raw.update({"date": today, **_dump(change(before))})

        self._write(self._day, write)

    @property
    def _day(self) -> Path:
        return self._folder / "today.json"

    def _session(self, session_id: SessionId) -> Path:
        return self._folder / "sessions" / f"{session_id}.json"

    def _write(self, path: Path, change: Callable[[dict[str, JsonValue]], None]) -> None:
        update_or_start_over(path, self._quarantine, change, missing={})
        kept = self._keep(path)
        kept.forget()
        # Whoever asks next is on the event loop.
        kept.read()

    def _load(self, path: Path) -> JsonObject:
        return self._keep(path).read()

    def _keep(self, path: Path) -> KeptObject:
        with self._lock:
            kept = self._kept.setdefault(path, KeptObject(path, self._quarantine))
            self._kept.move_to_end(path)
            if len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
            return kept

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
