"""Scheduled jobs for DevKit clients and our own surfaces. Spec: http-api.md 5 to 7.

An unknown job is no error when it is to be deleted; deleting by path is a 405, on which clients fall back.
"""

import anyio.to_thread
from fastapi import APIRouter

from skales.app.work_reports import add_job, delete_job, report_jobs, run_job
from skales.data.cron import job_json
from skales.server.access import AppDep
from skales.server.bodies import Answer, JsonBody
from skales.server.errors import HttpError

router = APIRouter()


@router.get("/cron")
def list_jobs(app: AppDep) -> Answer:
    """Every job with its next run."""
    return report_jobs(app)


@router.post("/cron")
def create_job(app: AppDep, body: JsonBody) -> Answer:
    """Make a job; an identical one is answered instead of a copy."""
    return {"success": True, "job": job_json(add_job(app, body))}


@router.delete("/cron")
def remove_job(app: AppDep, id: str = "") -> Answer:
    """Remove a job."""
    if not id:
        raise HttpError(400, "id parameter is required")
    return {"success": delete_job(app, id)}


@router.patch("/cron/{id}")
def switch_job(app: AppDep, id: str, body: JsonBody) -> Answer:
    """Turn a job on or off."""
    enabled = body.get("enabled")
    if not isinstance(enabled, bool):
        raise HttpError(400, "enabled must be true or false")
    return {"id": app.cron.switch(id, enabled=enabled).id, "enabled": enabled}


@router.post("/cron/{id}/run")
async def start_job(app: AppDep, id: str) -> Answer:
    """Run a job now; it does not count as the scheduled run."""
    await anyio.to_thread.run_sync(app.cron.get, id)
    return await run_job(app, id)
