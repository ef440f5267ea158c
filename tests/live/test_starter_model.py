"""The real thing: fetches the runtime and the starter model (127 MB) and asks it. Run by hand: `pytest -m live`.

`SKALES_LIVE_DATA` names a data directory to keep between runs.
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from skales.core.clock import SystemClock
from skales.core.message import Role, text_message
from skales.core.ports import ChatRequest, Provider, TextPiece
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.localmodels.catalog import load_catalog
from skales.localmodels.local_models import LocalModels
from skales.providers.clients import SharedClients
from skales.providers.constrained import ConstrainedProvider
from tests.live.starter import build_inner, offered_tools
from tests.live.tool_measure import ask, load_plain, load_requests, measure

pytestmark = [pytest.mark.live, pytest.mark.timeout(900)]

STARTER = load_catalog().starter.id


def local_models(directory: DataDirectory) -> LocalModels:
    directory.create()
    return LocalModels(directory, Quarantine(directory.quarantine, SystemClock()), SystemClock())


@pytest.fixture(scope="module")
def fetched(tmp_path_factory: pytest.TempPathFactory) -> DataDirectory:
    kept = os.environ.get("SKALES_LIVE_DATA", "")
    directory = DataDirectory(Path(kept) if kept else tmp_path_factory.mktemp("live") / "data")

    async def fetch() -> None:
        await local_models(directory).fetch(lambda _: None)

    anyio.run(fetch)
    return directory


@asynccontextmanager
async def running(directory: DataDirectory) -> AsyncIterator[Provider]:
    models = local_models(directory)
    clients = SharedClients()
    try:
        address = await models.ensure_running(lambda _: None)
        yield ConstrainedProvider(build_inner(address, clients), tiny=True)
    finally:
        await models.stop()
        await clients.aclose()


async def answer(provider: Provider, text: str) -> str:
    request = ChatRequest(model=STARTER, messages=(text_message(Role.USER, text),), tools=offered_tools())
    return "".join([event.text async for event in provider.stream(request) if isinstance(event, TextPiece)])


@pytest.mark.anyio
async def test_the_capital_of_france_is_paris(fetched: DataDirectory) -> None:
    async with running(fetched) as provider:
        assert "Paris" in await answer(provider, "What is the capital of France?")


@pytest.mark.anyio
async def test_tool_calls_are_as_often_right_as_the_catalogue_says(fetched: DataDirectory) -> None:
    claimed = int(load_catalog().starter.tool_accuracy.partition(" ")[0])
    async with running(fetched) as provider:
        outcomes = await measure(provider, STARTER, offered_tools(), load_requests("held_out"))
    # Other processors round differently, which may tip a close choice.
    assert sum(outcome.all_right for outcome in outcomes) >= claimed - 1


@pytest.mark.anyio
async def test_messages_that_need_no_tool_lead_to_no_call(fetched: DataDirectory) -> None:
    async with running(fetched) as provider:
        calls = [(await ask(provider, STARTER, offered_tools(), message))[0] for message in load_plain("held_out")]
    assert [call for call in calls if call] == []
