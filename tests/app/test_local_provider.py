"""The embedded model as a provider: progress first, then the answer; a failed fetch ends the turn with its words."""

import json
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import cast

import anyio
import pytest

from skales.app.local_provider import LocalProvider
from skales.core.errors import ConfigurationError, ProviderError, ProviderFault
from skales.core.events import Progress
from skales.core.message import Role, text_message
from skales.core.ports import ChatRequest, Finished, FinishReason, ProviderEvent, TextPiece
from skales.localmodels.local_models import CONTEXT_TOKENS, InstalledModel, LocalModels
from skales.localmodels.runtime import LocalAddress
from skales.providers.clients import SharedClients
from tests.servers.raw_sse import RawServer, Reply

pytestmark = pytest.mark.anyio

REQUEST = ChatRequest(model="tiny", messages=(text_message(Role.USER, "Capital of France?"),))


@dataclass
class Prepared:
    """Stands where the local models are: reports one step, then answers with an address or fails."""

    result: LocalAddress | Exception | None
    left: list[bool] = field(default_factory=list)

    async def ensure_running(self, report: Callable[[Progress], None], model_id: str) -> LocalAddress:
        report(Progress("Fetching", 1, 2))
        try:
            if self.result is None:
                await anyio.sleep_forever()
        finally:
            self.left.append(True)
        if isinstance(self.result, Exception):
            raise self.result
        assert self.result is not None
        return self.result

    def installed_models(self) -> Sequence[InstalledModel]:
        return [InstalledModel("tiny", "tiny.gguf", 100, is_tiny=True)]


async def collect(prepared: Prepared) -> list[ProviderEvent]:
    clients = SharedClients()
    found: list[ProviderEvent] = []
    try:
        with anyio.fail_after(5):
            async with anyio.create_task_group() as tasks:
                provider = LocalProvider(cast(LocalModels, prepared), clients, tasks, 5)
                async with aclosing(provider.stream(REQUEST)) as events:
                    found += [event async for event in events]
    finally:
        await clients.aclose()
    return found


async def test_progress_comes_first_and_then_the_answer_of_the_model_that_was_started() -> None:
    chunk = {"choices": [{"index": 0, "delta": {"content": "Paris."}, "finish_reason": "stop"}]}
    with RawServer() as server:
        server.replies.append(Reply(f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode()))
        events = await collect(Prepared(LocalAddress(f"{server.url}/v1", "the-key", "tiny", 4096)))
        assert server.requests[0].headers["authorization"] == "Bearer the-key"
    assert events[0] == Progress("Fetching", 1, 2)
    assert "".join(event.text for event in events if isinstance(event, TextPiece)) == "Paris."
    assert events[-1] == Finished(FinishReason.STOP)


@pytest.mark.parametrize(
    ("failure", "fault"),
    [
        (ConfigurationError("pip is missing", hint="Install pip"), ProviderFault.NOT_CONFIGURED),
        (ProviderError("It does not start", fault=ProviderFault.UNREACHABLE), ProviderFault.UNREACHABLE),
    ],
)
async def test_what_keeps_the_model_from_running_is_the_turns_error(
    failure: ConfigurationError | ProviderError, fault: ProviderFault
) -> None:
    with pytest.raises(BaseExceptionGroup) as caught:
        await collect(Prepared(failure))
    (error,) = caught.value.exceptions
    assert isinstance(error, ProviderError)
    assert (error.message, error.hint, error.fault) == (failure.message, failure.hint, fault)


async def test_a_fault_of_ours_reaches_the_turn_and_not_the_task_group_beside_it() -> None:
    with pytest.raises(BaseExceptionGroup) as caught:
        await collect(Prepared(ZeroDivisionError("oops")))
    assert [type(error) for error in caught.value.exceptions] == [ZeroDivisionError]


async def test_leaving_while_it_is_fetched_stops_the_fetch() -> None:
    prepared = Prepared(None)
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            provider = LocalProvider(cast(LocalModels, prepared), SharedClients(), tasks, 5)
            async with aclosing(provider.stream(REQUEST)) as events:
                assert await anext(events) == Progress("Fetching", 1, 2)
    assert prepared.left == [True]


async def test_it_lists_the_files_and_knows_its_window() -> None:
    async with anyio.create_task_group() as tasks:
        provider = LocalProvider(cast(LocalModels, Prepared(None)), SharedClients(), tasks, 5)
        assert (await provider.list_models(), provider.max_tokens("tiny")) == (["tiny"], CONTEXT_TOKENS)
