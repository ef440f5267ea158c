"""The web application: guards, error answers, and every router. Nothing is decided here."""

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from skales.app.wiring import App
from skales.core.errors import SkalesError
from skales.server.access import DevKitToken, KnownCaller
from skales.server.api import approvals, devkit, devkit_chat, devkit_memory, local
from skales.server.errors import (
    HttpError,
    answer_fault,
    answer_http_error,
    answer_invalid_body,
    answer_skales_error,
)
from skales.server.guards import LocalGuard
from skales.server.ui import chat, settings, tools
from skales.server.ui.missing import answer_missing


def create_server(app: App) -> FastAPI:
    """The ASGI application for a running app."""
    server = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False)
    server.state.skales = app
    server.add_middleware(LocalGuard)
    server.add_exception_handler(HttpError, answer_http_error)
    server.add_exception_handler(SkalesError, answer_skales_error)
    server.add_exception_handler(HTTPException, answer_missing)
    server.add_exception_handler(RequestValidationError, answer_invalid_body)
    server.add_exception_handler(Exception, answer_fault)
    server.include_router(devkit.open_router)
    server.include_router(devkit_chat.router)
    server.include_router(devkit.router, prefix="/api/cli", dependencies=[DevKitToken])
    server.include_router(devkit_memory.router, prefix="/api/cli", dependencies=[DevKitToken])
    server.include_router(local.open_router)
    server.include_router(approvals.router)
    server.include_router(devkit.router, prefix="/api", dependencies=[KnownCaller])
    server.include_router(local.router)
    for screen in (chat, tools, settings):
        server.include_router(screen.router)
    return server
