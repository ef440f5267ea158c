import io
from pathlib import Path

import pytest
from pypdf import PdfReader, PdfWriter
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from skales.core.errors import ToolError
from tests.tools.conftest import Call


def pdf_of(*pages: str) -> bytes:
    """One page per text; an empty text draws a line only, as a scanned picture would be."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4)
    for text in pages:
        for number, line in enumerate(text.split("\n")):
            canvas.drawString(72, 720 - 20 * number, line)
        canvas.line(10, 10, 50, 50)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


async def read(call: Call, workspace: Path, content: bytes, **arguments: str | int) -> str:
    (workspace / "a.pdf").write_bytes(content)
    return (await call("read_file", path="a.pdf", **arguments)).text


@pytest.mark.anyio
async def test_a_pdf_is_read_page_by_page(call: Call, workspace: Path) -> None:
    text = await read(call, workspace, pdf_of("Invoice 7\nTotal: 30", "Thanks"))
    assert text == "--- page 1 of 2 ---\nInvoice 7\nTotal: 30\n--- page 2 of 2 ---\nThanks"


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("part", "pages"),
    [("2", [2]), ("2-3", [2, 3]), ("3-", [3, 4]), ("4,1", [4, 1]), ("1-99", [1, 2, 3, 4]), (" 1 – 2 ", [1, 2])],
)
async def test_pages_can_be_chosen(call: Call, workspace: Path, part: str, pages: list[int]) -> None:
    text = await read(call, workspace, pdf_of("P1", "P2", "P3", "P4"), part=part)
    assert text == "\n".join(f"--- page {page} of 4 ---\nP{page}" for page in pages)


@pytest.mark.anyio
async def test_a_range_of_a_pdf_goes_on_where_it_says(call: Call, workspace: Path) -> None:
    content = pdf_of("a", "b", "c")
    assert (await read(call, workspace, content, count=3)).endswith(
        "[Lines 1–3, the file goes on. Go on with start=4.]"
    )
    assert (await read(call, workspace, content, start=4)).startswith("b\n--- page 3")


@pytest.mark.anyio
async def test_pages_without_text_are_named(call: Call, workspace: Path) -> None:
    text = await read(call, workspace, pdf_of("Cover", "", ""))
    assert text == "--- page 1 of 3 ---\nCover\n[Pages without text, probably pictures: 2, 3]"


@pytest.mark.anyio
async def test_a_scanned_pdf_is_an_error_that_says_what_would_help(call: Call, workspace: Path) -> None:
    with pytest.raises(ToolError) as caught:
        await read(call, workspace, pdf_of("", ""))
    assert "None of its 2 pages holds text" in caught.value.message
    assert "text recognition" in caught.value.hint


def locked(content: bytes, user_password: str, algorithm: str) -> bytes:
    writer = PdfWriter(PdfReader(io.BytesIO(content)))
    writer.encrypt(user_password=user_password, owner_password="owner", algorithm=algorithm)
    buffer = io.BytesIO()
    writer.write(buffer)
    return buffer.getvalue()


@pytest.mark.anyio
async def test_a_pdf_with_a_password_says_so(call: Call, workspace: Path) -> None:
    with pytest.raises(ToolError, match="a PDF document with a password"):
        await read(call, workspace, locked(pdf_of("secret"), "user", "RC4-128"))


@pytest.mark.anyio
async def test_a_pdf_locked_against_changes_only_is_read(call: Call, workspace: Path) -> None:
    assert "open text" in await read(call, workspace, locked(pdf_of("open text"), "", "RC4-128"))


@pytest.mark.anyio
@pytest.mark.parametrize("size", [9, 60, 300])
async def test_a_pdf_without_its_pages_is_called_damaged(call: Call, workspace: Path, size: int) -> None:
    with pytest.raises(ToolError, match=r"damaged|has no pages") as caught:
        await read(call, workspace, pdf_of("Some text")[:size])
    assert caught.value.hint


@pytest.mark.anyio
async def test_a_pdf_with_something_behind_its_end_is_read_all_the_same(call: Call, workspace: Path) -> None:
    assert "Some text" in await read(call, workspace, pdf_of("Some text") + b"\n<!-- server footer -->\n" * 20)


@pytest.mark.anyio
async def test_a_pdf_of_many_pages_is_read_only_as_far_as_needed(call: Call, workspace: Path) -> None:
    text = await read(call, workspace, pdf_of(*(f"page text {number}" for number in range(600))), count=4)
    assert text.startswith("--- page 1 of 600 ---\npage text 0\n--- page 2 of 600 ---\npage text 1\n")
    assert "Go on with start=5" in text
