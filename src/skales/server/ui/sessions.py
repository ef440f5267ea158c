"""What a person does with conversations in the sidebar: find, rename, pin, sort into folders, delete, bring back."""

from typing import Annotated

from anyio import from_thread
from fastapi import APIRouter, Form
from fastapi.responses import Response

from skales.app.arranging import arrange_session, name_folder
from skales.core.errors import InputError
from skales.core.ids import SessionId
from skales.server.access import AppDep, PageSession
from skales.server.ui.history import build_session_list, parse_cursor
from skales.server.ui.history_views import MoveForm
from skales.server.ui.pages import PageResponse, render
from skales.server.words import _

router = APIRouter(prefix="/ui/sessions", dependencies=[PageSession])

_LONGEST_TITLE = 120


@router.get("", response_class=PageResponse)
def list_sessions(app: AppDep, q: str = "", current: str = "", before: str = "", folder: str = "") -> str:
    """A stretch of the list, for the search, for a folder, and for what lies further down."""
    return render(build_session_list(app, current=current, query=q, before=parse_cursor(before), folder=folder))


@router.post("/{session_id}/title")
def rename(app: AppDep, session_id: SessionId, title: Annotated[str, Form()] = "") -> dict[str, str]:
    """Give a conversation a name; an empty one gives the default back. Raises NotFoundError."""
    line = " ".join(title.split())[:_LONGEST_TITLE]
    return {"title": app.sessions.update(session_id, title=line).title}


@router.post("/{session_id}/pin")
def pin(app: AppDep, session_id: SessionId, pinned: Annotated[bool, Form()]) -> dict[str, bool]:
    """Keep a conversation at the top, or no longer. Raises NotFoundError."""
    return {"pinned": arrange_session(app.sessions, session_id, pinned, None).pinned}


@router.get("/{session_id}/move", response_class=PageResponse)
def show_move(app: AppDep, session_id: SessionId) -> str:
    """The form that asks for a folder. Raises NotFoundError."""
    session = app.sessions.load(session_id)
    folders = tuple(found.name for found in app.sessions.folders())
    return render(MoveForm(session_id, session.title or _("New chat"), session.folder, folders))


@router.post("/{session_id}/folder")
def move(app: AppDep, session_id: SessionId, folder: Annotated[str, Form()] = "") -> dict[str, str]:
    """Put a conversation into a folder, which is made by that; an empty name takes it out. Raises NotFoundError."""
    before = app.sessions.load(session_id).folder
    return {"folder": arrange_session(app.sessions, session_id, None, folder).folder, "before": before}


@router.post("/folders/rename")
def rename_folder(app: AppDep, old: Annotated[str, Form()], new: Annotated[str, Form()] = "") -> dict[str, str]:
    """Give a folder another name; one that another folder has brings both together. Raises InputError."""
    name = name_folder(new)
    if not name:
        raise InputError(_("The folder needs a name"))
    app.sessions.rename_folder(old, name)
    return {"folder": name}


@router.delete("/{session_id}")
def delete(app: AppDep, session_id: SessionId) -> Response:
    """Stop what runs in it and move it to the trash. Raises NotFoundError."""
    from_thread.run_sync(app.turns.stop, session_id)
    app.sessions.delete(session_id)
    from_thread.run_sync(app.turns.tell_changed, session_id)
    return Response(status_code=204)


@router.post("/{session_id}/restore")
def restore(app: AppDep, session_id: SessionId) -> Response:
    """Bring it back from the trash. Raises NotFoundError, ConflictError."""
    app.sessions.restore(session_id)
    return Response(status_code=204)
