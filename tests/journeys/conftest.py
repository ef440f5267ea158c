"""The whole app in process, with a scripted provider and a data directory of its own."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager

import anyio
import pytest

from skales.app.app import App
from skales.app.wiring import build_app
from skales.core.clock import SystemClock
from skales.core.events import TurnEnded, TurnEvent
from skales.core.ids import RandomIds, SessionId
from skales.core.ports import ModelTraits
from skales.data.instance import InstanceLock
from skales.data.paths import DataDirectory
from tests.scripted import ScriptedChooser, ScriptedProvider, Step

OpenApp = Callable[..., AbstractAsyncContextManager[App]]


@pytest.fixture
def open_scripted(home: DataDirectory) -> OpenApp:
    """`async with open_scripted(step, step, …) as app`; several lives of one data directory are possible."""

    @asynccontextmanager
    async def opened(
        *steps: Step,
        provider: ScriptedProvider | None = None,
        real_models: bool = False,
        sees: bool = False,
        traits: ModelTraits | None = None,
    ) -> AsyncIterator[App]:
        traits = traits or ModelTraits(vision=sees)
        chooser = None if real_models else ScriptedChooser(provider or ScriptedProvider(steps), traits=traits)
        lock = InstanceLock(home)
        lock.acquire(exclusive=True)
        try:
            async with anyio.create_task_group() as tasks:
                app = build_app(home, lock, SystemClock(), RandomIds(), chooser)
                app.turns.open(tasks)
                yield app
                tasks.cancel_scope.cancel()
        finally:
            lock.release()

    return opened


async def run_turn(app: App, text: str, session_id: SessionId | None = None) -> tuple[SessionId, Sequence[TurnEvent]]:
    """Send one message; every event up to the turn's end."""
    session_id = session_id or app.sessions.create().id
    ticket = await app.turns.start(session_id, text)
    return session_id, await collect(app, session_id, ticket.after)


async def collect(app: App, session_id: SessionId, after: int = 0) -> Sequence[TurnEvent]:
    """Events up to the next turn's end, within five seconds."""
    with anyio.fail_after(5):
        async with aclosing(app.turns.follow(session_id, after)) as stream:
            return [numbered.event async for numbered in stream]


async def wait_for(app: App, session_id: SessionId, kind: type[TurnEvent], after: int = 0) -> TurnEvent:
    """The first event of a kind, within five seconds."""
    with anyio.fail_after(5):
        async with aclosing(app.turns.events(session_id, after)) as stream:
            async for numbered in stream:
                if isinstance(numbered.event, kind):
                    return numbered.event
    raise AssertionError("the stream ended")


def end_of(events: Sequence[TurnEvent]) -> TurnEnded:
    last = events[-1]
    assert isinstance(last, TurnEnded)
    return last
