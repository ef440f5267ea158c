import hashlib
import os
from pathlib import Path

import pytest

from skales.core.errors import ToolError
from tests.tools.conftest import Call

MINUTE_MS = 1_700_000_000


@pytest.fixture
def tree(workspace: Path) -> Path:
    (workspace / "sub" / "deep").mkdir(parents=True)
    for name, content in (("b.txt", "x" * 2048), ("A.txt", ""), ("sub/c.txt", "c"), ("sub/deep/d.txt", "d")):
        (workspace / name).write_text(content, encoding="utf-8")
        os.utime(workspace / name, (MINUTE_MS, MINUTE_MS))
    (workspace / "link").symlink_to("sub")
    return workspace


@pytest.mark.anyio
async def test_a_folder_is_listed_by_name_with_sizes_and_dates(call: Call, tree: Path) -> None:
    result = await call("list_directory")
    minute = result.text.split("  ")[-1][:16]
    assert result.text.split("\n") == [
        f"A.txt  0 bytes  {minute}", f"b.txt  2.0 KB  {minute}", "link -> sub", "sub/",
    ]  # fmt: skip
    assert minute.startswith("2023-11-1")
    assert result.summary == ". holds 4 entries"


@pytest.mark.anyio
@pytest.mark.parametrize(("depth", "seen"), [(1, 4), (2, 6), (3, 7), (20, 7)])
async def test_levels_can_be_chosen(call: Call, tree: Path, depth: int, seen: int) -> None:
    assert len((await call("list_directory", depth=depth)).text.split("\n")) == seen


@pytest.mark.anyio
async def test_a_large_folder_is_cut_and_counted(call: Call, workspace: Path) -> None:
    for number in range(520):
        (workspace / f"{number:03}").touch()
    text = (await call("list_directory")).text
    assert text.endswith("[20 more; list a folder in it, or use find_files]")


@pytest.mark.anyio
async def test_an_empty_folder_says_so(call: Call) -> None:
    assert (await call("list_directory")).text == "[. is empty]"


@pytest.mark.anyio
async def test_a_file_is_no_folder(call: Call, tree: Path) -> None:
    with pytest.raises(ToolError, match="is no folder"):
        await call("list_directory", path="b.txt")


@pytest.mark.anyio
async def test_a_pipe_is_listed_as_one(call: Call, workspace: Path) -> None:
    os.mkfifo(workspace / "pipe")
    assert (await call("list_directory")).text == "pipe (device, pipe or socket)"
    assert "type: device, pipe or socket" in (await call("get_file_info", path="pipe")).text


@pytest.mark.anyio
async def test_names_that_are_no_text_do_not_break_a_listing(call: Call, workspace: Path) -> None:
    (workspace / os.fsdecode(b"bad\xff.txt")).touch()
    (workspace / "two\nlines").touch()
    lines = (await call("list_directory")).text.split("\n")
    assert [line.partition("  ")[0] for line in lines] == ["bad<U+DCFF>.txt", "two ⏎ lines"]


@pytest.mark.anyio
async def test_a_folder_is_made_with_those_on_the_way_once(call: Call, workspace: Path) -> None:
    assert (await call("create_directory", path="a/b/c")).text == "Created the folder a/b/c"
    assert (workspace / "a" / "b" / "c").is_dir()
    assert (await call("create_directory", path="a/b")).text == "The folder a/b is there already"


@pytest.mark.anyio
@pytest.mark.parametrize(("path", "reason"), [("b.txt", "'b.txt' is a file"), ("b.txt/x", "is a file, not a folder")])
async def test_a_file_in_the_way_of_a_folder_is_named(call: Call, tree: Path, path: str, reason: str) -> None:
    with pytest.raises(ToolError, match=reason):
        await call("create_directory", path=path)
    assert (tree / "b.txt").is_file()


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a\r\nb\r\n", "type: text, UTF-8, CRLF line ends"),
        (b"a\nb\r\nc\r", "type: text, UTF-8, LF and CRLF and CR line ends"),
        (b"\xef\xbb\xbfa", "type: text, UTF-8 with BOM, one line"),
        (b"", "type: empty file"),
        (b"\x89PNG\r\n\x1a\n\0", "type: a PNG picture"),
        (bytes(range(256)) * 2, "type: binary data"),
    ],
)
async def test_details_of_a_file(call: Call, workspace: Path, content: bytes, words: str) -> None:
    (workspace / "a").write_bytes(content)
    lines = (await call("get_file_info", path="a")).text.split("\n")
    assert lines[0] == f"path: {workspace / 'a'}"
    assert words in lines
    assert f"sha256: {hashlib.sha256(content).hexdigest()}" in lines
    assert sum("bytes" in line for line in lines) == 1


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("size", "line"),
    [(0, "size: 0 bytes"), (1, "size: 1 byte"), (15, "size: 15 bytes"), (2048, "size: 2.0 KB (2,048 bytes)")],
)
async def test_a_size_is_said_once(call: Call, workspace: Path, size: int, line: str) -> None:
    (workspace / "a").write_bytes(b"x" * size)
    assert line in (await call("get_file_info", path="a")).text.split("\n")


@pytest.mark.anyio
async def test_details_of_a_folder_and_a_link(call: Call, tree: Path) -> None:
    assert "holds: 2 entries" in (await call("get_file_info", path="sub")).text
    assert "type: link to sub" in (await call("get_file_info", path="link")).text
    assert "sha256: not computed over" not in (await call("get_file_info", path="b.txt")).text


@pytest.mark.anyio
async def test_a_giant_file_is_not_hashed(call: Call, workspace: Path) -> None:
    with (workspace / "huge").open("wb") as stream:
        stream.truncate(101 * 1024 * 1024)
    assert "sha256: not computed over 100.0 MB" in (await call("get_file_info", path="huge")).text
