"""The whole app in process with a scripted provider and a clock that tests move; tasks and the schedule run."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import datetime

import anyio
import pytest

from skales.app.app import App
from skales.app.wiring import build_app
from skales.core.approval import Approval
from skales.core.ids import RandomIds, SessionId
from skales.data.instance import InstanceLock
from skales.data.paths import DataDirectory
from tests.conftest import FixedClock
from tests.scripted import ScriptedChooser, ScriptedProvider, Step

OpenApp = Callable[..., AbstractAsyncContextManager[App]]


@pytest.fixture
def open_app(home: DataDirectory, clock: FixedClock) -> OpenApp:
    """`async with open_app(step, …) as app`; several lives of one data directory are possible."""

    @asynccontextmanager
    async def opened(
        *steps: Step, provider: ScriptedProvider | None = None, automation: bool = True
    ) -> AsyncIterator[App]:
        lock = InstanceLock(home)
        lock.acquire(exclusive=True)
        try:
            async with anyio.create_task_group() as tasks:
                app = build_app(home, lock, clock, RandomIds(), ScriptedChooser(provider or ScriptedProvider(steps)))
                app.turns.open(tasks)
                if automation:
                    app.start_automation(tasks)
                yield app
                app.turns.leave()
                tasks.cancel_scope.cancel()
        finally:
            lock.release()

    return opened


def at(moment: str) -> int:
    """The milliseconds of a moment with its offset."""
    return int(datetime.fromisoformat(moment).timestamp() * 1000)


async def until(holds: Callable[[], bool]) -> None:
    """Return when it holds, within five seconds; looks again at each turn of the loop."""
    with anyio.fail_after(5):
        while not await anyio.to_thread.run_sync(holds):  # noqa: ASYNC110 - files have no event
            await anyio.sleep(0.005)


async def first_question(app: App) -> Approval:
    """The first question that waits for the person."""
    with anyio.fail_after(5):
        while not (waiting := await app.approvals.pending()):  # noqa: ASYNC110 - no turn is known yet
            await anyio.sleep(0.005)
    return waiting[0]


def said_to(provider: ScriptedProvider, number: int) -> str:
    """The newest message of a request."""
    return provider.requests[number].messages[-1].text


def folder_of(app: App, session_id: str) -> str:
    return app.sessions.load(SessionId(session_id)).folder
