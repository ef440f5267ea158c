"""Rows about peers, from the code that measures us. What fails is named in one line, and the others go on."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from subprocess import SubprocessError

from bench.parts import SHARED, Effort
from bench.peers.install import NotInstalledError, install
from bench.peers.known import PEERS, Peer
from bench.peers.start import subject_of
from bench.programs import Stage, Subject
from bench.table import Row

# What a program of others that behaves unexpectedly can lead to here.
_FAILURES = (OSError, RuntimeError, SubprocessError, EOFError, ValueError, LookupError, AssertionError)


def choose_peers(names: Sequence[str]) -> Sequence[Peer]:
    """Those named, or all that are not large."""
    return [peer for peer in PEERS if (peer.name in names if names else not peer.large)]


def measure_peers(stage: Stage, effort: Effort, peers: Sequence[Peer], parts: Sequence[str]) -> Iterator[Row]:
    """The rows of each part that make sense for a peer, each under the name of our row."""
    for peer in peers:
        try:
            programs = install(peer)
        except NotInstalledError as error:
            _tell(f"{peer.title} is left out: it cannot be installed: {error}")
            continue
        subject = subject_of(peer, programs, stage.model_url)
        for name in parts:
            if name in SHARED:
                print(f"measuring: {name} of {peer.title}", file=sys.stderr)
                yield from _measure(stage, effort, (peer, subject), name)


def _measure(stage: Stage, effort: Effort, measured: tuple[Peer, Subject], part: str) -> Iterator[Row]:
    peer, subject = measured
    for measure in SHARED[part]:
        try:
            for row in measure(stage, effort, subject):
                yield replace(row, subject=peer.title, target=None)
        except _FAILURES as error:
            _tell(f"{peer.title}: {part} is not measured: {_one_line(error)}")


def _one_line(error: BaseException) -> str:
    told = getattr(error, "stderr", None) or b""
    last = told.decode("utf-8", "replace").strip().rpartition("\n")[2]
    return f"{type(error).__name__}: {last or error}"[:300]


def _tell(text: str) -> None:
    print(f"notice: {text}", file=sys.stderr)
