import socket
import threading
from typing import Any

import pytest

from skales.data.model_lists import KnownModel
from skales.providers.address import parse_base_url
from skales.providers.clients import SharedClients
from skales.providers.local_servers import FoundServer, Place, describe_models, find_servers
from tests.servers.json_site import JsonSite

WAIT_S = 5.0

pytestmark = pytest.mark.anyio


def place(api: str, url: str, *, provider_id: str = "custom", key: str = "", wants_key: bool = False) -> Place:
    return Place(
        provider_id=provider_id, api=api, address=parse_base_url(f"{url}/v1", "A"), key=key, wants_key=wants_key
    )


async def describe(clients: SharedClients, api: str, answers: dict[str, Any]) -> tuple[KnownModel, ...]:
    with JsonSite(answers) as site:
        return await describe_models(clients, place(api, site.url), WAIT_S)


SHOWN = {
    "llama3.2:3b": {
        "model_info": {"general.architecture": "llama", "llama.context_length": 131_072},
        "parameters": 'stop "<|eot_id|>"\nnum_ctx                        16384',
        "capabilities": ["completion", "tools"],
    },
    "llava:7b": {"model_info": {"llama.context_length": 32_768}, "capabilities": ["completion", "vision"]},
    "deepseek-r1:8b": {"model_info": {"qwen3.context_length": 131_072}, "capabilities": ["completion", "thinking"]},
    "old:latest": {"modelfile": "FROM x"},
}
OLLAMA = {
    "/api/tags": {"models": [{"name": name} for name in [*SHOWN, "nomic-embed-text:latest"]]},
    "/api/ps": {"models": [{"name": "llava:7b", "context_length": 4_096}]},
    "/api/show": lambda body: SHOWN.get(body["model"], {}),
}


async def test_ollama_tells_the_windows_that_models_have_and_that_they_run_with(clients: SharedClients) -> None:
    assert await describe(clients, "ollama", OLLAMA) == (
        KnownModel(
            id="llama3.2:3b", context_tokens=131_072, loaded_tokens=16_384, tools=True, vision=False, reasoning=False
        ),
        KnownModel(
            id="llava:7b", context_tokens=32_768, loaded_tokens=4_096, tools=False, vision=True, reasoning=False
        ),
        KnownModel(id="deepseek-r1:8b", context_tokens=131_072, tools=False, vision=False, reasoning=True),
        KnownModel(id="old:latest"),
    )


async def test_what_ollama_does_not_answer_stays_open(clients: SharedClients) -> None:
    answers = {"/api/tags": {"models": [{"name": "phi3"}, {"name": ""}, 7]}, "/api/show": (500, {"error": "x"})}
    assert await describe(clients, "ollama", answers) == (KnownModel(id="phi3"),)


async def test_a_slow_description_costs_itself_alone(clients: SharedClients) -> None:
    gate = threading.Event()
    with JsonSite({**OLLAMA, "/api/show": lambda body: gate.wait(timeout=10) or {}}) as site:
        found = await describe_models(clients, place("ollama", site.url), 0.4)
        gate.set()
    assert [model.id for model in found] == list(SHOWN)


async def test_lm_studio_tells_what_is_loaded(clients: SharedClients) -> None:
    rows = [
        {"id": "a", "type": "llm", "state": "loaded", "max_context_length": 131_072, "loaded_context_length": 4_096},
        {"id": "b", "type": "vlm", "state": "not-loaded", "max_context_length": 8_192, "capabilities": ["tool_use"]},
        {"id": "c", "type": "llm", "state": "not-loaded", "loaded_context_length": 2_048, "capabilities": []},
        {"id": "d", "type": "embeddings", "state": "not-loaded"},
    ]
    assert await describe(clients, "lmstudio", {"/api/v0/models": {"data": rows}}) == (
        KnownModel(id="a", context_tokens=131_072, loaded_tokens=4_096, vision=False),
        KnownModel(id="b", context_tokens=8_192, tools=True, vision=True),
        KnownModel(id="c", tools=False, vision=False),
    )


async def test_an_lm_studio_without_its_own_api_still_lists(clients: SharedClients) -> None:
    answers = {"/v1/models": {"data": [{"id": "a"}, {"id": "text-embedding-nomic"}]}}
    assert await describe(clients, "lmstudio", answers) == (KnownModel(id="a"),)


LISTED = {"data": [{"id": "m", "meta": {"n_ctx_train": 32_768}}]}


@pytest.mark.parametrize(
    ("props", "expected"),
    [
        (
            {"default_generation_settings": {"n_ctx": 8_192}, "modalities": {"vision": True}},
            KnownModel(id="m", context_tokens=32_768, loaded_tokens=8_192, vision=True),
        ),
        ({"n_ctx": 2_048}, KnownModel(id="m", context_tokens=32_768, loaded_tokens=2_048)),
        ((404, {}), KnownModel(id="m", context_tokens=32_768)),
        ((200, b"not json"), KnownModel(id="m", context_tokens=32_768)),
    ],
    ids=["newer", "older", "none", "noise"],
)
async def test_llama_cpp_tells_the_window_it_was_started_with(
    props: Any, expected: KnownModel, clients: SharedClients
) -> None:
    assert await describe(clients, "llamacpp", {"/v1/models": LISTED, "/props": props}) == (expected,)


async def test_the_window_of_one_model_is_not_said_of_several(clients: SharedClients) -> None:
    rows = {"data": [{"id": "a", "max_model_len": 4_096}, {"id": "b", "meta": {"n_ctx": 512}}]}
    answers = {"/v1/models": rows, "/props": {"n_ctx": 99}}
    assert await describe(clients, "llamacpp", answers) == (
        KnownModel(id="a", context_tokens=4_096),
        KnownModel(id="b", loaded_tokens=512),
    )


@pytest.mark.parametrize("api", ["ollama", "lmstudio", "llamacpp", ""])
@pytest.mark.parametrize(
    "answer",
    [(404, {}), (500, {}), (200, b"<html>"), (200, b"[]"), (200, {"hello": 1}), (401, {}), (200, b"[" * 100_000)],
    ids=["404", "500", "page", "list", "other", "locked", "deep"],
)
async def test_another_program_is_no_model_server(api: str, answer: Any, clients: SharedClients) -> None:
    answers = dict.fromkeys(("/api/tags", "/api/v0/models", "/v1/models"), answer)
    assert await describe(clients, api, answers) == ()


async def test_a_key_is_shown_where_there_is_one(clients: SharedClients) -> None:
    with JsonSite({"/v1/models": LISTED}) as site:
        await describe_models(clients, place("", site.url, key="sk-unsloth-1"), WAIT_S)
        await describe_models(clients, place("", site.url), WAIT_S)
    assert [headers.get("authorization") for headers in site.headers] == ["Bearer sk-unsloth-1", None]


async def test_all_places_are_asked_at_once_and_keep_their_order(clients: SharedClients) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closing:
        nobody = f"http://127.0.0.1:{closing.getsockname()[1]}"
    with JsonSite(OLLAMA) as ollama, JsonSite({}) as stranger, JsonSite({"/v1/models": LISTED}) as llama:
        found = await find_servers(
            clients,
            [
                place("ollama", ollama.url, provider_id="ollama"),
                place("lmstudio", nobody, provider_id="lmstudio"),
                place("llamacpp", stranger.url),
                place("llamacpp", llama.url),
            ],
            WAIT_S,
        )
        assert [server.provider_id for server in found] == ["ollama", "custom"]
        assert found[1] == FoundServer(
            "custom", f"{llama.url}/v1", (KnownModel(id="m", context_tokens=32_768),), needs_key=False
        )


async def test_a_server_that_hangs_is_waited_for_as_long_as_said(clients: SharedClients) -> None:
    with JsonSite(OLLAMA) as slow, JsonSite(OLLAMA) as quick:
        slow.hold.clear()
        places = [place("ollama", slow.url, provider_id="slow"), place("ollama", quick.url, provider_id="quick")]
        found = await find_servers(clients, places, 0.5)
    assert [server.provider_id for server in found] == ["quick"]


@pytest.mark.parametrize("wants_key", [True, False])
async def test_a_locked_server_is_found_where_one_is_expected(wants_key: bool, clients: SharedClients) -> None:
    with JsonSite({"/v1/models": (401, {"error": "key"})}) as site:
        found = await find_servers(clients, [place("", site.url, wants_key=wants_key)], WAIT_S)
        assert found == ([FoundServer("custom", f"{site.url}/v1", (), needs_key=True)] if wants_key else [])
