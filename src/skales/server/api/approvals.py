"""Waiting questions over HTTP: list them, answer one. The page, the DevKit token and the local token may."""

from typing import Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict

from skales.app.grants import report_approval
from skales.core.approval import Decision, Lasting, Scope
from skales.core.ids import ApprovalId
from skales.data.approvals import approval_json
from skales.server.access import AppDep, KnownCaller
from skales.server.bodies import Answer

router = APIRouter(prefix="/api/approvals", dependencies=[KnownCaller])


class Reply(BaseModel):
    """A person's reply. `args` replaces the proposed arguments; `instead` is told to the model.

    `lasts` is how long a wider yes counts, `surface` where the person gives it.
    """

    model_config = ConfigDict(extra="forbid")

    decision: Literal["approve", "reject"]
    scope: Scope = Scope.ONCE
    lasts: Lasting = Lasting.REVOKED
    surface: Literal["page", "cli", "http"] = "http"
    args: dict[str, Any] | None = None
    instead: str = ""


@router.get("")
async def list_approvals(app: AppDep) -> Answer:
    """Every question that still waits, oldest first."""
    return {"approvals": [approval_json(approval) for approval in await app.approvals.pending()]}


@router.get("/{approval_id}")
async def read_approval(app: AppDep, approval_id: str) -> Answer:
    """One question, waiting or answered, with the rules that led to it."""
    return await report_approval(app, approval_id)


@router.post("/{approval_id}")
async def answer_approval(app: AppDep, approval_id: str, reply: Reply) -> Answer:
    """Answer once; a late or second answer changes nothing and gets 404."""
    decision = Decision(
        approved=reply.decision == "approve",
        scope=reply.scope,
        lasts=reply.lasts,
        args=reply.args,
        instead=reply.instead,
        by=reply.surface,
    )
    approval = await app.approvals.decide(ApprovalId(approval_id), decision)
    return {"success": True, "id": approval.id, "decision": reply.decision}
