"""Runs filed tasks: the most urgent first, two at once, each as a turn in a conversation of its own.

The task's file says how far it is, so that nothing is lost with the program: what ran when it ended has failed, and
is not run again by itself. Spec: scheduler.md, "Task states".
"""

import logging
from collections.abc import Callable

import anyio
import anyio.abc
import anyio.to_thread
from msgspec import Struct

from skales.agent.origin import Marks
from skales.agent.turns import Turns
from skales.automation.bell import Bell
from skales.automation.origins import TASK, TASKS_FOLDER, Beginning, create_session
from skales.automation.runs import ENDED_WITH_PROGRAM, RunOrder, RunOutcome, run_turn
from skales.core.errors import ConflictError, NotFoundError, SkalesError
from skales.data.sessions import SessionStore
from skales.data.tainted_files import TaintedFiles
from skales.data.tasks import Task, TaskPriority, TaskStatus, TaskStore

_log = logging.getLogger(__name__)

MOST_AT_ONCE = 2
_ORDER = {TaskPriority.HIGH.value: 0, TaskPriority.MEDIUM.value: 1, TaskPriority.LOW.value: 2}
# A task with a word for its priority that we do not know comes with the middle ones.
_USUAL = 1


class TaskParts(Struct, frozen=True, kw_only=True):
    """What running tasks needs. `tell` is called on the event loop whenever a task changed.

    While `is_paused` none is begun; `TaskRunner.wake` looks again.
    """

    tasks: TaskStore
    sessions: SessionStore
    turns: Turns
    timeout_s: Callable[[], float]
    tell: Callable[[], None]
    tainted: TaintedFiles
    is_paused: Callable[[], bool] = lambda: False


class _Run(Struct, frozen=True):
    """A task that runs now."""

    scope: anyio.CancelScope
    over: anyio.Event


class TaskRunner:
    """Takes pending tasks while it is open. Does nothing while there is none."""

    def __init__(self, parts: TaskParts) -> None:
        self._parts = parts
        self._bell = Bell()
        self._running: dict[str, _Run] = {}
        # What could not be written down is not tried again before the next start.
        self._stuck: set[str] = set()
        self._is_open = False
        parts.tasks.changed = self._bell.ring

    @property
    def is_open(self) -> bool:
        """Whether filed tasks are run by this program."""
        return self._is_open

    async def run(self) -> None:
        """Run tasks until cancelled."""
        self._bell.open()
        await anyio.to_thread.run_sync(self._recover)
        self._is_open = True
        try:
            async with anyio.create_task_group() as group:
                while True:
                    await self._fill(group)
                    await self._bell.wait()
                    self._parts.tell()
        finally:
            self._is_open = False

    def wake(self) -> None:
        """Look at the tasks now, from whichever thread."""
        self._bell.ring()

    async def cancel(self, task_id: str) -> Task:
        """Stop a task, or keep a waiting one from running. Raises NotFoundError, ConflictError when it is over."""
        task = await anyio.to_thread.run_sync(self._parts.tasks.get, task_id)
        if task.is_over:
            raise ConflictError("The task is over already")
        run = self._running.get(task_id)
        if run is None:
            return await anyio.to_thread.run_sync(self._mark_cancelled, task_id)
        run.scope.cancel()
        await run.over.wait()
        return await anyio.to_thread.run_sync(self._parts.tasks.get, task_id)

    async def cancel_waiting(self) -> int:
        """Keep every task that waits from running; how many there were."""
        waiting = await anyio.to_thread.run_sync(self._parts.tasks.list, TaskStatus.PENDING.value)
        ready = [task for task in waiting if task.id not in self._running]
        for task in ready:
            await anyio.to_thread.run_sync(self._mark_cancelled, task.id)
        return len(ready)

    async def delete(self, task_id: str) -> None:
        """Remove a task's record; its conversation stays. Raises NotFoundError, ConflictError while it runs."""
        if task_id in self._running:
            raise ConflictError("The task runs", hint="Cancel it first")
        await anyio.to_thread.run_sync(self._parts.tasks.delete, task_id)

    async def _fill(self, group: anyio.abc.TaskGroup) -> None:
        """Start what may start now."""
        free = MOST_AT_ONCE - len(self._running)
        if free <= 0:
            return
        try:
            if self._parts.is_paused():
                return
            waiting = await anyio.to_thread.run_sync(self._parts.tasks.list, TaskStatus.PENDING.value)
        except SkalesError:
            _log.warning("tasks cannot be listed", exc_info=True)
            return
        ready = [task for task in waiting if task.id not in self._running and task.id not in self._stuck]
        ready.sort(key=lambda task: (_ORDER.get(task.priority, _USUAL), task.created_ms, task.id))
        for task in ready[:free]:
            self._running[task.id] = _Run(anyio.CancelScope(), anyio.Event())
            group.start_soon(self._run, task, self._running[task.id])

    async def _run(self, task: Task, run: _Run) -> None:
        outcome = RunOutcome(ok=False, was_stopped=True)
        try:
            with run.scope:
                outcome = await self._attempt(task)
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(self._record, task.id, outcome)
        except NotFoundError:
            _log.info("task %s was deleted while it ran", task.id)
        except SkalesError:
            self._stuck.add(task.id)
            _log.warning("task %s cannot be written down", task.id, exc_info=True)
        finally:
            del self._running[task.id]
            run.over.set()
            self._bell.ring()

    async def _attempt(self, task: Task) -> RunOutcome:
        try:
            order = await anyio.to_thread.run_sync(self._begin, task)
            return await run_turn(self._parts.turns, order)
        except SkalesError as error:
            return RunOutcome(ok=False, error=str(error))

    def _begin(self, task: Task) -> RunOrder:
        """The conversation, and the mark that it runs, both before anything is asked of a model."""
        session_id = create_session(
            self._parts.sessions,
            Beginning(task.title, TASKS_FOLDER, TASK, task.id, agent=task.agent),
            marks=Marks(self._parts.tainted.noted_in("task", task.id)),
        )
        self._parts.tasks.update(task.id, status=TaskStatus.RUNNING.value, session_id=session_id)
        return RunOrder(
            session_id=session_id, text=_write_order(task), surface="task", timeout_s=self._parts.timeout_s()
        )

    def _record(self, task_id: str, outcome: RunOutcome) -> None:
        for action in outcome.refused:
            self._parts.tasks.note(task_id, f"Not allowed: {action}")
        if outcome.was_stopped:
            self._mark_cancelled(task_id)
        elif outcome.ok:
            self._parts.tasks.update(task_id, status=TaskStatus.COMPLETED.value, result=outcome.answer)
        else:
            self._parts.tasks.update(
                task_id, status=TaskStatus.FAILED.value, error=outcome.error, result=outcome.answer
            )

    def _mark_cancelled(self, task_id: str) -> Task:
        return self._parts.tasks.update(task_id, status=TaskStatus.CANCELLED.value)

    def _recover(self) -> None:
        """What the disk says is running has ended with an earlier life of the program."""
        try:
            for task in self._parts.tasks.list(TaskStatus.RUNNING.value):
                self._parts.tasks.update(task.id, status=TaskStatus.FAILED.value, error=ENDED_WITH_PROGRAM)
        except SkalesError:
            _log.warning("tasks of an earlier run cannot be closed", exc_info=True)


def _write_order(task: Task) -> str:
    """What the agent is told. Nobody reads along, so the answer is all that comes of it."""
    about = f"\n\n{task.description.strip()}" if task.description.strip() else ""
    return (
        f"{task.title}{about}\n\n"
        "(This is a task that was filed for later. Nobody reads along: do it without asking back where that is "
        "possible, and end with the result.)"
    )
