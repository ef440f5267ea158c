"""The DevKit's switch and token. A token is shown once, when it is made; afterwards only its mask."""

from typing import Annotated

from fastapi import APIRouter, Form, Request
from msgspec import Struct

from skales.app.app import App
from skales.core.errors import SkalesError
from skales.data.endpoints import mask_key
from skales.server.access import AppDep, PageSession
from skales.server.told import told
from skales.server.ui.pages import PageResponse, render
from skales.server.ui.setting_views import DevKitPart
from skales.server.views import Trouble
from skales.server.words import _

router = APIRouter(prefix="/ui/settings/devkit", dependencies=[PageSession])

_TOKEN_LENGTH = 43


class News(Struct, frozen=True):
    """What came of a change. `undo_on` is the switch's former state."""

    fresh_token: str = ""
    notice: str = ""
    undo_on: bool | None = None
    trouble: Trouble | None = None


def build_devkit(app: App, address: str, news: News | None = None) -> DevKitPart:
    """How it stands. Reads the disk."""
    config, came = app.devkit.read(), news or News()
    return DevKitPart(
        is_on=config.enabled,
        is_forced=app.devkit.is_forced(),
        token_mask=mask_key(config.token),
        address=address.rstrip("/"),
        path=str(app.directory.devkit),
        fresh_token=came.fresh_token,
        notice=came.notice,
        undo_on=came.undo_on,
        trouble=came.trouble,
    )


@router.post("", response_class=PageResponse)
def switch(app: AppDep, request: Request, on: Annotated[bool, Form()] = False) -> str:
    """Open or close the routes. The first time a token is made, since nobody gets in without one."""
    config = app.devkit.read()
    token = app.ids.token(_TOKEN_LENGTH) if on and not config.token else ""
    try:
        app.devkit.change(enabled=on, token=token or None)
    except SkalesError as error:
        return _answer(app, request, News(trouble=Trouble(told(error.message), told(error.hint))))
    return _answer(app, request, News(fresh_token=token, notice=_("Saved"), undo_on=not on))


@router.post("/token", response_class=PageResponse)
def renew_token(app: AppDep, request: Request) -> str:
    """A new token; the former one counts no more from now on."""
    token = app.ids.token(_TOKEN_LENGTH)
    try:
        app.devkit.change(token=token)
    except SkalesError as error:
        return _answer(app, request, News(trouble=Trouble(told(error.message), told(error.hint))))
    return _answer(app, request, News(fresh_token=token, notice=_("The former token no longer counts")))


def _answer(app: App, request: Request, news: News) -> str:
    return render(build_devkit(app, str(request.base_url), news))
