"""The DevKit's reading and switching routes: tools, model, sessions, status, and its two open ones.

Spec: http-api.md 2, 3, 8, 9, 10, 17. Errors and shapes are the contract of the original's own client.
"""

from typing import Annotated

from fastapi import APIRouter, Body

from skales.core.clock import to_datetime
from skales.core.ids import SessionId
from skales.core.json import JsonObject
from skales.data.session_codec import message_to_disk
from skales.server.access import AppDep
from skales.server.errors import HttpError

# Mounted twice: under /api/cli for DevKit clients, under /api for the page and this machine's own terminal.
router = APIRouter()
open_router = APIRouter(prefix="/api/cli")

# Read by clients that check which contract they talk to. Spec: http-api.md 8.
CONTRACT_VERSION = "12.8.4"


@router.get("/tools")
def list_tools(app: AppDep) -> JsonObject:
    """Every tool; one that is gated off is listed as not enabled."""
    return {
        "tools": [
            {"name": spec.name, "description": spec.description, "enabled": app.toolbox.is_enabled(spec.name)}
            for spec in app.toolbox.specs()
        ]
    }


@router.get("/model")
def read_model(app: AppDep) -> JsonObject:
    """The provider and model new conversations use."""
    active = app.models.describe_active()
    return {"provider": active.provider_id, "model": active.model or "unknown", "baseUrl": active.base_url, "enabled": active.enabled}


@router.put("/model")
def switch_model(app: AppDep, body: Annotated[JsonObject, Body()]) -> JsonObject:
    """Make a configured provider the active one; an entry is never created here."""
    provider, model = body.get("provider"), body.get("model")
    if not (isinstance(provider, str) and provider and isinstance(model, str) and model):
        raise HttpError(400, "Both provider and model are required")
    if not app.models.switch(provider, model):
        raise HttpError(400, f"Unknown provider: {provider}")
    return {"success": True, "provider": provider, "model": model}


@router.get("/sessions")
def read_sessions(app: AppDep, id: str | None = None) -> JsonObject:  # noqa: A002 - the contract's name
    """All conversations, newest first, or the one named by `id`."""
    if id is not None:
        return {"session": _session_json(app, SessionId(id))}
    found = [
        {
            "id": summary.id,
            "title": summary.title,
            "provider": summary.provider,
            "model": summary.model,
            "messageCount": summary.message_count,
            "createdAt": summary.created_ms,
            "updatedAt": summary.updated_ms,
            **({"agentId": summary.agent_id} if summary.agent_id else {}),
        }
        for summary in app.sessions.list(limit=app.sessions.count())
    ]
    return {"sessions": found, "count": len(found)}


@router.delete("/sessions")
def delete_session(app: AppDep, id: str = "") -> JsonObject:  # noqa: A002 - the contract's name
    """Remove one conversation."""
    if not id:
        raise HttpError(400, "id parameter is required")
    app.sessions.delete(SessionId(id))
    return {"success": True, "deleted": id}


@router.get("/status")
def read_status(app: AppDep) -> JsonObject:
    """What the `status` command of the client shows."""
    active = app.models.describe_active()
    now_ms = app.clock.now_ms()
    return {
        "app": "Skales",
        "version": CONTRACT_VERSION,
        "author": "The Skales Python project",
        "homepage": "",
        "provider": active.provider_id,
        "model": active.model or "unknown",
        "memory_count": app.memories.count(),
        "session_count": app.sessions.count(),
        "tools_count": app.capabilities.count(),
        "uptime_ms": app.uptime_ms(),
        "devkit_version": app.devkit.read().version,
        "timestamp": to_datetime(now_ms).isoformat(),
    }


@open_router.get("/devkit-status")
def read_devkit_status(app: AppDep) -> JsonObject:
    """Whether the DevKit is on; asked without a token."""
    config = app.devkit.read()
    return {"enabled": config.enabled, "version": config.version if config.enabled else None}


@open_router.get("/devkit-docs")
def read_devkit_docs(app: AppDep) -> JsonObject:
    """The DevKit's own page text."""
    if not app.devkit.read().enabled:
        raise HttpError(403, "DevKit not enabled")
    return {"content": app.devkit.docs()}


def _session_json(app: AppDep, session_id: SessionId) -> JsonObject:
    session = app.sessions.load(session_id)
    return {
        "id": session.id,
        "title": session.title,
        "provider": session.provider,
        "model": session.model,
        "messages": [message_to_disk(message) for message in session.messages],
        "createdAt": session.created_ms,
        "updatedAt": session.updated_ms,
        **({"agentId": session.agent_id} if session.agent_id else {}),
    }
