"""Settings and catalogue turned into something that can be asked: address, key or token, certificates.

Keys leave the settings here and go nowhere but into their own provider's requests. Spec: providers.md, "Rules".
"""

import re
from collections.abc import Callable
from functools import partial

from msgspec import Struct

from skales.core.clock import Clock
from skales.core.errors import ProviderError, ProviderFault
from skales.core.ids import IdSource
from skales.data.model_lists import ModelLists
from skales.data.model_probes import ModelProbes
from skales.data.setting_shapes import ProviderSettings, Settings
from skales.data.sign_ins import SignIns
from skales.providers.address import BaseUrl
from skales.providers.catalog import ProviderEntry, SignIn, TokenExchange
from skales.providers.clients import SharedClients
from skales.providers.endpoint import Endpoint, TokenSource
from skales.providers.provider import HttpProvider, Surroundings, build_provider
from skales.providers.signin import SignedInTokens, SignInOrder
from skales.providers.token_exchange import ExchangedTokens, ExchangeOrder

# As a certificate file: none but the usual ones.
_USUAL_AUTHORITIES = "system"

# A provider's id and a model to the model's context window.
WindowOf = Callable[[str, str], int]


class ModelStores(Struct, frozen=True, kw_only=True):
    """What of models is kept on disk, and what goes with time and ids."""

    lists: ModelLists
    probes: ModelProbes
    sign_ins: SignIns
    clock: Clock
    ids: IdSource


class Asked(Struct, frozen=True):
    """A provider as it is set up: the entry and what the person says of it."""

    provider_id: str
    entry: ProviderEntry
    own: ProviderSettings

    def require_on(self) -> None:
        """Raises ProviderError(NOT_CONFIGURED) for one that is switched off or was never turned on."""
        if self.entry.starts_off and not self.own.is_chosen():
            raise not_configured(f"{self.entry.label} is off until you turn it on", self.entry.explanation.strip())
        if not self.own.enabled:
            raise not_configured(
                f"{self.provider_id} is switched off", "Switch it on in the settings, or choose another provider"
            )

    def base_url(self) -> str:
        """The address in use, with the account filled in. Raises ProviderError(NOT_CONFIGURED)."""
        url = self.own.base_url or self._chosen_url() or self.entry.base_url
        if not url:
            hint = f"Run `skales config provider {self.provider_id} --base-url URL`, or enter one in the settings"
            raise not_configured(f"{self.entry.label} has no address", hint)
        if "{account_id}" in url and not self.own.account_id:
            hint = f"Run `skales config set providers.{self.provider_id}.accountId ID`, or enter it in the settings"
            raise not_configured(f"{self.entry.label} needs your account id", hint)
        return url.replace("{account_id}", self.own.account_id)

    def is_usual_url(self) -> bool:
        """Whether requests go to the vendor itself and not to a server of the person's own."""
        known = {self.entry.base_url, *self.entry.other_base_urls.values()}
        return self.own.base_url in ("", *known)

    def address(self) -> BaseUrl:
        """Where requests go. Raises ProviderError(NOT_CONFIGURED)."""
        return Endpoint(entry=self.entry, provider_id=self.provider_id, base_url=self.base_url()).address()

    def shown_address(self) -> str:
        """The address for people, and the one that lists and probes are kept under; empty when there is none."""
        try:
            return self.address().shown
        except ProviderError:
            return ""

    def _chosen_url(self) -> str:
        wanted = self.own.endpoint
        if not wanted:
            return ""
        places = {name.lower(): url for name, url in self.entry.other_base_urls.items()}
        if wanted.lower() not in places:
            known = ", ".join(self.entry.other_base_urls) or "none"
            raise not_configured(f"{self.entry.label} has no endpoint {wanted!r}", f"Known ones are: {known}")
        return places[wanted.lower()]


class _Built(Struct, frozen=True):
    """A provider, and what it was built from."""

    settings: Settings
    endpoint: Endpoint
    ca_file: str
    provider: HttpProvider


class Endpoints:
    """Builds providers and keeps them, with their connections and tokens, while their settings stay the same."""

    def __init__(self, stores: ModelStores) -> None:
        self.clients = SharedClients()
        self._stores = stores
        self._private_clients: dict[str, SharedClients] = {}
        self._exchanges: dict[tuple[ExchangeOrder, str], ExchangedTokens] = {}
        self._sign_ins: dict[SignInOrder, SignedInTokens] = {}
        self._built: dict[str, _Built] = {}

    async def aclose(self) -> None:
        """Close the connections."""
        for clients in (self.clients, *self._private_clients.values()):
            await clients.aclose()

    def provider(self, asked: Asked, settings: Settings, window_of: WindowOf) -> HttpProvider:
        """The provider of these settings; the same one as before while they stay the same.

        Raises ProviderError(NOT_CONFIGURED).
        """
        known = self._built.get(asked.provider_id)
        if known is not None and known.settings is settings:
            return known.provider
        base_url = asked.base_url()
        ca_file = authority_file(asked)
        endpoint = Endpoint(
            entry=asked.entry,
            provider_id=asked.provider_id,
            base_url=base_url,
            api_key=asked.own.api_key,
            inactivity_timeout_s=_timeout_s(settings, is_local=asked.address().is_local),
            tokens=self._tokens(asked, ca_file),
        )
        if known is not None and (known.endpoint, known.ca_file) == (endpoint, ca_file):
            provider = known.provider
        else:
            around = Surroundings(window_of=partial(window_of, asked.provider_id), clock=self._stores.clock)
            provider = build_provider(endpoint, self.clients_for(ca_file), around)
        self._built[asked.provider_id] = _Built(settings, endpoint, ca_file, provider)
        return provider

    def clients_for(self, ca_file: str) -> SharedClients:
        """Connections that trust a file's certificates too; the common ones without a file."""
        return self._private_clients.setdefault(ca_file, SharedClients(ca_file)) if ca_file else self.clients

    def _tokens(self, asked: Asked, ca_file: str) -> TokenSource | None:
        if asked.entry.sign_in:
            order = sign_in_order(asked)
            if order not in self._sign_ins:
                self._sign_ins[order] = SignedInTokens(order, self._stores.sign_ins, self.clients, self._stores.clock)
            return self._sign_ins[order]
        exchange = asked.entry.token_exchange
        if exchange is None or not (asked.is_usual_url() or asked.own.token_url):
            return None
        key = (_exchange_order(asked, exchange), ca_file)
        if key not in self._exchanges:
            self._exchanges[key] = ExchangedTokens(
                key[0], self.clients_for(ca_file), self._stores.clock, self._stores.ids
            )
        return self._exchanges[key]


def sign_in_order(asked: Asked) -> SignInOrder:
    """Where to sign in: the catalogue's words with the person's in place of them. Raises ProviderError."""
    sign_in, own = asked.entry.sign_in, asked.own.sign_in
    if sign_in is None:
        raise not_configured(f"{asked.entry.label} has no sign-in", "Enter a key instead")
    return _merge_sign_in(asked, sign_in, own.client_id or sign_in.client_id)


def not_configured(message: str, hint: str) -> ProviderError:
    """The error for a provider that cannot be asked as it is set up."""
    return ProviderError(message, fault=ProviderFault.NOT_CONFIGURED, hint=re.sub(r"\s+", " ", hint))


def authority_file(asked: Asked) -> str:
    """Certificates to trust besides the usual ones: the person's file, else the one this vendor is known to need.

    The bundled one is for the vendor's own addresses only; the word `system` means no certificate but the usual ones.
    """
    entry = asked.entry
    if not entry.authority or asked.own.ca_file == _USUAL_AUTHORITIES:
        return ""
    is_vendor = asked.is_usual_url() and not asked.own.token_url
    return asked.own.ca_file or (entry.authority_file if is_vendor else "")


def _timeout_s(settings: Settings, *, is_local: bool) -> float:
    """What the person set, 0 for nothing: some vendors need longer than is usual."""
    name = "local_inactivity_timeout_s" if is_local else "inactivity_timeout_s"
    return float(getattr(settings, name)) if name in settings.model_fields_set else 0.0


def _merge_sign_in(asked: Asked, sign_in: SignIn, client_id: str) -> SignInOrder:
    own = asked.own.sign_in
    return SignInOrder(
        provider_id=asked.provider_id,
        label=asked.entry.label,
        client_id=client_id,
        authorize_url=own.authorize_url or sign_in.authorize_url,
        token_url=own.token_url or sign_in.token_url,
        redirect_url=own.redirect_url or sign_in.redirect_url,
        scope=own.scope or sign_in.scope,
    )


def _exchange_order(asked: Asked, exchange: TokenExchange) -> ExchangeOrder:
    wanted = asked.own.account_type.lower()
    if wanted and wanted not in exchange.scopes:
        raise not_configured(
            f"{asked.entry.label} has no account type {asked.own.account_type!r}",
            f"Known ones are: {', '.join(exchange.scopes)}",
        )
    return ExchangeOrder(
        label=asked.entry.label,
        url=asked.own.token_url or exchange.url,
        scope=exchange.scopes[wanted] if wanted else next(iter(exchange.scopes.values())),
        key=asked.own.api_key,
        key_hint=asked.entry.key_hint,
        trust_hint=asked.entry.trust_hint,
    )
