"""The embedded model as a provider: fetched and started when it is first asked, with the progress in the turn.

Weak models get no native tool calls; `providers.constrained` asks them for one choice under a schema.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing

import anyio
from anyio.abc import TaskGroup

from skales.core.errors import ProviderError, ProviderFault, SkalesError
from skales.core.events import Progress
from skales.core.ports import ChatRequest, Provider, ProviderEvent
from skales.localmodels.local_models import CONTEXT_TOKENS, LocalModels
from skales.localmodels.runtime import LocalAddress
from skales.providers.catalog import find_entry
from skales.providers.clients import SharedClients
from skales.providers.endpoint import Endpoint
from skales.providers.provider import build_provider

LOCAL_PROVIDER = "skales_local"


class LocalProvider:
    """Answers with the model of the given id. `tasks` runs the fetch beside the stream that shows it."""

    def __init__(
        self, local: LocalModels, clients: SharedClients, tasks: TaskGroup, inactivity_timeout_s: float
    ) -> None:
        self._local = local
        self._clients = clients
        self._tasks = tasks
        self._inactivity_timeout_s = inactivity_timeout_s

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ProviderEvent, None]:
        """Progress while fetching and loading, then the answer. Closing it stops a fetch that it started."""
        address: LocalAddress | None = None
        async with aclosing(self._prepare(request.model)) as steps:
            async for step in steps:
                match step:
                    case Progress():
                        yield step
                    case LocalAddress():
                        address = step
        assert address is not None, "_prepare ends with an address or raises"
        async with aclosing(self._provider(address).stream(request)) as pieces:
            async for piece in pieces:
                yield piece

    async def list_models(self) -> list[str]:
        """Model files in the folder."""
        return [model.id for model in self._local.installed_models()]

    def max_tokens(self, model: str) -> int:  # noqa: ARG002 - every local model is started with the same window
        """The window the model is started with."""
        return CONTEXT_TOKENS

    def _provider(self, address: LocalAddress) -> Provider:
        # Only the embedded model needs the protocol; everybody else starts without it.
        from skales.providers.constrained import ConstrainedProvider

        endpoint = Endpoint(
            entry=find_entry(LOCAL_PROVIDER),
            provider_id=LOCAL_PROVIDER,
            base_url=address.base_url,
            api_key=address.api_key,
            inactivity_timeout_s=self._inactivity_timeout_s,
            context_tokens={"*": address.context_tokens},
        )
        tiny = any(model.id == address.model and model.is_tiny for model in self._local.installed_models())
        return ConstrainedProvider(build_provider(endpoint, self._clients), tiny=tiny)

    async def _prepare(self, model_id: str) -> AsyncGenerator[Progress | LocalAddress, None]:
        send, receive = anyio.create_memory_object_stream[Progress | LocalAddress | Exception](max_buffer_size=10_000)
        scope = anyio.CancelScope()

        async def prepare() -> None:
            with send, scope:
                try:
                    send.send_nowait(await self._local.ensure_running(send.send_nowait, model_id))
                except Exception as error:  # noqa: BLE001 - raised again in the turn that waits; here it would end the app
                    send.send_nowait(error)

        self._tasks.start_soon(prepare)
        with receive:
            try:
                async for step in receive:
                    match step:
                        case ProviderError():
                            raise step
                        case SkalesError():
                            raise _as_provider_error(step) from step
                        case Exception():
                            raise step
                        case _:
                            pass
                    yield step
            finally:
                scope.cancel()


def _as_provider_error(error: SkalesError) -> ProviderError:
    return ProviderError(error.message, fault=ProviderFault.NOT_CONFIGURED, hint=error.hint)
