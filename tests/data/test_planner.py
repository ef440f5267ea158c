"""Planner entries keep the person's own day and time; what is overdue follows from the clock where they are."""

import json
from datetime import UTC, date, datetime, time
from zoneinfo import ZoneInfo

import pytest

from skales.core.errors import InputError
from skales.data.paths import DataDirectory
from skales.data.planner import PlannerStore, Span
from skales.data.quarantine import Quarantine
from tests.conftest import CountingIds, FixedClock

BERLIN = ZoneInfo("Europe/Berlin")


@pytest.fixture
def clock() -> FixedClock:
    """Half past eleven at night in London, half past midnight of the 17th in Berlin."""
    return FixedClock(int(datetime(2031, 1, 16, 23, 30, tzinfo=UTC).timestamp() * 1000))


@pytest.fixture
def planner(home: DataDirectory, clock: FixedClock, ids: CountingIds) -> PlannerStore:
    return PlannerStore(home, Quarantine(home.quarantine, clock), clock, ids, BERLIN)


def test_an_entry_is_a_file_of_its_own(planner: PlannerStore, home: DataDirectory, clock: FixedClock) -> None:
    task = planner.add(
        " Call the\n tax office ", day="2031-05-17", at="9:30", duration_min=15, notes=" Ask for Ms Ray "
    )
    (path,) = home.planner.iterdir()
    assert path.stem == task.id
    assert json.loads(path.read_text(encoding="utf-8")) == {
        "id": task.id,
        "title": "Call the tax office",
        "date": "2031-05-17",
        "time": "09:30",
        "durationMinutes": 15,
        "notes": "Ask for Ms Ray",
        "done": False,
        "createdAt": clock.now_ms(),
    }
    assert list(planner.list()) == [task]


@pytest.mark.parametrize(
    ("day", "at", "expected"),
    [
        ("today", "", (date(2031, 1, 17), None)),
        ("Tomorrow", "7pm", (date(2031, 1, 18), time(19))),
        ("2031-05-17", "12am", (date(2031, 5, 17), time(0))),
        ("2031-05-17", "12:15 p.m.", (date(2031, 5, 17), time(12, 15))),
        ("2031-05-17", "0930", None),
        ("2031-05-17T08:15", "", (date(2031, 5, 17), time(8, 15))),
        ("2031-05-17 08:15", "10:00", (date(2031, 5, 17), time(10))),
        ("2031-05-17T23:30:00Z", "", (date(2031, 5, 18), time(1, 30))),
        ("", "", (None, None)),
        ("", "09:00", None),
        ("2031-02-30", "", None),
        ("17.5.2031", "", None),
        ("next week", "", None),
        ("2031-05-17", "24:00", None),
        ("2031-05-17", "9:75", None),
        ("2031-05-17", "13pm", None),
    ],
)
def test_days_and_times(
    planner: PlannerStore, home: DataDirectory, day: str, at: str, expected: tuple[date | None, time | None] | None
) -> None:
    if expected is None:
        with pytest.raises(InputError):
            planner.add("x", day=day, at=at)
        assert not home.planner.exists()
    else:
        task = planner.add("x", day=day, at=at)
        assert (task.day, task.at) == expected


def test_overdue_counts_the_day_where_the_person_is(planner: PlannerStore) -> None:
    planner.add("past day", day="2031-01-16")
    planner.add("all of today", day="today")
    planner.add("just over", day="today", at="00:10", duration_min=10)
    planner.add("still going", day="today", at="00:10", duration_min=30)
    planner.add("some day")
    assert [task.title for task in planner.list(Span.OVERDUE)] == ["past day", "just over"]


def test_entries_come_in_the_order_of_their_time_within_the_days_asked_for(planner: PlannerStore) -> None:
    for title, day, at in (
        ("c", "2031-02-02", ""), ("some day", "", ""), ("b", "2031-02-02", "09:00"),
        ("a", "2031-02-01", "10:00"), ("d", "2031-02-03", "08:00"),
    ):  # fmt: skip
        planner.add(title, day=day, at=at)
    assert [task.title for task in planner.list()] == ["a", "b", "c", "d", "some day"]
    assert [task.title for task in planner.list(first="2031-02-02", last="2031-02-02")] == ["b", "c"]
    assert [task.title for task in planner.list(first="2031-02-03")] == ["d"]
    with pytest.raises(InputError, match="before the first"):
        planner.list(first="tomorrow", last="today")


def test_files_edited_by_hand_are_read_forgivingly(planner: PlannerStore, home: DataDirectory) -> None:
    home.planner.mkdir()
    for name, value in {
        "done": {"title": "Done", "date": "2031-01-01", "done": True},
        "odd": {"title": "Odd", "date": "soon", "time": "late", "durationMinutes": -5, "done": "yes", "extra": 1},
        "none": {"date": "2031-01-01"},
    }.items():
        (home.planner / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
    assert [task.id for task in planner.list()] == ["odd"]
    assert [task.id for task in planner.list(Span.ALL)] == ["done", "odd"]
    odd = planner.list()[0]
    assert (odd.day, odd.at, odd.duration_min, odd.is_done) == (None, None, 0, False)
    assert planner.list(Span.OVERDUE) == []


@pytest.mark.parametrize(
    ("title", "duration_min", "notes"),
    [("", 0, ""), ("x" * 301, 0, ""), ("x", -1, ""), ("x", 10_081, ""), ("x", 0, "n" * 20_001)],
)
def test_what_is_too_much_is_refused(planner: PlannerStore, title: str, duration_min: int, notes: str) -> None:
    with pytest.raises(InputError):
        planner.add(title, duration_min=duration_min, notes=notes)
