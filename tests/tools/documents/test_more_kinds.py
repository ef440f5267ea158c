"""Tables, notebooks, books, OpenDocument, rich text, archives and pictures, read through read_file."""

import base64
import bz2
import gzip
import io
import json
import lzma
import tarfile
import zipfile
from pathlib import Path

import pytest
from PIL import Image

from skales.core.errors import ToolError
from tests.tools.conftest import Call

OFFICE = "urn:oasis:names:tc:opendocument:xmlns"
SPACES = " ".join(f'xmlns:{name}="{OFFICE}:{name}:1.0"' for name in ("office", "text", "table", "draw", "presentation"))


async def read(call: Call, workspace: Path, name: str, content: bytes, **arguments: str | int) -> str:
    (workspace / name).write_bytes(content)
    return (await call("read_file", path=name, **arguments)).text


def packed(*entries: tuple[str, str | bytes]) -> bytes:
    stored = io.BytesIO()
    with zipfile.ZipFile(stored, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in entries:
            package.writestr(name, content)
    return stored.getvalue()


def open_document(kind: str, body: str, *more: tuple[str, str | bytes]) -> bytes:
    media = {"text": "text", "spreadsheet": "spreadsheet", "presentation": "presentation"}[kind]
    content = f"<office:document-content {SPACES}><office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"  # noqa: E501
    return packed(("mimetype", f"application/vnd.oasis.opendocument.{media}"), ("content.xml", content), *more)


# --- tables ---


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("name", "content", "lines"),
    [
        ("a.csv", b"a,b\n1,2\n", ["[Table of 2 columns apart by comma", "1\ta\tb", "2\t1\t2"]),
        ("a.csv", b"a;b\r\n1,5;2\r\n", ["[Table of 2 columns apart by semicolon", "1\ta\tb", "2\t1,5\t2"]),
        ("a.tsv", b"a\tb\n1\t2\n", ["[Table of 2 columns apart by tab", "1\ta\tb", "2\t1\t2"]),
        ("a.csv", b'"x, y",b\n"q\n""r""",2\n', ["[Table of 2 columns", "1\tx, y\tb", '2\tq ⏎ "r"\t2']),
        ("a.csv", b"a,b,c\n1,2\n1,2,3,4\n1,2,3\n", ["[Table of 3", "1\ta\tb\tc", "2\t1\t2\t[2 cells instead of 3]",
                                               "3\t1\t2\t3\t4\t[4 cells instead of 3]", "4\t1\t2\t3"]),
        ("a.csv", "Größe;Ort\n1;Köln\n".encode("cp1252"), ["[Table of 2 columns apart by semicolon, read as windows-1252, "  # noqa: E501
                                                          "which is a guess", "1\tGröße\tOrt", "2\t1\tKöln"]),
        ("a.csv", b"\xff\xfe" + "a,b\nä,2\n".encode("utf-16-le"), ["[Table of 2 columns", "1\ta\tb", "2\tä\t2"]),
        ("a.csv", b"just words\nand more\n", ["[Table of 1 columns", "1\tjust words", "2\tand more"]),
    ],
)  # fmt: skip
async def test_a_table_is_shown_in_rows(
    call: Call, workspace: Path, name: str, content: bytes, lines: list[str]
) -> None:
    shown = (await read(call, workspace, name, content)).split("\n")
    assert shown[0].startswith(lines[0])
    assert shown[1:] == lines[1:]


@pytest.mark.anyio
async def test_a_table_is_shown_as_stored_on_request_and_edited_as_text(call: Call, workspace: Path) -> None:
    assert await read(call, workspace, "a.csv", b"a,b\n1,2\n", part="raw") == "a,b\n1,2"
    await call("edit_file", path="a.csv", old_text="1,2", new_text="1,3")
    assert (workspace / "a.csv").read_bytes() == b"a,b\n1,3\n"


@pytest.mark.anyio
async def test_a_quotation_that_never_ends_is_said(call: Call, workspace: Path) -> None:
    text = await read(call, workspace, "a.csv", b'a,b\n"' + b"x,\n" * 600_000)
    assert "cannot be read as a table" in text


# --- notebooks ---


@pytest.mark.anyio
async def test_a_notebook_is_read_cell_by_cell_without_its_pictures(call: Call, workspace: Path) -> None:
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": ["hello\n"]},
        {"output_type": "execute_result", "data": {"text/plain": "<Figure>", "image/png": "iVBOR" * 9000}},
        {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["\x1b[0;31mE: v\x1b[0m"]},
    ]
    notebook = {
        "cells": [
            {"cell_type": "markdown", "source": ["# Title\n", "words"]},
            {"cell_type": "code", "source": "print('hello')", "outputs": outputs},
        ],
        "metadata": {"kernelspec": {"language": "python"}},
        "nbformat": 4,
    }
    content = json.dumps(notebook).encode()
    text = await read(call, workspace, "a.ipynb", content)
    assert text.split("\n") == [
        "--- cell 1 of 2: markdown ---", "# Title", "words",
        "--- cell 2 of 2: code (python) ---", "print('hello')",
        "[Output, stdout]", "hello", "[Result]", "<Figure>", "[Not shown: image/png]", "[Error]", "E: v",
    ]  # fmt: skip
    assert (await read(call, workspace, "a.ipynb", content, part="1")).startswith("--- cell 1 of 2")
    assert (await read(call, workspace, "a.ipynb", content, part="raw")).startswith('{"cells"')
    with pytest.raises(ToolError, match="damaged"):
        await read(call, workspace, "a.ipynb", b'{"cells": [')


# --- OpenDocument ---


@pytest.mark.anyio
async def test_an_open_text_is_read_in_order(call: Call, workspace: Path) -> None:
    body = (
        "<text:tracked-changes><text:p>gone</text:p></text:tracked-changes>"
        '<text:h text:outline-level="2">Numbers</text:h><text:p>a<text:s text:c="2"/>b<text:tab/>c'
        "<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>see</text:p></text:note-body></text:note></text:p>"
        "<text:list><text:list-item><text:p>one</text:p><text:list><text:list-item><text:p>deep</text:p></text:list-item>"
        "</text:list></text:list-item></text:list>"
        "<table:table><table:table-row><table:table-cell><text:p>x</text:p></table:table-cell>"
        "<table:table-cell><text:p>y</text:p></table:table-cell></table:table-row></table:table>"
    )
    content = open_document("text", body, ("Pictures/a.png", b"x"))
    assert (await read(call, workspace, "a.odt", content)).split("\n") == [
        "## Numbers", "a  b\tc [Note: see]", "- one", "  - deep", "| x | y |", "[Not shown: 1 picture]",
    ]  # fmt: skip


@pytest.mark.anyio
async def test_open_sheets_are_read_with_values_and_without_their_empty_ends(call: Call, workspace: Path) -> None:
    body = (
        '<table:table table:name="Costs"><table:table-row><table:table-cell office:value-type="string"><text:p>Tea</text:p>'  # noqa: E501
        '</table:table-cell><table:table-cell office:value-type="float" office:value="3.5"><text:p>3,50 €</text:p>'
        '</table:table-cell><table:table-cell table:number-columns-repeated="16000"/></table:table-row>'
        '<table:table-row table:number-rows-repeated="1048000"><table:table-cell table:number-columns-repeated="999999999"/>'  # noqa: E501
        '</table:table-row><table:table-row table:number-rows-repeated="3"><table:table-cell table:number-columns-repeated="2" '  # noqa: E501
        'office:value-type="date" office:date-value="2026-05-31"/></table:table-row></table:table>'
        '<table:table table:name="Other"/>'
    )
    content = open_document("spreadsheet", body)
    assert (await read(call, workspace, "a.ods", content)).split("\n") == [
        "Sheets: Costs, Other", "--- sheet Costs ---", "1\tTea\t3.5", "1048002–1048004\t2026-05-31\t2026-05-31",
        "--- sheet Other ---",
    ]  # fmt: skip
    assert "Tea" not in await read(call, workspace, "a.ods", content, part="other")
    with pytest.raises(ToolError, match="There is no sheet"):
        await read(call, workspace, "a.ods", content, part="missing")


@pytest.mark.anyio
async def test_open_slides_are_read_with_their_notes(call: Call, workspace: Path) -> None:
    box = "<draw:frame><draw:text-box><text:p>{}</text:p></draw:text-box></draw:frame>"
    pages = "".join(
        f"<draw:page>{box.format(name)}<presentation:notes>{box.format('say ' + name)}</presentation:notes></draw:page>"
        for name in ("One", "Two")
    )
    text = await read(call, workspace, "a.odp", open_document("presentation", pages))
    assert text.split("\n")[4:] == ["--- slide 2 of 2 ---", "Two", "Notes:", "say Two"]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (open_document("text", "", ("META-INF/manifest.xml", "<m><encryption-data/></m>")), "password"),
        (packed(("mimetype", "application/vnd.oasis.opendocument.text"), ("content.xml", "<a")), "damaged"),
        (packed(("mimetype", "application/vnd.oasis.opendocument.text")), "damaged"),
        (
            packed(
                ("mimetype", "application/vnd.oasis.opendocument.text"),
                ("content.xml", f'<!--{"x" * 9000}--><!DOCTYPE a [<!ENTITY b "{"lol" * 999}">]><a>{"&b;" * 999}</a>'),
            ),
            "document type declaration",
        ),
        (open_document("text", " " * 30_000_000), "unpacks to"),
    ],
)
async def test_hostile_and_locked_open_documents_are_refused(
    call: Call, workspace: Path, content: bytes, words: str
) -> None:
    with pytest.raises(ToolError, match=words):
        await read(call, workspace, "a.odt", content)


# --- books, rich text ---

CONTAINER = '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>'
BOOK = (
    '<package xmlns:dc="dc"><metadata><dc:title>The Sea</dc:title><dc:creator>Ana</dc:creator></metadata><manifest>'
    '<item id="b" href="b.xhtml"/><item id="a" href="text/a%20.xhtml"/></manifest>'
    '<spine><itemref idref="a"/><itemref idref="b"/></spine></package>'
)


def book(*more: tuple[str, str | bytes]) -> bytes:
    return packed(
        ("mimetype", "application/epub+zip"),
        ("META-INF/container.xml", CONTAINER),
        ("OPS/book.opf", BOOK),
        ("OPS/text/a .xhtml", "<!DOCTYPE html><html><body><h1>One</h1><p>First.</p></body></html>"),
        ("OPS/b.xhtml", "<html><body><h1>Two</h1><p>Second.</p></body></html>"),
        *more,
    )


@pytest.mark.anyio
async def test_a_book_is_read_in_its_order(call: Call, workspace: Path) -> None:
    text = await read(call, workspace, "a.epub", book(("OPS/cover.jpg", b"x")))
    assert text.split("\n") == [
        "[title: The Sea, creator: Ana]", "--- chapter 1 of 2 ---", "# One", "", "First.", "--- chapter 2 of 2 ---",
        "# Two", "", "Second.", "[Not shown: 1 picture]",
    ]  # fmt: skip
    assert "First" not in await read(call, workspace, "a.epub", book(), part="2")


@pytest.mark.anyio
async def test_a_locked_book_is_named_as_such(call: Call, workspace: Path) -> None:
    locked = '<encryption><CipherReference URI="OPS/b.xhtml"/></encryption>'
    with pytest.raises(ToolError, match="copy protection"):
        await read(call, workspace, "a.epub", book(("META-INF/encryption.xml", locked)))


@pytest.mark.anyio
async def test_rich_text_is_read_as_words(call: Call, workspace: Path) -> None:
    source = rb"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}}{\pict\pngblip 89504e47}Gr\'f6\'dfe \b bold\b0\par \u8364? two\par}"  # noqa: E501
    text = await read(call, workspace, "a.rtf", source)
    assert text.split("\n")[:2] == ["Größe bold", "€ two"]
    assert text.endswith("[Not shown: 1 picture]")
    assert "rtf1" in await read(call, workspace, "a.rtf", source, part="raw")


# --- archives ---


def tarred(mode: str, *names: str) -> bytes:
    stored = io.BytesIO()
    with tarfile.open(fileobj=stored, mode=f"w{mode}") as archive:  # type: ignore[call-overload]
        for name in names:
            entry = tarfile.TarInfo(name)
            entry.size = 2048
            archive.addfile(entry, io.BytesIO(b"x" * 2048))
    return stored.getvalue()


@pytest.mark.anyio
async def test_the_contents_of_archives_are_listed(call: Call, workspace: Path) -> None:
    text = await read(call, workspace, "a.zip", packed(("b/", ""), ("b/c.txt", "x" * 5), ("../x\n", "y")))
    assert text.split("\n") == [
        "[Zip archive: 2 files, 6 bytes unpacked]",
        "b/",
        "b/c.txt  (5 bytes)",
        "../x  (1 byte)",
    ]
    for mode in ("", ":gz", ":bz2", ":xz"):
        text = await read(call, workspace, "a.tar", tarred(mode, "one.txt", "two/three.txt"))
        assert text.split("\n") == [
            "[Tar archive: 2 files, 4.0 KB unpacked]", "one.txt  (2.0 KB)", "two/three.txt  (2.0 KB)",
        ]  # fmt: skip
    many = packed(*((f"{number}.txt", "") for number in range(600)))
    assert "Go on with start=401" in await read(call, workspace, "many.zip", many)


@pytest.mark.anyio
@pytest.mark.parametrize("press", [gzip.compress, bz2.compress, lzma.compress])
async def test_a_compressed_text_is_read_as_text(call: Call, workspace: Path, press: type[bytes]) -> None:
    text = await read(call, workspace, "log.gz", press("Größe\nzwei\n".encode()))
    assert text == "[A compressed text]\nGröße\nzwei"


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (gzip.compress(bytes(range(256)) * 9, mtime=0), "no text"),
        (gzip.compress(b"", mtime=0), "empty"),
        (gzip.compress(b"text\n" * 999, mtime=0)[:-20], "damaged"),
        (b"PK\x03\x04broken", "damaged"),
        (tarred("", "../up.txt"), "leaves the folder"),
    ],
)
async def test_broken_and_hostile_archives_are_refused(call: Call, workspace: Path, content: bytes, words: str) -> None:
    with pytest.raises(ToolError, match=words):
        await read(call, workspace, "a.gz", content, start=900)


# --- old Office files ---


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("EncryptedPackage", "an Office file with a password"),
        ("WordDocument", "an old Word document"),
        ("Workbook", "an old Excel workbook"),
        ("__properties_version1.0", "an Outlook message"),
    ],
)
async def test_an_old_office_file_is_named_by_what_is_in_it(
    call: Call, workspace: Path, entry: str, words: str
) -> None:
    head = bytearray(512)
    head[:8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
    head[30:32], head[48:52] = (9).to_bytes(2, "little"), (1).to_bytes(4, "little")
    content = bytes(head) + bytes(512) + entry.encode("utf-16-le") + bytes(64)
    with pytest.raises(ToolError, match=words):
        await read(call, workspace, "a.doc", content)


# --- pictures ---


def photo(size: tuple[int, int], kind: str, *, orientation: int = 1, place: bool = False) -> bytes:
    image = Image.new("RGB", size, "white")
    image.paste("red", (0, 0, size[0] // 2, size[1]))
    noted = Image.Exif()
    noted[0x0112] = orientation
    noted[0x010F] = "Acme"
    noted.get_ifd(0x8769)[0x9003] = "2026:05:31 12:30:00"
    if place:
        noted.get_ifd(0x8825).update({1: "N", 2: (50.0, 56.0, 0.0), 3: "E", 4: (6.0, 57.0, 36.0)})
    stored = io.BytesIO()
    image.save(stored, kind, exif=noted)
    return stored.getvalue()


@pytest.mark.anyio
async def test_a_picture_is_shown_upright_and_small_and_its_facts_are_said(call: Call, workspace: Path) -> None:
    (workspace / "a.jpg").write_bytes(photo((4000, 2000), "JPEG", orientation=6, place=True))
    result = await call("read_file", path="a.jpg")
    assert result.text.startswith("JPEG picture, 4,000 × 2,000 pixels, ")
    assert "stored on its left side; shown upright\ntaken 2026:05:31 12:30:00\ncamera: Acme" in result.text
    assert "50.9" not in result.text
    (picture,) = result.pictures
    assert (picture.media_type, picture.name) == ("image/jpeg", "a.jpg")
    content = base64.b64decode(picture.data_base64)
    with Image.open(io.BytesIO(content)) as shown:
        assert shown.size == (784, 1568)
        assert not shown.getexif()
    assert "place: 50.93333° N, 6.96000° E" in (await call("read_file", path="a.jpg", part="place")).text


@pytest.mark.anyio
@pytest.mark.parametrize("kind", ["PNG", "GIF", "WEBP", "BMP", "TIFF", "ICO", "AVIF"])
async def test_pictures_of_every_kind_are_shown(call: Call, workspace: Path, kind: str) -> None:
    stored = io.BytesIO()
    Image.new("RGBA" if kind == "PNG" else "RGB", (64, 48), "red").save(stored, kind)
    (workspace / "a").write_bytes(stored.getvalue())
    result = await call("read_file", path="a")
    assert f"{kind} picture, 64 × 48 pixels" in result.text or kind == "ICO"
    assert len(result.pictures) == 1


@pytest.mark.anyio
async def test_a_picture_that_would_fill_the_memory_is_not_opened(call: Call, workspace: Path) -> None:
    huge = io.BytesIO()
    Image.new("1", (20_000, 20_000)).save(huge, "PNG")
    (workspace / "a.png").write_bytes(huge.getvalue())
    with pytest.raises(ToolError, match=r"too large to open|damaged"):
        await call("read_file", path="a.png")


@pytest.mark.anyio
async def test_a_picture_that_is_cut_is_said_to_be_damaged(call: Call, workspace: Path) -> None:
    (workspace / "a.jpg").write_bytes(photo((800, 600), "JPEG")[:3000])
    with pytest.raises(ToolError, match="damaged"):
        await call("read_file", path="a.jpg")
