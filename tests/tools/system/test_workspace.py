"""get_workspace_info over a real workspace."""

from pathlib import Path

import pytest

from skales.core.json import as_object
from tests.tools.conftest import Call, Rules

pytestmark = pytest.mark.anyio


async def test_places_and_sizes_are_told(call: Call, workspace: Path, rules: Rules, tmp_path: Path) -> None:
    (workspace / "reports").mkdir()
    (workspace / "reports" / "a.txt").write_bytes(b"x" * 2_048)
    (workspace / "note.txt").write_bytes(b"x" * 10)
    (workspace / "private").mkdir()
    (workspace / "private" / "s.txt").write_bytes(b"x" * 99)
    (workspace / "link").symlink_to(tmp_path)
    rules.paths = type(rules.paths)(workspace=workspace, allowed=(tmp_path / "more",), blocked=(workspace / "private",))
    found = await call("get_workspace_info")
    lines = found.text.splitlines()
    assert lines[:2] == [f"Workspace: {workspace}", "Holds: 2.0 KB in 2 files"]
    assert lines[3:] == [
        f"Also allowed: {tmp_path / 'more'}",
        "- reports/  2.0 KB, 1 file",
        "- note.txt  10 bytes, 1 file",
        "- link  0 bytes, 0 files",
    ]
    assert as_object(found.data)["bytes"] == 2_058


async def test_without_any_file_it_says_so(call: Call) -> None:
    assert (await call("get_workspace_info")).summary == "The workspace holds 0 bytes in 0 files"
