import io
import json
from pathlib import Path
from typing import Any

import pytest

from skales.cli.main import main
from skales.data.document import write_object
from skales.data.paths import DataDirectory
from skales.data.secret_places import FTP_PROFILES
from tests.opened import read_opened
from tests.servers.ftp_site import FtpSite, make_certificate


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DataDirectory:
    directory = DataDirectory(tmp_path / "data")
    directory.create()
    monkeypatch.setenv("SKALES_DATA_DIR", str(directory.root))
    write_object(directory.settings, {"allowLoopback": True})
    return directory


def give(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(text))


def add(*words: str) -> int:
    return main(["ftp", "add", "shop", "--host", "127.0.0.1", "--user", "ada", *words])


def listed(capsys: pytest.CaptureFixture[str], what: str = "list") -> Any:
    capsys.readouterr()
    assert main(["ftp", what, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_profile_is_saved_with_a_password_from_standard_input(
    home: DataDirectory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    give(monkeypatch, "lovelace\n")
    assert add("--no-test", "--password-stdin", "--path", "/www") == 0
    (profile,) = listed(capsys)["profiles"]
    assert (profile["alias"], profile["protocol"], profile["port"], profile["hasPassword"]) == (
        "shop",
        "sftp",
        22,
        True,
    )
    assert "lovelace" not in home.ftp_profiles.read_text(encoding="utf-8")
    assert "lovelace" in str(read_opened(home, FTP_PROFILES))
    assert main(["ftp"]) == 0
    printed = capsys.readouterr()
    assert "sftp://ada@127.0.0.1:22" in printed.out
    assert "lovelace" not in printed.out + printed.err


def test_a_password_is_no_argument(home: DataDirectory, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        add("--password", "lovelace")


def test_a_profile_is_tried_when_it_is_added(
    home: DataDirectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "served").mkdir()
    with FtpSite(tmp_path / "served", make_certificate(tmp_path)) as site:
        give(monkeypatch, "wrong\n")
        words = ("--protocol", "ftps", "--port", str(site.port), "--password-stdin")
        assert add(*words) == 1
        assert "did not accept" in capsys.readouterr().err
        give(monkeypatch, "lovelace\n")
        assert add(*words) == 0
        assert "It works: shop:. holds 0 entries" in capsys.readouterr().out
        assert main(["ftp", "test", "shop"]) == 0
        pin = listed(capsys)["profiles"][0]["hostKey"]
        assert pin.startswith("SHA256:")


def test_another_key_is_accepted_by_a_person_only(
    home: DataDirectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "served").mkdir()
    with FtpSite(tmp_path / "served", make_certificate(tmp_path, "one")) as site:
        give(monkeypatch, "lovelace\n")
        add("--protocol", "ftps", "--port", str(site.port), "--password-stdin")
    before = listed(capsys)["profiles"][0]["hostKey"]
    assert main(["ftp", "trust", "shop"]) == 1
    assert listed(capsys)["profiles"][0]["hostKey"] == before, "nobody answered, so nothing is known"
    with FtpSite(tmp_path / "served", make_certificate(tmp_path, "two"), port=site.port):
        assert main(["ftp", "test", "shop"]) == 1
        assert main(["ftp", "trust", "shop"]) == 0
        assert listed(capsys)["profiles"][0]["hostKey"] not in ("", before)
        assert main(["ftp", "test", "shop"]) == 0


def test_targets_are_saved_and_removed(
    home: DataDirectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    give(monkeypatch, "x\n")
    add("--no-test", "--password-stdin")
    project = str(tmp_path / "shop")
    assert main(["ftp", "target", project, "--profile", "SHOP", "--path", "www", "--from", "dist"]) == 0
    (target,) = listed(capsys, "targets")["targets"]
    assert (target["project"], target["remotePath"], target["from"]) == (project, "www", "dist")
    assert main(["ftp", "targets"]) == 0
    assert "shop:www" in capsys.readouterr().out
    assert main(["ftp", "target", project]) == 1
    assert main(["ftp", "target", project, "--profile", "nosuch"]) == 1
    assert main(["ftp", "target", project, "--remove"]) == 0
    assert listed(capsys, "targets") == {"targets": []}


def test_a_profile_is_removed(
    home: DataDirectory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    give(monkeypatch, "x\n")
    add("--no-test", "--password-stdin")
    assert main(["ftp", "remove", "shop"]) == 0
    assert main(["ftp", "remove", "shop"]) == 1
    assert listed(capsys) == {"profiles": []}
