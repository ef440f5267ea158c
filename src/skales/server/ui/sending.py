"""The message field's way in: a message with its files starts a turn or waits for one; a command is carried out.

Browsers without scripts get a redirect or a page, scripts get JSON: `go` (an address), `tell` (lines to show), or `do`
(something of the page's own, with facts). Only when `took` is true may the page forget the draft's files.
"""

from collections.abc import Mapping
from typing import Annotated, assert_never

import anyio.to_thread
from fastapi import APIRouter, Form, Header
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from skales.app.app import App
from skales.app.attachments import MAX_FILES, Claimed
from skales.core.errors import InputError, SkalesError
from skales.core.ids import SessionId
from skales.server.access import AppDep, PageSession
from skales.server.ui.pages import PageResponse, render
from skales.server.ui.picker import check_choice
from skales.server.ui.slash import Act, Go, Outcome, Say, Tell
from skales.server.ui.slash_actions import build_told, run_command
from skales.server.words import _

router = APIRouter(dependencies=[PageSession])


@router.post("/ui/chat/send", response_model=None)
async def send(  # noqa: PLR0913 - the fields of the form
    app: AppDep,
    text: Annotated[str, Form()] = "",
    session_id: Annotated[str, Form()] = "",
    attachments: Annotated[str, Form()] = "",
    provider: Annotated[str, Form()] = "",
    model: Annotated[str, Form()] = "",
    accept: Annotated[str, Header()] = "",
) -> Response:
    """Take a message, in a new conversation when none is named, or carry out a command.

    `attachments` are ids of staged files with commas between. `provider` and `model` count in a new conversation only.
    Raises InputError, NotFoundError.
    """
    staged = tuple(filter(None, attachments.split(",")))
    if not text.strip() and not staged:
        raise InputError(_("The message is empty"), code="empty_message")
    outcome = await run_command(app, text, SessionId(session_id))
    if isinstance(outcome, Say):
        await anyio.to_thread.run_sync(_check_message, app, session_id, staged)
        wanted = SessionId(session_id) or await _begin(app, provider, model)
        return await _take(app, wanted, outcome.text, staged, accept)
    return await _answer(app, outcome, session_id, accept)


async def _begin(app: App, provider: str, model: str) -> SessionId:
    def create() -> SessionId:
        chosen, wanted = check_choice(app, provider, model)
        return app.sessions.create(provider=chosen, model=wanted).id

    return await anyio.to_thread.run_sync(create)


def _check_message(app: App, session_id: str, staged: tuple[str, ...]) -> None:
    """Before anything is made or kept: whether conversation and files are there. Raises InputError, NotFoundError."""
    if session_id:
        app.sessions.load(SessionId(session_id))
    if len(staged) > MAX_FILES:
        raise InputError(
            _("%(count)d files are too many for one message", count=len(staged)),
            hint=_("Send at most %(count)d at a time", count=MAX_FILES),
            code="too_many_files",
        )
    for staged_id in staged:
        app.attachments.find(staged_id)


async def _take(app: App, session_id: SessionId, text: str, staged: tuple[str, ...], accept: str) -> Response:
    claimed = await anyio.to_thread.run_sync(app.attachments.claim, session_id, staged) if staged else Claimed()
    try:
        ticket = await app.turns.start(session_id, text, claimed.parts)
    except SkalesError:
        await anyio.to_thread.run_sync(app.attachments.release, claimed)
        raise
    await anyio.to_thread.run_sync(app.attachments.settle, claimed)
    where = f"/chat/{session_id}"
    if _wants_json(accept):
        return JSONResponse({"go": where, "queued": ticket.queued, "took": True})
    return RedirectResponse(where, status_code=303)


async def _answer(app: App, outcome: Outcome, session_id: str, accept: str) -> Response:
    match outcome:
        case Go(address):
            return _lead_to(address, {"go": address}, accept)
        case Tell(lines):
            return await _tell(app, outcome, session_id, {"tell": list(lines)}, accept)
        case Act(name, instead, facts):
            told = {"do": name, **facts, "tell": list(instead.lines) if isinstance(instead, Tell) else []}
            if isinstance(instead, Go):
                return _lead_to(instead.address, {**told, "go": instead.address}, accept)
            return await _tell(app, instead, session_id, told, accept)
        case Say():
            raise AssertionError("messages are taken, not answered")
        case _:
            assert_never(outcome)


def _lead_to(address: str, told: Mapping[str, object], accept: str) -> Response:
    return JSONResponse(told) if _wants_json(accept) else RedirectResponse(address, status_code=303)


async def _tell(app: App, outcome: Tell, session_id: str, told: Mapping[str, object], accept: str) -> Response:
    if _wants_json(accept):
        return JSONResponse(told)
    page: HTMLResponse = PageResponse(render(await anyio.to_thread.run_sync(build_told, app, outcome, session_id)))
    return page


def _wants_json(accept: str) -> bool:
    return "application/json" in accept
