"""The sidebar's conversations: find, rename, delete, bring back."""

from typing import Annotated

from fastapi import APIRouter, Form
from fastapi.responses import Response

from skales.core.ids import SessionId
from skales.server.access import AppDep, PageSession
from skales.server.ui.frame import build_session_list, parse_cursor
from skales.server.ui.pages import PageResponse, render

router = APIRouter(prefix="/ui/sessions", dependencies=[PageSession])

_LONGEST_TITLE = 120


@router.get("", response_class=PageResponse)
def list_sessions(app: AppDep, q: str = "", current: str = "", before: str = "") -> str:
    """A stretch of the list, for the search and for what lies further down."""
    return render(build_session_list(app, current=current, query=q, before=parse_cursor(before)))


@router.post("/{session_id}/title")
def rename(app: AppDep, session_id: SessionId, title: Annotated[str, Form()] = "") -> dict[str, str]:
    """Give a conversation a name; an empty one gives the default back. Raises NotFoundError."""
    line = " ".join(title.split())[:_LONGEST_TITLE]
    return {"title": app.sessions.update(session_id, title=line).title}


@router.delete("/{session_id}")
def delete(app: AppDep, session_id: SessionId) -> Response:
    """Stop what runs in it and move it to the trash. Raises NotFoundError."""
    app.sessions.delete(session_id)
    return Response(status_code=204)


@router.post("/{session_id}/restore")
def restore(app: AppDep, session_id: SessionId) -> Response:
    """Bring it back from the trash. Raises NotFoundError, ConflictError."""
    app.sessions.restore(session_id)
    return Response(status_code=204)
