"""Conversations as downloads: one in any form, or all in a ZIP file that is made while it is sent."""

from collections.abc import Callable, Mapping
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Depends
from fastapi.responses import Response, StreamingResponse

from skales.app.export import (
    ExportFormat,
    ExportOptions,
    export_json,
    name_file,
    prepare_session,
)
from skales.app.export_all import ARCHIVED, stream_archive
from skales.app.export_markdown import export_markdown
from skales.app.export_outline import Labels
from skales.app.export_pdf import export_pdf
from skales.core.errors import InputError
from skales.core.ids import SessionId
from skales.data.session_codec import Session
from skales.server.access import AppDep, PageSession
from skales.server.export_html import export_html
from skales.server.told import told
from skales.server.words import _, language

router = APIRouter(prefix="/ui", dependencies=[PageSession])

_MEDIA_TYPES: Mapping[ExportFormat, str] = {
    ExportFormat.MARKDOWN: "text/markdown; charset=utf-8",
    ExportFormat.JSON: "application/json",
    ExportFormat.HTML: "text/html; charset=utf-8",
    ExportFormat.PDF: "application/pdf",
}


async def _read_options(*, steps: bool = False, thoughts: bool = False, receipts: bool = False) -> ExportOptions:
    return ExportOptions(steps=steps, thoughts=thoughts, receipts=receipts)


Options = Annotated[ExportOptions, Depends(_read_options)]


@router.get("/sessions/{session_id}/export")
def export_session(app: AppDep, session_id: SessionId, options: Options, format: ExportFormat) -> Response:
    """One conversation as a file. Raises NotFoundError, BrokenDocumentError."""
    prepared = prepare_session(app.sessions.load(session_id), options, app.veil)
    labels = translate_labels()
    name = name_file(prepared.title or labels.untitled, prepared.updated_ms, format)
    return Response(_WRITERS[format](prepared, labels), headers=_headers(name, _MEDIA_TYPES[format]))


@router.get("/history/export")
def export_all(app: AppDep, format: ExportFormat) -> StreamingResponse:
    """Every conversation in a ZIP file; `x-entries` says how many there are. Raises InputError."""
    if format not in ARCHIVED:
        raise InputError(_("All conversations can be exported as Markdown or JSON only"))
    options = ExportOptions(steps=True, thoughts=format is ExportFormat.JSON, receipts=True)
    pieces = stream_archive(app.sessions, format, options, translate_labels(), app.veil)
    name = name_file(_("Skales conversations"), app.clock.now_ms(), "zip")
    headers = _headers(name, "application/zip") | {"x-entries": str(app.sessions.count())}
    return StreamingResponse(pieces, headers=headers)


def translate_labels() -> Labels:
    """The words of an export in the person's language."""
    return Labels(
        person=_("You"),
        assistant="Skales",
        thoughts=_("Thoughts"),
        arguments=_("Arguments"),
        result=_("Result"),
        failed=_("Not done"),
        untitled=_("New chat"),
        picture=_("Picture"),
        file=_("File: %(name)s"),
        incomplete=_("This answer ends early"),
        tokens=_("%(input)s tokens in, %(output)s out"),
        begun=_("Conversation of %(date)s"),
        unconfirmed=_("Not confirmed: %(sentence)s (%(reason)s)"),
        tell=told,
        missing_signs=_("No font on this computer has these signs; a ? stands for each: %(signs)s"),
    )


def _write_markdown(prepared: Session, labels: Labels) -> bytes:
    return export_markdown(prepared, labels).encode()


def _write_json(prepared: Session, _labels: Labels) -> bytes:
    return export_json(prepared).encode()


def _write_html(prepared: Session, labels: Labels) -> bytes:
    return export_html(prepared, labels).encode()


def _write_pdf(prepared: Session, labels: Labels) -> bytes:
    return export_pdf(prepared, labels, language=language())


_WRITERS: Mapping[ExportFormat, Callable[[Session, Labels], bytes]] = {
    ExportFormat.MARKDOWN: _write_markdown,
    ExportFormat.JSON: _write_json,
    ExportFormat.HTML: _write_html,
    ExportFormat.PDF: _write_pdf,
}


def _headers(name: str, media_type: str) -> dict[str, str]:
    """A download under this name. Spec: RFC 6266; the plain name is for programs that know only that."""
    plain = name.encode("ascii", "replace").decode().replace("?", "_").replace('"', "_")
    return {
        "content-type": media_type,
        "content-disposition": f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}",
        "cache-control": "no-store",
    }
