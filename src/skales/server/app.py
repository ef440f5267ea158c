"""The web application: guards, error answers, and every router. Nothing is decided here."""

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from skales.app.app import App
from skales.core.errors import SkalesError
from skales.server.access import DevKitToken, KnownCaller
from skales.server.api import (
    addons as addon_routes,
)
from skales.server.api import (
    approvals,
    cost_sums,
    devkit,
    devkit_chat,
    devkit_cron,
    devkit_memory,
    ftp,
    history,
    local,
    work,
)
from skales.server.api import (
    grants as grant_routes,
)
from skales.server.api import (
    outbox as outbox_routes,
)
from skales.server.api import undo as undo_routes
from skales.server.errors import (
    HttpError,
    answer_http_error,
    answer_invalid_body,
)
from skales.server.guards import LocalGuard
from skales.server.joining import join_routers
from skales.server.ui import (
    activity,
    addons,
    bootstrap,
    chat,
    commands,
    compare,
    costs,
    design,
    developer,
    export,
    grants,
    notices,
    outbox,
    preview,
    probe,
    schedule,
    search,
    settings,
    signin,
    tasks,
    tools,
    undo,
)
from skales.server.ui.missing import answer_broken, answer_failed, answer_missing

_SCREENS = (
    activity,
    addons,
    chat,
    bootstrap,
    compare,
    tools,
    settings,
    developer,
    notices,
    outbox,
    commands,
    preview,
    probe,
    signin,
    search,
    export,
    costs,
    tasks,
    schedule,
    grants,
    undo,
)


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
    server.include_router(devkit.router, prefix="/api/cli", dependencies=[DevKitToken])
    server.include_router(devkit_memory.router, prefix="/api/cli", dependencies=[DevKitToken])
    server.include_router(devkit_cron.router, prefix="/api/cli", dependencies=[DevKitToken])
    server.include_router(devkit.router, prefix="/api", dependencies=[KnownCaller])
    server.include_router(devkit_cron.router, prefix="/api", dependencies=[KnownCaller])
    join_routers(
        server.router,
        devkit.open_router,
        devkit_chat.router,
        local.open_router,
        approvals.router,
        local.router,
        history.router,
        cost_sums.router,
        addon_routes.router,
        ftp.router,
        outbox_routes.router,
        grant_routes.router,
        work.router,
        undo_routes.router,
        *(screen.router for screen in _SCREENS),
    )
    if design.is_development():
        join_routers(server.router, design.router)
    return server
