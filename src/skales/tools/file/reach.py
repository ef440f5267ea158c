"""The path rules for what tools find on the way: entries of folders, and paths made from an argument and a name."""

import difflib
import os
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path

from skales.core.errors import ToolError, ToolRefusedError
from skales.core.tool import Outcome
from skales.security.paths import PathPolicy, decide_path
from skales.tools.file.safe_open import Entry, EntryKind, find_entry, list_folder, walk_folder

# Folders of tools and caches, large and of no interest to a search.
NOISE_FOLDERS = frozenset({
    ".git", ".hg", ".svn", "node_modules", "bower_components", "__pycache__", ".venv", "venv", ".tox", ".nox",
    ".mypy_cache", ".pytest_cache", ".ruff_cache", ".cache", ".gradle", ".terraform", ".idea", ".next", ".nuxt",
})  # fmt: skip


def require_allowed(path: Path, policy: PathPolicy) -> Path:
    """The path, which is resolved, when a tool may use it. Raises ToolRefusedError in the words of the rule."""
    verdict = decide_path(path, policy)
    if verdict.outcome is Outcome.DENY:
        raise ToolRefusedError(verdict.reason)
    return path


def build_reach(policy: PathPolicy) -> Callable[[Entry], bool]:
    """A question for entries met on a walk down from an allowed folder: may a tool touch it?

    On such a walk only what is blocked itself is closed, since nobody enters a closed folder. Judging a path looks at
    each of its parents, so it is asked only for what has the name or the identity of something blocked.
    """
    places = [place for folder in policy.blocked for place in (folder, Path(os.path.realpath(folder)))]
    names = {_folded(place.name) for place in places}
    identities = {found.identity for place in places if (found := _look(place)) is not None and found.identity[1]}

    def is_open(entry: Entry) -> bool:
        if _folded(entry.path.name) not in names and entry.identity not in identities:
            return True
        return decide_path(entry.path, policy).outcome is not Outcome.DENY

    return is_open


def require_all_allowed(folder: Path, policy: PathPolicy) -> None:
    """Raise ToolRefusedError when anything below a folder is closed, so that it must not be moved or removed whole."""
    is_open = build_reach(policy)
    for entry in walk_folder(folder, enter=is_open):
        if not is_open(entry):
            require_allowed(entry.path, policy)


def require_entry(path: Path, policy: PathPolicy, *, may_be_link: bool = False) -> Entry:
    """What is at a resolved path. Raises ToolError, with names that are nearly the same, when nothing is."""
    found = find_entry(path, may_be_link=may_be_link)
    if found is not None:
        return found
    near = _near_names(path, policy)
    raise ToolError(
        f"{str(path)!r} does not exist",
        hint=f"Did you mean {' or '.join(map(repr, near))}" if near else "Look for it with find_files",
        code="not_found",
    )


def _near_names(path: Path, policy: PathPolicy) -> Sequence[str]:
    parent = find_entry(path.parent)
    is_open_folder = parent is not None and parent.kind is EntryKind.FOLDER
    if not is_open_folder or decide_path(path.parent, policy).outcome is Outcome.DENY:
        return ()
    names = {entry.path.name.casefold(): entry.path.name for entry in list_folder(path.parent)}
    return [names[name] for name in difflib.get_close_matches(path.name.casefold(), names, n=3, cutoff=0.7)]


def _look(place: Path) -> Entry | None:
    """What is at a blocked place; one that cannot be looked at is known by its name alone."""
    try:
        return find_entry(place, may_be_link=True)
    except ToolError:
        return None


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
