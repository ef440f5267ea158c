"""Whether a look with git stays a look: settings and hooks of a repository can start programs.

Git asks the settings of the folder it is started in, so `git status` in an unpacked archive runs what the archive says.
Only reads. Spec: security.md, "Untrusted content".
"""

import re
from pathlib import Path

_MOST_CHARACTERS = 100_000
# Names of settings and sections by which git starts a program, or reads settings from elsewhere.
_STARTS = re.compile(
    r"fsmonitor|pager|editor|sshcommand|askpass|external|textconv|command|\bcmd\b|filter|\bclean\b|smudge|process"
    r"|program|hookspath|helper|driver|alias|include|worktreeconfig|\[\s*(?:diff|merge|gpg|difftool|mergetool)\b",
    re.IGNORECASE,
)
# The hook that a look runs, because it brings git's index up to date.
_HOOKS = ("post-index-change",)
_POINTER = re.compile(r"gitdir:\s*(\S.*)")


def looks_only(folder: Path) -> bool:
    """Whether git, started in this folder, finds no repository or one that starts nothing."""
    for place in (folder, *folder.parents):
        pointer = place / ".git"
        if pointer.is_dir():
            return _starts_nothing(pointer)
        if pointer.is_file():
            found = _POINTER.match(_read(pointer))
            return found is not None and _starts_nothing((place / found[1].strip()).resolve())
        # Git takes a folder of this shape for a repository without files.
        if (place / "HEAD").is_file() and (place / "objects").is_dir():
            return _starts_nothing(place)
    return True


def _starts_nothing(repository: Path) -> bool:
    shared = _read(repository / "commondir").strip()
    places = [repository, (repository / shared).resolve()] if shared else [repository]
    if any((place / "hooks" / hook).exists() for place in places for hook in _HOOKS):
        return False
    texts = [_read(place / name) for place in places for name in ("config", "config.worktree")]
    return not any(_STARTS.search(text) or len(text) == _MOST_CHARACTERS for text in texts)


def _read(path: Path) -> str:
    """The beginning of a file; empty when there is none. A pipe of that name would keep its reader waiting."""
    try:
        if not path.is_file():
            return ""
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(_MOST_CHARACTERS)
    except OSError:
        return ""
