"""Files on their way: staged, sent, waiting in the queue, read by tools, gone with their conversation."""

import base64
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from io import BytesIO

import anyio
import anyio.lowlevel
import pytest

from skales.app.app import App
from skales.app.attachments import MAX_FILES, MAX_PICTURE_BYTES, MAX_TEXT_CHARACTERS
from skales.core.errors import InputError, NotFoundError
from skales.core.events import ToolFinished, TurnEnd
from skales.core.ids import SessionId
from skales.core.message import FilePart, ImagePart, Role, TextPart
from skales.core.ports import DocumentLimits, ModelTraits
from skales.data.attachments import Staged
from skales.data.paths import DataDirectory
from tests.journeys.conftest import OpenApp, collect, end_of, run_turn
from tests.scripted import Hang, ScriptedProvider, says

pytestmark = pytest.mark.anyio

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


def stage(app: App, name: str, content: bytes) -> Staged:
    with app.attachments.receive() as incoming:
        incoming.path.write_bytes(content)
        return incoming.finish(name)


def pack(parts: Mapping[str, bytes]) -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return buffer.getvalue()


async def test_a_document_reaches_the_model_as_text_and_stays_on_disk(open_scripted: OpenApp) -> None:
    provider = ScriptedProvider([says("Milk.")])
    async with open_scripted(provider=provider) as app:
        session_id = app.sessions.create().id
        claimed = app.attachments.claim(session_id, [stage(app, "notes.md", b"buy milk").id])
        await app.turns.start(session_id, "What to buy?", claimed.parts)
        await collect(app, session_id)
        (message, _answer) = app.sessions.load(session_id).messages
        assert message.content[1:] == (TextPart("What to buy?"),)
        file = message.content[0]
        assert isinstance(file, FilePart)
        assert (file.name, file.media_type, file.text) == ("notes.md", "text/markdown", "buy milk")
        assert claimed.kept[0].read_bytes() == b"buy milk"
        assert file.path == str(claimed.kept[0])
        assert file in provider.requests[0].messages[-1].content


async def test_a_pdf_goes_as_it_is_to_a_model_that_takes_it_and_is_never_stored_so(open_scripted: OpenApp) -> None:
    provider = ScriptedProvider([says("Fine."), says("Sure.")])
    traits = ModelTraits(documents=DocumentLimits(frozenset({"application/pdf"})), output_cap_tokens=700)
    async with open_scripted(provider=provider, traits=traits) as app:
        session_id = app.sessions.create().id
        content = write_pdf()
        claimed = app.attachments.claim(session_id, [stage(app, "report.pdf", content).id])
        await app.turns.start(session_id, "Sum it up", claimed.parts)
        await collect(app, session_id)
        await run_turn(app, "Sure?", session_id)
        first, second = provider.requests
        (document, _words) = first.messages[1].content
        assert isinstance(document, FilePart)
        assert base64.b64decode(document.data_base64) == content
        assert second.messages[1] == first.messages[1]
        assert first.max_output_tokens == 700
        kept = app.sessions.load(session_id).messages[0].content[0]
        assert kept == replace(document, data_base64="")
        assert document.data_base64[:40] not in (app.directory.sessions / f"{session_id}.json").read_text("utf-8")


def write_pdf() -> bytes:
    """One blank page, which the reader takes for a scan."""
    from pypdf import PdfWriter

    writer, buffer = PdfWriter(), BytesIO()
    writer.add_blank_page(200, 200)
    writer.write(buffer)
    return buffer.getvalue()


@pytest.mark.parametrize("sees", [True, False])
async def test_a_picture_goes_to_models_that_see_and_only_its_name_to_others(
    open_scripted: OpenApp, sees: bool
) -> None:
    provider = ScriptedProvider([says("A cat.")])
    async with open_scripted(provider=provider, sees=sees) as app:
        session_id = app.sessions.create().id
        claimed = app.attachments.claim(session_id, [stage(app, "cat.txt", PNG).id])
        await app.turns.start(session_id, "", claimed.parts)
        await collect(app, session_id)
        sent = provider.requests[0].messages[-1]
        assert any(isinstance(part, ImagePart) for part in sent.content) is sees
        assert ("cannot see" in sent.text) is not sees
        kept = app.sessions.load(session_id).messages[0].content
        assert kept == (ImagePart("image/png", base64.b64encode(PNG).decode(), "cat.txt"),)


async def test_files_of_a_message_that_waits_wait_with_it_through_a_restart(
    open_scripted: OpenApp, home: DataDirectory
) -> None:
    async with open_scripted([Hang()]) as app:
        session_id = app.sessions.create().id
        await app.turns.start(session_id, "first")
        claimed = app.attachments.claim(session_id, [stage(app, "notes.md", b"buy milk").id])
        assert (await app.turns.start(session_id, "second", claimed.parts)).queued
        app.attachments.settle(claimed)
    provider = ScriptedProvider([says("done")])
    async with open_scripted(provider=provider) as app:
        await app.turns.resume(session_id)
        await collect(app, session_id)
        said = provider.requests[0].messages[-1]
        assert said.text == "second"
        assert [part.text for part in said.content if isinstance(part, FilePart)] == ["buy milk"]
        assert app.sessions.load(session_id).queued == ()


async def test_stopping_everything_leaves_what_waits_waiting(open_scripted: OpenApp) -> None:
    async with open_scripted([Hang()]) as app:
        sessions = [app.sessions.create().id for _ in range(2)]
        for session_id in sessions:
            await app.turns.start(session_id, "go")
        await app.turns.start(sessions[0], "later")
        assert app.turns.stop_all() == 2
        for session_id in sessions:
            assert end_of(await collect(app, session_id)).end is TurnEnd.STOPPED
        with anyio.fail_after(5):
            while any(map(app.turns.running, sessions)):
                await anyio.lowlevel.checkpoint()
        assert [waiting.text for waiting in app.sessions.load(sessions[0]).queued] == ["later"]
        assert app.turns.stop_all() == 0


async def test_tools_may_read_what_was_attached_and_nothing_beside_it(
    open_scripted: OpenApp, home: DataDirectory
) -> None:
    async with open_scripted([]) as app:
        session_id = app.sessions.create().id
        (path,) = app.attachments.claim(session_id, [stage(app, "data.csv", b"a,b\n1,2\n").id]).kept
        _, events = await run_turn(app, f"/tool read_file path={path}", session_id)
        (finished,) = [event for event in events if isinstance(event, ToolFinished)]
        assert "2\t1\t2" in finished.result.text
        _, events = await run_turn(app, f"/tool read_file path={home.settings}", session_id)
        (finished,) = [event for event in events if isinstance(event, ToolFinished)]
        assert finished.result.is_error


async def test_deleting_and_bringing_back_loses_no_file(open_scripted: OpenApp) -> None:
    async with open_scripted([says("ok")]) as app:
        session_id, _ = await run_turn(app, "hi")
        (path,) = app.attachments.claim(session_id, [stage(app, "notes.md", b"buy milk").id]).kept
        app.sessions.delete(session_id)
        app.attachments.sweep()
        app.sessions.restore(session_id)
        assert path.read_bytes() == b"buy milk"


async def test_a_message_that_was_not_taken_leaves_its_files_waiting(open_scripted: OpenApp) -> None:
    async with open_scripted([]) as app:
        session_id = app.sessions.create().id
        staged = stage(app, "notes.md", b"buy milk")
        claimed = app.attachments.claim(session_id, [staged.id])
        app.attachments.release(claimed)
        assert not claimed.kept[0].exists()
        assert app.attachments.find(staged.id) == staged


async def test_one_file_that_is_gone_keeps_none(open_scripted: OpenApp, home: DataDirectory) -> None:
    async with open_scripted([]) as app:
        session_id = app.sessions.create().id
        staged = stage(app, "notes.md", b"buy milk")
        with pytest.raises(NotFoundError):
            app.attachments.claim(session_id, [staged.id, "gone"])
        assert not (home.attachments / session_id).exists()


async def test_more_than_twenty_files_are_refused(open_scripted: OpenApp) -> None:
    async with open_scripted([]) as app:
        with pytest.raises(InputError) as caught:
            app.attachments.claim(SessionId("session_1"), [str(number) for number in range(MAX_FILES + 1)])
        assert caught.value.code == "too_many_files"


async def test_a_long_text_is_cut_and_says_where_the_rest_is(open_scripted: OpenApp) -> None:
    async with open_scripted([]) as app:
        session_id = app.sessions.create().id
        staged = stage(app, "long.txt", b"0123456789" * (MAX_TEXT_CHARACTERS // 5))
        assert "120,000 characters" in staged.notice
        (part,) = app.attachments.claim(session_id, [staged.id]).parts
        assert isinstance(part, FilePart)
        assert part.text[MAX_TEXT_CHARACTERS - 1] == "9"
        assert part.text[MAX_TEXT_CHARACTERS:].startswith("\n[Cut here after 120,000 characters; read_file")
        assert part.path in part.text


@pytest.mark.parametrize(
    ("name", "content", "kind", "media_type"),
    [
        ("photo.txt", PNG, "picture", "image/png"),
        ("photo", b"\xff\xd8\xff\xe0" + bytes(9), "picture", "image/jpeg"),
        ("photo.pdf", b"GIF89a" + bytes(9), "picture", "image/gif"),
        ("photo", b"RIFF\0\0\0\0WEBPVP8 ", "picture", "image/webp"),
        ("photo.png", b"just words", "document", "text/plain"),
        ("page.html", b"<p>Hi", "document", "text/html"),
        ("drawing.svg", b"<svg xmlns='x'></svg>", "document", "image/svg+xml"),
        ("data.json", b"{}", "document", "application/json"),
        ("words.txt", "Grüße".encode("cp1252"), "document", "text/plain"),
        ("words.txt", "Grüße".encode("utf-16"), "document", "text/plain"),
        ("things.zip", pack({"a": b"x"}), "file", "application/octet-stream"),
        ("report.pdf", b"%PDF-1.7 broken", "file", "application/pdf"),
        ("song.mp3", b"ID3" + bytes(40), "file", "application/octet-stream"),
        ("noise.txt", bytes(range(256)) * 4, "file", "application/octet-stream"),
        ("blank.txt", b" \n\t ", "file", "application/octet-stream"),
    ],
)
async def test_the_content_decides_what_a_file_is(
    open_scripted: OpenApp, name: str, content: bytes, kind: str, media_type: str
) -> None:
    async with open_scripted([]) as app:
        staged = stage(app, name, content)
        assert (staged.kind, staged.media_type) == (kind, media_type)
        assert bool(staged.notice) is (kind == "file")


async def test_a_file_without_text_tells_the_model_where_it_lies(open_scripted: OpenApp) -> None:
    async with open_scripted([]) as app:
        session_id = app.sessions.create().id
        (part,) = app.attachments.claim(session_id, [stage(app, "things.zip", pack({"a": b"x"})).id]).parts
        assert isinstance(part, FilePart)
        assert part.text == f"[It is a zip archive, not text. The file lies at {part.path}; tools may open it there.]"


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "empty_file"),
        (b"\0\0\0\x18ftypheic" + bytes(9), "picture_kind"),
        (b"BM" + bytes(40), "picture_kind"),
        (b"II*\0" + bytes(40), "picture_kind"),
        (PNG + bytes(MAX_PICTURE_BYTES), "file_too_large"),
    ],
    ids=["empty", "heic", "bmp", "tiff", "large picture"],
)
async def test_what_cannot_be_attached_is_refused_and_leaves_nothing(
    open_scripted: OpenApp, home: DataDirectory, content: bytes, code: str
) -> None:
    async with open_scripted([]) as app:
        with pytest.raises(InputError) as caught:
            stage(app, "it.png", content)
        assert caught.value.code == code
        assert caught.value.hint
        assert list(home.uploads.iterdir()) == []


async def test_a_document_that_unpacks_to_a_bomb_is_refused(open_scripted: OpenApp) -> None:
    bomb = pack({"[Content_Types].xml": b"<x/>", "word/document.xml": bytes(40 * 1024 * 1024)})
    async with open_scripted([]) as app:
        with pytest.raises(InputError) as caught:
            stage(app, "bomb.docx", bomb)
        assert caught.value.code == "too_large"


async def test_starting_sweeps_what_nobody_waits_for(open_scripted: OpenApp) -> None:
    async with open_scripted([]) as app:
        session_id = app.sessions.create().id
        (path,) = app.attachments.claim(session_id, [stage(app, "notes.md", b"buy milk").id]).kept
        (path.parent.parent.parent / "sessions" / f"{session_id}.json").unlink()
        app.attachments.sweep()
        assert not path.exists()


async def test_history_that_holds_files_is_cut_by_what_they_weigh(open_scripted: OpenApp) -> None:
    provider = ScriptedProvider([says("ok")], window_tokens=28_000)
    async with open_scripted(provider=provider) as app:
        app.settings.set_value("compactAtPercent", "0")
        session_id = app.sessions.create().id
        big = FilePart("big.txt", "text/plain", 1, "word " * 20_000)
        await app.turns.start(session_id, "first", [big])
        await collect(app, session_id)
        _, _events = await run_turn(app, "second", session_id)
        roles = [message.role for message in provider.requests[-1].messages]
        assert roles == [Role.SYSTEM, Role.USER]
