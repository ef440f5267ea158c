"""The page of grants: what may run without asking again, taking it back, and what would happen with a call."""

import anyio.to_thread
from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from skales.agent.commands import parse_tool_arguments
from skales.agent.reach_words import describe_grant
from skales.app.app import App
from skales.app.grants import explain_call
from skales.core.errors import InputError, SkalesError
from skales.core.ids import SessionId
from skales.data.grant_uses import GrantUse
from skales.data.grants import Grant
from skales.server.access import AppDep, PageSession
from skales.server.told import told
from skales.server.ui.frame import build_shell
from skales.server.ui.grant_views import GrantBoard, GrantRow, GrantsPage, WhyAnswer
from skales.server.ui.history import chat_address
from skales.server.ui.pages import PageResponse, render
from skales.server.ui.phrases import show_moment
from skales.server.ui.why import build_why
from skales.server.views import Screen, Trouble
from skales.server.words import N_, _, ngettext

router = APIRouter(dependencies=[PageSession])

_OUTCOMES = {
    "allow": N_("It would run without asking."),
    "ask": N_("It would ask you first."),
    "deny": N_("It would be refused."),
}
_SURFACES = {"page": N_("in the page"), "cli": N_("in the terminal"), "http": N_("over HTTP")}


@router.get("/grants", response_class=PageResponse)
def open_grants(app: AppDep, call: str = "") -> str:
    """Every grant that counts, newest first."""
    return render(
        GrantsPage(
            shell=build_shell(app, _("Grants"), Screen.GRANTS),
            board=build_board(app),
            answer=build_answer(app, call),
            call=call,
            tools=tuple(spec.name for spec in app.toolbox.specs()),
        )
    )


@router.get("/ui/grants", response_class=PageResponse)
def show_board(app: AppDep) -> str:
    """The list as it is now."""
    return render(build_board(app))


@router.get("/ui/grants/why", response_class=PageResponse)
def show_answer(app: AppDep, call: str = "") -> str:
    """What would happen with a call being written."""
    return render(build_answer(app, call))


@router.post("/grants/{grant_id}/revoke")
async def revoke(app: AppDep, request: Request, grant_id: str) -> Response:
    """Take one back; the answer offers to undo that."""
    try:
        gone = await anyio.to_thread.run_sync(app.grants.revoke, grant_id)
    except SkalesError as error:
        return await _answer(app, request, error=error)
    return await _answer(app, request, revoked=gone)


@router.post("/grants/{grant_id}/restore")
async def restore(app: AppDep, request: Request, grant_id: str) -> Response:
    """Undo taking it back."""
    try:
        await anyio.to_thread.run_sync(app.grants.restore, grant_id)
    except SkalesError as error:
        return await _answer(app, request, error=error)
    return await _answer(app, request)


def build_board(app: App, revoked: Grant | None = None, trouble: Trouble | None = None) -> GrantBoard:
    """The list as it is now. Reads the disk."""
    uses, now_ms = app.grant_uses.all(), app.clock.now_ms()
    found = sorted(app.grants.list(), key=lambda grant: grant.created_ms, reverse=True)
    return GrantBoard(
        rows=tuple(_row(app, grant, uses.get(grant.id, GrantUse()), now_ms) for grant in found),
        revoked=told(describe_grant(revoked)) if revoked else "",
        revoked_id=revoked.id if revoked else "",
        trouble=trouble,
    )


def build_answer(app: App, call: str) -> WhyAnswer:
    """What would happen with `tool key=value …`. Runs nothing."""
    words = call.split(maxsplit=1)
    if not words:
        return WhyAnswer()
    spec = app.toolbox.find(words[0])
    try:
        arguments = parse_tool_arguments(f"/tool {call.strip()}", spec) if spec else {}
    except InputError as error:
        return WhyAnswer(error=told(str(error)))
    explanation = explain_call(app, words[0], arguments)
    return WhyAnswer(
        action=told(explanation.action),
        outcome=explanation.outcome,
        outcome_words=_(_OUTCOMES[explanation.outcome]),
        covers=told(explanation.covers),
        lines=build_why(explanation.steps),
    )


async def _answer(
    app: App, request: Request, *, revoked: Grant | None = None, error: SkalesError | None = None
) -> Response:
    """The list for the page's script, the page for a browser without one."""
    trouble = Trouble(told(error.message), told(error.hint)) if error else None
    if "hx-request" in request.headers:
        return PageResponse(render(await anyio.to_thread.run_sync(build_board, app, revoked, trouble)))
    if error is not None:
        raise error
    return RedirectResponse("/grants", status_code=303)


def _row(app: App, grant: Grant, use: GrantUse, now_ms: int) -> GrantRow:
    place = _("In one conversation") if grant.session_id else _("Everywhere")
    surface = _SURFACES.get(grant.surface)
    origin = grant.given_in or grant.session_id
    title = _title(app, origin)
    uses = ngettext("Used %(num)d time", "Used %(num)d times", use.count) if use.count else _("Not used yet")
    return GrantRow(
        id=grant.id,
        covers=told(describe_grant(grant)),
        about=told(grant.about),
        place=place,
        given=show_moment(grant.created_ms, now_ms) if grant.created_ms else None,
        given_by=_(surface) if surface else "",
        address=chat_address(origin) if title else "",
        conversation=title,
        until=show_moment(grant.expires_ms, now_ms) if grant.expires_ms else None,
        uses=uses,
        last_used=show_moment(use.last_ms, now_ms) if use.last_ms else None,
    )


def _title(app: App, session_id: str) -> str:
    """The conversation's title, empty when there is none any more."""
    if not session_id:
        return ""
    try:
        return app.sessions.load(SessionId(session_id)).title or _("New chat")
    except SkalesError:
        return ""
