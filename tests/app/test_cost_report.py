"""Sums for people and programs: since when, by what, and how unknown prices and lost titles look."""

from datetime import datetime

import pytest

from skales.app.cost_report import (
    Grouping,
    costs_to_json,
    load_report,
    parse_grouping,
    parse_since,
)
from skales.core.clock import to_datetime
from skales.core.errors import InputError
from skales.data.index import Index
from skales.data.ledger import Ledger, LedgerEntry
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.sessions import SessionStore
from tests.conftest import FixedClock

DAY_MS = 86_400_000


def entry(when_ms: int, session_id: str, model: str, cost_usd: float | None) -> LedgerEntry:
    return LedgerEntry(
        when_ms=when_ms,
        session_id=session_id,
        provider="openai",
        model=model,
        purpose="chat",
        input_tokens=100,
        cached_tokens=10,
        output_tokens=5,
        cost_usd=cost_usd,
    )


def test_a_time_begins_at_midnight_and_counts_today(clock: FixedClock) -> None:
    today = to_datetime(clock.now_ms()).replace(hour=0, minute=0, second=0, microsecond=0)
    assert to_datetime(parse_since("1d", clock.now_ms())) == today
    week = to_datetime(parse_since("7d", clock.now_ms()))
    assert ((today.date() - week.date()).days, week.hour) == (6, 0)
    assert parse_since("all", clock.now_ms()) == 0
    assert parse_since("2026-11-30", 0) == int(datetime(2026, 11, 30).astimezone().timestamp() * 1000)


@pytest.mark.parametrize("text", ["", "0d", "7", "7w", "yesterday", "2026-13-01", "99999d", "-1d"])
def test_a_time_that_is_none_is_refused(text: str, clock: FixedClock) -> None:
    with pytest.raises(InputError, match="no time to begin at"):
        parse_since(text, clock.now_ms())


def test_an_unknown_grouping_names_the_known_ones() -> None:
    with pytest.raises(InputError) as caught:
        parse_grouping("colour")
    assert caught.value.hint == "Use one of model, provider, purpose, session, day"


def test_the_report_says_what_is_unknown_and_names_conversations(home: DataDirectory, clock: FixedClock) -> None:
    quarantine = Quarantine(home.quarantine, clock)
    sessions = SessionStore(home, quarantine, Index(home.index, home.sessions), clock)
    session = sessions.create(title="Trip")
    ledger = Ledger(home)
    now_ms = clock.now_ms()
    ledger.record(entry(now_ms - 40 * DAY_MS, session.id, "gpt", 100.0))
    ledger.record(entry(now_ms - 2 * DAY_MS, session.id, "gpt", 0.5))
    ledger.record(entry(now_ms, session.id, "odd", None))
    ledger.record(entry(now_ms, "session_gone", "odd", None))
    since_ms = parse_since("30d", now_ms)
    report = costs_to_json(load_report(ledger, sessions, since_ms, Grouping.SESSION))
    sessions.close()
    assert report == {
        "since": since_ms,
        "by": "session",
        "currency": "USD",
        "estimated": True,
        "total": counts(3, 0.5, 2),
        "rows": [
            {"name": session.id, "title": "Trip", **counts(2, 0.5, 1)},
            {"name": "session_gone", **counts(1, None, 1)},
        ],
    }


def counts(calls: int, cost_usd: float | None, unpriced: int) -> dict[str, object]:
    return {
        "calls": calls,
        "inputTokens": 100 * calls,
        "cachedTokens": 10 * calls,
        "outputTokens": 5 * calls,
        "costUsd": cost_usd,
        "unpricedCalls": unpriced,
        "estimatedCalls": 0,
    }


@pytest.mark.parametrize(
    ("by", "names"),
    [
        (Grouping.MODEL, ["openai/gpt", "openai/mini"]),
        (Grouping.PROVIDER, ["openai"]),
        (Grouping.PURPOSE, ["chat"]),
        (Grouping.DAY, ["2031-02-28", "2031-02-26"]),
    ],
)
def test_calls_are_added_up_by_what_is_asked_for(
    home: DataDirectory, clock: FixedClock, by: Grouping, names: list[str]
) -> None:
    ledger = Ledger(home)
    noon_ms = int(datetime(2031, 2, 28, 12).astimezone().timestamp() * 1000)
    ledger.record(entry(noon_ms - 2 * DAY_MS, "s", "gpt", 1.0))
    ledger.record(entry(noon_ms, "s", "mini", 0.5))
    sessions = SessionStore(home, Quarantine(home.quarantine, clock), Index(home.index, home.sessions), clock)
    assert [row.name for row in load_report(ledger, sessions, 0, by).rows] == names
    sessions.close()
