"""Which providers can answer now, and which models each has; makes no request. Spec: providers.md, "Rules".

Available for a turn is what is switched on and has a credential: a key, a sign-in, or an address that answered.
"""

from collections.abc import Iterable

from msgspec import Struct

from skales.app.model_endpoints import Asked, ModelStores
from skales.core.errors import ProviderError
from skales.data.model_lists import ModelList
from skales.providers.abilities import chats_by_name
from skales.providers.catalog import KeyNeed


class ProviderOffer(Struct, frozen=True, kw_only=True):
    """A provider that can answer, with its models in the order to show.

    `fetched_ms` is when the endpoint told them, 0 when the list is the catalogue's own.
    """

    provider_id: str
    label: str
    models: tuple[str, ...]
    is_active: bool = False
    is_local: bool = False
    fetched_ms: int = 0


def build_offer(asked: Asked, stores: ModelStores, *, is_active: bool) -> ProviderOffer | None:
    """What a provider offers, None when it cannot answer as it is set up."""
    try:
        asked.require_on()
        address = asked.address()
    except ProviderError:
        return None
    listed = stores.lists.load(asked.provider_id, address.shown)
    if not _has_credential(asked, stores, listed):
        return None
    return ProviderOffer(
        provider_id=asked.provider_id,
        label=asked.own.label or asked.entry.label,
        models=tuple(_order(asked, listed)),
        is_active=is_active,
        is_local=address.is_local,
        fetched_ms=listed.fetched_ms if listed else 0,
    )


def _has_credential(asked: Asked, stores: ModelStores, listed: ModelList | None) -> bool:
    entry, own = asked.entry, asked.own
    if entry.sign_in:
        return stores.sign_ins.load(asked.provider_id) is not None
    if own.api_key:
        return True
    if entry.key is KeyNeed.REQUIRED:
        return bool(own.base_url) and not asked.is_usual_url()
    # Nobody needs a key here; whether somebody answers is known from the person or from an earlier answer.
    return bool(own.base_url or own.model or own.is_chosen() or listed)


def _order(asked: Asked, listed: ModelList | None) -> Iterable[str]:
    """The chosen one, the curated ones, then what else the endpoint has. On this computer only what is there counts."""
    live = [model.id for model in listed.models if chats_by_name(model.id)] if listed else []
    curated = () if asked.entry.local_api and live else asked.entry.models
    chosen = [asked.own.model] if asked.own.model else []
    return dict.fromkeys([*chosen, *curated, *live])
