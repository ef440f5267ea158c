"""Folders are flushed a moment after something in them was replaced, once for all that changed, and at the end."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from skales.data import folder_flush
from skales.data.document import write_object
from skales.data.folder_flush import FolderFlusher


@pytest.fixture
def flushed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the folders of this test that were flushed."""
    names: list[str] = []

    def note(descriptor: int) -> None:
        folder = Path(f"/proc/self/fd/{descriptor}").readlink()
        if folder.is_relative_to(tmp_path):
            names.append(folder.name)

    monkeypatch.setattr(folder_flush, "fsync", note)
    return names


def wait_for(flushed: list[str], count: int) -> None:
    until_s = time.monotonic() + 10
    while len(flushed) < count and time.monotonic() < until_s:
        time.sleep(0.005)


@pytest.mark.skipif(sys.platform != "linux", reason="the test looks folders up where Linux lists them")
def test_what_changes_within_a_moment_is_flushed_once(tmp_path: Path, flushed: list[str]) -> None:
    flusher = FolderFlusher(0.2)
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    for _ in range(5):
        flusher.flush_soon(str(tmp_path / "one"))
    flusher.flush_soon(str(tmp_path / "two"))
    assert flushed == []
    wait_for(flushed, 2)
    assert sorted(flushed) == ["one", "two"]
    flusher.flush_soon(str(tmp_path / "one"))
    wait_for(flushed, 3)
    assert sorted(flushed) == ["one", "one", "two"]


@pytest.mark.skipif(sys.platform != "linux", reason="the test looks folders up where Linux lists them")
def test_at_the_end_nothing_is_waited_for(tmp_path: Path, flushed: list[str]) -> None:
    flusher = FolderFlusher(60)
    flusher.flush_soon(str(tmp_path))
    flusher.flush_now()
    assert flushed == [tmp_path.name]


def test_a_folder_that_cannot_be_flushed_is_no_reason_to_fail(tmp_path: Path) -> None:
    flusher = FolderFlusher()
    flusher.flush_soon(str(tmp_path / "gone"))
    flusher.flush_now()
    write_object(tmp_path / "one.json", {"state": "new"})
    assert (tmp_path / "one.json").exists()


def test_a_program_that_ends_at_once_has_flushed_its_folder(tmp_path: Path) -> None:
    code = f"""
import os
from pathlib import Path
from skales.data import folder_flush
from skales.data.document import write_object

folder_flush.fsync = lambda descriptor: print(os.path.sameopenfile(descriptor, folder))
folder = os.open({str(tmp_path)!r}, os.O_RDONLY)
write_object(Path({str(tmp_path / "one.json")!r}), {{}})
"""
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", check=True, timeout=60
    )
    assert ended.stdout == "True\n"
