"""What an answer may show besides text: frames for pages and diagrams, files of the workspace."""

import mimetypes
import stat
from pathlib import Path

from fastapi import APIRouter, Query
from fastapi.responses import FileResponse, HTMLResponse

from skales.core.errors import InputError, NotFoundError
from skales.core.tool import Outcome
from skales.security.paths import PathPolicy, decide_path, resolve_path
from skales.server.access import AppDep, PageSession
from skales.server.preview import FrameDocument, diagram_document, page_document
from skales.server.words import _

router = APIRouter(prefix="/ui/preview", dependencies=[PageSession])

# Shown in the page; every other file is saved, not opened.
_SHOWN = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".avif": "image/avif",
    ".svg": "image/svg+xml",
}
_FILE_RULES = {
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'",
    "connection-allowlist": "()",
    "cache-control": "no-cache",
}
# The address of a frame holds no content, so one answer serves until the program is another.
_FRAME_RULES = {"cache-control": "no-cache"}


@router.get("/page")
def show_page_frame() -> HTMLResponse:
    """The frame in which a page that a model wrote is shown."""
    return _answer(page_document())


@router.get("/diagram")
def show_diagram_frame() -> HTMLResponse:
    """The frame in which a diagram is drawn."""
    return _answer(diagram_document())


@router.get("/file")
def read_file(app: AppDep, path: str = Query(min_length=1, max_length=4000)) -> FileResponse:
    """A file of the workspace: pictures to be shown, everything else to be saved. Raises InputError, NotFoundError."""
    found = find_file(app.directory.workspace, path)
    shown_as = _SHOWN.get(found.suffix.lower())
    media_type = shown_as or mimetypes.guess_type(found.name)[0] or "application/octet-stream"
    disposition = "inline" if shown_as else "attachment"
    return FileResponse(
        found, media_type=media_type, filename=found.name, content_disposition_type=disposition, headers=_FILE_RULES
    )


def find_file(workspace: Path, path: str) -> Path:
    """The file a path means, links followed. Raises InputError outside the workspace, NotFoundError for no file."""
    policy = PathPolicy(workspace)
    found = resolve_path(path, policy)
    if decide_path(found, policy).outcome is not Outcome.ALLOW:
        raise InputError(_("This file is outside the workspace"), hint=_("Only files of the workspace are shown here"))
    try:
        is_file = stat.S_ISREG(found.stat().st_mode)
    except OSError:
        is_file = False
    if not is_file:
        raise NotFoundError(_("This file does not exist"), hint=_("It may have been moved or deleted"))
    return found


def _answer(document: FrameDocument) -> HTMLResponse:
    return HTMLResponse(document.html, headers={**_FRAME_RULES, **document.headers})
