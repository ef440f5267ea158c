"""What taking steps back would do, and what stands in its way. Looks at what is there; changes nothing.

Several steps are taken as one: of each thing only what it was first and what it is now counts.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct, structs

from skales.agent.undo_ground import Ground
from skales.core.errors import SkalesError
from skales.data.undo_files import look
from skales.data.undo_shape import ABSENT, Area, Kind, State, StepState, UndoItem, UndoStep

Key = tuple[Area, str]

_SINCE = "it was changed since"
_BETWEEN = "something else changed it in between"
_NOT_KEPT = "what was there before was too large to keep"
_STAYS = "it is too large to keep, so it stays"
_HOLDS = "it holds something that was put there since"
_NO_FOLDER = "the folder it was in is gone"


class Change(Struct, frozen=True):
    """One thing: what it should be now (`origin`), what it becomes, and why it cannot; empty when it can."""

    area: Area
    name: str
    origin: State
    target: State
    problem: str = ""

    @property
    def key(self) -> Key:
        """What tells it from the others."""
        return self.area, self.name


class Plan(Struct, frozen=True):
    """What would happen. `is_redo` brings back what an undo took."""

    steps: tuple[UndoStep, ...]
    is_redo: bool
    ready: tuple[Change, ...]
    blocked: tuple[Change, ...]


def open_items(step: UndoStep, *, is_redo: bool) -> Sequence[UndoItem]:
    """What of a step can still be taken back, or brought back; nothing of an undo itself."""
    if step.undoes or step.state is StepState.OPEN:
        return ()
    return [item for item in step.items if item.is_undone is is_redo]


def build_plan(steps: Sequence[UndoStep], grounds: Mapping[Area, Ground], *, is_redo: bool = False) -> Plan:
    """Judge each change against what is there now. Reads the disk."""
    chosen = sorted(
        (step for step in steps if open_items(step, is_redo=is_redo)), key=lambda step: step.id, reverse=not is_redo
    )
    looked = [_look_at(change, grounds) for change in _join(chosen, is_redo=is_redo).values()]
    judged = _judge_folders(looked)
    return Plan(
        tuple(chosen),
        is_redo,
        tuple(change for change in judged if not change.problem),
        tuple(change for change in judged if change.problem),
    )


def is_between(current: State, change: Change) -> bool:
    """Whether a place is as an interrupted undo may leave it: the way there has steps where the kind changes."""
    if current.kind is Kind.FOLDER and change.target.kind is Kind.FOLDER:
        return True
    return current.kind is Kind.ABSENT and change.origin.kind is not change.target.kind


def _join(steps: Sequence[UndoStep], *, is_redo: bool) -> dict[Key, Change]:
    joined: dict[Key, Change] = {}
    for step in steps:
        for item in open_items(step, is_redo=is_redo):
            origin, target = (item.before, item.after) if is_redo else (item.after, item.before)
            earlier = joined.get((item.area, item.name))
            if earlier is None:
                joined[item.area, item.name] = Change(item.area, item.name, origin, target)
            else:
                problem = earlier.problem or ("" if origin.is_same(earlier.target) else _BETWEEN)
                joined[item.area, item.name] = structs.replace(earlier, target=target, problem=problem)
    return joined


def _look_at(change: Change, grounds: Mapping[Area, Ground]) -> Change:
    if change.problem:
        return change
    ground = grounds[change.area]
    refusal = ground.refusal(change.name)
    if refusal:
        return structs.replace(change, problem=refusal)
    try:
        current = ground.look(change.name)
    except SkalesError as error:
        return structs.replace(change, problem=error.message)
    if current.is_same(change.target):
        return change
    if not current.is_same(change.origin):
        return structs.replace(change, problem=_SINCE)
    if not change.target.can_return:
        return structs.replace(change, problem=_NOT_KEPT)
    if current.kind is Kind.FILE and not current.digest:
        return structs.replace(change, problem=_STAYS)
    return change


def _judge_folders(changes: Sequence[Change]) -> list[Change]:
    """A folder goes only when all in it goes; what comes back needs a folder to come back to."""
    by_path = {change.name: change for change in changes if change.area is Area.FILE}
    for path in sorted(by_path, key=_depth, reverse=True):
        if _must_stay(path, by_path):
            by_path[path] = structs.replace(by_path[path], problem=_HOLDS)
    for path in sorted(by_path, key=_depth):
        change = by_path[path]
        if not change.problem and change.target.kind is not Kind.ABSENT and not _has_folder(path, by_path):
            by_path[path] = structs.replace(change, problem=_NO_FOLDER)
    return [by_path[change.name] if change.area is Area.FILE else change for change in changes]


def _must_stay(path: str, by_path: Mapping[str, Change]) -> bool:
    change = by_path[path]
    if change.problem or change.origin.kind is not Kind.FOLDER or change.target.kind is Kind.FOLDER:
        return False
    return any(not _goes(by_path.get(f"{path}{os.sep}{name}")) for name in _names(path))


def _has_folder(path: str, by_path: Mapping[str, Change]) -> bool:
    parent = os.path.dirname(path)  # noqa: PTH120 - texts are compared
    above = by_path.get(parent)
    if above is not None and not above.problem:
        return above.target.kind is Kind.FOLDER
    return look(Path(parent)).kind is Kind.FOLDER


def _goes(change: Change | None) -> bool:
    return change is not None and not change.problem and change.target == ABSENT


def _names(path: str) -> list[str]:
    try:
        return os.listdir(path)  # noqa: PTH208 - names alone
    except OSError:
        return []


def _depth(path: str) -> int:
    return path.count(os.sep)
