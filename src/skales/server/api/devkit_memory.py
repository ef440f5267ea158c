"""Memories for DevKit clients: list, add, delete. Spec: http-api.md 4."""

from fastapi import APIRouter

from skales.app.reports import report_memories
from skales.core.json import as_list
from skales.data.memories import memory_json
from skales.server.access import AppDep
from skales.server.bodies import Answer, JsonBody
from skales.server.errors import HttpError

router = APIRouter()

_SOURCE = "devkit-cli"
_DEFAULT_CATEGORY = "fact"


@router.get("/memory")
def list_memories(app: AppDep) -> Answer:
    """Every memory, newest first."""
    return report_memories(app)


@router.post("/memory")
def add_memory(app: AppDep, body: JsonBody) -> Answer:
    """Keep one memory; one that says the same already is answered instead of a copy."""
    content, category = body.get("content"), body.get("category")
    if not isinstance(content, str) or not content.strip():
        raise HttpError(400, "content is required")
    memory = app.memories.add(
        content,
        category if isinstance(category, str) and category else _DEFAULT_CATEGORY,
        [word for word in as_list(body.get("keywords")) if isinstance(word, str)],
        source=_SOURCE,
    )
    return {"success": True, "memory": memory_json(memory)}


@router.delete("/memory")
def delete_memory(app: AppDep, id: str = "") -> Answer:
    """Forget one memory."""
    if not id:
        raise HttpError(400, "id parameter is required")
    app.memories.delete(id)
    return {"success": True, "deleted": id}
