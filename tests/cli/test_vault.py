"""`skales vault` keeps what it is told and never shows a secret."""

import io
import json

import pytest

from skales.cli.main import main
from skales.data.document import write_object
from skales.data.paths import DataDirectory
from skales.data.secret_places import SECRETS
from tests.opened import read_opened

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def own_home(home: DataDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKALES_DATA_DIR", str(home.root))


def keep(monkeypatch: pytest.MonkeyPatch, name: str, value: str, *options: str) -> int:
    monkeypatch.setattr("sys.stdin", io.StringIO(value))
    return main(["vault", "set", name, "--secret-stdin", *options])


def test_a_secret_is_kept_listed_and_deleted(
    home: DataDirectory, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    assert keep(monkeypatch, "CRM", "first line\nsecond line\n", "--host", "crm.example", "--tool", "http_request") == 0
    assert keep(monkeypatch, "free", "another-value") == 0
    assert main(["vault", "list"]) == 0
    assert main(["vault", "list", "--json"]) == 0
    printed = capsys.readouterr()
    assert "crm  only to crm.example and for http_request" in printed.out
    assert "free  asks each time" in printed.out
    assert "second line" not in printed.out + printed.err
    assert "first line\\nsecond line" in json.dumps(read_opened(home, SECRETS))
    assert main(["vault", "delete", "crm"]) == 0
    assert main(["vault", "delete", "crm"]) == 1
    assert "There are: free" in capsys.readouterr().err


def test_a_secret_is_typed_without_being_shown(home: DataDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skales.cli.commands.vault.can_ask", lambda: True)
    monkeypatch.setattr("getpass.getpass", lambda prompt: "typed-secret")
    assert main(["vault", "set", "crm"]) == 0
    assert "typed-secret" in str(read_opened(home, SECRETS))


def test_without_a_terminal_it_says_how(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setattr("skales.cli.commands.vault.can_ask", lambda: False)
    assert main(["vault", "set", "crm"]) == 1
    assert "--secret-stdin" in capsys.readouterr().err


def test_the_state_is_told_and_a_new_key_seals_everything(home: DataDirectory, capsys: Capture) -> None:
    assert main(["vault"]) == 0
    assert "none yet" in capsys.readouterr().out
    write_object(home.settings, {"providers": {"openai": {"apiKey": "sk-plain-0123456789"}}})
    main(["vault", "status", "--json"])
    assert json.loads(capsys.readouterr().out) == {
        "place": "none", "store": "", "trouble": "gone", "sealed": 0, "plain": 1, "closed": 0,
    }  # fmt: skip
    assert main(["vault", "rotate"]) == 0
    assert "1 secrets are sealed with a new key, in the file" in capsys.readouterr().out
    assert "sk-plain" not in home.settings.read_text(encoding="utf-8")
    main(["vault"])
    assert "which only you can read" in capsys.readouterr().out
    home.encryption_key.unlink()
    main(["vault"])
    assert "1 do not open now" in capsys.readouterr().out


def test_the_doctor_says_how_secrets_are_kept(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    keep(monkeypatch, "crm", "a-long-value")
    main(["doctor", "--json"])
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("[")]
    findings = {finding["subject"]: finding for finding in json.loads(lines[-1])}
    assert findings["secrets"]["level"] == "note"
    assert ".encryption-key" in findings["secrets"]["text"]
