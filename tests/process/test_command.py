"""The `skales` command as scripts use it: words on standard output, exit codes, JSON, with and without a server."""

import json

import pytest

from skales.data.paths import DataDirectory
from tests.process.conftest import run_skales, start_server


def test_help_names_every_command(home: DataDirectory) -> None:
    done = run_skales(home, "--help")
    assert done.returncode == 0
    for command in ("serve", "chat", "tools", "model", "sessions", "status", "config", "doctor"):
        assert command in done.stdout
    assert not home.settings.exists()


@pytest.mark.parametrize("with_server", [False, True], ids=["in-process", "server"])
def test_a_question_gets_its_answer_on_standard_output(ready_home: DataDirectory, with_server: bool) -> None:
    served = start_server(ready_home) if with_server else None
    done = run_skales(ready_home, "chat", "hello there")
    assert (done.returncode, done.stdout.strip()) == (0, "You said: hello there")
    as_json = json.loads(run_skales(ready_home, "chat", "again", "--json").stdout)
    assert (as_json["text"].strip(), as_json["end"]) == ("You said: again", "completed")
    listed = json.loads(run_skales(ready_home, "sessions", "--json").stdout)
    assert [session["title"] for session in listed["sessions"]] == ["again", "hello there"]
    if served:
        assert json.loads(run_skales(ready_home, "status", "--json").stdout)["server_running"] is True
        assert served.stop() == 0


def test_a_message_from_standard_input_and_a_session_to_go_on_in(ready_home: DataDirectory) -> None:
    first = json.loads(run_skales(ready_home, "chat", "one", "--json").stdout)
    done = run_skales(ready_home, "chat", "-", "--session", first["sessionId"], stdin="two\n")
    assert done.stdout.strip() == "You said: two"
    shown = run_skales(ready_home, "sessions", "show", first["sessionId"]).stdout
    assert "one" in shown
    assert "You said: two" in shown


def test_a_call_that_needs_a_yes_is_declined_where_nobody_can_be_asked(ready_home: DataDirectory) -> None:
    done = run_skales(ready_home, "chat", 'call write_file {"path": "n.txt", "content": "hi"}')
    assert "Declined" in done.stderr
    assert not (ready_home.workspace / "n.txt").exists()


def test_tools_run_without_a_model(home: DataDirectory) -> None:
    (home.workspace / "notes.txt").write_text("remember the milk\n", encoding="utf-8")
    done = run_skales(home, "tools", "run", "read_file", "--path", "notes.txt")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "remember the milk")
    missing = run_skales(home, "tools", "run", "read_file", "--path", "nope.txt")
    assert missing.returncode == 1
    assert "nope.txt" in missing.stderr
    assert run_skales(home, "tools", "run", "fly").returncode == 1


def test_a_tool_command_in_a_chat_prints_its_result(home: DataDirectory) -> None:
    (home.workspace / "notes.txt").write_text("remember the milk\n", encoding="utf-8")
    done = run_skales(home, "chat", "/tool read_file path=notes.txt")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "remember the milk")
    missing = run_skales(home, "chat", "/tool read_file path=nope.txt")
    assert (missing.returncode, "nope.txt" in missing.stderr) == (1, True)


def test_errors_name_the_cause_and_the_next_step(home: DataDirectory) -> None:
    unknown = run_skales(home, "config", "provider", "nowhere")
    assert (unknown.returncode, "nowhere" in unknown.stderr) == (1, True)
    unreachable = run_skales(home, "config", "provider", "custom", "--base-url", "http://127.0.0.1:9/v1", "--test")
    assert unreachable.returncode == 1
    assert "127.0.0.1:9" in unreachable.stderr
    failed = run_skales(home, "chat", "hello", "--session", "session_404")
    assert (failed.returncode, "Session not found" in failed.stderr) == (1, True)


def test_a_key_goes_in_and_never_comes_out(home: DataDirectory) -> None:
    key = "sk-proj-0123456789abcdefghijklmnop"
    done = run_skales(home, "config", "provider", "openai", "--model", "gpt-5.5", "--key-stdin", stdin=f"{key}\n")
    shown = run_skales(home, "config", "get")
    named = run_skales(home, "config", "get", "providers.openai.apiKey")
    for output in (done, shown, named):
        assert key not in output.stdout + output.stderr
    assert key in home.settings.read_text(encoding="utf-8")


def test_a_second_server_says_who_has_the_directory(ready_home: DataDirectory) -> None:
    served = start_server(ready_home)
    second = run_skales(ready_home, "serve", "--no-window", "--port", "0")
    assert second.returncode == 1
    assert served.url in second.stderr
    assert str(served.process.pid) in second.stderr
    assert served.stop() == 0


def test_a_broken_settings_file_costs_no_start_and_is_kept(ready_home: DataDirectory) -> None:
    broken = ready_home.settings.read_bytes()[:-10] + b",}"
    ready_home.settings.write_bytes(broken)
    done = run_skales(ready_home, "doctor")
    assert "settings.json" in done.stdout
    (kept,) = ready_home.quarantine.glob("settings.json.[0-9]*[0-9]")
    assert kept.read_bytes() == broken


def test_a_taken_port_is_named(ready_home: DataDirectory) -> None:
    served = start_server(ready_home)
    port = served.url.rpartition(":")[2]
    other = DataDirectory(ready_home.root.with_name("other"))
    done = run_skales(other, "serve", "--no-window", "--port", port)
    assert (done.returncode, f"Port {port} cannot be used" in done.stderr) == (1, True)
    assert served.stop() == 0
