"""Which scheduled jobs are due now, and for which planned times. Pure: no disk, no clock.

Planned times that nobody was there for collapse into one run. Spec: scheduler.md, "Jobs"; case CRN-03.
"""

from msgspec import Struct

from skales.data.cron import Job
from skales.data.cron_runs import RunKind
from skales.data.cron_times import first_run_ms, missed_runs_ms

# A run that begins so soon after its planned time is on time.
_GRACE_MS = 120_000
# More planned times than this are not counted.
MOST_COUNTED = 10_000


class Due(Struct, frozen=True):
    """A run that is to begin. `planned_ms` is the newest planned time, `missed` counts all that it stands for."""

    kind: RunKind
    planned_ms: int
    missed: int


def find_due(job: Job, now_ms: int, checked_ms: int) -> Due | None:
    """The run that a job owes at this moment, None when it owes none. Raises InputError for an unusable schedule.

    `checked_ms` is when the jobs were looked at last: with it a job goes on whose times lie ahead of a clock that was
    set back.
    """
    after_ms = _over_until(job, now_ms, checked_ms)
    first_ms = first_run_ms(job.schedule, job.zone, after_ms) if job.enabled else None
    if first_ms is None or first_ms > now_ms:
        return None
    planned = missed_runs_ms(job.schedule, job.zone, after_ms, now_ms, MOST_COUNTED)
    is_late = len(planned) > 1 or now_ms - planned[-1] > _GRACE_MS
    return Due(RunKind.CATCH_UP if is_late else RunKind.SCHEDULED, planned[-1], len(planned))


def next_run_ms(job: Job, now_ms: int) -> int | None:
    """When a job runs next, None when it is off or never due. Raises InputError for an unusable schedule."""
    return first_run_ms(job.schedule, job.zone, now_ms) if job.enabled else None


def _over_until(job: Job, now_ms: int, checked_ms: int) -> int:
    return job.over_until_ms if job.over_until_ms <= now_ms else min(checked_ms, now_ms)
