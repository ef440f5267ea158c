"""The kill switch ends what runs, with real programs that do not want to end, and says what that was."""

import itertools
from collections.abc import AsyncIterator

import anyio
import psutil
import pytest

from skales.agent.gate import PassedCall
from skales.agent.origin import CallOrigin
from skales.app.app import App
from skales.core.ports import CallReady, Finished, FinishReason
from skales.core.tool import ToolCall, ToolResult
from skales.data.audit_reading import read_calls
from skales.data.audit_verify import verify_audit
from skales.data.tasks import TaskStatus
from tests.automation.conftest import OpenApp, until
from tests.automation.test_scheduler import put_job, runs_of
from tests.conftest import FixedClock
from tests.scripted import Hang, Step, says

pytestmark = pytest.mark.anyio

STUBBORN = "trap '' TERM; sleep {} & wait; sleep {}"
_numbers = itertools.count(1)


def stubborn() -> tuple[str, str]:
    """A command that ignores being asked to end, and the number by which its programs are known."""
    number = f"3{next(_numbers):02}.25"
    return STUBBORN.format(number, number), number


def programs(number: str) -> int:
    found = [process.info["cmdline"] or [] for process in psutil.process_iter(["cmdline"])]
    return sum(words[-2:] == ["sleep", number] for words in found)


def calls(command: str) -> Step:
    call = ToolCall("c1", "execute_command", {"command": command})
    return [CallReady(call), Finished(FinishReason.TOOL_CALLS)]


@pytest.fixture
async def app(open_app: OpenApp) -> AsyncIterator[App]:
    async with open_app([Hang()]) as app:
        yield app


async def test_nothing_that_runs_is_a_note_too(app: App) -> None:
    outcome = await app.kill_switch.use("test")
    assert (outcome.turns, outcome.calls, outcome.programs, outcome.left) == (0, 0, 0, 0)
    (note,) = app.incidents.list(5)
    assert "Nothing ran" in note.text


async def test_turns_tools_and_programs_end_within_two_seconds(app: App) -> None:
    command, direct = stubborn()
    lasting, background = stubborn()
    session = app.sessions.create()
    await app.turns.start(session.id, "think for ever")
    await app.run_tool("execute_command", {"command": lasting, "background": True})
    results: list[ToolResult] = []

    async def run() -> None:
        results.append(await app.run_tool("execute_command", {"command": command}))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        await until(lambda: programs(direct) > 0 and programs(background) > 0)
        outcome = await app.kill_switch.use("test")
    assert (outcome.turns, outcome.calls, outcome.programs, outcome.left) == (1, 1, 1, 0)
    assert (programs(direct), programs(background)) == (0, 0)
    assert results[0].is_error
    assert "kill switch" in results[0].text
    text = app.incidents.list(1)[0].text
    assert session.id in text
    assert direct in text
    assert background in text


async def test_a_turns_tool_ends_with_it_and_is_in_the_audit_log(open_app: OpenApp) -> None:
    command, number = stubborn()
    async with open_app(calls(command)) as app:
        app.settings.set_value("safetyMode", "advanced")
        session = app.sessions.create()
        await app.turns.start(session.id, "run it")
        await until(lambda: programs(number) > 0)
        outcome = await app.kill_switch.use("test")
        assert (outcome.turns, outcome.calls, outcome.left) == (1, 1, 0)
        assert programs(number) == 0
        noted, call = list(read_calls(app.directory))
        assert (noted.kind, noted.facts["incident"]) == ("kill switch", outcome.incident.id)
        assert (call.tool, call.ok) == ("execute_command", False)
        assert call.turn_id.startswith("turn_")
        assert verify_audit(app.directory).is_whole


async def test_what_does_not_end_is_named(app: App) -> None:
    release = anyio.Event()

    async def proceed(_passed: object) -> ToolResult:
        with anyio.CancelScope(shield=True):
            await release.wait()
        return ToolResult(text="late")

    key = "sk-proj-" + "0123456789abcdefghij"
    origin = CallOrigin(session_id=app.sessions.create().id, surface="test", emit=lambda _event: None)
    call = ToolCall("c", "execute_command", {"command": key})
    passed = PassedCall("user", app.require_tool("execute_command"), call, origin)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(app.calls, passed, proceed)
        await anyio.wait_all_tasks_blocked()
        outcome = await app.kill_switch.use("test")
        release.set()
    assert outcome.left == 1
    assert "still ends" in outcome.incident.text
    assert key not in outcome.incident.text


async def test_tasks_and_the_schedule_wait_until_a_person_lets_them(open_app: OpenApp, clock: FixedClock) -> None:
    async with open_app(says("Done.")) as app:
        await app.kill_switch.use("test")
        assert app.kill_switch.is_paused
        task = app.tasks.add("later")
        put_job(app.directory, "job", "* * * * *", createdAt=clock.now_ms(), lastRun=clock.now_ms())
        clock.advance(120)
        app.scheduler.wake()
        for _ in range(30):
            await anyio.sleep(0.005)
        assert app.tasks.get(task.id).status == TaskStatus.PENDING.value
        assert runs_of(app, "job") == []
        await app.kill_switch.let_go_on()
        await until(lambda: app.tasks.get(task.id).status == TaskStatus.COMPLETED.value)
        await until(lambda: len(runs_of(app, "job")) == 1)


async def test_a_pause_outlives_the_program(open_app: OpenApp) -> None:
    async with open_app(says("Done.")) as app:
        await app.kill_switch.use("test")
        task = app.tasks.add("later")
    async with open_app(says("Done.")) as app:
        for _ in range(30):
            await anyio.sleep(0.005)
        assert app.tasks.get(task.id).status == TaskStatus.PENDING.value
