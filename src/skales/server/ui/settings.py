"""The settings page: rows that save at once and can be put back, a search over all of them, and parts that are no rows.

A row's form carries back what it showed; see `setting_values`. Answers are the row as it stands now.
"""

from typing import Annotated
from urllib.parse import urlencode

import anyio.to_thread
from fastapi import APIRouter, Depends, Form, Request, Response
from fastapi.responses import RedirectResponse
from msgspec import Struct

from skales.app.app import App
from skales.core.errors import NotFoundError
from skales.server.access import AppDep, PageSession
from skales.server.ui import providers
from skales.server.ui.pages import PageResponse, render
from skales.server.ui.provider_answers import show_change
from skales.server.ui.provider_rows import ACTIVE
from skales.server.ui.setting_controls import Outcome, build_control
from skales.server.ui.setting_page import build_page
from skales.server.ui.setting_rows import find_setting
from skales.server.ui.setting_saving import Posted, save_setting, undo_setting
from skales.server.ui.setting_search import search_settings
from skales.server.ui.setting_table import Setting
from skales.server.words import _

router = APIRouter(dependencies=[PageSession])

LANGUAGE = "locale"


class _Put(Struct, frozen=True):
    """A request to change a row."""

    app: App
    request: Request
    setting: Setting


async def _find(request: Request, app: AppDep, name: str) -> _Put:
    setting = await anyio.to_thread.run_sync(find_setting, app, name)
    if setting is None:
        raise NotFoundError(_("There is no such setting"))
    return _Put(app, request, setting)


async def _read_form(request: Request) -> Posted:
    form = await request.form()
    values = tuple(value for value in form.getlist("value") if isinstance(value, str))
    was, confirmed, remove = (form.get(name) for name in ("was", "confirmed", "remove"))
    return Posted(
        values,
        was if isinstance(was, str) else None,
        confirmed if isinstance(confirmed, str) else "",
        int(remove)
        if isinstance(remove, str) and remove.isascii() and remove.isdecimal() and len(remove) < 6
        else None,
    )


PutDep = Annotated[_Put, Depends(_find)]
PostedForm = Annotated[Posted, Depends(_read_form)]


@router.get("/settings", response_class=PageResponse)
def open_settings(app: AppDep, request: Request, q: str = "", view: str = "", former: str | None = None) -> str:
    """Everything there is to choose. `former` is there when the page was opened anew after a change of language."""
    came = {} if former is None else {LANGUAGE: Outcome(saved=_("Saved"), former=former)}
    return render(build_page(app, str(request.base_url), query=q, mode=view, came=came))


@router.get("/ui/settings/search", response_class=PageResponse)
def search(app: AppDep, q: str = "") -> str:
    """The places that fit."""
    return render(search_settings(app, q))


@router.get("/ui/settings/values/{name}", response_class=PageResponse)
def show_value(put: PutDep) -> str:
    """The row as it stands now."""
    return _show(put, None)


@router.post("/ui/settings/values/{name}", response_class=PageResponse)
def save_value(put: PutDep, posted: PostedForm) -> Response:
    """Keep a value."""
    outcome = save_setting(put.app.settings, put.setting, posted)
    if "hx-request" not in put.request.headers:
        return _answer_without_scripts(put, outcome)
    if outcome is None:
        return Response(status_code=204)
    return _answer(put, outcome)


@router.post("/ui/settings/undo/{name}", response_class=PageResponse)
def undo_value(put: PutDep, former: Annotated[str, Form()] = "", saved: Annotated[str, Form()] = "") -> Response:
    """Put back what was there before."""
    return _answer(put, undo_setting(put.app.settings, put.setting, former, saved))


def _answer(put: _Put, outcome: Outcome) -> Response:
    """The row; where more than the row changes, all that does."""
    if put.setting.name == LANGUAGE and outcome.saved:
        kept = {} if outcome.former is None else {"former": outcome.former}
        query = f"?{urlencode(kept)}" if kept else "?"
        return Response(headers={"hx-redirect": f"/settings{query}#{put.setting.anchor}"})
    if put.setting.name == ACTIVE and outcome.saved:
        page = providers.show_board(put.app, came=outcome)
        return PageResponse(page, headers={"hx-retarget": "#provider-board", "hx-reswap": "innerHTML"})
    return PageResponse(_show(put, outcome))


def _show(put: _Put, outcome: Outcome | None) -> str:
    settings, faults = put.app.settings.load(), put.app.settings.faults()
    beside = show_change(settings, put.setting) if outcome and outcome.saved else ()
    return render(build_control(settings, faults, put.setting, outcome, beside))


def _answer_without_scripts(put: _Put, outcome: Outcome | None) -> Response:
    """A whole page: the row's place on it, or the row with what has to be said."""
    if put.setting.name.startswith("providers.") or put.setting.name == ACTIVE:
        return RedirectResponse("/settings/providers", status_code=303)
    if outcome is None or outcome.saved:
        return RedirectResponse(f"/settings?view=advanced#{put.setting.anchor}", status_code=303)
    return PageResponse(
        render(build_page(put.app, str(put.request.base_url), mode="advanced", came={put.setting.name: outcome}))
    )
