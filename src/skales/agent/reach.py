"""What "always" may cover of a call, as a rule; `reach_words` says it in words.

Commands go by their beginning and folder, files by folder, web addresses by host, anything else by the exact call.

Spec: orchestrator.md, "Approvals"; cases TOO-01.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import structs

from skales.core.errors import SkalesError
from skales.core.json import JsonObject, JsonValue, as_object
from skales.core.tool import Effect, Outcome, ToolCall, ToolSpec, property_formats
from skales.data.grants import FolderReach, Reach, ReachKind
from skales.security.network import parse_url
from skales.security.paths import PathPolicy, resolve_path

# A tool that only does these with files may be allowed for a folder. What leaves the machine has no place in one.
_LOCAL = frozenset({Effect.READS_PRIVATE, Effect.WRITES, Effect.DESTRUCTIVE})
# The same arguments mean something else a moment later: a place on the screen, a process number.
_OF_THE_MOMENT_ADDON = "computer_use"
_OF_THE_MOMENT = frozenset({"kill_process"})
# Folders whose files are run by other programs; a grant for what is around them does not reach into them.
_INNER = frozenset({".git", ".hg", ".svn", ".ssh", ".gnupg", ".github", ".vscode", ".idea"})
# What these mean when they are left out, by their descriptions: the workspace.
_WORKSPACE_WHEN_LEFT_OUT = frozenset({"path", "cwd", "filename"})


def offer_reach(spec: ToolSpec, call: ToolCall, paths: PathPolicy) -> Reach | None:
    """What a wider yes to this call would cover; None when there should be none. Reads links on the disk."""
    if spec.addon == _OF_THE_MOMENT_ADDON or spec.name in _OF_THE_MOMENT:
        return None
    view = _View(spec, call.arguments, paths)
    if view.named("shell-command"):
        reach = _offer_command(view)
    elif view.named("uri") or (view.named("path") and spec.effects <= _LOCAL):
        reach = _offer_places(view)
    else:
        reach = Reach(kind=ReachKind.CALL, digest=_digest(call.arguments))
    return reach if reach is not None and covers_call(reach, spec, call, paths) else None


def covers_call(reach: Reach, spec: ToolSpec, call: ToolCall, paths: PathPolicy) -> bool:
    """Whether a grant of this reach covers a call of its tool. Reads links on the disk."""
    view = _View(spec, call.arguments, paths)
    match reach.kind:
        case ReachKind.COMMAND:
            return _covers_command(reach, view)
        case ReachKind.PLACES:
            return _covers_places(reach, view)
        case ReachKind.CALL:
            return reach.digest == _digest(call.arguments)
        case ReachKind.TOOL:
            return not view.named("shell-command")


class _View:
    """A call's arguments as rules look at them: with the schema's defaults, by their formats."""

    def __init__(self, spec: ToolSpec, arguments: JsonObject, paths: PathPolicy) -> None:
        self.schemas = {
            name: as_object(schema) for name, schema in as_object(spec.parameters.get("properties")).items()
        }
        self.values: dict[str, JsonValue] = {
            name: arguments.get(name, schema.get("default")) for name, schema in self.schemas.items()
        }
        self.arguments = arguments
        self.formats = property_formats(spec)
        for name in self.named("path"):
            if name in _WORKSPACE_WHEN_LEFT_OUT and not self.values[name]:
                self.values[name] = "."
        self._links = spec.links
        self.policy = paths

    def named(self, form: str) -> list[str]:
        """The parameters of a format."""
        return [name for name, kind in self.formats.items() if kind == form]

    def places(self, name: str) -> list[Path] | None:
        """Where an argument of paths really leads; None when that cannot be told."""
        value = self.values.get(name)
        texts = value if isinstance(value, (list, tuple)) else [value]
        found: list[Path] = []
        for text in texts:
            try:
                if not isinstance(text, str) or not text:
                    return None
                found.append(resolve_path(text, self.policy, follow_last=name not in self._links))
            except SkalesError:
                return None
        return found or None

    def workspace(self) -> Path:
        """Where tools work when nothing else is said."""
        return resolve_path(".", self.policy)

    def is_too_wide(self, folder: Path) -> bool:
        """The disk's root, the home folder and what holds it: nobody means all of that."""
        home = resolve_path("~", self.policy)
        return folder == Path(folder.anchor) or folder == home or folder in home.parents


def _offer_command(view: _View) -> Reach | None:
    from skales.security.shell import judge_command, suggest_prefix  # loaded with the first command

    command = _command(view)
    if not command:
        return Reach(kind=ReachKind.CALL, digest=_digest(view.arguments))
    judged = judge_command(command)
    if not judged.understood or judged.verdict.outcome is not Outcome.ALLOW:
        return None
    prefix = suggest_prefix(command)
    folders = tuple(_working_folders(view))
    fixed = _fixed(view, only_marked=False)
    # Texts beside the command, such as another script or its arguments, are not remembered: they may hold anything.
    if prefix is None or not folders or not all(isinstance(value, bool) for value in _without_empty(fixed).values()):
        return None
    return Reach(kind=ReachKind.COMMAND, prefix=prefix, folders=folders, fixed=fixed)


def _covers_command(reach: Reach, view: _View) -> bool:
    from skales.security.shell import covers  # loaded with the first command

    command = _command(view)
    if not command or not covers(reach.prefix, command):
        return False
    folders = reach.folders or tuple(_folders_of_old(view))
    if not _are_in(folders, view) or not _same(_fixed(view, only_marked=False), reach.fixed):
        return False
    return all(_stays_in(command, view, at) for at in folders)


def _folders_of_old(view: _View) -> Iterator[FolderReach]:
    """Grants of an earlier version name no folder; they were given for the workspace."""
    yield from (FolderReach(name, str(view.workspace()), whole=True) for name in view.named("path") or [""])


def _stays_in(command: str, view: _View, at: FolderReach) -> bool:
    """Whether no word of the command leads out of the folder through a link."""
    from skales.security.shell_paths import named_paths  # loaded with the first command

    for start in view.places(at.argument) or [view.workspace()]:
        for text in named_paths(command):
            try:
                place = resolve_path(text, structs.replace(view.policy, workspace=start))
            except SkalesError:
                return False
            if not place.is_relative_to(at.folder):
                return False
    return True


def _command(view: _View) -> str:
    """The command of a call; empty when it has none, or more than one."""
    given = [view.values[name] for name in view.named("shell-command") if view.values[name]]
    return str(given[0]) if len(given) == 1 else ""


def _working_folders(view: _View) -> Iterator[FolderReach]:
    """Where the command would run; nothing when that is too wide to remember."""
    for name in view.named("path") or [""]:
        place = (view.places(name) or [Path("/")])[0] if name else view.workspace()
        if not view.is_too_wide(place):
            yield FolderReach(name, str(place), whole=True)


def _offer_places(view: _View) -> Reach | None:
    folders: list[FolderReach] = []
    for name in view.named("path"):
        if view.values[name] in (None, "", []):
            continue
        folder = _common_folder(view, name)
        if folder is None:
            return Reach(kind=ReachKind.CALL, digest=_digest(view.arguments))
        folders.append(folder)
    origins = {name: _origin(view.values[name]) for name in view.named("uri") if view.values[name]}
    if not all(origins.values()) or not (folders or origins):
        return Reach(kind=ReachKind.CALL, digest=_digest(view.arguments))
    return Reach(kind=ReachKind.PLACES, folders=tuple(folders), origins=origins, fixed=_fixed(view, only_marked=True))


def _covers_places(reach: Reach, view: _View) -> bool:
    if any(name not in view.values or _origin(view.values[name]) != origin for name, origin in reach.origins.items()):
        return False
    return _are_in(reach.folders, view) and _same(_fixed(view, only_marked=True), reach.fixed)


def _are_in(folders: Sequence[FolderReach], view: _View) -> bool:
    """Whether each argument lies in its folder, and no path is given that has none."""
    bound = {at.argument: at for at in folders}
    for name in view.named("path"):
        at = bound.pop(name, None)
        if at is None:
            if view.values[name] not in (None, "", []):
                return False
            continue
        places = view.places(name)
        if not places or not all(_is_in(place, at) for place in places):
            return False
    # The rest is of a tool without such an argument, which runs in the workspace.
    return all(name == "" and _is_in(view.workspace(), at) for name, at in bound.items())


def _common_folder(view: _View, name: str) -> FolderReach | None:
    places = view.places(name)
    if not places:
        return None
    if len(places) == 1 and places[0].is_dir() and not view.is_too_wide(places[0]):
        return FolderReach(name, str(places[0]), whole=True)
    try:
        folder = Path(os.path.commonpath([place.parent for place in places]))
    except ValueError:  # on several drives
        return None
    return None if view.is_too_wide(folder) else FolderReach(name, str(folder))


def _is_in(place: Path, at: FolderReach) -> bool:
    folder = Path(at.folder)
    if place == folder:
        return at.whole
    if not place.is_relative_to(folder):
        return False
    return not any(part.casefold() in _INNER for part in place.relative_to(folder).parts)


def _fixed(view: _View, *, only_marked: bool) -> JsonObject:
    """Arguments that a grant holds fast; places, the command and numbers are bound elsewhere or do not matter.

    With `only_marked` just switches and choices: what a file or a message says may be another each time.
    """
    judged = {name for name, kind in view.formats.items() if kind in ("path", "uri", "shell-command")}
    return {
        name: value
        for name, value in view.values.items()
        if name not in judged and _is_fixed(view.schemas[name], only_marked=only_marked)
    }


def _is_fixed(schema: Mapping[str, JsonValue], *, only_marked: bool) -> bool:
    if schema.get("type") == "boolean" or "enum" in schema:
        return True
    return not only_marked and schema.get("type") not in ("integer", "number")


def _same(one: JsonObject, other: JsonObject) -> bool:
    return _canonical(_without_empty(one)) == _canonical(_without_empty(other))


def _without_empty(values: JsonObject) -> JsonObject:
    """A parameter that a newer version of a tool adds is not there in older grants, and off by default."""
    return {name: value for name, value in values.items() if value not in (None, False, "", [])}


def _origin(value: JsonValue) -> str:
    """`scheme://host:port` of an address; empty for what is none, and for one that signs in."""
    try:
        checked = parse_url(str(value))
    except SkalesError:
        return ""
    host = f"[{checked.host}]" if ":" in checked.host else checked.host
    return "" if "@" in checked.url.split("/")[2] else f"{checked.scheme}://{host}:{checked.port}"


def _digest(arguments: JsonObject) -> str:
    return hashlib.sha256(_canonical(arguments).encode(errors="replace")).hexdigest()


def _canonical(value: JsonValue) -> str:
    return json.dumps(value, sort_keys=True)
