"""What endpoints last said of their models, one file per provider: shown while they are not asked or do not answer.

Derived: a broken or missing file counts as "never asked", and any may be deleted at any time. Spec: providers.md.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import Struct

from skales.core.clock import Clock
from skales.core.errors import InputError
from skales.core.ids import is_safe_id
from skales.core.json import JsonObject, JsonValue, as_int, as_list, as_object, as_text, parse_json
from skales.data.document import ABSENT, Stamp, stamp_of, write_object
from skales.data.paths import DataDirectory
from skales.data.records import moment_ms

# The longest list of a router today has some thousand entries.
_MOST_MODELS = 5_000
_LONGEST_ID = 256
_MAX_FILE_BYTES = 4_000_000


class KnownModel(Struct, frozen=True, kw_only=True):
    """One model as its endpoint describes it. Zero and None mean that it does not say.

    `context_tokens` is what the model has, `loaded_tokens` the window it runs with now.
    """

    id: str
    context_tokens: int = 0
    loaded_tokens: int = 0
    tools: bool | None = None
    vision: bool | None = None
    reasoning: bool | None = None


class ModelList(Struct, frozen=True):
    """A list, the address it came from without credentials, and when."""

    models: tuple[KnownModel, ...]
    address: str
    fetched_ms: int

    def find(self, model_id: str) -> KnownModel | None:
        """The model of this id; servers that add `:latest` themselves list it under that name."""
        names = (model_id, f"{model_id}:latest")
        return next((model for model in self.models if model.id in names), None)


class ModelLists:
    """The lists of one data directory, read again when a file changed. Thread-safe, since files are replaced whole."""

    def __init__(self, directory: DataDirectory, clock: Clock) -> None:
        self._folder = directory.model_lists
        self._clock = clock
        self._known: dict[str, tuple[Stamp, ModelList]] = {}

    def load(self, provider_id: str, address: str) -> ModelList | None:
        """The last list of this provider at this address; None when there is none, or one of another address."""
        path = self._path(provider_id)
        stamp = _stamp(path)
        known = self._known.get(provider_id)
        if known is None or known[0] != stamp:
            raw = _read(path)
            models = tuple(_parse(as_list(raw.get("models"))))
            known = stamp, ModelList(models, as_text(raw.get("address")), moment_ms(raw.get("fetchedMs")))
            self._known[provider_id] = known
        return known[1] if known[1].address == address and known[1].models else None

    def save(self, provider_id: str, address: str, models: Sequence[KnownModel]) -> ModelList:
        """Keep a list; entries beyond the five thousandth and monstrous ids are left out. Raises StorageError."""
        kept = tuple(model for model in models if 0 < len(model.id) <= _LONGEST_ID)[:_MOST_MODELS]
        now_ms = self._clock.now_ms()
        rows: list[JsonValue] = [_dump(model) for model in kept]
        write_object(self._path(provider_id), {"address": address, "fetchedMs": now_ms, "models": rows})
        return ModelList(kept, address, now_ms)

    def _path(self, provider_id: str) -> Path:
        if not is_safe_id(provider_id):
            raise InputError(f"{provider_id!r} cannot name a provider", hint="Use letters, digits, _ and -")
        return self._folder / f"{provider_id}.json"


def _stamp(path: Path) -> Stamp:
    try:
        return stamp_of(path)
    except OSError:
        return ABSENT


def _read(path: Path) -> JsonObject:
    try:
        if path.stat().st_size > _MAX_FILE_BYTES:
            return {}
        return as_object(parse_json(path.read_text(encoding="utf-8-sig")))
    except (OSError, ValueError):
        return {}


def _parse(rows: Iterable[JsonValue]) -> Iterable[KnownModel]:
    for row in map(as_object, rows):
        if name := as_text(row.get("id")):
            yield KnownModel(
                id=name,
                context_tokens=max(as_int(row.get("contextTokens")), 0),
                loaded_tokens=max(as_int(row.get("loadedTokens")), 0),
                tools=_switch(row.get("tools")),
                vision=_switch(row.get("vision")),
                reasoning=_switch(row.get("reasoning")),
            )


def _switch(value: JsonValue) -> bool | None:
    return value if isinstance(value, bool) else None


def _dump(model: KnownModel) -> JsonObject:
    """Only what is known, so that a long list stays small."""
    row: dict[str, JsonValue] = {
        "id": model.id,
        "contextTokens": model.context_tokens or None,
        "loadedTokens": model.loaded_tokens or None,
        "tools": model.tools,
        "vision": model.vision,
        "reasoning": model.reasoning,
    }
    return {name: value for name, value in row.items() if value is not None}
