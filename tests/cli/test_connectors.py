"""`skales connectors` keeps what it is told and never shows a secret."""

import io
import json

import pytest

from skales.cli.main import main
from skales.data.connectors import ConnectorStore
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from tests.conftest import FixedClock


@pytest.fixture
def store(home: DataDirectory, monkeypatch: pytest.MonkeyPatch) -> ConnectorStore:
    monkeypatch.setenv("SKALES_DATA_DIR", str(home.root))
    return ConnectorStore(home, Quarantine(home.quarantine, FixedClock()))


def type_secret(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{text}\n"))


def test_connector_is_added_listed_and_removed(
    store: ConnectorStore, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    type_secret(monkeypatch, "key-1234567890")
    options = ["--auth", "header", "--auth-name", "X-Key", "--method", "get", "--method", "POST"]
    headers = ["--header", "Accept-Language: de", "--secret-stdin"]
    added = main(["connectors", "add", "My CRM", "https://crm.example/api", *options, *headers])
    assert added == 0
    kept = store.get("my-crm")
    assert (kept.auth.secret, kept.methods, kept.headers) == (
        "key-1234567890", ("GET", "POST"), {"Accept-Language": "de"},
    )  # fmt: skip
    assert main(["connectors"]) == 0
    assert main(["connectors", "list", "--json"]) == 0
    shown = capsys.readouterr().out
    assert "my-crm  https://crm.example/api  GET, POST  header" in shown
    assert '"hasSecret": true' in shown
    assert "key-1234567890" not in shown
    assert main(["connectors", "remove", "my-crm"]) == 0
    assert store.list() == []


def test_secret_is_replaced(store: ConnectorStore, monkeypatch: pytest.MonkeyPatch) -> None:
    type_secret(monkeypatch, "first-key")
    main(["connectors", "add", "a", "https://a.example", "--auth", "bearer", "--secret-stdin"])
    type_secret(monkeypatch, "second-key")
    assert main(["connectors", "secret", "a", "--secret-stdin"]) == 0
    assert store.get("a").auth.secret == "second-key"


def test_secret_is_typed_without_being_shown(store: ConnectorStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skales.cli.commands.connectors.can_ask", lambda: True)
    monkeypatch.setattr("getpass.getpass", lambda prompt: "typed-key")
    assert main(["connectors", "add", "a", "https://a.example", "--auth", "bearer"]) == 0
    assert store.get("a").auth.secret == "typed-key"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["add", "a", "https://a.example", "--auth", "bearer"], "no terminal to ask"),
        (["add", "a", "ftp://a.example"], "must start with"),
        (["add", "a", "https://a.example", "--header", "nonsense"], "is not a header"),
        (["add", "a", "https://a.example", "--method", "BREW"], "not a method"),
        (["remove", "a"], "There is no connector 'a'"),
        (["secret", "a", "--secret-stdin"], "There is no connector 'a'"),
    ],
)
def test_mistake_is_said_and_nothing_is_kept(
    store: ConnectorStore,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    type_secret(monkeypatch, "x")
    assert main(["connectors", *arguments]) == 1
    assert message in capsys.readouterr().err
    assert store.list() == []


def test_none_is_said(store: ConnectorStore, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["connectors", "list"]) == 0
    assert "There are none" in capsys.readouterr().err
    assert main(["connectors", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"connectors": []}
