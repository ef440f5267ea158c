"""The outbox page: what may have been sent and waits for a person's word, and what was sent lately."""

import anyio.to_thread
from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from skales.app.app import App
from skales.app.outbox import OutboxAnswer, answer_outbox, list_outbox
from skales.core.errors import SkalesError
from skales.data.outbox import Intent, OutboxState
from skales.security.redact import redact
from skales.server.access import AppDep, PageSession
from skales.server.told import told
from skales.server.ui.frame import build_shell
from skales.server.ui.history import chat_address
from skales.server.ui.outbox_views import OutboxBoard, OutboxPage, SendingRow
from skales.server.ui.pages import PageResponse, render
from skales.server.ui.phrases import show_moment
from skales.server.views import Screen, Trouble
from skales.server.words import N_, _

router = APIRouter(dependencies=[PageSession])

_STATES = {
    OutboxState.INTENDED: (N_("Being prepared"), "accent"),
    OutboxState.SENDING: (N_("Being sent"), "accent"),
    OutboxState.SENT: (N_("Sent"), "good"),
    OutboxState.FAILED: (N_("Not sent"), "bad"),
    OutboxState.MAYBE: (N_("May have been sent"), "warn"),
    OutboxState.DROPPED: (N_("Dropped"), ""),
}


@router.get("/outbox", response_class=PageResponse)
def open_outbox(app: AppDep) -> str:
    """Everything, what waits first."""
    return render(OutboxPage(build_shell(app, _("Outbox"), Screen.OUTBOX), build_board(app)))


@router.get("/ui/outbox", response_class=PageResponse)
def show_board(app: AppDep) -> str:
    """The lists as they are now."""
    return render(build_board(app))


@router.post("/outbox/{intent_id}/{answer}")
async def answer_sending(app: AppDep, request: Request, intent_id: str, answer: OutboxAnswer) -> Response:
    """Say what became of a sending; when it was sent again and failed, the reason stands above the list."""
    try:
        _intent, result = await answer_outbox(app, intent_id, answer, "page")
    except SkalesError as error:
        if "hx-request" not in request.headers:
            raise
        return await _show(app, Trouble(told(error.message), told(error.hint)))
    trouble = Trouble(_("It could not be sent again"), told(result.summary)) if result and result.is_error else None
    if "hx-request" in request.headers:
        return await _show(app, trouble)
    return RedirectResponse("/outbox", status_code=303)


def build_board(app: App, trouble: Trouble | None = None) -> OutboxBoard:
    """The lists as they are now. Reads the disk."""
    waiting, others = list_outbox(app)
    now_ms = app.clock.now_ms()
    return OutboxBoard(
        tuple(_row(intent, now_ms) for intent in waiting), tuple(_row(intent, now_ms) for intent in others), trouble
    )


async def _show(app: App, trouble: Trouble | None) -> Response:
    return PageResponse(render(await anyio.to_thread.run_sync(build_board, app, trouble)))


def _row(intent: Intent, now_ms: int) -> SendingRow:
    words, kind = _STATES[intent.state]
    return SendingRow(
        id=intent.id,
        action=told(redact(intent.draft.action)),
        tool=intent.draft.tool,
        state=_(words),
        kind=kind,
        when=show_moment(intent.changed_ms, now_ms),
        attempts=intent.attempts,
        note=told(intent.note),
        address=chat_address(intent.draft.session_id) if intent.draft.session_id else "",
    )
