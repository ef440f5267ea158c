"""Which files one call may change, judged from its name and arguments before it runs. Changes nothing.

For the file tools these are exactly known. Other tools may change the paths they are given, and, when they write files
of their own choosing, anything in the workspace.
"""

import os
import unicodedata
from collections.abc import Callable, Iterable
from itertools import takewhile
from pathlib import Path

from msgspec import Struct

from skales.core.errors import SkalesError
from skales.core.json import JsonObject, JsonValue, as_list, as_text
from skales.core.tool import Effect, Outcome, ToolSpec, property_formats
from skales.security.paths import PathPolicy, decide_path, resolve_path

CHANGING = frozenset({Effect.WRITES, Effect.DESTRUCTIVE})
# Categories whose tools write to the program's own stores and services, unless they are given a path.
_WITHOUT_FILES = frozenset({"core", "productivity"})
_WITHOUT_FILES_NAMED = frozenset({"send_notification", "update_capabilities"})
# Arguments of file tools that are only read.
_ONLY_READ = {
    "copy_file": frozenset({"source"}),
    "create_archive": frozenset({"paths"}),
    "extract_archive": frozenset({"archive"}),
}
_INTO_FOLDER = frozenset({"move_file", "copy_file"})
_ENDINGS = (".tar.gz", ".tar.bz2", ".tar.xz", ".tgz", ".tbz2", ".txz", ".tar", ".zip")


class Scope(Struct, frozen=True):
    """What to look at. `places` are looked at whole, with all below them; `folders` as far as the limits go.

    Of a place in `shallow` only what is new in it counts: what is there is not overwritten.
    """

    places: tuple[Path, ...] = ()
    folders: tuple[Path, ...] = ()
    shallow: tuple[Path, ...] = ()


def scope_of(spec: ToolSpec, arguments: JsonObject, policy: PathPolicy) -> Scope:
    """The files a call with valid arguments may change. Reads links and folders' names."""
    formats = property_formats(spec)
    if "shell-command" in formats.values():
        cwd = _given(spec, arguments, policy, {name for name, form in formats.items() if form == "path"})
        return Scope(folders=tuple(dict.fromkeys((_workspace(policy), *cwd))))
    if spec.category == "file":
        return _file_scope(spec, arguments, policy)
    names = {name for name, form in formats.items() if form == "path"}
    places = _given(spec, arguments, policy, names)
    writes_freely = spec.category not in _WITHOUT_FILES and spec.name not in _WITHOUT_FILES_NAMED
    folders = [place for place in places if place.is_dir()]
    return Scope(
        tuple(_with_missing(place for place in places if place not in folders)),
        tuple(dict.fromkeys((*((_workspace(policy),) if writes_freely else ()), *folders))),
    )


def build_openness(policy: PathPolicy) -> Callable[[str, str, os.stat_result], bool]:
    """A question for entries met on a walk down from an allowed place: may it be copied into the store?

    Only what has the name or the identity of something blocked is judged, since judging looks at every parent.
    """
    places = [place for folder in policy.blocked for place in (folder, Path(os.path.realpath(folder)))]
    names = {_folded(place.name) for place in places}
    identities = {identity for place in places if (identity := _identity(place)) is not None}

    def is_open(name: str, path: str, found: os.stat_result) -> bool:
        # The file system folds in its own way; what is plain needs no more than lower case.
        folded = name.lower() if name.isascii() else _folded(os.path.basename(path))  # noqa: PTH119 - hot
        if folded not in names and (found.st_dev, found.st_ino) not in identities:
            return True
        return decide_path(Path(path), policy).outcome is not Outcome.DENY

    return is_open


def _file_scope(spec: ToolSpec, arguments: JsonObject, policy: PathPolicy) -> Scope:
    if arguments.get("list_only") is True:
        return Scope()
    formats = property_formats(spec)
    changed = {name for name, form in formats.items() if form == "path"} - _ONLY_READ.get(spec.name, frozenset())
    if spec.name == "extract_archive" and not arguments.get("destination"):
        archives = _given(spec, arguments, policy, {"archive"})
        return Scope(tuple(_with_missing(path.with_name(_stem(path.name)) for path in archives)))
    places = _given(spec, arguments, policy, changed)
    if spec.name == "extract_archive":
        return Scope(tuple(_with_missing(places)), shallow=tuple(place for place in places if place.is_dir()))
    if spec.name in _INTO_FOLDER:
        sources = _given(spec, arguments, policy, {"source"})
        targets = _given(spec, arguments, policy, {"destination"})
        inner = [target / source.name for target in targets for source in sources if target.is_dir()]
        places = [place for place in places if not (place in targets and place.is_dir())] + inner
    return Scope(tuple(_with_missing(places)))


def _given(spec: ToolSpec, arguments: JsonObject, policy: PathPolicy, names: set[str] | frozenset[str]) -> list[Path]:
    """The paths of some arguments that tools may touch; of a link that is acted on itself, the link."""
    found: list[Path] = []
    for name in names:
        for text in _texts(arguments.get(name)):
            try:
                path = resolve_path(text, policy, follow_last=name not in spec.links)
            except SkalesError:
                continue
            if decide_path(path, policy).outcome is not Outcome.DENY:
                found.append(path)
    return found


def _with_missing(places: Iterable[Path]) -> list[Path]:
    """The places, each after the folders on the way to it that would have to be made."""
    found: dict[Path, None] = {}
    for place in places:
        for parent in reversed(list(takewhile(lambda folder: not folder.exists(), place.parents))):
            found[parent] = None
        found[place] = None
    return list(found)


def _workspace(policy: PathPolicy) -> Path:
    return Path(os.path.realpath(policy.workspace))


def _texts(value: JsonValue) -> list[str]:
    return [value] if isinstance(value, str) else [as_text(item) for item in as_list(value) if as_text(item)]


def _stem(name: str) -> str:
    ending = next((ending for ending in _ENDINGS if name.casefold().endswith(ending)), "")
    return name[: len(name) - len(ending)] if ending else f"{name} unpacked"


def _identity(place: Path) -> tuple[int, int] | None:
    try:
        found = os.lstat(place)
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if found.st_ino else None


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
