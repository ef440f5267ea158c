"""create_document: what is written is read back by the program's own reader and by the format's library."""

import io
import zipfile
from pathlib import Path
from typing import Any

import docx
import pytest
from docx.opc.constants import RELATIONSHIP_TYPE

from skales.core.errors import ToolError
from skales.core.json import JsonValue
from tests.tools.conftest import Call

TEXT = """\
# Minutes

Some **bold**, *italic*, ~~gone~~ and `code` words, and a [link](https://example.org/a?b=1&c=2).

- one
- two
  - deep

1. first
2. second

Between.

1. again

> A quotation.

| Item | Price |
|------|------:|
| Tea  | 3 €   |

```python
if x < 1:
    pass
```

## End
"""


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def opened(path: Path) -> Any:
    return docx.Document(str(path))


@pytest.mark.anyio
async def test_a_word_document_has_the_structure_of_the_text(call: Call, workspace: Path) -> None:
    result = await call("create_document", content=TEXT, filename="minutes.docx", title="Minutes")
    path = workspace / "minutes.docx"
    assert result.files == (str(path),)
    document = opened(path)
    styles = [(paragraph.style.name, paragraph.text) for paragraph in document.paragraphs if paragraph.text]
    assert styles == [
        ("Title", "Minutes"),
        ("Normal", "Some bold, italic, gone and code words, and a link."),
        ("List Bullet", "one"),
        ("List Bullet", "two"),
        ("List Bullet 2", "deep"),
        ("List Number", "first"),
        ("List Number", "second"),
        ("Normal", "Between."),
        ("List Number", "again"),
        ("Quote", "A quotation."),
        ("Code", "if x < 1:"),
        ("Code", "    pass"),
        ("Heading 2", "End"),
    ]
    words = {run.text: run for run in document.paragraphs[1].runs}
    assert words["bold"].bold
    assert words["italic"].italic
    assert words["gone"].font.strike
    assert [[cell.text for cell in row.cells] for row in document.tables[0].rows] == [["Item", "Price"], ["Tea", "3 €"]]
    links = [part.target_ref for part in document.part.rels.values() if part.reltype == RELATIONSHIP_TYPE.HYPERLINK]
    assert links == ["https://example.org/a?b=1&c=2"]
    assert document.core_properties.author == ""


@pytest.mark.anyio
async def test_a_second_numbered_list_begins_anew(call: Call, workspace: Path) -> None:
    await call("create_document", content=TEXT, filename="a.docx")
    numbers = [
        paragraph._p.pPr.numPr.numId.val
        for paragraph in opened(workspace / "a.docx").paragraphs
        if paragraph.style.name == "List Number"
    ]
    assert numbers[0] == numbers[1] != numbers[2]


@pytest.mark.anyio
@pytest.mark.parametrize("ending", ["docx", "pdf", "html", "md", "txt"])
async def test_every_kind_is_read_back_with_its_words(call: Call, ending: str) -> None:
    await call("create_document", content=TEXT, filename=f"a.{ending}", title="Größe")
    text = (await call("read_file", path=f"a.{ending}")).text
    for words in ("Größe", "Minutes", "bold", "second", "3 €", "if x", "End"):
        assert words in text


@pytest.mark.anyio
async def test_a_page_shows_html_of_the_text_as_text_and_loads_nothing(call: Call, workspace: Path) -> None:
    content = "<script>alert(1)</script>\n\n[x](javascript:alert(1)) ![p](https://tracker.example/p.png)"
    await call("create_document", content=content, filename="a.html", title="<b>")
    page = (workspace / "a.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert 'href="javascript' not in page
    assert "default-src 'none'" in page
    assert "<h1>&lt;b&gt;</h1>" in page


@pytest.mark.anyio
@pytest.mark.parametrize("address", ["javascript:alert(1)", "file:///etc/passwd", "\\\\host\\share", "ms-word:ofe|u|x"])
async def test_a_link_to_anything_but_a_page_or_mail_stays_words(call: Call, workspace: Path, address: str) -> None:
    await call("create_document", content=f"[here](<{address}>)", filename="a.docx")
    with zipfile.ZipFile(workspace / "a.docx") as package:
        assert b'TargetMode="External"' not in package.read("word/_rels/document.xml.rels")


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"title": "Our plan: 2026/27"}, "Our plan 2026 27.docx"),
        ({}, "Minutes.docx"),
        ({"filename": "report"}, "report.docx"),
        ({"filename": "deep/folder/a.PDF"}, "deep/folder/a.PDF"),
        ({"filename": "there"}, "there/Minutes.docx"),
    ],
)
async def test_the_name_is_made_where_it_is_not_given(
    call: Call, workspace: Path, arguments: dict[str, JsonValue], name: str
) -> None:
    (workspace / "there").mkdir()
    result = await call("create_document", content=TEXT, **arguments)
    assert result.files == (str(workspace / name),)
    assert (workspace / name).stat().st_size > 500


@pytest.mark.anyio
async def test_a_file_that_is_there_is_kept_unless_the_call_says_otherwise(call: Call, workspace: Path) -> None:
    path = workspace / "a.docx"
    path.write_bytes(b"precious")
    with pytest.raises(ToolError) as caught:
        await call("create_document", content="x", filename="a.docx")
    assert caught.value.code == "exists"
    assert path.read_bytes() == b"precious"
    await call("create_document", content="x", filename="a.docx", overwrite=True)
    assert path.read_bytes().startswith(b"PK")
    # A name that nobody asked for never meets a file.
    await call("create_document", content="x", title="a")
    assert (workspace / "a 2.docx").exists()


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"content": " \n"}, "content is empty"),
        ({"content": "x" * 1_000_001}, "1,000,001 characters"),
        ({"content": "x", "filename": "a.exe"}, "has an ending that cannot be written"),
        ({"content": "x", "filename": "../a.docx"}, "outside"),
        ({"content": "x", "filename": "/etc/a.docx"}, "outside"),
        ({"content": "x", "filename": "link.docx"}, "outside"),
        ({"content": "x", "filename": "a\n.docx"}, "signs that cannot be seen"),
        ({"content": "x", "filename": "a\u202ecod.docx"}, "cannot be"),
    ],
)
async def test_what_cannot_be_written_leaves_nothing(
    call: Call, workspace: Path, arguments: dict[str, JsonValue], words: str
) -> None:
    (workspace / "link.docx").symlink_to(workspace.parent.parent / "elsewhere.docx")
    with pytest.raises(ToolError) as caught:
        await call("create_document", **arguments)
    assert words in caught.value.message
    assert names(workspace) == ["link.docx"]


@pytest.mark.anyio
@pytest.mark.parametrize("ending", ["docx", "pdf", "html", "md"])
async def test_signs_that_no_document_holds_are_left_out(call: Call, ending: str) -> None:
    await call("create_document", content="be\x00fore \x1b[31m af\x0bter \ufffe 😀", filename=f"a.{ending}")
    text = (await call("read_file", path=f"a.{ending}")).text
    assert "before" in text
    assert "after" in text


@pytest.mark.anyio
async def test_deep_nesting_and_long_texts_are_written(call: Call, workspace: Path) -> None:
    nested = "".join(f"{'  ' * depth}- item {depth}\n" for depth in range(60))
    await call("create_document", content=nested + ">" * 200 + " x\n\n" + "word " * 50_000, filename="a.docx")
    assert "item 15" in (await call("read_file", path="a.docx")).text
    with zipfile.ZipFile(io.BytesIO((workspace / "a.docx").read_bytes())) as package:
        assert package.testzip() is None
