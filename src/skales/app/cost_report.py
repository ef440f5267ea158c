"""What the ledger adds up to, for the page, the terminal and HTTP: sums over a time, by model, day or conversation.

Reads the months that are asked for, never on the way of a turn. Every amount is an estimate from list prices.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from enum import StrEnum
from typing import assert_never

from msgspec import Struct

from skales.core.clock import to_datetime
from skales.core.errors import InputError
from skales.core.json import JsonObject, JsonValue
from skales.data.ledger import CostSum, Ledger, LedgerEntry, sum_all, sum_up
from skales.data.sessions import SessionStore

EVER = "all"
_DAYS = re.compile(r"([1-9]\d{0,3})d")


class Grouping(StrEnum):
    """What calls are added up by."""

    MODEL = "model"
    PROVIDER = "provider"
    PURPOSE = "purpose"
    SESSION = "session"
    DAY = "day"


class CostReport(Struct, frozen=True, kw_only=True):
    """Sums since a moment. `titles` are of the conversations that still exist, when it is about those."""

    since_ms: int
    by: Grouping
    total: CostSum
    rows: Sequence[CostSum]
    titles: Mapping[str, str]


def parse_since(text: str, now_ms: int) -> int:
    """The moment that `7d` (today and the six days before), `2026-11-30` or `all` means. Raises InputError."""
    if text == EVER:
        return 0
    today = to_datetime(now_ms).date()
    if found := _DAYS.fullmatch(text):
        return _midnight_ms(today - timedelta(days=int(found.group(1)) - 1))
    try:
        return _midnight_ms(date.fromisoformat(text))
    except (ValueError, OverflowError, OSError) as error:
        raise InputError(f"{text!r} is no time to begin at", hint="Write 7d, 2026-11-30 or all") from error


def parse_grouping(text: str) -> Grouping:
    """Raises InputError that lists what there is."""
    try:
        return Grouping(text)
    except ValueError as error:
        raise InputError(f"Costs cannot be listed by {text!r}", hint=f"Use one of {', '.join(Grouping)}") from error


def add_up(entries: Sequence[LedgerEntry], by: Grouping) -> Sequence[CostSum]:
    """The sums of each group, the dearest first, days newest first."""
    rows = sum_up(entries, lambda entry: name_group(entry, by))
    return sorted(rows, key=lambda row: row.name, reverse=True) if by is Grouping.DAY else rows


def name_group(entry: LedgerEntry, by: Grouping) -> str:
    """What a call is added up under: `openai/gpt-5.5`, `openai`, `chat`, a conversation's id, `2026-11-30`."""
    match by:
        case Grouping.MODEL:
            return f"{entry.provider}/{entry.model}"
        case Grouping.PROVIDER:
            return entry.provider
        case Grouping.PURPOSE:
            return entry.purpose
        case Grouping.SESSION:
            return entry.session_id
        case Grouping.DAY:
            return f"{to_datetime(entry.when_ms):%Y-%m-%d}"
        case _:
            assert_never(by)


def load_report(ledger: Ledger, sessions: SessionStore, since_ms: int, by: Grouping) -> CostReport:
    """Everything since a moment. Raises StorageError."""
    entries = list(ledger.entries(since_ms))
    return CostReport(
        since_ms=since_ms,
        by=by,
        total=sum_all(entries),
        rows=add_up(entries, by),
        titles=find_titles(sessions) if by is Grouping.SESSION and entries else {},
    )


def find_titles(sessions: SessionStore) -> Mapping[str, str]:
    """The titles of all conversations by id, from the index."""
    return {summary.id: summary.title for summary in sessions.list(limit=sessions.count())}


def costs_to_json(report: CostReport) -> JsonObject:
    """The report as programs read it; a cost is null when no price of its calls is known."""
    return {
        "since": report.since_ms,
        "by": report.by,
        "currency": "USD",
        "estimated": True,
        "total": _row(report.total, {}),
        "rows": [{"name": row.name, **_row(row, report.titles)} for row in report.rows],
    }


def _row(row: CostSum, titles: Mapping[str, str]) -> Mapping[str, JsonValue]:
    title = titles.get(row.name)
    return {
        **({"title": title} if title else {}),
        "calls": row.calls,
        "inputTokens": row.input_tokens,
        "cachedTokens": row.cached_tokens,
        "outputTokens": row.output_tokens,
        "costUsd": None if row.calls and row.unpriced == row.calls else row.cost_usd,
        "unpricedCalls": row.unpriced,
        "estimatedCalls": row.estimated,
    }


def _midnight_ms(day: date) -> int:
    """When a day begins on this computer, also where clocks are changed."""
    return max(0, int(datetime.combine(day, time.min).astimezone().timestamp() * 1000))
