"""The web application: guards, error answers, and every route. Nothing is decided here."""

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from skales.app.app import App
from skales.core.errors import SkalesError
from skales.server.errors import HttpError, answer_http_error, answer_invalid_body
from skales.server.guards import LocalGuard
from skales.server.refusals import answer_broken, answer_failed, answer_missing
from skales.server.routes import list_routes


def create_server(app: App) -> FastAPI:
    """The ASGI application for a running app."""
    server = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False)
    server.state.skales = app
    server.add_middleware(LocalGuard)
    server.add_exception_handler(HttpError, answer_http_error)
    server.add_exception_handler(SkalesError, answer_failed)
    server.add_exception_handler(HTTPException, answer_missing)
    server.add_exception_handler(RequestValidationError, answer_invalid_body)
    server.add_exception_handler(Exception, answer_broken)
    server.router.routes.extend(list_routes())
    return server
