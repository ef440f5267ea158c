"""Grants and explanations as JSON for the page, the terminal and HTTP: what was allowed, and why a call asks.

Spec: issue 6, point 1.
"""

from skales.agent.explain import Explanation
from skales.agent.origin import CallOrigin
from skales.agent.reach_words import describe_grant
from skales.app.app import App
from skales.core.approval import Answered
from skales.core.errors import SkalesError
from skales.core.events import TurnEvent
from skales.core.ids import SessionId
from skales.core.json import JsonObject
from skales.core.tool import ToolCall
from skales.data.approvals import answered_json, approval_json, step_json
from skales.data.grant_uses import GrantUse
from skales.data.grants import Grant, reach_json


def report_grants(app: App) -> JsonObject:
    """Every grant that counts, newest first, in words and with its uses. Reads the disk."""
    uses = app.grant_uses.all()
    found = sorted(app.grants.list(), key=lambda grant: grant.created_ms, reverse=True)
    return {"grants": [grant_json(app, grant, uses.get(grant.id, GrantUse())) for grant in found]}


def grant_json(app: App, grant: Grant, use: GrantUse) -> JsonObject:
    """One grant. `session` is empty for everywhere, `expiresAt` 0 for until revoked."""
    return {
        "id": grant.id,
        "tool": grant.tool,
        "covers": describe_grant(grant),
        "reach": reach_json(grant.reach),
        "about": grant.about,
        "session": grant.session_id,
        "givenIn": grant.given_in,
        "givenInTitle": _title(app, grant.given_in or grant.session_id),
        "surface": grant.surface,
        "createdAt": grant.created_ms,
        "expiresAt": grant.expires_ms,
        "uses": use.count,
        "lastUsedAt": use.last_ms,
    }


def revoke_grant(app: App, grant_id: str) -> JsonObject:
    """Take a grant back. Raises NotFoundError."""
    grant = app.grants.revoke(grant_id)
    return {"success": True, "id": grant_id, "covers": describe_grant(grant) if grant else ""}


def restore_grant(app: App, grant_id: str) -> JsonObject:
    """Undo taking it back. Raises NotFoundError."""
    return {"success": True, "id": grant_id, "covers": describe_grant(app.grants.restore(grant_id))}


def explain_call(app: App, tool: str, arguments: JsonObject, session_id: str = "") -> Explanation:
    """What would happen if a model made this call now. Runs nothing. Reads the disk."""
    call = ToolCall("call_explained", tool, arguments)
    return app.gate.explain(call, CallOrigin(session_id=SessionId(session_id), surface="explain", emit=_ignore))


def explanation_json(explanation: Explanation) -> JsonObject:
    """An explanation as HTTP and the terminal get it."""
    return {
        "tool": explanation.tool,
        "action": explanation.action,
        "outcome": explanation.outcome,
        "covers": explanation.covers,
        "steps": [step_json(step) for step in explanation.steps],
    }


async def report_approval(app: App, approval_id: str) -> JsonObject:
    """A question that waits or was answered, with the rules that led to it. Raises NotFoundError."""
    found = await app.approvals.look_up(approval_id)
    if isinstance(found, Answered):
        return answered_json(found)
    return {**approval_json(found), "outcome": "pending"}


def _title(app: App, session_id: str) -> str:
    if not session_id:
        return ""
    try:
        return app.sessions.load(SessionId(session_id)).title
    except SkalesError:
        return ""  # deleted since; the grant tells the rest


def _ignore(_event: TurnEvent) -> None:
    """An explanation makes no events."""
