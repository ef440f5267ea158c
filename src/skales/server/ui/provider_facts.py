"""What is known of a provider's models, in words: the endpoint's own list where there is one, else the catalogue's."""

from msgspec import structs

from skales.app.app import App
from skales.app.model_offers import ProviderOffer
from skales.core.ports import ModelTraits
from skales.data.setting_shapes import Settings
from skales.providers.catalog import Capability, find_entry
from skales.server.told import told
from skales.server.ui.phrases import show_moment
from skales.server.ui.provider_views import ModelLine, ModelTable
from skales.server.views import Trouble
from skales.server.words import _

# An endpoint that resells others lists thousands; whoever wants one of those writes its id.
_SHOWN = 400


def build_models(app: App, settings: Settings, provider_id: str, offer: ProviderOffer | None) -> ModelTable:
    """The list for the page; nobody is asked."""
    ids = offer.models if offer else find_entry(provider_id).models
    chosen = settings.provider(provider_id).model
    when = show_moment(offer.fetched_ms, app.clock.now_ms()).words if offer and offer.fetched_ms else ""
    return ModelTable(
        provider_id,
        tuple(
            ModelLine(model, describe_traits(app.models.facts(provider_id, model)), model == chosen)
            for model in ids[:_SHOWN]
        ),
        when=_("asked for at %(when)s", when=when) if when else "",
    )


def renew_models(app: App, provider_id: str, *, trouble: Trouble | None = None) -> ModelTable:
    """The list after the endpoint was asked, in place of the one on the page. Reads the disk."""
    offer = next((offer for offer in app.models.available() if offer.provider_id == provider_id), None)
    return structs.replace(build_models(app, app.settings.load(), provider_id, offer), is_update=True, trouble=trouble)


def describe_traits(traits: ModelTraits) -> tuple[str, ...]:
    """The window and the abilities, each in a word or two; nothing of what nobody knows."""
    said = (
        (traits.context_tokens > 0, _("%(size)s tokens", size=short_count(traits.context_tokens))),
        (traits.vision, _("sees pictures")),
        (traits.reasoning, _("thinks first")),
        (not traits.tools, _("uses no tools")),
        (bool(traits.warning), told(traits.warning)),
    )
    return tuple(words for holds, words in said if holds)


def can_see(provider_id: str) -> bool:
    """Whether any model of its list takes pictures."""
    return any(Capability.VISION in (facts.can or ()) for facts in find_entry(provider_id).facts.values())


def short_count(number: int) -> str:
    """`8k`, `131k`, `1M`: windows are compared, not counted."""
    if number >= 1_000_000:
        return f"{number / 1_000_000:.1f}".removesuffix(".0") + "M"
    return f"{number // 1000}k" if number >= 1000 else str(number)
