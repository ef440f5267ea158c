"""Waiting questions over HTTP: list them, answer one. The page, the DevKit token and the local token may."""

from typing import Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict

from skales.core.approval import Decision, Scope
from skales.core.ids import ApprovalId
from skales.data.approvals import approval_json
from skales.server.access import AppDep, KnownCaller
from skales.server.bodies import Answer

router = APIRouter(prefix="/api/approvals", dependencies=[KnownCaller])


class Reply(BaseModel):
    """A person's reply. `args` replaces the proposed arguments; `instead` is told to the model."""

    model_config = ConfigDict(extra="forbid")

    decision: Literal["approve", "reject"]
    scope: Scope = Scope.ONCE
    args: dict[str, Any] | None = None
    instead: str = ""


@router.get("")
async def list_approvals(app: AppDep) -> Answer:
    """Every question that still waits, oldest first."""
    return {"approvals": [approval_json(approval) for approval in await app.approvals.pending()]}


@router.post("/{approval_id}")
async def answer_approval(app: AppDep, approval_id: str, reply: Reply) -> Answer:
    """Answer once; a late or second answer changes nothing and gets 404."""
    decision = Decision(
        approved=reply.decision == "approve", scope=reply.scope, args=reply.args, instead=reply.instead, by="http"
    )
    approval = await app.approvals.decide(ApprovalId(approval_id), decision)
    return {"success": True, "id": approval.id, "decision": reply.decision}
