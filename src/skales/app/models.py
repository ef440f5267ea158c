"""Which provider and model answers, what is known of it, and who stands by when it fails.

How settings become requests is in `model_endpoints`. Spec: providers.md, "Rules"; orchestrator.md (fallbacks).
"""

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING

import anyio.to_thread
from anyio.abc import TaskGroup
from msgspec import Struct, structs

from skales.app.costs import metered
from skales.app.local_provider import LOCAL_PROVIDER, LocalProvider
from skales.app.model_endpoints import Asked, Endpoints, ModelStores, not_configured
from skales.app.model_fit import fit_to_measure
from skales.app.model_offers import ProviderOffer, build_offer
from skales.app.model_places import search_places
from skales.app.model_rest import RestingProviders
from skales.app.model_signin import SignInDesk
from skales.app.model_traits import Evidence, describe_model, own_word, price_nearby
from skales.core.errors import InputError, NotFoundError, ProviderError, SkalesError
from skales.core.ids import SessionId
from skales.core.ports import Accounts, ChosenModel, ModelTraits, Purpose
from skales.data.model_lists import KnownModel, ModelList
from skales.data.model_probes import ProbeResult
from skales.data.setting_shapes import Settings
from skales.data.settings import SettingsStore
from skales.localmodels.local_models import CONTEXT_TOKENS, LocalModels
from skales.providers.catalog import KeyNeed, ProviderEntry, find_entry, load_catalog
from skales.providers.local_servers import (
    DETECT_TIMEOUT_S,
    PING_TIMEOUT_S,
    FoundServer,
    Place,
    describe_models,
    find_servers,
)

if TYPE_CHECKING:
    from skales.providers.probe import ProbeEvent

# How far a window is tried where that costs only time.
LOCAL_CEILING_TOKENS = 32_768
_LOOK_EVERY_S = 60.0


class ActiveModel(Struct, frozen=True):
    """What new conversations use, for showing."""

    provider_id: str
    model: str
    base_url: str
    enabled: bool


class RefreshedModels(Struct, frozen=True, kw_only=True):
    """A provider's models after asking for them. `error` says why they are an older list or the catalogue's."""

    models: tuple[str, ...]
    fetched_ms: int = 0
    error: ProviderError | None = None


# What the endpoint listed, and what trying the model showed.
_Seen = tuple[ModelList | None, ProbeResult | None]


class _Described(Struct, frozen=True):
    """What is known of a model, and what it was put together from; each turn asks several times."""

    settings: Settings
    address: str
    seen: _Seen
    traits: ModelTraits


# More than anybody's pages show.
_MOST_DESCRIBED = 1_000


class Models:
    """Builds providers from the settings and keeps them while their settings stay the same.

    `sign_in` is for providers that want a sign-in instead of a key, `accounts` is told what probes cost.
    """

    def __init__(self, settings: SettingsStore, local: LocalModels, stores: ModelStores) -> None:
        self._settings = settings
        self._local = local
        self._stores = stores
        self._endpoints = Endpoints(stores)
        self._resting = RestingProviders(stores.clock)
        self._looked_s: dict[str, float] = {}
        self._described: dict[tuple[str, str], _Described] = {}
        self._tasks: TaskGroup | None = None
        self.sign_in = SignInDesk(settings, stores, self._endpoints)
        self.accounts: Accounts | None = None

    def open(self, tasks: TaskGroup) -> None:
        """Run fetches of the local model in this task group from now on, and look at the server in use."""
        self._tasks = tasks
        self.sign_in.open(tasks)
        self._look_again(self._settings.load().active_provider)

    async def close(self) -> None:
        """Close the connections."""
        await self._endpoints.aclose()

    # --- choosing ---

    def choose(self, provider_id: str = "", model: str = "") -> ChosenModel:
        """The named one, or what the settings say, asked in the way that a probe found it to understand.

        Raises ProviderError(NOT_CONFIGURED) with what to do.
        """
        chosen = self._choose(provider_id, model)
        return fit_to_measure(chosen, self.facts(chosen.provider_id, chosen.model))

    def _choose(self, provider_id: str, model: str) -> ChosenModel:
        settings = self._settings.load()
        asked = self._ask(settings, provider_id or settings.active_provider)
        asked.require_on()
        wanted = model or asked.own.model
        if asked.provider_id == LOCAL_PROVIDER:
            model_id = wanted or self._local.status().model_id
            return ChosenModel(LOCAL_PROVIDER, model_id, self._local_provider(settings), weak=True)
        wanted = wanted or self._usual_model(asked)
        if not wanted:
            raise not_configured(
                f"No model is chosen for {asked.entry.label}",
                f"Run `skales config provider {asked.provider_id} --model NAME`",
            )
        return ChosenModel(asked.provider_id, wanted, self._endpoints.provider(asked, settings, self._window_of))

    def facts(self, provider_id: str, model: str) -> ModelTraits:
        """What is known of a model; makes no request. An unknown provider's model is judged by its name."""
        if provider_id == LOCAL_PROVIDER:
            return ModelTraits(
                context_tokens=CONTEXT_TOKENS, json=True, input_usd_per_million=0, output_usd_per_million=0
            )
        settings, known = self._settings.load(), self._described.get((provider_id, model))
        if known and known.settings is settings and known.seen == self._see(provider_id, model, known.address):
            return known.traits
        try:
            asked = self._ask(settings, provider_id)
        except ProviderError:
            asked = self._ask(settings, "custom")
        address = asked.shown_address()
        listed, probe = self._see(provider_id, model, address)
        own = own_word(asked.own, model)
        evidence = Evidence(listed=listed.find(model) if listed else None, probe=probe, own=own)
        traits = price_nearby(describe_model(asked.entry, model, evidence), asked.entry, address, model)
        if len(self._described) >= _MOST_DESCRIBED:
            self._described.clear()
        self._described[provider_id, model] = _Described(settings, address, (listed, probe), traits)
        return traits

    def _see(self, provider_id: str, model: str, address: str) -> _Seen:
        if not address:
            return None, None
        return self._stores.lists.load(provider_id, address), self._stores.probes.load(provider_id, model, address)

    def fallbacks(
        self, provider_id: str, model: str, *, needs_vision: bool = False, needs_tools: bool = False
    ) -> Sequence[ChosenModel]:
        """Who else may answer, as the settings name them: those that can do what is needed first.

        Left out are the failed model itself, those that failed less than a minute ago, and what cannot be asked.
        """

        def lacks(chosen: ChosenModel) -> int:
            traits = self.facts(chosen.provider_id, chosen.model)
            return (needs_vision and not traits.vision) + (needs_tools and not traits.tools)

        return sorted(self._standing_by(provider_id, model), key=lacks)

    def is_resting(self, provider_id: str) -> bool:
        """Whether it failed less than a minute ago."""
        return self._resting.is_resting(provider_id)

    def report_failure(self, provider_id: str) -> None:
        """It did not answer; it rests for a minute."""
        self._resting.report_failure(provider_id)

    def report_success(self, provider_id: str) -> None:
        """It answered; it rests no longer. Call it on the event loop.

        A server nearby has loaded the model by now, so that it can tell the window it really runs with.
        """
        self._resting.report_success(provider_id)
        self._look_again(provider_id)

    # --- showing and switching ---

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

    def available(self) -> Sequence[ProviderOffer]:
        """The providers that can answer as they are set up, the active one first; makes no request."""
        settings = self._settings.load()
        slots = [name for name in settings.providers if name.startswith("custom_")]
        names = dict.fromkeys([settings.active_provider, LOCAL_PROVIDER, *load_catalog(), *slots])
        return list(filter(None, (self._offer(settings, name) for name in names)))

    # --- asking ---

    async def test(self, provider_id: str) -> list[str]:
        """Ask the endpoint for its models and keep the list. Raises ProviderError that says what is wrong."""
        if provider_id == LOCAL_PROVIDER:
            return [model.id for model in self._local.installed_models()]
        settings = self._settings.load()
        asked = self._ask(settings, provider_id)
        if asked.entry.starts_off:
            asked.require_on()
        models = await self._fetch_models(asked, settings)
        address = asked.address().shown
        listed = await anyio.to_thread.run_sync(self._stores.lists.save, provider_id, address, models)
        return [model.id for model in listed.models]

    async def refresh(self, provider_id: str) -> RefreshedModels:
        """Like `test`, and when it fails the last list or the catalogue's, with the reason.

        Raises ProviderError(NOT_CONFIGURED) for a provider that does not exist.
        """
        asked = self._ask(self._settings.load(), provider_id)
        error: ProviderError | None = None
        try:
            await self.test(provider_id)
        except ProviderError as failure:
            error = failure
        if provider_id == LOCAL_PROVIDER:
            return RefreshedModels(models=tuple(model.id for model in self._local.installed_models()))
        listed = self._stores.lists.load(provider_id, asked.shown_address())
        if listed is None:
            return RefreshedModels(models=asked.entry.models, error=error)
        return RefreshedModels(
            models=tuple(model.id for model in listed.models), fetched_ms=listed.fetched_ms, error=error
        )

    async def detect_local(self, timeout_s: float = DETECT_TIMEOUT_S) -> Sequence[FoundServer]:
        """Model servers on this computer, and those on the local network that the settings name; lists are kept.

        All are asked at once, so that it takes no longer than `timeout_s`.
        """
        settings = self._settings.load()
        places = list(search_places(settings, but=LOCAL_PROVIDER))
        found = await find_servers(self._endpoints.clients, places, timeout_s)
        for server in found:
            in_use = self._ask(settings, server.provider_id).shown_address()
            if server.models and server.base_url == in_use:
                await anyio.to_thread.run_sync(
                    self._stores.lists.save, server.provider_id, server.base_url, server.models
                )
        return found

    def measured(self, provider_id: str, model: str) -> ProbeResult | None:
        """What the last probe of a model found where it runs now; None when it was never probed there."""
        try:
            address = self._ask(self._settings.load(), provider_id).shown_address()
        except ProviderError:
            return None
        return self._stores.probes.load(provider_id, model, address) if address else None

    async def probe(
        self, provider_id: str = "", model: str = "", *, context_ceiling_tokens: int | None = None
    ) -> AsyncGenerator["ProbeEvent", None]:
        """Find out by trying what a model can; the result at the end is kept, and `facts` follows it from then on.

        The window is tried up to the ceiling; without one, only on this computer and the local network, where trying
        costs nothing. Raises ProviderError when the endpoint cannot be asked, InputError for the embedded model.
        """
        from skales.providers.probe import probe_model  # loaded with the first probe

        chosen = self._choose(provider_id, model)
        if chosen.provider_id == LOCAL_PROVIDER:
            raise InputError(
                "The embedded model is known already", hint="Name another provider: skales models probe ollama"
            )
        address = self._ask(self._settings.load(), chosen.provider_id).address()
        if context_ceiling_tokens is None:
            context_ceiling_tokens = LOCAL_CEILING_TOKENS if address.is_local else 0
        provider = metered(chosen, self.accounts, Purpose.PROBE, SessionId("")) if self.accounts else chosen.provider
        steps = probe_model(provider, chosen.model, context_ceiling_tokens=context_ceiling_tokens)
        async with aclosing(steps):
            async for step in steps:
                if isinstance(step, ProbeResult):
                    step = structs.replace(step, address=address.shown, probed_ms=self._stores.clock.now_ms())
                    await anyio.to_thread.run_sync(self._stores.probes.save, chosen.provider_id, chosen.model, step)
                yield step

    # --- inside ---

    def _local_provider(self, settings: Settings) -> LocalProvider:
        assert self._tasks is not None, "open() comes first"
        return LocalProvider(self._local, self._endpoints.clients, self._tasks, settings.local_inactivity_timeout_s)

    def _ask(self, settings: Settings, provider_id: str) -> Asked:
        return Asked(provider_id, _find_entry(provider_id), settings.provider(provider_id))

    def _usual_model(self, asked: Asked) -> str:
        """The first model to ask for when none is chosen; on this computer one that is there."""
        listed = self._stores.lists.load(asked.provider_id, asked.shown_address())
        is_here = bool(asked.entry.local_api and listed)
        models = [model.id for model in listed.models] if listed and is_here else asked.entry.models
        return models[0] if models else ""

    def _window_of(self, provider_id: str, model: str) -> int:
        return self.facts(provider_id, model).context_tokens

    def _standing_by(self, provider_id: str, model: str) -> Iterator[ChosenModel]:
        settings = self._settings.load()
        seen = {(provider_id, model)}
        for wanted in settings.fallback_providers:
            if self.is_resting(wanted.provider) or not self._may_stand_by(settings, wanted.provider):
                continue
            try:
                chosen = self.choose(wanted.provider, wanted.model)
            except ProviderError:
                continue
            if (chosen.provider_id, chosen.model) not in seen:
                seen.add((chosen.provider_id, chosen.model))
                yield chosen

    def _look_again(self, provider_id: str) -> None:
        """Ask a server that cuts prompts silently for its windows, in the background and at most once a minute."""
        if self._tasks is None or not self._tells_windows(provider_id):
            return
        now_s = self._stores.clock.monotonic_s()
        if now_s - self._looked_s.get(provider_id, -_LOOK_EVERY_S) >= _LOOK_EVERY_S:
            self._looked_s[provider_id] = now_s
            self._tasks.start_soon(self._look, provider_id)

    def _tells_windows(self, provider_id: str) -> bool:
        settings = self._settings.load()
        try:
            asked = self._ask(settings, provider_id)
            return (
                asked.entry.usual_context_tokens > 0 and provider_id in settings.providers and asked.address().is_local
            )
        except ProviderError:
            return False

    async def _look(self, provider_id: str) -> None:
        """A failure tells nothing here; whoever asks the server next is told it."""
        with suppress(SkalesError):
            await self.test(provider_id)

    def _may_stand_by(self, settings: Settings, provider_id: str) -> bool:
        """Whether it has what it needs; being named is enough for one that needs no key."""
        try:
            needs_nothing = _find_entry(provider_id).key is not KeyNeed.REQUIRED
        except ProviderError:
            return False
        return needs_nothing or self._offer(settings, provider_id) is not None

    def _offer(self, settings: Settings, provider_id: str) -> ProviderOffer | None:
        try:
            asked = self._ask(settings, provider_id)
        except ProviderError:
            return None
        is_active = provider_id == settings.active_provider
        if provider_id != LOCAL_PROVIDER:
            return build_offer(asked, self._stores, is_active=is_active)
        if not asked.own.enabled:
            return None
        ids = dict.fromkeys([self._local.status().model_id, *(model.id for model in self._local.installed_models())])
        return ProviderOffer(
            provider_id=provider_id, label=asked.entry.label, models=tuple(ids), is_active=is_active, is_local=True
        )

    async def _fetch_models(self, asked: Asked, settings: Settings) -> Sequence[KnownModel]:
        """What the endpoint says of its models; a server nearby is asked in its own words first."""
        address = asked.address()
        provider = self._endpoints.provider(asked, settings, self._window_of)
        if asked.entry.local_api and address.is_local:
            place = Place(
                provider_id=asked.provider_id, api=asked.entry.local_api, address=address, key=asked.own.api_key
            )
            if models := await describe_models(self._endpoints.clients, place, PING_TIMEOUT_S):
                return models
        listed = await provider.describe_models()
        return [KnownModel(id=model.id, context_tokens=model.context_tokens) for model in listed]


def _find_entry(provider_id: str) -> ProviderEntry:
    try:
        return find_entry(provider_id)
    except NotFoundError as error:
        raise not_configured(error.message, error.hint) from error
