"""tasks/: background tasks, one file each. Running them is not its business.

Spec: data-directory.md, "Other shapes"; scheduler.md, "Task states".
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TypedDict, Unpack

from skales.core.clock import Clock
from skales.core.errors import ConflictError, InputError, NotFoundError
from skales.core.ids import IdSource, is_safe_id
from skales.core.json import JsonObject, JsonValue, as_list, as_text
from skales.data.document import create_object, read_stamped, update_object
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.records import Folder, Source, moment_ms, remove_file


class TaskStatus(StrEnum):
    """How far a task is."""

    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class TaskPriority(StrEnum):
    """What goes first."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


_OVER = (TaskStatus.COMPLETED, TaskStatus.FAILED, TaskStatus.CANCELLED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One background task. `status` and `priority` may hold words of other programs; compare with the enums.

    `raw` is the whole object of the file, keys that nobody here knows included.
    """

    id: str
    title: str
    description: str
    status: str
    priority: str
    agent: str = ""
    created_ms: int = 0
    started_ms: int = 0
    completed_ms: int = 0
    result: str = ""
    error: str = ""
    session_id: str = ""
    raw: JsonObject = field(default_factory=dict[str, JsonValue], compare=False, repr=False)

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to do."""
        return self.status in _OVER

    @property
    def duration_ms(self) -> int:
        """How long it ran, 0 while it is not over or never ran."""
        return max(0, self.completed_ms - self.started_ms) if self.is_over and self.started_ms else 0


class TaskChanges(TypedDict, total=False):
    """What may be changed; the times follow from the status."""

    title: str
    description: str
    status: str
    priority: str
    agent: str
    result: str
    error: str
    session_id: str


# What belongs to one run of a task and goes when it starts afresh.
_OF_A_RUN = ("startedAt", "completedAt", "durationMs", "result", "error", "sessionId")
_KEYS = {"session_id": "sessionId"}
_MOST_LOGS = 200


class TaskStore:
    """The tasks of one data directory, read from disk on every call."""

    def __init__(self, directory: DataDirectory, quarantine: Quarantine, clock: Clock, ids: IdSource) -> None:
        self._folder = directory.tasks
        self._quarantine = quarantine
        self._clock = clock
        self._ids = ids
        self._files = Folder(directory.tasks, quarantine, _parse, quarantine.report)
        # Called after each change, in the thread that made it.
        self.changed: Callable[[], None] = _ignore

    def add(self, title: str, description: str = "", priority: str = TaskPriority.MEDIUM, *, agent: str = "") -> Task:
        """Make a pending task. Raises InputError for an empty title or an unknown priority."""
        now_ms = self._clock.now_ms()
        task_id = f"task_{now_ms}_{self._ids.token(8)}"
        value: dict[str, JsonValue] = {
            "id": task_id,
            "title": _titled(title),
            "description": description,
            "status": TaskStatus.PENDING.value,
            "priority": _one_of(TaskPriority, priority, "priority"),
            **({"agent": agent} if agent else {}),
            "createdAt": now_ms,
            "logs": [],
        }
        path = self._file(task_id)
        task = _parse(Source(path, value, create_object(path, value)))
        self.changed()
        return task

    def list(self, status: str = "") -> Sequence[Task]:
        """All tasks, or those of one status, newest first. Raises InputError for an unknown status."""
        wanted = _one_of(TaskStatus, status, "status") if status else ""
        found = [task for task in self._files.read() if not wanted or task.status == wanted]
        return sorted(found, key=lambda task: (-task.created_ms, task.id))

    def get(self, task_id: str) -> Task:
        """One task. Raises NotFoundError, or StorageError when its file cannot be read."""
        path = self._known_file(task_id)
        try:
            value, stamp = read_stamped(path, self._quarantine)
            return _parse(Source(path, value, stamp))
        except (NotFoundError, ValueError) as error:
            raise _unknown(task_id) from error

    def update(self, task_id: str, **changes: Unpack[TaskChanges]) -> Task:
        """Change what is named and stamp the times a new status brings. Raises NotFoundError or InputError."""
        wanted = _checked(changes)

        def change(value: dict[str, JsonValue]) -> None:
            value.update(wanted)
            now_ms = self._clock.now_ms()
            if wanted.get("status") == TaskStatus.RUNNING:
                value["startedAt"] = now_ms
            elif wanted.get("status") in _OVER:
                value["completedAt"] = now_ms
                if started_ms := moment_ms(value.get("startedAt")):
                    value["durationMs"] = max(0, now_ms - started_ms)

        return self._change(task_id, change)

    def note(self, task_id: str, message: str) -> Task:
        """Add a line to the task's log. Raises NotFoundError."""

        def change(value: dict[str, JsonValue]) -> None:
            line: JsonObject = {"timestamp": self._clock.now_ms(), "message": message}
            value["logs"] = [*as_list(value.get("logs")), line][-_MOST_LOGS:]

        return self._change(task_id, change)

    def start_over(self, task_id: str) -> Task:
        """Let a task that is over wait again, without what its last run left. Raises NotFoundError, ConflictError."""

        def change(value: dict[str, JsonValue]) -> None:
            if value.get("status") not in _OVER:
                raise ConflictError("The task is not over", hint="Cancel it first")
            for key in _OF_A_RUN:
                value.pop(key, None)
            value["status"] = TaskStatus.PENDING.value

        return self._change(task_id, change)

    def delete(self, task_id: str) -> None:
        """Remove a task's record. Raises NotFoundError."""
        if not remove_file(self._known_file(task_id)):
            raise _unknown(task_id)
        self.changed()

    def _change(self, task_id: str, change: Callable[[dict[str, JsonValue]], None]) -> Task:
        path = self._known_file(task_id)
        try:
            update_object(path, self._quarantine, change, missing=None)
        except NotFoundError as error:
            raise _unknown(task_id) from error
        task = self.get(task_id)
        self.changed()
        return task

    def _known_file(self, task_id: str) -> Path:
        if not is_safe_id(task_id):
            raise _unknown(task_id)
        return self._file(task_id)

    def _file(self, task_id: str) -> Path:
        return self._folder / f"{task_id}.json"


def task_json(task: Task) -> JsonObject:
    """A task as it stands in its file, with the id that finds it again."""
    return {**task.raw, "id": task.id}


def _parse(source: Source) -> Task:
    """Raises ValueError with the reason. The file's name is the id."""
    value = source.value
    match value:
        case {"title": str(title), "status": str(status)}:
            return Task(
                id=source.path.stem,
                title=title,
                description=as_text(value.get("description")),
                status=status,
                priority=as_text(value.get("priority")) or TaskPriority.MEDIUM.value,
                agent=as_text(value.get("agent")),
                created_ms=moment_ms(value.get("createdAt")),
                started_ms=moment_ms(value.get("startedAt")),
                completed_ms=moment_ms(value.get("completedAt")),
                result=as_text(value.get("result")),
                error=as_text(value.get("error")),
                session_id=as_text(value.get("sessionId")),
                raw=value,
            )
        case _:
            raise ValueError("it is no task: title and status are missing")


def _checked(changes: TaskChanges) -> dict[str, JsonValue]:
    wanted: dict[str, JsonValue] = {_KEYS.get(name, name): str(value) for name, value in changes.items()}
    if "title" in changes:
        wanted["title"] = _titled(changes["title"])
    if "status" in changes:
        wanted["status"] = _one_of(TaskStatus, changes["status"], "status")
    if "priority" in changes:
        wanted["priority"] = _one_of(TaskPriority, changes["priority"], "priority")
    return wanted


def _titled(title: str) -> str:
    words = " ".join(title.split())
    if not words:
        raise InputError("A task needs a title", hint="Say in a few words what is to be done")
    return words


def _one_of(words: type[TaskStatus] | type[TaskPriority], word: str, name: str) -> str:
    if word not in list(words):
        raise InputError(f"{word!r} is not a {name}", hint=f"Use one of: {', '.join(words)}")
    return str(word)


def _unknown(task_id: str) -> NotFoundError:
    return NotFoundError(f"There is no task {task_id!r}", hint="List the tasks to see their ids")


def _ignore() -> None:
    """Nobody wants to know."""
