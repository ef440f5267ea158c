"""Errors as answers: JSON `{"error": …}` with the right status, and a page for people who were reading one."""

import logging

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from skales.app.app import App
from skales.core.errors import ConflictError, InputError, NotFoundError, ProviderError, SkalesError
from skales.server.told import told

_log = logging.getLogger(__name__)


class HttpError(Exception):
    """An answer with a status and words; for what has no error of the core."""

    def __init__(self, status: int, error: str, *, hint: str = "") -> None:
        super().__init__(error)
        self.status = status
        self.error = error
        self.hint = hint


def status_of(error: SkalesError) -> int:
    """The HTTP status that says the same as the error's class."""
    match error:
        case NotFoundError():
            return 404
        case ConflictError():
            return 409
        case InputError():
            return 400
        case ProviderError():
            return 502
        case _:
            return 500


async def answer_http_error(request: Request, error: Exception) -> Response:
    """Our own answers."""
    assert isinstance(error, HttpError)
    return _answer(error.status, without_secrets(request, error.error), without_secrets(request, error.hint))


async def answer_skales_error(request: Request, error: Exception) -> Response:
    """Errors that rooms raise."""
    assert isinstance(error, SkalesError)
    message, hint = (without_secrets(request, told(words)) for words in (error.message, error.hint))
    return _answer(status_of(error), message, hint)


async def answer_framework_error(_request: Request, error: Exception) -> Response:
    """No such address, wrong method."""
    assert isinstance(error, HTTPException)
    words = {404: "Not found", 405: "Method not allowed"}
    answer = _answer(error.status_code, words.get(error.status_code, str(error.detail)), "")
    for name, value in (error.headers or {}).items():
        answer.headers[name] = value
    return answer


async def answer_invalid_body(_request: Request, error: Exception) -> Response:
    """A body or query that does not fit: which field, and why."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"] if part not in ("body", "query", "path"))
    return _answer(400, f"{place}: {first['msg']}" if place else str(first["msg"]), "")


async def answer_fault(request: Request, error: Exception) -> Response:
    """A fault of ours. Spec: http-api.md, "unhandled error 500 passes the message through"."""
    _log.exception("%s %s failed", request.method, request.url.path, exc_info=error)
    words = without_secrets(request, f"{type(error).__name__}: {error}")
    return _answer(500, words, "See the log for details")


def without_secrets(request: Request, words: str) -> str:
    """The words of an error, which may quote what somebody sent or an endpoint said."""
    app: App = request.app.state.skales
    return app.veil.text(words)


def _answer(status: int, error: str, hint: str) -> JSONResponse:
    return JSONResponse({"error": error, **({"hint": hint} if hint else {})}, status_code=status)
