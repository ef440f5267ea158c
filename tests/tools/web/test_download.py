"""download_file: a file arrives whole under a safe name, or nothing is left of it."""

import asyncio
import gzip
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from msgspec import structs

from skales.core.errors import InputError, ToolError, ToolRefusedError
from skales.core.events import Progress
from skales.core.ports import CallScope
from skales.core.tool import Effect, Safety
from skales.tools.context import ToolContext
from skales.tools.define import Url
from skales.tools.registry import BuiltinToolbox
from skales.tools.web import download
from skales.tools.web.download import download_file
from skales.tools.web.filenames import choose_name, numbered, safe_name
from tests.conftest import FixedClock
from tests.tools.conftest import Call
from tests.tools.web.conftest import LocalServer, reply

pytestmark = pytest.mark.anyio


def files_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if path.is_file()}


def test_download_asks_and_writes(toolbox: BuiltinToolbox) -> None:
    spec = toolbox.find("download_file")
    assert spec is not None
    assert (spec.category, spec.safety) == ("web", Safety.CONFIRM)
    assert spec.effects == {Effect.OUTBOUND, Effect.WRITES, Effect.UNTRUSTED_OUTPUT}


async def test_file_arrives_whole_under_the_servers_name(server: LocalServer, call: Call, workspace: Path) -> None:
    body = os.urandom(3_000_000)
    server.answers["/get"] = reply(
        body, "application/pdf", headers={"Content-Disposition": 'attachment; filename="Report 1.pdf"'}
    )
    result = await call("download_file", url=server.url("/get"))
    assert (workspace / "Report 1.pdf").read_bytes() == body
    assert files_in(workspace) == {"Report 1.pdf"}
    assert result.files == (str(workspace / "Report 1.pdf"),)
    assert result.text.startswith("Saved 2.9 MB (application/pdf) as Report 1.pdf. It comes from the web")
    assert "Accept-Encoding: identity" in server.requests[0]


async def test_redirects_are_followed_and_name_the_file(server: LocalServer, call: Call, workspace: Path) -> None:
    server.answers["/a"] = b"HTTP/1.1 302 Found\r\nLocation: /real.txt\r\nContent-Length: 0\r\n\r\n"
    server.answers["/real.txt"] = reply(b"hello", "text/plain")
    await call("download_file", url=server.url("/a"))
    assert (workspace / "real.txt").read_text(encoding="utf-8") == "hello"


async def test_nothing_is_replaced(server: LocalServer, call: Call, workspace: Path) -> None:
    server.answers["/a.txt"] = reply(b"new", "text/plain")
    (workspace / "a.txt").write_text("old", encoding="utf-8")
    (workspace / "a (2).txt").symlink_to(workspace / "nowhere")
    await call("download_file", url=server.url("/a.txt"))
    assert (workspace / "a.txt").read_text(encoding="utf-8") == "old"
    assert (workspace / "a (3).txt").read_text(encoding="utf-8") == "new"
    with pytest.raises(ToolError, match="exists already"):
        await call("download_file", url=server.url("/a.txt"), filename="a.txt")


async def test_chosen_name_and_folder_are_used(server: LocalServer, call: Call, workspace: Path) -> None:
    server.answers["/x"] = reply(b"data", "text/plain")
    result = await call("download_file", url=server.url("/x"), filename="my.csv", folder="made/below")
    assert (workspace / "made" / "below" / "my.csv").read_bytes() == b"data"
    assert result.summary == "Downloaded made/below/my.csv (4 bytes)"


BAD_NAMES = (
    "../up.txt", "/etc/passwd", "a/b", "a\\b", "..", "nul.txt", "a\nb", "a\x00b", ".bashrc", "a\udc80", "x" * 5_000,
)  # fmt: skip


@pytest.mark.parametrize("name", BAD_NAMES, ids=range(len(BAD_NAMES)))
async def test_name_that_could_lead_elsewhere_is_refused(
    server: LocalServer, call: Call, workspace: Path, name: str
) -> None:
    with pytest.raises(ToolError, match="cannot name a file everywhere"):
        await call("download_file", url=server.url("/x"), filename=name)
    assert server.requests == []
    assert files_in(workspace) == set()


@pytest.mark.parametrize("folder", ["..", "/", "/tmp"])
async def test_folder_beyond_the_allowed_ones_is_refused(server: LocalServer, call: Call, folder: str) -> None:
    with pytest.raises(ToolRefusedError):
        await call("download_file", url=server.url("/x"), folder=folder)
    assert server.requests == []


async def test_folder_that_leads_out_by_a_link_is_refused(server: LocalServer, call: Call, workspace: Path) -> None:
    (workspace / "out").symlink_to("/tmp")
    with pytest.raises(ToolRefusedError):
        await call("download_file", url=server.url("/x"), folder="out")


async def test_file_in_place_of_the_folder_is_named(server: LocalServer, call: Call, workspace: Path) -> None:
    (workspace / "file").write_text("x", encoding="utf-8")
    with pytest.raises(ToolError, match="is a file"):
        await call("download_file", url=server.url("/x"), folder="file")


@pytest.mark.parametrize(
    "answer",
    [
        reply(b"gone", status="404 Not Found"),
        b"HTTP/1.1 304 Not Modified\r\nConnection: close\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnope",
        b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999\r\n\r\nx",
    ],
    ids=["404", "304", "cut", "cut chunk", "no chunk", "no gzip", "too large"],
)
async def test_what_does_not_arrive_whole_leaves_nothing(
    server: LocalServer, call: Call, workspace: Path, answer: bytes
) -> None:
    server.answers["/f.bin"] = answer
    with pytest.raises(ToolError):
        await call("download_file", url=server.url("/f.bin"))
    assert files_in(workspace) == set()


async def test_compressed_body_is_saved_as_the_file_it_is(server: LocalServer, call: Call, workspace: Path) -> None:
    server.answers["/f.txt"] = reply(gzip.compress(b"words"), "text/plain", headers={"Content-Encoding": "gzip"})
    await call("download_file", url=server.url("/f.txt"))
    assert (workspace / "f.txt").read_bytes() == b"words"


async def test_file_beyond_the_most_is_given_up_while_it_comes(
    server: LocalServer, call: Call, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "MOST_BYTES", 1_000)
    endless = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + b"x" * 200_000
    server.answers["/f"] = endless
    with pytest.raises(ToolError, match="larger than 1000 bytes"):
        await call("download_file", url=server.url("/f"))
    assert files_in(workspace) == set()


@pytest.fixture
def place(workspace: Path) -> Path:
    """The workspace as the gate hands it on."""
    return workspace.resolve()


async def test_cancelling_leaves_nothing_behind(server: LocalServer, ctx: ToolContext, place: Path) -> None:
    begun = anyio.Event()

    async def half(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\n\r\n" + b"x" * 2_000_000)
        await writer.drain()
        await asyncio.sleep(30)

    def report(progress: Progress) -> None:
        assert (progress.label, progress.total, progress.unit) == ("Downloading", 9_000_000, "bytes")
        assert 0 < progress.done < progress.total
        begun.set()

    server.answers["/f"] = half
    watched = structs.replace(ctx, scope=replace(ctx.scope, report=report))
    async with anyio.create_task_group() as group:
        group.start_soon(download_file, watched, Url(server.url("/f")), "", place)
        await begun.wait()
        assert len(files_in(place)) == 1
        group.cancel_scope.cancel()
    assert files_in(place) == set()


async def test_server_that_trickles_is_given_up(
    server: LocalServer,
    contexts: Callable[[CallScope], ToolContext],
    scope: CallScope,
    clock: FixedClock,
    place: Path,
) -> None:
    async def trickle(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nx")
        await writer.drain()
        while True:
            clock.advance(30)
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.01)

    server.answers["/f"] = trickle
    with pytest.raises(ToolError, match="sends too slowly"):
        await download_file(contexts(scope), Url(server.url("/f")), "", place)
    assert files_in(place) == set()


async def test_file_is_marked_as_from_the_web_without_secrets(server: LocalServer, call: Call, workspace: Path) -> None:
    try:
        os.setxattr(workspace, "user.probe", b"x")
    except (AttributeError, OSError):
        pytest.skip("this disk keeps no marks")
    server.answers["/f.txt"] = reply(b"x", "text/plain")
    await call("download_file", url=server.url("/f.txt?token=abc").replace("//", "//ana:pw@"))
    assert os.getxattr(workspace / "f.txt", "user.xdg.origin.url") == server.url("/f.txt").encode()


async def test_disk_that_is_a_pipe_or_full_is_an_error(server: LocalServer, call: Call, workspace: Path) -> None:
    os.mkfifo(workspace / "f.txt")
    server.answers["/f.txt"] = reply(b"x", "text/plain")
    await call("download_file", url=server.url("/f.txt"))
    assert (workspace / "f (2).txt").read_bytes() == b"x"


# --- names ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("disposition", "address", "kind", "name"),
    [
        ("", "https://x.example/a/b.tar.gz?x=1", "", "b.tar.gz"),
        ("", "https://x.example/a%20b.txt", "", "a b.txt"),
        ("", "https://x.example/", "text/html", "download.html"),
        ("", "https://x.example/", "", "download"),
        ("", "https://x.example/photo", "image/jpeg", "photo.jpg"),
        ("attachment", "https://x.example/a.txt", "", "a.txt"),
        ('attachment; filename="a b.txt"', "https://x.example/c", "", "a b.txt"),
        ("attachment; filename=a.txt", "https://x.example/c", "", "a.txt"),
        ("ATTACHMENT; FileName=a.txt; size=3", "https://x.example/c", "", "a.txt"),
        (
            "attachment; filename=x.txt; filename*=UTF-8''%e2%82%ac%20rates.txt",
            "https://x.example/c",
            "",
            "€ rates.txt",
        ),
        ("attachment; filename*=iso-8859-1'en'%A3.txt; filename=x.txt", "https://x.example/c", "", "£.txt"),
        ("attachment; filename*=nope''%e2.txt; filename=x.txt", "https://x.example/c", "", "x.txt"),
        ("attachment; filename*=UTF-8''%ff%fe.txt", "https://x.example/c.txt", "", "c.txt"),
        ('attachment; filename="a\\"b\\\\c.txt"', "https://x.example/c", "", "c.txt"),
        ('attachment; filename="../../etc/passwd"', "https://x.example/c", "text/plain", "passwd.txt"),
        ('attachment; filename="C:\\\\Windows\\\\evil.exe"', "https://x.example/c", "", "evil.exe"),
        ('attachment; filename=".bashrc"', "https://x.example/c", "text/plain", "bashrc.txt"),
        ('attachment; filename="CON"', "https://x.example/c", "text/plain", "_CON.txt"),
        ('attachment; filename="..."', "https://x.example/c.txt", "", "c.txt"),
        ('attachment; filename="fdp\u202etxt.exe"', "https://x.example/c", "", "fdptxt.exe"),
        ('attachment; filename="BÃ¼ro.txt"', "https://x.example/c", "", "Büro.txt"),
        ('attachment; filename="a?b*c|d.txt "', "https://x.example/c", "", "a_b_c_d.txt"),
    ],
)
def test_name_is_the_servers_and_harmless(disposition: str, address: str, kind: str, name: str) -> None:
    assert choose_name(disposition, address, kind) == name


def test_long_name_keeps_its_ending() -> None:
    name = safe_name("ü" * 500 + ".docx")
    assert name.endswith("ü.docx")
    assert len(name.encode()) <= 180
    assert safe_name("x." + "y" * 500).startswith("x.y")


@pytest.mark.parametrize(
    ("name", "second"),
    [("a.pdf", "a (2).pdf"), ("a", "a (2)"), ("a.tar.gz", "a (2).tar.gz"), ("a b.c d", "a b (2).c d")],
)
def test_number_goes_before_the_ending(name: str, second: str) -> None:
    assert numbered(name, 2) == second


async def test_download_of_a_forbidden_address_is_refused(call: Call) -> None:
    with pytest.raises((ToolRefusedError, InputError)):
        await call("download_file", url="http://[fe80::1]/x")
