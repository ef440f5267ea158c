"""`skales sessions`: what it finds, arranges and writes, without a running server."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from skales.cli.main import main
from skales.core.ids import SessionId
from skales.core.message import Message, Role, text_message
from skales.data.index import Index
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.sessions import SessionStore
from tests.conftest import FixedClock

SECRET = "sk-proj-Zk3xQ9vT2mB7nL4pR8wY1cF6hJ5dS0gA"


@pytest.fixture
def session_id(home: DataDirectory, clock: FixedClock, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> SessionId:
    """A conversation in the data directory that the commands use; they run in a folder of their own."""
    monkeypatch.setenv("SKALES_DATA_DIR", str(home.root))
    monkeypatch.setenv("NO_COLOR", "1")
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    store = SessionStore(home, Quarantine(home.quarantine, clock), Index(home.index, home.sessions), clock)
    made = store.create(title="My/title").id
    store.append(made, text_message(Role.USER, f"a needle and {SECRET}"), text_message(Role.ASSISTANT, "**Yes**"))
    store.close()
    return made


def on_disk(home: DataDirectory, session_id: str) -> dict[str, object]:
    raw = json.loads((home.sessions / f"{session_id}.json").read_text(encoding="utf-8"))
    assert isinstance(raw, dict)
    return raw


@pytest.mark.parametrize(
    ("form", "start"), [("md", b"# My/title"), ("json", b"{"), ("html", b"<!doctype"), ("pdf", b"%PDF")]
)
def test_an_export_is_named_by_its_title_and_replaces_nothing(session_id: str, form: str, start: bytes) -> None:
    assert main(["sessions", "export", session_id, "--format", form]) == 0
    (written,) = Path.cwd().iterdir()
    assert written.name.endswith(f" My title.{form}")
    content = written.read_bytes()
    assert content.startswith(start)
    assert SECRET.encode() not in content
    assert main(["sessions", "export", session_id, "--format", form]) == 1
    assert written.read_bytes() == content


def test_an_export_goes_where_it_is_told(session_id: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    Path("out.md").write_text("old", encoding="utf-8")
    assert main(["sessions", "export", session_id, "-o", "out.md"]) == 0
    assert Path("out.md").read_text(encoding="utf-8").startswith("# My/title")
    capfdbinary.readouterr()
    assert main(["sessions", "export", session_id, "-o", "-"]) == 0
    assert capfdbinary.readouterr().out.startswith(b"# My/title")
    assert main(["sessions", "export", session_id, "-o", "absent/out.md"]) == 1


def test_words_are_found(session_id: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sessions", "search", "needle", "--json"]) == 0
    (hit,) = json.loads(capsys.readouterr().out)["hits"]
    assert (hit["id"], hit["index"]) == (session_id, 0)
    assert main(["sessions", "search", "needle"]) == 0
    assert "My/title" in capsys.readouterr().out


def test_conversations_are_pinned_and_sorted(home: DataDirectory, session_id: str) -> None:
    assert main(["sessions", "pin", session_id]) == 0
    assert main(["sessions", "folder", session_id, " Work  x "]) == 0
    assert (on_disk(home, session_id)["pinned"], on_disk(home, session_id)["folder"]) == (True, "Work x")
    assert main(["sessions", "unpin", session_id]) == 0
    assert main(["sessions", "folder", session_id]) == 0
    assert not {"pinned", "folder"} & on_disk(home, session_id).keys()


@pytest.mark.parametrize("action", [["export"], ["pin"], ["folder"]])
def test_what_does_not_exist_is_said(session_id: str, action: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sessions", *action, f"{session_id}9"]) == 1
    assert "not found" in capsys.readouterr().err


def test_marks_are_shown_and_lifted(
    home: DataDirectory, session_id: SessionId, clock: FixedClock, capsys: pytest.CaptureFixture[str]
) -> None:
    store = SessionStore(home, Quarantine(home.quarantine, clock), Index(home.index, home.sessions), clock)
    read = Message(role=Role.TOOL, tool_call_id="c", name="fetch_web_page", extra={"sources": ["web page a.example"]})
    store.append(session_id, replace(read, timestamp_ms=1))
    store.close()
    assert main(["sessions", "show", session_id]) == 0
    assert "Untrusted text from: web page a.example" in capsys.readouterr().out
    assert main(["sessions", "lift", session_id]) == 0
    assert "web page a.example" in capsys.readouterr().out
    assert main(["sessions", "show", session_id]) == 0
    assert "Untrusted" not in capsys.readouterr().out
    assert main(["sessions", "lift", session_id]) == 0
    assert "Nothing was marked" in capsys.readouterr().out
