"""The notice board: what happened out of sight is on it, what happened in sight is not."""

import shutil
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import anyio
import pytest

from skales.app.app import App
from skales.app.notices import BoardNotice, Subject
from skales.app.wiring import build_app
from skales.core.approval import Decision
from skales.core.clock import SystemClock
from skales.core.errors import ProviderError, ProviderFault
from skales.core.events import TextDelta, TurnEnded
from skales.core.ids import RandomIds, SessionId
from skales.core.ports import TextPiece
from skales.data.instance import InstanceLock
from skales.data.paths import DataDirectory
from tests.scripted import Hang, ScriptedChooser, ScriptedProvider, Step, calls, says

pytestmark = pytest.mark.anyio

WRITE = calls(("write_file", {"path": "plan.txt", "content": "first"}))


@asynccontextmanager
async def running(home: DataDirectory, *steps: Step) -> AsyncIterator[App]:
    chooser = ScriptedChooser(ScriptedProvider(steps))
    app = build_app(home, InstanceLock(home), SystemClock(), RandomIds(), chooser)
    async with anyio.create_task_group() as tasks:
        app.turns.open(tasks)
        yield app
        tasks.cancel_scope.cancel()


async def until(app: App, holds: Callable[[Sequence[BoardNotice]], bool]) -> Sequence[BoardNotice]:
    """The entries as soon as they are as wanted, at most five seconds later."""
    with anyio.fail_after(5):
        async with aclosing(app.notices.changes(-1)) as changes:
            async for _version in changes:
                entries = app.notices.entries()
                if holds(entries):
                    return entries
    raise AssertionError("the board was closed")


async def until_begun(app: App, session_id: SessionId) -> None:
    with anyio.fail_after(5):
        async with aclosing(app.turns.events(session_id, 0)) as events:
            async for numbered in events:
                if isinstance(numbered.event, TextDelta):
                    return


def subjects(entries: Sequence[BoardNotice]) -> list[Subject]:
    return [entry.subject for entry in entries]


async def test_a_turn_that_ends_out_of_sight_is_news_with_its_title(home: DataDirectory) -> None:
    async with running(home, says("Done.")) as app:
        session_id = app.sessions.create(title="Reports").id
        await app.turns.start(session_id, "go")
        (entry,) = await until(app, bool)
        assert (entry.subject, entry.text, entry.session_id) == (Subject.FINISHED, "Reports", session_id)
        assert entry.is_new
        assert app.notices.entries(showing=session_id) == []


async def test_a_turn_that_ends_before_their_eyes_is_none(home: DataDirectory) -> None:
    async with running(home, says("Done.")) as app:
        seen, unseen = (app.sessions.create().id for _ in range(2))
        with app.notices.showing(seen):
            await app.turns.start(seen, "go")
            async with aclosing(app.turns.follow(seen, 0)) as events:
                async for _event in events:
                    pass
            await app.turns.start(unseen, "go")
            entries = await until(app, bool)
        assert [entry.session_id for entry in entries] == [unseen]


async def test_a_failure_says_why_and_a_stop_says_nothing(home: DataDirectory) -> None:
    failure = ProviderError("The endpoint refused the key", fault=ProviderFault.BAD_KEY)
    async with running(home, [TextPiece("Well"), Hang()], [failure]) as app:
        stopped, failed = (app.sessions.create().id for _ in range(2))
        await app.turns.start(stopped, "go")
        await until_begun(app, stopped)
        assert app.turns.stop(stopped)
        async with aclosing(app.turns.follow(stopped, 0)) as events:
            async for _event in events:
                pass
        await app.turns.start(failed, "go")
        entries = await until(app, bool)
        assert [(entry.subject, entry.session_id) for entry in entries] == [(Subject.FAILED, failed)]
        assert entries[0].detail


async def test_a_question_waits_on_the_board_until_it_is_answered(home: DataDirectory) -> None:
    async with running(home, WRITE, says("Written.")) as app:
        session_id = app.sessions.create().id
        await app.turns.start(session_id, "write")
        (asked,) = await until(app, lambda entries: Subject.WAITING in subjects(entries))
        app.notices.mark_seen()
        assert app.notices.entries()[0].is_new
        (approval,) = await app.approvals.pending()
        assert asked.text == approval.action
        await app.approvals.decide(approval.id, Decision(approved=True))
        entries = await until(app, lambda entries: subjects(entries) == [Subject.FINISHED])
        assert len(entries) == 1


async def test_what_was_queued_is_followed_to_its_end(home: DataDirectory) -> None:
    async with running(home, WRITE, says("first"), says("second")) as app:
        session_id = app.sessions.create().id
        await app.turns.start(session_id, "write")
        await until(app, lambda entries: Subject.WAITING in subjects(entries))
        assert (await app.turns.start(session_id, "and then")).queued
        (approval,) = await app.approvals.pending()
        before = app.turns.last_number(session_id)
        await app.approvals.decide(approval.id, Decision(approved=False))
        ends = 0
        with anyio.fail_after(5):
            async with aclosing(app.turns.events(session_id, before)) as events:
                async for numbered in events:
                    ends += isinstance(numbered.event, TurnEnded)
                    if ends == 2:
                        break
        entries = await until(app, lambda entries: subjects(entries) == [Subject.FINISHED])
        assert len(entries) == 1


async def test_an_answer_after_a_restart_is_followed_too(home: DataDirectory, tmp_path: Path) -> None:
    crashed = tmp_path / "crashed"
    async with running(home, WRITE) as app:
        session_id = app.sessions.create().id
        await app.turns.start(session_id, "write")
        await until(app, lambda entries: Subject.WAITING in subjects(entries))
        (approval,) = await app.approvals.pending()
        # Stopping ends the wait; a crash would have left the question.
        shutil.copytree(home.approvals, crashed)
    shutil.copytree(crashed, home.approvals, dirs_exist_ok=True)
    async with running(home, says("Written.")) as app:
        assert subjects(app.notices.entries()) == [Subject.WAITING]
        await app.approvals.decide(approval.id, Decision(approved=True))
        await until(app, lambda entries: Subject.FINISHED in subjects(entries))


async def test_looking_makes_old_what_only_tells(home: DataDirectory) -> None:
    async with running(home, says("Done.")) as app:
        home.sessions.mkdir(exist_ok=True)
        (home.sessions / "session_1.json").write_text("{broken", encoding="utf-8")
        app.sessions.list()
        assert [(entry.subject, entry.is_new) for entry in app.notices.entries()] == [(Subject.BROKEN, True)]
        app.notices.mark_seen()
        assert [entry.is_new for entry in app.notices.entries()] == [False]


async def test_opening_a_conversation_takes_its_news_away(home: DataDirectory) -> None:
    async with running(home, says("Done.")) as app:
        session_id = app.sessions.create().id
        await app.turns.start(session_id, "go")
        await until(app, bool)
        app.notices.visit(SessionId("session_other"))
        assert app.notices.entries()
        app.notices.visit(session_id)
        assert app.notices.entries() == []


async def test_when_the_program_stops_nobody_is_kept_waiting(home: DataDirectory) -> None:
    async with running(home, says("Done.")) as app, anyio.create_task_group() as tasks:
        ended = anyio.Event()

        async def wait() -> None:
            async with aclosing(app.notices.changes(app.notices.version)) as changes:
                async for _version in changes:
                    pass
            ended.set()

        tasks.start_soon(wait)
        await anyio.lowlevel.checkpoint()
        app.turns.end_streams()
        with anyio.fail_after(5):
            await ended.wait()


async def test_a_word_of_a_tool_is_news_until_its_conversation_is_opened(home: DataDirectory) -> None:
    async with running(home, says("Done.")) as app:
        session_id = app.sessions.create(title="Reports").id
        app.notices.add_word("Backup finished", "12 folders", session_id)
        app.notices.add_word("Disk nearly full", "")
        assert [entry.text for entry in app.notices.entries()] == ["Disk nearly full", "Backup finished"]
        app.notices.visit(session_id)
        assert [(entry.subject, entry.text) for entry in app.notices.entries()] == [(Subject.TOLD, "Disk nearly full")]
        for number in range(100):
            app.notices.add_word(f"word {number}", "")
        assert len(app.notices.entries()) == 20
