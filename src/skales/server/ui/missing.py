"""What cannot be shown, as a page."""

import anyio.to_thread
from fastapi import Request
from fastapi.responses import Response

from skales.app.app import App
from skales.core.errors import SkalesError
from skales.server.access import introduce, running_app
from skales.server.errors import status_of, without_secrets
from skales.server.frame_views import ErrorPage
from skales.server.told import told
from skales.server.ui.frame import build_error_page, build_plain_shell
from skales.server.ui.pages import PageResponse, render
from skales.server.views import Trouble
from skales.server.words import _, pick_language, use_language


async def show_missing(request: Request) -> Response:
    """Nothing is at this address."""
    await _speak(request)
    trouble = Trouble(
        _("There is nothing at this address"),
        _("It may have been mistyped, or what was here is switched off"),
        "/chat",
        _("Go to the chat"),
    )
    return await _show(request, 404, trouble)


async def show_failed(request: Request, error: SkalesError) -> Response:
    """What a room said while a page was made."""
    await _speak(request)
    message, hint = (without_secrets(request, told(words)) for words in (error.message, error.hint))
    trouble = Trouble(message, hint, request.url.path, _("Try again"))
    return await _show(request, status_of(error), trouble)


async def show_broken(request: Request) -> Response:
    """A fault of ours, without the frame: that may be what broke."""
    await _speak(request)
    trouble = Trouble(
        _("Skales made a mistake while it prepared this page"),
        _("Your data is untouched. The log says what happened"),
        request.url.path,
        _("Try again"),
    )
    return _page(running_app(request), 500, _build_plain(500, trouble))


async def _speak(request: Request) -> None:
    """Use the person's language, or the browser's when the settings cannot be read."""
    app = running_app(request)
    try:
        chosen = (await anyio.to_thread.run_sync(app.settings.load)).locale
    except (SkalesError, OSError):
        chosen = ""
    use_language(pick_language(chosen, request.headers.get("accept-language", "")))


async def _show(request: Request, status: int, trouble: Trouble) -> Response:
    app = running_app(request)
    page = await anyio.to_thread.run_sync(_build, app, status, trouble)
    return _page(app, status, page)


def _page(app: App, status: int, html: str) -> Response:
    """A page like any other: what it asks for next needs the cookie."""
    response = PageResponse(html, status_code=status)
    introduce(response, app)
    return response


def _build(app: App, status: int, trouble: Trouble) -> str:
    """With the whole frame, or without what must be read when reading is what fails."""
    try:
        return render(build_error_page(app, _heading(status), trouble, code=str(status)))
    except (SkalesError, OSError):
        return _build_plain(status, trouble)


def _build_plain(status: int, trouble: Trouble) -> str:
    heading = _heading(status)
    return render(ErrorPage(build_plain_shell(heading), heading, trouble, str(status)))


def _heading(status: int) -> str:
    match status:
        case 404:
            return _("Page not found")
        case 500:
            return _("Something broke")
        case _:
            return _("This page cannot be shown")
