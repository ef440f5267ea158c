"""Builds what starts turns by itself: the task runner, the schedule, and the handing out of parts of a job."""

from msgspec import Struct

from skales.agent.marks import MarkBook
from skales.agent.turns import Turns
from skales.app.notices import NoticeBoard
from skales.automation.delegation import Delegation, DelegationParts
from skales.automation.scheduler import ScheduleParts, Scheduler
from skales.automation.tasks import TaskParts, TaskRunner
from skales.core.clock import Clock
from skales.data.cron import CronStore, Job
from skales.data.cron_runs import RunLog
from skales.data.sessions import SessionStore
from skales.data.settings import SettingsStore
from skales.data.tainted_files import TaintedFiles
from skales.data.tasks import TaskStore


class AutomationNeeds(Struct, frozen=True, kw_only=True):
    """What it is built from."""

    settings: SettingsStore
    sessions: SessionStore
    tasks: TaskStore
    jobs: CronStore
    job_runs: RunLog
    turns: Turns
    notices: NoticeBoard
    marks: MarkBook
    tainted: TaintedFiles
    clock: Clock


class Automation(Struct, frozen=True):
    """One of each."""

    task_runner: TaskRunner
    scheduler: Scheduler
    work: Delegation


def build_automation(needs: AutomationNeeds) -> Automation:
    """All of it; nothing runs before it is started."""

    def timeout_s() -> float:
        return needs.settings.load().task_timeout_s

    def is_paused() -> bool:
        return needs.settings.load().automation_paused

    def tell_paused(job: Job) -> None:
        needs.notices.add_pause(job.id, job.name, job.paused_reason)

    task_runner = TaskRunner(
        TaskParts(
            tasks=needs.tasks,
            sessions=needs.sessions,
            turns=needs.turns,
            timeout_s=timeout_s,
            tell=needs.notices.tell,
            is_paused=is_paused,
            tainted=needs.tainted,
        )
    )
    scheduler = Scheduler(
        ScheduleParts(
            jobs=needs.jobs,
            log=needs.job_runs,
            sessions=needs.sessions,
            turns=needs.turns,
            clock=needs.clock,
            timeout_s=timeout_s,
            tell=needs.notices.tell,
            tell_paused=tell_paused,
            is_paused=is_paused,
            tainted=needs.tainted,
        )
    )
    work = Delegation(
        DelegationParts(
            sessions=needs.sessions, turns=needs.turns, tasks=task_runner, timeout_s=timeout_s, marks=needs.marks
        )
    )
    return Automation(task_runner, scheduler, work)
