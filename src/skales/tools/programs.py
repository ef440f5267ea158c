"""Programs as values: what one may use, one to be started, one in the background. Starts nothing."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

_GIB = 1024**3


class Bounds(Struct, frozen=True, kw_only=True):
    """`memory_bytes` and `processes` count all that a command started together. `free_bytes` stay free on the disk."""

    memory_bytes: int
    processes: int = 512
    file_bytes: int = 4 * _GIB
    free_bytes: int = _GIB // 4


class Launch(Struct, frozen=True):
    """What to start: the program with its arguments, where, and all it learns of the environment.

    `kind` names the sandbox that the words begin with, `network` says whether the network is open. With
    `dies_together` ending the first program ends all others at once. Without `bounds` nobody looks what is used.
    """

    words: Sequence[str]
    folder: Path
    environment: Mapping[str, str]
    bounds: Bounds | None = None
    kind: str = "none"
    network: bool = True
    dies_together: bool = False


class Background(Struct, frozen=True, kw_only=True):
    """A program in the background. `exit_code` is None while it runs; `ended_for` says why it was ended."""

    id: str
    command: str
    output: Path
    pid: int = 0
    started_ms: int = 0
    exit_code: int | None = None
    ended_for: str = ""


class SandboxRules(Struct, frozen=True):
    """How programs are confined: in a sandbox where there is one, only in one, or not at all; and their network."""

    is_wanted: bool = True
    is_required: bool = False
    allows_network: bool = True
