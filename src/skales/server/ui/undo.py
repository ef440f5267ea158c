"""The undo pages: the timeline by turns, and what taking something back would change, shown before it is done."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Form
from fastapi.responses import RedirectResponse

from skales.agent.undo_plan import open_items
from skales.app.app import App
from skales.app.cost_report import find_titles
from skales.app.undo import Shown, Wish
from skales.core.errors import ConflictError
from skales.data.undo_shape import StepState, UndoStep
from skales.server.access import AppDep, PageSession
from skales.server.told import told
from skales.server.ui.frame import build_shell
from skales.server.ui.history import chat_address
from skales.server.ui.pages import PageResponse, render
from skales.server.ui.phrases import show_moment
from skales.server.ui.undo_views import DiffLine, UndoChange, UndoPage, UndoRow, UndoStepPage, UndoTurn
from skales.server.views import Screen
from skales.server.words import N_, _, ngettext

router = APIRouter(dependencies=[PageSession])

_SHOWN = 50
_STATES = {
    StepState.OPEN: N_("Running"),
    StepState.DONE: "",
    StepState.UNDONE: N_("Undone"),
    StepState.PARTIAL: N_("Partly undone"),
}
_WHAT = {"created": N_("Created"), "removed": N_("Removed"), "changed": N_("Changed")}
_KINDS = {"+": "added", "-": "removed", "@": "place"}


@router.get("/undo", response_class=PageResponse)
def open_timeline(app: AppDep, before: str = "", done: str = "") -> str:
    """The newest steps, or those before one."""
    steps = app.undo.recent(_SHOWN + 1, before)
    shown = steps[:_SHOWN]
    titles = find_titles(app.sessions) if shown else {}
    groups = groupby(shown, key=lambda step: (step.session_id, step.turn_id or step.id))
    return render(
        UndoPage(
            shell=build_shell(app, _("Undo"), Screen.UNDO),
            turns=tuple(_build_turn(app, tuple(group), titles) for _key, group in groups),
            older_address=f"/undo?{urlencode({'before': shown[-1].id})}" if len(steps) > _SHOWN else "",
            told=_say_done(app, done),
        )
    )


@router.get("/undo/{step_id}", response_class=PageResponse)
def open_step(app: AppDep, step_id: str, turn: bool = False, redo: bool = False) -> str:
    """What would happen. Raises NotFoundError."""
    preview = app.undo.preview(Wish(step_id, turn, redo))
    plan = preview.plan
    step = app.undo.store.get(step_id)
    siblings = app.undo.store.of_turn(step.session_id, step.turn_id)
    has_more = sum(bool(open_items(other, is_redo=redo)) for other in siblings) > 1
    heading = _("Bring back what was undone") if redo else _("Undo")
    return render(
        UndoStepPage(
            shell=build_shell(app, heading, Screen.UNDO),
            heading=heading,
            step_id=step_id,
            is_turn=turn,
            is_redo=redo,
            turn_address=_address(step_id, turn=True, redo=redo) if has_more and not turn else "",
            steps=tuple(told(step.summary) for step in plan.steps),
            notes=tuple(dict.fromkeys(told(note) for step in plan.steps for note in step.notes)),
            ready=len(plan.ready),
            blocked=tuple(_build_change(shown) for shown in preview.changes if shown.change.problem),
            changes=tuple(_build_change(shown) for shown in preview.changes if not shown.change.problem),
        )
    )


@router.post("/ui/undo")
def undo(
    app: AppDep,
    step: Annotated[str, Form()],
    turn: Annotated[bool, Form()] = False,
    redo: Annotated[bool, Form()] = False,
    partial: Annotated[bool, Form()] = False,
) -> RedirectResponse:
    """Do it, and show the timeline; where something stands in the way, the page that names it. Raises StorageError."""
    try:
        done = app.undo.run(Wish(step, turn, redo, partial))
    except ConflictError:
        return RedirectResponse(_address(step, turn=turn, redo=redo), status_code=303)
    return RedirectResponse(f"/undo?{urlencode({'done': done.id})}", status_code=303)


def _build_turn(app: App, steps: Sequence[UndoStep], titles: Mapping[str, str]) -> UndoTurn:
    first = steps[0]
    can_undo = sum(bool(open_items(step, is_redo=False)) for step in steps) > 1 and bool(first.turn_id)
    can_redo = sum(bool(open_items(step, is_redo=True)) for step in steps) > 1 and bool(first.turn_id)
    return UndoTurn(
        heading=(titles.get(first.session_id) or _("New chat")) if first.session_id else "",
        chat_address=chat_address(first.session_id) if first.session_id in titles else "",
        undo_address=_address(first.id, turn=True) if can_undo else "",
        redo_address=_address(first.id, turn=True, redo=True) if can_redo else "",
        rows=tuple(_build_row(app, step) for step in steps),
    )


def _build_row(app: App, step: UndoStep) -> UndoRow:
    count = len(step.items)
    state = _STATES[step.state]
    return UndoRow(
        id=step.id,
        when=show_moment(step.when_ms, app.clock.now_ms()),
        summary=_sum_up(step),
        facts=ngettext("%(num)d change", "%(num)d changes", count),
        state=step.state.value,
        state_words=_(state) if state else "",
        undo_address=_address(step.id) if open_items(step, is_redo=False) else "",
        redo_address=_address(step.id, redo=True) if open_items(step, is_redo=True) else "",
    )


def _build_change(shown: Shown) -> UndoChange:
    difference = shown.difference
    what = _WHAT.get(difference.what)
    return UndoChange(
        name=shown.change.name,
        what=_(what) if what else difference.what,
        note=told(difference.note) if difference.note else "",
        problem=told(shown.change.problem) if shown.change.problem else "",
        lines=tuple(DiffLine(_KINDS.get(line[:1], ""), line) for line in difference.lines),
    )


def _sum_up(step: UndoStep) -> str:
    words = told(step.summary)
    if step.tool == "undo" and step.undoes:
        return _("Undid: %(what)s", what=words)
    if step.tool == "redo" and step.undoes:
        return _("Brought back: %(what)s", what=words)
    return words


def _say_done(app: App, step_id: str) -> str:
    done = next((step for step in app.undo.recent(5) if step.id == step_id and step.undoes), None)
    return _sum_up(done) if done else ""


def _address(step_id: str, *, turn: bool = False, redo: bool = False) -> str:
    query = urlencode({name: "true" for name, is_set in (("turn", turn), ("redo", redo)) if is_set})
    return f"/undo/{step_id}?{query}" if query else f"/undo/{step_id}"
