"""Filed tasks run for real: in order, two at once, each in its own conversation, through stops and restarts."""

import json

import anyio
import pytest
from msgspec import structs

from skales.automation.tasks import TaskParts
from skales.core.approval import Decision
from skales.core.errors import ConflictError, NotFoundError, ProviderError, ProviderFault, StorageError
from skales.core.ids import SessionId
from skales.core.message import Role
from skales.core.ports import ChatRequest
from skales.data.paths import DataDirectory
from skales.data.tasks import TaskStatus
from tests.automation.conftest import OpenApp, first_question, folder_of, said_to, until
from tests.conftest import FixedClock
from tests.scripted import Hang, Piece, ScriptedProvider, calls, says

pytestmark = pytest.mark.anyio


async def test_a_filed_task_runs_in_a_conversation_of_its_own_and_keeps_its_result(
    open_app: OpenApp, home: DataDirectory
) -> None:
    provider = ScriptedProvider([says("Offer B is the best.")])
    async with open_app(provider=provider) as app:
        task = app.tasks.add("Compare the offers", "Price and warranty")
        await until(lambda: app.tasks.get(task.id).is_over)
        done = app.tasks.get(task.id)
        assert (done.status, done.result, done.error) == ("completed", "Offer B is the best.", "")
        session = app.sessions.load(SessionId(done.session_id))
    assert (session.title, session.folder, session.extra["taskId"]) == ("Compare the offers", "Tasks", task.id)
    assert [message.role for message in session.messages] == [Role.USER, Role.ASSISTANT]
    assert "Price and warranty" in said_to(provider, 0)
    assert "durationMs" in json.loads((home.tasks / f"{task.id}.json").read_text(encoding="utf-8"))


async def test_two_run_at_once_and_the_most_urgent_go_first(open_app: OpenApp, clock: FixedClock) -> None:
    provider = ScriptedProvider([[Hang()]])
    async with open_app(provider=provider, automation=False) as app:
        for title, priority in (("low", "low"), ("medium", "medium"), ("first", "high"), ("second", "high")):
            app.tasks.add(title, priority=priority)
            clock.advance(1)
        async with anyio.create_task_group() as group:
            app.start_automation(group)
            await until(lambda: len(provider.requests) == 2)
            running = {task.title for task in app.tasks.list(TaskStatus.RUNNING)}
            waiting = {task.title for task in app.tasks.list(TaskStatus.PENDING)}
            group.cancel_scope.cancel()
    assert running == {"first", "second"}
    assert waiting == {"low", "medium"}


async def test_the_next_one_starts_when_one_ends(open_app: OpenApp) -> None:
    async with open_app(says("done")) as app:
        made = [app.tasks.add(f"task {number}").id for number in range(5)]
        await until(lambda: all(app.tasks.get(task_id).status == "completed" for task_id in made))


async def test_a_task_whose_provider_fails_has_failed_with_its_words(open_app: OpenApp) -> None:
    async with open_app([ProviderError("The key is wrong", fault=ProviderFault.STREAM_CUT)]) as app:
        task = app.tasks.add("Try")
        await until(lambda: app.tasks.get(task.id).is_over)
        failed = app.tasks.get(task.id)
    assert failed.status == "failed"
    assert "The key is wrong" in failed.error


async def test_an_answer_without_words_is_no_success(open_app: OpenApp) -> None:
    async with open_app(says("")) as app:
        task = app.tasks.add("Try")
        await until(lambda: app.tasks.get(task.id).is_over)
        assert (app.tasks.get(task.id).status, app.tasks.get(task.id).error) == ("failed", "It ended without an answer")


async def test_a_running_task_is_cancelled_and_its_turn_ends(open_app: OpenApp) -> None:
    provider = ScriptedProvider([[Hang()]])
    async with open_app(provider=provider) as app:
        task = app.tasks.add("Long")
        await until(lambda: bool(provider.requests))
        session_id = SessionId(app.tasks.get(task.id).session_id)
        assert (await app.task_runner.cancel(task.id)).status == "cancelled"
        await until(lambda: not app.turns.running(session_id))
        with pytest.raises(ConflictError):
            await app.task_runner.cancel(task.id)
        assert app.tasks.get(task.id).completed_ms


async def test_a_waiting_task_that_is_cancelled_never_runs(open_app: OpenApp) -> None:
    provider = ScriptedProvider([says("no")])
    async with open_app(provider=provider, automation=False) as app:
        task = app.tasks.add("Never")
        await app.task_runner.cancel(task.id)
        async with anyio.create_task_group() as group:
            app.start_automation(group)
            other = app.tasks.add("Other")
            await until(lambda: app.tasks.get(other.id).is_over)
            group.cancel_scope.cancel()
    assert len(provider.requests) == 1


async def test_stopping_the_conversation_cancels_the_task(open_app: OpenApp) -> None:
    provider = ScriptedProvider([[Hang()]])
    async with open_app(provider=provider) as app:
        task = app.tasks.add("Long")
        await until(lambda: bool(provider.requests))
        app.turns.stop(SessionId(app.tasks.get(task.id).session_id))
        await until(lambda: app.tasks.get(task.id).status == "cancelled")


async def test_what_ran_when_the_program_ended_has_failed_and_is_not_run_again(open_app: OpenApp) -> None:
    provider = ScriptedProvider([[Hang()]])
    async with open_app(provider=provider) as app:
        task = app.tasks.add("Long")
        await until(lambda: bool(provider.requests))
    again = ScriptedProvider([says("again")])
    async with open_app(provider=again) as app:
        await until(lambda: app.tasks.get(task.id).is_over)
        assert (app.tasks.get(task.id).status, app.tasks.get(task.id).error) == ("failed", "Skales ended while it ran")
        assert not again.requests
        app.tasks.start_over(task.id)
        await until(lambda: app.tasks.get(task.id).status == "completed")
        assert (app.tasks.get(task.id).result, app.tasks.get(task.id).error) == ("again", "")


async def test_a_task_ends_when_its_time_is_over(open_app: OpenApp, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_app([Hang()]) as app:
        monkeypatch.setattr(app.task_runner, "_parts", _hurried(app.task_runner._parts, 0.05))
        task = app.tasks.add("Long")
        await until(lambda: app.tasks.get(task.id).is_over)
        failed = app.tasks.get(task.id)
        assert (failed.status, failed.error) == ("failed", "It took longer than 0.05 seconds")
        await until(lambda: not app.turns.running(SessionId(failed.session_id)))


async def test_waiting_for_the_person_does_not_count_and_a_yes_lets_it_go_on(
    open_app: OpenApp, home: DataDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_app(calls(("write_file", {"path": "n.txt", "content": "hi"})), says("written")) as app:
        monkeypatch.setattr(app.task_runner, "_parts", _hurried(app.task_runner._parts, 0.5))
        task = app.tasks.add("Write")
        asked = await first_question(app)
        # Longer than the task may take.
        await anyio.sleep(0.6)
        assert app.tasks.get(task.id).status == "running"
        await app.approvals.decide(asked.id, Decision(approved=True))
        await until(lambda: app.tasks.get(task.id).status == "completed")
    assert (home.workspace / "n.txt").read_text(encoding="utf-8") == "hi"


async def test_a_no_is_in_the_tasks_log(open_app: OpenApp, home: DataDirectory) -> None:
    async with open_app(calls(("write_file", {"path": "n.txt", "content": "hi"})), says("I could not.")) as app:
        task = app.tasks.add("Write")
        await app.approvals.decide((await first_question(app)).id, Decision(approved=False))
        await until(lambda: app.tasks.get(task.id).is_over)
        logs = app.tasks.get(task.id).raw["logs"]
    assert "Not allowed: Write" in json.dumps(logs)
    assert not (home.workspace / "n.txt").exists()


async def test_a_task_cannot_file_tasks(open_app: OpenApp) -> None:
    provider = ScriptedProvider([calls(("create_task", {"title": "More"})), says("no more")])
    async with open_app(provider=provider) as app:
        task = app.tasks.add("Breed")
        await until(lambda: app.tasks.get(task.id).is_over)
        assert [found.title for found in app.tasks.list()] == ["Breed"]
    assert "A task cannot file tasks" in said_to(provider, 1)


async def test_a_tool_of_a_conversation_files_a_task_that_runs(open_app: OpenApp) -> None:
    def answer(request: ChatRequest) -> list[Piece]:
        return says("Filed.") if request.messages[-1].role is Role.TOOL else says("The task is done.")

    provider = ScriptedProvider([calls(("create_task", {"title": "Later"})), answer])
    async with open_app(provider=provider) as app:
        await app.turns.start(app.sessions.create().id, "do it later")
        await until(lambda: [task.result for task in app.tasks.list()] == ["The task is done."])
        assert folder_of(app, app.tasks.list()[0].session_id) == "Tasks"


async def test_only_a_task_that_does_not_run_can_be_deleted(open_app: OpenApp) -> None:
    provider = ScriptedProvider([[Hang()]])
    async with open_app(provider=provider) as app:
        task = app.tasks.add("Long")
        await until(lambda: bool(provider.requests))
        with pytest.raises(ConflictError, match="runs"):
            await app.task_runner.delete(task.id)
        await app.task_runner.cancel(task.id)
        await app.task_runner.delete(task.id)
        with pytest.raises(NotFoundError):
            app.tasks.get(task.id)


async def test_a_disk_that_refuses_is_not_tried_for_ever(open_app: OpenApp, monkeypatch: pytest.MonkeyPatch) -> None:
    provider = ScriptedProvider([says("unused")])
    async with open_app(provider=provider) as app:
        tries: list[str] = []

        def refuse(task_id: str, **_changes: str) -> None:
            tries.append(task_id)
            raise StorageError("The disk is full")

        monkeypatch.setattr(app.tasks, "update", refuse)
        app.tasks.add("Try")
        await until(lambda: len(tries) >= 2)
        monkeypatch.undo()
        other = app.tasks.add("Other")
        await until(lambda: app.tasks.get(other.id).status == "completed")
    assert len(tries) == 2


def _hurried(parts: TaskParts, timeout_s: float) -> TaskParts:
    return structs.replace(parts, timeout_s=lambda: timeout_s)
