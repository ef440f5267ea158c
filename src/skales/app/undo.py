"""The undo timeline as surfaces use it: list it, look at a step or a turn, take it back, bring it again.

Recording is the agent's (`agent/undo_round.py`), keeping is the data's (`data/undo.py`).
"""

import logging
from collections.abc import Iterator, Sequence

from msgspec import Struct

from skales.agent.undo_plan import Change, Plan, open_items
from skales.agent.undo_run import Undoing
from skales.app.undo_diff import Difference, describe_change
from skales.core.errors import ConflictError, StorageError
from skales.core.json import JsonObject, as_text
from skales.data.audit import AuditLog
from skales.data.undo import UndoStore
from skales.data.undo_shape import UndoStep

_log = logging.getLogger(__name__)

_DIFFS_MOST = 100


class Wish(Struct, frozen=True):
    """What is to be taken back: a step, or the newest when `step_id` is empty; with `whole_turn` all of its turn."""

    step_id: str = ""
    whole_turn: bool = False
    is_redo: bool = False
    is_partial: bool = False


class Shown(Struct, frozen=True):
    """One change of a plan, as a person sees it."""

    change: Change
    difference: Difference


class Preview(Struct, frozen=True):
    """What would happen; of very many changes only the first are shown line by line."""

    plan: Plan
    changes: tuple[Shown, ...]


class Undo:
    """The timeline of a running app."""

    def __init__(self, store: UndoStore, undoing: Undoing, audit: AuditLog) -> None:
        self.store = store
        self._undoing = undoing
        self._audit = audit

    def recent(self, limit: int = 50, before: str = "") -> Sequence[UndoStep]:
        """The newest steps first."""
        return self.store.recent(limit, before)

    def undoable(self) -> Iterator[UndoStep]:
        """Steps of which something can be taken back, newest first, read as they are asked for."""
        return (step for step in self.store.all() if open_items(step, is_redo=False))

    def preview(self, wish: Wish) -> Preview:
        """What would happen now. Raises NotFoundError, ConflictError when there is nothing to take back."""
        plan = self._undoing.plan(self._choose(wish), is_redo=wish.is_redo)
        blobs = self.store.blobs
        shown = [
            Shown(
                change,
                describe_change(change.area, change.name, change.origin, change.target, blobs)
                if number < _DIFFS_MOST
                else Difference(""),
            )
            for number, change in enumerate((*plan.blocked, *plan.ready))
        ]
        return Preview(plan, tuple(shown))

    def run(self, wish: Wish) -> UndoStep:
        """Do it, and note it in the audit log.

        Raises NotFoundError, ConflictError, StorageError; nothing is changed then.
        """
        chosen = [step.id for step in self._choose(wish)]
        done = self._undoing.run(chosen, is_redo=wish.is_redo, is_partial=wish.is_partial)
        try:
            self._audit.noted("redo" if wish.is_redo else "undo", {"steps": list(chosen), "as": done.id})
        except StorageError:  # what is done is done; the timeline has it, too
            _log.warning("the undo %s is not in the audit log", done.id, exc_info=True)
        return done

    def recover(self) -> Sequence[UndoStep]:
        """Finish what a crash left open."""
        return self._undoing.recover()

    def _choose(self, wish: Wish) -> Sequence[UndoStep]:
        steps = [self.store.get(wish.step_id)] if wish.step_id else self._newest(is_redo=wish.is_redo)
        if not steps:
            word = "bring back" if wish.is_redo else "undo"
            raise ConflictError(f"There is nothing to {word}", code="nothing")
        if wish.whole_turn:
            return self.store.of_turn(steps[0].session_id, steps[0].turn_id) or steps
        return steps

    def _newest(self, *, is_redo: bool) -> Sequence[UndoStep]:
        """The last change; for a redo all that the last undo took."""
        if not is_redo:
            return next(([step] for step in self.undoable()), [])
        by_id = {step.id: step for step in self.store.all()}
        for journal in by_id.values():
            if journal.tool == "undo" and journal.undoes:
                found = [by_id[step_id] for step_id in journal.undoes if step_id in by_id]
                taken = [step for step in found if open_items(step, is_redo=True)]
                if taken:
                    return taken
        return []


def parse_wish(body: JsonObject) -> Wish:
    """`{step, turn, redo, partial}`, all optional."""
    return Wish(
        as_text(body.get("step")), body.get("turn") is True, body.get("redo") is True, body.get("partial") is True
    )


def report_timeline(undo: Undo, limit: int = 50) -> JsonObject:
    """`{steps: [{id, when, session, turn, call, tool, summary, state, undoes, notes, changes, canUndo, canRedo}]}`."""
    return {"steps": [report_step(step) for step in undo.recent(limit)]}


def report_step(step: UndoStep) -> JsonObject:
    """One step, without what things were before."""
    return {
        "id": step.id,
        "when": step.when_ms,
        "session": step.session_id,
        "turn": step.turn_id,
        "call": step.call_id,
        "tool": step.tool,
        "summary": step.summary,
        "state": step.state.value,
        "undoes": list(step.undoes),
        "notes": list(step.notes),
        "changes": [{"area": item.area.value, "name": item.name, "undone": item.is_undone} for item in step.items],
        "canUndo": bool(open_items(step, is_redo=False)),
        "canRedo": bool(open_items(step, is_redo=True)),
    }


def report_preview(preview: Preview) -> JsonObject:
    """`{redo, steps, changes: [{area, name, what, lines, note, problem}]}`."""
    return {
        "redo": preview.plan.is_redo,
        "steps": [report_step(step) for step in preview.plan.steps],
        "ready": len(preview.plan.ready),
        "changes": [
            {
                "area": shown.change.area.value,
                "name": shown.change.name,
                "what": shown.difference.what,
                "lines": list(shown.difference.lines),
                "note": shown.difference.note,
                "problem": shown.change.problem,
            }
            for shown in preview.changes
        ],
    }
