"""One provider as a user set it up, and whether it can be asked that way. Makes no request.

Spec: providers.md, "Quirks" (keyless) and "Rules".
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from skales.providers.address import BaseUrl, parse_base_url
from skales.providers.catalog import CLOUD_INACTIVITY_TIMEOUT_S, LOCAL_INACTIVITY_TIMEOUT_S, KeyNeed, ProviderEntry
from skales.providers.faults import SETTINGS, Peer, unconfigured


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One provider as a user set it up.

    An empty `base_url` means the entry's, `inactivity_timeout_s` 0 the default of the entry or of where it runs.
    `context_tokens` overrides windows by model id; `*` stands for every model.
    """

    entry: ProviderEntry
    provider_id: str
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    inactivity_timeout_s: float = 0
    context_tokens: Mapping[str, int] = field(default_factory=dict)

    def address(self) -> BaseUrl:
        """Where requests go. Raises ProviderError(NOT_CONFIGURED)."""
        return parse_base_url(self.base_url or self.entry.base_url, self.entry.label)

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

    def peer(self, address: BaseUrl, model: str = "") -> Peer:
        """How error messages name it."""
        return Peer(
            label=self.entry.label,
            address=address.shown,
            model=model,
            secret=self.api_key.strip(),
            is_local=address.is_local,
            key_hint=self.entry.key_hint,
            model_hint=self.entry.model_hint,
            start_hint=self.entry.start_hint,
        )
