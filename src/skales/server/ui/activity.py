"""The activity page: what happened, what waits, what was asked and answered, what left; and the kill switch.

Everything is read from the audit log when the page is opened.
"""

import json
from collections.abc import Iterator, Mapping
from urllib.parse import quote, urlencode

import anyio.to_thread
from fastapi import APIRouter
from fastapi.responses import RedirectResponse, StreamingResponse
from msgspec import Struct

from skales.app.activity import (
    ActivityFilter,
    ActivityKind,
    ActivityOutcome,
    CallKey,
    describe_call,
    find_activity,
    find_places,
)
from skales.app.app import App
from skales.app.cost_report import find_titles
from skales.core.approval import Approval
from skales.core.clock import to_datetime
from skales.core.tool import Effect
from skales.data.audit_reading import AuditedCall, read_raw
from skales.server.access import AppDep, PageSession
from skales.server.told import told
from skales.server.ui.activity_views import ActivityPage, ActivityRow, ActivityWait, IncidentNote
from skales.server.ui.cards import build_card
from skales.server.ui.frame import build_shell
from skales.server.ui.history import chat_address
from skales.server.ui.pages import PageResponse, render
from skales.server.ui.phrases import show_duration, show_moment
from skales.server.views import Screen
from skales.server.words import N_, _

router = APIRouter(dependencies=[PageSession])

_ROWS = 40
_INCIDENTS = 5
_TIMES = {1: N_("Today"), 7: N_("Last 7 days"), 30: N_("Last 30 days"), 3650: N_("All there is")}
_USUAL_DAYS = 7
_KINDS = {
    ActivityKind.ALL: N_("Everything"),
    ActivityKind.ASKED: N_("Asked and answered"),
    ActivityKind.OUTBOUND: N_("Sent something out"),
    ActivityKind.CHANGES: N_("Changed something"),
    ActivityKind.REFUSED: N_("Refused"),
}
_OUTCOMES = {
    ActivityOutcome.ALL: N_("Any end"),
    ActivityOutcome.DONE: N_("Done"),
    ActivityOutcome.FAILED: N_("Failed"),
    ActivityOutcome.NOT_RUN: N_("Not run"),
}
_DECISIONS = {
    "auto": (N_("Allowed by the rules"), ""),
    "user": (N_("Started by you"), ""),
    "granted": (N_("Allowed by you earlier"), ""),
    "approved": (N_("You said yes"), "good"),
    "declined": (N_("You said no"), "warn"),
    "expired": (N_("Nobody answered"), "warn"),
    "cancelled": (N_("Stopped while it was asked"), "warn"),
    "blocked": (N_("Blocked by a rule"), "bad"),
    "malformed": (N_("Could not be read"), "bad"),
    "unknown": (N_("There is no such tool"), "bad"),
}
_EFFECTS = {Effect.OUTBOUND.value: N_("sends data out"), Effect.SPENDS.value: N_("costs money")}


class RowNames(Struct, frozen=True):
    """What rows are shown with: titles of conversations, places of calls, and where calls can be undone."""

    titles: Mapping[str, str]
    places: Mapping[CallKey, int]
    undo: Mapping[CallKey, str]
    now_ms: int


@router.get("/activity", response_class=PageResponse)
async def open_activity(  # noqa: PLR0913 - one for each filter
    app: AppDep,
    days: int = _USUAL_DAYS,
    kind: str = "",
    outcome: str = "",
    tool: str = "",
    session: str = "",
    before: str = "",
) -> str:
    """The newest that fit."""
    wanted = ActivityFilter(
        days=days if days in _TIMES else _USUAL_DAYS,
        kind=ActivityKind(kind) if kind in list(ActivityKind) else ActivityKind.ALL,
        outcome=ActivityOutcome(outcome) if outcome in list(ActivityOutcome) else ActivityOutcome.ALL,
        tool=tool.strip(),
        session_id=session,
        before=before,
    )
    waiting = await app.approvals.pending()
    return await anyio.to_thread.run_sync(_show, app, wanted, waiting)


@router.get("/ui/activity/export")
def export_log(app: AppDep) -> StreamingResponse:
    """Every line of the audit log, as it stands."""
    name = f"skales-audit-{to_datetime(app.clock.now_ms()):%Y-%m-%d}.jsonl"
    headers = {"content-disposition": f'attachment; filename="{name}"', "cache-control": "no-store"}
    return StreamingResponse(_lines(app), media_type="application/jsonl", headers=headers)


@router.post("/ui/killswitch")
async def use_kill_switch(app: AppDep) -> RedirectResponse:
    """End everything that runs, and show what that was."""
    outcome = await app.kill_switch.use("page")
    return RedirectResponse(f"/activity#incident-{outcome.incident.id}", status_code=303)


@router.post("/ui/go-on")
async def let_go_on(app: AppDep) -> RedirectResponse:
    """Let tasks and the schedule begin again after the kill switch."""
    await app.kill_switch.let_go_on()
    return RedirectResponse("/activity", status_code=303)


def build_rows(app: App, calls: tuple[AuditedCall, ...]) -> tuple[ActivityRow, ...]:
    """Calls of the log for people. Reads the disk."""
    keys = [(call.session_id, call.call_id) for call in calls if call.ok is not None]
    names = RowNames(
        titles=find_titles(app.sessions),
        places=find_places(app.sessions, calls),
        undo=app.undoable.addresses(keys) if app.undoable else {},
        now_ms=app.clock.now_ms(),
    )
    return tuple(_row(app, call, names) for call in calls)


def _show(app: App, wanted: ActivityFilter, waiting: list[Approval]) -> str:
    calls, has_more = find_activity(app.directory, wanted, app.clock.now_ms(), _ROWS)
    now_ms = app.clock.now_ms()
    titles = find_titles(app.sessions)
    is_first = not wanted.before
    return render(
        ActivityPage(
            shell=build_shell(app, _("Activity"), Screen.ACTIVITY),
            waiting=tuple(_wait(app, approval, titles, now_ms) for approval in waiting) if is_first else (),
            rows=build_rows(app, calls),
            incidents=_notes(app, now_ms) if is_first else (),
            is_paused=app.kill_switch.is_paused,
            is_filtered=wanted != ActivityFilter(),
            times=tuple((str(days), _(words)) for days, words in _TIMES.items()),
            kinds=tuple((kind.value, _(words)) for kind, words in _KINDS.items()),
            outcomes=tuple((outcome.value, _(words)) for outcome, words in _OUTCOMES.items()),
            days=str(wanted.days),
            kind=wanted.kind.value,
            outcome=wanted.outcome.value,
            tool=wanted.tool,
            session_id=wanted.session_id,
            only=_title(wanted.session_id, titles) if wanted.session_id else "",
            here=_address(wanted),
            more=_address(wanted, before=calls[-1].key) if has_more else "",
            export_address="/ui/activity/export",
        )
    )


def _row(app: App, call: AuditedCall, names: RowNames) -> ActivityRow:
    key = (call.session_id, call.call_id)
    words, kind = _DECISIONS.get(call.decision, (call.decision, ""))
    known = app.toolbox.find(call.tool) is not None
    place = names.places.get(key)
    is_there = call.session_id in names.titles
    return ActivityRow(
        id=call.key.replace(".", "-"),
        action=_name(app, call),
        tool=call.tool,
        tool_address=f"/tools/{quote(call.tool)}" if known else "",
        when=show_moment(call.when_ms, names.now_ms),
        decision=_(words) if words else "",
        decision_kind=kind,
        outcome="" if call.ok is None else _("Done") if call.ok else _("Failed"),
        outcome_kind="good" if call.ok else "bad",
        # Where nothing ran, the reason is what the model was told.
        reason=told(call.reason.removeprefix("BLOCKED: ")),
        error=told(call.error),
        duration=show_duration(call.duration_ms),
        arguments="" if call.preview in ("", "{}") else call.preview,
        effects=tuple(_(label) for effect, label in _EFFECTS.items() if effect in call.effects),
        title=_title(call.session_id, names.titles) if call.session_id else "",
        address=chat_address(call.session_id, place) if is_there else "",
        only_address=f"/activity?{urlencode({'session': call.session_id})}" if call.session_id else "",
        undo_address=names.undo.get(key, ""),
    )


_NOTED = {
    "kill switch": N_("The kill switch was used"),
    "undo": N_("Changes were taken back"),
    "redo": N_("Changes were brought again"),
    "lifted": N_("What a conversation had read was called harmless"),
}


def _name(app: App, call: AuditedCall) -> str:
    if call.kind in _NOTED:
        return _(_NOTED[call.kind])
    return told(describe_call(app.toolbox, call)) or call.tool or call.kind


def _title(session_id: str, titles: Mapping[str, str]) -> str:
    if session_id not in titles:
        return _("A deleted conversation (%(id)s)", id=session_id)
    return titles[session_id] or _("New chat")


def _wait(app: App, approval: Approval, titles: Mapping[str, str], now_ms: int) -> ActivityWait:
    return ActivityWait(
        action=told(approval.action),
        reason=told(approval.reason),
        when=show_moment(approval.created_ms, now_ms),
        address=chat_address(approval.session_id) if approval.session_id else "",
        title=_title(approval.session_id, titles) if approval.session_id else "",
        card=None if approval.session_id else build_card(approval, app.toolbox.find(approval.tool)),
    )


def _notes(app: App, now_ms: int) -> tuple[IncidentNote, ...]:
    return tuple(
        IncidentNote(note.id, show_moment(note.when_ms, now_ms), note.text) for note in app.incidents.list(_INCIDENTS)
    )


def _address(wanted: ActivityFilter, before: str = "") -> str:
    usual = ActivityFilter()
    facts = {
        "days": str(wanted.days) if wanted.days != usual.days else "",
        "kind": wanted.kind.value if wanted.kind is not usual.kind else "",
        "outcome": wanted.outcome.value if wanted.outcome is not usual.outcome else "",
        "tool": wanted.tool,
        "session": wanted.session_id,
        "before": before,
    }
    query = urlencode({name: value for name, value in facts.items() if value})
    return f"/activity?{query}" if query else "/activity"


def _lines(app: App) -> Iterator[str]:
    for line in read_raw(app.directory):
        yield json.dumps(line, ensure_ascii=False) + "\n"
