"""Our own routes to the undo timeline, for the terminal and other programs of the person."""

from fastapi import APIRouter

from skales.app.undo import parse_wish, report_preview, report_step, report_timeline
from skales.server.access import AppDep, KnownCaller
from skales.server.bodies import Answer, JsonBody

router = APIRouter(prefix="/api/undo", dependencies=[KnownCaller])

_MOST = 500


@router.get("")
def read_timeline(app: AppDep, limit: int = 50) -> Answer:
    """The newest steps first."""
    return report_timeline(app.undo, min(max(limit, 1), _MOST))


@router.post("/preview")
def preview(app: AppDep, body: JsonBody) -> Answer:
    """What taking back `{step, turn, redo}` would do; 409 when there is nothing."""
    return report_preview(app.undo.preview(parse_wish(body)))


@router.post("")
def undo(app: AppDep, body: JsonBody) -> Answer:
    """Take it back; 409 when something was changed since, and nothing is changed then unless `partial` is true."""
    return report_step(app.undo.run(parse_wish(body)))
