import json

import anyio
import anyio.lowlevel
import pytest
from anyio import wait_all_tasks_blocked
from msgspec import structs

from skales.core.errors import InputError, ProviderError, ProviderFault
from skales.core.ports import ModelChooser
from skales.data.model_lists import KnownModel
from skales.data.model_probes import ProbeResult
from skales.data.sign_ins import StoredSignIn
from tests.app.conftest import Setup
from tests.providers.conftest import ask
from tests.providers.outcome import collect
from tests.servers.json_site import JsonSite
from tests.servers.raw_sse import RawServer, Reply, json_reply

ANSWER = Reply(b'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n')

pytestmark = pytest.mark.anyio


def test_models_are_what_a_turn_asks_for() -> None:
    def accept(chooser: ModelChooser) -> ModelChooser:
        return chooser

    from skales.app.models import Models

    assert accept(Models.__new__(Models))


# --- choosing ---


async def test_a_provider_is_asked_as_the_settings_say(setup: Setup, server: RawServer) -> None:
    setup.provider("custom", baseUrl=server.url, apiKey="sk-1", model="demo")
    server.replies.append(ANSWER)
    chosen = setup.models.choose("custom")
    assert (chosen.provider_id, chosen.model) == ("custom", "demo")
    assert (await collect(chosen.provider.stream(ask()))).text == "Hi"
    assert server.requests[0].headers["authorization"] == "Bearer sk-1"


async def test_the_same_settings_give_the_same_provider(setup: Setup, server: RawServer) -> None:
    setup.provider("custom", baseUrl=server.url, model="demo")
    first = setup.models.choose("custom").provider
    assert setup.models.choose("custom", "other").provider is first
    setup.provider("custom", baseUrl=server.url, model="demo", apiKey="sk-2")
    assert setup.models.choose("custom").provider is not first


@pytest.mark.parametrize(
    ("provider_id", "values", "says"),
    [
        ("custom", {"model": "m"}, "has no address"),
        ("custom", {"baseUrl": "http://127.0.0.1:1/v1"}, "No model is chosen"),
        ("openai", {"enabled": False, "apiKey": "sk-1"}, "switched off"),
        ("acme", {}, "There is no provider"),
        ("cloudflare_workers_ai", {"apiKey": "k"}, "needs your account id"),
        ("moonshot", {"apiKey": "k", "endpoint": "Mars"}, "has no endpoint 'Mars'"),
        ("gigachat", {"apiKey": "k", "accountType": "royal"}, "has no account type 'royal'"),
        ("skales_iq", {}, "off until you turn it on"),
        ("skales_iq", {"model": "skales-iq"}, "off until you turn it on"),
        ("openai_oauth", {"model": "gpt-5.5"}, "off until you turn it on"),
    ],
)
async def test_what_cannot_be_asked_says_what_to_do(
    provider_id: str, values: dict[str, object], says: str, setup: Setup
) -> None:
    setup.provider(provider_id, **values)
    with pytest.raises(ProviderError) as caught:
        setup.models.choose(provider_id)
    assert caught.value.fault is ProviderFault.NOT_CONFIGURED
    assert says in caught.value.message
    assert caught.value.hint


async def test_the_reason_for_being_off_is_told_whole(setup: Setup) -> None:
    with pytest.raises(ProviderError) as caught:
        setup.models.choose("skales_iq")
    assert "relay on the internet that other people run" in caught.value.hint
    assert "\n" not in caught.value.hint


@pytest.mark.parametrize("deed", ["test", "refresh"])
async def test_nothing_is_sent_to_what_nobody_turned_on(deed: str, setup: Setup, server: RawServer) -> None:
    setup.provider("skales_iq", baseUrl=server.url)
    if deed == "test":
        with pytest.raises(ProviderError):
            await setup.models.test("skales_iq")
    else:
        refreshed = await setup.models.refresh("skales_iq")
        assert refreshed.models == ("skales-iq",)
        assert refreshed.error is not None
    assert server.requests == []

    server.replies.append(json_reply({"data": [{"id": "iq-2"}]}))
    setup.provider("skales_iq", baseUrl=server.url, enabled=True)
    assert await setup.models.test("skales_iq") == ["iq-2"]


@pytest.mark.parametrize(
    ("provider_id", "values", "address"),
    [
        ("cloudflare_workers_ai", {"accountId": "0a1b"}, "https://api.cloudflare.com/client/v4/accounts/0a1b/ai/v1"),
        ("moonshot", {"endpoint": "china"}, "https://api.moonshot.cn/v1"),
        ("moonshot", {}, "https://api.moonshot.ai/v1"),
        ("glm", {"endpoint": "China"}, "https://open.bigmodel.cn/api/paas/v4"),
        ("hunyuan", {"endpoint": "China"}, "https://tokenhub.tencentmaas.com/v1"),
        ("moonshot", {"endpoint": "China", "baseUrl": "https://own.example/v1"}, "https://own.example/v1"),
    ],
)
async def test_addresses_are_completed_from_the_settings(
    provider_id: str, values: dict[str, object], address: str, setup: Setup
) -> None:
    setup.provider(provider_id, apiKey="k", **values)
    offers = {offer.provider_id for offer in setup.models.available()}
    assert provider_id in offers
    setup.stores.lists.save(provider_id, address, [KnownModel(id="only-there")])
    (offer,) = [offer for offer in setup.models.available() if offer.provider_id == provider_id]
    assert "only-there" in offer.models


async def test_an_account_id_cannot_bend_the_address(setup: Setup) -> None:
    with pytest.raises(Exception, match="account id"):
        setup.provider("cloudflare_workers_ai", apiKey="k", accountId="x/../../evil")


async def test_a_gigachat_key_goes_to_the_exchange_and_its_token_to_the_model(setup: Setup, server: RawServer) -> None:
    with JsonSite({"/oauth": {"access_token": "t1", "expires_at": setup.clock.now_ms() + 1_800_000}}) as exchange:
        setup.provider(
            "gigachat", apiKey="secret", baseUrl=server.url, tokenUrl=f"{exchange.url}/oauth", accountType="corporate"
        )
        server.replies.extend([ANSWER, ANSWER])
        for _ in range(2):
            assert (await collect(setup.models.choose("gigachat").provider.stream(ask()))).text == "Hi"
    assert exchange.requests == ["POST /oauth"]
    assert exchange.headers[0]["authorization"] == "Basic secret"
    assert [request.headers["authorization"] for request in server.requests] == ["Bearer t1"] * 2


async def test_a_gigachat_behind_a_server_of_ones_own_gets_the_key_as_it_is(setup: Setup, server: RawServer) -> None:
    setup.provider("gigachat", apiKey="own", baseUrl=server.url)
    server.replies.append(ANSWER)
    await collect(setup.models.choose("gigachat").provider.stream(ask()))
    assert server.requests[0].headers["authorization"] == "Bearer own"


async def test_a_signed_in_person_needs_no_key(setup: Setup, server: RawServer) -> None:
    setup.provider("openai_oauth", enabled=True, baseUrl=server.url)
    outcome = await collect(setup.models.choose("openai_oauth").provider.stream(ask()))
    assert outcome.error is not None
    assert "Nobody is signed in" in outcome.error.message
    assert server.requests == []

    setup.stores.sign_ins.save("openai_oauth", StoredSignIn("access", "refresh", setup.clock.now_ms() + 3_600_000))
    told = b'data: {"type":"response.output_text.delta","output_index":0,"delta":"Hi"}\n\n'
    end = b'data: {"type":"response.completed","response":{"status":"completed","output":[]}}\n\n'
    server.replies.append(Reply(told + end))
    assert (await collect(setup.models.choose("openai_oauth").provider.stream(ask()))).text == "Hi"
    assert server.requests[0].headers["authorization"] == "Bearer access"
    assert server.requests[0].path.endswith("/responses")
    assert server.requests[0].json["store"] is False
    assert "openai_oauth" in [offer.provider_id for offer in setup.models.available()]


@pytest.mark.parametrize("wanted", [("", ""), ("openai", "gpt-5.5"), ("nobody", "x")])
async def test_who_stands_by_is_known_also_for_what_cannot_be_asked_at_all(
    wanted: tuple[str, str], setup: Setup
) -> None:
    setup.configure(
        activeProvider="openai",
        providers={"openai": {"apiKey": "k", "enabled": False}, "groq": {"apiKey": "k"}},
        fallbackProviders=["openai/gpt-5.5", "groq/llama-3.1-8b-instant"],
    )
    with pytest.raises(ProviderError):
        setup.models.choose(*wanted)
    assert [chosen.provider_id for chosen in setup.models.fallbacks(*wanted)] == ["groq"]


# --- facts ---


async def test_facts_follow_catalogue_list_probe_and_person(setup: Setup) -> None:
    address = "http://127.0.0.1:11434/v1"
    assert setup.models.facts("openai", "gpt-5.5").input_usd_per_million == 5
    assert setup.models.facts("ollama", "gemma3:4b").vision

    setup.stores.lists.save(
        "ollama", address, [KnownModel(id="gemma3:4b", context_tokens=131_072, loaded_tokens=8_192, vision=False)]
    )
    told = setup.models.facts("ollama", "gemma3:4b")
    assert (told.context_tokens, told.vision) == (8_192, False)
    assert "8,192 of its 131,072 tokens" in told.warning

    setup.stores.probes.save("ollama", "gemma3:4b", ProbeResult(address=address, vision=True, tools=False))
    measured = setup.models.facts("ollama", "gemma3:4b")
    assert (measured.vision, measured.tools, measured.is_measured) == (True, False, True)

    setup.provider("ollama", models={"*": {"tools": True, "contextTokens": 65_536}})
    own = setup.models.facts("ollama", "gemma3:4b")
    assert (own.tools, own.context_tokens, own.warning) == (True, 65_536, "")


async def test_the_window_a_turn_sees_is_the_one_in_the_facts(setup: Setup) -> None:
    setup.provider("ollama", model="phi3", enabled=True)
    provider = setup.models.choose("ollama").provider
    assert provider.max_tokens("phi3") == setup.models.facts("ollama", "phi3").context_tokens == 4_096
    setup.stores.lists.save("ollama", "http://127.0.0.1:11434/v1", [KnownModel(id="phi3", loaded_tokens=32_768)])
    assert provider.max_tokens("phi3") == 32_768


async def test_a_list_of_another_address_does_not_count(setup: Setup) -> None:
    setup.stores.lists.save("ollama", "http://192.168.1.5:11434/v1", [KnownModel(id="phi3", loaded_tokens=32_768)])
    assert setup.models.facts("ollama", "phi3").context_tokens == 4_096


async def test_a_provider_that_is_gone_is_judged_by_name(setup: Setup) -> None:
    assert setup.models.facts("gone", "gpt-4o").vision
    assert not setup.models.facts("gone", "acme-1").vision


# --- offers ---


async def test_only_what_has_a_credential_is_offered(setup: Setup) -> None:
    setup.configure(
        activeProvider="openai",
        providers={
            "openai": {"apiKey": "sk-1", "model": "gpt-5.4-mini"},
            "anthropic": {"model": "claude-sonnet-5"},
            "groq": {"apiKey": "gsk", "enabled": False},
            "mistral": {"baseUrl": "http://127.0.0.1:4000/v1"},
            "custom": {},
            "custom_lab": {"baseUrl": "http://192.168.1.7:8000/v1", "model": "m", "label": "The lab"},
            "cloudflare_workers_ai": {"apiKey": "k"},
            "skales_iq": {"model": "skales-iq"},
            "strange": {"apiKey": "x"},
        },
    )
    offers = {offer.provider_id: offer for offer in setup.models.available()}
    assert list(offers) == ["openai", "skales_local", "mistral", "custom_lab"]
    assert offers["openai"].is_active
    assert offers["openai"].models == ("gpt-5.4-mini", "gpt-5.5", "gpt-5.4-nano")
    assert (offers["custom_lab"].is_local, offers["openai"].is_local) == (True, False)
    assert (offers["custom_lab"].label, offers["custom_lab"].models) == ("The lab", ("m",))


async def test_a_server_on_this_computer_is_offered_once_it_answered_with_what_it_has(setup: Setup) -> None:
    assert "ollama" not in [offer.provider_id for offer in setup.models.available()]
    rows = [KnownModel(id="qwen3:8b"), KnownModel(id="nomic-embed-text")]
    setup.stores.lists.save("ollama", "http://127.0.0.1:11434/v1", rows)
    (offer,) = [offer for offer in setup.models.available() if offer.provider_id == "ollama"]
    assert offer.models == ("qwen3:8b",)
    assert offer.fetched_ms == setup.clock.now_ms()
    assert setup.models.choose("ollama").model == "qwen3:8b"


async def test_offers_make_no_request(setup: Setup, server: RawServer) -> None:
    setup.provider("custom", baseUrl=server.url, apiKey="k", model="m")
    assert setup.models.available()
    assert server.requests == []


# --- refreshing and finding ---


async def test_a_list_is_fetched_kept_and_told_with_its_time(setup: Setup, server: RawServer) -> None:
    setup.provider("openai", baseUrl=server.url, apiKey="k")
    server.replies.append(json_reply({"data": [{"id": "gpt-5.5"}, {"id": "gpt-6", "context_length": 7_000}]}))
    refreshed = await setup.models.refresh("openai")
    assert refreshed == structs.replace(
        refreshed, models=("gpt-5.5", "gpt-6"), fetched_ms=setup.clock.now_ms(), error=None
    )
    (offer,) = [offer for offer in setup.models.available() if offer.provider_id == "openai"]
    assert offer.models == ("gpt-5.5", "gpt-5.4-mini", "gpt-5.4-nano", "gpt-6")
    assert setup.models.facts("openai", "gpt-6").context_tokens == 7_000


async def test_an_endpoint_that_fails_leaves_the_last_list_and_before_that_the_curated_one(
    setup: Setup, server: RawServer
) -> None:
    setup.provider("openai", baseUrl=server.url, apiKey="k")
    refusal = json_reply({"error": {"message": "no"}}, 401)
    server.replies.append(refusal)
    first = await setup.models.refresh("openai")
    assert first.models == ("gpt-5.5", "gpt-5.4-mini", "gpt-5.4-nano")
    assert first.fetched_ms == 0
    assert first.error is not None
    assert first.error.fault is ProviderFault.BAD_KEY

    server.replies.extend([json_reply({"data": [{"id": "a"}]}), refusal])
    then_ms = setup.clock.now_ms()
    assert (await setup.models.refresh("openai")).models == ("a",)
    setup.clock.advance(61)
    late = await setup.models.refresh("openai")
    assert (late.models, late.fetched_ms) == (("a",), then_ms)
    assert late.error is not None


TAGS = {"models": [{"name": "qwen3:8b"}]}
SHOWN = {"model_info": {"qwen3.context_length": 40_960}, "capabilities": ["tools"], "parameters": "num_ctx 16384"}


async def test_a_local_server_is_asked_in_its_own_words(setup: Setup) -> None:
    with JsonSite({"/api/tags": TAGS, "/api/show": SHOWN}) as ollama:
        setup.provider("ollama", baseUrl=f"{ollama.url}/v1")
        assert await setup.models.test("ollama") == ["qwen3:8b"]
    known = setup.models.facts("ollama", "qwen3:8b")
    assert (known.context_tokens, known.tools) == (16_384, True)
    assert "16,384 of its 40,960" in known.warning


async def test_servers_are_found_where_the_settings_say_and_kept(setup: Setup) -> None:
    with JsonSite({"/api/tags": TAGS}) as ollama, JsonSite({"/v1/models": {"data": [{"id": "m"}]}}) as lab:
        setup.provider("ollama", baseUrl=f"{ollama.url}/v1", apiKey="cloud")
        setup.provider("custom_lab", baseUrl=f"{lab.url}/v1")
        setup.provider("custom_off", baseUrl=f"{lab.url}/v1", enabled=False)
        found = await setup.models.detect_local(timeout_s=5)
    mine = {server.provider_id for server in found} & {"ollama", "custom_lab", "custom_off"}
    assert mine == {"ollama", "custom_lab"}
    assert ollama.headers[0]["authorization"] == "Bearer cloud"
    offered = {offer.provider_id: offer.models for offer in setup.models.available()}
    assert (offered["ollama"], offered["custom_lab"]) == (("qwen3:8b",), ("m",))


async def test_the_real_window_is_looked_up_once_a_model_has_answered(setup: Setup) -> None:
    loaded = {"models": [{"name": "qwen3:8b", "context_length": 32_768}]}
    with JsonSite({"/api/tags": TAGS, "/api/show": {}, "/api/ps": {"models": []}}) as ollama:
        setup.provider("ollama", baseUrl=f"{ollama.url}/v1", model="qwen3:8b")
        assert setup.models.facts("ollama", "qwen3:8b").context_tokens == 4_096
        ollama.answers["/api/ps"] = loaded
        setup.models.report_success("ollama")
        with anyio.fail_after(10):
            while setup.models.facts("ollama", "qwen3:8b").context_tokens != 32_768:
                await anyio.lowlevel.checkpoint()
        asked = len(ollama.requests)
        setup.models.report_success("ollama")
        await wait_all_tasks_blocked()
        assert len(ollama.requests) == asked


async def test_a_server_that_cannot_be_looked_at_disturbs_nobody(setup: Setup, server: RawServer) -> None:
    with RawServer() as closed:
        address = closed.url
    setup.provider("ollama", baseUrl=address, model="m")
    setup.provider("custom", baseUrl=server.url, model="m")
    for provider_id in ("ollama", "custom", "openai", "gone"):
        setup.models.report_success(provider_id)
    await wait_all_tasks_blocked()
    assert server.requests == []


# --- standing by ---


async def test_fallbacks_come_in_their_order_and_the_able_first(setup: Setup) -> None:
    setup.configure(
        activeProvider="openai",
        providers={"openai": {"apiKey": "k"}, "groq": {"apiKey": "k"}, "anthropic": {"apiKey": "k"}},
        fallbackProviders=[
            {"provider": "groq", "model": "llama-3.3-70b-versatile", "note": "fast"},
            "openai/gpt-5.5",
            "mistral/mistral-large-latest",
            "anthropic",
            "nobody/x",
            "",
        ],
    )

    def names(**needs: bool) -> list[tuple[str, str]]:
        chain = setup.models.fallbacks("openai", "gpt-5.5", **needs)
        return [(chosen.provider_id, chosen.model) for chosen in chain]

    groq = ("groq", "llama-3.3-70b-versatile")
    anthropic = ("anthropic", "claude-fable-5")
    assert names() == [groq, anthropic]
    assert names(needs_vision=True) == [anthropic, groq]
    raw = setup.settings.load().fallback_providers[0]
    assert raw.model_extra == {"note": "fast"}


async def test_one_without_a_key_does_not_stand_by(setup: Setup) -> None:
    setup.configure(providers={}, fallbackProviders=["mistral/mistral-large-latest"])
    assert setup.models.fallbacks("openai", "gpt-5.5") == []


async def test_a_local_server_stands_by_when_it_is_named(setup: Setup) -> None:
    setup.configure(fallbackProviders=["ollama/phi3", "skales_local"])
    chain = setup.models.fallbacks("openai", "gpt-5.5", needs_tools=True)
    assert [chosen.provider_id for chosen in chain] == ["skales_local", "ollama"]


async def test_a_provider_that_failed_rests_for_a_minute(setup: Setup) -> None:
    setup.configure(providers={"groq": {"apiKey": "k"}}, fallbackProviders=["groq/llama-3.1-8b-instant"])
    models = setup.models
    models.report_failure("openai")
    models.report_failure("groq")
    assert models.is_resting("openai")
    assert models.fallbacks("openai", "gpt-5.5") == []
    setup.clock.advance(59.5)
    assert models.is_resting("openai")
    setup.clock.advance(0.5)
    assert not models.is_resting("openai")
    assert [chosen.provider_id for chosen in models.fallbacks("openai", "gpt-5.5")] == ["groq"]
    models.report_failure("openai")
    models.report_success("openai")
    assert not models.is_resting("openai")


# --- trying ---


def calling(*cities: str) -> Reply:
    calls = [
        {
            "index": number,
            "id": f"c{number}",
            "function": {"name": "get_weather", "arguments": json.dumps({"city": city})},
        }
        for number, city in enumerate(cities)
    ]
    return saying("", calls)


def saying(text: str, calls: list[dict[str, object]] | None = None) -> Reply:
    delta = {"content": text, **({"tool_calls": calls} if calls else {})}
    chunk = {"choices": [{"delta": delta, "finish_reason": "tool_calls" if calls else "stop"}]}
    return Reply(f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode())


async def test_what_a_probe_finds_counts_from_then_on(setup: Setup, server: RawServer) -> None:
    setup.provider("custom", baseUrl=server.url, model="gpt-4o-lookalike")
    assert setup.models.facts("custom", "gpt-4o-lookalike").vision
    server.replies.extend(
        [calling("Lisbon"), calling("Lisbon"), saying('{"city": "Foo", "founded": 1200}'), saying("I cannot see")]
    )
    steps = [step async for step in setup.models.probe("custom", context_ceiling_tokens=0)]
    result = ProbeResult(
        address=server.url,
        probed_ms=setup.clock.now_ms(),
        tools=True,
        parallel_calls=False,
        json=True,
        vision=False,
    )
    assert steps[-1] == result
    known = setup.models.facts("custom", "gpt-4o-lookalike")
    assert (known.tools, known.parallel_calls, known.json, known.vision) == (True, False, True, False)
    assert known.is_measured


async def test_the_window_is_tried_where_it_costs_nothing(setup: Setup, server: RawServer) -> None:
    setup.provider("custom", baseUrl=server.url, model="m")
    overflow = json_reply({"error": {"message": "the request exceeds the available context size (8192 tokens)"}}, 400)
    server.replies.extend([calling("Lisbon"), calling("Lisbon", "Oslo"), saying("{}"), saying("blue yellow"), overflow])
    assert [step async for step in setup.models.probe("custom")]
    known = setup.models.facts("custom", "m")
    assert (known.context_tokens, known.vision, known.json) == (8_192, True, False)


async def test_a_probe_that_cannot_ask_keeps_nothing(setup: Setup, server: RawServer) -> None:
    setup.provider("custom", baseUrl=server.url, model="m")
    server.replies.append(json_reply({"error": {"message": "no"}}, 401))
    with pytest.raises(ProviderError):
        assert [step async for step in setup.models.probe("custom")]
    assert not setup.models.facts("custom", "m").is_measured


async def test_the_embedded_model_is_not_probed(setup: Setup) -> None:
    with pytest.raises(InputError):
        assert [step async for step in setup.models.probe("skales_local")]
