"""The settings page: who answers, what runs unasked, the look, where the data lies. Each change is saved at once."""

from typing import Annotated

import anyio.to_thread
from fastapi import APIRouter, Form
from pydantic import BaseModel

from skales.app.local_provider import LOCAL_PROVIDER
from skales.app.wiring import App
from skales.core.errors import InputError, ProviderError, SkalesError
from skales.core.tool import SafetyMode
from skales.data.endpoints import mask_key
from skales.data.quarantine import BrokenFile
from skales.data.settings import Settings
from skales.providers.catalog import Badge, KeyNeed, ProviderEntry, find_entry, load_catalog
from skales.server.access import AppDep, PageSession
from skales.server.ui.frame import build_shell
from skales.server.ui.models import describe_starter, label_of
from skales.server.ui.pages import PageResponse, render
from skales.server.ui.phrases import show_moment
from skales.server.ui.setting_views import (
    BrokenFileLine,
    Choice,
    ConnectionReport,
    KeyField,
    ProviderCard,
    ProviderList,
    Saved,
    SettingsPage,
)
from skales.server.views import Screen, Trouble

router = APIRouter(dependencies=[PageSession])

_BADGES = {Badge.LOCAL: "on this computer or network", Badge.VOICE: "voice", Badge.MEDIA: "pictures and media"}
_SAFETY = (
    (SafetyMode.SAFE, "Ask me first", "Reading runs by itself. Writing, deleting and commands wait for your yes."),
    (SafetyMode.ADVANCED, "Do not ask", "Everything runs by itself, except commands that could wreck the computer."),
    (SafetyMode.UNRESTRICTED, "No brakes", "Even those commands run, with a warning. For throw-away machines."),
)
_THEMES = (("system", "System"), ("light", "Light"), ("dark", "Dark"))
Text = Annotated[str, Form()]


class ProviderForm(BaseModel):
    """A provider's form. An empty key field leaves the stored key alone; forgetting it is a wish of its own."""

    base_url: str = ""
    model: str = ""
    api_key: str = ""
    forget_key: bool = False


@router.get("/settings", response_class=PageResponse)
def open_settings(app: AppDep) -> str:
    """Everything there is to choose."""
    settings = app.settings.load()
    page = SettingsPage(
        shell=build_shell(app, "Settings", Screen.SETTINGS),
        providers=_build_providers(app, settings),
        safety=tuple(Choice(mode, label, words, mode is settings.safety_mode) for mode, label, words in _SAFETY),
        themes=tuple(Choice(value, label, "", value == _theme_of(settings)) for value, label in _THEMES),
        data_folder=str(app.directory.root),
        broken_files=tuple(_show_broken(app, broken) for broken in app.quarantine.notices()),
    )
    return render(page)


@router.post("/ui/settings/safety", response_class=PageResponse)
def save_safety(app: AppDep, safety_mode: Text) -> str:
    """How much runs unasked."""
    return _save(app, "safetyMode", safety_mode)


@router.post("/ui/settings/theme", response_class=PageResponse)
def save_theme(app: AppDep, theme: Text) -> str:
    """Light, dark, or as the system has it."""
    if theme not in dict(_THEMES):
        return render(Saved(trouble=Trouble(f"{theme!r} is no theme", "Choose system, light or dark")))
    return _save(app, "theme", theme)


@router.post("/ui/settings/providers/{provider_id}", response_class=PageResponse)
def save_provider(app: AppDep, provider_id: str, filled: Annotated[ProviderForm, Form()]) -> str:
    """Keep what the form says."""
    try:
        if filled.forget_key:
            app.settings.set_provider(provider_id, api_key="")
        else:
            _keep(app, provider_id, filled)
    except SkalesError as error:
        return render(Saved(trouble=Trouble(error.message, error.hint)))
    key_changed = filled.forget_key or bool(filled.api_key)
    return render(Saved(key=_key_field(app.settings.load(), provider_id, is_update=True) if key_changed else None))


@router.post("/ui/settings/providers/{provider_id}/activate", response_class=PageResponse)
def activate(app: AppDep, provider_id: str, filled: Annotated[ProviderForm, Form()]) -> str:
    """Let this one answer, and keep what its form says. Raises InputError, NotFoundError."""
    find_entry(provider_id)
    _keep(app, provider_id, filled, activate=True)
    return render(_build_providers(app, app.settings.load(), opened=provider_id))


@router.post("/ui/settings/providers/{provider_id}/test", response_class=PageResponse)
async def try_connection(app: AppDep, provider_id: str, filled: Annotated[ProviderForm, Form()]) -> str:
    """Keep what the form says, then ask the endpoint which models it has."""
    try:
        await anyio.to_thread.run_sync(_keep, app, provider_id, filled)
        models = tuple(await app.models.test(provider_id))
    except (ProviderError, InputError) as error:
        return render(ConnectionReport(provider_id, "", (), Trouble(error.message, error.hint)))
    return render(ConnectionReport(provider_id, _count(models), models))


def _keep(app: App, provider_id: str, filled: ProviderForm, *, activate: bool = False) -> None:
    app.settings.set_provider(
        provider_id,
        base_url=filled.base_url,
        model=filled.model,
        api_key=filled.api_key or None,
        activate=activate,
    )


def _save(app: App, name: str, value: str) -> str:
    try:
        app.settings.set_value(name, value)
    except SkalesError as error:
        return render(Saved(trouble=Trouble(error.message, error.hint)))
    return render(Saved())


def _build_providers(app: App, settings: Settings, opened: str = "") -> ProviderList:
    """Those in use first, then what runs on this computer, then the catalogue's order."""
    catalog = load_catalog()
    custom = [name for name in settings.providers if name.startswith("custom_")]
    local_first = sorted(catalog, key=lambda name: Badge.LOCAL not in catalog[name].badges)
    names = dict.fromkeys([settings.active_provider, LOCAL_PROVIDER, *custom, *local_first])
    cards = {
        name: _build_card(app, settings, name, is_open=name == opened)
        for name in names
        if name in catalog or name in custom
    }
    chosen = [name for name in cards if name == settings.active_provider or _is_set_up(settings, name)]
    return ProviderList(
        tuple(cards[name] for name in chosen), tuple(card for name, card in cards.items() if name not in chosen)
    )


def _build_card(app: App, settings: Settings, provider_id: str, *, is_open: bool) -> ProviderCard:
    own = settings.provider(provider_id)
    entry = find_entry(provider_id)
    is_starter = provider_id == LOCAL_PROVIDER
    return ProviderCard(
        id=provider_id,
        label=label_of(provider_id),
        badges=tuple(_BADGES[badge] for badge in Badge if badge in entry.badges),
        is_active=provider_id == settings.active_provider,
        state=_describe_state(settings, provider_id, entry),
        base_url=own.base_url,
        default_url=entry.base_url,
        model=own.model,
        default_model=entry.models[0] if entry.models else "",
        models=entry.models,
        key=_key_field(settings, provider_id),
        starter=describe_starter(app) if is_starter else None,
        is_open=is_open,
    )


def _key_field(settings: Settings, provider_id: str, *, is_update: bool = False) -> KeyField | None:
    need = find_entry(provider_id).key
    if need is KeyNeed.NONE:
        return None
    mask = mask_key(settings.provider(provider_id).api_key)
    return KeyField(provider_id, mask, needed=need is KeyNeed.REQUIRED, is_update=is_update)


def _is_set_up(settings: Settings, provider_id: str) -> bool:
    own = settings.provider(provider_id)
    return provider_id == LOCAL_PROVIDER or bool(own.api_key or own.base_url or own.model)


def _describe_state(settings: Settings, provider_id: str, entry: ProviderEntry) -> str:
    own = settings.provider(provider_id)
    if provider_id == LOCAL_PROVIDER:
        return "comes with Skales"
    if not _is_set_up(settings, provider_id):
        return ""
    if entry.key is KeyNeed.REQUIRED and not own.api_key and not own.base_url:
        return "key missing"
    return own.model or "set up"


def _theme_of(settings: Settings) -> str:
    return settings.theme if settings.theme in dict(_THEMES) else "system"


def _show_broken(app: App, broken: BrokenFile) -> BrokenFileLine:
    when = show_moment(broken.when_ms, app.clock.now_ms())
    return BrokenFileLine(str(broken.path), str(broken.kept_at), broken.reason, when)


def _count(models: tuple[str, ...]) -> str:
    match len(models):
        case 0:
            return "It names no models; write the model's id yourself."
        case 1:
            return "It offers one model:"
        case number:
            return f"It offers {number} models:"
