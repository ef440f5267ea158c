"""deploy-targets.json: where each project goes when it is deployed, by a profile of a server or to a folder.

The file is closed to tools: what a person set up here, a model can use but not redirect. Deploying is not its business.
"""

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from skales.core.errors import BrokenDocumentError, ConflictError, InputError, NotFoundError
from skales.core.json import JsonObject, JsonValue, as_list, as_object, as_text
from skales.data.document import read_object
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.records import update_or_start_over


class DeployTarget(Struct, frozen=True, kw_only=True):
    """Where one project goes: `profile_id` with `remote_path` on a server, or else `folder` on this computer.

    `project` is the project's folder, absolute. `subfolder` is the part of it that is published, such as
    `dist`; empty for all of it.
    """

    project: str
    profile_id: str = ""
    remote_path: str = ""
    folder: str = ""
    subfolder: str = ""


class DeployTargets:
    """The targets of one data directory, read from disk on every call. Thread-safe."""

    def __init__(self, directory: DataDirectory, quarantine: Quarantine) -> None:
        self._path = directory.deploy_targets
        self._quarantine = quarantine

    def list(self) -> Sequence[DeployTarget]:
        """All of them, by project. Raises StorageError when the file cannot be read."""
        try:
            entries = as_list(read_object(self._path, self._quarantine).get("targets"))
        except (NotFoundError, BrokenDocumentError):
            return []
        found = [target for entry in entries if (target := _parse(as_object(entry))) is not None]
        return sorted(found, key=lambda target: target.project)

    def find(self, project: Path) -> DeployTarget:
        """The target of a project's folder. Raises NotFoundError."""
        for target in self.list():
            if target.project == str(project):
                return target
        raise NotFoundError(
            f"No target is saved for the project {project.name!r}",
            hint="Save one with `skales ftp target FOLDER --profile NAME`, or `--folder PLACE`",
        )

    def save(self, target: DeployTarget) -> None:
        """Keep a project's target in place of the one it had. Raises InputError."""
        _require_sound(target)

        def change(raw: dict[str, JsonValue]) -> None:
            raw["targets"] = [*_others(raw, target.project), _entry(target)]

        update_or_start_over(self._path, self._quarantine, change, missing={})

    def remove(self, project: Path) -> None:
        """Forget a project's target. Raises NotFoundError."""

        def change(raw: dict[str, JsonValue]) -> None:
            kept = _others(raw, str(project))
            if len(kept) == len(as_list(raw.get("targets"))):
                raise NotFoundError(f"No target is saved for the project {project.name!r}")
            raw["targets"] = kept

        update_or_start_over(self._path, self._quarantine, change, missing={})


def target_json(target: DeployTarget) -> JsonObject:
    """A target as it stands in the file."""
    return _entry(target)


def _require_sound(target: DeployTarget) -> None:
    if not Path(target.project).is_absolute():
        raise InputError("A project is named by its whole path", hint="Write it from the root of the disk on")
    if bool(target.profile_id) == bool(target.folder):
        raise InputError("A target is either a profile or a folder", hint="Name one of them")
    if target.folder and not Path(target.folder).is_absolute():
        raise InputError("A target folder is named by its whole path", hint="Write it from the root of the disk on")
    if Path(target.subfolder).is_absolute() or ".." in Path(target.subfolder).parts:
        raise InputError("The published part lies inside the project", hint="Name a folder in it, such as dist")


def _others(raw: JsonObject, project: str) -> list[JsonValue]:
    entries = raw.get("targets", [])
    if not isinstance(entries, list):
        raise ConflictError("'targets' in deploy-targets.json is not a list", hint="Correct or remove it in the file")
    return [entry for entry in entries if as_object(entry).get("project") != project]


def _parse(entry: JsonObject) -> DeployTarget | None:
    target = DeployTarget(
        project=as_text(entry.get("project")),
        profile_id=as_text(entry.get("profile")),
        remote_path=as_text(entry.get("remotePath")),
        folder=as_text(entry.get("folder")),
        subfolder=as_text(entry.get("from")),
    )
    try:
        _require_sound(target)
    except InputError:
        return None
    return target


def _entry(target: DeployTarget) -> dict[str, JsonValue]:
    return {
        "project": target.project,
        "profile": target.profile_id,
        "remotePath": target.remote_path,
        "folder": target.folder,
        "from": target.subfolder,
    }
