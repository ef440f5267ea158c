"""Schedules against the tables of Debian's cron, and in words."""

import csv
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from skales.core.errors import InputError
from skales.data.cron_times import (
    check_expression,
    describe_schedule,
    find_zone,
    first_run_ms,
    local_zone_name,
    missed_runs_ms,
    next_runs,
)
from tests.conftest import CASES

Row = dict[str, str]


def rows(name: str) -> list[Row]:
    with (CASES / "cron" / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


ROWS = [*rows("CRN-01-dst.csv"), *rows("CRN-02-fields.csv")]
GOOD = [row for row in ROWS if row["next1"]]
REFUSED = [row for row in ROWS if not row["next1"]]


def name_of(row: Row) -> str:
    return row["id"]


@pytest.mark.parametrize("row", GOOD, ids=name_of)
def test_the_next_five_runs_are_those_of_the_table(row: Row) -> None:
    after = datetime.fromisoformat(row["from"])
    found = islice(next_runs(row["expression"], find_zone(row["timezone"]), after), 5)
    assert [moment.isoformat() for moment in found] == [row[f"next{number}"] for number in range(1, 6)]


@pytest.mark.parametrize(
    ("row", "field"),
    list(zip(REFUSED, ("day of month", "minute", "4 fields", "day of month", "minute", "weekday"), strict=True)),
    ids=[row["id"] for row in REFUSED],
)
def test_what_can_never_be_due_is_refused_with_the_field_at_fault(row: Row, field: str) -> None:
    with pytest.raises(InputError, match="Invalid cron expression") as refused:
        check_expression(row["expression"])
    assert field in refused.value.hint


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "   ",
        "@reboot",
        "@every 5m",
        "0 9 * * * *",
        "0 24 * * *",
        "0 0 * 13 *",
        "0 0 * * 8",
        "0 0 * * funday",
        "0 0 32 * *",
        "-1 * * * *",
        "5- * * * *",
        "5--7 * * * *",
        "10-5 * * * *",
        "*/x * * * *",
        "1,,2 * * * *",
        ", * * * *",
        "1.5 * * * *",
        "٣ * * * *",
        "0 0 31 feb,apr *",
        "0 0 * * mon#2/3",
        "9" * 5000 + " * * * *",
        "* " * 300,
        "rm -rf / now please",
    ],
)
def test_what_is_no_schedule_is_refused(expression: str) -> None:
    with pytest.raises(InputError, match="Invalid cron expression") as refused:
        check_expression(expression)
    assert refused.value.hint


def test_spaces_do_not_matter() -> None:
    assert check_expression("  0\t9  *  * mon ") == "0 9 * * mon"


def test_a_leap_day_of_a_weekday_that_is_far_away_is_found() -> None:
    after = datetime(2031, 1, 1, tzinfo=UTC)
    assert next(next_runs("0 0 29 2 */7", UTC, after)).isoformat() == "2032-02-29T00:00:00+00:00"


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("*/15 * * * *", "every 15 minutes"),
        ("* * * * *", "every minute"),
        ("5 * * * *", "hourly at :05"),
        ("0 9 * * *", "daily at 9:00"),
        ("@daily", "daily at 0:00"),
        ("05 09 * * mon-fri", "weekdays at 9:05"),
        ("0 9 * * 1-5", "weekdays at 9:00"),
        ("0 9 * * 1", "weekly on Monday at 9:00"),
        ("0 9 * * SUN", "weekly on Sunday at 9:00"),
        ("0 9 * * 7", "weekly on Sunday at 9:00"),
        ("0 9 1 * *", "monthly on day 1 at 9:00"),
        # Steps that start again each hour are no plain interval.
        ("*/7 * * * *", "*/7 * * * *"),
        ("0 9 13 * 5", "0 9 13 * 5"),
        ("0 9 * 1 *", "0 9 * 1 *"),
        ("0 9,17 * * *", "0 9,17 * * *"),
        ("0 9 * * mon,wed", "0 9 * * mon,wed"),
        ("nonsense", "nonsense"),
    ],
)
def test_a_schedule_is_put_into_words_where_there_are_some(expression: str, words: str) -> None:
    assert describe_schedule(expression) == words


def test_moments_are_counted_in_the_zone_and_both_ends_are_right() -> None:
    start = datetime(2031, 3, 28, 9, tzinfo=ZoneInfo("Europe/Berlin"))
    start_ms = int(start.timestamp() * 1000)
    day_ms = 86_400_000
    assert first_run_ms("0 9 * * *", "Europe/Berlin", start_ms) == start_ms + day_ms
    # The Sunday between has 23 hours.
    until_ms = start_ms + 3 * day_ms - 3_600_000
    assert len(missed_runs_ms("0 9 * * *", "Europe/Berlin", start_ms, until_ms, 100)) == 3
    assert len(missed_runs_ms("0 9 * * *", "Europe/Berlin", start_ms, until_ms - 1, 100)) == 2
    assert len(missed_runs_ms("* * * * *", "UTC", start_ms, until_ms, 7)) == 7


@pytest.mark.parametrize("name", ["Europe/Atlantis", "", "../../etc/passwd", "Europe", "\0"])
def test_a_zone_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="time zone"):
        find_zone(name)


def test_this_computers_zone_has_a_name_that_is_known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    assert local_zone_name() == "America/New_York"
    monkeypatch.setenv("TZ", "No/Where")
    assert local_zone_name() == "UTC"
