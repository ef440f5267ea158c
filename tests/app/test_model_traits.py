import pytest

from skales.app.model_traits import Evidence, describe_model, own_word, price_nearby
from skales.core.ports import DocumentLimits, ModelTraits
from skales.data.model_lists import KnownModel
from skales.data.model_probes import ProbeResult
from skales.data.setting_shapes import ModelSettings, ProviderSettings
from skales.providers.catalog import find_entry


def traits(provider_id: str, model: str, **evidence: object) -> ModelTraits:
    return describe_model(find_entry(provider_id), model, Evidence(**evidence))  # type: ignore[arg-type]


def test_a_curated_model_is_described_by_the_catalogue() -> None:
    assert traits("openai", "gpt-5.4-mini") == ModelTraits(
        context_tokens=400_000,
        output_tokens=128_000,
        tools=True,
        vision=True,
        reasoning=True,
        json=True,
        input_usd_per_million=0.75,
        cached_usd_per_million=0.075,
        output_usd_per_million=4.5,
        documents=DocumentLimits(frozenset({"application/pdf"}), max_bytes=45_000_000),
    )


@pytest.mark.parametrize(
    ("provider_id", "model", "takes"),
    [
        ("anthropic", "claude-haiku-4-5", True),
        ("anthropic", "claude-opus-9", True),
        ("google", "gemini-2.5-pro", True),
        ("google", "gemma-2-27b-it", False),
        ("openai", "gpt-4o-2024-11-20", True),
        ("openai", "gpt-3.5-turbo", False),
        ("openrouter", "anthropic/claude-sonnet-4", False),
        ("custom", "gpt-5.5", False),
        ("ollama", "gemma3", False),
    ],
)
def test_documents_go_as_they_are_where_the_endpoint_and_the_model_take_them(
    provider_id: str, model: str, takes: bool
) -> None:
    assert (traits(provider_id, model).documents is not None) is takes


def test_a_persons_own_limit_of_an_answer_is_told_apart_from_what_the_model_could() -> None:
    own = traits("openai", "gpt-5.4-mini", own=ModelSettings(output_tokens=900))
    assert (own.output_tokens, own.output_cap_tokens) == (900, 900)
    assert traits("openai", "gpt-5.4-mini").output_cap_tokens == 0


def test_a_model_that_nobody_describes_is_judged_by_its_name_and_may_use_tools() -> None:
    assert traits("custom", "acme/new-vl-7b") == ModelTraits(tools=True, vision=True)
    assert traits("custom", "acme-1") == ModelTraits(tools=True)


def test_abilities_are_known_from_another_list_but_neither_price_nor_size() -> None:
    known = traits("custom", "anthropic/claude-opus-4.8")
    assert (known.vision, known.reasoning, known.json) == (True, True, True)
    assert (known.context_tokens, known.input_usd_per_million) == (0, None)


def test_an_unknown_price_stays_unknown() -> None:
    assert traits("gigachat", "GigaChat-2").input_usd_per_million is None
    assert traits("openrouter", "openrouter/free").input_usd_per_million == 0


LISTED = KnownModel(id="m", context_tokens=131_072, loaded_tokens=8_192, tools=False, vision=True, reasoning=True)
PROBE = ProbeResult(address="a", tools=True, parallel_calls=False, json=True, vision=False, context_tokens=65_536)


def test_the_server_counts_more_than_the_name_and_a_probe_more_than_the_server() -> None:
    told = traits("custom", "m", listed=LISTED)
    assert (told.tools, told.vision, told.reasoning, told.is_measured) == (False, True, True, False)
    measured = traits("custom", "m", listed=LISTED, probe=PROBE)
    assert (measured.tools, measured.parallel_calls, measured.json, measured.vision) == (True, False, True, False)
    assert measured.is_measured


def test_the_person_counts_most() -> None:
    own = ModelSettings(context_tokens=16_384, output_tokens=512, vision=True, tools=False)
    known = traits("custom", "m", listed=LISTED, probe=PROBE, own=own)
    assert (known.context_tokens, known.output_tokens, known.vision, known.tools) == (16_384, 512, True, False)
    assert known.warning == ""


@pytest.mark.parametrize(
    ("provider_id", "listed", "probe", "window", "warns"),
    [
        (
            "ollama",
            KnownModel(id="m", context_tokens=131_072, loaded_tokens=4_096),
            None,
            4_096,
            "runs this model with",
        ),
        ("ollama", KnownModel(id="m", context_tokens=131_072), None, 4_096, "usually loads a model with 4,096 of"),
        ("ollama", KnownModel(id="m", context_tokens=2_048), None, 2_048, ""),
        ("ollama", KnownModel(id="m", context_tokens=8_192, loaded_tokens=8_192), None, 8_192, ""),
        ("ollama", None, None, 4_096, ""),
        ("ollama", KnownModel(id="m", context_tokens=131_072), PROBE, 65_536, "65,536 of its 131,072"),
        ("lmstudio", KnownModel(id="m", context_tokens=131_072, loaded_tokens=4_096), None, 4_096, "LM Studio"),
        ("lmstudio", KnownModel(id="m", context_tokens=131_072), None, 131_072, ""),
        ("custom", KnownModel(id="m", context_tokens=32_768, loaded_tokens=2_048), PROBE, 2_048, "--ctx-size"),
        ("custom", None, PROBE, 65_536, ""),
        ("groq", KnownModel(id="gemma2-9b-it"), None, 0, ""),
    ],
)
def test_the_window_is_the_one_that_requests_have(
    provider_id: str, listed: KnownModel | None, probe: ProbeResult | None, window: int, warns: str
) -> None:
    known = traits(provider_id, "m", listed=listed, probe=probe)
    assert known.context_tokens == window
    assert warns in known.warning
    assert bool(known.warning) is bool(warns)


def test_a_word_about_one_model_goes_before_a_word_about_all() -> None:
    settings = ProviderSettings(
        context_tokens=1_000,
        models={
            "*": ModelSettings(context_tokens=2_000, vision=False, tools=True),
            "m": ModelSettings(vision=True, output_tokens=9),
        },
    )
    assert own_word(settings, "m") == ModelSettings(context_tokens=2_000, output_tokens=9, vision=True, tools=True)
    assert own_word(settings, "n") == ModelSettings(context_tokens=2_000, vision=False, tools=True)
    assert own_word(ProviderSettings(context_tokens=1_000), "n") == ModelSettings(context_tokens=1_000)


@pytest.mark.parametrize(
    ("provider_id", "address", "model", "price"),
    [
        ("ollama", "http://127.0.0.1:11434/v1", "qwen3:8b", 0.0),
        ("lmstudio", "http://192.168.1.7:1234/v1", "qwen3", 0.0),
        ("ollama", "http://127.0.0.1:11434/v1", "gpt-oss:120b-cloud", None),
        ("ollama", "https://models.example/v1", "qwen3:8b", None),
        ("ollama", "", "qwen3:8b", None),
        ("custom", "http://127.0.0.1:4000/v1", "qwen3:8b", None),
    ],
)
def test_only_what_a_local_server_runs_itself_is_known_to_cost_nothing(
    provider_id: str, address: str, model: str, price: float | None
) -> None:
    known = price_nearby(ModelTraits(), find_entry(provider_id), address, model)
    assert (known.input_usd_per_million, known.output_usd_per_million) == (price, price)
