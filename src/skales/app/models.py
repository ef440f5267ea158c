"""Which provider and model answers: settings and catalogue turned into something a turn can ask.

Keys leave the settings here and go nowhere but into their own provider's requests. Spec: providers.md, "Rules".
"""

from dataclasses import dataclass
from urllib.parse import urlsplit

from anyio.abc import TaskGroup

from skales.app.local_provider import LOCAL_PROVIDER, LocalProvider
from skales.core.errors import NotFoundError, ProviderError, ProviderFault
from skales.core.ports import ChosenModel
from skales.data.settings import ProviderSettings, Settings, SettingsStore
from skales.localmodels.local_models import LocalModels
from skales.providers.catalog import ProviderEntry, find_entry
from skales.providers.clients import SharedClients
from skales.providers.endpoint import Endpoint
from skales.providers.provider import HttpProvider, build_provider
from skales.security.network import is_local_host


@dataclass(frozen=True, slots=True)
class ActiveModel:
    """What new conversations use, for showing."""

    provider_id: str
    model: str
    base_url: str
    enabled: bool


class Models:
    """Builds providers from the settings and keeps them while their settings stay the same."""

    def __init__(self, settings: SettingsStore, local: LocalModels) -> None:
        self._settings = settings
        self._local = local
        self._clients = SharedClients()
        self._built: dict[str, tuple[Endpoint, HttpProvider]] = {}
        self._tasks: TaskGroup | None = None

    def open(self, tasks: TaskGroup) -> None:
        """Run fetches of the local model in this task group from now on."""
        self._tasks = tasks

    async def close(self) -> None:
        """Close the connections."""
        await self._clients.aclose()

    def choose(self, provider_id: str = "", model: str = "") -> ChosenModel:
        """The named one, or what the settings say. Raises ProviderError(NOT_CONFIGURED) with what to do."""
        settings = self._settings.load()
        chosen_id = provider_id or settings.active_provider
        own = settings.provider(chosen_id)
        if not own.enabled:
            raise _not_configured(
                f"{chosen_id} is switched off", "Switch it on in the settings, or choose another provider"
            )
        wanted = model or own.model
        if chosen_id == LOCAL_PROVIDER:
            model_id = wanted or self._local.status().model_id
            return ChosenModel(chosen_id, model_id, self._local_provider(settings), weak=True)
        entry = self._entry(chosen_id)
        wanted = wanted or (entry.models[0] if entry.models else "")
        if not wanted:
            raise _not_configured(
                f"No model is chosen for {entry.label}", f"Run `skales config provider {chosen_id} --model NAME`"
            )
        return ChosenModel(chosen_id, wanted, self._provider(chosen_id, entry, own, settings))

    def describe_active(self) -> ActiveModel:
        """What the settings say, without asking anybody."""
        settings = self._settings.load()
        own = settings.provider(settings.active_provider)
        model = own.model
        if not model and settings.active_provider == LOCAL_PROVIDER:
            model = self._local.status().model_id
        return ActiveModel(settings.active_provider, model, own.base_url, own.enabled)

    def switch(self, provider_id: str, model: str) -> bool:
        """Make a configured provider the active one; False when the settings do not name it. Spec: http-api.md 3."""
        if provider_id not in self._settings.load().providers and provider_id != LOCAL_PROVIDER:
            return False
        self._settings.set_provider(provider_id, model=model, activate=True)
        return True

    async def test(self, provider_id: str) -> list[str]:
        """Ask the endpoint for its models. Raises ProviderError that says what is wrong."""
        settings = self._settings.load()
        if provider_id == LOCAL_PROVIDER:
            return [model.id for model in self._local.installed_models()]
        entry = self._entry(provider_id)
        return await self._provider(provider_id, entry, settings.provider(provider_id), settings).list_models()

    def _local_provider(self, settings: Settings) -> LocalProvider:
        assert self._tasks is not None, "open() comes first"
        return LocalProvider(self._local, self._clients, self._tasks, settings.local_inactivity_timeout_s)

    def _entry(self, provider_id: str) -> ProviderEntry:
        try:
            return find_entry(provider_id)
        except NotFoundError as error:
            raise _not_configured(error.message, error.hint) from error

    def _provider(
        self, provider_id: str, entry: ProviderEntry, own: ProviderSettings, settings: Settings
    ) -> HttpProvider:
        """The provider of these settings; the same one as before while they stay the same."""
        base_url = own.base_url or entry.base_url
        if not base_url:
            hint = f"Run `skales config provider {provider_id} --base-url URL`, or enter one in the settings"
            raise _not_configured(f"{entry.label} has no address", hint)
        local = is_local_host(urlsplit(base_url).hostname or "")
        endpoint = Endpoint(
            entry=entry,
            provider_id=provider_id,
            base_url=base_url,
            api_key=own.api_key,
            inactivity_timeout_s=settings.local_inactivity_timeout_s if local else settings.inactivity_timeout_s,
            context_tokens={"*": own.context_tokens} if own.context_tokens else {},
        )
        known = self._built.get(provider_id)
        if known is None or known[0] != endpoint:
            known = self._built[provider_id] = (endpoint, build_provider(endpoint, self._clients))
        return known[1]


def _not_configured(message: str, hint: str) -> ProviderError:
    return ProviderError(message, fault=ProviderFault.NOT_CONFIGURED, hint=hint)
