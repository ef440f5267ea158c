"""What the tests of this room share: a scripted server, providers that ask it, and quick looks at what came."""

from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field

import pytest

from skales.core.message import Role, text_message
from skales.core.ports import ChatRequest
from skales.providers.catalog import ProviderEntry, find_entry
from skales.providers.clients import SharedClients
from skales.providers.endpoint import Endpoint
from skales.providers.provider import HttpProvider, Surroundings, build_provider
from skales.providers.retry import RetryPolicy
from tests.conftest import CountingIds, FixedClock
from tests.servers.raw_sse import RawServer


def ask(text: str = "Hello", model: str = "demo") -> ChatRequest:
    return ChatRequest(model=model, messages=(text_message(Role.USER, text),))


@pytest.fixture
def server() -> Iterator[RawServer]:
    with RawServer() as running:
        yield running


@pytest.fixture
async def clients(anyio_backend: str) -> AsyncIterator[SharedClients]:
    shared = SharedClients()
    yield shared
    await shared.aclose()


@dataclass
class Pauses:
    """Records how long a retry would have slept; never sleeps."""

    taken_s: list[float] = field(default_factory=list)

    async def sleep(self, seconds: float) -> None:
        self.taken_s.append(seconds)


@pytest.fixture
def pauses() -> Pauses:
    return Pauses()


MakeProvider = Callable[..., HttpProvider]


@pytest.fixture
def make_provider(
    server: RawServer, clients: SharedClients, pauses: Pauses, clock: FixedClock, ids: CountingIds
) -> MakeProvider:
    def make(provider_id: str = "custom", *, base_url: str = "", key: str = "", timeout_s: float = 5) -> HttpProvider:
        endpoint = Endpoint(
            entry=find_entry(provider_id),
            provider_id=provider_id,
            base_url=base_url or server.url,
            api_key=key,
            inactivity_timeout_s=timeout_s,
        )
        retry = RetryPolicy(sleep=pauses.sleep, jitter=lambda: 0.5)
        return build_provider(endpoint, clients, Surroundings(retry=retry, ids=ids, clock=clock))

    return make


def entry_with(**changes: object) -> ProviderEntry:
    """The custom entry with some facts changed."""
    return find_entry("custom").model_copy(update=changes)
