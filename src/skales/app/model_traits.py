"""What is known of one model, put together: the person's word, then what was measured, told, listed, and guessed.

Makes no request and reads nothing; the evidence is handed in. Spec: providers.md, "Rules".
"""

from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import urlsplit

from msgspec import Struct, field

from skales.core.ports import DocumentLimits, ModelTraits
from skales.data.model_lists import KnownModel
from skales.data.model_probes import ProbeResult
from skales.data.setting_shapes import ModelSettings, ProviderSettings
from skales.providers.abilities import reasons_by_name, sees_by_name
from skales.providers.catalog import Badge, Capability, ModelFacts, ProviderEntry, find_namesake
from skales.security.network import is_local_host

# Stands for every model of a provider in the settings.
_EVERY = "*"
# Ollama runs these on its vendor's computers.
_PASSED_ON = ("-cloud", ":cloud")


class Evidence(Struct, frozen=True, kw_only=True):
    """Who says what of a model: its server's list, a probe, the person."""

    listed: KnownModel | None = None
    probe: ProbeResult | None = None
    own: ModelSettings = field(default_factory=ModelSettings)


class _Window(Struct, frozen=True):
    """A context window and, when it is smaller than it could be, a sentence about that."""

    tokens: int
    warning: str = ""


def own_word(settings: ProviderSettings, model: str) -> ModelSettings:
    """What the person says of a model; of itself before of all of them, each value for itself."""
    named = settings.models.get(model, ModelSettings())
    every = settings.models.get(_EVERY, ModelSettings())
    return ModelSettings(
        context_tokens=named.context_tokens or every.context_tokens or settings.context_tokens,
        output_tokens=named.output_tokens or every.output_tokens,
        vision=every.vision if named.vision is None else named.vision,
        tools=every.tools if named.tools is None else named.tools,
    )


def describe_model(entry: ProviderEntry, model: str, evidence: Evidence) -> ModelTraits:
    """Everything known of a model of an entry."""
    facts = entry.facts_of(model) or ModelFacts()
    window = _find_window(entry, model, facts, evidence)
    own = evidence.own
    probe = evidence.probe or ProbeResult(address="")
    told = evidence.listed or KnownModel(id=model)
    can = _find_abilities(model, facts)
    return ModelTraits(
        context_tokens=window.tokens,
        output_tokens=own.output_tokens or facts.output_tokens,
        tools=_first(own.tools, probe.tools, told.tools, can[Capability.TOOLS]),
        parallel_calls=_first(probe.parallel_calls, True),
        vision=_first(own.vision, probe.vision, told.vision, can[Capability.VISION]),
        reasoning=_first(told.reasoning, can[Capability.REASONING]),
        json=_first(probe.json, can[Capability.JSON]),
        input_usd_per_million=facts.input_usd,
        cached_usd_per_million=facts.cached_usd,
        output_usd_per_million=facts.output_usd,
        warning=window.warning,
        is_measured=evidence.probe is not None,
        documents=_find_documents(entry) if can[Capability.DOCUMENTS] else None,
        output_cap_tokens=own.output_tokens,
    )


def price_nearby(traits: ModelTraits, entry: ProviderEntry, address: str, model: str) -> ModelTraits:
    """A model that a server on this computer or the local network runs itself costs nothing; one it passes on may.

    A server of an unknown make, which has no usual address, may pass everything on.
    """
    runs_itself = Badge.LOCAL in entry.badges and bool(entry.base_url)
    is_own = runs_itself and is_local_host(urlsplit(address).hostname or "")
    if not is_own or model.endswith(_PASSED_ON):
        return traits
    return replace(traits, input_usd_per_million=0.0, cached_usd_per_million=0.0, output_usd_per_million=0.0)


def _find_window(entry: ProviderEntry, model: str, facts: ModelFacts, evidence: Evidence) -> _Window:
    """The window that a request really has: what a server loaded counts more than what the model could."""
    listed = evidence.listed or KnownModel(id=model)
    if evidence.own.context_tokens:
        return _Window(evidence.own.context_tokens)
    if listed.loaded_tokens:
        return _compare(entry, listed.loaded_tokens, listed.context_tokens, is_known=True)
    if evidence.probe and evidence.probe.context_tokens:
        return _compare(entry, evidence.probe.context_tokens, listed.context_tokens, is_known=True)
    if entry.usual_context_tokens:
        could = listed.context_tokens or facts.context_tokens
        usual = min(entry.usual_context_tokens, could or entry.usual_context_tokens)
        return _compare(entry, usual, could, is_known=False)
    return _Window(listed.context_tokens or facts.context_tokens)


def _compare(entry: ProviderEntry, tokens: int, could: int, *, is_known: bool) -> _Window:
    if could <= tokens:
        return _Window(tokens)
    deed = "runs this model with" if is_known else "usually loads a model with"
    hint = f" {entry.window_hint}." if entry.window_hint else ""
    return _Window(tokens, f"{entry.label} {deed} {tokens:,} of its {could:,} tokens.{hint}")


def _find_abilities(model: str, facts: ModelFacts) -> Mapping[Capability, bool]:
    """What lists say, else what the name tells; tools are assumed, since a model without them is of little use."""
    namesake = None if facts.can is not None else find_namesake(model)
    listed = facts.can if namesake is None else namesake.can
    if listed is not None:
        return {ability: ability in listed for ability in Capability}
    return {
        Capability.TOOLS: True,
        Capability.VISION: sees_by_name(model),
        Capability.REASONING: reasons_by_name(model),
        Capability.JSON: False,
        # The vendors who take documents take them for every model that sees.
        Capability.DOCUMENTS: sees_by_name(model),
    }


def _find_documents(entry: ProviderEntry) -> DocumentLimits | None:
    """What the endpoint takes; a model may be able to read documents that a reseller's interface has no place for."""
    taken = entry.documents
    return DocumentLimits(frozenset(taken.kinds), taken.max_bytes, taken.max_pages) if taken else None


def _first(*words: bool | None) -> bool:
    """The first that was said."""
    return next((word for word in words if word is not None), False)
