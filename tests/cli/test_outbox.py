"""`skales outbox` without a running server."""

import json
import subprocess
import sys

import pytest

from skales.cli.main import main
from skales.core.clock import SystemClock
from skales.core.ids import RandomIds, SessionId
from skales.data.outbox import OPEN_STATES, Draft, Intent, OutboxState, OutboxStore
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from tests.servers.json_site import JsonSite

Out = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def here(home: DataDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKALES_DATA_DIR", str(home.root))
    monkeypatch.setenv("NO_COLOR", "1")
    home.settings.write_text('{"allowLoopback": true}', encoding="utf-8")


@pytest.fixture
def store(home: DataDirectory) -> OutboxStore:
    clock = SystemClock()
    return OutboxStore(home, Quarantine(home.quarantine, clock), clock, RandomIds())


def doubt(store: OutboxStore, url: str = "http://127.0.0.1:9/") -> Intent:
    draft = Draft(
        session_id=SessionId("session_1"),
        conversation=SessionId("session_1"),
        call_id="call_1",
        tool="http_request",
        arguments={"url": url, "method": "POST"},
        action=f"POST {url}",
    )
    return store.move(store.intend(draft).id, OPEN_STATES, OutboxState.MAYBE, note="It broke off")


def test_doubts_come_first(store: OutboxStore, capsys: Out) -> None:
    unsure, sent = doubt(store), doubt(store)
    store.move(sent.id, frozenset({OutboxState.MAYBE}), OutboxState.SENT)
    assert main(["outbox"]) == 0
    out = capsys.readouterr().out
    assert out.index(unsure.id) < out.index(sent.id)
    for words in ("1 may have been sent", "skales outbox sent | again | drop ID", "It broke off", "[maybe] POST http"):
        assert words in out
    assert main(["outbox", "list", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert ([one["id"] for one in report["waiting"]], [one["id"] for one in report["others"]]) == (
        [unsure.id],
        [sent.id],
    )


@pytest.mark.parametrize(("answer", "state"), [("sent", OutboxState.SENT), ("drop", OutboxState.DROPPED)])
def test_an_answer_counts_once(store: OutboxStore, capsys: Out, answer: str, state: OutboxState) -> None:
    intent = doubt(store)
    assert main(["outbox", answer, intent.id]) == 0
    assert main(["outbox", "again", intent.id]) == 1
    assert "settled already" in capsys.readouterr().err
    found = store.get(intent.id)
    assert (found.state, found.by) == (state, "cli")


def test_it_is_sent_again_with_the_same_key(store: OutboxStore, capsys: Out) -> None:
    with JsonSite({"/orders": {"taken": True}}) as site:
        intent = doubt(store, f"{site.url}/orders")
        assert main(["outbox", "again", intent.id, "--json"]) == 0
        assert [head["idempotency-key"] for head in site.headers] == [intent.key]
    assert json.loads(capsys.readouterr().out)["intent"]["state"] == "sent"


def test_what_cannot_be_sent_again_says_why(store: OutboxStore, capsys: Out) -> None:
    intent = doubt(store)
    assert main(["outbox", "again", intent.id]) == 1
    assert "127.0.0.1 cannot be reached" in capsys.readouterr().out
    assert store.get(intent.id).state is OutboxState.FAILED


def test_what_a_program_left_that_is_gone_waits_here(store: OutboxStore, home: DataDirectory, capsys: Out) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait()
    intent = doubt(store)
    path = home.outbox / f"{intent.id}.json"
    left = {**json.loads(path.read_text(encoding="utf-8")), "state": "sending", "process": gone.pid}
    path.write_text(json.dumps(left), encoding="utf-8")
    assert main(["outbox"]) == 0
    assert "Skales ended while it was sent" in capsys.readouterr().out
