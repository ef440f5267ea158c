"""get_disk_usage over real folders."""

import os
from pathlib import Path

import anyio
import pytest

from skales.core.errors import ToolError, ToolRefusedError
from skales.core.events import Progress
from skales.core.ids import SessionId
from skales.core.json import as_list, as_object
from skales.core.ports import CallScope, Question
from skales.tools.registry import BuiltinToolbox
from skales.tools.system import disk_usage
from tests.tools.conftest import Call, Rules

pytestmark = pytest.mark.anyio


def put(root: Path, name: str, size: int) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)


async def test_the_largest_folders_come_first_with_all_that_is_in_them(call: Call, workspace: Path) -> None:
    put(workspace, "films/old/a.bin", 5_000)
    put(workspace, "films/b.bin", 1_000)
    put(workspace, "texts/c.txt", 10)
    put(workspace, "top.txt", 1)
    found = await call("get_disk_usage")
    data = as_object(found.data)
    assert data["folders"] == [
        {"path": "films", "bytes": 6_000},
        {"path": "films/old", "bytes": 5_000},
        {"path": "texts", "bytes": 10},
    ]
    assert (data["files"], data["folderBytes"], data["isPartial"]) == (4, 6_011, False)
    assert found.text.splitlines()[0].startswith("Disk: ")
    assert [
        as_object(item)["path"] for item in as_list(as_object((await call("get_disk_usage", limit=1)).data)["folders"])
    ] == ["films"]


async def test_links_are_not_followed_and_closed_folders_not_counted(
    call: Call, workspace: Path, rules: Rules, tmp_path: Path
) -> None:
    put(tmp_path, "outside/big.bin", 9_000)
    put(workspace, "private/secret.bin", 9_000)
    put(workspace, "in.bin", 5)
    (workspace / "out").symlink_to(tmp_path / "outside")
    (workspace / "round").symlink_to(workspace)
    os.mkfifo(workspace / "pipe")
    rules.paths = type(rules.paths)(workspace=workspace, blocked=(workspace / "private",))
    found = await call("get_disk_usage")
    assert as_object(found.data)["folderBytes"] == 5
    assert "1 folder closed to tools not counted." in found.text
    with pytest.raises(ToolRefusedError):
        await call("get_disk_usage", path=str(tmp_path / "outside"))


async def test_a_walk_has_an_end_and_says_so(call: Call, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk_usage, "_MOST_ENTRIES", 10)
    for number in range(20):
        put(workspace, f"{number}.txt", 1)
    found = await call("get_disk_usage")
    assert as_object(found.data)["isPartial"] is True
    assert "Ended after 11 entries" in found.text


async def test_what_is_no_folder_is_refused(call: Call, workspace: Path) -> None:
    put(workspace, "a.txt", 1)
    with pytest.raises(ToolError, match="is no folder"):
        await call("get_disk_usage", path="a.txt")
    with pytest.raises(ToolError, match="does not exist"):
        await call("get_disk_usage", path="none")


async def test_it_shows_how_far_it_is_and_ends_when_cancelled(
    toolbox: BuiltinToolbox, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_usage, "_STEP", 1)
    for number in range(50):
        put(workspace, f"{number}.txt", 1)
    shown: list[Progress] = []

    async def ask(_question: Question) -> str:
        raise AssertionError

    with anyio.CancelScope() as cancelling:

        def report(progress: Progress) -> None:
            shown.append(progress)
            if len(shown) == 3:
                cancelling.cancel()

        spec = toolbox.find("get_disk_usage")
        assert spec is not None
        await toolbox.run(spec, {}, CallScope(SessionId(""), "call", ask, report))
    assert cancelling.cancelled_caught
    assert [progress.done for progress in shown] == [1, 2, 3]
