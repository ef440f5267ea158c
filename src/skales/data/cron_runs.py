"""logs/cron/: what became of each job's last 100 runs, a file per job.

Spec: scheduler.md, PROPOSAL on log retention; case CRN-03 (a catch-up says which time it was planned for).
"""

from collections.abc import Sequence
from contextlib import suppress
from enum import StrEnum

from msgspec import Struct, structs

from skales.core.errors import NotFoundError, StorageError
from skales.core.json import JsonObject, JsonValue, as_list, as_object, as_text
from skales.data.document import read_object
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.records import moment_ms, remove_file, update_or_start_over

_KEPT = 100


class RunKind(StrEnum):
    """Why a run began."""

    SCHEDULED = "scheduled"
    CATCH_UP = "catch-up"
    BY_HAND = "by-hand"


class RunStatus(StrEnum):
    """What became of it."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class JobRun(Struct, frozen=True, kw_only=True):
    """One run. `planned_ms` is the newest planned time it stands for, 0 by hand; `missed` counts all it stands for."""

    started_ms: int
    kind: RunKind
    status: RunStatus = RunStatus.RUNNING
    planned_ms: int = 0
    missed: int = 0
    ended_ms: int = 0
    session_id: str = ""
    error: str = ""


class RunLog:
    """The runs of all jobs. Both ends of a run are written; one without an end was cut off by the program's own."""

    def __init__(self, directory: DataDirectory, quarantine: Quarantine) -> None:
        self._folder = directory.cron_runs
        self._quarantine = quarantine

    def runs(self, job_id: str) -> Sequence[JobRun]:
        """The last ones, newest first; none when the file is missing or broken."""
        try:
            value = read_object(self._folder / f"{job_id}.json", self._quarantine)
        except (NotFoundError, StorageError):
            return ()
        return tuple(reversed([run for entry in as_list(value.get("runs")) if (run := _read(entry))]))

    def record(self, job_id: str, run: JobRun) -> None:
        """Write a run down, in place of the entry with the same start. Raises StorageError."""

        def change(value: dict[str, JsonValue]) -> None:
            kept = [entry for entry in as_list(value.get("runs")) if not _is_same(entry, run)]
            value["runs"] = [*kept, _write(run)][-_KEPT:]

        update_or_start_over(self._folder / f"{job_id}.json", self._quarantine, change, missing={})

    def close_open(self, job_id: str, now_ms: int) -> None:
        """Runs that have no end failed with the program that ran them. Raises StorageError."""
        for run in self.runs(job_id):
            if run.status is RunStatus.RUNNING:
                self.record(
                    job_id,
                    structs.replace(run, status=RunStatus.FAILED, ended_ms=now_ms, error="Skales ended while it ran"),
                )

    def forget(self, job_id: str) -> None:
        """Remove the log of a job that is gone."""
        with suppress(StorageError):
            remove_file(self._folder / f"{job_id}.json")


def run_json(run: JobRun) -> JsonObject:
    """A run for programs."""
    return _write(run)


def _write(run: JobRun) -> JsonObject:
    return {
        "startedAt": run.started_ms,
        "kind": run.kind.value,
        "status": run.status.value,
        **({"plannedFor": run.planned_ms, "missed": run.missed} if run.planned_ms else {}),
        **({"endedAt": run.ended_ms} if run.ended_ms else {}),
        **({"sessionId": run.session_id} if run.session_id else {}),
        **({"error": run.error} if run.error else {}),
    }


def _read(raw: JsonValue) -> JobRun | None:
    entry = as_object(raw)
    kind, status = as_text(entry.get("kind")), as_text(entry.get("status"))
    if kind not in list(RunKind) or status not in list(RunStatus):
        return None
    missed = entry.get("missed")
    return JobRun(
        started_ms=moment_ms(entry.get("startedAt")),
        kind=RunKind(kind),
        status=RunStatus(status),
        planned_ms=moment_ms(entry.get("plannedFor")),
        missed=missed if isinstance(missed, int) else 0,
        ended_ms=moment_ms(entry.get("endedAt")),
        session_id=as_text(entry.get("sessionId")),
        error=as_text(entry.get("error")),
    )


def _is_same(raw: JsonValue, run: JobRun) -> bool:
    return as_object(raw).get("startedAt") == run.started_ms
