"""What a conversation that has read other people's text is asked about, tool by tool and address by address."""

from pathlib import Path

import pytest

from skales.agent.origin import CallOrigin, Marks
from skales.agent.taint import Danger, TaintJudge, explain, find_danger, is_known_address
from skales.core.ids import SessionId
from skales.core.json import JsonObject
from skales.core.tool import Outcome, SafetyMode, ToolCall
from skales.tools.index import load_index

SPECS = {entry.spec.name: entry.spec for entry in load_index()}
MARKS = Marks(
    sources=("web page example.org/x",),
    hosts=frozenset({"example.org", "127.0.0.1:8000"}),
    said=frozenset({"https://other.example/a?b=1"}),
    found=frozenset({"https://found.example/page"}),
    links=frozenset({"https://example.org/linked", "https://evil.example/c?d=x", "https://docs.example.org/a"}),
)


@pytest.mark.parametrize(
    "address",
    [
        "https://other.example/a?b=1",
        "https://other.example/a?b=1#part",
        "https://found.example/page",
        "https://found.example/page/",
        "https://example.org/",
        "https://www.example.org",
        "https://example.org/linked",
        "https://docs.example.org/a",
        "http://127.0.0.1:8000/",
    ],
)
def test_addresses_that_carry_nothing(address: str) -> None:
    assert is_known_address(address, MARKS)


@pytest.mark.parametrize(
    "address",
    [
        "https://evil.example/",
        "https://evil.example/c?d=x",
        "https://other.example/a?b=2",
        "https://found.example/page?d=secret",
        "https://example.org/secret",
        "https://example.org/?d=secret",
        "https://secret.example.org/",
        "https://user:secret@example.org/",
        "https://example.org.evil.example/",
        "https://notexample.org/",
        "http://127.0.0.1:8001/",
        "https://[broken/",
    ],
)
def test_addresses_that_could_carry_something(address: str) -> None:
    assert not is_known_address(address, MARKS)


@pytest.mark.parametrize(
    ("tool", "arguments", "danger"),
    [
        ("read_file", {"path": "a"}, None),
        ("write_file", {"path": "a.md", "content": "x"}, None),
        ("write_file", {"path": "project/scripts/a.py", "content": "x"}, None),
        ("write_file", {"path": ".git/hooks/post-commit", "content": "x"}, Danger.PLANT),
        ("write_file", {"path": "../elsewhere", "content": "x"}, Danger.PLANT),
        ("write_file", {"path": "~/.bashrc", "content": "x"}, Danger.PLANT),
        ("copy_file", {"source": "a", "destination": ".ssh/config"}, Danger.PLANT),
        ("delete_file", {"path": "a"}, Danger.DESTROY),
        ("kill_process", {"pid": 1}, Danger.DESTROY),
        ("memory_write", {"content": "x"}, Danger.KEEP),
        ("create_skill", {"name": "x", "description": "x", "body": "x"}, Danger.KEEP),
        ("knowledge_graph_update", {"name": "x"}, Danger.KEEP),
        ("obsidian_create_note", {"title": "x"}, Danger.KEEP),
        ("create_task", {"title": "x"}, Danger.SCHEDULE),
        ("schedule_recurring_task", {"name": "x"}, Danger.SCHEDULE),
        ("dispatch_subtasks", {"subtasks_json": "[]"}, Danger.SPEND),
        ("send_notification", {"title": "x", "message": "y"}, None),
        ("execute_command", {"command": "ls -la | wc -l"}, None),
        ("execute_command", {"command": "ls", "network": True}, Danger.RUN),
        ("execute_command", {"command": "make"}, Danger.RUN),
        ("run_script", {"python": "1"}, Danger.RUN),
        ("search_web", {"query": "bread"}, None),
        ("search_web", {"query": "x" * 200}, Danger.FETCH),
        ("fetch_web_page", {"url": "https://example.org/linked"}, None),
        ("fetch_web_page", {"url": "https://evil.example/"}, Danger.FETCH),
        ("download_file", {"url": "https://example.org/linked", "folder": "in"}, None),
        ("download_file", {"url": "https://example.org/linked", "folder": ".git/hooks"}, Danger.PLANT),
        ("http_request", {"url": "https://example.org/linked"}, None),
        ("http_request", {"url": "https://example.org/linked", "headers": {"X": "secret"}}, Danger.SEND),
        ("http_request", {"url": "https://example.org/linked", "method": "POST"}, Danger.SEND),
        ("connector_request", {"connector": "crm", "path": "/in", "method": "POST"}, Danger.SEND),
        ("ftp_upload", {"projectId": "x"}, Danger.RUN),
        ("git_push", {}, Danger.SEND),
        ("camera_snapshot", {"camera": "x"}, Danger.SEND),
        ("computer_type", {"text": "x"}, Danger.RUN),
    ],
)
def test_what_a_call_would_do(tmp_path: Path, tool: str, arguments: JsonObject, danger: Danger | None) -> None:
    assert find_danger(SPECS[tool], arguments, MARKS, [tmp_path / "workspace"]) is danger


def test_a_folder_that_the_person_opened_is_a_place_of_work_too(tmp_path: Path) -> None:
    given = {"path": str(tmp_path / "project" / "a.py"), "content": "x"}
    assert find_danger(SPECS["write_file"], given, MARKS, [tmp_path / "workspace"]) is Danger.PLANT
    assert find_danger(SPECS["write_file"], given, MARKS, [tmp_path / "workspace", tmp_path / "project"]) is None


@pytest.mark.parametrize(
    ("mode", "marks", "by_user", "outcome"),
    [
        (SafetyMode.SAFE, MARKS, False, Outcome.ASK),
        (SafetyMode.ADVANCED, MARKS, False, Outcome.ASK),
        (SafetyMode.UNRESTRICTED, MARKS, False, Outcome.ALLOW),
        (SafetyMode.ADVANCED, MARKS, True, Outcome.ALLOW),
        (SafetyMode.ADVANCED, Marks(), False, Outcome.ALLOW),
    ],
)
def test_who_is_asked(tmp_path: Path, mode: SafetyMode, marks: Marks, by_user: bool, outcome: Outcome) -> None:
    origin = CallOrigin(
        session_id=SessionId("s"), surface="test", emit=lambda _event: None, by_user=by_user, marks=marks
    )
    judge = TaintJudge(lambda: mode, lambda: [tmp_path])
    verdict = judge.judge(SPECS["memory_write"], ToolCall("c", "memory_write", {"content": "x"}), origin)
    assert verdict.outcome is outcome
    if outcome is Outcome.ASK:
        assert "web page example.org/x" in verdict.reason


def test_of_many_sources_the_first_are_named() -> None:
    assert "a, b, c and 2 more" in explain(Danger.SEND, ("a", "b", "c", "d", "e"))
