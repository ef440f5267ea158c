from collections.abc import AsyncIterator, Iterator

import pytest

from skales.providers.clients import SharedClients
from tests.servers.raw_sse import RawServer


@pytest.fixture
def server() -> Iterator[RawServer]:
    with RawServer() as running:
        yield running


@pytest.fixture
async def clients(anyio_backend: str) -> AsyncIterator[SharedClients]:
    shared = SharedClients()
    yield shared
    await shared.aclose()
