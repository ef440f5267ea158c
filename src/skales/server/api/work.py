"""Our own routes for tasks, and the list of workflows. Spec: http-api.md, "Internal groups"; scheduler.md."""

import anyio.to_thread
from fastapi import APIRouter

from skales.app.work_reports import report_tasks, report_workflows
from skales.data.tasks import TaskPriority, task_json
from skales.server.access import AppDep, KnownCaller
from skales.server.bodies import Answer, JsonBody

router = APIRouter(prefix="/api", dependencies=[KnownCaller])


@router.get("/workflows")
def list_workflows(app: AppDep) -> Answer:
    """The saved workflows; an unreadable file is an empty list."""
    return report_workflows(app)


@router.get("/tasks")
def list_tasks(app: AppDep, status: str = "") -> Answer:
    """Every task, or those of one state."""
    return report_tasks(app, status)


@router.post("/tasks")
def file_task(app: AppDep, body: JsonBody) -> Answer:
    """File a task, as the person."""
    title, description, priority = body.get("title"), body.get("description"), body.get("priority")
    task = app.tasks.add(
        title if isinstance(title, str) else "",
        description if isinstance(description, str) else "",
        priority if isinstance(priority, str) and priority else TaskPriority.MEDIUM,
    )
    return {"task": task_json(task)}


@router.get("/tasks/{task_id}")
def read_task(app: AppDep, task_id: str) -> Answer:
    """One task."""
    return {"task": task_json(app.tasks.get(task_id))}


@router.delete("/tasks/{task_id}")
async def delete_task(app: AppDep, task_id: str) -> Answer:
    """Remove a task's record; its conversation stays."""
    await app.task_runner.delete(task_id)
    return {"success": True, "deleted": task_id}


@router.post("/tasks/{task_id}/cancel")
async def cancel_task(app: AppDep, task_id: str) -> Answer:
    """Stop a task, or keep a waiting one from running."""
    return {"task": task_json(await app.task_runner.cancel(task_id))}


@router.post("/tasks/{task_id}/retry")
async def retry_task(app: AppDep, task_id: str) -> Answer:
    """Let a task that is over wait again."""
    return {"task": task_json(await anyio.to_thread.run_sync(app.tasks.start_over, task_id))}
