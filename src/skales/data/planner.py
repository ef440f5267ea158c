"""planner/: what the person means to do themselves, one file each. Background work for agents stands in tasks/.

Day and time are the person's own, without a zone: nine o'clock stays nine o'clock wherever they are. Entries are ticked
off by the person alone. The shape is ours, as none is public. Spec: scheduler.md, "Tools"; data-directory.md, "Tree".
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta, tzinfo
from enum import StrEnum

from skales.core.clock import Clock, to_datetime
from skales.core.errors import InputError
from skales.core.ids import IdSource
from skales.core.json import JsonObject, JsonValue, as_int, as_text
from skales.data.document import create_object
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.records import Folder, Source, moment_ms

MOST_MINUTES = 7 * 24 * 60
_TITLE_CHARS = 300
_NOTES_CHARS = 20_000
_TIME = re.compile(r"(\d{1,2})(?:[:.h](\d{2}))?(?::\d{2}(?:\.\d+)?)?(?: ?([ap])\.?m\.?)?", re.IGNORECASE)
_MOMENT = re.compile(r"\d{4}[\d-]*[T ]", re.IGNORECASE)
_NEAR = {"today": 0, "tomorrow": 1, "yesterday": -1}


class Span(StrEnum):
    """Which entries to list: all that are open, those whose time is past, or all of them."""

    OPEN = "open"
    OVERDUE = "overdue"
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannerTask:
    """One entry. `day` and `at` are None when not fixed; an entry without a day has no time.

    `raw` is the whole object of the file, keys that nobody here knows included.
    """

    id: str
    title: str
    day: date | None = None
    at: time | None = None
    duration_min: int = 0
    notes: str = ""
    is_done: bool = False
    created_ms: int = 0
    raw: JsonObject = field(default_factory=dict[str, JsonValue], compare=False, repr=False)

    def is_overdue(self, now: datetime) -> bool:
        """Whether it should have been done by a moment in the person's zone; without a time, the day must be over."""
        if self.is_done or self.day is None:
            return False
        end = datetime.combine(self.day, self.at) + timedelta(minutes=self.duration_min) if self.at else None
        return self.day < now.date() if end is None else end < now.replace(tzinfo=None)


class PlannerStore:
    """The planner of one data directory, read from disk on every call. `zone` None is the machine's own."""

    def __init__(
        self, directory: DataDirectory, quarantine: Quarantine, clock: Clock, ids: IdSource, zone: tzinfo | None = None
    ) -> None:
        self._folder = directory.planner
        self._clock = clock
        self._ids = ids
        self._zone = zone
        self._files = Folder(directory.planner, quarantine, _parse, quarantine.report)

    def now(self) -> datetime:
        """This moment where the person is."""
        return to_datetime(self._clock.now_ms(), self._zone)

    def add(self, title: str, *, day: str = "", at: str = "", duration_min: int = 0, notes: str = "") -> PlannerTask:
        """Make an entry. `day` is ISO, `today` or `tomorrow`; with a time in it, that counts. Raises InputError."""
        words = " ".join(title.split())
        if not words or len(words) > _TITLE_CHARS or len(notes) > _NOTES_CHARS:
            raise InputError(
                f"A planner entry needs a title of at most {_TITLE_CHARS} characters and notes of {_NOTES_CHARS:,}"
            )
        if not 0 <= duration_min <= MOST_MINUTES:
            raise InputError("The duration must be between 0 minutes and a week")
        on, when = self._read_day_and_time(day, at)
        now_ms = self._clock.now_ms()
        task_id = f"plan_{now_ms}_{self._ids.token(8)}"
        value: dict[str, JsonValue] = {
            "id": task_id,
            "title": words,
            **({"date": on.isoformat()} if on else {}),
            **({"time": when.strftime("%H:%M")} if when else {}),
            **({"durationMinutes": duration_min} if duration_min else {}),
            "notes": notes.strip(),
            "done": False,
            "createdAt": now_ms,
        }
        path = self._folder / f"{task_id}.json"
        return _parse(Source(path, value, create_object(path, value)))

    def list(self, span: Span = Span.OPEN, *, first: str = "", last: str = "") -> Sequence[PlannerTask]:
        """Entries in the order of their time, those without a day last. `first` and `last` are days, both included.

        Raises InputError for a day that is none.
        """
        start, end = self._read_day(first), self._read_day(last)
        if start and end and end < start:
            raise InputError(f"The last day, {end}, is before the first, {start}")
        now = self.now()
        found = [task for task in self._files.read() if _fits(task, span, now) and _is_between(task, start, end)]
        return sorted(found, key=_order)

    def _read_day_and_time(self, day: str, at: str) -> tuple[date | None, time | None]:
        if _MOMENT.match(day.strip()):
            moment = _read_moment(day)
            if moment.tzinfo is not None:
                moment = moment.astimezone(self._zone)
            return moment.date(), _read_time(at) or moment.time().replace(second=0, microsecond=0)
        on, when = self._read_day(day), _read_time(at)
        if when and not on:
            raise InputError("A time needs a day", hint="Give the date too, or leave the time out")
        return on, when

    def _read_day(self, text: str) -> date | None:
        word = text.strip().casefold()
        if not word:
            return None
        if word in _NEAR:
            return self.now().date() + timedelta(days=_NEAR[word])
        try:
            return date.fromisoformat(word)
        except ValueError as error:
            raise InputError(f"{text[:40]!r} is no date", hint="Write it as 2031-05-17, today or tomorrow") from error


def _parse(source: Source) -> PlannerTask:
    """Raises ValueError with the reason. The file's name is the id; an unreadable day or time counts as none."""
    value = source.value
    title = as_text(value.get("title")).strip()
    if not title:
        raise ValueError("it is no planner entry: it has no title")
    day = _stored_day(as_text(value.get("date")))
    return PlannerTask(
        id=source.path.stem,
        title=title,
        day=day,
        at=_stored_time(as_text(value.get("time"))) if day else None,
        duration_min=min(max(as_int(value.get("durationMinutes")), 0), MOST_MINUTES),
        notes=as_text(value.get("notes")),
        is_done=value.get("done") is True,
        created_ms=moment_ms(value.get("createdAt")),
        raw=value,
    )


def _stored_day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _stored_time(text: str) -> time | None:
    try:
        return _read_time(text)
    except InputError:
        return None


def _read_time(text: str) -> time | None:
    if not text.strip():
        return None
    found = _TIME.fullmatch(text.strip())
    hour = int(found[1]) if found else 24
    half = (found[3] or "").lower() if found else ""
    if found and half:
        hour = hour % 12 + (12 if half == "p" else 0) if 1 <= hour <= 12 else 24
    minute = int(found[2] or 0) if found else 0
    if hour > 23 or minute > 59:
        raise InputError(f"{text[:40]!r} is no time of day", hint="Write it as 09:30")
    return time(hour, minute)


def _read_moment(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise InputError(f"{text[:40]!r} is no date", hint="Write it as 2031-05-17, today or tomorrow") from error


def _fits(task: PlannerTask, span: Span, now: datetime) -> bool:
    match span:
        case Span.OPEN:
            return not task.is_done
        case Span.OVERDUE:
            return task.is_overdue(now)
        case Span.ALL:
            return True


def _is_between(task: PlannerTask, start: date | None, end: date | None) -> bool:
    if task.day is None:
        return start is None and end is None
    return (start is None or task.day >= start) and (end is None or task.day <= end)


def _order(task: PlannerTask) -> tuple[date, time, int, str]:
    return task.day or date.max, task.at or time.max, task.created_ms, task.id
