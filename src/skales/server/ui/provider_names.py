"""What people call a provider: the catalogue's label, or what they named a slot of their own."""

from collections.abc import Callable
from functools import partial

from skales.app.app import App
from skales.data.setting_shapes import Settings
from skales.providers.catalog import load_catalog

CUSTOM_PREFIX = "custom_"

# A provider's id to what people call it.
LabelOf = Callable[[str], str]


def is_custom(provider_id: str) -> bool:
    """Whether it is a slot that the person added."""
    return provider_id.startswith(CUSTOM_PREFIX) and len(provider_id) > len(CUSTOM_PREFIX)


def name_provider(settings: Settings, provider_id: str) -> str:
    """What people call it."""
    own = settings.provider(provider_id)
    if is_custom(provider_id):
        return own.label.strip() or provider_id.removeprefix(CUSTOM_PREFIX)
    entry = load_catalog().get(provider_id)
    return entry.label if entry else provider_id


def name_by_catalogue(provider_id: str) -> str:
    """What it is called where nobody named a slot of their own."""
    return name_provider(Settings(), provider_id)


def name_providers(app: App) -> LabelOf:
    """What people call each provider, by the settings as they are now."""
    return partial(name_provider, app.settings.load())
