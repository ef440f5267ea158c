"""A lasting key that is exchanged for a short-lived token, which stays in memory. Spec: providers.md, "Quirks".

The key goes to the exchange only, the token to the model endpoint only.
"""

import uuid
from dataclasses import dataclass, field

import anyio

from skales.core.clock import Clock
from skales.core.errors import ProviderError, ProviderFault
from skales.core.ids import IdSource
from skales.providers.clients import ClientSource
from skales.providers.faults import SETTINGS, unconfigured
from skales.providers.token_requests import Token, TokenCall, fetch_token


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeOrder:
    """What is exchanged, where, and for which kind of account."""

    label: str
    url: str
    scope: str
    key: str = field(repr=False)
    key_hint: str = ""
    trust_hint: str = ""


class ExchangedTokens:
    """The token of one key, fetched when first needed and a minute before it ends. Safe in several tasks at once."""

    def __init__(self, order: ExchangeOrder, clients: ClientSource, clock: Clock, ids: IdSource) -> None:
        self._order = order
        self._clients = clients
        self._clock = clock
        self._ids = ids
        self._token: Token | None = None
        self._lock = anyio.Lock()

    async def token(self) -> str:
        """A token that is still good. Raises ProviderError."""
        async with self._lock:
            if self._token is None or not self._token.is_good(self._clock.now_ms()):
                self._token = await self._exchange()
            return self._token.text

    def forget(self) -> None:
        """Fetch a new one next time."""
        self._token = None

    async def _exchange(self) -> Token:
        order = self._order
        key = order.key.strip()
        if not key:
            raise unconfigured(f"{order.label} needs a key", order.key_hint or f"Enter one in {SETTINGS}")
        if not key.isascii() or not key.isprintable() or " " in key:
            raise unconfigured(
                f"The key of {order.label} holds a character that cannot be sent", f"Copy it anew into {SETTINGS}"
            )
        call = TokenCall(
            label=order.label,
            url=order.url,
            form={"scope": order.scope},
            headers={"Authorization": f"Basic {key}", "RqUID": str(uuid.UUID(hex=self._ids.token(32), version=4))},
            secret=key,
            key_hint=order.key_hint,
            trust_hint=order.trust_hint,
        )
        token = await fetch_token(call, self._clients, self._clock)
        if not token.is_good(self._clock.now_ms()):
            raise ProviderError(
                f"{order.label} gave a token that has already run out",
                fault=ProviderFault.BAD_ANSWER,
                hint="Check the clock of this computer",
            )
        return token
