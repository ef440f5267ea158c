"""workflows.json: saved workflows, at most 60. Running one is not its business.

Spec: agents-workflows-autopilot.md, "Workflows".
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from msgspec import Struct

from skales.core.errors import NotFoundError
from skales.core.json import JsonObject, JsonValue, as_list, as_object, as_text
from skales.data.document import read_object
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.records import texts_of

_MOST = 60
_TRIGGER = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
# What is a command of its own already.
RESERVED = frozenset(
    {
        "goal", "new", "clear", "model", "stop", "export", "theme", "help", "killswitch", "incognito", "search", "rag",
        "projects", "persona", "workflow",
    }
)  # fmt: skip


class Parameter(Struct, frozen=True):
    """A value to fill in; `default` is empty when there is none."""

    name: str
    required: bool
    default: str


class Step(Struct, frozen=True):
    """One thing to do, with the tools that may help."""

    text: str
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Workflow:
    """One workflow, started by `/goal-<trigger>`. `raw` is its object in the file."""

    trigger: str
    name: str
    objective: str
    steps: tuple[Step, ...]
    acceptance: tuple[str, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    raw: JsonObject = field(default_factory=dict[str, JsonValue], compare=False, repr=False)


class WorkflowStore:
    """The workflows of one data directory, read from disk on every call."""

    def __init__(self, directory: DataDirectory, quarantine: Quarantine) -> None:
        self._path = directory.workflows
        self._quarantine = quarantine

    def list(self) -> Sequence[Workflow]:
        """The usable ones, in the order of the file. Raises StorageError when the file cannot be read.

        One without steps or objective, or with a trigger that is no word or taken, is left out.
        """
        try:
            value = read_object(self._path, self._quarantine)
        except NotFoundError:
            return ()
        found = [workflow for entry in as_list(value.get("workflows")) if (workflow := _read(as_object(entry)))]
        first: dict[str, Workflow] = {}
        for workflow in found:
            first.setdefault(workflow.trigger, workflow)
        return tuple(first.values())[:_MOST]

    def find(self, trigger: str) -> Workflow:
        """One by its trigger, `/goal-` before it tolerated. Raises NotFoundError that names those there are."""
        wanted = trigger.strip().lower().removeprefix("/").removeprefix("goal-")
        known = self.list()
        for workflow in known:
            if workflow.trigger == wanted:
                return workflow
        names = ", ".join(workflow.trigger for workflow in known)
        hint = f"Saved here: {names}" if names else "None is saved; workflows.json in the data directory holds them"
        raise NotFoundError(f"There is no workflow {wanted!r}", hint=hint)


def _read(entry: JsonObject) -> Workflow | None:
    trigger = as_text(entry.get("trigger")).strip().lower()
    steps = tuple(step for item in as_list(entry.get("steps")) if (step := _read_step(item)))
    objective = as_text(entry.get("objective")).strip()
    if not _TRIGGER.fullmatch(trigger) or trigger in RESERVED or not (steps or objective):
        return None
    return Workflow(
        trigger=trigger,
        name=as_text(entry.get("name")).strip() or trigger,
        objective=objective,
        steps=steps,
        acceptance=texts_of(entry.get("acceptance")),
        parameters=tuple(
            found for item in as_list(entry.get("parameters")) if (found := _read_parameter(as_object(item)))
        ),
        raw=entry,
    )


def _read_step(item: JsonValue) -> Step | None:
    if isinstance(item, str):
        return Step(item.strip()) if item.strip() else None
    entry = as_object(item)
    text = as_text(entry.get("text")).strip()
    return Step(text, texts_of(entry.get("tools"))) if text else None


def _read_parameter(entry: JsonObject) -> Parameter | None:
    name, default = as_text(entry.get("name")).strip(), entry.get("default")
    if not name:
        return None
    return Parameter(name, entry.get("required") is True, "" if default is None else str(default))
