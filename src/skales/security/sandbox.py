"""What a program in the sandbox may see and change, derived from the rules for files. Starts nothing.

`sandbox_bubblewrap` and `sandbox_seatbelt` turn it into what the system understands. Spec: security.md, "File access".
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from skales.core.errors import InputError
from skales.security.paths import PathPolicy, resolve_path

# Where people's compilers and interpreters live below their home. Only what holds programs: no credentials, no caches.
_TOOL_FOLDERS = (
    ".pyenv", ".nvm/versions", ".nvm/alias", ".fnm", ".local/share/fnm", ".volta/bin", ".volta/tools", ".asdf/installs",
    ".asdf/shims", ".asdf/bin", ".local/share/mise/installs", ".local/share/mise/shims", ".rbenv", ".cargo/bin",
    ".rustup/toolchains", ".rustup/settings.toml", "go/bin", ".deno/bin", ".bun/bin", ".sdkman/candidates",
    ".local/bin", ".local/lib", ".local/pipx/venvs", ".local/share/pipx/venvs", ".local/share/uv/python",
    ".local/share/uv/tools", "miniconda3", "miniforge3", "anaconda3", ".npm-global",
)  # fmt: skip
_GIT_SETTINGS = (".gitconfig", ".config/git/config", ".config/git/ignore", ".config/git/attributes")
_GIT_SECRET = re.compile(r"://[^/\s\"]*:[^@\s\"]+@|extraheader|token|password|secret", re.IGNORECASE)
_GIT_LIMIT_BYTES = 100_000


class Enclosure(Struct, frozen=True, kw_only=True):
    """What there is for a program. All paths are real ones: absolute, no link on the way.

    `readable` and `writable` hold folders and files. `private` is closed but for what of it is one of these; `blocked`
    is closed without exception, `sockets` are closed where they would show. `whole` shows the whole file system
    read-only instead of the system's programs alone. `home` is empty unless it is shown. `network` opens all of it.
    """

    home: Path
    private: Path
    readable: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    blocked: tuple[Path, ...] = ()
    sockets: tuple[Path, ...] = ()
    whole: bool = False
    network: bool = False


class Surroundings(Struct, frozen=True, kw_only=True):
    """What an enclosure is made from besides the rules.

    `private` is the data directory. `programs` are folders and files that a program needs besides the system's and
    those in people's homes; `writes` are more places it may change. Where other programs listen are `sockets`.
    """

    home: Path
    private: Path
    programs: tuple[Path, ...] = ()
    writes: tuple[Path, ...] = ()
    sockets: tuple[Path, ...] = ()


def enclose(policy: PathPolicy, around: Surroundings, *, network: bool = False) -> Enclosure:
    """The enclosure the rules ask for; what they block stays closed in every mode. Reads links and what exists."""
    home = _real(around.home)
    blocked = tuple(_existing(policy.blocked))
    wanted = [*around.programs, *(home / name for name in _TOOL_FOLDERS), *_harmless_settings(home)]

    def open_places(paths: Iterable[Path]) -> tuple[Path, ...]:
        found = (path for path in _existing(paths) if not any(is_below(path, folder) for folder in blocked))
        return outermost_first(path for path in found if path.is_dir() or path.is_file())

    def outermost(paths: Sequence[Path]) -> tuple[Path, ...]:
        return tuple(path for path in paths if not any(parent in paths for parent in path.parents))

    return Enclosure(
        home=home,
        private=_real(around.private),
        readable=outermost(open_places(wanted)),
        writable=open_places((policy.workspace, *policy.allowed, *around.writes)),
        blocked=outermost_first(blocked),
        sockets=tuple(_existing(around.sockets)),
        whole=policy.unrestricted,
        network=network,
    )


def is_below(path: Path, folder: Path) -> bool:
    """Whether a real path is the folder or lies in it."""
    return path == folder or folder in path.parents


def outermost_first(paths: Iterable[Path]) -> tuple[Path, ...]:
    """In the order in which they can be laid over each other."""
    return tuple(sorted(paths, key=lambda path: len(path.parts)))


def _existing(paths: Iterable[Path]) -> Iterator[Path]:
    """The real places of those that exist, each once."""
    seen: set[Path] = set()
    for path in filter(os.path.lexists, paths):
        try:
            place = _real(path)
        except InputError:
            continue  # links in a circle lead nowhere, for a program as well
        if place not in seen and os.path.lexists(place):
            seen.add(place)
            yield place


def _real(path: Path) -> Path:
    return resolve_path(str(path), PathPolicy(workspace=Path(path.anchor or "/")))


def _harmless_settings(home: Path) -> Sequence[Path]:
    """Git's own settings of the person, unless they hold something like a password."""
    return [path for name in _GIT_SETTINGS if _is_harmless(path := home / name)]


def _is_harmless(path: Path) -> bool:
    try:
        if not path.is_file() or path.stat().st_size > _GIT_LIMIT_BYTES:
            return False
        return not _GIT_SECRET.search(path.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return False
