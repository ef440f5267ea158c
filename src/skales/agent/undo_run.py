"""Takes steps back and brings them again. The journal is a step of the timeline itself: written before, marked after.

A crash in between is finished at the next start. When the disk refuses halfway, what was done is reverted.
"""

import threading
from collections.abc import Callable, Mapping, Sequence

from msgspec import structs

from skales.agent.undo_ground import Ground
from skales.agent.undo_plan import Change, Key, Plan, build_plan, is_between
from skales.agent.undo_record import Recorder
from skales.core.errors import ConflictError, NotFoundError, SkalesError
from skales.data.undo import UndoStore
from skales.data.undo_shape import ABSENT, Area, Kind, State, StepState, UndoItem, UndoStep
from skales.security.paths import PathPolicy

_NAMED = 5


class Undoing:
    """Undo and redo over one timeline. Thread-safe; one at a time."""

    def __init__(
        self,
        store: UndoStore,
        recorder: Recorder,
        grounds: Mapping[Area, Ground],
        policy: Callable[[], PathPolicy],
    ) -> None:
        self._store = store
        self._recorder = recorder
        self._grounds = grounds
        self._policy = policy
        self._lock = threading.Lock()

    def plan(self, steps: Sequence[UndoStep], *, is_redo: bool = False) -> Plan:
        """What would happen now."""
        return build_plan(steps, self._grounds, is_redo=is_redo)

    def run(self, step_ids: Sequence[str], *, is_redo: bool = False, is_partial: bool = False) -> UndoStep:
        """Take steps back, or bring them again; the step that says so.

        Args:
            step_ids: All of them are taken as one.
            is_redo: Bring back what an undo took.
            is_partial: Do what can be done; else ConflictError names what cannot.

        Raises:
            NotFoundError: A step is gone.
            ConflictError: Something was changed since, or nothing is left to do.
            StorageError: The disk refused; what was done is reverted.
        """
        with self._lock:
            plan = self.plan([self._store.get(step_id) for step_id in step_ids], is_redo=is_redo)
            _require(plan, is_partial=is_partial)
            journal, changes = self._write_journal(plan)
            self._recorder.disturb()
            self._apply_or_revert(journal, changes)
            return self._close(journal, {change.key for change in changes})

    def recover(self) -> Sequence[UndoStep]:
        """Finish what processes that are gone left open: undos are completed, calls get their second look."""
        finished: list[UndoStep] = []
        with self._lock:
            for step in self._store.left_open():
                done = self._finish_journal(step) if step.undoes else self._recorder.complete(step, self._policy())
                if done is not None:
                    finished.append(done)
            if not self._store.left_open():
                self._store.forget_gone()
        return finished

    def _write_journal(self, plan: Plan) -> tuple[UndoStep, list[Change]]:
        step_id = self._store.new_id()
        changes: list[Change] = []
        for change in plan.ready:
            origin = self._grounds[change.area].keep(change.name)
            if origin.digest and origin.is_kept:
                self._store.pin(step_id, frozenset({origin.digest}))
            if not (origin.is_same(change.origin) or origin.is_same(change.target)):
                raise ConflictError(f"{change.name!r} was changed just now", hint="Look at the step again")
            changes.append(structs.replace(change, origin=origin))
        words = ", ".join(step.summary for step in plan.steps[:_NAMED])
        more = f" and {len(plan.steps) - _NAMED} more" if len(plan.steps) > _NAMED else ""
        journal = UndoStep(
            id=step_id,
            when_ms=self._store.now_ms(),
            tool="redo" if plan.is_redo else "undo",
            summary=f"{words}{more}",
            session_id=plan.steps[0].session_id,
            state=StepState.OPEN,
            items=tuple(UndoItem(change.area, change.name, change.origin, change.target) for change in changes),
            undoes=tuple(step.id for step in plan.steps),
            holder=self._store.holder(),
            notes=tuple(f"{change.name}: {change.problem}" for change in plan.blocked),
        )
        self._store.write(journal)
        self._store.unpin(step_id)
        return journal, changes

    def _apply_or_revert(self, journal: UndoStep, changes: Sequence[Change]) -> None:
        try:
            self._apply(changes)
        except SkalesError:
            # When going back fails too, the journal stays and the next start goes on.
            self._apply([structs.replace(change, origin=change.target, target=change.origin) for change in changes])
            self._store.remove(journal.id)
            raise

    def _apply(self, changes: Sequence[Change]) -> None:
        """Away with what goes, from the inside out; then folders from the outside in; then what is in them."""
        going = [change for change in changes if change.target == ABSENT]
        folders = [change for change in changes if change.target.kind is Kind.FOLDER]
        rest = [change for change in changes if change.target != ABSENT and change.target.kind is not Kind.FOLDER]
        for change in sorted(going, key=lambda change: change.name, reverse=True):
            self._put(change)
        for change in sorted(folders, key=lambda change: change.name):
            self._put(change)
        for change in rest:
            self._put(change)
        for change in sorted(folders, key=lambda change: change.name, reverse=True):
            self._grounds[change.area].settle(change.name, change.target)

    def _put(self, change: Change) -> None:
        ground = self._grounds[change.area]
        if not ground.look(change.name).is_same(change.target):
            ground.put(change.name, change.target)

    def _finish_journal(self, journal: UndoStep) -> UndoStep | None:
        changes: list[Change] = []
        notes = list(journal.notes)
        for item in journal.items:
            change = Change(item.area, item.name, item.before, item.after)
            ground = self._grounds[item.area]
            ground.sweep(item.name)
            current = ground.look(item.name)
            known = current.is_same(item.before) or current.is_same(item.after) or is_between(current, change)
            if known and not ground.refusal(item.name):
                changes.append(change)
            else:
                notes.append(f"{item.name}: it was changed before this could be finished")
        try:
            self._apply(changes)
        except SkalesError as error:
            self._store.write(structs.replace(journal, notes=tuple(dict.fromkeys((*notes, f"Not finished: {error}")))))
            return None
        return self._close(structs.replace(journal, notes=tuple(notes)), {change.key for change in changes})

    def _close(self, journal: UndoStep, keys: set[Key]) -> UndoStep:
        """Mark what was undone, then the journal as done; both can be repeated."""
        for step_id in journal.undoes:
            try:
                step = self._store.get(step_id)
            except NotFoundError:
                continue
            self._store.write(self._marked(step, keys, is_undone=journal.tool == "undo"))
        items = tuple(item for item in journal.items if (item.area, item.name) in keys)
        done = structs.replace(journal, state=StepState.DONE, items=items, holder="")
        self._store.write(done)
        return done

    def _marked(self, step: UndoStep, keys: set[Key], *, is_undone: bool) -> UndoStep:
        items = tuple(
            structs.replace(
                item,
                is_undone=is_undone if (item.area, item.name) in keys else item.is_undone,
                before=self._as_kept(item.before),
                after=self._as_kept(item.after),
            )
            for item in step.items
        )
        undone = sum(item.is_undone for item in items)
        state = StepState.DONE if not undone else StepState.UNDONE if undone == len(items) else StepState.PARTIAL
        return structs.replace(step, items=items, state=state)

    def _as_kept(self, state: State) -> State:
        """Contents that the store holds by now, for whatever reason, can be brought back."""
        if state.digest and not state.is_kept and self._store.blobs.has(state.digest):
            return structs.replace(state, is_kept=True)
        return state


def _require(plan: Plan, *, is_partial: bool) -> None:
    if not plan.ready and not plan.blocked:
        word = "bring back" if plan.is_redo else "undo"
        raise ConflictError(f"There is nothing left to {word} here", code="nothing")
    if plan.blocked and not (is_partial and plan.ready):
        named = "; ".join(f"{change.name!r}: {change.problem}" for change in plan.blocked[:_NAMED])
        more = f" and {len(plan.blocked) - _NAMED} more" if len(plan.blocked) > _NAMED else ""
        hint = f"The other {len(plan.ready)} can be done by themselves" if plan.ready else ""
        raise ConflictError(f"Nothing was changed, because of {named}{more}", hint=hint)
