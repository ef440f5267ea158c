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

_TROUBLE = Trouble("There is nothing at this address", "It may have been mistyped", "/chat", "Go to the chat")


async def answer_missing(request: Request, error: Exception) -> Response:
    """The framework's own refusals, among them 404."""
    assert isinstance(error, HTTPException)
    if error.status_code != 404 or "text/html" not in request.headers.get("accept", ""):
        return await answer_framework_error(request, error)
    page = await anyio.to_thread.run_sync(build_error_page, running_app(request), "Page not found", _TROUBLE)
    return PageResponse(render(page), status_code=404)
