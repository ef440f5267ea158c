"""What a folder is as a project, by the files in it: its kind, and the command that tests it. Reads, runs nothing."""

import re
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from skales.core.errors import ToolError
from skales.core.json import JsonObject, as_object, as_text, parse_json
from skales.tools.file.safe_open import EntryKind, find_entry, open_file

_READ_BYTES = 1_000_000
# What `npm init` writes for a project without tests.
_NO_TEST = "no test specified"
_TEST_TARGET = re.compile(r"^(test|check)[ \t]*::?(?!=)", re.MULTILINE)
_LOCKS = {"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lock": "bun", "bun.lockb": "bun"}

# The file that shows it, and the kind of project.
KINDS = {
    "package.json": "Node", "pyproject.toml": "Python", "setup.py": "Python", "requirements.txt": "Python",
    "Cargo.toml": "Rust", "go.mod": "Go", "pom.xml": "Java", "build.gradle": "Java", "build.gradle.kts": "Kotlin",
    "composer.json": "PHP", "Gemfile": "Ruby", "mix.exs": "Elixir", "CMakeLists.txt": "C/C++", "pubspec.yaml": "Dart",
    "deno.json": "Deno", "Package.swift": "Swift", "Makefile": "Make", "index.html": "Website",
}  # fmt: skip


class TestCommand(Struct, frozen=True):
    """A way to test a project: the words to run, and the file that says so."""

    words: tuple[str, ...]
    found_in: str


def project_kinds(folder: Path) -> Sequence[str]:
    """The kinds a folder is a project of, the most telling first; empty for no project. Raises ToolError."""
    return list(dict.fromkeys(kind for name, kind in KINDS.items() if _is_file(folder / name)))


def find_test_commands(folder: Path) -> Sequence[TestCommand]:
    """Every way to test the project, the one that its people would use first. Raises ToolError."""
    return [command for find in _FINDERS for command in find(folder)]


def _script(folder: Path) -> list[TestCommand]:
    """A script that the project keeps for this; it knows best."""
    for name in ("scripts/test", "script/test", "scripts/test.sh", "bin/test"):
        entry = find_entry(folder / name, may_be_link=True)
        if entry is not None and entry.kind is EntryKind.FILE and entry.mode & 0o111:
            return [TestCommand((f"./{name}",), name)]
    return []


def _node(folder: Path) -> list[TestCommand]:
    script = as_text(as_object(_json(folder / "package.json").get("scripts")).get("test"))
    if not script or _NO_TEST in script:
        return []
    runner = next((runner for lock, runner in _LOCKS.items() if _is_file(folder / lock)), "npm")
    return [TestCommand((runner, "run", "test"), "package.json")]


def _tox(folder: Path) -> list[TestCommand]:
    found = [TestCommand(("tox",), "tox.ini")] if _is_file(folder / "tox.ini") else []
    return found + ([TestCommand(("nox",), "noxfile.py")] if _is_file(folder / "noxfile.py") else [])


def _pytest(folder: Path) -> list[TestCommand]:
    """With pytest, where it is set up or there are tests for it; by the project's own Python where it has one."""
    tools = as_object(_toml(folder / "pyproject.toml").get("tool"))
    named = next((name for name in ("pytest.ini", "conftest.py") if _is_file(folder / name)), "")
    named = named or ("pyproject.toml" if "pytest" in tools else "")
    if not named and "[tool:pytest]" in _text(folder / "setup.cfg"):
        named = "setup.cfg"
    has_tests = bool({"Python"} & set(project_kinds(folder))) and _is_folder(folder / "tests")
    if not named and not has_tests:
        named = next((file.name for file in sorted(folder.glob("test_*.py")) if _is_file(file)), "")
    if not named and not has_tests:
        return []
    own = next((name for name in (".venv/bin/python", "venv/bin/python") if _exists(folder / name)), "")
    return [TestCommand((f"./{own}" if own else "python3", "-m", "pytest"), named or "tests/")]


def _make(folder: Path) -> list[TestCommand]:
    for name in ("GNUmakefile", "makefile", "Makefile"):
        targets = _TEST_TARGET.findall(_text(folder / name))
        if targets:
            return [TestCommand(("make", "test" if "test" in targets else "check"), name)]
    return []


def _by_file(folder: Path) -> list[TestCommand]:
    table = {
        "Cargo.toml": ("cargo", "test"), "go.mod": ("go", "test", "./..."), "gradlew": ("./gradlew", "test"),
        "pom.xml": ("mvn", "--batch-mode", "test"), "mix.exs": ("mix", "test"), "deno.json": ("deno", "test"),
        "pubspec.yaml": ("dart", "test"), "Package.swift": ("swift", "test"), "Rakefile": ("rake", "test"),
    }  # fmt: skip
    return [TestCommand(words, name) for name, words in table.items() if _is_file(folder / name)]


_FINDERS: Sequence[Callable[[Path], list[TestCommand]]] = (_script, _node, _tox, _pytest, _make, _by_file)


def _is_file(path: Path) -> bool:
    entry = find_entry(path, may_be_link=True)
    return entry is not None and entry.kind is EntryKind.FILE


def _is_folder(path: Path) -> bool:
    entry = find_entry(path, may_be_link=True)
    return entry is not None and entry.kind is EntryKind.FOLDER


def _exists(path: Path) -> bool:
    """A link counts: the Python of a virtual environment is one."""
    try:
        return find_entry(path, may_be_link=True) is not None
    except ToolError:
        return False


def _text(path: Path) -> str:
    """What a small file says; empty when it is not there or no text."""
    if not _is_file(path):
        return ""
    with open_file(path) as stream:
        return stream.read(_READ_BYTES).decode("utf-8-sig", "replace")


def _json(path: Path) -> JsonObject:
    try:
        return as_object(parse_json(_text(path) or "{}"))
    except ValueError:
        return {}


def _toml(path: Path) -> JsonObject:
    try:
        return tomllib.loads(_text(path))
    except tomllib.TOMLDecodeError:
        return {}
