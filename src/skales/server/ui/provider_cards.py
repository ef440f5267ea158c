"""The cards of the providers page: grouped, filtered, each with its rows, its key field and its models."""

from enum import StrEnum
from urllib.parse import urlsplit

from msgspec import structs

from skales.app.app import App
from skales.app.local_provider import LOCAL_PROVIDER
from skales.data.endpoints import mask_key
from skales.data.setting_shapes import Settings
from skales.providers.catalog import Badge, KeyNeed, ProviderEntry, find_entry
from skales.security.network import is_local_host
from skales.server.told import told
from skales.server.ui.model_limits import build_limits
from skales.server.ui.models import describe_starter
from skales.server.ui.probe import build_probe
from skales.server.ui.provider_facts import build_models, can_see
from skales.server.ui.provider_names import is_custom, name_provider
from skales.server.ui.provider_rows import is_on, is_set_up, list_providers, list_set_up, provider_rows
from skales.server.ui.provider_views import CardBody, CardState, KeyField, ProviderCard, ProviderGroup, ProviderList
from skales.server.ui.setting_controls import build_control
from skales.server.ui.setting_search import fold
from skales.server.ui.setting_table import Kind
from skales.server.ui.setting_views import Control
from skales.server.ui.signin import build_sign_in
from skales.server.words import N_, _


class Show(StrEnum):
    """The filters."""

    ALL = ""
    LOCAL = "local"
    VISION = "vision"
    VOICE = "voice"
    GENERATIVE = "generative"


SHOWN_AS = {
    Show.ALL: N_("All"),
    Show.LOCAL: N_("Local"),
    Show.VISION: N_("Vision"),
    Show.VOICE: N_("Voice"),
    Show.GENERATIVE: N_("Generative"),
}


def build_list(app: App, query: str = "", show: str = "", opened: str = "") -> ProviderList:
    """What fits, in three groups. Reads the disk."""
    settings = app.settings.load()
    wanted = fold(query).split()
    fitting = [
        name
        for name in list_providers(settings)
        if _fits(settings, name, show)
        and all(word in fold(f"{name} {name_provider(settings, name)}") for word in wanted)
    ]
    set_up = list_set_up(app, settings)
    ready = [name for name in fitting if name in set_up]
    ready.sort(key=lambda name: name != settings.active_provider)
    near = [name for name in fitting if name not in ready and Badge.LOCAL in find_entry(name).badges]
    far = [name for name in fitting if name not in ready and name not in near]
    groups = ((_("Set up"), ready), (_("On this computer or network"), near), (_("On the internet"), far))
    return ProviderList(
        tuple(
            ProviderGroup(
                title,
                tuple(_build_card(app, settings, name, is_set_up=names is ready, opened=opened) for name in names),
                is_apart=names is not ready,
            )
            for title, names in groups
            if names
        )
    )


def build_body(app: App, provider_id: str) -> CardBody:
    """What an open card shows. Reads the disk."""
    settings, faults = app.settings.load(), app.settings.faults()
    entry = find_entry(provider_id)
    controls = [build_control(settings, faults, row) for row in provider_rows(provider_id)]
    offer = next((offer for offer in app.models.available() if offer.provider_id == provider_id), None)
    return CardBody(
        id=provider_id,
        label=name_provider(settings, provider_id),
        state=build_state(settings, provider_id, is_set_up=offer is not None or is_set_up(settings, provider_id)),
        rows=tuple(_with_switch(settings, provider_id, control) for control in controls if not control.is_advanced),
        more=tuple(control for control in controls if control.is_advanced),
        key=build_key(settings, provider_id),
        models=build_models(app, settings, provider_id, offer),
        explanation=told(entry.explanation.strip()),
        where=_say_where(settings, provider_id, entry),
        starter=describe_starter(app) if provider_id == LOCAL_PROVIDER else None,
        is_custom=is_custom(provider_id),
        probe=build_probe(app, provider_id),
        sign_in=build_sign_in(app, provider_id),
        limits=None if provider_id == LOCAL_PROVIDER else build_limits(app, provider_id),
    )


def _build_card(app: App, settings: Settings, provider_id: str, *, is_set_up: bool, opened: str) -> ProviderCard:
    return ProviderCard(
        provider_id,
        name_provider(settings, provider_id),
        _tag(provider_id, find_entry(provider_id)),
        build_state(settings, provider_id, is_set_up=is_set_up),
        build_body(app, provider_id) if provider_id == opened else None,
    )


def _with_switch(settings: Settings, provider_id: str, control: Control) -> Control:
    """A switch that says whether it may be asked, also where the file says nothing."""
    return structs.replace(control, is_on=is_on(settings, provider_id)) if control.kind == Kind.SWITCH else control


def build_key(
    settings: Settings, provider_id: str, *, saved: str = "", error: str = "", asks: bool = False
) -> KeyField | None:
    """The key field, None for a provider that takes none."""
    need = find_entry(provider_id).key
    if need is KeyNeed.NONE:
        return None
    set_up = is_set_up(settings, provider_id)
    beside = (build_state(settings, provider_id, is_set_up=set_up, is_update=True),) if saved else ()
    mask = mask_key(settings.provider(provider_id).api_key)
    return KeyField(provider_id, mask, need is KeyNeed.REQUIRED, saved, error, asks, beside)


def build_state(settings: Settings, provider_id: str, *, is_set_up: bool, is_update: bool = False) -> CardState:
    """What the closed card says."""
    own, entry = settings.provider(provider_id), find_entry(provider_id)
    is_active = provider_id == settings.active_provider
    on = is_on(settings, provider_id)
    badge, kind = "", ""
    if entry.key is KeyNeed.REQUIRED and not own.api_key and (is_active or own.model):
        badge, kind = _("Key missing"), "warn"
    elif is_active:
        badge, kind = _("Answers"), "good"
    elif is_set_up and not on:
        badge = _("Off")
    elif is_set_up:
        badge = _("Ready")
    model = own.model if is_set_up else ""
    return CardState(provider_id, badge, kind, model, is_set_up and on and not is_active, is_update)


def is_near(address: str) -> bool:
    """Whether an address is on this computer or the local network; the address decides, not the name."""
    try:
        return is_local_host(urlsplit(address).hostname or "")
    except ValueError:
        return False


def _fits(settings: Settings, provider_id: str, show: str) -> bool:
    entry = find_entry(provider_id)
    match show:
        case Show.LOCAL:
            return Badge.LOCAL in entry.badges or is_near(settings.provider(provider_id).base_url)
        case Show.VISION:
            return can_see(provider_id)
        case Show.VOICE:
            return Badge.VOICE in entry.badges
        case Show.GENERATIVE:
            return Badge.MEDIA in entry.badges
        case _:
            return True


def _tag(provider_id: str, entry: ProviderEntry) -> tuple[str, ...]:
    said = (
        (Badge.LOCAL in entry.badges, _("Local")),
        (can_see(provider_id), _("Vision")),
        (Badge.VOICE in entry.badges, _("Voice")),
        (Badge.MEDIA in entry.badges, _("Generative")),
    )
    return tuple(words for holds, words in said if holds)


def _say_where(settings: Settings, provider_id: str, entry: ProviderEntry) -> str:
    """Where messages go; only the person's own slots leave it open."""
    address = settings.provider(provider_id).base_url or entry.base_url
    if not address or Badge.LOCAL not in entry.badges or provider_id == LOCAL_PROVIDER:
        return ""
    if is_near(address):
        return _("By its address it runs on this computer or your network.")
    return _("By its address it is on the internet: what you write leaves your network.")
