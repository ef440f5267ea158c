"""cron/: scheduled jobs, one file each. When one is due and what it starts is not its business.

Spec: data-directory.md, "cron/<id>.json"; scheduler.md, "Jobs".
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from skales.core.clock import Clock
from skales.core.errors import InputError, NotFoundError
from skales.core.ids import IdSource, is_safe_id
from skales.core.json import JsonObject, JsonValue, as_text
from skales.data.cron_times import check_expression, find_zone, local_zone_name
from skales.data.document import create_object, read_stamped, update_object
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.records import Folder, Source, moment_ms, remove_file


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One scheduled job. `zone` is the time zone it was made in; `session_id` the conversation it is bound to.

    `last_run_ms` is when a scheduled run began last and `enabled_ms` when the job was switched on again; planned times
    before these are over. `paused_reason` is set when the program switched it off. `raw` is the file's object.
    """

    id: str
    name: str
    schedule: str
    task: str
    zone: str
    enabled: bool = True
    agent: str = ""
    session_id: str = ""
    created_ms: int = 0
    last_run_ms: int = 0
    enabled_ms: int = 0
    failures: int = 0
    paused_reason: str = ""
    raw: JsonObject = field(default_factory=dict[str, JsonValue], compare=False, repr=False)

    @property
    def over_until_ms(self) -> int:
        """Planned times up to here were run or are none of its business."""
        return max(self.created_ms, self.last_run_ms, self.enabled_ms)


class CronStore:
    """The jobs of one data directory, read from disk on every call. `zone` names the time zone of new jobs."""

    def __init__(
        self,
        directory: DataDirectory,
        quarantine: Quarantine,
        clock: Clock,
        ids: IdSource,
        zone: Callable[[], str] = local_zone_name,
    ) -> None:
        self._folder = directory.cron
        self._quarantine = quarantine
        self._clock = clock
        self._ids = ids
        self._zone = zone
        self._files = Folder(directory.cron, quarantine, self._parse, quarantine.report)
        # Called after each change, in the thread that made it.
        self.changed: Callable[[], None] = _ignore

    def add(self, name: str, schedule: str, task: str, *, agent: str = "", session_id: str = "") -> Job:
        """Make a job that is on; an identical one is returned instead. Raises InputError."""
        words, wanted = " ".join(name.split()), task.strip()
        if not (words and schedule.strip() and wanted):
            raise InputError("name, schedule, and task are required")
        expression = check_expression(schedule)
        same = (words, expression, wanted, agent)
        for job in self.list():
            if (job.name, " ".join(job.schedule.split()), job.task.strip(), job.agent) == same:
                return job
        now_ms = self._clock.now_ms()
        job_id = f"{now_ms}-{self._ids.token(8)}"
        value: dict[str, JsonValue] = {
            "id": job_id,
            "createdAt": now_ms,
            "name": words,
            "schedule": expression,
            "task": wanted,
            **({"agent": agent} if agent else {}),
            **({"sessionId": session_id} if session_id else {}),
            "enabled": True,
            "timezone": self._zone(),
        }
        path = self._folder / f"{job_id}.json"
        job = self._parse(Source(path, value, create_object(path, value)))
        self.changed()
        return job

    def list(self) -> Sequence[Job]:
        """All jobs, newest first."""
        return sorted(self._files.read(), key=lambda job: (-job.created_ms, job.id))

    def get(self, job_id: str) -> Job:
        """One job. Raises NotFoundError, or StorageError when its file cannot be read."""
        path = self._file(job_id)
        try:
            value, stamp = read_stamped(path, self._quarantine)
            return self._parse(Source(path, value, stamp))
        except (NotFoundError, ValueError) as error:
            raise _unknown(job_id) from error

    def switch(self, job_id: str, *, enabled: bool) -> Job:
        """Turn a job on or off. Turned on, it starts afresh: nothing is caught up, no failure counts."""

        def change(value: dict[str, JsonValue]) -> None:
            if enabled and value.get("enabled") is False:
                value["enabledAt"] = self._clock.now_ms()
            value["enabled"] = enabled
            for key in ("failures", "pausedReason"):
                value.pop(key, None)

        return self._change(job_id, change)

    def mark_started(self, job_id: str) -> Job:
        """A scheduled run begins now; the same planned time never begins another. Raises NotFoundError."""
        return self._change(job_id, lambda value: value.update({"lastRun": self._clock.now_ms()}))

    def mark_ended(self, job_id: str, *, failed: bool, pause_after: int, reason: str) -> Job:
        """A scheduled run is over; so many failures in a row switch the job off. Raises NotFoundError."""

        def change(value: dict[str, JsonValue]) -> None:
            if not failed:
                value.pop("failures", None)
                return
            failures = _count(value.get("failures")) + 1
            value["failures"] = failures
            if failures >= pause_after:
                value.update({"enabled": False, "pausedReason": reason})

        return self._change(job_id, change)

    def delete(self, job_id: str) -> bool:
        """Remove a job; whether there was one."""
        if not is_safe_id(job_id) or not remove_file(self._folder / f"{job_id}.json"):
            return False
        self.changed()
        return True

    def _change(self, job_id: str, change: Callable[[dict[str, JsonValue]], None]) -> Job:
        path = self._file(job_id)
        try:
            update_object(path, self._quarantine, change, missing=None)
        except NotFoundError as error:
            raise _unknown(job_id) from error
        job = self.get(job_id)
        self.changed()
        return job

    def _file(self, job_id: str) -> Path:
        if not is_safe_id(job_id):
            raise _unknown(job_id)
        return self._folder / f"{job_id}.json"

    def _parse(self, source: Source) -> Job:
        """Raises ValueError with the reason. The file's name is the id; a job without a zone has this computer's."""
        value = source.value
        match value:
            case {"name": str(name), "schedule": str(schedule), "task": str(task)}:
                try:
                    check_expression(schedule)
                    zone = as_text(value.get("timezone")) or self._zone()
                    find_zone(zone)
                except InputError as error:
                    raise ValueError(str(error)) from error
                return Job(
                    id=source.path.stem,
                    name=name,
                    schedule=schedule,
                    task=task,
                    zone=zone,
                    enabled=value.get("enabled") is not False,
                    agent=as_text(value.get("agent")),
                    session_id=as_text(value.get("sessionId")),
                    created_ms=moment_ms(value.get("createdAt")),
                    last_run_ms=moment_ms(value.get("lastRun")),
                    enabled_ms=moment_ms(value.get("enabledAt")),
                    failures=_count(value.get("failures")),
                    paused_reason=as_text(value.get("pausedReason")),
                    raw=value,
                )
            case _:
                raise ValueError("it is no scheduled job: name, schedule and task are missing")


def job_json(job: Job) -> JsonObject:
    """A job as it stands in its file, with the id that finds it again."""
    return {**job.raw, "id": job.id}


def _count(value: JsonValue) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1_000 else 0


def _unknown(job_id: str) -> NotFoundError:
    return NotFoundError(f'No scheduled task with id "{job_id}"', hint="List the scheduled tasks to see their ids")


def _ignore() -> None:
    """Nobody wants to know."""
