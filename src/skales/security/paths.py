"""Which files and folders a tool may touch: what a path really means, and whether that place is allowed.

The answer holds for the moment it is given; whoever opens the file must use the resolved path and not follow a link
put there since. Reads links and file identities, nothing else. Spec: security.md, "File access".
"""

import errno
import os
import stat
import unicodedata
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from skales.core.errors import InputError
from skales.core.tool import Outcome, Verdict
from skales.security.path_spelling import find_spelling_fault

# Linux gives up after 40 links as well (path_resolution(7)).
_MAX_LINKS = 40

# Device and file number of what is at a place: none for what is not there.
_Marks = frozenset[tuple[int, int]]
_NOTHING = _Marks()


class PathPolicy(Struct, frozen=True):
    """Where tools may go. The workspace is always allowed; `blocked` (folders or files) beats everything else.

    `unrestricted` allows whatever is not blocked.
    """

    workspace: Path
    allowed: tuple[Path, ...] = ()
    blocked: tuple[Path, ...] = ()
    unrestricted: bool = False


def resolve_path(text: str, policy: PathPolicy, *, follow_last: bool = True) -> Path:
    """The real place a text means: `~` expanded, relative to the workspace, every link on the way followed.

    Parts that do not exist yet are kept, a dangling link leads to its target. With `follow_last=False` the last part
    is not followed, for tools that act on a link itself. Raises InputError.
    """
    fault = find_spelling_fault(text)
    if fault:
        raise InputError(f"The path {text[:200]!r} cannot be used: {fault}", hint="Name one file or folder")
    path = policy.workspace.absolute() / os.path.expanduser(text)  # noqa: PTH111 - leaves an unknown ~name as it is
    if follow_last or path.name in ("", ".."):
        return _follow(path)
    return _follow(path.parent) / path.name


def decide_path(path: Path, policy: PathPolicy) -> Verdict:
    """Whether a resolved path may be touched. A refusal names the allowed folders and the settings that count."""
    asked, parents = _Asked(path), _Parents()
    for folder, spelled in zip(policy.blocked, _spell(policy.blocked), strict=True):
        if _closes(folder, spelled, asked, parents):
            return Verdict(
                Outcome.DENY,
                f"{str(path)!r} is closed to tools in every mode: {str(folder)!r} is private to Skales "
                "or stands in the setting blockedFolders",
                "path.blocked",
            )
    allowed = (policy.workspace, *policy.allowed)
    if policy.unrestricted or any(asked.is_in(_places(folder, parents)[0]) for folder in allowed):
        return Verdict(Outcome.ALLOW)
    return Verdict(
        Outcome.DENY,
        f"{str(path)!r} is outside the allowed folders ({', '.join(map(str, allowed))}); "
        "the settings allowedFolders and fileAccessMode can open it",
        "path.outside",
    )


def _follow(path: Path) -> Path:
    """Resolve links one by one, so that a missing part does not end the search and a loop is named."""
    done = _root(path)
    waiting = list(reversed(path.parts[1:]))
    links = 0
    while waiting:
        part = waiting.pop()
        if part == "..":
            done = os.path.dirname(done)  # noqa: PTH120 - text is ten times faster, and every path passes here
            continue
        here = f"{_ended(done)}{part}"
        target = _link_target(here)
        if target is None:
            done = here
            continue
        links += 1
        if links > _MAX_LINKS:
            raise InputError(f"The links at {str(path)!r} lead in a circle", hint="Name the file itself")
        waiting.extend(reversed([step for step in target.parts if step != target.anchor]))
        done = _root(target) if target.is_absolute() else done
    # Windows has several spellings for one place, such as short names.
    return Path(os.path.realpath(done) if os.name == "nt" else done)


def _root(path: Path) -> str:
    """POSIX lets `//` differ from `/`; our systems do not, and the blocked folders are written with one."""
    return path.anchor.replace("//", "/")


def _link_target(path: str) -> Path | None:
    """Where a link points; None for what is no link, does not exist, or may not be looked at."""
    try:
        return Path(os.readlink(path).removeprefix("\\\\?\\"))  # noqa: PTH115 - as above
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise InputError(f"The path {path[:200]!r} is too long", hint="Use a shorter one") from error
        return None


class _Parents(dict[str, str]):
    """Where folders really are, up to the name of what is in them.

    Each is looked at once: the blocked ones of a policy mostly stand side by side.
    """

    def __missing__(self, folder: str) -> str:
        self[folder] = found = _ended(str(_follow(Path(folder))))
        return found


class _Place(Struct, frozen=True):
    """A folder of the policy as text, and by its marks."""

    text: str
    marks: _Marks


class _Spelled(NamedTuple):
    """A folder of the policy as text: the whole, its parent, its name."""

    whole: str
    parent: str
    name: str
    is_absolute: bool


def _closes(folder: Path, spelled: _Spelled, asked: "_Asked", parents: _Parents) -> bool:
    """Whether a blocked folder is where the path leads.

    As text, and with one look at each, because every path that a tool is given is compared with some twenty of them.
    """
    if not spelled.is_absolute:  # the folder that we run in may be another by now
        spelled = _split(folder.absolute())
    try:
        kept = parents[spelled.parent] + spelled.name
    except InputError:
        # A broken entry in the settings must neither open nor close anything else.
        return asked.is_closed_by(_Place(spelled.whole, _mark(spelled.whole)))
    try:
        status = os.lstat(kept)
    except OSError:
        status = None
    # Windows has more that leads elsewhere than links, and spells one place in several ways.
    if os.name == "nt" or (status is not None and stat.S_ISLNK(status.st_mode)):
        return any(asked.is_closed_by(place) for place in _places(folder, parents))
    return asked.is_closed_as(kept, status)


def _places(folder: Path, parents: _Parents) -> tuple[_Place, ...]:
    """A folder of the policy as a real place, and also as the link that leads there when it is one."""
    spelled = _split(folder.absolute())
    try:
        kept = parents[spelled.parent] + spelled.name
        there = _Place(kept, _mark(kept))
        if _link_target(kept) is None:
            return (there,)
        real = str(_follow(Path(kept)))
        return (_Place(real, _mark(real)), there)
    except InputError:
        return (_Place(spelled.whole, _mark(spelled.whole)),)


@lru_cache(maxsize=8)
def _spell(folders: tuple[Path, ...]) -> tuple[_Spelled, ...]:
    return tuple(map(_split, folders))


def _split(folder: Path) -> _Spelled:
    whole = str(folder)
    return _Spelled(whole, *os.path.split(whole), folder.is_absolute())


class _Asked:
    """A resolved path, and what of it each folder of a policy is compared with. Text is ten times faster than parts."""

    def __init__(self, path: Path) -> None:
        place = str(path)
        self._text = os.path.normcase(place)
        self._marks = _mark(place)
        while (above := os.path.dirname(place)) != place:  # noqa: PTH120 - as above
            place = above
            self._marks |= _mark(place)
        self._folded = _folded(self._text)

    def is_in(self, place: _Place) -> bool:
        """By parts, or by identity: another spelling, a bind mount and a hard link mean the same place."""
        return _is_below(self._text, os.path.normcase(place.text)) or not self._marks.isdisjoint(place.marks)

    def is_closed_by(self, place: _Place) -> bool:
        """As above; a place not made yet has no identity, and where case is folded each spelling would make it."""
        closed = os.path.normcase(place.text)
        if _is_below(self._text, closed):
            return True
        if place.marks:
            return not self._marks.isdisjoint(place.marks)
        return _is_below(self._folded, _folded(closed))

    def is_closed_as(self, closed: str, status: os.stat_result | None) -> bool:
        """As above, by what lies there itself, where no case is folded in names."""
        if self._text.startswith(closed) and _is_below(self._text, closed):
            return True
        if status is not None and status.st_ino:
            return (status.st_dev, status.st_ino) in self._marks
        return self._folded.startswith(_folded(closed)) and _is_below(self._folded, _folded(closed))


def _is_below(text: str, folder: str) -> bool:
    return text == folder or text.startswith(_ended(folder))


def _ended(folder: str) -> str:
    """A folder's text, to which a name can be added."""
    return folder if folder.endswith(os.sep) else folder + os.sep


@lru_cache(maxsize=256)
def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()


def _mark(path: str) -> _Marks:
    """Device and file number of what is there itself, a link for itself.

    Empty for nothing, for what may not be looked at, and without numbers (some file systems say 0 for all).
    """
    try:
        status = os.lstat(path)
    except OSError:
        return _NOTHING
    return _Marks(((status.st_dev, status.st_ino),)) if status.st_ino else _NOTHING
