"""What `skales models probe` found out about models by trying them. Measured at a price, so it is no cache.

Spec: providers.md; issue "All 26 providers", "Measured model contract".
"""

from msgspec import Struct

from skales.core.clock import Clock
from skales.core.json import JsonObject, JsonValue, as_int, as_object, as_text
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.records import KeptObject, moment_ms, update_or_start_over
from skales.data.setting_names import open_object

_ABILITIES = ("tools", "parallel_calls", "json", "vision")


class ProbeResult(Struct, frozen=True, kw_only=True):
    """What one model was seen to do; None where trying did not tell, 0 for a window that was not measured.

    `address` is where it ran: the same name at another address may be another model.
    """

    address: str
    probed_ms: int = 0
    tools: bool | None = None
    parallel_calls: bool | None = None
    json: bool | None = None
    vision: bool | None = None
    context_tokens: int = 0


class ModelProbes:
    """The results of one data directory, by provider and model. Thread-safe."""

    def __init__(self, directory: DataDirectory, quarantine: Quarantine, clock: Clock) -> None:
        self._path = directory.model_probes
        self._quarantine = quarantine
        self._clock = clock
        self._kept = KeptObject(self._path, quarantine)

    def load(self, provider_id: str, model: str, address: str) -> ProbeResult | None:
        """The last result for this model at this address. Raises StorageError when the file cannot be read."""
        row = as_object(as_object(self._kept.read().get(provider_id)).get(model))
        return _parse(row) if row and as_text(row.get("address")) == address else None

    def save(self, provider_id: str, model: str, result: ProbeResult) -> None:
        """Keep a result in place of an earlier one. Raises StorageError."""
        row = _dump(result, self._clock.now_ms())

        def change(raw: dict[str, JsonValue]) -> None:
            open_object(raw, provider_id)[model] = row

        update_or_start_over(self._path, self._quarantine, change, missing={})
        self._kept.forget()


def _parse(row: JsonObject) -> ProbeResult:
    seen = {name: value for name in _ABILITIES if isinstance(value := row.get(name), bool)}
    return ProbeResult(
        address=as_text(row.get("address")),
        probed_ms=moment_ms(row.get("probedMs")),
        context_tokens=max(as_int(row.get("contextTokens")), 0),
        tools=seen.get("tools"),
        parallel_calls=seen.get("parallel_calls"),
        json=seen.get("json"),
        vision=seen.get("vision"),
    )


def _dump(result: ProbeResult, now_ms: int) -> JsonObject:
    return {
        "address": result.address,
        "probedMs": now_ms,
        "contextTokens": result.context_tokens,
        **{name: getattr(result, name) for name in _ABILITIES},
    }
