"""Where to look for model servers: where they usually listen on this computer, and where the settings say.

Spec: local-models.md; providers.md, "Quirks".
"""

from collections.abc import Iterator

from skales.core.errors import NotFoundError, ProviderError
from skales.data.setting_shapes import Settings
from skales.providers.address import parse_base_url
from skales.providers.catalog import Badge, KeyNeed, find_entry, load_catalog
from skales.providers.local_servers import Place

# Beside the addresses of the catalogue: where llama.cpp listens, and the other port of Unsloth Desktop.
_MORE = (("custom", "http://127.0.0.1:8080/v1"), ("unsloth", "http://127.0.0.1:8000/v1"))


def search_places(settings: Settings, *, but: str) -> Iterator[Place]:
    """Every place worth a look, each once. `but` names the provider that we run ourselves.

    A server that was moved is looked for where it is now; keys go only to addresses that the person entered them for.
    """
    seen: set[tuple[str, str]] = set()
    for provider_id, url in _candidates(settings):
        own = settings.provider(provider_id)
        is_strange = (provider_id, url) in _MORE
        place = _place(provider_id, url, "" if is_strange else own.api_key)
        if place is None or provider_id == but or not own.enabled or (provider_id, url) in seen:
            continue
        seen.add((provider_id, url))
        yield place


def _candidates(settings: Settings) -> Iterator[tuple[str, str]]:
    for name, own in settings.providers.items():
        if own.base_url:
            yield name, own.base_url
    usual = ((name, entry.base_url) for name, entry in load_catalog().items() if Badge.LOCAL in entry.badges)
    for name, url in (*usual, *_MORE):
        if url and not settings.provider(name).base_url:
            yield name, url


def _place(provider_id: str, url: str, key: str) -> Place | None:
    """None for what is no server nearby."""
    try:
        entry = find_entry(provider_id)
        address = parse_base_url(url, entry.label)
    except (NotFoundError, ProviderError):
        return None
    if not address.is_local:
        return None
    return Place(
        provider_id=provider_id,
        api=entry.local_api,
        address=address,
        key=key,
        wants_key=entry.key is KeyNeed.REQUIRED,
    )
