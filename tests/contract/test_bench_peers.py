"""Peers of the benchmark: a whole table, and one that fails does not end a run. The peer here is the bare proxy."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bench.parts import Effort
from bench.peers.known import PEERS, Peer, Server, Source
from bench.peers.rows import Installed, choose_peers, measure_installed
from bench.programs import Stage, open_stage
from bench.table import Row, Target, render_table

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the benchmark reads /proc")

_ROOT = Path(__file__).parent.parent.parent
_PYTHON = Path(sys.executable)
_EFFORT = Effort(starts=1, turns=1, crowds={2: 2}, settle_s=0, calls=1, sizes=(1,))
_PEER = Peer(
    name="bare",
    source=Source.PIP,
    packages=("bare==1.0",),
    server=Server(
        words=(_PYTHON.name, "-m", "bench.proxy", "$PORT", "$MODEL", "$HOME/kept.db"),
        ready="/",
        path="/chat",
        body={"message": "$TEXT", "session": "$SESSION"},
    ),
    files={"settings.json": {"port": "$PORT", "home": "$HOME"}, "notes.txt": "asks $MODEL"},
    environment={"PYTHONPATH": str(_ROOT)},
)


@pytest.fixture
def stage() -> Iterator[Stage]:
    with open_stage() as stage:
        yield stage


def test_every_peer_is_pinned_and_does_something() -> None:
    for peer in PEERS:
        assert all("@" in package.removeprefix("@") or "==" in package for package in peer.packages), peer.name
        assert peer.chat or peer.server, peer.name


def test_large_peers_are_measured_only_when_they_are_named() -> None:
    assert not any(peer.large for peer in choose_peers([]))
    assert [peer.name for peer in choose_peers(["open-webui"])] == ["open-webui"]


def test_a_peer_is_set_up_in_its_home_and_measured_under_our_names(stage: Stage) -> None:
    rows = list(measure_installed(Installed(_PEER, _PYTHON.parent), stage, _EFFORT, ["turns", "crowd"]))

    names = {row.name for row in rows}
    assert {"turn overhead, new chat", "turn overhead, same chat", "first request", "2 chats by API"} <= names
    assert {row.subject for row in rows} == {"bare 1.0"}
    home = stage.folder / "peer-bare"
    assert (home / "kept.db").exists()
    assert (home / "notes.txt").read_text(encoding="utf-8") == f"asks {stage.model_url}/v1"


def test_what_a_peer_cannot_do_is_told_once_and_the_rest_is_measured(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _PEER.server is not None
    broken = replace(_PEER.server, words=(_PYTHON.name, "-c", "raise SystemExit('no key')"))
    peer = replace(_PEER, server=broken, help=(_PYTHON.name, "-c", "pass"))

    rows = list(measure_installed(Installed(peer, _PYTHON.parent), stage, _EFFORT, ["launch", "turns"]))

    assert [row.name for row in rows] == ["--help"]
    notices = [line for line in capsys.readouterr().err.splitlines() if line.startswith("notice")]
    assert notices == ["notice: bare 1.0, launch: RuntimeError: it ended with 1: no key"]


def test_a_table_has_peers_below_our_row() -> None:
    ours = Row(name="server ready", unit="ms", samples=[2.0], beside=[1.0], target=Target(3))
    other = Row(name="--help", unit="ms", samples=[1.0])
    peer = Row(name="server ready", unit="ms", samples=[4.0], beside=[1.0], subject="bare 1.0")

    lines = render_table([ours, other, peer]).splitlines()

    assert [line.split("  ")[0] or line.strip().split("  ")[0] for line in lines[1:]] == [
        "server ready",
        "bare 1.0",
        "--help",
    ]
    assert "4.00 ×" in lines[2]
