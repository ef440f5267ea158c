"""Whether the server answers, and which program it is: what asks for it has nothing to show yet."""

from fastapi import APIRouter

from skales import __version__
from skales.server.bodies import Answer

router = APIRouter(prefix="/api")


@router.get("/health")
def read_health() -> Answer:
    """Open to every program of this machine."""
    return {"status": "ok", "app": "skales-python", "version": __version__}
