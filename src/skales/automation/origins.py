"""Which conversations were started by the program itself, for what, and what they may start in turn.

A key of the session's file says it, and a folder of the history keeps them together. Spec: orchestrator.md,
"Sub-agents": a delegated task cannot delegate onward.
"""

from collections.abc import Mapping

from msgspec import Struct

from skales.agent.marks import inherited_marks
from skales.agent.origin import Marks
from skales.core.errors import NotFoundError, SkalesError, ToolError
from skales.core.ids import SessionId
from skales.core.json import JsonValue, as_text
from skales.data.sessions import SessionStore

TASK, JOB, PARENT = "taskId", "cronJobId", "parentSessionId"
TASKS_FOLDER, JOBS_FOLDER, PARTS_FOLDER = "Tasks", "Schedule", "Subtasks"


class Beginning(Struct, frozen=True):
    """How a conversation of the program's own begins. `key` and `of` name what it belongs to."""

    title: str
    folder: str
    key: str
    of: str
    agent: str = ""


def create_session(
    sessions: SessionStore, beginning: Beginning, like: SessionId | None = None, *, marks: Marks | None = None
) -> SessionId:
    """A new conversation, with the model of another one when that is named. Raises StorageError.

    `marks` are those of whoever begins it: what they had read may have worded the work.
    """
    provider, model = _choice_of(sessions, like) if like else ("", "")
    extra: Mapping[str, JsonValue] = {beginning.key: beginning.of, **inherited_marks(marks or Marks())}
    made = sessions.create(beginning.title, provider, model, beginning.agent, folder=beginning.folder, extra=extra)
    return made.id


def parent_of(sessions: SessionStore, session_id: SessionId) -> SessionId:
    """The conversation that this one is a part of; empty when it stands alone or is gone. Reads the disk."""
    return SessionId(_mark(sessions, session_id, PARENT))


def refuse_delegation(sessions: SessionStore, session_id: SessionId) -> None:
    """Raises ToolError when the conversation is itself a part of another. Reads the disk."""
    if parent_of(sessions, session_id):
        raise ToolError(
            "A subtask cannot hand work on", hint="Do it yourself, or say in the answer what is left", code="depth"
        )


def refuse_filing(sessions: SessionStore, session_id: SessionId) -> None:
    """Raises ToolError when the conversation runs a task or a part: work must not multiply. Reads the disk."""
    refuse_delegation(sessions, session_id)
    if _mark(sessions, session_id, TASK):
        raise ToolError(
            "A task cannot file tasks", hint="Do it yourself, or say in the answer what is left", code="depth"
        )


def _mark(sessions: SessionStore, session_id: SessionId, key: str) -> str:
    if not session_id:
        return ""
    try:
        return as_text(sessions.load(session_id).extra.get(key))
    except NotFoundError:
        return ""


def _choice_of(sessions: SessionStore, like: SessionId) -> tuple[str, str]:
    try:
        found = sessions.load(like)
    except SkalesError:
        return "", ""
    return found.provider, found.model
