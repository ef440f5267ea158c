"""Which provider and model answers: settings and catalogue turned into something a turn can ask.

Keys leave the settings here and go nowhere but into the provider's own requests. Spec: providers.md, "Rules".
"""

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import dataclass

import anyio
import anyio.abc

from skales.core.errors import ProviderError, ProviderFault
from skales.core.events import Progress
from skales.core.ports import ChatRequest, ChosenModel, Provider, ProviderEvent
from skales.data.settings import ProviderSettings, Settings, SettingsStore
from skales.localmodels.manager import LocalModels
from skales.providers.catalog import ProviderEntry, entry_for, load_catalog
from skales.providers.constrained import ConstrainedProvider
from skales.providers.endpoint import Endpoint, OpenAIProvider
from skales.security.network import is_local_host

LOCAL_PROVIDER = "skales_local"


@dataclass(frozen=True, slots=True)
class ActiveModel:
    """What new conversations use, for showing."""

    provider_id: str
    model: str
    base_url: str
    enabled: bool
