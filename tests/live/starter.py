"""The embedded model as a provider outside the app, with the tools the app offers."""

from skales.core.tool import Safety, ToolSpec
from skales.localmodels.runtime import LocalAddress
from skales.providers.catalog import find_entry
from skales.providers.clients import SharedClients
from skales.providers.endpoint import Endpoint
from skales.providers.provider import HttpProvider, build_provider
from skales.tools.index import load_index


def build_inner(address: LocalAddress, clients: SharedClients) -> HttpProvider:
    """The running model without the tool protocol."""
    endpoint = Endpoint(
        entry=find_entry("skales_local"),
        provider_id="skales_local",
        base_url=address.base_url,
        api_key=address.api_key,
        context_tokens={"*": address.context_tokens},
    )
    return build_provider(endpoint, clients)


def offered_tools() -> tuple[ToolSpec, ...]:
    """Every built-in tool a model may start."""
    return tuple(entry.spec for entry in load_index() if entry.spec.safety is not Safety.MANUAL)
