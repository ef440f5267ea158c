import re

import pytest

from skales.providers.abilities import chats_by_name, reasons_by_name, sees_by_name
from skales.providers.catalog import Capability, load_catalog

# What a name cannot tell: versions behind `latest`, routers, and a vendor whose models share one name.
UNTOLD = re.compile("latest|GigaChat|small-3.1|openrouter/free")
LISTED = [
    (model, facts.can)
    for entry in load_catalog().values()
    for model, facts in entry.facts.items()
    if facts.can is not None and not UNTOLD.search(model)
]


@pytest.mark.parametrize(
    "model",
    [
        "gemma3", "gemma3:4b", "gemma-3-27b-it", "google/gemma-3-12b-it:free", "gemma4:e4b", "gemma-4-31b",
        "llava", "llava:13b", "llava-llama3", "bakllava", "pixtral-12b", "mistralai/pixtral-large-2411",
        "qwen2.5vl:7b", "Qwen/Qwen2.5-VL-72B-Instruct", "qwen-vl-max", "qwen3-vl-235b-a22b", "qwen3-omni",
        "minicpm-v:8b", "openbmb/MiniCPM-V-4_5", "minicpm-o-2.6",
        "gpt-4o", "gpt-4o-mini-2024-07-18", "openai/gpt-5-mini", "gpt-5.5", "gpt-4.1-nano", "chatgpt-4o-latest", "o3",
        "claude-sonnet-5", "anthropic/claude-3.5-haiku", "claude-3-opus-20240229", "anthropic.claude-opus-4-8-v1:0",
        "gemini-3.6-flash", "google/gemini-2.0-flash-001", "models/gemini-2.5-pro",
        "llama-3.2-11b-vision-instruct", "meta-llama/Llama-4-Scout-17B-16E-Instruct", "llama4:scout",
        "grok-4", "grok-2-vision-1212", "moondream", "internvl3-8b", "glm-4.5v", "phi-3.5-vision-instruct",
        "phi-4-multimodal-instruct", "mistral-small3.1:24b", "smolvlm2-2.2b", "kimi-k2.6", "deepseek-vl2",
        "some-lab/new-vl-7b",
    ],
)  # fmt: skip
def test_models_that_see_are_known_by_name(model: str) -> None:
    assert sees_by_name(model)


@pytest.mark.parametrize(
    "model",
    [
        "", "gemma2", "gemma2-9b-it", "gemma3:1b", "gemma3:270m", "gemma-3-1b-it", "llama3.2", "llama3.2:3b",
        "llama-3.3-70b-versatile", "mistral", "mixtral", "mistral-small3", "codellama", "phi3", "phi-4", "qwen3:8b",
        "Qwen/Qwen3-32B", "qwen2.5-coder:32b", "deepseek-r1:8b", "deepseek-chat", "gpt-3.5-turbo", "gpt-oss:20b",
        "openai/gpt-oss-120b", "claude-2.1", "claude-instant-1.2", "o1-mini", "o3-mini", "glm-4.6", "kimi-k2-instruct",
        "gemini-embedding-001", "gpt-4o-transcribe", "gpt-4o-mini-tts", "gpt-4o-audio-preview", "gpt-image-1",
        "gemini-2.5-flash-preview-tts", "grok-3", "smollm2", "starcoder", "llama-guard3", "evl", "devlin-7b",
    ],
)  # fmt: skip
def test_others_are_not_taken_for_them(model: str) -> None:
    assert not sees_by_name(model)


@pytest.mark.parametrize(("model", "can"), LISTED)
def test_the_guess_agrees_with_the_list_about_seeing(model: str, can: frozenset[Capability]) -> None:
    assert sees_by_name(model) is (Capability.VISION in can)


@pytest.mark.parametrize(
    ("model", "thinks"),
    [
        ("deepseek-r1:8b", True), ("deepseek-reasoner", True), ("qwq:32b", True), ("gpt-5.5", True), ("o3", True),
        ("openai/gpt-oss-120b", True), ("claude-opus-4-8", True), ("gemini-2.5-pro", True), ("magistral-small", True),
        ("kimi-k2-thinking", True), ("gpt-4o", False), ("llama3.2", False), ("claude-3-haiku", False),
        ("gemini-2.0-flash", False), ("gpt-5-image", False),
    ],
)  # fmt: skip
def test_models_that_think_are_known_by_name(model: str, thinks: bool) -> None:
    assert reasons_by_name(model) is thinks


@pytest.mark.parametrize(
    ("model", "chats"),
    [
        ("llama3.2", True), ("nomic-embed-text", False), ("whisper-large-v3", False), ("bge-reranker-v2", False),
        ("mmproj-model-f16.gguf", False), ("gpt-4o", True), ("dall-e-3", False), ("imagen-4.0", False),
    ],
)  # fmt: skip
def test_what_is_no_chat_model_is_left_out(model: str, chats: bool) -> None:
    assert chats_by_name(model) is chats
