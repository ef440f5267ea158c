"""The app's models over a data directory of their own, with a server that plays replies and clocks that tests set."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

import anyio
import pytest

from skales.app.model_endpoints import ModelStores
from skales.app.models import Models
from skales.data.model_lists import ModelLists
from skales.data.model_probes import ModelProbes
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.settings import SettingsStore
from skales.data.sign_ins import SignIns
from skales.localmodels.local_models import LocalModels
from tests.conftest import CountingIds, FixedClock
from tests.servers.raw_sse import RawServer


@dataclass(frozen=True)
class Setup:
    """What the tests of models need together."""

    models: Models
    settings: SettingsStore
    stores: ModelStores
    clock: FixedClock

    def configure(self, **values: object) -> None:
        """Put values into settings.json, provider entries under their id."""
        self.settings.update(lambda raw: raw.update(values))  # type: ignore[arg-type]

    def provider(self, provider_id: str, **values: object) -> None:
        """Set a provider's entry as it stands in the file."""

        def change(raw: dict[str, object]) -> None:
            providers = raw.setdefault("providers", {})
            assert isinstance(providers, dict)
            providers[provider_id] = values

        self.settings.update(change)  # type: ignore[arg-type]


@pytest.fixture
def server() -> Iterator[RawServer]:
    with RawServer() as running:
        yield running


@pytest.fixture
async def setup(anyio_backend: str, home: DataDirectory, clock: FixedClock, ids: CountingIds) -> AsyncIterator[Setup]:
    quarantine = Quarantine(home.quarantine, clock)
    settings = SettingsStore(home, quarantine)
    stores = ModelStores(
        lists=ModelLists(home, clock),
        probes=ModelProbes(home, quarantine, clock),
        sign_ins=SignIns(home, quarantine),
        clock=clock,
        ids=ids,
    )
    models = Models(settings, LocalModels(home, quarantine, clock), stores)
    async with anyio.create_task_group() as tasks:
        models.open(tasks)
        yield Setup(models, settings, stores, clock)
        tasks.cancel_scope.cancel()
    await models.close()
