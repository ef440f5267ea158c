"""Times, sizes and durations in words."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from skales.core.message import Usage
from skales.server.ui.phrases import greet, show_duration, show_moment, show_period, show_size, show_usage


@pytest.fixture(autouse=True)
def zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Half an hour off, so that a mix-up of zones shows."""
    monkeypatch.setenv("TZ", "IST-5:30")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def ms(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


NOW = ms("2026-11-30T12:00:00")


@pytest.mark.parametrize(
    ("moment", "words"),
    [
        ("2026-11-30T04:05:00", "09:35"),
        ("2026-11-29T18:31:00", "00:01"),
        ("2026-11-29T18:29:00", "29 Nov, 23:59"),
        ("2026-01-02T00:00:00", "2 Jan, 05:30"),
        ("2025-12-31T00:00:00", "31 Dec 2025, 05:30"),
    ],
)
def test_a_moment_is_told_as_far_away_as_it_is(moment: str, words: str) -> None:
    assert show_moment(ms(moment), NOW).words == words


@pytest.mark.parametrize(
    ("moment", "heading"),
    [
        ("2026-11-30T11:00:00", "Today"),
        ("2026-12-02T11:00:00", "Today"),
        ("2026-11-29T18:00:00", "Yesterday"),
        ("2026-11-25T11:00:00", "Last 7 days"),
        ("2026-11-02T11:00:00", "Last 30 days"),
        ("2026-10-20T11:00:00", "October 2026"),
        ("2024-02-29T11:00:00", "February 2024"),
    ],
)
def test_conversations_are_headed_by_their_period(moment: str, heading: str) -> None:
    assert show_period(ms(moment), NOW) == heading


@pytest.mark.parametrize(
    ("duration_ms", "words"),
    [(0, ""), (-5, ""), (340, "340 ms"), (1400, "1.4 s"), (59_999, "60.0 s"), (123_000, "2 min 3 s")],
)
def test_a_duration_has_the_unit_that_fits(duration_ms: int, words: str) -> None:
    assert show_duration(duration_ms) == words


@pytest.mark.parametrize(
    ("size", "words"),
    [(0, "0 bytes"), (999, "999 bytes"), (1500, "1.5 kB"), (98_362_432, "98 MB"), (2_500_000_000, "2.5 GB")],
)
def test_a_size_has_the_unit_that_fits(size: int, words: str) -> None:
    assert show_size(size) == words


def test_unknown_usage_is_not_shown() -> None:
    assert show_usage(None) == show_usage(Usage()) == ""
    assert show_usage(Usage(1204, 212)) == "1,204 tokens in, 212 out"


@pytest.mark.parametrize(
    ("hour", "words"), [("00", "Good morning."), ("08", "Good afternoon."), ("14", "Good evening.")]
)
def test_the_greeting_fits_the_hour_here(hour: str, words: str) -> None:
    assert greet(ms(f"2026-11-30T{hour}:00:00")) == words
