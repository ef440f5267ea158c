"""html_to_pdf with the real layout library: A4 pages, and nothing loaded that tools may not read."""

import io
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.util import find_spec
from pathlib import Path

import anyio
import pypdf
import pytest
from PIL import Image

from skales.core.errors import ToolError
from skales.core.ports import CallScope
from skales.tools.registry import BuiltinToolbox
from tests.tools.conftest import Call

pytestmark = pytest.mark.skipif(find_spec("weasyprint") is None, reason="needs WeasyPrint")


@pytest.fixture
def tracker() -> Iterator[tuple[str, list[str]]]:
    """A server that notes who asks."""
    asked: list[str] = []

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

        def log_message(self, format: str, *args: object) -> None:
            return

    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()
        thread.join()


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def pages_of(path: Path) -> pypdf.PdfReader:
    return pypdf.PdfReader(io.BytesIO(path.read_bytes()))


@pytest.mark.anyio
async def test_a_page_is_printed_on_a4_with_its_pictures(call: Call, workspace: Path) -> None:
    Image.new("RGB", (40, 40), "red").save(workspace / "logo.png")
    html = "<title>Invoice 7</title><h1>Größe</h1><img src='logo.png'><p style='page-break-before: always'>Two</p>"
    result = await call("html_to_pdf", html=html)
    assert result.files == (str(workspace / "Invoice 7.pdf"),)
    assert "2 pages" in result.summary
    read = pages_of(workspace / "Invoice 7.pdf")
    assert [round(float(side)) for side in read.pages[0].mediabox[2:]] == [595, 842]
    assert len(read.pages[0].images) == 1
    assert (
        "--- page 1 of 2 ---\nGröße\n--- page 2 of 2 ---\nTwo" in (await call("read_file", path="Invoice 7.pdf")).text
    )


@pytest.mark.anyio
async def test_nothing_is_loaded_from_the_net_or_from_closed_files(
    call: Call, workspace: Path, tracker: tuple[str, list[str]]
) -> None:
    address, asked = tracker
    Image.new("RGB", (40, 40), "red").save(workspace.parent / "secret.png")
    (workspace / "link.png").symlink_to(workspace.parent / "secret.png")
    html = (
        f"<base href='file:///'><link rel=stylesheet href='{address}/a.css'><link rel=attachment href='/etc/passwd'>"
        f"<style>@import '{address}/b.css'; @font-face {{ font-family: f; src: url({address}/f.woff) }}"
        f"p {{ background: url({address}/bg.png); font-family: f }}</style>"
        f"<p>Text</p><img src='{address}/pixel.png'><img src='file://{workspace.parent}/secret.png'>"
        f"<img src='file://{workspace}/link.png'><img src='//127.0.0.1/share.png'>"
        f"<svg xmlns='http://www.w3.org/2000/svg'><image href='{address}/svg.png'/></svg>"
    )
    result = await call("html_to_pdf", html=html, filename="a.pdf")
    assert asked == []
    assert "Not loaded, since only files that tools may read are:" in result.text
    read = pages_of(workspace / "a.pdf")
    assert len(read.pages[0].images) == 0
    assert read.attachments == {}


@pytest.mark.anyio
async def test_an_html_file_is_printed_with_what_stands_beside_it(call: Call, workspace: Path) -> None:
    (workspace / "site").mkdir()
    (workspace / "site" / "a.css").write_text("h1 { page-break-after: always }", encoding="utf-8")
    page = "<link rel=stylesheet href=a.css><h1>One</h1><p>Two</p>"
    (workspace / "site" / "page.html").write_text(page, encoding="utf-8")
    result = await call("html_to_pdf", source="site/page.html", filename="out.pdf")
    assert "2 pages" in result.summary


@pytest.mark.anyio
@pytest.mark.parametrize(
    "arguments", [{}, {"html": "<p>x", "source": "a.html"}, {"html": "<p>x", "filename": "a.docx"}]
)
async def test_unclear_orders_are_refused(call: Call, arguments: dict[str, str]) -> None:
    with pytest.raises(ToolError):
        await call("html_to_pdf", **arguments)


@pytest.mark.anyio
async def test_a_page_that_takes_for_ever_is_given_up_with_the_call(
    toolbox: BuiltinToolbox, scope: CallScope, workspace: Path
) -> None:
    spec = toolbox.find("html_to_pdf")
    assert spec is not None
    html = "<table>" + "<tr><td>" + "<table><tr><td>x" * 400
    with anyio.move_on_after(4) as limit:
        await toolbox.run(spec, {"html": html + "<p>word " * 200_000, "filename": "a.pdf"}, scope)
    assert limit.cancelled_caught
    assert names(workspace) == []
