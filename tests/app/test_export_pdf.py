"""The PDF form: its words can be read back, and nothing in a conversation can keep it from being made."""

import base64
import io
from pathlib import Path

import pytest
from PIL import Image
from pypdf import PdfReader

from skales.app.export import ExportOptions, prepare_session
from skales.app.export_outline import Labels
from skales.app.export_pdf import export_pdf
from skales.core.message import ImagePart, Message, Role, TextPart, text_message
from skales.core.tool import ToolCall
from skales.tools.documents.pdf_fonts import choose_fonts
from tests.app.test_export import make_session

EVERYTHING = ExportOptions(steps=True, thoughts=True, receipts=True)


def read(*messages: Message, title: str = "A title") -> str:
    """The words of the PDF, white space folded."""
    content = export_pdf(prepare_session(make_session(*messages, title=title), EVERYTHING), Labels())
    reader = PdfReader(io.BytesIO(content))
    return " ".join(" ".join(page.extract_text() for page in reader.pages).split())


def picture() -> str:
    buffer = io.BytesIO()
    Image.new("RGB", (40, 30), (200, 40, 40)).save(buffer, "PNG")
    return base64.b64encode(buffer.getvalue()).decode()


def answer(text: str) -> Message:
    return Message(role=Role.ASSISTANT, content=(TextPart(text),))


def test_everything_said_and_done_is_in_it() -> None:
    call = ToolCall("c1", "read_file", {"path": "a.txt"})
    words = read(
        text_message(Role.USER, "Γειά Привет Grüße"),
        Message(role=Role.ASSISTANT, tool_calls=(call,), reasoning="Thinking hard"),
        Message(role=Role.TOOL, tool_call_id="c1", content=(TextPart("file content"),)),
        answer(
            "# Head\n\nSome **bold** and `code`.\n\n- one\n  1. two\n\n| a | b |\n|---|---|\n| left | right |\n\n"
            "```py\nprint(1)\n```\n\n> quoted\n\n---\n\nlast <b>tag</b>"
        ),
    )
    for expected in (
        "A title", "Γειά Привет Grüße", "Thinking hard", "read_file", "a.txt", "file content", "Head", "bold", "code",
        "one", "two", "left", "right", "print(1)", "quoted", "last tag",
    ):  # fmt: skip
        assert expected in words


def test_signs_without_a_font_are_named_instead_of_lost() -> None:
    words = read(text_message(Role.USER, "before \U000f0000 after"))
    assert "U+F0000" in words
    assert "before ? after" in words


def test_pictures_are_drawn_and_broken_ones_named() -> None:
    good = ImagePart("image/png", picture(), "good.png")
    bad = ImagePart("image/png", "bm8gcGljdHVyZQ==", "bad.png")
    vector = ImagePart("image/svg+xml", "PHN2Zy8+", "drawing.svg")
    session = make_session(Message(role=Role.USER, content=(TextPart("See"), good, bad, vector)))
    reader = PdfReader(io.BytesIO(export_pdf(prepare_session(session, EVERYTHING), Labels())))
    assert [len(page.images) for page in reader.pages] == [1]
    text = reader.pages[0].extract_text()
    assert "bad.png" in text
    assert "drawing.svg" in text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\ud83d half",
        "\x00\x07\x1b[31m",
        "x" * 5000,
        "word " * 4000,
        "| c " * 40 + "|\n" + "|---" * 40 + "|\n" + "| v " * 40 + "|",
        "| a |\n|---|\n| " + "long " * 400 + "|",
        "| a | b |\n|---|---|\n| only |",
        "".join("  " * depth + "- item\n" for depth in range(30)),
        "> " * 40 + "deep",
        "```\n" + "y" * 3000 + "\n```",
        "[" * 200 + "text" + "](x)" * 200,
        "[link](javascript:alert(1)) ~~gone~~ ***both***",
        "![remote](https://a.example/p.png) ![inside](data:image/png;base64,AAAA)",
        "<br><br/>\n\n<div>\nraw\n</div>",
        "مرحبا שלום ไทย हिन्दी",
        "👩‍👩‍👧‍👦 🇩🇪 ✈️",
    ],
)  # fmt: skip
def test_no_text_keeps_a_file_from_being_made(text: str) -> None:
    assert "A title" in read(answer(text), text_message(Role.USER, text))


def test_links_lead_to_safe_places_only() -> None:
    session = make_session(answer("[a](https://a.example/) [b](javascript:alert(1)) [c](file:///etc/passwd)"))
    reader = PdfReader(io.BytesIO(export_pdf(prepare_session(session, EVERYTHING), Labels())))
    targets = {annotation.get_object()["/A"]["/URI"] for page in reader.pages for annotation in page.get("/Annots", ())}
    assert targets == {"https://a.example/"}


def test_a_computer_without_fonts_still_writes_western_text(tmp_path: Path) -> None:
    files = choose_fonts({"a", "é", "Ж"}, folders=(tmp_path,))
    assert not files.text
    assert files.missing == {"Ж"}


def test_a_file_that_is_no_font_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "DejaVuSans.ttf").write_bytes(b"no font")
    files = choose_fonts({"a", "Ж"}, folders=(tmp_path,))
    assert not files.text
    assert files.missing == {"Ж"}
