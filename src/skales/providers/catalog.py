"""Reads `catalog.toml`: one typed entry per provider, parsed when first asked for.

Entries hold facts, never a user's settings or key. Spec: providers.md.
"""

import re
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
_AUTHORITIES = files("skales.providers") / "authorities"
_CUSTOM = "custom"
_CUSTOM_PREFIX = "custom_"
# Vendors pin a version by its day: claude-haiku-4-5-20251001, gpt-5-2025-08-07.
_DATE = re.compile(r"-(?:\d{8}|\d{4}-\d\d-\d\d)$")

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


class Capability(StrEnum):
    """What a model may be able to do beyond writing text."""

    TOOLS = "tools"
    VISION = "vision"
    REASONING = "reasoning"
    JSON = "json"
    DOCUMENTS = "documents"


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=False)


class ModelFacts(_Table):
    """One model of a provider's list. Zero means that a size is unknown, None that nobody knows.

    `can` names everything the model can do; prices are US dollars per million tokens, as a list price.
    """

    label: str = ""
    context_tokens: int = 0
    output_tokens: int = 0
    can: frozenset[Capability] | None = None
    input_usd: float | None = None
    cached_usd: float | None = None
    output_usd: float | None = None


class Documents(_Table):
    """Files that an endpoint takes as they are: their media types, and how much of them one request may hold.

    `max_bytes` is in base64; 0 means no limit.
    """

    kinds: tuple[str, ...]
    max_bytes: int = 0
    max_pages: int = 0


class TokenExchange(_Table):
    """Where a lasting key is exchanged for a short-lived token; `scopes` by kind of account, the first is usual."""

    url: str
    scopes: Mapping[str, str]


class SignIn(_Table):
    """Where a person signs in (OAuth 2.0 with PKCE). An empty `client_id` has to be set by the user.

    Of the token, `account_header` repeats what stands under `account_claim`: a path into its payload.
    """

    authorize_url: str
    token_url: str
    scope: str
    redirect_url: str
    client_id: str = ""
    account_header: str = ""
    account_claim: tuple[str, ...] = ()


class ProviderEntry(_Table):
    """One table of the catalogue.

    `base_url` may be empty (the user names it) or hold a `{placeholder}` that a setting replaces; `other_base_urls`
    names its alternatives. `path_prefix` stands between the usual `base_url` and the paths of the format.
    `output_limit` is the field that caps the answer. `asks_usage` sends `stream_options`.
    `reasoning_back`, `short_call_ids` and `bridges_results` switch on functions of `quirks`. `answer_schema` says
    whether a JSON Schema is understood or only "some JSON object". `summarizes_thinking` names models that think
    unasked and tell of it only when asked to. `inactivity_timeout_s` 0 leaves it to where the endpoint runs.
    `local_api` names what more a server on this machine can be asked, `usual_context_tokens` the window it loads a
    model with when nobody says otherwise. `starts_off` keeps an entry silent until the user turns it on, for the
    reason that `explanation` gives. `authority` is a root certificate in `authorities/` that this provider needs and
    that is trusted for nobody else. `documents` is for models that can read them. The hints complete an error message.
    """

    label: str
    format: str
    key: KeyNeed
    base_url: str = ""
    path_prefix: str = ""
    other_base_urls: Mapping[str, str] = Field(default_factory=dict)
    facts: Mapping[str, ModelFacts] = Field(default_factory=dict, alias="models")
    download_only_models: tuple[str, ...] = ()
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
    api_version: str = ""
    local_api: Literal["", "ollama", "lmstudio", "llamacpp"] = ""
    usual_context_tokens: int = 0
    window_hint: str = ""
    starts_off: bool = False
    explanation: str = ""
    authority: str = ""
    token_exchange: TokenExchange | None = None
    sign_in: SignIn | None = None
    documents: Documents | None = None
    key_hint: str = ""
    model_hint: str = ""
    start_hint: str = ""
    trust_hint: str = ""

    @property
    def authority_file(self) -> str:
        """The path of the bundled root certificate, empty without one."""
        return str(_AUTHORITIES / self.authority) if self.authority else ""

    @property
    def models(self) -> tuple[str, ...]:
        """The curated ids in the order of the file; none when the list is read from the endpoint."""
        return tuple(self.facts)

    def facts_of(self, model: str) -> ModelFacts | None:
        """What the list says of a model: of this id, of the same id without a date, of the name before a tag."""
        plain = _DATE.sub("", model)
        untagged = model.partition(":")[0] if self.local_api == "ollama" else model
        return self.facts.get(model) or self.facts.get(plain) or self.facts.get(untagged)

    def window_of(self, model: str) -> int:
        """The context window in tokens, 0 when unknown."""
        known = self.facts_of(model)
        return (known.context_tokens if known else 0) or self.usual_context_tokens

    def output_limit_of(self, model: str) -> int:
        """The longest answer in tokens, 0 when unknown."""
        known = self.facts_of(model)
        return known.output_tokens if known else 0


def parse_catalog(text: str) -> Mapping[str, ProviderEntry]:
    """Entries by provider id, in the order of the file. Raises ValueError that names the wrong field."""
    tables = tomllib.loads(text)
    return MappingProxyType({name: ProviderEntry.model_validate(table) for name, table in tables.items()})


@lru_cache(maxsize=1)
def load_catalog() -> Mapping[str, ProviderEntry]:
    """All entries by provider id; the file is read once."""
    return parse_catalog(files("skales.providers").joinpath("catalog.toml").read_text(encoding="utf-8"))


def find_namesake(model: str) -> ModelFacts | None:
    """What any list says of a model of this name, whoever serves it: right for abilities, not for sizes and prices."""
    return _namesakes().get(_plain_name(model))


@lru_cache(maxsize=1)
def _namesakes() -> Mapping[str, ModelFacts]:
    """Models by their plain names; of several the first that a list tells the abilities of."""
    found: dict[str, ModelFacts] = {}
    for entry in load_catalog().values():
        for known, facts in entry.facts.items():
            if facts.can is not None:
                found.setdefault(_plain_name(known), facts)
    return found


def _plain_name(model: str) -> str:
    """The last part of the id in one spelling: `anthropic/claude-opus-4.8:free` is `claude-opus-4-8`."""
    return _DATE.sub("", model.rpartition("/")[2].partition(":")[0].lower().replace(".", "-"))


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
