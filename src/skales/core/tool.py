"""What a tool is, what a call of it is, and what comes back. Running one is the gate's business.

Spec: tools.md; orchestrator.md, "Safety levels".
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from skales.core.json import JsonObject, JsonValue


class Safety(StrEnum):
    """How a call starts: by itself, after a person agreed, or only by a person."""

    AUTO = "auto"
    CONFIRM = "confirm"
    MANUAL = "manual"


class SafetyMode(StrEnum):
    """How much the person lets run unasked. Spec: security.md, "Safety modes"."""

    SAFE = "safe"
    ADVANCED = "advanced"
    UNRESTRICTED = "unrestricted"


class Effect(StrEnum):
    """What a tool can do to the world; rules are judged on these, not on names."""

    READS_PRIVATE = "reads_private"
    UNTRUSTED_OUTPUT = "untrusted_output"
    OUTBOUND = "outbound"
    WRITES = "writes"
    DESTRUCTIVE = "destructive"
    SPENDS = "spends"


@dataclass(frozen=True, slots=True)
class ToolExample:
    """One request in a person's words and the arguments it should lead to; weak models learn the call from it."""

    request: str
    arguments: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as it is offered to models and listed for people.

    `parameters` is a JSON Schema object. A string property may carry `format`: `path` (a file or folder),
    `uri` (an address to fetch) or `shell-command`; the gate judges arguments by it. `links` names the paths that are
    acted on themselves when they are links, instead of what they lead to. `found_by` are more words, also of other
    languages, that people use when they mean this tool. A basic tool is always offered, the others are found.
    `asks_unless` names arguments and those of their values with which a call of a tool that asks runs unasked:
    `{"method": ("GET", "HEAD")}`. `needs` is the condition without which the tool is not offered. A `once` tool sends
    what must not be sent twice, unless its arguments are among `repeatable`; its calls go through the outbox.
    """

    name: str
    description: str
    parameters: JsonObject
    category: str
    safety: Safety
    effects: frozenset[Effect] = frozenset()
    addon: str = ""
    example: ToolExample | None = None
    links: frozenset[str] = frozenset()
    found_by: str = ""
    is_basic: bool = False
    asks_unless: Mapping[str, tuple[str | bool, ...]] = field(default_factory=dict[str, tuple[str | bool, ...]])
    needs: str = ""
    once: bool = False
    repeatable: Mapping[str, tuple[JsonValue, ...]] = field(default_factory=dict[str, tuple[JsonValue, ...]])
    # Worked out when first asked for: most tools are never called.
    _formats: Mapping[str, str] | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def formats(self) -> Mapping[str, str]:
        """See `property_formats`; every rule asks for them, again and again."""
        if self._formats is None:
            object.__setattr__(self, "_formats", _find_formats(self.parameters))
        return self._formats or {}


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's wish to run a tool.

    `arguments` is what could be read; `problem` says in words for the model why the arguments are unusable,
    empty when they are fine. `raw` keeps the text the model wrote.
    """

    id: str
    name: str
    arguments: JsonObject = field(default_factory=dict)
    problem: str = ""
    raw: str = ""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture that came of a call, carried inline; shown to models that see."""

    media_type: str
    data_base64: str
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What came of a call. `text` goes to the model, `summary` (at most 200 characters) to people.

    `files` names what was made, as paths. `text` says what `pictures` show as far as it is known, since not every
    model sees. `sources` names in words for people whose text it holds when others may have written it.
    """

    text: str
    summary: str = ""
    is_error: bool = False
    data: JsonValue = None
    files: tuple[str, ...] = ()
    pictures: tuple[Picture, ...] = ()
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """A rule's answer about one call: allow, ask or deny, with the reason in words and the rule's name.

    One that `insists` asks although a lasting yes covers the call.
    """

    outcome: "Outcome"
    reason: str = ""
    rule: str = ""
    insists: bool = False


class Outcome(StrEnum):
    """Ordered from free to forbidden; the strictest of several rules wins."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


def strictest(*verdicts: Verdict) -> Verdict:
    """The verdict that binds when several rules speak; of equals one that insists, else the first. No rule allows."""
    order = {Outcome.ALLOW: 0, Outcome.ASK: 1, Outcome.DENY: 2}
    return max(verdicts, key=lambda verdict: (order[verdict.outcome], verdict.insists), default=Verdict(Outcome.ALLOW))


def safety_of_call(spec: ToolSpec, arguments: JsonObject) -> Safety:
    """How this very call starts: as the tool does, or by itself when its arguments are among the harmless ones."""
    if spec.safety is not Safety.CONFIRM or not spec.asks_unless:
        return spec.safety
    filled = fill_defaults(spec, arguments)
    is_harmless = all(filled.get(name) in values for name, values in spec.asks_unless.items())
    return Safety.AUTO if is_harmless else spec.safety


def sends_once(spec: ToolSpec, arguments: JsonObject) -> bool:
    """Whether this very call sends what must not be sent twice."""
    if not spec.once or not spec.repeatable:
        return spec.once
    filled = fill_defaults(spec, arguments)
    return not all(filled.get(name) in values for name, values in spec.repeatable.items())


def fill_defaults(spec: ToolSpec, arguments: JsonObject) -> JsonObject:
    """The arguments with what counts for those that were left out."""
    properties = spec.parameters.get("properties")
    schemas = properties if isinstance(properties, Mapping) else {}
    defaults = {
        name: schema["default"]
        for name, schema in schemas.items()
        if isinstance(schema, Mapping) and "default" in schema
    }
    return {**defaults, **arguments}


def property_formats(spec: ToolSpec) -> Mapping[str, str]:
    """Which arguments carry a judged format: argument name → `path`, `uri` or `shell-command`.

    An array of such strings counts under its own name.
    """
    return spec.formats


def _find_formats(parameters: JsonObject) -> Mapping[str, str]:
    properties = parameters.get("properties")
    found: dict[str, str] = {}
    if isinstance(properties, Mapping):
        for name, schema in properties.items():
            inner = schema.get("items", schema) if isinstance(schema, Mapping) else None
            wanted = inner.get("format") if isinstance(inner, Mapping) else None
            if isinstance(wanted, str):
                found[name] = wanted
    return found
