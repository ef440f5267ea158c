"""What the app says of itself as JSON: the same words for the DevKit, the page and the terminal.

Spec: http-api.md 2, 3, 8, 17. Shapes and names are the contract of the original's own client.
"""

from skales import __version__
from skales.app.app import App
from skales.core.ids import SessionId
from skales.core.json import JsonObject
from skales.core.tool import ToolResult
from skales.data.index import SessionSummary
from skales.data.memories import memory_json
from skales.data.session_codec import message_to_disk

# Which release of the contract the DevKit routes follow; clients compare it.
CONTRACT_VERSION = "12.8.4"


def report_tools(app: App) -> JsonObject:
    """Every tool; one that is gated off is listed as not enabled."""
    return {
        "tools": [
            {"name": spec.name, "description": spec.description, "enabled": app.toolbox.is_enabled(spec.name)}
            for spec in app.toolbox.specs()
        ]
    }


def report_model(app: App) -> JsonObject:
    """The provider and model new conversations use."""
    active = app.models.describe_active()
    return {
        "provider": active.provider_id,
        "model": active.model or "unknown",
        "baseUrl": active.base_url,
        "enabled": active.enabled,
    }


def report_sessions(app: App, limit: int = 0) -> JsonObject:
    """The conversations, newest first; all of them without a limit."""
    found = [_summary(summary) for summary in app.sessions.list(limit=limit or app.sessions.count())]
    return {"sessions": found, "count": len(found)}


def report_hits(app: App, query: str, limit: int) -> JsonObject:
    """The conversations that match best, with the place in each; `index` is null where it is the title."""
    hits = app.sessions.search(query, limit)
    return {
        "hits": [
            {"id": hit.session_id, "title": hit.title, "index": hit.message_index, "snippet": hit.snippet}
            for hit in hits
        ]
    }


def report_session(app: App, session_id: SessionId) -> JsonObject:
    """One conversation with its messages in the spelling of its file. Raises NotFoundError."""
    session = app.sessions.load(session_id)
    provider, model = session.answered_by
    return {
        "session": {
            "id": session.id,
            "title": session.title,
            "provider": provider,
            "model": model,
            "messages": [message_to_disk(message) for message in session.messages],
            "createdAt": session.created_ms,
            "updatedAt": session.updated_ms,
            **({"agentId": session.agent_id} if session.agent_id else {}),
            **({"sources": list(sources)} if (sources := app.marks.read(session).sources) else {}),
        }
    }


def report_memories(app: App) -> JsonObject:
    """Every memory, newest first."""
    memories = [memory_json(memory) for memory in app.memories.list()]
    return {"memories": memories, "count": len(memories)}


def report_result(result: ToolResult) -> JsonObject:
    """What came of a tool that a person ran. `text` is what a model would get."""
    return {
        "ok": not result.is_error,
        "summary": result.summary,
        "data": result.data,
        "files": list(result.files),
        "error": result.text if result.is_error else None,
        "text": result.text,
        "isError": result.is_error,
    }


def report_status(app: App) -> JsonObject:
    """What the `status` command shows."""
    active = app.models.describe_active()
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
        "timestamp": app.clock.now_ms(),
        "implementation": f"skales-python {__version__}",
    }


def _summary(summary: SessionSummary) -> JsonObject:
    return {
        "id": summary.id,
        "title": summary.title,
        "provider": summary.provider,
        "model": summary.model,
        "messageCount": summary.message_count,
        "createdAt": summary.created_ms,
        "updatedAt": summary.updated_ms,
        **({"agentId": summary.agent_id} if summary.agent_id else {}),
    }
