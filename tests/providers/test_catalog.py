import re

import pytest

from skales.core.errors import NotFoundError
from skales.providers.catalog import Badge, KeyNeed, find_entry, load_catalog, parse_catalog
from skales.providers.provider import ADAPTERS

# providers.md, all ids but openai_oauth, whose format is not documented.
IDS = {
    "skales_iq", "openrouter", "ollama", "lmstudio", "skales_local", "unsloth", "custom", "openai", "anthropic",
    "google", "groq", "mistral",
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
    assert set(entry.context_tokens) <= set(entry.models)
    assert set(entry.output_tokens) | set(entry.summarizes_thinking) <= set(entry.models)
    assert re.fullmatch(r"https://[^/]+/.*[^/]|http://127\.0\.0\.1:\d+/v1|", entry.base_url)
    assert entry.base_url in (*entry.other_base_urls.values(), entry.base_url)


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


@pytest.mark.parametrize("provider_id", ["", "acme", "custom_", "Custom", "openai_oauth"])
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
    ],
    ids=["unknown field", "unknown key need", "missing field", "unknown badge"],
)
def test_a_mistake_in_the_catalogue_is_an_error(table: str) -> None:
    with pytest.raises(ValueError, match="validation error"):
        parse_catalog(f"[acme]\n{table}\n")


def test_the_catalogue_cannot_be_changed_by_accident() -> None:
    with pytest.raises(TypeError):
        ENTRIES["acme"] = ENTRIES["custom"]  # type: ignore[index]
