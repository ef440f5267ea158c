"""Lasting yeses over HTTP, and what would happen with a call. The page, the DevKit token and the local token may."""

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict

from skales.app.grants import explain_call, explanation_json, report_grants, restore_grant, revoke_grant
from skales.server.access import AppDep, KnownCaller
from skales.server.bodies import Answer

router = APIRouter(prefix="/api", dependencies=[KnownCaller])


class Wondered(BaseModel):
    """A call nobody made yet."""

    model_config = ConfigDict(extra="forbid")

    tool: str
    args: dict[str, Any] = {}
    session: str = ""


@router.get("/grants")
def list_grants(app: AppDep) -> Answer:
    """Every grant that counts, newest first."""
    return report_grants(app)


@router.delete("/grants/{grant_id}")
def revoke(app: AppDep, grant_id: str) -> Answer:
    """Take one back; 404 when there is none."""
    return revoke_grant(app, grant_id)


@router.post("/grants/{grant_id}/restore")
def restore(app: AppDep, grant_id: str) -> Answer:
    """Undo taking it back."""
    return restore_grant(app, grant_id)


@router.post("/why")
def explain(app: AppDep, wondered: Wondered) -> Answer:
    """What would happen with a call, rule by rule. Runs nothing."""
    return explanation_json(explain_call(app, wondered.tool, wondered.args, wondered.session))
