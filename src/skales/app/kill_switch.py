"""The kill switch: ends everything that runs, within two seconds, and writes down what that was.

Turns keep what they wrote. Filed tasks and the schedule begin nothing more until a person lets them. What does not end
in time is named in the note. Spec: orchestrator.md, "Killswitch".
"""

from collections.abc import Sequence

import anyio
import anyio.to_thread
from msgspec import Struct, structs

from skales.agent.running import RunningCall, RunningCalls
from skales.agent.turns import Turns
from skales.app.compare import Comparisons
from skales.automation.scheduler import Scheduler
from skales.automation.tasks import TaskRunner
from skales.core.clock import Clock, to_datetime
from skales.core.errors import NotFoundError
from skales.core.ids import SessionId
from skales.core.json import JsonObject
from skales.data.audit import AuditLog
from skales.data.incidents import Incident, IncidentStore
from skales.data.sessions import SessionStore
from skales.data.settings import SettingsStore
from skales.data.tasks import TaskStatus, TaskStore
from skales.security.redact import redact
from skales.tools.programs import Background
from skales.tools.system.background import ProcessTable
from skales.tools.system.ending import PATIENCE

LIMIT_S = 2.0
_POLL_S = 0.02
_SHOWN = 300


class KillParts(Struct, frozen=True, kw_only=True):
    """What the switch ends, pauses and writes to."""

    turns: Turns
    comparisons: Comparisons
    calls: RunningCalls
    background: ProcessTable
    settings: SettingsStore
    sessions: SessionStore
    tasks: TaskStore
    task_runner: TaskRunner
    scheduler: Scheduler
    incidents: IncidentStore
    audit: AuditLog
    clock: Clock


class _Scene(Struct, frozen=True):
    """What ran."""

    turns: Sequence[SessionId]
    calls: Sequence[RunningCall]
    programs: Sequence[Background]
    comparisons: int = 0

    @property
    def is_empty(self) -> bool:
        return not (self.turns or self.calls or self.programs or self.comparisons)


class KillOutcome(Struct, frozen=True):
    """What came of it: how many turns, tools and background programs ran, and how many of them did not end in time."""

    turns: int
    calls: int
    programs: int
    left: int
    incident: Incident


def kill_json(outcome: KillOutcome) -> JsonObject:
    """What came of it, for programs."""
    return {
        "turns": outcome.turns,
        "tools": outcome.calls,
        "programs": outcome.programs,
        "left": outcome.left,
        "incident": outcome.incident.id,
    }


class KillSwitch:
    """May be used at any time, from every surface."""

    def __init__(self, parts: KillParts) -> None:
        self._parts = parts

    @property
    def is_paused(self) -> bool:
        """Whether tasks and the schedule wait for `let_go_on`. Reads the disk."""
        return self._parts.settings.load().automation_paused

    async def use(self, surface: str) -> KillOutcome:
        """End everything. Raises StorageError when the note cannot be written; what ran has ended then."""
        outcome: KillOutcome | None = None
        with anyio.CancelScope(shield=True):
            outcome = await self._use(surface)
        assert outcome is not None, "the scope is shielded, and nothing cancels it"
        return outcome

    async def let_go_on(self) -> None:
        """Let tasks and the schedule begin again. Raises StorageError."""
        await anyio.to_thread.run_sync(self._parts.settings.set_value, "automationPaused", "false")
        self._parts.task_runner.wake()
        self._parts.scheduler.wake()

    async def _use(self, surface: str) -> KillOutcome:
        started_s = self._parts.clock.monotonic_s()
        scene = self._look()
        with PATIENCE.gone():
            compared = self._parts.comparisons.stop_all()
            self._parts.turns.stop_all()
            self._parts.calls.stop_all()
            with anyio.move_on_after(LIMIT_S):
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(self._parts.background.close)
                    tasks.start_soon(self._pause)
                    tasks.start_soon(self._wait)
        took_s = self._parts.clock.monotonic_s() - started_s
        scene = structs.replace(scene, comparisons=compared)
        return await anyio.to_thread.run_sync(self._write_down, scene, self._look(), surface, took_s)

    def _look(self) -> _Scene:
        programs = [program for program in self._parts.background.list() if program.exit_code is None]
        return _Scene(self._parts.turns.running_sessions(), self._parts.calls.list(), programs)

    async def _pause(self) -> None:
        await anyio.to_thread.run_sync(self._parts.settings.set_value, "automationPaused", "true")

    async def _wait(self) -> None:
        while self._parts.turns.running_sessions() or self._parts.calls.list():  # noqa: ASYNC110 - has many owners
            await anyio.sleep(_POLL_S)

    def _write_down(self, scene: _Scene, left: _Scene, surface: str, took_s: float) -> KillOutcome:
        text = "\n".join(self._describe(scene, left, surface, took_s)) + "\n"
        incident = self._parts.incidents.write(text)
        self._parts.audit.noted("kill switch", {"surface": surface, "incident": incident.id})
        count = len(left.turns) + len(left.calls) + len(left.programs)
        return KillOutcome(len(scene.turns), len(scene.calls), len(scene.programs), count, incident)

    def _describe(self, scene: _Scene, left: _Scene, surface: str, took_s: float) -> list[str]:
        waiting = len(self._parts.tasks.list(TaskStatus.PENDING.value))
        lines = [
            f"# Kill switch, {to_datetime(self._parts.clock.now_ms()):%Y-%m-%d %H:%M:%S}",
            "",
            f"Used in: {surface}. It took {took_s:.1f} s.",
            f"Tasks and the schedule are paused; {waiting} tasks wait.",
        ]
        if scene.is_empty:
            return [*lines, "", "Nothing ran."]
        lines += self._list_scene("was stopped", scene)
        if left.is_empty:
            return lines
        return [*lines, "", f"Not everything ended within {LIMIT_S:g} s.", *self._list_scene("still ends", left)]

    def _list_scene(self, end: str, scene: _Scene) -> list[str]:
        now_s, now_ms = self._parts.clock.monotonic_s(), self._parts.clock.now_ms()
        lines = [("Conversations", f"{self._title(session_id)} ({session_id})") for session_id in scene.turns]
        for call in scene.calls:
            arguments = redact(str(dict(call.passed.call.arguments)))[:_SHOWN]
            lines.append(("Tools", f"{call.passed.spec.name}, ran for {now_s - call.started_s:.0f} s: {arguments}"))
        for program in scene.programs:
            words = redact(program.command)[:_SHOWN]
            lines.append(
                ("Programs", f"process {program.pid}, ran for {(now_ms - program.started_ms) / 1000:.0f} s: {words}")
            )
        if scene.comparisons:
            lines.append(("Comparisons", f"{scene.comparisons} under way"))
        found: list[str] = []
        for heading in dict.fromkeys(heading for heading, _line in lines):
            found += ["", f"## {heading}: {end}", ""]
            found += [f"- {' '.join(line.split())}" for name, line in lines if name == heading]
        return found

    def _title(self, session_id: SessionId) -> str:
        try:
            return self._parts.sessions.load(session_id).title or "New chat"
        except NotFoundError:
            return "A deleted conversation"
