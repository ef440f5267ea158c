"""Files for a message that is being written: taken in as they stream, shown as cards, forgotten again."""

from collections.abc import AsyncGenerator
from typing import ClassVar

import anyio.to_thread
from fastapi import APIRouter, Query, Request
from fastapi.responses import FileResponse, Response
from msgspec import Struct
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from skales.app.app import App
from skales.app.attachments import MAX_FILE_BYTES, Incoming, too_large
from skales.core.errors import InputError, NotFoundError
from skales.data.attachments import Staged, safe_name
from skales.server.access import AppDep, PageSession
from skales.server.errors import HttpError
from skales.server.told import told
from skales.server.ui.pages import PageResponse, render
from skales.server.ui.phrases import show_size
from skales.server.ui.sent import show_ending
from skales.server.words import _

router = APIRouter(prefix="/ui/attachments", dependencies=[PageSession])

# What stands around the bytes of a file in a form.
_ENVELOPE_BYTES = 64 * 1024
_COPY_BYTES = 1024 * 1024
_PRIVATE = {
    "cache-control": "private, max-age=86400, immutable",
    "content-security-policy": "default-src 'none'; sandbox",
}


class AttachmentCard(Struct, frozen=True):
    """A file in the composer. `picture` is the address of a small view of it, empty for what is no picture."""

    template: ClassVar[str] = "chat/attachment.html"
    id: str
    name: str
    ending: str
    facts: str
    picture: str = ""
    notice: str = ""


class AttachmentCards(Struct, frozen=True):
    """The files that a draft names, as far as they are still there."""

    template: ClassVar[str] = "chat/attachments.html"
    cards: tuple[AttachmentCard, ...]


@router.post("")
async def attach(app: AppDep, request: Request) -> dict[str, str]:
    """Take one file. Raises InputError that says why it cannot be attached, StorageError."""
    _refuse_announced_size(request)
    upload = await _parse_upload(request)
    try:
        staged = await anyio.to_thread.run_sync(_stage, app, upload)
    finally:
        await upload.close()
    await anyio.to_thread.run_sync(app.attachments.sweep)
    return {"id": staged.id, "kind": staged.kind, "html": render(build_attachment(staged))}


@router.get("", response_class=PageResponse)
def list_attachments(app: AppDep, ids: str = Query("", alias="id")) -> str:
    """Cards of the named files, in their order; those that are gone are left out."""
    found: list[AttachmentCard] = []
    for staged_id in filter(None, ids.split(",")):
        try:
            found.append(build_attachment(app.attachments.find(staged_id)))
        except NotFoundError:
            continue
    return render(AttachmentCards(tuple(found)))


@router.get("/{staged_id}/picture")
def show_picture(app: AppDep, staged_id: str) -> FileResponse:
    """The picture itself. Raises NotFoundError for anything else."""
    staged = app.attachments.find(staged_id)
    if staged.kind != "picture":
        raise NotFoundError(_("This file is no picture"))
    return FileResponse(app.attachments.content_path(staged_id), media_type=staged.media_type, headers=_PRIVATE)


@router.delete("/{staged_id}")
def detach(app: AppDep, staged_id: str) -> Response:
    """Forget a file that was to go with a message."""
    app.attachments.find(staged_id)
    app.attachments.discard(staged_id)
    return Response(status_code=204)


def build_attachment(staged: Staged) -> AttachmentCard:
    """A file as a card."""
    return AttachmentCard(
        id=staged.id,
        name=staged.name,
        ending=show_ending(staged.name),
        facts=show_size(staged.size_bytes),
        picture=f"/ui/attachments/{staged.id}/picture" if staged.kind == "picture" else "",
        notice=told(staged.notice),
    )


def _refuse_announced_size(request: Request) -> None:
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > MAX_FILE_BYTES + _ENVELOPE_BYTES:
        raise too_large(_("The file"))


async def _parse_upload(request: Request) -> UploadFile:
    """The one file of a form; what is too large is refused while it comes, not after."""
    parser = MultiPartParser(request.headers, _measured(request), max_files=1, max_fields=0)
    try:
        form = await parser.parse()
    except (MultiPartException, KeyError) as error:
        raise HttpError(400, _("The upload cannot be read"), hint=_("Attach one file at a time")) from error
    upload = form.get("file")
    if not isinstance(upload, UploadFile):
        await form.close()
        raise InputError(_("No file came with the request"))
    return upload


async def _measured(request: Request) -> AsyncGenerator[bytes, None]:
    received = 0
    async for piece in request.stream():
        received += len(piece)
        if received > MAX_FILE_BYTES + _ENVELOPE_BYTES:
            raise too_large(_("The file"))
        yield piece


def _stage(app: App, upload: UploadFile) -> Staged:
    with app.attachments.receive() as incoming:
        _write(incoming, upload)
        return incoming.finish(safe_name(upload.filename or ""))


def _write(incoming: Incoming, upload: UploadFile) -> None:
    with incoming.path.open("wb") as file:
        while piece := upload.file.read(_COPY_BYTES):
            file.write(piece)
