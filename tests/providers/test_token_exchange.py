import re

import pytest

from skales.core.errors import ProviderError, ProviderFault
from skales.providers.catalog import find_entry
from skales.providers.clients import SharedClients
from skales.providers.endpoint import Endpoint
from skales.providers.provider import Surroundings, build_provider
from skales.providers.retry import RetryPolicy
from skales.providers.token_exchange import ExchangedTokens, ExchangeOrder
from tests.conftest import CountingIds, FixedClock
from tests.providers.conftest import ask
from tests.providers.outcome import collect
from tests.servers.raw_sse import RawServer, Reply, json_reply

ANSWER = Reply(b'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n')
KEY = "MDE5YTg3NmI6c2VjcmV0"

pytestmark = pytest.mark.anyio


@pytest.fixture
def tokens(server: RawServer, clients: SharedClients, clock: FixedClock, ids: CountingIds) -> ExchangedTokens:
    return build_tokens(server, clients, clock, ids)


def build_tokens(
    server: RawServer, clients: SharedClients, clock: FixedClock, ids: CountingIds, key: str = KEY
) -> ExchangedTokens:
    url = f"http://127.0.0.1:{server.port}/api/v2/oauth"
    order = ExchangeOrder(label="GigaChat", url=url, scope="GIGACHAT_API_PERS", key=key, key_hint="Copy the key")
    return ExchangedTokens(order, clients, clock, ids)


def granted(token: str, expires_ms: int) -> Reply:
    return json_reply({"access_token": token, "expires_at": expires_ms})


async def test_the_key_is_exchanged_as_the_vendor_asks(
    server: RawServer, tokens: ExchangedTokens, clock: FixedClock
) -> None:
    server.replies.append(granted("t1", clock.now_ms() + 1_800_000))
    assert await tokens.token() == "t1"
    (request,) = server.requests
    assert (request.method, request.path) == ("POST", "/api/v2/oauth")
    assert request.headers["authorization"] == f"Basic {KEY}"
    assert request.headers["content-type"] == "application/x-www-form-urlencoded"
    assert request.body == b"scope=GIGACHAT_API_PERS"
    version_4 = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
    assert re.fullmatch(version_4, request.headers["rquid"])


async def test_a_token_is_used_until_a_minute_before_its_end(
    server: RawServer, tokens: ExchangedTokens, clock: FixedClock
) -> None:
    end_ms = clock.now_ms() + 1_800_000
    server.replies.extend([granted("t1", end_ms), granted("t2", end_ms + 1_800_000)])
    assert [await tokens.token(), await tokens.token()] == ["t1", "t1"]
    clock.advance(1_741)
    assert await tokens.token() == "t2"
    assert len(server.requests) == 2


async def test_a_token_without_an_end_is_not_trusted_for_long(
    server: RawServer, tokens: ExchangedTokens, clock: FixedClock
) -> None:
    server.replies.extend([json_reply({"access_token": "t1"}), json_reply({"access_token": "t2"})])
    assert await tokens.token() == "t1"
    clock.advance(25 * 60)
    assert await tokens.token() == "t2"


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        (json_reply({"code": 4, "message": "Can't decode 'Authorization' header"}, 400), ProviderFault.BAD_REQUEST),
        (json_reply({"code": 6, "message": "credentials doesn't match db data"}, 401), ProviderFault.BAD_KEY),
        (json_reply({"code": 7, "message": "scope from db not fully includes consumed scope"}, 400), None),
        (json_reply({"message": "busy"}, 503), ProviderFault.OVERLOADED),
        (Reply(b"<html><title>Login</title></html>", 200, "text/html"), ProviderFault.BAD_ANSWER),
        (json_reply({"access_token": ""}), ProviderFault.BAD_ANSWER),
        (json_reply({"access_token": "a\nb"}), ProviderFault.BAD_ANSWER),
        (json_reply({"access_token": "t", "expires_at": 1}), ProviderFault.BAD_ANSWER),
    ],
)
async def test_an_exchange_that_fails_says_why_and_shows_no_key(
    reply: Reply, fault: ProviderFault | None, server: RawServer, tokens: ExchangedTokens
) -> None:
    server.replies.append(reply)
    with pytest.raises(ProviderError) as caught:
        await tokens.token()
    assert caught.value.fault is (fault or ProviderFault.BAD_REQUEST)
    assert KEY not in str(caught.value)
    assert "GigaChat" in caught.value.message


@pytest.mark.parametrize("key", ["", "  ", "ключ", "a b"])
async def test_a_key_that_cannot_be_sent_is_found_first(
    key: str, server: RawServer, clients: SharedClients, clock: FixedClock, ids: CountingIds
) -> None:
    with pytest.raises(ProviderError) as caught:
        await build_tokens(server, clients, clock, ids, key).token()
    assert caught.value.fault is ProviderFault.NOT_CONFIGURED
    assert server.requests == []


async def test_the_model_endpoint_gets_the_token_and_a_stale_one_is_renewed_once(
    server: RawServer, clients: SharedClients, clock: FixedClock, ids: CountingIds, tokens: ExchangedTokens
) -> None:
    endpoint = Endpoint(
        entry=find_entry("gigachat"), provider_id="gigachat", base_url=server.url, api_key=KEY, tokens=tokens
    )
    around = Surroundings(retry=RetryPolicy(tries=1), ids=ids, clock=clock)
    provider = build_provider(endpoint, clients, around)
    end_ms = clock.now_ms() + 1_800_000
    refusal = json_reply({"message": "Token has expired"}, 401)
    server.replies.extend([granted("t1", end_ms), ANSWER, refusal, granted("t2", end_ms), ANSWER])
    assert (await collect(provider.stream(ask()))).text == "Hi"
    assert (await collect(provider.stream(ask()))).text == "Hi"
    sent = [request.headers["authorization"] for request in server.requests]
    assert sent == [f"Basic {KEY}", "Bearer t1", "Bearer t1", f"Basic {KEY}", "Bearer t2"]

    server.replies.extend([refusal, granted("t3", end_ms), refusal])
    outcome = await collect(provider.stream(ask()))
    assert outcome.error is not None
    assert outcome.error.fault is ProviderFault.BAD_KEY
    assert not server.replies


async def test_the_model_list_renews_a_stale_token_too(
    server: RawServer, clients: SharedClients, clock: FixedClock, tokens: ExchangedTokens
) -> None:
    endpoint = Endpoint(entry=find_entry("gigachat"), provider_id="gigachat", base_url=server.url, tokens=tokens)
    end_ms = clock.now_ms() + 1_800_000
    server.replies.extend(
        [granted("t1", end_ms), json_reply({}, 401), granted("t2", end_ms), json_reply({"data": [{"id": "GigaChat"}]})]
    )
    assert await build_provider(endpoint, clients).list_models() == ["GigaChat"]
