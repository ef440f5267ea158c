"""`skales undo` without a server: it shows, asks or is sure, and changes nothing otherwise."""

import json

import pytest

from skales.cli.main import main
from skales.data.paths import DataDirectory


@pytest.fixture(autouse=True)
def written(home: DataDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKALES_DATA_DIR", str(home.root))
    monkeypatch.setenv("NO_COLOR", "1")
    (home.workspace / "a.txt").write_text("old\n", encoding="utf-8")
    assert main(["tools", "run", "write_file", "--path", "a.txt", "--content", "new\n"]) == 0


def test_the_timeline_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["undo", "--list"]) == 0
    out = capsys.readouterr().out
    assert ("a.txt" in out, "1 change  done" in out) == (True, True)
    assert main(["undo", "--list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["steps"][0]["tool"] == "write_file"


def test_nothing_happens_where_nobody_can_be_asked(home: DataDirectory, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["undo"]) == 1
    assert "--yes" in capsys.readouterr().err
    assert (home.workspace / "a.txt").read_text(encoding="utf-8") == "new\n"


def test_it_shows_the_diff_undoes_and_brings_back(home: DataDirectory, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["undo", "--yes"]) == 0
    assert [line.strip() for line in capsys.readouterr().out.splitlines() if line.strip()][-3:] == [
        "-new",
        "+old",
        "✓ Undid 1 change",
    ]
    assert (home.workspace / "a.txt").read_text(encoding="utf-8") == "old\n"
    assert main(["undo", "--redo", "--yes"]) == 0
    assert (home.workspace / "a.txt").read_text(encoding="utf-8") == "new\n"


def test_what_was_changed_since_is_named(home: DataDirectory, capsys: pytest.CaptureFixture[str]) -> None:
    (home.workspace / "a.txt").write_text("mine", encoding="utf-8")
    assert main(["undo", "--yes"]) == 1
    assert "it was changed since" in capsys.readouterr().err
    assert (home.workspace / "a.txt").read_text(encoding="utf-8") == "mine"
