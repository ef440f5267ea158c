import errno
import os
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from skales.core.errors import ToolError
from tests.tools.conftest import Call


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}


@pytest.mark.anyio
async def test_a_new_file_holds_exactly_the_content(call: Call, workspace: Path) -> None:
    result = await call("write_file", path="deep/er/a.txt", content="größe\r\nb")
    assert (workspace / "deep" / "er" / "a.txt").read_bytes() == "größe\r\nb".encode()
    assert result.summary == "Created deep/er/a.txt (10 bytes, 2 lines)"
    assert result.files == (str(workspace / "deep/er/a.txt"),)


@pytest.mark.anyio
@pytest.mark.parametrize(
    "change",
    [
        (b"old\n", "new\n", b"new\n", ""),
        (b"old\r\nold\r\n", "new\nnew\n", b"new\r\nnew\r\n", "Kept its Windows line ends"),
        (b"old\r\nold\n", "new\n", b"new\n", ""),
        (b"old\r\n", "new\r\n\n", b"new\r\n\n", "Kept its Windows line ends"),
        (b"\xef\xbb\xbfold", "new", b"\xef\xbb\xbfnew", "Kept its UTF-8 with BOM"),
        (b"\xef\xbb\xbfold", "\ufeffnew", b"\xef\xbb\xbfnew", "Kept its UTF-8 with BOM"),
        (b"\xff\xfeo\0\r\0\n\0", "ñ\n", b"\xff\xfe\xf1\0\r\0\n\0", "Kept its UTF-16 LE with BOM and Windows line ends"),
        ("Größe\n".encode("cp1252"), "größer ≤\n", "größer ≤\n".encode(), "It was windows-1252 and is UTF-8 now"),
        (b"\x89PNG\r\n\x1a\n\0\0\r\n", "a\n", b"a\n", ""),
        (b"", "a\n", b"a\n", ""),
    ],
)
async def test_a_replaced_file_keeps_how_it_stores_text(
    call: Call, workspace: Path, change: tuple[bytes, str, bytes, str]
) -> None:
    stored, content, after, said = change
    path = workspace / "a.txt"
    path.write_bytes(stored)
    result = await call("write_file", path="a.txt", content=content)
    assert path.read_bytes() == after
    assert result.text == ". ".join(filter(None, (result.summary, said)))


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("stored", "content", "after"),
    [
        (b"a\n", "b\n", b"a\nb\n"),
        (b"a", "b", b"ab"),
        (b"a\r\nb\r\n", "c\n", b"a\r\nb\r\nc\r\n"),
        (b"\xef\xbb\xbfa\n", "b\n", b"\xef\xbb\xbfa\nb\n"),
        (b"\xff\xfea\0", "ñ", b"\xff\xfea\0\xf1\0"),
        ("Größe\n".encode("cp1252"), "Maß\n", "Größe\nMaß\n".encode("cp1252")),
        (b"", "a", b"a"),
    ],
)
async def test_added_text_is_stored_as_the_rest(
    call: Call, workspace: Path, stored: bytes, content: str, after: bytes
) -> None:
    path = workspace / "a.txt"
    path.write_bytes(stored)
    inode = path.stat().st_ino
    await call("append_file", path="a.txt", content=content)
    assert path.read_bytes() == after
    assert path.stat().st_ino == inode


@pytest.mark.anyio
async def test_adding_to_a_file_that_is_not_there_creates_it(call: Call, workspace: Path) -> None:
    await call("append_file", path="log/a.txt", content="first\n")
    assert (workspace / "log" / "a.txt").read_text(encoding="utf-8") == "first\n"


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("stored", "content", "reason"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0", "a", "holds no text"),
        ("Größe\n".encode("cp1252"), "≤", "cannot be stored in windows-1252"),
    ],
)
async def test_text_that_would_damage_a_file_is_not_added(
    call: Call, workspace: Path, stored: bytes, content: str, reason: str
) -> None:
    path = workspace / "a.bin"
    path.write_bytes(stored)
    with pytest.raises(ToolError, match=reason):
        await call("append_file", path="a.bin", content=content)
    assert path.read_bytes() == stored


@pytest.mark.anyio
async def test_half_a_character_is_not_written(call: Call, workspace: Path) -> None:
    with pytest.raises(ToolError, match=r"U\+D83D"):
        await call("write_file", path="a.txt", content="x\ud83d")
    assert names(workspace) == []


@pytest.mark.anyio
@pytest.mark.parametrize("tool", ["write_file", "append_file"])
async def test_a_write_protected_file_stays(call: Call, workspace: Path, tool: str) -> None:
    path = workspace / "a.txt"
    path.write_text("old", encoding="utf-8")
    path.chmod(0o444)
    with pytest.raises(ToolError, match="write-protected"):
        await call(tool, path="a.txt", content="new")
    assert path.read_text(encoding="utf-8") == "old"


@pytest.mark.anyio
@pytest.mark.parametrize("tool", ["write_file", "append_file", "read_file", "search_in_files", "edit_file"])
async def test_a_pipe_is_refused_and_not_waited_for(call: Call, workspace: Path, tool: str) -> None:
    os.mkfifo(workspace / "pipe")
    more: dict[str, dict[str, Any]] = {
        "search_in_files": {"query": "a"}, "edit_file": {"old_text": "a", "new_text": "b"}, "read_file": {},
    }  # fmt: skip
    with pytest.raises(ToolError):
        await call(tool, path="pipe", **more.get(tool, {"content": "x"}))


@pytest.mark.anyio
async def test_permissions_of_a_replaced_file_stay_and_a_secret_is_never_readable(call: Call, workspace: Path) -> None:
    path = workspace / "a.txt"
    path.write_text("old", encoding="utf-8")
    path.chmod(0o600)
    await call("write_file", path="a.txt", content="new")
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.fixture
def small_disk() -> Iterator[int]:
    """A limit on file sizes, which the system reports as it reports a full disk."""
    limit = 64 * 1024
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, old[1]))
    yield limit
    resource.setrlimit(resource.RLIMIT_FSIZE, old)


@pytest.mark.anyio
@pytest.mark.parametrize("tool", ["write_file", "append_file"])
async def test_a_disk_that_gives_out_halfway_leaves_the_old_file(
    call: Call, workspace: Path, small_disk: int, tool: str
) -> None:
    path = workspace / "a.txt"
    path.write_text("old\n", encoding="utf-8")
    with pytest.raises(ToolError) as caught:
        await call(tool, path="a.txt", content="x" * 2 * small_disk)
    assert "larger than the system allows" in caught.value.message
    assert caught.value.hint
    assert path.read_text(encoding="utf-8") == "old\n"
    assert names(workspace) == ["a.txt"]


@pytest.mark.anyio
@pytest.mark.parametrize(
    "change",
    [
        ("write_file", {"path": "a.txt", "content": "new"}),
        ("edit_file", {"path": "a.txt", "old_text": "old", "new_text": "new"}),
        ("copy_file", {"source": "b.txt", "destination": "a.txt", "overwrite": True}),
        ("create_archive", {"paths": ["b.txt"], "archive": "a.zip", "overwrite": True}),
    ],
)
@pytest.mark.parametrize("step", ["open", "fchmod", "fsync", "replace"])
@pytest.mark.parametrize("failure", [(errno.ENOSPC, "the disk is full"), (errno.EROFS, "the disk is read-only")])
async def test_whichever_step_fails_the_old_file_is_intact(
    call: Call, workspace: Path, change: tuple[str, dict[str, Any]], step: str, failure: tuple[int, str]
) -> None:
    tool, arguments = change
    number, words = failure
    for name in ("a.txt", "a.zip", "b.txt"):
        (workspace / name).write_text("old", encoding="utf-8")
    real_open = os.open

    def fail(*_args: Any, **_kwargs: Any) -> None:
        raise OSError(number, os.strerror(number))

    def open_nothing_new(path: Any, flags: int, *args: Any, **kwargs: Any) -> int:
        if flags & os.O_CREAT:
            fail()
        return real_open(path, flags, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, step, open_nothing_new if step == "open" else fail)
        with pytest.raises(ToolError, match=words) as caught:
            await call(tool, **arguments)
    assert caught.value.hint
    assert contents(workspace) == {"a.txt": "old", "a.zip": "old", "b.txt": "old"}


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("n" * 300, "too long"),
        ("a.txt/inner", "a part of its path is a file"),
        ("folder", "is a folder"),
        ("", "is empty"),
    ],
)
async def test_impossible_places_are_named(call: Call, workspace: Path, path: str, reason: str) -> None:
    (workspace / "a.txt").write_text("a", encoding="utf-8")
    (workspace / "folder").mkdir()
    with pytest.raises(ToolError, match=reason):
        await call("write_file", path=path, content="x")
