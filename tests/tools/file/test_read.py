import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from skales.core.errors import ToolError
from tests.tools.conftest import Call

GERMAN = "Zeile eins: Größe\nZeile zwei: Maße"


async def read(call: Call, workspace: Path, content: bytes, **arguments: Any) -> str:
    (workspace / "a.txt").write_bytes(content)
    return (await call("read_file", path="a.txt", **arguments)).text


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("stored", "text"),
    [
        (GERMAN.encode(), GERMAN),
        (GERMAN.replace("\n", "\r\n").encode("utf-8-sig"), GERMAN),
        (GERMAN.replace("\n", "\r").encode(), GERMAN),
        (GERMAN.encode("utf-16"), GERMAN),
        (b"\xfe\xff" + GERMAN.encode("utf-16-be"), GERMAN),
        (GERMAN.encode("utf-16-le"), GERMAN),
        (GERMAN.encode("utf-16-be"), GERMAN),
        (GERMAN.encode("utf-32"), GERMAN),
        (GERMAN.encode("utf-32-be"), GERMAN),
        ("emoji 😀 und mehr".encode("utf-16-le"), "emoji 😀 und mehr"),
        (b"tabs\tand \x1b[1mcolours\x1b[0m\n", "tabs\tand \x1b[1mcolours\x1b[0m"),
        ("a\u2028b\x85c\x0cd".encode(), "a\u2028b\x85c\x0cd"),
    ],
)
async def test_text_is_read_in_any_encoding_without_a_word(
    call: Call, workspace: Path, stored: bytes, text: str
) -> None:
    assert await read(call, workspace, stored) == text


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("text", "codec", "label"),
    [
        (GERMAN, "cp1252", "windows-1252"),
        ("Il était une fois à l'hôtel « Étoile » … 10 €", "cp1252", "windows-1252"),
        ("Zażółć gęślą jaźń. Proszę o pomoc.", "cp1250", "windows-1250"),
        ("Привет, мир! Это проверка.", "cp1251", "windows-1251"),
        ("Привет, мир! Это проверка.", "koi8_r", "koi8_r"),
        ("こんにちは世界。これはテストです。", "cp932", "Shift JIS"),
        ("你好，世界。这是一个测试文件。", "gbk", "gb18030"),
    ],
)
async def test_an_old_encoding_is_guessed_and_the_guess_is_told(
    call: Call, workspace: Path, text: str, codec: str, label: str
) -> None:
    assert await read(call, workspace, text.encode(codec)) == f"{text}\n\n[Read as {label}, which is a guess.]"


@pytest.mark.anyio
async def test_a_stray_byte_in_utf8_is_shown_and_not_lost(call: Call, workspace: Path) -> None:
    assert await read(call, workspace, "grün öfter ".encode() + b"\xe4nd") == "grün öfter änd"


@pytest.mark.anyio
async def test_an_empty_file_says_so(call: Call, workspace: Path) -> None:
    assert await read(call, workspace, b"") == "[a.txt is empty]"


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({}, "1\n2\n3\n4\n5"),
        ({"start": 2}, "2\n3\n4\n5\n\n[Lines 2–5 of 5.]"),
        ({"count": 2}, "1\n2\n\n[Lines 1–2 of 5. Go on with start=3.]"),
        ({"start": 4, "count": 2}, "4\n5\n\n[Lines 4–5 of 5.]"),
        ({"start": "2", "count": "1"}, "2\n\n[Lines 2–2 of 5. Go on with start=3.]"),
    ],
)
async def test_a_range_says_what_it_leaves_out(
    call: Call, workspace: Path, arguments: dict[str, Any], text: str
) -> None:
    assert await read(call, workspace, b"1\n2\n3\n4\n5\n", **arguments) == text


@pytest.mark.anyio
async def test_a_start_behind_the_end_is_an_error_that_tells_the_length(call: Call, workspace: Path) -> None:
    with pytest.raises(ToolError, match="has 2 lines; there is no line 9"):
        await read(call, workspace, b"a\nb\n", start=9)


@pytest.mark.anyio
async def test_following_the_notes_reads_a_long_text_whole(call: Call, workspace: Path) -> None:
    lines = [f"line {number} {'x' * (number % 90)}" for number in range(1, 1301)]
    content = "\n".join(lines).encode()
    seen: list[str] = []
    start = 1
    while start:
        text = await read(call, workspace, content, start=start)
        assert len(text) <= 17_000
        body, _, note = text.rpartition("\n\n[")
        seen += body.split("\n")
        start = int(note.partition("start=")[2].rstrip(".]") or 0)
    assert seen == lines


@pytest.mark.anyio
async def test_following_the_notes_reads_a_giant_line_whole(call: Call, workspace: Path) -> None:
    line = "".join(f"{number:07d}," for number in range(5000))
    content = f"head\n{line}\ntail\n".encode()
    first = await read(call, workspace, content)
    assert first.split("\n")[1] == line[:2000]
    assert first.endswith("[Line 2 has 38,000 more characters; see them with start=2, column=2001.]")
    seen, column = line[:2000], 2001
    while column:
        text = await read(call, workspace, content, start=2, count=1, column=column)
        body, _, note = text.rpartition("\n\n[")
        seen += body
        column = int(note.partition("column=")[2].rstrip(".]") or 0)
    assert seen == line


@pytest.mark.anyio
async def test_a_file_of_two_gigabytes_is_read_in_little_memory(call: Call, workspace: Path) -> None:
    path = workspace / "huge.log"
    with path.open("wb") as stream:
        stream.write(b"first line\nsecond line\n" + b"x" * 5_000_000 + b"\nlast\n")
        stream.truncate(2 * 1024**3)
    tracemalloc.start()
    try:
        result = await call("read_file", path="huge.log", count=3)
        _now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert result.text.startswith("first line\nsecond line\nxxx")
    assert "the file goes on. Go on with start=4." in result.text
    assert peak < 16 * 1024**2


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("content", "words", "hint"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0", "a picture, but damaged", "as PNG or JPEG"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "a picture, but damaged", "as PNG or JPEG"),
        (b"\x1f\x8b\x08\0\0", "a compressed file, but damaged", "get_file_info"),
        (b"PK\x03\x04" + b"\0" * 18, "a zip archive, but damaged", "get_file_info"),
        (b"7z\xbc\xaf\x27\x1c\0", "a 7-Zip archive of 7 bytes, not text", "extract_archive"),
        (b"\x7fELF\x02\x01\x01\0\0", "a Linux program", "get_file_info"),
        (b"MZ\x90\0\x03\0", "a Windows program", "get_file_info"),
        (b"SQLite format 3\0\x10\0", "an SQLite database", "get_file_info"),
        (b"ID3\x04\0\0", "an MP3 sound file", "transcribe_audio"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0", "an old or password-protected Office file", "without a password"),
        (bytes(range(256)) * 8, "2.0 KB of binary data of no known kind", "get_file_info"),
        (b"\x01\x02\x03\x04" * 40, "binary data", "get_file_info"),
    ],
)
async def test_what_is_no_text_is_named_with_its_size_and_a_way_on(
    call: Call, workspace: Path, content: bytes, words: str, hint: str
) -> None:
    with pytest.raises(ToolError) as caught:
        await read(call, workspace, content)
    assert words in caught.value.message
    assert hint in caught.value.hint


@pytest.mark.anyio
@pytest.mark.parametrize("content", [b"MZ is how this text starts\n", b"BM\n", b"GIF\n", b"PK\n", b"ID 3\n", b"II*\n"])
async def test_a_text_that_begins_like_a_program_is_text(call: Call, workspace: Path, content: bytes) -> None:
    assert await read(call, workspace, content) == content.decode().rstrip("\n")


@pytest.mark.anyio
async def test_a_folder_is_not_read(call: Call) -> None:
    with pytest.raises(ToolError) as caught:
        await call("read_file", path=".")
    assert "is a folder" in caught.value.message
    assert "list_directory" in caught.value.hint


@pytest.mark.anyio
async def test_a_missing_file_is_answered_with_names_like_it(call: Call, workspace: Path) -> None:
    (workspace / "Report-2026.md").write_text("a", encoding="utf-8")
    with pytest.raises(ToolError) as caught:
        await call("read_file", path="report_2026.md")
    assert caught.value.code == "not_found"
    assert caught.value.hint == "Did you mean 'Report-2026.md'"
