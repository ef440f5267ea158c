"""The providers page: who answers and in which order, a card for each provider, and model servers found nearby."""

from functools import partial
from typing import Annotated

import anyio.to_thread
from fastapi import APIRouter, Form, Response
from msgspec import structs
from pydantic import BaseModel

from skales.app.app import App
from skales.core.errors import InputError, ProviderError, SkalesError
from skales.data.setting_shapes import Settings
from skales.providers.catalog import find_entry
from skales.providers.local_servers import FoundServer
from skales.server.access import AppDep, PageSession
from skales.server.frame_views import Crumb
from skales.server.told import told
from skales.server.ui.frame import build_shell
from skales.server.ui.model_limits import LimitChange, change_limits, undo_limits
from skales.server.ui.pages import PageResponse, render
from skales.server.ui.phrases import show_duration
from skales.server.ui.provider_cards import SHOWN_AS, build_body, build_key, build_list
from skales.server.ui.provider_facts import renew_models
from skales.server.ui.provider_keys import read_key
from skales.server.ui.provider_names import name_provider
from skales.server.ui.provider_order import Move, build_fallbacks, move_fallback, undo_fallback
from skales.server.ui.provider_rows import ACTIVE, active_row, list_set_up
from skales.server.ui.provider_slots import add_slot, remove_slot
from skales.server.ui.provider_views import (
    Chip,
    ConnectionReport,
    FoundServerLine,
    FoundServers,
    KeyField,
    NewSlot,
    ProviderBoard,
    ProvidersPage,
)
from skales.server.ui.setting_controls import Outcome, build_control
from skales.server.ui.setting_saving import describe
from skales.server.ui.setting_values import read_token
from skales.server.views import Screen, Trouble
from skales.server.words import _, ngettext

router = APIRouter(dependencies=[PageSession])

Text = Annotated[str, Form()]


class _MoveForm(BaseModel):
    was: str = ""
    action: str = ""
    number: int = -1
    provider: str = ""
    model: str = ""


class _LimitForm(BaseModel):
    was: str = ""
    action: str = "add"
    row: str = ""
    model: str = ""
    context: str = ""
    output: str = ""


@router.get("/settings/providers", response_class=PageResponse)
def open_providers(app: AppDep, q: str = "", show: str = "", open: str = "") -> str:
    """The whole page; `open` is the card to begin with."""
    page = ProvidersPage(
        shell=structs.replace(
            build_shell(app, _("Providers"), Screen.SETTINGS), crumbs=(Crumb("/settings", _("Settings")),)
        ),
        board=_build_board(app, query=q, show=show, opened=open),
    )
    return render(page)


@router.get("/ui/settings/providers", response_class=PageResponse)
def list_cards(app: AppDep, q: str = "", show: str = "") -> str:
    """The cards that fit a search and a filter."""
    return render(build_list(app, q, show))


@router.get("/ui/settings/providers/{provider_id}/card", response_class=PageResponse)
def open_card(app: AppDep, provider_id: str) -> str:
    """What an open card shows. Raises NotFoundError."""
    return render(build_body(app, provider_id))


@router.post("/ui/settings/providers/{provider_id}/activate", response_class=PageResponse)
def activate(app: AppDep, provider_id: str) -> str:
    """Let this one answer from now on, and switch it on. Raises NotFoundError, InputError."""
    find_entry(provider_id)
    settings = app.settings.load()
    if provider_id not in list_set_up(app, settings):
        raise InputError(_("This provider is not set up yet"), hint=_("Fill in what its card asks for"))
    former = read_token(settings, (ACTIVE,))
    app.settings.set_provider(provider_id, activate=True)
    return show_board(app, came=Outcome(saved=_("Saved"), former=former), opened=provider_id)


@router.post("/ui/settings/providers/{provider_id}/key", response_class=PageResponse)
def save_key(app: AppDep, provider_id: str, api_key: Text = "", forget: Text = "") -> Response:
    """Keep a key, or forget it once that was confirmed. The key never comes back. Raises NotFoundError."""
    find_entry(provider_id)
    settings = app.settings.load()
    if forget == "ask":
        return PageResponse(render(_key(app, provider_id, asks=True)))
    try:
        key = "" if forget == "yes" else read_key(api_key, settings.provider(provider_id).api_key)
        if not key and forget != "yes":
            return Response(status_code=204)  # an empty field leaves the stored key alone
        app.settings.set_provider(provider_id, api_key=key)
    except SkalesError as error:
        return PageResponse(render(_key(app, provider_id, error=describe(error))))
    return PageResponse(render(_key(app, provider_id, saved=_("Saved") if key else _("Forgotten"))))


@router.get("/ui/settings/providers/{provider_id}/key", response_class=PageResponse)
def show_key(app: AppDep, provider_id: str) -> str:
    """The field as it stands now. Raises NotFoundError."""
    return render(_key(app, provider_id))


@router.post("/ui/settings/providers/{provider_id}/test", response_class=PageResponse)
async def try_connection(app: AppDep, provider_id: str) -> str:
    """Ask the endpoint which models it has, with what is saved. Raises NotFoundError."""
    find_entry(provider_id)
    started_s = app.clock.monotonic_s()
    try:
        live = await app.models.test(provider_id)
    except (ProviderError, InputError) as error:
        return render(ConnectionReport(provider_id, "", trouble=Trouble(told(error.message), told(error.hint))))
    facts = [show_duration(int((app.clock.monotonic_s() - started_s) * 1000)), _count(len(live))]
    table = await anyio.to_thread.run_sync(renew_models, app, provider_id)
    return render(ConnectionReport(provider_id, _("It answers."), tuple(filter(None, facts)), table))


@router.post("/ui/settings/providers/{provider_id}/refresh", response_class=PageResponse)
async def refresh_models(app: AppDep, provider_id: str) -> str:
    """Ask the endpoint for its models; what was known before stays when it does not answer. Raises NotFoundError."""
    find_entry(provider_id)
    renewed = await app.models.refresh(provider_id)
    trouble = Trouble(told(renewed.error.message), told(renewed.error.hint)) if renewed.error else None
    return render(await anyio.to_thread.run_sync(partial(renew_models, app, provider_id, trouble=trouble)))


@router.get("/ui/settings/providers/nearby", response_class=PageResponse)
async def find_nearby(app: AppDep) -> str:
    """Model servers that answer on this computer, and those on the network that the settings name."""
    found = await app.models.detect_local()
    settings = await anyio.to_thread.run_sync(app.settings.load)
    return render(FoundServers(tuple(_show_found(settings, server) for server in found)))


@router.post("/ui/settings/providers/{provider_id}/nearby", response_class=PageResponse)
def use_nearby(app: AppDep, provider_id: str, address: Text = "", model: Text = "") -> str:
    """Let a server that was found answer. Raises NotFoundError, InputError."""
    usual = find_entry(provider_id).base_url
    settings = app.settings.load()
    former = read_token(settings, (ACTIVE,))
    app.settings.set_provider(
        provider_id,
        base_url="" if address == usual else address,
        model=None if settings.provider(provider_id).model else model,
        activate=True,
    )
    return show_board(app, came=Outcome(saved=_("Saved"), former=former))


@router.post("/ui/settings/providers/{provider_id}/remove", response_class=PageResponse)
def remove(app: AppDep, provider_id: str) -> str:
    """Take out a slot of the person's own. Raises InputError, NotFoundError."""
    remove_slot(app, provider_id)
    return show_board(app)


@router.post("/ui/settings/slots", response_class=PageResponse)
def add(app: AppDep, name: Text = "", address: Text = "", api_key: Text = "", near: Text = "") -> Response:
    """Add an endpoint of the person's own."""
    try:
        provider_id = add_slot(app, name, address, api_key, is_near_by=near == "true")
    except SkalesError as error:
        return PageResponse(render(NewSlot(name, address, describe(error), is_open=True)))
    headers = {"hx-retarget": "#provider-board", "hx-reswap": "innerHTML"}
    return PageResponse(show_board(app, opened=provider_id), headers=headers)


@router.post("/ui/settings/fallbacks", response_class=PageResponse)
def change_fallbacks(app: AppDep, wanted: Annotated[_MoveForm, Form()]) -> str:
    """Change the order of those who answer when the one before does not."""
    move = Move(wanted.action, wanted.number, wanted.provider, wanted.model)
    return render(move_fallback(app, move, wanted.was))


@router.post("/ui/settings/fallbacks/undo", response_class=PageResponse)
def undo_fallbacks(app: AppDep, former: Text = "", saved: Text = "") -> str:
    """Put the order back."""
    return render(undo_fallback(app, former, saved))


@router.post("/ui/settings/providers/{provider_id}/limits", response_class=PageResponse)
def save_limits(app: AppDep, provider_id: str, wanted: Annotated[_LimitForm, Form()]) -> str:
    """Add or remove what the person says of the sizes of a model. Raises NotFoundError."""
    find_entry(provider_id)
    # A button in a row sends what is typed below along with its own row.
    model = wanted.row if wanted.action == "remove" else wanted.model
    change = LimitChange(wanted.action, model, wanted.context, wanted.output)
    return render(change_limits(app, provider_id, change, wanted.was))


@router.post("/ui/settings/providers/{provider_id}/limits/undo", response_class=PageResponse)
def put_back_limits(app: AppDep, provider_id: str, former: Text = "", saved: Text = "") -> str:
    """Put the sizes back. Raises NotFoundError."""
    find_entry(provider_id)
    return render(undo_limits(app, provider_id, former, saved))


def show_board(app: App, *, came: Outcome | None = None, opened: str = "") -> str:
    """Everything below the page's search, as it stands now."""
    return render(_build_board(app, came=came, opened=opened))


def _build_board(
    app: App, *, query: str = "", show: str = "", opened: str = "", came: Outcome | None = None
) -> ProviderBoard:
    settings = app.settings.load()
    active = app.models.describe_active()
    return ProviderBoard(
        active=build_control(settings, app.settings.faults(), active_row(app, settings), came),
        active_model=active.model,
        active_id=active.provider_id,
        fallbacks=build_fallbacks(app),
        cards=build_list(app, query, show, opened),
        new_slot=NewSlot(),
        query=query,
        show=show if show in SHOWN_AS else "",
        chips=tuple(Chip(value, _(label), value == show) for value, label in SHOWN_AS.items()),
    )


def _key(app: App, provider_id: str, *, saved: str = "", error: str = "", asks: bool = False) -> KeyField:
    field = build_key(app.settings.load(), provider_id, saved=saved, error=error, asks=asks)
    if field is None:
        raise InputError(_("This provider takes no key"))
    return field


def _show_found(settings: Settings, server: FoundServer) -> FoundServerLine:
    models = [model.id for model in server.models]
    own = settings.provider(server.provider_id)
    is_active = settings.active_provider == server.provider_id
    in_use = (own.base_url or find_entry(server.provider_id).base_url) == server.base_url
    return FoundServerLine(
        provider_id=server.provider_id,
        label=name_provider(settings, server.provider_id),
        address=server.base_url,
        words=_("It runs, and asks for a key.") if server.needs_key else _count(len(models)),
        model=models[0] if models else "",
        is_in_use=is_active and in_use,
        needs_key=server.needs_key and not own.api_key,
    )


def _count(number: int) -> str:
    if not number:
        return _("It names no models; write the model's id yourself.")
    return ngettext("%(num)d model", "%(num)d models", number)
