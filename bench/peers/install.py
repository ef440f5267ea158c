"""Puts a peer into a folder of its own under `bench/out/peers/`, once for its pinned versions."""

import hashlib
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.peers.known import Peer, Source

_FOLDER = Path(__file__).parent.parent / "out" / "peers"
_STAMP = "installed"
_WAIT_S = 900


class NotInstalledError(Exception):
    """A peer cannot be had here; the text says why in one line."""


def install(peer: Peer) -> Path:
    """The folder of the peer's programs. Raises NotInstalledError."""
    home = _FOLDER / peer.name
    stamp, wanted = home / _STAMP, _digest(peer)
    programs = home / "bin" if peer.source is Source.PIP else home / "node_modules" / ".bin"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return programs
    print(f"installing: {peer.title} (once)", file=sys.stderr)
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    for command in _commands(peer, home):
        _run(command, programs)
    stamp.write_text(wanted, encoding="utf-8")
    return programs


def _commands(peer: Peer, home: Path) -> Sequence[Sequence[str]]:
    match peer.source:
        case Source.PIP:
            pip = (str(home / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
            return (sys.executable, "-m", "venv", str(home)), (*pip, *peer.packages)
        case Source.NPM:
            npm = shutil.which("npm")
            if npm is None:
                raise NotInstalledError("there is no npm")
            install = (npm, "install", "--loglevel=error", "--no-audit", "--no-fund", "--prefix", str(home))
            return [(*install, package) for package in reversed(peer.packages)]


def _run(command: Sequence[str], programs: Path) -> None:
    path = f"{programs}{os.pathsep}{os.environ.get('PATH', '')}"
    try:
        subprocess.run(
            command,
            env={**os.environ, "PATH": path},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=True,
            timeout=_WAIT_S,
        )
    except subprocess.CalledProcessError as error:
        told = [line for line in error.stderr.splitlines() if line.strip() and "log of this run" not in line]
        raise NotInstalledError(told[-1] if told else f"ended with {error.returncode}") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotInstalledError(str(error)) from error


def _digest(peer: Peer) -> str:
    text = "\n".join((*peer.packages, platform.python_version(), sys.executable))
    return hashlib.sha256(text.encode()).hexdigest()
