"""The `skales` command as scripts use it: words on standard output, exit codes, JSON, with and without a server."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence

import pytest

from skales.data.document import write_object
from skales.data.paths import DataDirectory
from skales.data.secret_places import SETTINGS
from tests.opened import read_opened
from tests.process.conftest import environment, run_skales, start_server


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


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("with_server", [False, True], ids=["in-process", "server"])
def test_what_a_tool_asks_is_asked_at_the_terminal(ready_home: DataDirectory, with_server: bool) -> None:
    served = start_server(ready_home) if with_server else None
    words = ["tools", "run", "ask_user", "--question", "Tea or coffee?", "--options", '["Tea", "Coffee"]']
    ours, theirs = os.openpty()
    try:
        with subprocess.Popen(
            [sys.executable, "-m", "skales.cli.main", *words],
            env=environment(ready_home),
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=theirs,
        ) as asking:
            seen = b""
            while b"Answer: " not in seen:
                seen += os.read(ours, 4096)
            os.write(ours, b"2\n")
            said, _nothing = asking.communicate(timeout=20)
    finally:
        os.close(ours)
        os.close(theirs)
    assert b"Tea or coffee?" in seen
    assert (said.decode().strip(), asking.returncode) == ("The person answered: Coffee", 0)
    if served:
        assert served.stop() == 0


@pytest.mark.parametrize("with_server", [False, True], ids=["in-process", "server"])
def test_a_question_is_refused_and_named_where_there_is_no_terminal(
    ready_home: DataDirectory, with_server: bool
) -> None:
    served = start_server(ready_home) if with_server else None
    done = run_skales(ready_home, "tools", "run", "ask_user", "--question", "Tea or coffee?")
    assert done.returncode == 1
    assert "Nobody can be asked here, and this must be: Tea or coffee?" in done.stderr
    if served:
        assert served.stop() == 0


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
    assert key not in home.settings.read_text(encoding="utf-8")
    assert key in str(read_opened(home, SETTINGS))


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


# --- /compact ---


def make_talk(home: DataDirectory, turns: int = 6) -> str:
    """A conversation long enough for a summary."""
    messages = [
        {"role": role, "content": f"{role} {number} " + "the committee talked about tents and lamps " * 40}
        for number in range(turns)
        for role in ("user", "assistant")
    ]
    write_object(home.sessions / "session_1930000000000.json", {"id": "session_1930000000000", "messages": messages})
    return "session_1930000000000"


def marks_of(home: DataDirectory, session_id: str) -> list[object]:
    raw = json.loads((home.sessions / f"{session_id}.json").read_text(encoding="utf-8"))
    assert len(raw["messages"]) == 12
    return list(raw.get("compactions", []))


@pytest.mark.parametrize("is_served", [False, True])
def test_the_oldest_part_is_summarised_on_request(ready_home: DataDirectory, is_served: bool) -> None:
    session_id = make_talk(ready_home)
    served = start_server(ready_home) if is_served else None
    try:
        done = run_skales(ready_home, "chat", "/compact", "--session", session_id)
    finally:
        if served:
            served.stop()
    assert done.returncode == 0, done.stderr
    assert "earlier messages for the model; the whole conversation is kept" in done.stderr
    assert done.stdout == ""
    assert len(marks_of(ready_home, session_id)) == 1


def test_a_conversation_too_short_for_a_summary_says_so(ready_home: DataDirectory) -> None:
    first = json.loads(run_skales(ready_home, "chat", "one", "--json").stdout)
    done = run_skales(ready_home, "chat", "/compact", "--session", first["sessionId"])
    assert done.returncode == 1
    assert "There is nothing to summarise yet" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_conversation_at_the_terminal_knows_the_command(ready_home: DataDirectory) -> None:
    session_id = make_talk(ready_home)
    told = talk(ready_home, ["/help", "/compact", "/compact now", "/quit"], session_id)
    assert "/compact        summarise the oldest part of this conversation" in told
    assert "earlier messages for the model; the whole conversation is kept" in told
    assert "Unknown command '/compact'" in told
    assert len(marks_of(ready_home, session_id)) == 1
    assert "There is nothing to summarise yet" in talk(ready_home, ["/compact", "/quit"])


def talk(home: DataDirectory, lines: Sequence[str], session_id: str = "") -> str:
    """What a conversation at a terminal shows; each line is typed ahead."""
    import pty

    here, there = pty.openpty()
    more = ("--session", session_id) if session_id else ()
    with os.fdopen(here, "wb", buffering=0) as keyboard, os.fdopen(there, "rb", buffering=0) as terminal:
        keyboard.write("".join(f"{line}\n" for line in lines).encode())
        done = subprocess.run(
            [sys.executable, "-m", "skales.cli.main", "chat", *more],
            env=environment(home),
            stdin=terminal,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            timeout=50,
            check=True,
        )
    return done.stdout
