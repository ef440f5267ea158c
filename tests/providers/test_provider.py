import json
from collections.abc import Iterator

import anyio
import pytest

from skales.core.errors import ProviderError, ProviderFault
from skales.core.message import Usage
from skales.core.ports import ChatRequest, FinishReason, RetryPlanned, TextPiece
from skales.providers.catalog import find_entry
from skales.providers.clients import SharedClients
from skales.providers.endpoint import Endpoint
from skales.providers.provider import OpenAIProvider, build_provider
from tests.conftest import CASES, FixedClock
from tests.providers.conftest import MakeProvider, Pauses, ask, entry_with
from tests.providers.outcome import collect
from tests.servers.raw_sse import Ending, RawServer, Reply, json_reply

RECORDED = CASES / "providers"
BODIES = {path.stem: path.read_bytes() for path in RECORDED.glob("*.sse")}
EXPECTED = {
    path.name.removesuffix(".expected.json"): json.loads(path.read_text(encoding="utf-8"))
    for path in RECORDED.glob("*.expected.json")
}

HI = b'data: {"choices":[{"delta":{"content":"Hi"}}]}\n\n'
STOP = b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n'
DONE = b"data: [DONE]\n\n"
CALL = (
    b'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}]}}]}\n\n'
)
OVERLOADED = json_reply({"error": {"message": "Engine overloaded"}}, 503)

pytestmark = pytest.mark.anyio


# --- answers ---


@pytest.mark.parametrize("piece_bytes", [0, 1, 7])
@pytest.mark.parametrize("case", ["PRV-01-no-index", "PRV-02-same-index", "PRV-03-framing"])
async def test_a_recorded_stream_comes_out_whole(
    case: str, piece_bytes: int, server: RawServer, make_provider: MakeProvider
) -> None:
    server.replies.append(Reply(BODIES[case], piece_bytes=piece_bytes))

    outcome = await collect(make_provider().stream(ask()))

    expected = EXPECTED[case]
    assert outcome.error is None
    assert outcome.text == expected["text"]
    assert outcome.finish == expected["finish"]
    calls = [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in outcome.calls]
    assert calls == expected["calls"]


async def test_tokens_are_read_from_the_chunk_without_choices(server: RawServer, make_provider: MakeProvider) -> None:
    server.replies.append(Reply(BODIES["PRV-03-framing"]))
    outcome = await collect(make_provider().stream(ask()))
    usage = EXPECTED["PRV-03-framing"]["usage"]
    assert outcome.usage == Usage(usage["input"], usage["output"])


@pytest.mark.parametrize("piece_bytes", [0, 1])
@pytest.mark.parametrize(
    ("case", "fault"),
    [
        ("PRV-04a-error-after-text", ProviderFault.OVERLOADED),
        ("PRV-04b-error-inside-tool-call", ProviderFault.OVERLOADED),
        ("PRV-04c-unframed-error", ProviderFault.CONTEXT_OVERFLOW),
    ],
)
async def test_an_error_inside_a_stream_ends_the_answer(
    case: str, fault: ProviderFault, piece_bytes: int, server: RawServer, make_provider: MakeProvider
) -> None:
    server.replies.extend([Reply(BODIES[case], piece_bytes=piece_bytes)] * 3)

    outcome = await collect(make_provider().stream(ask()))

    expected = EXPECTED["PRV-04"][case.removeprefix("PRV-04")[0]]
    assert outcome.text == expected["partial_text"]
    assert outcome.calls == []
    assert outcome.finish is None
    assert outcome.error is not None
    assert outcome.error.fault is fault
    assert expected["error_contains"] in outcome.error.message


async def test_a_burst_of_text_arrives_as_few_pieces(server: RawServer, make_provider: MakeProvider) -> None:
    server.replies.append(Reply(HI * 500 + STOP + DONE))
    outcome = await collect(make_provider().stream(ask()))
    assert outcome.text == "Hi" * 500
    assert outcome.pieces < 50


# --- what is sent ---


async def test_a_request_goes_to_the_chat_address_with_the_key(server: RawServer, make_provider: MakeProvider) -> None:
    server.replies.append(Reply(HI + STOP))
    await collect(make_provider(key=" sk-1\n").stream(ask("Hello 🙂 \ud83d")))
    (request,) = server.requests
    assert (request.method, request.path) == ("POST", "/v1/chat/completions")
    assert request.headers["authorization"] == "Bearer sk-1"
    assert request.headers["user-agent"].startswith("Skales/")
    assert request.json == {
        "model": "demo",
        "messages": [{"role": "user", "content": "Hello 🙂 ?"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


@pytest.mark.parametrize("provider_id", ["custom", "ollama", "lmstudio", "custom_2"])
async def test_without_a_key_no_authorization_is_sent(
    provider_id: str, server: RawServer, make_provider: MakeProvider
) -> None:
    server.replies.append(Reply(HI + STOP))
    await collect(make_provider(provider_id).stream(ask()))
    assert "authorization" not in server.requests[0].headers


async def test_requests_share_a_connection(server: RawServer, make_provider: MakeProvider) -> None:
    server.replies.extend([Reply(HI + STOP + DONE), Reply(HI + STOP), json_reply({"data": []})])
    provider = make_provider()
    await collect(provider.stream(ask()))
    await collect(provider.stream(ask()))
    await provider.list_models()
    assert len({request.connection for request in server.requests}) == 1


async def test_a_field_that_the_endpoint_refuses_is_left_out_from_then_on(
    server: RawServer, make_provider: MakeProvider
) -> None:
    refusal = {"detail": [{"type": "extra_forbidden", "loc": ["body", "stream_options"], "msg": "Not permitted"}]}
    server.replies.extend([json_reply(refusal, 422), Reply(HI + STOP), Reply(HI + STOP)])
    provider = make_provider()
    assert (await collect(provider.stream(ask()))).text == "Hi"
    assert (await collect(provider.stream(ask()))).text == "Hi"
    assert ["stream_options" in request.json for request in server.requests] == [True, False, False]


async def test_the_other_spelling_of_the_output_limit_is_tried(server: RawServer, make_provider: MakeProvider) -> None:
    message = "Unsupported parameter: 'max_tokens' is not supported with this model."
    server.replies.extend([json_reply({"error": {"message": message}}, 400), Reply(HI + STOP)])
    request = ChatRequest(model="demo", messages=ask().messages, max_output_tokens=100)
    assert (await collect(make_provider().stream(request))).error is None
    assert server.requests[0].json["max_tokens"] == 100
    assert server.requests[1].json["max_completion_tokens"] == 100
    assert "max_tokens" not in server.requests[1].json


async def test_an_endpoint_that_refuses_everything_is_not_asked_forever(
    server: RawServer, make_provider: MakeProvider
) -> None:
    message = "stream_options, max_tokens, max_completion_tokens, temperature: not supported"
    server.replies.extend([json_reply({"error": {"message": message}}, 400)] * 9)
    request = ChatRequest(model="demo", messages=ask().messages, max_output_tokens=100, temperature=0.5)
    outcome = await collect(make_provider().stream(request))
    assert outcome.error is not None
    assert outcome.error.fault is ProviderFault.BAD_REQUEST
    assert set(server.requests[-1].json) == {"model", "messages", "stream"}


# --- trying again ---


async def test_a_failure_before_any_output_is_tried_again(
    server: RawServer, make_provider: MakeProvider, pauses: Pauses
) -> None:
    server.replies.extend([OVERLOADED, OVERLOADED, Reply(HI + STOP)])
    outcome = await collect(make_provider().stream(ask()))
    assert outcome.text == "Hi"
    assert [plan.attempt for plan in outcome.retries] == [2, 3]
    assert pauses.taken_s == [plan.wait_s for plan in outcome.retries] == [0.5, 1.0]
    assert "Engine overloaded" in outcome.retries[0].reason


async def test_the_third_failure_is_the_answer(server: RawServer, make_provider: MakeProvider) -> None:
    server.replies.extend([OVERLOADED] * 3)
    outcome = await collect(make_provider().stream(ask()))
    assert outcome.error is not None
    assert outcome.error.fault is ProviderFault.OVERLOADED
    assert len(server.requests) == 3


async def test_the_endpoint_may_say_how_long_to_wait(
    server: RawServer, make_provider: MakeProvider, pauses: Pauses
) -> None:
    limited = json_reply({"error": {"message": "Rate limit"}}, 429, {"Retry-After": "7"})
    server.replies.extend([limited, Reply(HI + STOP)])
    await collect(make_provider().stream(ask()))
    assert pauses.taken_s == [7.0]


async def test_nothing_is_said_twice(server: RawServer, make_provider: MakeProvider) -> None:
    server.replies.extend([Reply(HI), Reply(HI + STOP)])
    outcome = await collect(make_provider().stream(ask()))
    assert outcome.text == "Hi"
    assert outcome.error is not None
    assert outcome.error.fault is ProviderFault.STREAM_CUT
    assert len(server.requests) == 1


async def test_a_call_that_was_cut_off_before_any_output_is_asked_for_again(
    server: RawServer, make_provider: MakeProvider
) -> None:
    server.replies.extend([Reply(CALL, ending=Ending.CUT), Reply(CALL + STOP)])
    outcome = await collect(make_provider().stream(ask()))
    assert [call.id for call in outcome.calls] == ["a"]
    assert len(outcome.retries) == 1


async def test_what_will_not_get_better_is_not_tried_again(server: RawServer, make_provider: MakeProvider) -> None:
    server.replies.append(json_reply({"error": {"message": "Incorrect API key provided: sk-1"}}, 401))
    outcome = await collect(make_provider(key="sk-1").stream(ask()))
    assert outcome.error is not None
    assert outcome.error.fault is ProviderFault.BAD_KEY
    assert "sk-1" not in str(outcome.error)
    assert len(server.requests) == 1


# --- broken and silent lines ---


async def test_a_line_that_breaks_keeps_what_came(server: RawServer, make_provider: MakeProvider) -> None:
    server.replies.append(Reply(HI + b'data: {"choices":[{"delta":{"content":" <th"}}]}\n\n', ending=Ending.CUT))
    outcome = await collect(make_provider().stream(ask()))
    assert outcome.text == "Hi <th"
    assert outcome.error is not None
    assert outcome.error.fault is ProviderFault.STREAM_CUT


async def test_a_line_that_breaks_after_the_reason_does_no_harm(server: RawServer, make_provider: MakeProvider) -> None:
    server.replies.append(Reply(CALL + STOP, ending=Ending.CUT))
    outcome = await collect(make_provider().stream(ask()))
    assert outcome.error is None
    assert outcome.finish is FinishReason.TOOL_CALLS


async def test_silence_after_the_reason_does_no_harm(server: RawServer, make_provider: MakeProvider) -> None:
    server.replies.append(Reply(HI + STOP, ending=Ending.STALL))
    outcome = await collect(make_provider(timeout_s=0.2).stream(ask()))
    assert outcome.error is None
    assert outcome.finish is FinishReason.STOP


async def test_an_endpoint_that_holds_the_line_after_the_end_is_left(
    server: RawServer, make_provider: MakeProvider
) -> None:
    server.replies.append(Reply(HI + STOP + DONE, ending=Ending.STALL))
    outcome = await collect(make_provider(timeout_s=30).stream(ask()))
    assert outcome.finish is FinishReason.STOP
    assert server.wait_until_left()


@pytest.mark.parametrize("body", [b"", HI], ids=["before the answer", "inside the answer"])
async def test_an_endpoint_that_falls_silent_is_given_up(
    body: bytes, server: RawServer, make_provider: MakeProvider
) -> None:
    server.replies.append(Reply(body, ending=Ending.STALL))
    outcome = await collect(make_provider(timeout_s=0.2).stream(ask()))
    assert outcome.error is not None
    assert outcome.error.fault is ProviderFault.TIMEOUT
    assert "sent nothing for 0.2 s" in outcome.error.message
    assert len(server.requests) == 1


async def test_a_line_that_closes_without_an_answer_is_tried_again(
    server: RawServer, make_provider: MakeProvider
) -> None:
    server.replies.extend([Reply(status=0, ending=Ending.CUT), Reply(HI + STOP)])
    outcome = await collect(make_provider().stream(ask()))
    assert outcome.text == "Hi"
    assert len(outcome.retries) == 1


async def test_nobody_listening_is_said_at_once(make_provider: MakeProvider) -> None:
    with RawServer() as closed:
        address = closed.url
    outcome = await collect(make_provider("ollama", base_url=address).stream(ask()))
    assert outcome.error is not None
    assert outcome.error.fault is ProviderFault.UNREACHABLE
    assert outcome.error.message == f"Nothing answers for Ollama at {address}"
    assert outcome.error.hint == "Start it with `ollama serve`"
    assert outcome.retries == []


async def test_tls_to_an_endpoint_without_it_is_named(server: RawServer, make_provider: MakeProvider) -> None:
    outcome = await collect(make_provider(base_url=f"https://127.0.0.1:{server.port}/v1").stream(ask()))
    assert outcome.error is not None
    assert outcome.error.fault is ProviderFault.TLS
    assert "No secure connection" in outcome.error.message


# --- stopping ---


async def test_closing_the_stream_ends_the_request(server: RawServer, make_provider: MakeProvider) -> None:
    server.replies.append(Reply(HI, ending=Ending.STALL))
    events = make_provider(timeout_s=30).stream(ask())
    assert await anext(events) == TextPiece("Hi")
    await events.aclose()
    assert server.wait_until_left()


async def test_cancelling_the_task_ends_the_request(server: RawServer, make_provider: MakeProvider) -> None:
    server.replies.append(Reply(HI, ending=Ending.STALL))
    with anyio.CancelScope() as scope:
        async for _ in make_provider(timeout_s=30).stream(ask()):
            scope.cancel()
    assert server.wait_until_left()


async def test_cancelling_while_waiting_for_a_retry_asks_no_more(
    server: RawServer, clients: SharedClients, clock: FixedClock
) -> None:
    server.replies.append(OVERLOADED)
    endpoint = Endpoint(entry=find_entry("custom"), provider_id="custom", base_url=server.url)
    with anyio.CancelScope() as scope:
        async for event in OpenAIProvider(endpoint, clients).stream(ask()):
            assert isinstance(event, RetryPlanned)
            scope.cancel()
    assert len(server.requests) == 1


# --- addresses and proxies ---


async def test_a_redirect_is_not_followed(server: RawServer, make_provider: MakeProvider) -> None:
    with RawServer() as elsewhere:
        server.replies.append(Reply(status=307, headers={"Location": f"{elsewhere.url}/chat?token=x"}))
        outcome = await collect(make_provider(key="sk-1").stream(ask()))
        assert elsewhere.requests == []
    assert outcome.error is not None
    assert outcome.error.fault is ProviderFault.BAD_ANSWER
    assert outcome.error.message.endswith(f"sends us to {elsewhere.url}/chat")


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[RawServer]:
    with RawServer() as running:
        for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{running.port}")
        for name in ("NO_PROXY", "no_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.delenv(name, raising=False)
        yield running


async def test_a_proxy_of_the_environment_is_used_for_other_machines(
    proxy: RawServer, make_provider: MakeProvider
) -> None:
    proxy.replies.append(Reply(HI + STOP))
    outcome = await collect(make_provider(base_url="http://workstation.local/v1").stream(ask()))
    assert outcome.text == "Hi"
    assert proxy.requests[0].path == "http://workstation.local/v1/chat/completions"


async def test_a_proxy_passes_secure_connections_on_without_seeing_the_key(
    proxy: RawServer, make_provider: MakeProvider
) -> None:
    proxy.replies.append(Reply(status=200, ending=Ending.CUT))
    outcome = await collect(make_provider(base_url="https://models.example/v1", key="sk-1").stream(ask()))
    assert outcome.error is not None
    (request,) = proxy.requests
    assert (request.method, request.path) == ("CONNECT", "models.example:443")
    assert "authorization" not in request.headers


@pytest.mark.parametrize(
    ("reply", "base_url"),
    [
        (Reply(b"no", 407, "text/plain"), "https://models.example/v1"),
        (Reply(b"no", 407, "text/plain"), "http://workstation.local/v1"),
        (Reply(b"no", 403, "text/plain"), "https://models.example/v1"),
    ],
    ids=["secure", "plain", "forbidden"],
)
async def test_a_proxy_that_refuses_is_named(
    reply: Reply, base_url: str, proxy: RawServer, make_provider: MakeProvider
) -> None:
    proxy.replies.extend([reply] * 3)
    outcome = await collect(make_provider(base_url=base_url).stream(ask()))
    assert outcome.error is not None
    assert "proxy" in outcome.error.message
    assert "HTTPS_PROXY" in outcome.error.hint


async def test_hosts_that_are_excepted_are_asked_directly(
    proxy: RawServer, server: RawServer, make_provider: MakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    outcome = await collect(make_provider(base_url=f"https://127.0.0.1:{server.port}/v1").stream(ask()))
    assert outcome.error is not None
    assert outcome.error.fault is ProviderFault.TLS
    assert proxy.requests == []


@pytest.mark.parametrize("base_url", ["http://models.example/v1", "http://8.8.8.8/v1", "http://[2001:db8::1]/v1"])
async def test_nothing_travels_readable_over_the_internet(
    base_url: str, proxy: RawServer, make_provider: MakeProvider
) -> None:
    outcome = await collect(make_provider(base_url=base_url, key="sk-1").stream(ask()))
    assert outcome.error is not None
    assert outcome.error.fault is ProviderFault.NOT_CONFIGURED
    assert "https://" in outcome.error.message
    assert proxy.requests == []


async def test_no_proxy_stands_between_us_and_this_machine(
    proxy: RawServer, server: RawServer, make_provider: MakeProvider
) -> None:
    server.replies.append(Reply(HI + STOP))
    assert (await collect(make_provider().stream(ask()))).text == "Hi"
    assert proxy.requests == []


async def test_a_proxy_that_cannot_be_used_is_named(
    monkeypatch: pytest.MonkeyPatch, make_provider: MakeProvider
) -> None:
    monkeypatch.setenv("ALL_PROXY", "gopher://127.0.0.1:1")
    outcome = await collect(make_provider(base_url="http://workstation.local/v1").stream(ask()))
    assert outcome.error is not None
    assert outcome.error.fault is ProviderFault.NOT_CONFIGURED
    assert "ALL_PROXY" in outcome.error.hint


async def test_what_is_not_set_up_is_not_asked(make_provider: MakeProvider, clients: SharedClients) -> None:
    endpoint = Endpoint(entry=find_entry("openai"), provider_id="openai")
    outcome = await collect(OpenAIProvider(endpoint, clients).stream(ask()))
    assert outcome.error is not None
    assert outcome.error.fault is ProviderFault.NOT_CONFIGURED
    assert outcome.error.message == "OpenAI needs a key"


async def test_a_format_nobody_speaks_is_said(clients: SharedClients) -> None:
    endpoint = Endpoint(entry=entry_with(format="telex"), provider_id="custom")
    with pytest.raises(ProviderError) as caught:
        build_provider(endpoint, clients)
    assert caught.value.fault is ProviderFault.NOT_CONFIGURED


async def test_closed_clients_open_again(
    server: RawServer, make_provider: MakeProvider, clients: SharedClients
) -> None:
    server.replies.extend([Reply(HI + STOP), Reply(HI + STOP)])
    provider = make_provider()
    await collect(provider.stream(ask()))
    await clients.aclose()
    assert (await collect(provider.stream(ask()))).text == "Hi"


async def test_the_version_of_the_api_is_a_fact_of_the_entry(server: RawServer, clients: SharedClients) -> None:
    for version, sent in (("2030-01-01", "2030-01-01"), ("", "2023-06-01")):
        entry = find_entry("anthropic").model_copy(update={"api_version": version})
        server.replies.append(json_reply({"data": []}))
        endpoint = Endpoint(entry=entry, provider_id="anthropic", base_url=server.url, api_key="k")
        await build_provider(endpoint, clients).list_models()
        assert server.requests[-1].headers["anthropic-version"] == sent


# --- models ---


@pytest.mark.parametrize(
    ("answer", "models", "window"),
    [
        ({"data": [{"id": "a"}, {"id": "b"}, {"id": "a"}]}, ["a", "b"], 0),
        ({"data": [{"id": "a", "context_length": 8192}]}, ["a"], 8192),
        ({"data": [{"id": "a", "max_model_len": 4096, "context_window": 1}]}, ["a"], 4096),
        ({"models": [{"name": "a:latest", "model": "a"}], "data": []}, ["a"], 0),
        ({"data": [{"id": "a", "meta": {"n_ctx": 2048, "n_ctx_train": 9}}]}, ["a"], 2048),
        ([{"id": "a", "context_length": "x"}, {"id": ""}, 7], ["a"], 0),
        (["a", "b"], ["a", "b"], 0),
        ({"data": None}, [], 0),
    ],
)
async def test_models_are_listed_in_every_known_shape(
    answer: object, models: list[str], window: int, server: RawServer, make_provider: MakeProvider
) -> None:
    server.replies.append(json_reply(answer))
    provider = make_provider(key="sk-1")
    assert await provider.list_models() == models
    assert provider.max_tokens("a") == window
    (request,) = server.requests
    assert (request.method, request.path, request.headers["authorization"]) == ("GET", "/v1/models", "Bearer sk-1")


async def test_the_list_is_asked_for_again_after_a_minute(
    server: RawServer, make_provider: MakeProvider, clock: FixedClock
) -> None:
    server.replies.extend([json_reply({"data": [{"id": "a"}]}), json_reply({"data": [{"id": "b"}]})])
    provider = make_provider()
    assert await provider.list_models() == ["a"]
    clock.advance(59)
    assert await provider.list_models() == ["a"]
    clock.advance(2)
    assert await provider.list_models() == ["b"]


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        (json_reply({"error": {"message": "no"}}, 401), ProviderFault.BAD_KEY),
        (json_reply({"error": {"message": "rate limit"}}), ProviderFault.RATE_LIMITED),
        (Reply(b"<html><title>Router</title></html>", 200, "text/html"), ProviderFault.BAD_ANSWER),
        (Reply(b"404 page not found", 404, "text/plain"), ProviderFault.BAD_ANSWER),
        (Reply(b"<html>" + b"x" * 100_000, 502, "text/html", piece_bytes=5000), ProviderFault.OVERLOADED),
        (Reply(status=0, ending=Ending.CUT), ProviderFault.UNREACHABLE),
    ],
    ids=["key", "error with status 200", "web page", "wrong path", "long page", "no answer"],
)
async def test_a_list_that_does_not_come_says_why(
    reply: Reply, fault: ProviderFault, server: RawServer, make_provider: MakeProvider
) -> None:
    server.replies.append(reply)
    with pytest.raises(ProviderError) as caught:
        await make_provider().list_models()
    assert caught.value.fault is fault


async def test_the_users_window_counts_more_than_the_catalogues(clients: SharedClients) -> None:
    entry = find_entry("groq")
    known = OpenAIProvider(Endpoint(entry=entry, provider_id="groq"), clients)
    assert known.max_tokens("gemma2-9b-it") == 8192
    assert known.max_tokens("something-else") == 0
    own = OpenAIProvider(Endpoint(entry=entry, provider_id="groq", context_tokens={"*": 100, "x": 5}), clients)
    assert (own.max_tokens("gemma2-9b-it"), own.max_tokens("x")) == (100, 5)
