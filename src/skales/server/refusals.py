"""Which refusals become a page, for a person who followed a link; programs get the usual JSON.

The pages' modules are loaded with the first of them.
"""

from fastapi import Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from skales.core.errors import SkalesError
from skales.server.errors import answer_fault, answer_framework_error, answer_skales_error


async def answer_missing(request: Request, error: Exception) -> Response:
    """The framework's own refusals, among them 404."""
    assert isinstance(error, HTTPException)
    if error.status_code != 404 or not _wants_page(request):
        return await answer_framework_error(request, error)
    from skales.server.ui.missing import show_missing

    return await show_missing(request)


async def answer_failed(request: Request, error: Exception) -> Response:
    """An error that a room raised while a page was made."""
    assert isinstance(error, SkalesError)
    if not _wants_page(request):
        return await answer_skales_error(request, error)
    from skales.server.ui.missing import show_failed

    return await show_failed(request, error)


async def answer_broken(request: Request, error: Exception) -> Response:
    """A fault of ours. It is in the log, and the page says so."""
    answer = await answer_fault(request, error)
    if not _wants_page(request):
        return answer
    from skales.server.ui.missing import show_broken

    return await show_broken(request)


def _wants_page(request: Request) -> bool:
    """Only a browser that opens an address; its scripts and htmx want the words alone."""
    headers = request.headers
    return (
        request.method == "GET"
        and "text/html" in headers.get("accept", "")
        and "hx-request" not in headers
        and not request.url.path.startswith(("/ui/", "/api/"))
    )
