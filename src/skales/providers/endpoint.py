"""One provider as a user set it up, and whether it can be asked that way. Makes no request.

Spec: providers.md, "Quirks" (keyless) and "Rules".
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from skales.providers.address import BaseUrl, parse_base_url
from skales.providers.catalog import CLOUD_INACTIVITY_TIMEOUT_S, LOCAL_INACTIVITY_TIMEOUT_S, KeyNeed, ProviderEntry
from skales.providers.faults import SETTINGS, Peer, unconfigured


class TokenSource(Protocol):
    """Where a short-lived token comes from that is sent in place of a key."""

    async def token(self) -> str:
        """A token that is still good. Raises ProviderError that says why there is none."""
        ...

    def forget(self) -> None:
        """The endpoint refused the token; the next one is fetched anew."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One provider as a user set it up.

    An empty `base_url` means the entry's, `inactivity_timeout_s` 0 the default of the entry or of where it runs.
    `context_tokens` overrides windows by model id; `*` stands for every model. With `tokens` the key stays at home.
    """

    entry: ProviderEntry
    provider_id: str
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    inactivity_timeout_s: float = 0
    context_tokens: Mapping[str, int] = field(default_factory=dict)
    tokens: TokenSource | None = field(default=None, repr=False)

    def address(self) -> BaseUrl:
        """Where requests go. Raises ProviderError(NOT_CONFIGURED), also for plain http to the internet."""
        address = parse_base_url(self.base_url or self.entry.base_url, self.entry.label)
        if address.root.startswith("http:") and not address.is_local:
            raise unconfigured(
                f"The address of {self.entry.label} must start with https://",
                "Plain http is for this computer and the local network; keys and messages would travel readable",
            )
        return address

    def key(self) -> str:
        """The key as it is sent, empty for none. Raises ProviderError(NOT_CONFIGURED)."""
        key = self.api_key.strip()
        is_default = self.base_url.strip().rstrip("/") in ("", self.entry.base_url)
        if not key and self.entry.key is KeyNeed.REQUIRED and is_default:
            hint = self.entry.key_hint or f"Enter one in {SETTINGS}, or choose another provider"
            raise unconfigured(f"{self.entry.label} needs a key", hint)
        if not key.isascii() or not key.isprintable() or " " in key:
            raise unconfigured(
                f"The key of {self.entry.label} holds a character that cannot be sent", f"Copy it anew into {SETTINGS}"
            )
        return key

    def timeout_s(self, address: BaseUrl) -> float:
        """How long the endpoint may be silent."""
        default_s = LOCAL_INACTIVITY_TIMEOUT_S if address.is_local else CLOUD_INACTIVITY_TIMEOUT_S
        return self.inactivity_timeout_s or self.entry.inactivity_timeout_s or default_s

    def peer(self, address: BaseUrl, model: str = "", sent_key: str = "") -> Peer:
        """How error messages name it; they never show the key that was sent."""
        return Peer(
            label=self.entry.label,
            address=address.shown,
            model=model,
            secret=sent_key or self.api_key.strip(),
            is_local=address.is_local,
            key_hint=self.entry.key_hint,
            model_hint=self.entry.model_hint,
            start_hint=self.entry.start_hint,
            trust_hint=self.entry.trust_hint,
        )
