"""costs/<year>-<month>.jsonl: what each call to a model used and, by list price, cost. Lines are only ever added.

Months are those of UTC, so that a line is found again wherever the computer went. What a conversation or a day spent
so far stands in `spending`, which a turn reads; these lines are for looking back.
Spec: orchestrator.md, "Streaming, cost, interruption".
"""

import json
import math
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC
from pathlib import Path

from msgspec import Struct, structs

from skales.core.clock import to_datetime
from skales.core.json import JsonObject, JsonValue, as_object, as_text, parse_json
from skales.data.document import storage_errors
from skales.data.paths import DataDirectory
from skales.data.records import moment_ms

# No call has as many; a larger number is a damaged line.
_MOST_TOKENS = 10**12
_MOST_USD = 1e9


class LedgerEntry(Struct, frozen=True, kw_only=True):
    """One call. `purpose` is chat, title, summary, probe or compare; `cost_usd` None means that no price is known.

    Costs come from list prices and are therefore estimates. `input_tokens` includes the cached ones; with
    `estimated_tokens` the endpoint told no numbers, and they were guessed from the length of the texts.
    """

    when_ms: int
    session_id: str
    provider: str
    model: str
    purpose: str
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    cost_usd: float | None
    estimated_tokens: bool = False


class CostSum(Struct, frozen=True, kw_only=True):
    """Calls that have something in common. `unpriced` of them have no known price and count as nothing.

    Of `estimated` ones the tokens are a guess.
    """

    name: str
    calls: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    cost_usd: float
    unpriced: int
    estimated: int


class Ledger:
    """The lines of one data directory. May be used from several threads."""

    def __init__(self, directory: DataDirectory) -> None:
        self._folder = directory.costs
        self._lock = threading.Lock()

    def record(self, entry: LedgerEntry) -> None:
        """Add a line. Raises StorageError."""
        path = self._folder / f"{_month(entry.when_ms)}.jsonl"
        known = {
            name: value for name, value in structs.asdict(entry).items() if value is not None and value is not False
        }
        line = f"{json.dumps(known)}\n".encode()
        with self._lock, storage_errors(path, "written"):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with path.open("ab+") as file:
                # A crash may have left half a line, which must not take this one with it.
                if file.seek(0, os.SEEK_END) and file.seek(-1, os.SEEK_END) >= 0 and file.read(1) != b"\n":
                    line = b"\n" + line
                file.write(line)

    def entries(self, since_ms: int = 0) -> Iterator[LedgerEntry]:
        """The calls from a moment on, in the order of the lines; months before it are not read. Raises StorageError."""
        for path in self._months(since_ms):
            with storage_errors(path, "read"), path.open("rb") as file:
                lines = file.readlines()
            found = (_read(line) for line in lines)
            yield from (entry for entry in found if entry is not None and entry.when_ms >= since_ms)

    def _months(self, since_ms: int) -> list[Path]:
        first = _month(since_ms)
        return sorted(path for path in self._folder.glob("????-??.jsonl") if path.stem >= first)


def sum_up(entries: Iterable[LedgerEntry], name_of: Callable[[LedgerEntry], str]) -> tuple[CostSum, ...]:
    """Sums by what `name_of` says, the dearest first, then the one with most tokens."""
    groups: dict[str, list[LedgerEntry]] = {}
    for entry in entries:
        groups.setdefault(name_of(entry), []).append(entry)
    found = [sum_all(members, name) for name, members in groups.items()]
    return tuple(sorted(found, key=lambda row: (-row.cost_usd, -row.input_tokens - row.output_tokens, row.name)))


def sum_all(entries: Iterable[LedgerEntry], name: str = "") -> CostSum:
    """All of them as one sum."""
    members = list(entries)
    return CostSum(
        name=name,
        calls=len(members),
        input_tokens=sum(entry.input_tokens for entry in members),
        cached_tokens=sum(entry.cached_tokens for entry in members),
        output_tokens=sum(entry.output_tokens for entry in members),
        cost_usd=math.fsum(entry.cost_usd or 0.0 for entry in members),
        unpriced=sum(entry.cost_usd is None for entry in members),
        estimated=sum(entry.estimated_tokens for entry in members),
    )


def read_usd(value: JsonValue) -> float | None:
    """An amount of a file, None for what cannot be one."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= _MOST_USD:
        return None
    return float(value)


def _read(line: bytes) -> LedgerEntry | None:
    """None for a line that was cut short or is not ours; the others still count."""
    try:
        raw = as_object(parse_json(line.decode("utf-8", "replace")))
    except ValueError:
        return None
    when_ms = moment_ms(raw.get("when_ms"))
    if not when_ms:
        return None
    return LedgerEntry(
        when_ms=when_ms,
        session_id=as_text(raw.get("session_id")),
        provider=as_text(raw.get("provider")),
        model=as_text(raw.get("model")),
        purpose=as_text(raw.get("purpose")),
        input_tokens=_count(raw, "input_tokens"),
        cached_tokens=_count(raw, "cached_tokens"),
        output_tokens=_count(raw, "output_tokens"),
        cost_usd=read_usd(raw.get("cost_usd")),
        estimated_tokens=raw.get("estimated_tokens") is True,
    )


def _count(raw: JsonObject, name: str) -> int:
    value = raw.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS else 0


def _month(when_ms: int) -> str:
    return f"{to_datetime(when_ms, UTC):%Y-%m}"
