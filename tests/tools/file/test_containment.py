"""PTH-01 for every file tool: the verdicts hold on the way in, and nothing appears or vanishes outside."""

import json
import os
import shutil
import threading
import zipfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from skales.core.errors import SkalesError, ToolError, ToolRefusedError
from skales.core.json import JsonObject
from skales.security.paths import resolve_path
from skales.tools.context import ToolContext
from skales.tools.define import LinkPath
from skales.tools.file.archive import create_archive, extract_archive
from skales.tools.file.edit import edit_file, replace_in_file
from skales.tools.file.listing import create_directory, get_file_info, list_directory
from skales.tools.file.read import read_file
from skales.tools.file.transfer import copy_file, delete_file, move_file
from skales.tools.file.write import append_file, write_file
from tests.conftest import CASES
from tests.tools.conftest import Call, Rules

CASE: dict[str, Any] = json.loads((CASES / "paths" / "PTH-01-containment.json").read_text(encoding="utf-8"))
FOLDS_CASE = Path(str(CASES).upper()).exists()

# Every tool that puts something at a path, with the arguments that make it do so.
WRITERS: Mapping[str, Callable[[str], JsonObject]] = {
    "write_file": lambda path: {"path": path, "content": "x"},
    "append_file": lambda path: {"path": path, "content": "x"},
    "copy_file": lambda path: {"source": "readme.md", "destination": path},
    "move_file": lambda path: {"source": "readme.md", "destination": path},
    "create_directory": lambda path: {"path": path},
    "create_archive": lambda path: {"paths": ["readme.md"], "archive": path},
    "extract_archive": lambda path: {"archive": "packed.zip", "destination": path},
}
FILE_WRITERS = ("write_file", "append_file", "copy_file", "move_file")


@pytest.fixture
def root(tmp_path: Path, rules: Rules) -> Path:
    root = tmp_path / "root"
    for name in CASE["layout"]["make"]:
        place = Path(name.replace("ROOT", str(root)))
        (place if name.endswith("/") else place.parent).mkdir(parents=True, exist_ok=True)
        if not name.endswith("/"):
            place.write_text(f"text of {place.name}\n", encoding="utf-8")
    for link, target in CASE["layout"]["links"].items():
        Path(link.replace("ROOT", str(root))).symlink_to(target.replace("ROOT", str(root)))
    with zipfile.ZipFile(root / "project" / "packed.zip", "w") as packed:
        packed.writestr("inner.txt", "inner")
    rules.paths = structs.replace(rules.paths, workspace=root / "project")
    return root


def outside_of(root: Path) -> Mapping[str, bytes | None]:
    """Everything outside the allowed folder, by path."""
    paths = [path for place in (root / "outside", root / "project-secret") for path in (place, *place.rglob("*"))]
    return {str(path): path.read_bytes() if path.is_file() else None for path in paths}


def text_of(place: str) -> str:
    return Path(place).read_text(encoding="utf-8")


def requests(operation: str, *verdicts: str) -> list[Any]:
    return [
        pytest.param(
            request["path"],
            id=f"n{request['n']}",
            marks=pytest.mark.skipif(request["n"] == 15 and FOLDS_CASE, reason="the disk folds case"),
        )
        for request in CASE["requests"]
        if request["op"] == operation and request["verdict"].split()[0] in verdicts
    ]


@pytest.mark.anyio
@pytest.mark.parametrize("path", requests("read", "allow"))
async def test_what_is_inside_can_be_read(call: Call, root: Path, path: str) -> None:
    result = await call("read_file", path=path.replace("ROOT", str(root)))
    assert result.text == "text of readme.md"


@pytest.mark.anyio
@pytest.mark.parametrize("tool", ["read_file", "list_directory", "search_in_files", "find_files"])
@pytest.mark.parametrize("path", requests("read", "deny", "error"))
async def test_what_is_outside_cannot_be_read(call: Call, root: Path, tool: str, path: str) -> None:
    more = {"search_in_files": {"query": "text"}, "find_files": {"pattern": "*"}}.get(tool, {})
    with pytest.raises(SkalesError):
        await call(tool, path=path.replace("ROOT", str(root)), **more)


@pytest.mark.anyio
@pytest.mark.parametrize("tool", FILE_WRITERS)
@pytest.mark.parametrize("path", requests("write", "allow"))
async def test_what_is_inside_can_be_written(call: Call, root: Path, tool: str, path: str) -> None:
    place = path.replace("ROOT", str(root))
    before = outside_of(root)
    await call(tool, **WRITERS[tool](place))
    assert text_of(place) in {"x", "text of readme.md\n"}
    assert outside_of(root) == before


@pytest.mark.anyio
@pytest.mark.parametrize("tool", WRITERS)
@pytest.mark.parametrize("path", requests("write", "deny"))
async def test_what_is_outside_cannot_be_written(call: Call, root: Path, tool: str, path: str) -> None:
    place = path.replace("ROOT", str(root))
    before = outside_of(root)
    with pytest.raises((ToolRefusedError, ToolError)):
        await call(tool, **WRITERS[tool](f"{place}.zip" if tool == "create_archive" and "to-" in place else place))
    assert outside_of(root) == before


@pytest.mark.anyio
@pytest.mark.parametrize("tool", ["write_file", "append_file", "create_directory", "create_archive"])
async def test_a_name_with_a_nul_is_an_error(call: Call, root: Path, tool: str) -> None:
    with pytest.raises(ToolError, match="NUL"):
        await call(tool, **WRITERS[tool](f"{root}/project/nul\0byte.zip"))


@pytest.mark.anyio
@pytest.mark.parametrize("tool", ["write_file", "append_file"])
async def test_a_folder_cannot_be_written_as_a_file(call: Call, root: Path, tool: str) -> None:
    with pytest.raises(ToolError, match="is a folder"):
        await call(tool, path=f"{root}/project", content="x")


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("write_file", {"path": "/", "content": "x"}),
        ("read_file", {"path": "/"}),
        ("delete_file", {"path": "/", "recursive": True}),
        ("move_file", {"source": "/", "destination": "x"}),
        ("create_archive", {"paths": ["readme.md"], "archive": "/"}),
    ],
)
async def test_the_root_of_a_disk_is_no_file(
    call: Call, root: Path, rules: Rules, tool: str, arguments: dict[str, Any]
) -> None:
    rules.paths = structs.replace(rules.paths, unrestricted=True)
    with pytest.raises(ToolError):
        await call(tool, **arguments)


@pytest.mark.anyio
async def test_deleting_a_link_leaves_what_it_points_to(call: Call, root: Path) -> None:
    before = outside_of(root)
    await call("delete_file", path=f"{root}/project/to-outside")
    assert not (root / "project" / "to-outside").is_symlink()
    assert outside_of(root) == before


@pytest.mark.anyio
async def test_moving_a_link_leaves_what_it_points_to(call: Call, root: Path) -> None:
    before = outside_of(root)
    await call("move_file", source="to-file", destination="moved-link")
    assert (root / "project" / "moved-link").readlink() == root / "outside" / "diary.txt"
    assert outside_of(root) == before


@pytest.mark.anyio
async def test_a_deep_listing_names_links_and_does_not_enter_them(call: Call, root: Path) -> None:
    result = await call("list_directory", path=f"{root}/project", depth=5)
    assert f"to-outside -> {root}/outside" in result.text.splitlines()
    assert "diary.txt" not in result.text.replace(f"to-file -> {root}/outside/diary.txt", "")


@pytest.mark.anyio
async def test_searching_and_copying_do_not_enter_links(call: Call, root: Path) -> None:
    assert "diary" not in (await call("search_in_files", query="text of")).text
    await call("create_directory", path="sub/deep")
    await call("move_file", source="to-outside", destination="sub/deep/link")
    await call("copy_file", source="sub", destination="copied")
    assert (root / "project" / "copied" / "deep" / "link").is_symlink()


SWAPPED: Mapping[str, Callable[[ToolContext, Path], Any]] = {
    "read_file": lambda ctx, sub: read_file(ctx, sub / "old.txt"),
    "list_directory": lambda ctx, sub: list_directory(ctx, sub),
    "get_file_info": lambda ctx, sub: get_file_info(ctx, LinkPath(sub / "old.txt")),
    "write_file": lambda ctx, sub: write_file(ctx, sub / "x.txt", "x"),
    "write_file over": lambda ctx, sub: write_file(ctx, sub / "old.txt", "x"),
    "append_file": lambda ctx, sub: append_file(ctx, sub / "old.txt", "x"),
    "edit_file": lambda ctx, sub: edit_file(ctx, sub / "old.txt", "diary", "x"),
    "replace_in_file": lambda ctx, sub: replace_in_file(ctx, sub / "old.txt", "diary", "x"),
    "create_directory": lambda ctx, sub: create_directory(ctx, sub / "a" / "b"),
    "copy_file to": lambda ctx, sub: copy_file(ctx, sub.parent / "readme.md", sub / "x.txt"),
    "copy_file from": lambda ctx, sub: copy_file(ctx, sub / "old.txt", sub.parent / "taken.txt"),
    "copy_file folder": lambda ctx, sub: copy_file(ctx, sub, sub.parent / "taken"),
    "move_file to": lambda ctx, sub: move_file(ctx, LinkPath(sub.parent / "readme.md"), sub / "x.txt"),
    "move_file from": lambda ctx, sub: move_file(ctx, LinkPath(sub / "old.txt"), sub.parent / "taken.txt"),
    "delete_file": lambda ctx, sub: delete_file(ctx, LinkPath(sub / "old.txt")),
    "create_archive to": lambda ctx, sub: create_archive(ctx, [sub.parent / "readme.md"], sub / "x.zip"),
    "create_archive from": lambda ctx, sub: create_archive(ctx, [sub / "old.txt"], sub.parent / "taken.zip"),
    "extract_archive": lambda ctx, sub: extract_archive(ctx, sub.parent / "packed.zip", sub),
    "extract_archive new": lambda ctx, sub: extract_archive(ctx, sub.parent / "packed.zip", sub / "new"),
}


@pytest.mark.anyio
@pytest.mark.parametrize("tool", SWAPPED)
async def test_a_link_swapped_in_after_the_check_leads_nowhere(tool: str, root: Path, ctx: ToolContext) -> None:
    (root / "outside" / "old.txt").write_text("secret diary", encoding="utf-8")
    sub = resolve_path("sub", ctx.paths)
    sub.rmdir()
    sub.symlink_to(root / "outside")
    before = outside_of(root)
    with pytest.raises(ToolRefusedError, match="became a link"):
        await SWAPPED[tool](ctx, sub)
    assert outside_of(root) == before
    assert not list((root / "project").glob("taken*"))


@pytest.fixture
def no_folder_handles(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that cannot look names up in an open folder, as Windows cannot."""
    monkeypatch.setattr(os, "supports_dir_fd", set())


@pytest.mark.anyio
@pytest.mark.parametrize("tool", SWAPPED)
async def test_a_swapped_link_is_noticed_without_folder_handles_too(
    tool: str, root: Path, ctx: ToolContext, no_folder_handles: None
) -> None:
    await test_a_link_swapped_in_after_the_check_leads_nowhere(tool, root, ctx)


@pytest.mark.anyio
async def test_everything_works_without_folder_handles(call: Call, root: Path, no_folder_handles: None) -> None:
    await call("write_file", path="sub/a/b.txt", content="one\n")
    await call("append_file", path="sub/a/b.txt", content="two\n")
    await call("edit_file", path="sub/a/b.txt", old_text="two", new_text="2")
    await call("copy_file", source="sub", destination="copy")
    await call("move_file", source="copy/a/b.txt", destination="moved.txt")
    await call("create_archive", paths=["sub"], archive="sub.zip")
    await call("extract_archive", archive="sub.zip", destination="back")
    await call("delete_file", path="copy", recursive=True)
    assert text_of(f"{root}/project/moved.txt") == text_of(f"{root}/project/back/sub/a/b.txt") == "one\n2\n"
    assert "copy/" not in (await call("list_directory")).text
    assert "back/sub/a/b.txt" in (await call("search_in_files", query="one")).text


@pytest.mark.anyio
async def test_nothing_appears_outside_while_a_folder_keeps_turning_into_a_link(call: Call, root: Path) -> None:
    before = outside_of(root)
    sub = root / "project" / "sub"
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            with suppress(OSError):
                shutil.rmtree(sub)
                sub.symlink_to(root / "outside")
                sub.unlink()
                sub.mkdir()

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        for number in range(40):
            with suppress(SkalesError):
                await call("write_file", path=f"{sub}/x{number}.txt", content="x")
            with suppress(SkalesError):
                await call("create_directory", path=f"{sub}/d{number}/e")
    finally:
        stop.set()
        swapper.join()
    assert outside_of(root) == before
