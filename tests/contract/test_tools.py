"""What must hold for every built-in tool, whoever wrote it."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import pytest

from skales.agent.offer import ToolOffer
from skales.agent.tokens import count_tool
from skales.core.ports import Toolbox
from skales.core.tool import Effect, Safety, ToolSpec
from skales.tools.addons import load_addons
from skales.tools.arguments import check_arguments
from skales.tools.generate import build_index, collect_tools, main
from skales.tools.index import INDEX_FILE, IndexEntry, load_index
from skales.tools.registry import load_aliases

CATEGORIES = {
    "core", "media", "communication", "system", "file", "browser", "productivity", "web", "social", "automation",
}  # fmt: skip
CHANGES = {Effect.WRITES, Effect.DESTRUCTIVE, Effect.OUTBOUND, Effect.SPENDS}
# Of a first request with every add-on on. The whole of it should stay within 20 KB.
OFFER_BYTES = 12_000
OFFER_TOKENS = 4_000

ENTRIES = {entry.spec.name: entry for entry in load_index()}
every_tool = pytest.mark.parametrize("entry", ENTRIES.values(), ids=ENTRIES.keys())


def properties_of(spec: ToolSpec) -> Mapping[str, Any]:
    properties = spec.parameters["properties"]
    assert isinstance(properties, dict)
    return properties


def test_the_index_is_fresh() -> None:
    assert INDEX_FILE.read_text(encoding="utf-8") == build_index(), "run python -m skales.tools.generate"
    assert main(["--check"]) == 0


def test_the_index_holds_every_tool() -> None:
    assert set(ENTRIES) == {function.__name__ for function in collect_tools()}


def test_aliases_take_no_tools_name() -> None:
    aliases = load_aliases()
    assert not set(aliases) & set(ENTRIES)
    assert not set(aliases) & set(aliases.values())


class Everything:
    """A toolbox with every built-in tool on, and as many made-up ones as are still to come."""

    def __init__(self, made_up: int) -> None:
        spec = ENTRIES["git_status"].spec
        # As in tools.md: a large family, and names of all kinds.
        family = [f"wordpress_action_{number}" for number in range(min(made_up, 47))]
        others = [f"{chr(97 + number % 26)}{number}_does_this" for number in range(made_up - len(family))]
        self.known = [entry.spec for entry in ENTRIES.values()] + [
            replace(spec, name=name) for name in (*family, *others)
        ]

    def enabled(self) -> Sequence[ToolSpec]:
        return self.known


@pytest.mark.parametrize("made_up", [47, 257 - len(ENTRIES)])
def test_the_tools_of_a_first_request_cost_little(made_up: int) -> None:
    offered = ToolOffer(cast(Toolbox, Everything(made_up))).choose(())
    as_sent = [{"name": spec.name, "description": spec.description, "parameters": spec.parameters} for spec in offered]
    assert len(json.dumps(as_sent, ensure_ascii=False, separators=(",", ":")).encode()) <= OFFER_BYTES
    # No model counts more than a third above the estimate.
    assert sum(map(count_tool, offered)) * 4 / 3 <= OFFER_TOKENS


def test_every_tool_is_offered_or_named() -> None:
    offered = ToolOffer(cast(Toolbox, Everything(0))).choose(())
    told = next(spec.description for spec in offered if spec.name == "load_tools")
    shown = {spec.name for spec in offered} | set(re.findall(r"[a-z_]+", told))
    families = re.findall(r"([a-z]+_)…", told)
    hidden = {spec.name for spec in Everything(0).known if spec.safety is not Safety.MANUAL} - shown
    assert not [name for name in hidden if not name.startswith(tuple(families))]


@every_tool
def test_a_tool_is_named_and_described_for_a_model(entry: IndexEntry) -> None:
    spec = entry.spec
    assert re.fullmatch(r"[a-z]+(_[a-z0-9]+)+", spec.name)
    assert 10 <= len(spec.description) <= 300
    assert spec.description.endswith(".")
    assert spec.category in CATEGORIES
    assert not spec.addon or spec.addon in load_addons()


@every_tool
def test_a_schema_is_safe_for_every_provider(entry: IndexEntry) -> None:
    text = json.dumps(entry.spec.parameters)
    assert entry.spec.parameters["additionalProperties"] is False
    assert not re.search(r'"(\$ref|\$defs|anyOf|oneOf|allOf|not|const|patternProperties)"', text)
    for name, schema in properties_of(entry.spec).items():
        assert schema["type"] in {"string", "integer", "number", "boolean", "array", "object"}, name
        assert schema["description"], name
        assert schema["type"] != "array" or schema["items"]["type"], name


@every_tool
def test_an_action_names_only_parameters_there_are(entry: IndexEntry) -> None:
    named = set(re.findall(r"\{(\w+)(?::size)?\}", entry.action))
    assert entry.action
    assert named <= set(properties_of(entry.spec))


@every_tool
def test_an_example_is_a_call_that_would_be_accepted(entry: IndexEntry) -> None:
    example = entry.spec.example
    assert example is not None
    assert example.request
    assert check_arguments(entry.spec, example.arguments) == example.arguments


@every_tool
def test_effects_and_safety_agree(entry: IndexEntry) -> None:
    spec = entry.spec
    assert spec.effects or spec.safety is Safety.AUTO, "what asks first must say why"
    assert spec.safety is Safety.AUTO or spec.effects & CHANGES
    assert Effect.DESTRUCTIVE not in spec.effects or spec.safety is not Safety.AUTO
    assert spec.category != "file" or (spec.safety is Safety.CONFIRM) == (Effect.WRITES in spec.effects)
