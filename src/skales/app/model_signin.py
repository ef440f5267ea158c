"""Sign-ins that were begun and not finished, and those that hold. For a page, a command, or whatever asks the person.

Spec: providers.md, "Quirks" (openai_oauth).
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup
from msgspec import Struct, field

from skales.app.model_endpoints import Asked, Endpoints, ModelStores, not_configured, sign_in_order
from skales.core.errors import InputError, NotFoundError, SkalesError
from skales.data.settings import SettingsStore
from skales.providers.catalog import find_entry
from skales.providers.signin import Landing, SignInAttempt, begin_sign_in, catch_landing, finish_sign_in


class _Watch(Struct):
    """Waits for a browser to come back; `error` says why it will not be heard."""

    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    error: SkalesError | None = None


class SignInDesk:
    """One sign-in per provider may be under way; beginning another forgets it."""

    def __init__(self, settings: SettingsStore, stores: ModelStores, endpoints: Endpoints) -> None:
        self._settings = settings
        self._stores = stores
        self._endpoints = endpoints
        self._begun: dict[str, SignInAttempt] = {}
        self._tasks: TaskGroup | None = None
        self._watches: dict[str, _Watch] = {}

    def open(self, tasks: TaskGroup) -> None:
        """Listen for browsers in this task group from now on."""
        self._tasks = tasks

    def begin(self, provider_id: str) -> str:
        """The link for the person to open. Raises ProviderError(NOT_CONFIGURED) that says what is missing."""
        asked = self._ask(provider_id)
        asked.require_on()
        attempt = begin_sign_in(sign_in_order(asked), self._stores.clock, self._stores.ids)
        self._begun[provider_id] = attempt
        return attempt.url

    @asynccontextmanager
    async def catch(self, provider_id: str) -> AsyncGenerator[Landing, None]:
        """Listen for the browser of this computer; see `catch_landing`. Raises ConfigurationError, InputError."""
        async with catch_landing(self._attempt(provider_id)) as landing:
            yield landing

    def watch(self, provider_id: str) -> None:
        """Finish the sign-in in the background when the browser of this computer comes back; see `trouble`."""
        self.stop_watching(provider_id)
        if self._tasks is not None:
            watch = self._watches[provider_id] = _Watch()
            self._tasks.start_soon(self._watch, provider_id, watch)

    def stop_watching(self, provider_id: str) -> None:
        """Listen no longer."""
        watch = self._watches.pop(provider_id, None)
        if watch is not None:
            watch.scope.cancel()

    def is_begun(self, provider_id: str) -> bool:
        """Whether a sign-in is under way."""
        return provider_id in self._begun

    def link(self, provider_id: str) -> str:
        """The link of the sign-in that is under way; empty without one."""
        attempt = self._begun.get(provider_id)
        return attempt.url if attempt else ""

    def trouble(self, provider_id: str) -> SkalesError | None:
        """Why the browser that is watched for did not bring the sign-in; None while nothing went wrong."""
        watch = self._watches.get(provider_id)
        return watch.error if watch else None

    async def _watch(self, provider_id: str, watch: "_Watch") -> None:
        try:
            with watch.scope:
                async with self.catch(provider_id) as landing:
                    target = await landing.wait()
                await self.finish(provider_id, target)
        # What waits for the browser is a task group, which wraps what is raised inside it.
        except* SkalesError as group:
            watch.error = next(error for error in group.exceptions if isinstance(error, SkalesError))

    async def finish(self, provider_id: str, landing: str) -> None:
        """Take the address that the browser landed at. Raises InputError or ProviderError; pasting again may help."""
        signed_in = await finish_sign_in(
            self._attempt(provider_id), landing, self._endpoints.clients, self._stores.clock
        )
        await anyio.to_thread.run_sync(self._stores.sign_ins.save, provider_id, signed_in)
        self._begun.pop(provider_id, None)
        self.stop_watching(provider_id)

    def is_signed_in(self, provider_id: str) -> bool:
        """Whether a sign-in is kept; whether it still counts is known when it is used."""
        return self._stores.sign_ins.load(provider_id) is not None

    def sign_out(self, provider_id: str) -> None:
        """Forget the tokens here; the provider's own page ends them everywhere."""
        self._stores.sign_ins.save(provider_id, None)
        self.cancel(provider_id)

    def cancel(self, provider_id: str) -> None:
        """Forget a sign-in that was begun."""
        self._begun.pop(provider_id, None)
        self.stop_watching(provider_id)

    def _attempt(self, provider_id: str) -> SignInAttempt:
        if provider_id not in self._begun:
            raise InputError("No sign-in was begun", hint="Begin it, then open the link", code="no_sign_in")
        return self._begun[provider_id]

    def _ask(self, provider_id: str) -> Asked:
        try:
            return Asked(provider_id, find_entry(provider_id), self._settings.load().provider(provider_id))
        except NotFoundError as error:
            raise not_configured(error.message, error.hint) from error
