"""The embedded provider's public face: what is there, fetch what is missing, have the model running.

Spec: local-models.md. The app owns one, and stops it.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import anyio
import anyio.to_thread

from skales.core.clock import Clock
from skales.core.errors import ProviderError, ProviderFault
from skales.core.events import Progress
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.localmodels.catalog import load_catalog
from skales.localmodels.runtime import LocalAddress, ModelOrder, ModelProcess
from skales.localmodels.store import LocalModel, ModelFolder

# Enough for a conversation with tools; more costs memory that the starter's machines may not have.
CONTEXT_TOKENS = 8192

Report = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class LocalStatus:
    """What is on the disk and what runs. `tool_accuracy` says how often the starter gets a tool call right."""

    runtime_installed: bool
    model_installed: bool
    running: bool
    model_id: str
    size_bytes_to_fetch: int
    tool_accuracy: str


class LocalModels:
    """Fetches once, starts on demand, keeps one model running. Safe to call from several turns at once."""

    def __init__(
        self, directory: DataDirectory, quarantine: Quarantine, clock: Clock, index_options: Sequence[str] = ()
    ) -> None:
        """`index_options` are handed to pip when something is fetched."""
        self._catalog = load_catalog()
        self._folder = ModelFolder(directory.local_models, quarantine, clock, self._catalog)
        self._log = directory.logs / "local-model.log"
        self._index_options = tuple(index_options)
        self._process = ModelProcess()
        self._lock = anyio.Lock()

    def status(self) -> LocalStatus:
        """A look at the folder; cheap enough for every page."""
        models = self._folder.models()
        running = self._process.address
        starter = self._catalog.starter
        known = {model.id for model in models}
        model_id = starter.id if starter.id in known or not models else models[0].id
        return LocalStatus(
            runtime_installed=self._folder.has_runtime(),
            model_installed=bool(models),
            running=running is not None,
            model_id=running.model if running else model_id,
            size_bytes_to_fetch=self._folder.missing_bytes(),
            tool_accuracy=starter.tool_accuracy,
        )

    def installed_models(self) -> Sequence[LocalModel]:
        """Every model file in the folder, also those a person put there."""
        return self._folder.models()

    async def fetch(self, report: Report) -> None:
        """Fetch what is missing for an answer. Raises ConfigurationError, StorageError; a second caller waits."""
        async with self._lock:
            await self._fetch(report)

    async def ensure_running(self, report: Report, model_id: str = "") -> LocalAddress:
        """Where the model answers, after fetching and starting what that takes.

        Raises ProviderError for a model that is not there or does not start; ConfigurationError, StorageError.
        """
        async with self._lock:
            await self._fetch(report)
            model = self._choose(model_id)
            running = self._process.address
            if running is not None and running.model == model.id:
                return running
            report(Progress(f"Loading {model.id}", 0, 1, "steps"))
            return await self._process.start(
                ModelOrder(
                    model_id=model.id,
                    path=model.path,
                    runtime=self._folder.runtime,
                    log=self._log,
                    context_tokens=CONTEXT_TOKENS,
                    threads=max(1, min(8, os.cpu_count() or 1)),
                )
            )

    async def stop(self) -> None:
        """End the child process."""
        async with self._lock:
            await self._process.stop()

    async def _fetch(self, report: Report) -> None:
        if not self._folder.has_runtime():
            await self._folder.fetch_runtime(report, self._index_options)
        if not self._folder.models():
            await self._folder.fetch_starter(report, self._index_options)

    def _choose(self, model_id: str) -> LocalModel:
        models = {model.id: model for model in self._folder.models()}
        wanted = model_id or (
            self._catalog.starter.id if self._catalog.starter.id in models else next(iter(models), "")
        )
        if wanted not in models:
            raise ProviderError(
                f"There is no local model {wanted!r}",
                fault=ProviderFault.UNKNOWN_MODEL,
                hint=f"There are: {', '.join(models) or 'none'}. Put a .gguf file into the models folder to add one",
            )
        return models[wanted]
