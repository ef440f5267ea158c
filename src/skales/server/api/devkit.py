"""The DevKit's reading and switching routes: tools, model, sessions, status, and its two open ones.

Spec: http-api.md 2, 3, 8, 9, 10, 17. Mounted twice: under /api/cli for DevKit clients, under /api for the page and this
machine's own terminal.
"""

from fastapi import APIRouter

from skales.app.reports import report_model, report_session, report_sessions, report_status, report_tools
from skales.core.ids import SessionId
from skales.server.access import AppDep
from skales.server.bodies import Answer, JsonBody
from skales.server.errors import HttpError

router = APIRouter()
open_router = APIRouter(prefix="/api/cli")


@router.get("/tools")
def list_tools(app: AppDep) -> Answer:
    """Every tool; one that is gated off is listed as not enabled."""
    return report_tools(app)


@router.get("/model")
def read_model(app: AppDep) -> Answer:
    """The provider and model new conversations use."""
    return report_model(app)


@router.put("/model")
def switch_model(app: AppDep, body: JsonBody) -> Answer:
    """Make a configured provider the active one; an entry is never created here."""
    provider, model = body.get("provider"), body.get("model")
    if not (isinstance(provider, str) and provider and isinstance(model, str) and model):
        raise HttpError(400, "Both provider and model are required")
    if not app.models.switch(provider, model):
        raise HttpError(400, f"Unknown provider: {provider}")
    return {"success": True, "provider": provider, "model": model}


@router.get("/sessions")
def read_sessions(app: AppDep, id: str | None = None) -> Answer:
    """All conversations, newest first, or the one named by `id`."""
    return report_sessions(app) if id is None else report_session(app, SessionId(id))


@router.delete("/sessions")
def delete_session(app: AppDep, id: str = "") -> Answer:
    """Remove one conversation."""
    if not id:
        raise HttpError(400, "id parameter is required")
    app.sessions.delete(SessionId(id))
    return {"success": True, "deleted": id}


@router.get("/status")
def read_status(app: AppDep) -> Answer:
    """What the `status` command of the client shows."""
    return report_status(app)


@open_router.get("/devkit-status")
def read_devkit_status(app: AppDep) -> Answer:
    """Whether the DevKit is on; asked without a token."""
    config = app.devkit.read()
    return {"enabled": config.enabled, "version": config.version if config.enabled else None}


@open_router.get("/devkit-docs")
def read_devkit_docs(app: AppDep) -> Answer:
    """The DevKit's own page text."""
    if not app.devkit.read().enabled:
        raise HttpError(403, "DevKit not enabled")
    return {"content": app.devkit.docs()}
