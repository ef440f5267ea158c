"""`skales secrets`: what it prints holds no secret, and what it masked comes back."""

import json
from pathlib import Path

import pytest

from skales.cli.main import main
from skales.data.paths import DataDirectory

LOOKS = "ghp" + "_" + "Pl4nt3dS3cr3tPl4nt3dS3cr3tPl4nt3dXY"
OWN = "correct-horse-planted-staple"


@pytest.fixture
def old(home: DataDirectory, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SKALES_DATA_DIR", str(home.root))
    home.create()
    home.settings.write_text(json.dumps({"providers": {"openai": {"apiKey": OWN}}}), encoding="utf-8")
    path = home.sessions / "session_1700000000000.json"
    content = {"id": "session_1700000000000", "messages": [{"role": "user", "content": f"{LOOKS} and {OWN}"}]}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_a_scan_shows_kind_and_place_and_changes_nothing(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = old.read_bytes()
    assert main(["secrets", "scan"]) == 0
    shown = capsys.readouterr().out
    assert "Conversation: sessions/session_1700000000000.json" in shown
    assert "[secret: GitHub token ghp_…3dXY]" in shown
    assert "[secret: stored secret]" in shown
    assert LOOKS not in shown
    assert OWN not in shown
    assert old.read_bytes() == before


def test_masking_is_taken_back_or_made_final(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = old.read_bytes()
    assert main(["secrets", "scan", "--mask", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["secrets"], told["files"][0]["masked"]) == (2, True)
    assert LOOKS not in old.read_text(encoding="utf-8")
    assert main(["secrets", "undo", told["backup"]]) == 0
    assert old.read_bytes() == before
    assert main(["secrets", "scan", "--mask"]) == 0
    assert main(["secrets", "forget"]) == 0
    assert main(["secrets", "undo"]) == 1


def test_without_a_finding_it_says_so(
    home: DataDirectory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SKALES_DATA_DIR", str(home.root))
    assert main(["secrets"]) == 0
    assert "No secret in 0 files" in capsys.readouterr().out
