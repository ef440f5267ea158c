"""Reads `catalog.toml`: one typed entry per provider, parsed when first asked for.

Entries hold facts, never a user's settings or key. Spec: providers.md.
"""

import tomllib
from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from skales.core.errors import NotFoundError

# Extra OpenAI-compatible endpoints of the user are named custom_<id>.
_CUSTOM = "custom"
_CUSTOM_PREFIX = "custom_"

# orchestrator.md, "Streaming, cost, interruption": chat inactivity timeouts.
CLOUD_INACTIVITY_TIMEOUT_S = 60.0
LOCAL_INACTIVITY_TIMEOUT_S = 200.0


class KeyNeed(StrEnum):
    """Whether the settings ask for a key."""

    NONE = "none"
    OPTIONAL = "optional"
    REQUIRED = "required"


class Badge(StrEnum):
    """What else a provider can do, for the filter chips of the settings; vision is derived from its models."""

    VOICE = "voice"
    MEDIA = "media"
    LOCAL = "local"


class ProviderEntry(BaseModel):
    """One table of the catalogue.

    `base_url` may be empty (the user names it) or hold a `{placeholder}` that the user replaces. `output_limit` is
    the field that caps the answer. `asks_usage` sends `stream_options`. `reasoning_back`, `short_call_ids` and
    `bridges_results` switch on functions of `quirks`. `answer_schema` says whether a JSON Schema is understood or
    only "some JSON object". `output_tokens` is how much a model can write, for formats that want a limit in every
    request; `summarizes_thinking` names models that think unasked and tell of it only when asked to.
    `inactivity_timeout_s` 0 leaves it to where the endpoint runs. The hints complete an error message.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False)

    label: str
    format: str
    key: KeyNeed
    base_url: str = ""
    other_base_urls: Mapping[str, str] = Field(default_factory=dict)
    models: tuple[str, ...] = ()
    download_only_models: tuple[str, ...] = ()
    context_tokens: Mapping[str, int] = Field(default_factory=dict)
    output_tokens: Mapping[str, int] = Field(default_factory=dict)
    summarizes_thinking: tuple[str, ...] = ()
    badges: frozenset[Badge] = frozenset()
    max_request_tokens: int = 0
    inactivity_timeout_s: float = 0
    output_limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    asks_usage: bool = True
    reasoning_back: bool = False
    short_call_ids: bool = False
    bridges_results: bool = False
    answer_schema: Literal["schema", "object"] = "schema"
    key_hint: str = ""
    model_hint: str = ""
    start_hint: str = ""


def parse_catalog(text: str) -> Mapping[str, ProviderEntry]:
    """Entries by provider id, in the order of the file. Raises ValueError that names the wrong field."""
    tables = tomllib.loads(text)
    return MappingProxyType({name: ProviderEntry.model_validate(table) for name, table in tables.items()})


@lru_cache(maxsize=1)
def load_catalog() -> Mapping[str, ProviderEntry]:
    """All entries by provider id; the file is read once."""
    return parse_catalog(files("skales.providers").joinpath("catalog.toml").read_text(encoding="utf-8"))


def find_entry(provider_id: str) -> ProviderEntry:
    """The entry of an id; every slot `custom_<id>` has the one of `custom`. Raises NotFoundError."""
    catalog = load_catalog()
    if provider_id.startswith(_CUSTOM_PREFIX) and len(provider_id) > len(_CUSTOM_PREFIX):
        return catalog[_CUSTOM]
    if provider_id not in catalog:
        raise NotFoundError(
            f"There is no provider {provider_id!r}",
            hint=f"Known ones are {', '.join(catalog)} and custom_<id>",
            code="unknown_provider",
        )
    return catalog[provider_id]
