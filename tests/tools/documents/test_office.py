"""Word, Excel and PowerPoint files, made by the libraries people use to write them, read through read_file."""

import datetime
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import docx
import openpyxl
import pptx
import pytest
from openpyxl.chart import BarChart
from pptx.util import Inches

from skales.core.errors import ToolError
from tests.tools.conftest import Call

Edit = Callable[[str, bytes], bytes | None]
# Cells hold moments without a zone.
AT_NIGHT = datetime.datetime.fromisoformat("2026-03-01")
AT_NOON = datetime.datetime.fromisoformat("2026-03-01 12:30")
W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def rewrite(path: Path, edit: Edit, **added: str) -> None:
    """Pass every part through `edit` (None drops it) and add others."""
    with zipfile.ZipFile(path) as old:
        parts = {name: edit(name, old.read(name)) for name in old.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name, content in {**parts, **added}.items():
            if content is not None:
                new.writestr(name, content)


def keep(_name: str, content: bytes) -> bytes:
    return content


@pytest.fixture
def word(workspace: Path) -> Path:
    document = docx.Document()
    document.add_heading("Report", 0)
    document.add_heading("Numbers", 2)
    document.add_paragraph("Before the table.")
    table = document.add_table(2, 2)
    for row, cells in enumerate((("Item", "Price"), ("Tea", "3 €"))):
        for column, text in enumerate(cells):
            table.cell(row, column).text = text
    table.cell(1, 0).add_paragraph("green")
    document.add_paragraph("first point", style="List Bullet")
    document.add_paragraph("After\tthe table.")
    document.sections[0].header.paragraphs[0].text = "Confidential"
    document.save(str(workspace / "a.docx"))
    return workspace / "a.docx"


@pytest.mark.anyio
async def test_a_word_document_is_read_in_order(call: Call, word: Path) -> None:
    assert (await call("read_file", path="a.docx")).text.split("\n") == [
        "# Report",
        "## Numbers",
        "Before the table.",
        "| Item | Price |",
        "| Tea / green | 3 € |",
        "first point",
        "After\tthe table.",
        "--- page headers and footers ---",
        "Confidential",
    ]


@pytest.mark.anyio
async def test_tracked_changes_controls_and_text_boxes_of_a_word_document_are_text_too(call: Call, word: Path) -> None:
    body = (
        f'<?xml version="1.0"?><w:document {W} xmlns:mc="x"><w:body>'
        "<w:p><w:r><w:t>kept </w:t></w:r><w:ins><w:r><w:t>added </w:t></w:r></w:ins>"
        "<w:del><w:r><w:delText>gone</w:delText></w:r></w:del>"
        "<w:moveFrom><w:r><w:t>moved away</w:t></w:r></w:moveFrom>"
        '<w:r><w:instrText>PAGE</w:instrText></w:r><w:r><w:footnoteReference w:id="2"/></w:r></w:p>'
        "<w:sdt><w:sdtPr><w:alias/></w:sdtPr><w:sdtContent><w:p><w:r><w:t>in a control</w:t><w:br/><w:t>line</w:t>"
        "</w:r></w:p></w:sdtContent></w:sdt>"
        "<w:p><w:r><mc:AlternateContent><mc:Choice><w:txbxContent><w:p><w:r><w:t>in a box</w:t></w:r></w:p>"
        "</w:txbxContent></mc:Choice><mc:Fallback><w:t>in a box</w:t></mc:Fallback></mc:AlternateContent></w:r></w:p>"
        "<w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>numbered</w:t></w:r></w:p>"
        "</w:body></w:document>"
    ).encode()
    rewrite(word, lambda name, content: body if name == "word/document.xml" else content)
    text = (await call("read_file", path="a.docx")).text
    assert text.split("\n")[:5] == ["kept added [^2]", "in a control", "line", "in a box", "- numbered"]
    assert "gone" not in text
    assert "moved away" not in text


@pytest.mark.anyio
async def test_notes_and_comments_of_a_word_document_are_read(call: Call, word: Path) -> None:
    links = (
        '<Relationship Id="n1" Type="x/footnotes" Target="footnotes.xml"/>'
        '<Relationship Id="n2" Type="x/comments" Target="/word/comments.xml"/></Relationships>'
    )
    rewrite(
        word,
        lambda name, content: (
            content.replace(b"</Relationships>", links.encode()) if name == "word/_rels/document.xml.rels" else content
        ),
        **{
            "word/footnotes.xml": f'<w:footnotes {W}><w:footnote w:id="2"><w:p><w:r><w:t>See page 3.</w:t></w:r></w:p>'
            "</w:footnote></w:footnotes>",
            "word/comments.xml": f'<w:comments {W}><w:comment w:author="Ana"><w:p><w:r><w:t>Really?</w:t></w:r></w:p>'
            "</w:comment></w:comments>",
            "word/media/image1.png": "x",
        },
    )
    text = (await call("read_file", path="a.docx")).text
    assert "--- footnotes ---\n[^2]: See page 3.\n" in text
    assert "--- comments ---\nAna: Really?\n" in text
    assert text.endswith("[Not shown: 1 picture]")


@pytest.fixture
def workbook(workspace: Path) -> Path:
    book = openpyxl.Workbook()
    budget = book.active
    assert budget is not None
    budget.title = "Budget"
    for row in (["Item", "Cost", "When"], ["Tea", 3.5, AT_NIGHT], ["Rent", 800.0, None]):
        budget.append(row)
    budget["B5"] = "=SUM(B2:B3)"
    budget["C5"] = True
    budget["A6"] = "two\nlines\tand a tab"
    budget.add_chart(BarChart(), "E1")  # type: ignore[call-arg]
    notes = book.create_sheet("Notes")
    notes["A1"] = AT_NOON
    book.create_sheet("Old").sheet_state = "hidden"
    book.save(workspace / "a.xlsx")
    return workspace / "a.xlsx"


@pytest.mark.anyio
async def test_a_workbook_is_read_sheet_by_sheet(call: Call, workbook: Path) -> None:
    assert (await call("read_file", path="a.xlsx")).text.split("\n") == [
        "Sheets: Budget, Notes, Old (hidden)",
        "--- sheet Budget ---",
        "1\tItem\tCost\tWhen",
        "2\tTea\t3.5\t2026-03-01",
        "3\tRent\t800",
        "5\t\t=SUM(B2:B3)\tTRUE",
        "6\ttwo ⏎ lines and a tab",
        "--- sheet Notes ---",
        "1\t2026-03-01 12:30:00",
        "--- sheet Old ---",
        "[Not shown: 1 chart]",
    ]


@pytest.mark.anyio
@pytest.mark.parametrize("part", ["notes", "2"])
async def test_one_sheet_can_be_read(call: Call, workbook: Path, part: str) -> None:
    lines = (await call("read_file", path="a.xlsx", part=part)).text.split("\n")
    assert lines[1:3] == ["--- sheet Notes ---", "1\t2026-03-01 12:30:00"]
    assert "--- sheet Budget ---" not in lines


@pytest.mark.anyio
async def test_a_sheet_that_is_not_there_is_answered_with_those_that_are(call: Call, workbook: Path) -> None:
    with pytest.raises(ToolError, match="There is no sheet 'Costs'") as caught:
        await call("read_file", path="a.xlsx", part="Costs")
    assert caught.value.hint == "The workbook has Budget, Notes, Old"


@pytest.mark.anyio
async def test_a_long_sheet_is_read_in_ranges(call: Call, workspace: Path) -> None:
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Long")
    for number in range(3000):
        sheet.append([number])
    book.save(workspace / "a.xlsx")
    text = (await call("read_file", path="a.xlsx", start=1000, count=2)).text
    assert text == "998\t997\n999\t998\n\n[Lines 1,000–1,001, the file goes on. Go on with start=1002.]"


@pytest.fixture
def slides(workspace: Path) -> Path:
    deck = pptx.Presentation()
    for title, body in (("Plan", "First\nSecond"), ("Costs", "")):
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = body
    table = deck.slides[1].shapes.add_table(1, 2, Inches(1), Inches(1), Inches(4), Inches(1)).table
    table.cell(0, 0).text, table.cell(0, 1).text = "Tea", "3 €"
    group = deck.slides[1].shapes.add_group_shape()
    group.shapes.add_textbox(0, 0, 100, 100).text_frame.text = "grouped"
    deck.slides[0].notes_slide.notes_text_frame.text = "Say hello first."
    deck.save(str(workspace / "a.pptx"))
    return workspace / "a.pptx"


@pytest.mark.anyio
async def test_a_presentation_is_read_slide_by_slide_with_notes(call: Call, slides: Path) -> None:
    assert (await call("read_file", path="a.pptx")).text.split("\n") == [
        "--- slide 1 of 2 ---",
        "Plan",
        "First",
        "Second",
        "Notes:",
        "Say hello first.",
        "--- slide 2 of 2 ---",
        "Costs",
        "| Tea | 3 € |",
        "grouped",
    ]


@pytest.mark.anyio
async def test_slides_come_in_showing_order(call: Call, slides: Path) -> None:
    def swap(name: str, content: bytes) -> bytes:
        if name != "ppt/presentation.xml":
            return content
        first, second = content.index(b"<p:sldId "), content.rindex(b"<p:sldId ")
        end = content.index(b"</p:sldIdLst>")
        return content[:first] + content[second:end] + content[first:second] + content[end:]

    rewrite(slides, swap)
    text = (await call("read_file", path="a.pptx", part="1")).text
    assert text.startswith("--- slide 1 of 2 ---\nCosts\n")
    assert "Plan" not in text


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("part", "reason"),
    [("3", "There is no slide 3"), ("0", "no slide 0"), ("x", "names no slides"), ("2-1", "no slide")],
)
async def test_slides_that_are_not_there_are_named(call: Call, slides: Path, part: str, reason: str) -> None:
    with pytest.raises(ToolError, match=reason):
        await call("read_file", path="a.pptx", part=part)


@pytest.fixture
def all_three(word: Path, workbook: Path, slides: Path) -> None:
    """One document of each kind."""


@pytest.mark.anyio
@pytest.mark.parametrize("name", ["a.docx", "a.xlsx", "a.pptx"])
async def test_a_renamed_document_is_known_by_its_content(
    call: Call, all_three: None, workspace: Path, name: str
) -> None:
    expected = await call("read_file", path=name)
    (workspace / name).rename(workspace / "renamed.txt")
    assert (await call("read_file", path="renamed.txt")).text == expected.text


@pytest.mark.anyio
@pytest.mark.parametrize("name", ["a.docx", "a.xlsx", "a.pptx"])
async def test_a_document_cut_short_is_called_damaged(call: Call, all_three: None, workspace: Path, name: str) -> None:
    os.truncate(workspace / name, 20_000 if name != "a.xlsx" else 3_000)
    with pytest.raises(ToolError) as caught:
        await call("read_file", path=name)
    assert caught.value.hint


PARTS = {"a.docx": "word/document.xml", "a.xlsx": "xl/workbook.xml", "a.pptx": "ppt/slides/slide1.xml"}


@pytest.mark.anyio
@pytest.mark.parametrize(("name", "part"), PARTS.items())
async def test_a_document_with_broken_parts_is_called_damaged(
    call: Call, all_three: None, workspace: Path, name: str, part: str
) -> None:
    rewrite(workspace / name, lambda inner, content: content[:-9] if inner == part else content)
    with pytest.raises(ToolError, match="but damaged"):
        await call("read_file", path=name)


@pytest.mark.anyio
@pytest.mark.parametrize(("name", "part"), [*PARTS.items(), ("a.xlsx", "xl/worksheets/sheet1.xml")])
async def test_an_entity_bomb_is_refused(call: Call, all_three: None, workspace: Path, name: str, part: str) -> None:
    levels = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 9))
    bomb = f'<?xml version="1.0"?><!DOCTYPE r [<!ENTITY e0 "ha">{levels}]><r>&e8;</r>'
    rewrite(workspace / name, lambda inner, content: bomb.encode() if inner == part else content)
    with pytest.raises(ToolError, match="damaged"):
        await call("read_file", path=name)


@pytest.mark.anyio
@pytest.mark.parametrize(("name", "part"), PARTS.items())
async def test_a_document_that_unpacks_to_much_is_not_opened(
    call: Call, all_three: None, workspace: Path, name: str, part: str
) -> None:
    rewrite(workspace / name, keep, **{f"{part.rpartition('/')[0]}/zeros.xml": "0" * 20_000_000})
    with pytest.raises(ToolError, match=r"unpacks to \d+ MB; it is not opened"):
        await call("read_file", path=name)


@pytest.mark.anyio
async def test_a_document_nested_without_end_is_called_damaged(call: Call, word: Path) -> None:
    body = f"<w:document {W}><w:body>{'<w:sdt>' * 50_000}{'</w:sdt>' * 50_000}</w:body></w:document>".encode()
    rewrite(word, lambda name, content: body if name == "word/document.xml" else content)
    with pytest.raises(ToolError, match="damaged"):
        await call("read_file", path="a.docx")


@pytest.mark.anyio
async def test_parts_packed_in_a_way_office_never_uses_are_refused(call: Call, word: Path) -> None:
    with zipfile.ZipFile(word, "a", zipfile.ZIP_BZIP2) as package:
        package.writestr("word/extra.xml", "x")
    with pytest.raises(ToolError, match="damaged"):
        await call("read_file", path="a.docx")


def lock(path: Path) -> None:
    """Set the flag of the last entry that says it is encrypted."""
    content = bytearray(path.read_bytes())
    content[content.rindex(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(content)


@pytest.mark.anyio
async def test_a_zip_with_a_password_is_told(call: Call, word: Path) -> None:
    lock(word)
    with pytest.raises(ToolError, match="a Word document with a password"):
        await call("read_file", path="a.docx")


@pytest.mark.anyio
async def test_a_document_without_a_main_part_is_called_damaged(call: Call, word: Path) -> None:
    rewrite(word, lambda name, content: None if name == "_rels/.rels" else content)
    with pytest.raises(ToolError, match="it names no main part"):
        await call("read_file", path="a.docx")
