import os
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from skales.core.errors import ToolError, ToolRefusedError
from skales.data.paths import DataDirectory
from tests.tools.conftest import Call, Rules


@pytest.fixture
def tree(workspace: Path) -> Path:
    (workspace / "sub" / "deep").mkdir(parents=True)
    for name in ("a.txt", "b.txt", "sub/c.txt", "sub/deep/d.txt"):
        (workspace / name).write_text(f"text of {name}", encoding="utf-8")
    return workspace


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def contents(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.anyio
@pytest.mark.parametrize(
    "way",
    [
        ("a.txt", "new.txt", "new.txt"),
        ("a.txt", "new/folder/x.txt", "new/folder/x.txt"),
        ("a.txt", "sub", "sub/a.txt"),
        ("sub", "moved", "moved"),
        ("sub/deep", ".", "deep"),
    ],
)
@pytest.mark.parametrize("tool", ["move_file", "copy_file"])
async def test_things_land_where_they_should(call: Call, tree: Path, tool: str, way: tuple[str, str, str]) -> None:
    source, destination, lands = way
    before = contents(tree)
    result = await call(tool, source=source, destination=destination)
    moved = {name: text for name, text in before.items() if f"{name}/".startswith(f"{source}/")}
    expected = {f"{lands}{name.removeprefix(source)}": text for name, text in moved.items()}
    stays = {name: text for name, text in before.items() if tool == "copy_file" or name not in moved}
    assert contents(tree) == {**stays, **expected}
    assert result.files == (str(tree / lands),)


@pytest.mark.anyio
@pytest.mark.parametrize("tool", ["move_file", "copy_file"])
@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"source": "a.txt", "destination": "b.txt"}, "is there already"),
        ({"source": "a.txt", "destination": "a.txt", "overwrite": True}, "is that path already"),
        ({"source": "sub", "destination": "sub"}, "is that path already"),
        ({"source": "sub", "destination": "sub/deep"}, "cannot go into itself"),
        ({"source": "sub", "destination": "sub/new/x"}, "cannot go into itself"),
        ({"source": "sub", "destination": "b.txt", "overwrite": True}, "is there already"),
        ({"source": "gone.txt", "destination": "x"}, "does not exist"),
        ({"source": ".", "destination": "x"}, "holds the workspace|cannot go into itself"),
    ],
)
async def test_what_would_lose_something_is_refused(
    call: Call, tree: Path, tool: str, arguments: dict[str, Any], reason: str
) -> None:
    before = contents(tree)
    with pytest.raises(ToolError, match=reason):
        await call(tool, **arguments)
    assert contents(tree) == before


@pytest.mark.anyio
@pytest.mark.parametrize("tool", ["move_file", "copy_file"])
async def test_a_file_is_replaced_only_on_purpose(call: Call, tree: Path, tool: str) -> None:
    await call(tool, source="a.txt", destination="b.txt", overwrite=True)
    assert (tree / "b.txt").read_text(encoding="utf-8") == "text of a.txt"
    assert (tree / "a.txt").exists() is (tool == "copy_file")


@pytest.mark.anyio
async def test_a_folder_is_not_merged_into_one_of_its_name(call: Call, tree: Path) -> None:
    (tree / "target" / "sub").mkdir(parents=True)
    with pytest.raises(ToolError, match="'target/sub' is there already"):
        await call("copy_file", source="sub", destination="target", overwrite=True)


@pytest.mark.anyio
async def test_a_copy_keeps_permissions_and_time(call: Call, tree: Path) -> None:
    (tree / "a.txt").chmod(0o740)
    (tree / "sub" / "deep").chmod(0o500)
    os.utime(tree / "a.txt", (1_700_000_000, 1_700_000_000))
    await call("copy_file", source="a.txt", destination="c.txt")
    await call("copy_file", source="sub", destination="sub2")
    copy = (tree / "c.txt").stat()
    assert (copy.st_mode & 0o777, copy.st_mtime) == (0o740, 1_700_000_000)
    assert (tree / "sub2" / "deep").stat().st_mode & 0o777 == 0o500
    (tree / "sub2" / "deep").chmod(0o700)


@pytest.mark.anyio
async def test_links_in_a_folder_are_copied_as_links_and_devices_named(call: Call, tree: Path) -> None:
    (tree / "sub" / "link").symlink_to("c.txt")
    os.mkfifo(tree / "sub" / "pipe")
    result = await call("copy_file", source="sub", destination="sub2")
    assert (tree / "sub2" / "link").readlink() == Path("c.txt")
    assert result.text.endswith("Left out: pipe")


@pytest.fixture
def small_disk() -> Iterator[None]:
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64 * 1024, old[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, old)


@pytest.mark.anyio
async def test_a_copy_that_fails_halfway_leaves_nothing(call: Call, tree: Path, small_disk: None) -> None:
    (tree / "sub" / "sparse.bin").touch()
    os.truncate(tree / "sub" / "c.txt", 60 * 1024)
    with (tree / "sub" / "z.bin").open("wb") as stream:
        stream.write(b"x" * 60 * 1024)
    resource.setrlimit(resource.RLIMIT_FSIZE, (32 * 1024, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    with pytest.raises(ToolError, match="cannot be written"):
        await call("copy_file", source="sub", destination="sub2")
    assert names(tree) == ["a.txt", "b.txt", "sub"]


@pytest.mark.anyio
@pytest.mark.parametrize("tool", ["move_file", "delete_file"])
async def test_a_folder_that_holds_something_closed_stays(call: Call, tree: Path, rules: Rules, tool: str) -> None:
    rules.paths = structs.replace(rules.paths, blocked=(tree / "sub" / "deep",))
    arguments: dict[str, Any] = {"move_file": {"source": "sub", "destination": "x"}}
    arguments["delete_file"] = {"path": "sub", "recursive": True}
    with pytest.raises(ToolRefusedError, match="closed to tools"):
        await call(tool, **arguments[tool])
    assert (tree / "sub" / "deep" / "d.txt").exists()


@pytest.mark.anyio
async def test_a_copy_leaves_out_what_is_closed_and_says_so(call: Call, tree: Path, rules: Rules) -> None:
    rules.paths = structs.replace(rules.paths, blocked=(tree / "sub" / "deep",))
    result = await call("copy_file", source="sub", destination="x")
    assert contents(tree / "x") == {"c.txt": "text of sub/c.txt"}
    assert result.text.endswith("Left out: deep")


@pytest.mark.anyio
async def test_a_landing_place_that_is_closed_is_refused(call: Call, tree: Path, rules: Rules) -> None:
    rules.paths = structs.replace(rules.paths, blocked=(tree / "sub" / "a.txt",))
    with pytest.raises(ToolRefusedError):
        await call("move_file", source="a.txt", destination="sub")


@pytest.mark.anyio
async def test_the_data_directory_cannot_be_carried_off(call: Call, home: DataDirectory, rules: Rules) -> None:
    home.settings.write_text("{}", encoding="utf-8")
    rules.paths = structs.replace(rules.paths, unrestricted=True)
    elsewhere = str(home.root.parent / "x")
    with pytest.raises(ToolError):
        await call("move_file", source=str(home.root), destination=elsewhere)
    with pytest.raises(ToolError):
        await call("delete_file", path=str(home.root), recursive=True)
    copied = await call("copy_file", source=str(home.root), destination=elsewhere)
    assert "settings.json" in copied.text
    assert "settings.json" not in contents(Path(elsewhere))


@pytest.mark.anyio
async def test_a_deleted_file_is_in_the_trash(call: Call, tree: Path, own_trash: Path) -> None:
    result = await call("delete_file", path="a.txt")
    assert not (tree / "a.txt").exists()
    assert "system trash" in result.text
    assert "text of a.txt" in contents(own_trash / "files").values()


@pytest.mark.anyio
async def test_a_folder_is_deleted_only_on_purpose(call: Call, tree: Path) -> None:
    with pytest.raises(ToolError, match="is a folder with 3 entries") as caught:
        await call("delete_file", path="sub")
    assert "recursive=true" in caught.value.hint
    assert "sub (3 entries)" in (await call("delete_file", path="sub", recursive=True)).text
    assert not (tree / "sub").exists()


@pytest.fixture
def no_system_trash(own_trash: Path) -> Iterator[None]:
    """A file stands where the trash should be, so that it cannot be used."""
    aside = own_trash.with_name("aside")
    own_trash.mkdir(parents=True, exist_ok=True)
    own_trash.rename(aside)
    own_trash.touch()
    yield
    own_trash.unlink()
    aside.rename(own_trash)


@pytest.mark.anyio
async def test_without_a_system_trash_the_place_to_restore_from_is_named(
    call: Call, tree: Path, home: DataDirectory, no_system_trash: None
) -> None:
    result = await call("delete_file", path="sub", recursive=True)
    place = Path(result.text.partition("restored from ")[2])
    assert place.is_relative_to(home.root / "trash")
    assert contents(place) == {"c.txt": "text of sub/c.txt", "deep/d.txt": "text of sub/deep/d.txt"}
    assert not (tree / "sub").exists()


@pytest.mark.anyio
@pytest.mark.parametrize("target", ["sub", "a.txt", "nowhere", "bad-link"])
async def test_deleting_a_link_says_what_stays(call: Call, tree: Path, target: str) -> None:
    before = contents(tree)
    (tree / "bad-link").symlink_to("bad-link")
    (tree / "link").symlink_to(target)
    result = await call("delete_file", path="link")
    assert f"what it pointed to ({target}) is untouched" in result.text
    (tree / "bad-link").unlink()
    assert contents(tree) == before


@pytest.mark.anyio
@pytest.mark.parametrize("path", [".", ".."])
async def test_the_workspace_itself_is_not_deleted(call: Call, tree: Path, rules: Rules, path: str) -> None:
    rules.paths = structs.replace(rules.paths, allowed=(tree.parent,), blocked=())
    with pytest.raises(ToolError, match="holds the workspace"):
        await call("delete_file", path=path, recursive=True)


OTHER_DISK = Path("/dev/shm")


@pytest.fixture
def other_disk(rules: Rules, workspace: Path) -> Iterator[Path]:
    place = OTHER_DISK / f"skales-test-{os.getpid()}"
    place.mkdir()
    rules.paths = structs.replace(rules.paths, allowed=(place,))
    yield place
    for path in sorted(place.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    place.rmdir()


is_other_disk = pytest.mark.skipif(
    not OTHER_DISK.is_dir() or OTHER_DISK.stat().st_dev == Path.cwd().stat().st_dev, reason="there is one disk only"
)


@is_other_disk
@pytest.mark.anyio
async def test_moving_to_another_disk_leaves_nothing_behind(call: Call, tree: Path, other_disk: Path) -> None:
    (tree / "sub" / "link").symlink_to("c.txt")
    before = contents(tree / "sub")
    await call("move_file", source="sub", destination=f"{other_disk}/sub")
    await call("move_file", source="a.txt", destination=str(other_disk))
    (tree / "lone-link").symlink_to("nowhere")
    await call("move_file", source="lone-link", destination=f"{other_disk}/lone-link")
    assert contents(other_disk / "sub") == before
    assert (other_disk / "a.txt").read_text(encoding="utf-8") == "text of a.txt"
    assert (other_disk / "lone-link").readlink() == Path("nowhere")
    assert names(tree) == ["b.txt"]


@is_other_disk
@pytest.mark.anyio
async def test_what_cannot_go_to_another_disk_stays_whole(call: Call, tree: Path, other_disk: Path) -> None:
    os.mkfifo(tree / "sub" / "pipe")
    before = contents(tree)
    with pytest.raises(ToolError, match="cannot be moved to another disk: 'pipe'"):
        await call("move_file", source="sub", destination=f"{other_disk}/sub")
    assert contents(tree) == before
    assert names(other_disk) == []
