"""Signing in to a provider on the page: begin, sign in at the provider's own page in another tab, come back.

The browser of this computer is listened for; from another device the person pastes the address it landed at. Tokens
never reach the page. Spec: providers.md, "Quirks" (openai_oauth).
"""

from functools import partial
from typing import Annotated

import anyio.to_thread
from fastapi import APIRouter, Form, Response

from skales.app.app import App
from skales.core.errors import NotFoundError, SkalesError
from skales.providers.catalog import find_entry
from skales.server.access import AppDep, PageSession
from skales.server.told import told
from skales.server.ui.pages import PageResponse, render
from skales.server.ui.provider_names import name_provider
from skales.server.ui.provider_views import SignInPart
from skales.server.views import Trouble
from skales.server.words import _

router = APIRouter(prefix="/ui/settings/providers/{provider_id}/signin", dependencies=[PageSession])


@router.post("/begin", response_class=PageResponse)
async def begin(app: AppDep, provider_id: str) -> str:
    """Make a link to sign in at, and listen for the browser. Raises NotFoundError."""
    find_entry(provider_id)
    desk = app.models.sign_in
    try:
        await anyio.to_thread.run_sync(desk.begin, provider_id)
    except SkalesError as error:
        return await _show(app, provider_id, trouble=_tell(error))
    desk.watch(provider_id)
    return await _show(app, provider_id, is_fresh=True)


@router.get("", response_class=PageResponse)
async def look(app: AppDep, provider_id: str) -> Response:
    """Whether the browser came back: nothing while it is still waited for. Raises NotFoundError."""
    find_entry(provider_id)
    desk = app.models.sign_in
    failed = desk.trouble(provider_id)
    if desk.is_begun(provider_id) and failed is None:
        return Response(status_code=204)
    return PageResponse(await _show(app, provider_id, trouble=_tell(failed) if failed else None))


@router.post("/finish", response_class=PageResponse)
async def finish(app: AppDep, provider_id: str, landing: Annotated[str, Form()] = "") -> str:
    """Take the address that a browser landed at. Raises NotFoundError."""
    find_entry(provider_id)
    desk = app.models.sign_in
    try:
        await desk.finish(provider_id, landing)
    except SkalesError as error:
        return await _show(app, provider_id, trouble=_tell(error))
    return await _show(app, provider_id)


@router.post("/end", response_class=PageResponse)
async def end(app: AppDep, provider_id: str) -> str:
    """Sign out, or give up a sign-in that was begun. Raises NotFoundError."""
    find_entry(provider_id)
    desk = app.models.sign_in
    if desk.is_begun(provider_id):
        desk.cancel(provider_id)
    else:
        await anyio.to_thread.run_sync(desk.sign_out, provider_id)
    return await _show(app, provider_id)


def build_sign_in(
    app: App, provider_id: str, *, is_fresh: bool = False, trouble: Trouble | None = None
) -> SignInPart | None:
    """The part of a card; None for a provider without a sign-in. Reads the disk."""
    if find_entry(provider_id).sign_in is None:
        return None
    desk = app.models.sign_in
    link = desk.link(provider_id)
    return SignInPart(
        provider_id,
        name_provider(app.settings.load(), provider_id),
        desk.is_signed_in(provider_id),
        link,
        waits=bool(link) and desk.trouble(provider_id) is None,
        is_fresh=is_fresh,
        trouble=trouble,
    )


async def _show(app: App, provider_id: str, *, is_fresh: bool = False, trouble: Trouble | None = None) -> str:
    part = await anyio.to_thread.run_sync(partial(build_sign_in, app, provider_id, is_fresh=is_fresh, trouble=trouble))
    if part is None:
        raise NotFoundError(_("This provider has no sign-in"))
    return render(part)


def _tell(error: SkalesError) -> Trouble:
    return Trouble(told(error.message), told(error.hint))
