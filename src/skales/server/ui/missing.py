"""Addresses that do not exist: a page for a person who followed a link, the usual JSON for a program."""

import anyio.to_thread
from fastapi import Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from skales.server.access import running_app
from skales.server.errors import answer_framework_error
from skales.server.ui.frame import build_error_page
from skales.server.ui.pages import PageResponse, render
from skales.server.views import Trouble
from skales.server.words import _, pick_language, use_language


async def answer_missing(request: Request, error: Exception) -> Response:
    """The framework's own refusals, among them 404."""
    assert isinstance(error, HTTPException)
    if error.status_code != 404 or "text/html" not in request.headers.get("accept", ""):
        return await answer_framework_error(request, error)
    app = running_app(request)
    use_language(pick_language(app.settings.load().locale, request.headers.get("accept-language", "")))
    trouble = Trouble(
        _("There is nothing at this address"), _("It may have been mistyped"), "/chat", _("Go to the chat")
    )
    page = await anyio.to_thread.run_sync(build_error_page, app, _("Page not found"), trouble)
    return PageResponse(render(page), status_code=404)
