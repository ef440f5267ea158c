"""The public face of the local models: what is there, fetch it, run it, stop it.

Everything that may take long runs in threads or waits; `status` and `installed_models` only look at files.
Spec: local-models.md.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import anyio
import anyio.to_thread
from msgspec import Struct, field

from skales.core.clock import Clock
from skales.core.errors import ConfigurationError, NotFoundError
from skales.core.events import Progress
from skales.core.ids import IdSource, RandomIds
from skales.data.document import storage_errors
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.localmodels.catalog import load_catalog
from skales.localmodels.child_process import ServeOrder, build_command, choose_threads
from skales.localmodels.fetch import Store, fetch_missing
from skales.localmodels.runtime import Launcher, LocalAddress, ModelRunner
from skales.localmodels.settings import load_settings
from skales.localmodels.wheel import Pip

# The window of every model that its settings do not give another one.
CONTEXT_TOKENS = 8192
# About half a billion parameters at four bits; below it a model needs the narrowest of protocols.
_TINY_BYTES = 450_000_000
_IDLE_S = 600  # then the weights leave the memory; the next question loads them again
_GGUF_MAGIC = b"GGUF"
_KEY_DIGITS = 48


class InstalledModel(Struct, frozen=True):
    """A model file in the folder. `id` is the file's name without its ending."""

    id: str
    file: str
    size_bytes: int
    is_tiny: bool


class LocalStatus(Struct, frozen=True, kw_only=True):
    """What is in place. `model_id` is the running model, else the one that would be used when none is named.

    `tool_accuracy` is of that model, such as `12 of 20`, empty when nobody measured it.
    """

    runtime_installed: bool
    model_installed: bool
    running: bool
    model_id: str
    size_bytes_to_fetch: int
    tool_accuracy: str = ""


class Parts(Struct, frozen=True, kw_only=True):
    """What LocalModels otherwise makes itself: its folder and catalogue, how the child starts, where keys come from."""

    store: Store | None = None
    launcher: Launcher | None = None
    ids: IdSource = field(default_factory=RandomIds)


class LocalModels:
    """One data directory's local models. Safe to use from several tasks of one event loop."""

    def __init__(
        self,
        directory: DataDirectory,
        quarantine: Quarantine,
        clock: Clock,
        index_options: Sequence[str] = (),
        *,
        parts: Parts | None = None,
    ) -> None:
        """`index_options` are handed to pip when something is fetched; `parts` replaces what tests must not touch."""
        own = parts or Parts()
        self._store = own.store or Store(
            folder=directory.local_models,
            catalog=load_catalog(),
            quarantine=quarantine,
            clock=clock,
            pip=Pip(options=tuple(index_options)),
        )
        self._launcher = own.launcher or _build_launcher(directory, self._store)
        self._ids = own.ids
        self._runner = ModelRunner(clock)
        self._fetching = anyio.Lock()

    def status(self) -> LocalStatus:
        """What is in place and runs; looks at files only."""
        starter = self._store.catalog.starter
        running = self._runner.running_model()
        model_id = running or self._default_model()
        return LocalStatus(
            runtime_installed=self._store.has_runtime(),
            model_installed=model_id != starter.id or self._store.has_starter(),
            running=bool(running),
            model_id=model_id,
            size_bytes_to_fetch=self._store.missing_bytes(starter=model_id == starter.id),
            tool_accuracy=starter.tool_accuracy if model_id == starter.id else "",
        )

    def installed_models(self) -> list[InstalledModel]:
        """Every model file in the folder, by name; projectors and later parts of a split model are none."""
        return [
            InstalledModel(path.stem, path.name, size_bytes, is_tiny=size_bytes < _TINY_BYTES)
            for path in sorted(self._store.folder.glob("*.gguf"))
            if _is_chat_model(path) and (size_bytes := _size_bytes(path)) > 0
        ]

    async def fetch(self, report: Callable[[Progress], None]) -> None:
        """Fetch the runtime and the starter model unless they are there; see `fetch_missing` for what it raises."""
        await self._fetch(report, starter=True)

    async def ensure_running(self, report: Callable[[Progress], None], model_id: str = "") -> LocalAddress:
        """Fetch what is missing, start the model, and say where to ask it.

        Without a name it is the starter, or the only other model there is. Raises NotFoundError for an unknown name,
        ConfigurationError and StorageError with the cause and what to do.
        """
        wanted = model_id or self._default_model()
        is_starter = wanted == self._store.catalog.starter.id
        if not is_starter:
            self._find(wanted)
        await self._fetch(report, starter=is_starter)
        order = await anyio.to_thread.run_sync(self._build_order, wanted)
        return await self._runner.ensure(self._launcher, order, report)

    async def stop(self) -> None:
        """End the running model."""
        await self._runner.stop()

    async def _fetch(self, report: Callable[[Progress], None], *, starter: bool) -> None:
        async with self._fetching:
            await fetch_missing(self._store, report, starter=starter)

    def _default_model(self) -> str:
        """The starter; only when it was never fetched and others are there, the first of those."""
        others = [] if self._store.has_starter() else self.installed_models()
        return others[0].id if others else self._store.catalog.starter.id

    def _find(self, model_id: str) -> Path:
        found = next((model for model in self.installed_models() if model.id == model_id), None)
        if found is None:
            names = ", ".join(model.id for model in self.installed_models()) or "none"
            raise NotFoundError(
                f"There is no local model named {model_id!r}",
                hint=f"Put {model_id}.gguf into {str(self._store.folder)!r}, or choose one that is there: {names}",
            )
        return self._store.folder / found.file

    def _build_order(self, model_id: str) -> ServeOrder:
        """What the child is told. Judges the file first: the runtime says the same for every fault."""
        path = self._find(model_id)
        with storage_errors(path, "read"), path.open("rb") as file:
            if file.read(len(_GGUF_MAGIC)) != _GGUF_MAGIC:
                raise ConfigurationError(
                    f"{path.name!r} is not a model in GGUF format",
                    hint="Download it again, or choose another model",
                    code="bad_model",
                )
        starter = self._store.catalog.starter
        own = load_settings(self._store.folder / "model-settings.json", self._store.quarantine, model_id, starter)
        return ServeOrder(
            model_path=str(path),
            model_id=model_id,
            api_key=self._ids.token(_KEY_DIGITS),
            context_tokens=own.context_tokens or CONTEXT_TOKENS,
            threads=own.threads or choose_threads(),
            gpu_layers=own.gpu_layers,
            temperature=own.temperature,
            top_p=own.top_p,
            repeat_penalty=own.repeat_penalty,
            chat_template=own.chat_template,
            idle_s=_IDLE_S,
        )


def _build_launcher(directory: DataDirectory, store: Store) -> Launcher:
    command, environment = build_command(store.runtime)
    return Launcher(command=command, environment=environment, log=directory.logs / "local-model.log")


def _is_chat_model(path: Path) -> bool:
    name = path.name.lower()
    is_later_part = "-of-" in name and "-00001-of-" not in name
    return not name.startswith(".") and "mmproj" not in name and not is_later_part


def _size_bytes(path: Path) -> int:
    try:
        return path.stat().st_size if path.is_file() else 0
    except OSError:
        return 0
