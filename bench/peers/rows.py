"""Rows about peers, from the code that measures us. What fails is named in one line, and the others go on."""

import sys
from asyncio import LimitOverrunError
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from subprocess import SubprocessError

import psutil

from bench.parts import SHARED, Effort
from bench.peers.install import NotInstalledError, install
from bench.peers.known import PEERS, Peer
from bench.peers.start import subject_of
from bench.programs import Stage
from bench.table import Row

# What a program of others that behaves unexpectedly can lead to here.
_FAILURES = (
    OSError,
    RuntimeError,
    SubprocessError,
    EOFError,
    ValueError,
    LookupError,
    AssertionError,
    LimitOverrunError,
    psutil.Error,
)


@dataclass(frozen=True, slots=True)
class Installed:
    """A peer, and the folder of its programs."""

    peer: Peer
    programs: Path


def choose_peers(names: Sequence[str]) -> Sequence[Peer]:
    """Those named, or all that are not large."""
    return [peer for peer in PEERS if (peer.name in names if names else not peer.large)]


def measure_peers(stage: Stage, effort: Effort, peers: Sequence[Peer], parts: Sequence[str]) -> Iterator[Row]:
    """The rows of each part that make sense for a peer, each under the name of our row."""
    for peer in peers:
        try:
            programs = install(peer)
        except NotInstalledError as error:
            _tell(f"{peer.title} is left out: {error}")
        else:
            yield from measure_installed(Installed(peer, programs), stage, effort, parts)


def measure_installed(installed: Installed, stage: Stage, effort: Effort, parts: Sequence[str]) -> Iterator[Row]:
    """The same of one whose programs are there."""
    peer = installed.peer
    subject = subject_of(peer, installed.programs, stage.model_url)
    told: set[str] = set()
    for name in parts:
        for measure in SHARED.get(name, ()):
            print(f"measuring: {name} of {peer.title}", file=sys.stderr)
            try:
                for row in measure(stage, effort, subject):
                    yield replace(row, subject=peer.title, target=None)
            except _FAILURES as error:
                line = _one_line(error)
                if line not in told:
                    _tell(f"{peer.title}, {name}: {line}")
                told.add(line)


def _one_line(error: BaseException) -> str:
    told = getattr(error, "stderr", None) or b""
    last = told.decode("utf-8", "replace").strip().rpartition("\n")[2]
    return f"{type(error).__name__}: {last or error}"[:200]


def _tell(text: str) -> None:
    print(f"notice: {text}", file=sys.stderr)
