import re

import pytest

from skales.core.errors import NotFoundError
from skales.providers.catalog import Badge, KeyNeed, find_entry, find_namesake, load_catalog, parse_catalog
from skales.providers.provider import ADAPTERS

# providers.md, all 26.
IDS = {
    "skales_iq", "openrouter", "ollama", "lmstudio", "skales_local", "unsloth", "custom", "openai", "openai_oauth",
    "anthropic", "google", "groq", "mistral",
    "deepseek", "xai", "together", "minimax", "moonshot", "glm", "qwen", "hunyuan", "gigachat", "atlascloud",
    "cloudflare_workers_ai", "nvidia_nim", "huggingface",
}  # fmt: skip

ENTRIES = load_catalog()


def test_every_provider_is_listed() -> None:
    assert set(ENTRIES) == IDS


@pytest.mark.parametrize("provider_id", ENTRIES)
def test_every_entry_can_be_spoken_to(provider_id: str) -> None:
    entry = ENTRIES[provider_id]
    assert entry.format in ADAPTERS
    assert entry.label
    assert len(set(entry.models)) == len(entry.models)
    assert set(entry.summarizes_thinking) <= set(entry.models)
    assert re.fullmatch(r"https://[^/]+/.*[^/]|http://127\.0\.0\.1:\d+/v1|", entry.base_url)
    assert not entry.other_base_urls or entry.base_url in entry.other_base_urls.values()
    assert all(url.startswith("https://") for url in entry.other_base_urls.values())


@pytest.mark.parametrize("provider_id", ENTRIES)
def test_what_is_known_of_models_is_possible(provider_id: str) -> None:
    for model, facts in ENTRIES[provider_id].facts.items():
        assert facts.context_tokens == 0 or 4_000 <= facts.context_tokens <= 2_000_000, model
        assert 0 <= facts.output_tokens <= (facts.context_tokens or facts.output_tokens), model
        assert (facts.input_usd is None) == (facts.output_usd is None), model
        prices = (facts.cached_usd or 0, facts.input_usd or 0, facts.output_usd or 0)
        assert 0 <= prices[0] <= prices[1] <= prices[2] <= 100, model


def test_entries_of_others_that_nobody_asked_for_stay_off_and_say_why() -> None:
    quiet = {name for name, entry in ENTRIES.items() if entry.starts_off}
    assert quiet == {"skales_iq", "openai_oauth"}
    for name in quiet:
        assert "Nothing is sent there until you switch it on" in ENTRIES[name].explanation


def test_every_address_with_a_placeholder_can_be_completed() -> None:
    holes = {name: re.findall(r"{\w+}", entry.base_url) for name, entry in ENTRIES.items()}
    assert {name: found for name, found in holes.items() if found} == {"cloudflare_workers_ai": ["{account_id}"]}


@pytest.mark.parametrize(
    ("provider_id", "places"),
    [
        ("moonshot", {"International", "China"}),
        ("glm", {"International", "China"}),
        ("hunyuan", {"International", "China", "Legacy"}),
        ("gigachat", {"Current", "Older"}),
    ],
)
def test_providers_with_several_addresses_name_them(provider_id: str, places: set[str]) -> None:
    assert set(ENTRIES[provider_id].other_base_urls) == places


@pytest.mark.parametrize(
    ("provider_id", "model", "window"),
    [
        ("anthropic", "claude-haiku-4-5", 200_000),
        ("anthropic", "claude-haiku-4-5-20251001", 200_000),
        ("openai", "gpt-5.4-mini-2026-03-17", 400_000),
        ("openai", "gpt-5.4-mini-high", 0),
        ("groq", "gemma2-9b-it", 8_192),
        ("ollama", "llama3.2:3b", 4_096),
        ("custom", "anything", 0),
    ],
)
def test_a_window_is_known_by_id_with_or_without_a_date(provider_id: str, model: str, window: int) -> None:
    assert find_entry(provider_id).window_of(model) == window


def test_a_tag_of_ollama_is_still_the_model() -> None:
    entry = find_entry("ollama")
    assert entry.facts_of("gemma3:12b") is entry.facts["gemma3"]
    assert find_entry("openrouter").facts_of("openai/gpt-5:online") is None


@pytest.mark.parametrize(
    ("model", "abilities"),
    [
        ("anthropic/claude-opus-4.8", {"tools", "vision", "reasoning", "json", "documents"}),
        ("CLAUDE-OPUS-4-8-20260401", {"tools", "vision", "reasoning", "json", "documents"}),
        ("kimi-k2.6:cloud", {"tools", "vision", "reasoning", "json"}),
        ("deepseek-coder-v2:16b", {"json"}),
    ],
)
def test_a_model_is_known_from_another_providers_list(model: str, abilities: set[str]) -> None:
    facts = find_namesake(model)
    assert facts is not None
    assert set(facts.can or ()) == abilities


@pytest.mark.parametrize("model", ["", "acme-1", "deepseek-coder"])
def test_a_name_that_nobody_describes_tells_nothing(model: str) -> None:
    assert find_namesake(model) is None


def test_a_provider_on_this_machine_never_has_to_have_a_key_except_unsloth() -> None:
    local = {name: entry.key for name, entry in ENTRIES.items() if Badge.LOCAL in entry.badges}
    assert {name for name, key in local.items() if key is KeyNeed.REQUIRED} == {"unsloth"}
    assert set(local) == {"ollama", "lmstudio", "skales_local", "unsloth", "custom"}


def test_badges_are_as_the_spec_lists_them() -> None:
    with_badge = {badge: {name for name, entry in ENTRIES.items() if badge in entry.badges} for badge in Badge}
    assert with_badge[Badge.VOICE] == {"groq", "openai", "openrouter"}
    assert with_badge[Badge.MEDIA] == {"google", "openai", "huggingface", "openrouter", "atlascloud", "minimax"}


def test_extra_slots_are_custom_endpoints() -> None:
    assert find_entry("custom_2") is find_entry("custom_my-lab") is ENTRIES["custom"]


@pytest.mark.parametrize("provider_id", ["", "acme", "custom_", "Custom"])
def test_an_unknown_provider_is_named(provider_id: str) -> None:
    with pytest.raises(NotFoundError) as caught:
        find_entry(provider_id)
    assert caught.value.code == "unknown_provider"
    assert repr(provider_id) in caught.value.message


@pytest.mark.parametrize(
    "table",
    [
        'label = "A"\nformat = "openai"\nkey = "none"\nbase_ulr = "x"',
        'label = "A"\nformat = "openai"\nkey = "maybe"',
        'label = "A"\nformat = "openai"',
        'label = "A"\nformat = "openai"\nkey = "none"\nbadges = ["shiny"]',
        'label = "A"\nformat = "openai"\nkey = "none"\n[acme.models]\nm = { context = 5 }',
        'label = "A"\nformat = "openai"\nkey = "none"\n[acme.models]\nm = { can = ["fly"] }',
    ],
    ids=["unknown field", "unknown key need", "missing field", "unknown badge", "unknown fact", "unknown ability"],
)
def test_a_mistake_in_the_catalogue_is_an_error(table: str) -> None:
    with pytest.raises(ValueError, match="validation error"):
        parse_catalog(f"[acme]\n{table}\n")


def test_the_catalogue_cannot_be_changed_by_accident() -> None:
    with pytest.raises(TypeError):
        ENTRIES["acme"] = ENTRIES["custom"]  # type: ignore[index]
