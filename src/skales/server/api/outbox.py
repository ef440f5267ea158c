"""The outbox over HTTP: list it, say what became of a sending. The page, the DevKit token and the local token may."""

import anyio.to_thread
from fastapi import APIRouter

from skales.app.outbox import OutboxAnswer, answer_outbox, report_answer, report_outbox
from skales.server.access import AppDep, KnownCaller
from skales.server.bodies import Answer

router = APIRouter(prefix="/api/outbox", dependencies=[KnownCaller])


@router.get("")
async def list_outbox(app: AppDep) -> Answer:
    """What waits for a person's word, and the last others."""
    return await anyio.to_thread.run_sync(report_outbox, app)


@router.post("/{intent_id}/{answer}")
async def answer_sending(app: AppDep, intent_id: str, answer: OutboxAnswer) -> Answer:
    """Answer once: `sent`, `again` or `drop`; a late or second answer changes nothing and gets 409."""
    return report_answer(*await answer_outbox(app, intent_id, answer, "http"))
