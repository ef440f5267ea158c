"""When a schedule is due: five cron fields in a time zone, checked, counted ahead, put into words. No disk, no clock.

The rules are those of Debian's cron, clock changes included: a fixed time that the clock skips runs right after the
jump, one that comes twice runs once; a minute or hour field that begins with `*` follows the clock.
Spec: scheduler.md, "Jobs"; cases CRN-01 and CRN-02.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, tzinfo
from enum import StrEnum
from functools import lru_cache
from itertools import islice
from typing import assert_never
from zoneinfo import ZoneInfo

from msgspec import Struct

from skales.core.errors import InputError

_WORDS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_FIELDS = ("minute", "hour", "day of month", "month", "weekday")
_DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_NAMES = {"sun": 0, "mon": 1, "tue": 2, "wed": 3, "thu": 4, "fri": 5, "sat": 6}
_LONGEST = 200
_EXAMPLE = "Write minute, hour, day of month, month and weekday, such as `0 9 * * mon-fri`"
# A month and a weekday that always exist, to try one field by itself.
_ANY = ("0", "0", "*", "*", "*")


class RhythmKind(StrEnum):
    """The kinds of schedules that have words."""

    MINUTES = "minutes"
    HOURLY = "hourly"
    DAILY = "daily"
    WEEKDAYS = "weekdays"
    WEEKLY = "weekly"
    MONTHLY = "monthly"
    OTHER = "other"


class Rhythm(Struct, frozen=True):
    """A schedule as people say it. `number` is minutes, the minute, the weekday from Sunday 0, or the day of month."""

    kind: RhythmKind
    number: int = 0
    time: str = ""


def next_runs(expression: str, zone: tzinfo, after: datetime) -> Iterator[datetime]:
    """The moments strictly after `after`, in the zone, for ever or until none comes within 50 years.

    Raises InputError for an expression that is none.
    """
    from cronsim import CronSim

    fields = " ".join(_split(check_expression(expression)))
    yield from CronSim(fields, after.astimezone(zone))


def check_expression(expression: str) -> str:
    """The expression with single spaces. Raises InputError that names the field at fault, or says that it is never due.

    The message is the contract's own; what is wrong stands in the hint.
    """
    fields = _split(expression)
    if len(fields) != len(_FIELDS):
        raise _invalid(f"It has {len(fields)} fields instead of five. {_EXAMPLE}")
    for place, name in enumerate(_FIELDS):
        alone = [*_ANY[:place], fields[place], *_ANY[place + 1 :]]
        if not _is_readable(" ".join(alone)):
            raise _invalid(f"The {name} field {fields[place]!r} cannot be read. {_EXAMPLE}")
    if not _is_readable(" ".join(fields)) or not _is_ever_due(" ".join(fields)):
        raise _invalid("The day of month never comes in these months. Choose another day or month")
    return " ".join(expression.split())


@lru_cache(maxsize=512)
def first_run_ms(expression: str, zone_name: str, after_ms: int) -> int | None:
    """The first moment after another in milliseconds, None when it is never due. Raises InputError."""
    after = datetime.fromtimestamp(after_ms / 1000, UTC)
    found = next(islice(next_runs(expression, find_zone(zone_name), after), 1), None)
    return None if found is None else int(found.timestamp() * 1000)


def missed_runs_ms(expression: str, zone_name: str, after_ms: int, until_ms: int, most: int) -> list[int]:
    """The moments after `after_ms` up to and with `until_ms`, oldest first, at most so many. Raises InputError."""
    after = datetime.fromtimestamp(after_ms / 1000, UTC)
    found: list[int] = []
    for moment in next_runs(expression, find_zone(zone_name), after):
        moment_ms = int(moment.timestamp() * 1000)
        if moment_ms > until_ms or len(found) == most:
            break
        found.append(moment_ms)
    return found


def find_zone(name: str) -> tzinfo:
    """The zone of that name. Raises InputError for one that this computer does not know."""
    try:
        return UTC if name == "UTC" else ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:  # not found, no usable name, a folder
        raise _unknown_zone(name) from error


def local_zone_name() -> str:
    """The name of this computer's zone, such as Europe/Berlin; UTC when it cannot be found out."""
    from tzlocal import get_localzone_name, reload_localzone

    try:
        reload_localzone()  # the computer may have travelled since the last question
        name = get_localzone_name()
        find_zone(name)
    except (InputError, LookupError, ValueError, OSError):
        return "UTC"
    return name


def read_rhythm(expression: str) -> Rhythm:
    """What kind of schedule an expression is."""
    fields = _split(expression)
    if len(fields) != len(_FIELDS) or fields[3] != "*":
        return Rhythm(RhythmKind.OTHER)
    minute, hour, day, _month, weekday = fields
    if (hour, day, weekday) == ("*", "*", "*"):
        return _read_minutes(minute)
    if not (_is_number(minute, 59) and _is_number(hour, 23)):
        return Rhythm(RhythmKind.OTHER)
    kind, number = _read_days(day, weekday)
    return Rhythm(kind, number, f"{int(hour)}:{int(minute):02}")


def describe_schedule(expression: str) -> str:
    """The schedule in words where there are some, such as `weekdays at 9:00`, else the expression itself."""
    rhythm = read_rhythm(expression)
    match rhythm.kind:
        case RhythmKind.MINUTES:
            return "every minute" if rhythm.number == 1 else f"every {rhythm.number} minutes"
        case RhythmKind.HOURLY:
            return f"hourly at :{rhythm.number:02}"
        case RhythmKind.DAILY:
            return f"daily at {rhythm.time}"
        case RhythmKind.WEEKDAYS:
            return f"weekdays at {rhythm.time}"
        case RhythmKind.WEEKLY:
            return f"weekly on {_DAYS[rhythm.number]} at {rhythm.time}"
        case RhythmKind.MONTHLY:
            return f"monthly on day {rhythm.number} at {rhythm.time}"
        case RhythmKind.OTHER:
            return expression
        case _:
            assert_never(rhythm.kind)


def _read_minutes(minute: str) -> Rhythm:
    star, _, step = minute.partition("/")
    if minute == "*":
        return Rhythm(RhythmKind.MINUTES, 1)
    if star == "*" and _is_number(step, 59) and int(step) and 60 % int(step) == 0:
        return Rhythm(RhythmKind.MINUTES, int(step))
    return Rhythm(RhythmKind.HOURLY, int(minute)) if _is_number(minute, 59) else Rhythm(RhythmKind.OTHER)


def _read_days(day: str, weekday: str) -> tuple[RhythmKind, int]:
    if weekday == "*" and day != "*":
        return (RhythmKind.MONTHLY, int(day)) if _is_number(day, 31) else (RhythmKind.OTHER, 0)
    if day != "*":
        return RhythmKind.OTHER, 0
    if weekday == "*":
        return RhythmKind.DAILY, 0
    if weekday in ("1-5", "mon-fri"):
        return RhythmKind.WEEKDAYS, 0
    number = _NAMES.get(weekday, int(weekday) % 7 if _is_number(weekday, 7) else -1)
    return (RhythmKind.WEEKLY, number) if number >= 0 else (RhythmKind.OTHER, 0)


def _is_number(text: str, most: int) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 3 and int(text) <= most


def _split(expression: str) -> list[str]:
    """The fields in small letters; a word such as `@daily` stands for its five."""
    if len(expression) > _LONGEST:
        raise _invalid(f"It is longer than {_LONGEST} characters. {_EXAMPLE}")
    words = expression.lower().split()
    return _WORDS.get(words[0], words[0]).split() if len(words) == 1 else words


def _is_readable(fields: str) -> bool:
    from cronsim import CronSim, CronSimError

    try:
        CronSim(fields, datetime(2031, 1, 1, tzinfo=UTC))
    except (CronSimError, AssertionError, ValueError):
        return False
    return True


def _is_ever_due(fields: str) -> bool:
    from cronsim import CronSim

    return next(islice(CronSim(fields, datetime(2031, 1, 1, tzinfo=UTC)), 1), None) is not None


def _invalid(what: str) -> InputError:
    return InputError("Invalid cron expression", hint=what, code="bad_schedule")


def _unknown_zone(name: str) -> InputError:
    return InputError(f"There is no time zone {name!r}", hint="Use a name such as Europe/Berlin", code="bad_zone")
