"""Our own routes to find and arrange conversations, for the terminal and scripts."""

from fastapi import APIRouter

from skales.app.arranging import arrange_session
from skales.app.reports import report_hits
from skales.core.ids import SessionId
from skales.server.access import AppDep, KnownCaller
from skales.server.bodies import Answer, JsonBody
from skales.server.errors import HttpError

router = APIRouter(prefix="/api/sessions", dependencies=[KnownCaller])

_MOST_HITS = 200


@router.get("/search")
def search_sessions(app: AppDep, q: str = "", limit: int = 20) -> Answer:
    """The conversations that match best, with the place in each."""
    return report_hits(app, q, min(limit, _MOST_HITS))


@router.post("/{session_id}/lift")
def lift_marks(app: AppDep, session_id: str) -> Answer:
    """What was read from others until now no longer counts; `{sources: […]}` are those that were lifted."""
    return {"sources": list(app.marks.lift(SessionId(session_id), surface="cli"))}


@router.patch("/{session_id}")
def change_session(app: AppDep, session_id: str, body: JsonBody) -> Answer:
    """Pin or unpin (`pinned`), put into a folder or, with an empty name, out of it (`folder`)."""
    pinned, folder = body.get("pinned"), body.get("folder")
    if not isinstance(pinned, bool | None) or not isinstance(folder, str | None):
        raise HttpError(400, "pinned is true or false, folder is a text")
    session = arrange_session(app.sessions, session_id, pinned, folder)
    return {"id": session.id, "pinned": session.pinned, "folder": session.folder}
