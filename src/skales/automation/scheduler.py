"""Starts scheduled jobs when they are due, each as a turn in a conversation, two at once.

It sleeps until the next planned time, a minute at most, because a computer that slept notices nothing meanwhile. The
job's file is marked before a run begins, so that the same planned time never begins two. Spec: scheduler.md, "Jobs".
"""

import logging
from collections.abc import Callable

import anyio
import anyio.abc
import anyio.to_thread
from msgspec import Struct, structs

from skales.agent.origin import Marks
from skales.agent.turns import Turns
from skales.automation.bell import Bell
from skales.automation.due import Due, find_due, next_run_ms
from skales.automation.origins import JOB, JOBS_FOLDER, Beginning, create_session
from skales.automation.runs import RunOrder, RunOutcome, run_turn
from skales.core.clock import Clock, to_datetime
from skales.core.errors import ConflictError, NotFoundError, SkalesError
from skales.core.ids import SessionId
from skales.data.cron import CronStore, Job
from skales.data.cron_runs import JobRun, RunKind, RunLog, RunStatus
from skales.data.cron_times import find_zone
from skales.data.sessions import SessionStore
from skales.data.tainted_files import TaintedFiles

_log = logging.getLogger(__name__)

MOST_AT_ONCE = 2
PAUSE_AFTER = 3
_LONGEST_SLEEP_S = 60.0
# Of a planned time that is already here a little later is soon enough.
_SHORTEST_SLEEP_S = 0.05


class ScheduleParts(Struct, frozen=True, kw_only=True):
    """What the schedule needs. `tell` and `tell_paused` are called on the event loop.

    While `is_paused` nothing is begun but by hand; `Scheduler.wake` looks again, and finds what was missed.
    """

    jobs: CronStore
    log: RunLog
    sessions: SessionStore
    turns: Turns
    clock: Clock
    timeout_s: Callable[[], float]
    tell: Callable[[], None]
    tell_paused: Callable[[Job], None]
    tainted: TaintedFiles
    is_paused: Callable[[], bool] = lambda: False


class Scheduler:
    """Drives the jobs while it is open."""

    def __init__(self, parts: ScheduleParts) -> None:
        self._parts = parts
        self._bell = Bell()
        self._running: set[str] = set()
        self._stuck: set[str] = set()
        self._group: anyio.abc.TaskGroup | None = None
        self._checked_ms = parts.clock.now_ms()
        parts.jobs.changed = self._bell.ring

    @property
    def is_open(self) -> bool:
        """Whether due jobs are run by this program."""
        return self._group is not None

    def running(self, job_id: str) -> bool:
        """Whether a run of the job goes on now."""
        return job_id in self._running

    def wake(self) -> None:
        """Look at the jobs now, from whichever thread."""
        self._bell.ring()

    async def run(self) -> None:
        """Run due jobs until cancelled."""
        self._bell.open()
        await anyio.to_thread.run_sync(self._close_open_runs)
        try:
            async with anyio.create_task_group() as self._group:
                while True:
                    if await self._bell.wait(await self._tick()):
                        self._parts.tell()
        finally:
            self._group = None

    async def run_now(self, job_id: str) -> int:
        """Start a run by hand, which does not count as the scheduled one; the moment it began.

        Raises NotFoundError, ConflictError while one runs or when this program runs no jobs.
        """
        job = await anyio.to_thread.run_sync(self._parts.jobs.get, job_id)
        if self._group is None:
            raise ConflictError("The schedule does not run", hint="Start Skales with `skales serve`")
        if job.id in self._running:
            raise ConflictError("This job runs already", hint="Wait for its end")
        return self._start(self._group, job, None)

    async def skip_due(self) -> int:
        """Let what is due and waits for its turn be over without a run; how many jobs that were."""
        due, _next = await anyio.to_thread.run_sync(self._look, self._parts.clock.now_ms())
        return sum([await self._begin(job) for job, _owed in due])

    # --- looking ---

    async def _tick(self) -> float:
        """Start what is due and may start; how long to sleep then."""
        assert self._group is not None, "called by run() only"
        now_ms = self._parts.clock.now_ms()
        try:
            if self._parts.is_paused():
                return _LONGEST_SLEEP_S
            due, next_ms = await anyio.to_thread.run_sync(self._look, now_ms)
        except SkalesError:
            _log.warning("scheduled jobs cannot be listed", exc_info=True)
            return _LONGEST_SLEEP_S
        started = 0
        for job, owed in due:
            if len(self._running) >= MOST_AT_ONCE:
                # The end of a run rings the bell; until then the job stays due.
                return _LONGEST_SLEEP_S
            if await self._begin(job):
                self._start(self._group, job, owed)
                started += 1
        if started == len(due):
            self._checked_ms = now_ms
        until_s = _LONGEST_SLEEP_S if next_ms is None else (next_ms - self._parts.clock.now_ms()) / 1000
        return min(_LONGEST_SLEEP_S, max(_SHORTEST_SLEEP_S, until_s))

    def _look(self, now_ms: int) -> tuple[list[tuple[Job, Due]], int | None]:
        """The jobs that are due, the longest waiting first, and when the next one will be. Reads the disk."""
        due: list[tuple[Job, Due]] = []
        coming: list[int] = []
        checked_ms = min(self._checked_ms, now_ms)
        for job in self._parts.jobs.list():
            if job.id in self._stuck or not job.enabled:
                continue
            if job.id not in self._running and (owed := find_due(job, now_ms, checked_ms)):
                due.append((job, owed))
            if (next_ms := next_run_ms(job, now_ms)) is not None:
                coming.append(next_ms)
        due.sort(key=lambda entry: (entry[1].planned_ms, entry[0].id))
        return due, min(coming, default=None)

    async def _begin(self, job: Job) -> bool:
        """Mark the planned time as begun; False when the disk refuses, since it would then begin again and again."""
        try:
            await anyio.to_thread.run_sync(self._parts.jobs.mark_started, job.id)
        except NotFoundError:
            return False
        except SkalesError:
            self._stuck.add(job.id)
            _log.warning("scheduled job %s cannot be marked as begun; it is left alone", job.id, exc_info=True)
            return False
        return True

    # --- running ---

    def _start(self, group: anyio.abc.TaskGroup, job: Job, owed: Due | None) -> int:
        now_ms = self._parts.clock.now_ms()
        self._running.add(job.id)
        run = JobRun(started_ms=now_ms, kind=RunKind.BY_HAND)
        if owed is not None:
            run = structs.replace(run, kind=owed.kind, planned_ms=owed.planned_ms, missed=owed.missed)
        group.start_soon(self._run, job, run)
        return now_ms

    async def _run(self, job: Job, run: JobRun) -> None:
        try:
            session_id, outcome = await self._attempt(job, run)
            with anyio.CancelScope(shield=True):
                ended = structs.replace(
                    run,
                    status=RunStatus.DONE if outcome.ok else RunStatus.FAILED,
                    ended_ms=self._parts.clock.now_ms(),
                    session_id=session_id,
                    error=_why(outcome),
                )
                await self._record(job, ended, counts=run.kind is not RunKind.BY_HAND and not outcome.was_stopped)
        except NotFoundError:
            _log.info("scheduled job %s was deleted while it ran", job.id)
        except SkalesError:
            _log.warning("a run of %s cannot be written down", job.id, exc_info=True)
        finally:
            self._running.discard(job.id)
            self._bell.ring()

    async def _attempt(self, job: Job, run: JobRun) -> tuple[SessionId, RunOutcome]:
        session_id = SessionId("")
        try:
            session_id = await anyio.to_thread.run_sync(self._open_session, job)
            await anyio.to_thread.run_sync(self._parts.log.record, job.id, structs.replace(run, session_id=session_id))
            self._parts.tell()
            order = RunOrder(
                session_id=session_id, text=write_order(job, run), surface="cron", timeout_s=self._parts.timeout_s()
            )
            return session_id, await run_turn(self._parts.turns, order)
        except SkalesError as error:
            return session_id, RunOutcome(ok=False, error=str(error))

    def _open_session(self, job: Job) -> SessionId:
        """The conversation the job is bound to, when it is there and quiet, else a new one."""
        sources = self._parts.tainted.noted_in("job", job.id)
        # Foreign text may have worded the job; a conversation that is there does not know of it.
        bound = SessionId("" if sources else job.session_id)
        if bound and not self._parts.turns.running(bound):
            try:
                return self._parts.sessions.load(bound).id
            except NotFoundError:
                pass
        return create_session(
            self._parts.sessions,
            Beginning(job.name, JOBS_FOLDER, JOB, job.id, agent=job.agent),
            marks=Marks(sources),
        )

    async def _record(self, job: Job, run: JobRun, *, counts: bool) -> None:
        """Write the end down; a run that a person began or stopped says nothing of whether the job works."""
        await anyio.to_thread.run_sync(self._parts.jobs.get, job.id)
        await anyio.to_thread.run_sync(self._parts.log.record, job.id, run)
        if not counts:
            return
        failed = run.status is RunStatus.FAILED
        reason = f"Three runs in a row failed. The last one: {run.error}"

        def mark() -> Job:
            return self._parts.jobs.mark_ended(job.id, failed=failed, pause_after=PAUSE_AFTER, reason=reason)

        after = await anyio.to_thread.run_sync(mark)
        if after.paused_reason and not after.enabled:
            self._parts.tell_paused(after)

    def _close_open_runs(self) -> None:
        try:
            for job in self._parts.jobs.list():
                self._parts.log.close_open(job.id, self._parts.clock.now_ms())
        except SkalesError:
            _log.warning("runs of an earlier life cannot be closed", exc_info=True)


def write_order(job: Job, run: JobRun) -> str:
    """What the agent is told. A catch-up says when it should have been."""
    about = f"This is the scheduled job {job.name!r}. Nobody reads along."
    if run.kind is RunKind.CATCH_UP:
        planned = to_datetime(run.planned_ms, find_zone(job.zone))
        missed = "was missed" if run.missed == 1 else f"and {run.missed - 1} before it were missed"
        about += f" It was planned for {planned:%Y-%m-%d %H:%M} ({job.zone}), which {missed}: this run stands for all."
    return f"{job.task}\n\n({about} Do it without asking back where that is possible, and end with the result.)"


def _why(outcome: RunOutcome) -> str:
    """What is to be said of a run besides its answer."""
    if not outcome.refused:
        return outcome.error
    refused = f"Not allowed: {'; '.join(outcome.refused)}"
    return f"{outcome.error}. {refused}" if outcome.error else refused
