"""Whether a look with git stays a look."""

import os
from pathlib import Path

import pytest

from skales.agent.taint_repository import looks_only


def test_a_folder_without_a_repository_starts_nothing(tmp_path: Path) -> None:
    assert looks_only(tmp_path)


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ("[core]\n\trepositoryformatversion = 0\n\tbare = false\n", True),
        ('[user]\n\tname = Ada\n[remote "origin"]\n\turl = ssh://host/x\n', True),
        ("[core]\n\tfsmonitor = ./x.sh\n", False),
        ("[core]\n\thooksPath = hooks\n", False),
        ("[include]\n\tpath = ../more\n", False),
        ('[diff "png"]\n\ttextconv = ./x\n', False),
    ],
)
def test_settings_that_start_a_program_count(tmp_path: Path, config: str, expected: bool) -> None:
    inner = tmp_path / "deep" / "er"
    inner.mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text(config, encoding="utf-8")
    assert looks_only(inner) is expected


def test_a_pointer_is_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "config").write_text("[core]\n\teditor = x\n", encoding="utf-8")
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / ".git").write_text("gitdir: ../elsewhere\n", encoding="utf-8")
    assert not looks_only(tree)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_keeps_nobody_waiting(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    os.mkfifo(tmp_path / ".git" / "config")
    assert looks_only(tmp_path)
