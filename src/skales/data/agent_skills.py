"""agent-skills/: instructions a model can read when a task fits, a folder each with a SKILL.md.

Read from disk on every call; a skill that cannot be read is listed as broken, never dropped. Whether a skill is told
to a model, and how much of it, is not its business. Spec: skills.md, "SKILL.md rules", "State", "Import".
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from msgspec import Struct

from skales.core.errors import (
    BrokenDocumentError,
    ConflictError,
    InputError,
    NotFoundError,
    SkalesError,
    StorageError,
)
from skales.core.json import as_object
from skales.data.document import ABSENT, read_bytes, read_object, storage_errors, write_bytes
from skales.data.frontmatter import FrontMatterError
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.skill_text import FOLDER_NAME, Skill, compose_skill, parse_skill

SKILL_FILE = "SKILL.md"
_MOST_READ_BYTES = 1024 * 1024
_MOST_BESIDE_BYTES = 2 * 1024 * 1024
_MOST_BESIDE_FILES = 100

_STATE_FILE = "agent-skills-state.json"
_BESIDE = ("scripts", "references")


class BrokenSkill(Struct, frozen=True):
    """A folder whose SKILL.md cannot be read. `line` counts from 1, 0 when no line is to blame."""

    folder: str
    path: Path
    line: int
    reason: str


class SkillShelf(Struct, frozen=True):
    """Every skill there is, by folder name, and those that cannot be read."""

    skills: tuple[Skill, ...]
    broken: tuple[BrokenSkill, ...]


class AgentSkillStore:
    """The skills of one data directory."""

    def __init__(self, directory: DataDirectory, quarantine: Quarantine) -> None:
        self._root = directory.agent_skills
        self._quarantine = quarantine

    def list(self) -> SkillShelf:
        """All of them. A folder without a SKILL.md is none."""
        states = self._states()
        skills: list[Skill] = []
        broken: list[BrokenSkill] = []
        for name in self._folders():
            try:
                skills.append(self._load(name, is_enabled=states.get(name, True)))
            except NotFoundError:
                continue
            except FrontMatterError as error:
                broken.append(BrokenSkill(name, self._root / name / SKILL_FILE, error.line, error.message))
            except SkalesError as error:
                broken.append(BrokenSkill(name, self._root / name / SKILL_FILE, 0, error.message))
        return SkillShelf(tuple(skills), tuple(broken))

    def find(self, name: str) -> Skill:
        """The skill of this name or folder, whatever its capitals.

        Raises NotFoundError, ConflictError for one that is switched off, InputError with file and line for a broken
        one.
        """
        shelf = self.list()
        wanted = _folded(name)
        for skill in sorted(shelf.skills, key=lambda skill: not skill.is_enabled):
            if wanted not in (_folded(skill.name), _folded(skill.folder)):
                continue
            if not skill.is_enabled:
                raise ConflictError(f"The skill {skill.name!r} is switched off", hint="The person can switch it on")
            return skill
        for broken in shelf.broken:
            if wanted == _folded(broken.folder):
                at = f" at line {broken.line}" if broken.line else ""
                raise InputError(f"{str(broken.path)!r} cannot be read{at}: {broken.reason}", code="broken_skill")
        raise NotFoundError(f"There is no skill {name!r}")

    def files(self, skill: Skill) -> Sequence[str]:
        """What lies beside its SKILL.md, as `references/form.md`, at most a hundred."""
        top = self._root / skill.folder
        found: list[str] = []
        for part in _BESIDE:
            if (top / part).is_symlink():
                continue
            for folder, folders, names in os.walk(top / part):
                folders.sort()
                places = (Path(folder, name) for name in sorted(names))
                found += [place.relative_to(top).as_posix() for place in places if not place.is_symlink()]
                if len(found) >= _MOST_BESIDE_FILES:
                    return found[:_MOST_BESIDE_FILES]
        return found

    def read_file(self, skill: Skill, name: str) -> str:
        """A text beside its SKILL.md, named from the skill's folder. Raises InputError, NotFoundError, StorageError."""
        wanted = PurePosixPath(name.replace("\\", "/"))
        if wanted.is_absolute() or ".." in wanted.parts or len(wanted.parts) < 2 or wanted.parts[0] not in _BESIDE:
            raise InputError(
                f"{name[:200]!r} is no file of the skill", hint="Name one in its scripts/ or references/ folder"
            )
        path = self._inside(self._root / skill.folder, self._root.joinpath(skill.folder, *wanted.parts))
        text = _decode(_read_small(path, _MOST_BESIDE_BYTES))
        return text.replace("\r\n", "\n").replace("\r", "\n")

    def create(self, name: str, description: str, body: str) -> Skill:
        """Write a new skill, after the rules for imports. Raises InputError, ConflictError when the name is taken."""
        content = compose_skill(name, description, body)
        self._require_free(name)
        folder = self._root / name
        with storage_errors(folder, "created"):
            self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                folder.mkdir(mode=0o700)
            except FileExistsError as error:
                raise _taken(name) from error
        try:
            write_bytes(folder / SKILL_FILE, content.encode(), expected=ABSENT)
        except SkalesError:
            with storage_errors(folder, "deleted"):
                folder.rmdir()
            raise
        return self._load(name, is_enabled=self._states().get(name, True))

    def _require_free(self, name: str) -> None:
        """Names count without their capitals, as on disks where two spellings are one folder."""
        shelf = self.list()
        names = {_folded(name) for name in self._folders()} | {_folded(skill.name) for skill in shelf.skills}
        if _folded(name) in names:
            raise _taken(name)

    def _folders(self) -> Iterator[str]:
        with storage_errors(self._root, "listed"):
            try:
                entries = sorted(os.scandir(self._root), key=lambda entry: entry.name)
            except FileNotFoundError:
                return
        yield from (entry.name for entry in entries if entry.is_dir() and not entry.name.startswith("."))

    def _load(self, folder: str, *, is_enabled: bool) -> Skill:
        """Raises NotFoundError without a SKILL.md, FrontMatterError, InputError, StorageError."""
        if not FOLDER_NAME.fullmatch(folder):
            raise InputError("the folder's name may hold only letters, digits, dots, _ and -, at most 64")
        path = self._inside(self._root / folder, self._root / folder / SKILL_FILE)
        return parse_skill(folder, _decode(_read_small(path, _MOST_READ_BYTES)), is_enabled=is_enabled)

    def _inside(self, folder: Path, path: Path) -> Path:
        """The real place of a path, which must stay in the skill's folder. Raises InputError."""
        real = Path(os.path.realpath(path))
        if folder.is_symlink() or not real.is_relative_to(os.path.realpath(folder)):
            raise InputError(f"{path.name!r} is a link that leads out of the skill's folder", code="path_outside")
        return real

    def _states(self) -> dict[str, bool]:
        """What the person switched, by folder; a missing or broken file means that everything is on."""
        try:
            states = read_object(self._root / _STATE_FILE, self._quarantine)
        except (NotFoundError, BrokenDocumentError):
            return {}
        return {folder: as_object(state).get("enabled") is not False for folder, state in states.items()}


def _read_small(path: Path, most_bytes: int) -> bytes:
    try:
        size_bytes = path.stat().st_size
    except OSError:
        size_bytes = 0  # reading says what is wrong
    if size_bytes > most_bytes:
        raise StorageError(f"{path.name!r} is larger than {most_bytes // 1024} KB", code="too_large")
    return read_bytes(path)[0]


def _decode(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FrontMatterError("The text is not UTF-8", line=line) from error


def _folded(name: str) -> str:
    return name.strip().removeprefix("/").casefold()


def _taken(name: str) -> ConflictError:
    return ConflictError(f"A skill named {name!r} exists already", hint="Choose another name", code="exists")
