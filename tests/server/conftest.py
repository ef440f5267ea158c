"""The web application of a real app, asked without a socket."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import anyio
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from starlette.testclient import TestClient

from skales.app.app import App
from skales.app.wiring import build_app
from skales.core.clock import SystemClock
from skales.core.ids import RandomIds
from skales.data.instance import InstanceLock
from skales.data.paths import DataDirectory
from skales.server.app import create_server
from tests.scripted import ScriptedChooser, ScriptedProvider, says


@pytest.fixture
def provider() -> ScriptedProvider:
    return ScriptedProvider([says("Hello there.")])


@pytest.fixture
def portal() -> Iterator[BlockingPortal]:
    with start_blocking_portal() as portal:
        yield portal


@asynccontextmanager
async def _running(home: DataDirectory, provider: ScriptedProvider) -> AsyncIterator[App]:
    app = build_app(home, InstanceLock(home), SystemClock(), RandomIds(), ScriptedChooser(provider))
    async with anyio.create_task_group() as tasks:
        app.turns.open(tasks)
        app.models.open(tasks)
        yield app
        tasks.cancel_scope.cancel()


@pytest.fixture
def app(home: DataDirectory, provider: ScriptedProvider, portal: BlockingPortal) -> Iterator[App]:
    with portal.wrap_async_context_manager(_running(home, provider)) as app:
        yield app


@pytest.fixture
def client(app: App, portal: BlockingPortal) -> TestClient:
    client = TestClient(create_server(app), base_url="http://127.0.0.1:3000", raise_server_exceptions=False)
    # Turns and requests share one loop, as they do when served.
    client.portal = portal
    return client
