import socket
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import parse_qsl, urlsplit

import anyio
import pytest
from msgspec import structs

from skales.core.errors import ConfigurationError, InputError, ProviderError, ProviderFault
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.sign_ins import SignIns, StoredSignIn
from skales.providers.catalog import find_entry
from skales.providers.clients import SharedClients
from skales.providers.signin import (
    SignedInTokens,
    SignInAttempt,
    SignInOrder,
    begin_sign_in,
    catch_landing,
    finish_sign_in,
)
from tests.conftest import CountingIds, FixedClock
from tests.servers.oauth import OAuthServer

pytestmark = pytest.mark.anyio


@pytest.fixture
def oauth() -> Iterator[OAuthServer]:
    with OAuthServer() as server:
        yield server


@pytest.fixture
def order(oauth: OAuthServer) -> SignInOrder:
    return SignInOrder(
        provider_id="openai_oauth",
        label="ChatGPT",
        client_id="our-app",
        authorize_url=f"{oauth.url}/authorize",
        token_url=f"{oauth.url}/token",
        redirect_url="http://localhost:1455/auth/callback",
        scope="openid offline_access",
    )


@pytest.fixture
def attempt(order: SignInOrder, clock: FixedClock, ids: CountingIds) -> SignInAttempt:
    return begin_sign_in(order, clock, ids)


@pytest.fixture
def store(home: DataDirectory, clock: FixedClock) -> SignIns:
    return SignIns(home, Quarantine(home.quarantine, clock))


@pytest.fixture
async def tokens(
    attempt: SignInAttempt, oauth: OAuthServer, store: SignIns, clients: SharedClients, clock: FixedClock
) -> SignedInTokens:
    """Of somebody who has just signed in."""
    order = attempt.order
    store.save(order.provider_id, await finish_sign_in(attempt, oauth.sign_in(attempt.url), clients, clock))
    return SignedInTokens(order, store, clients, clock)


# --- signing in ---


async def test_a_sign_in_gives_tokens(
    attempt: SignInAttempt, oauth: OAuthServer, clients: SharedClients, clock: FixedClock
) -> None:
    kept = await finish_sign_in(attempt, oauth.sign_in(attempt.url), clients, clock)
    assert kept == StoredSignIn("access-2", "refresh-3", clock.now_ms() + 3_600_000)


async def test_the_link_asks_for_what_the_entry_says_and_shows_no_secret(attempt: SignInAttempt) -> None:
    asked = dict(parse_qsl(urlsplit(attempt.url).query))
    assert (asked["scope"], asked["redirect_uri"]) == ("openid offline_access", "http://localhost:1455/auth/callback")
    assert attempt.verifier not in attempt.url
    assert attempt.verifier not in repr(attempt)
    assert len(attempt.verifier) >= 43


async def test_only_the_end_of_the_address_may_be_pasted(
    attempt: SignInAttempt, oauth: OAuthServer, clients: SharedClients, clock: FixedClock
) -> None:
    landing = oauth.sign_in(attempt.url).partition("?")[2]
    assert (await finish_sign_in(attempt, f"  ?{landing}\n", clients, clock)).access_token == "access-2"


@pytest.mark.parametrize(
    ("landing", "code"),
    [
        ("http://localhost:1455/auth/callback?code=x&state=other", "foreign_sign_in"),
        ("http://localhost:1455/auth/callback?code=x", "foreign_sign_in"),
        ("", "foreign_sign_in"),
        ("http://localhost:1455/auth/callback?error=access_denied&state={state}", "sign_in_refused"),
        ("http://localhost:1455/auth/callback?state={state}", "bad_input"),
    ],
)
async def test_an_address_that_is_no_answer_to_this_sign_in_is_refused(
    landing: str, code: str, attempt: SignInAttempt, clients: SharedClients, clock: FixedClock
) -> None:
    with pytest.raises(InputError) as caught:
        await finish_sign_in(attempt, landing.format(state=attempt.state), clients, clock)
    assert caught.value.code == code


async def test_a_sign_in_lasts_ten_minutes(
    attempt: SignInAttempt, oauth: OAuthServer, clients: SharedClients, clock: FixedClock
) -> None:
    landing = oauth.sign_in(attempt.url)
    clock.advance(601)
    with pytest.raises(InputError, match="ten minutes"):
        await finish_sign_in(attempt, landing, clients, clock)
    assert oauth.requests == []


async def test_a_code_counts_once_and_only_with_its_proof(
    attempt: SignInAttempt, oauth: OAuthServer, clients: SharedClients, clock: FixedClock
) -> None:
    stolen = oauth.sign_in(attempt.url)
    for wrong in (replace(attempt, verifier="f" * 64), attempt):
        with pytest.raises(ProviderError) as caught:
            await finish_sign_in(wrong, stolen, clients, clock)
        assert caught.value.fault is ProviderFault.BAD_KEY
        assert caught.value.hint == "Begin the sign-in again"


async def test_what_is_not_set_up_is_said_before_anybody_is_asked(
    oauth: OAuthServer, order: SignInOrder, clock: FixedClock, ids: CountingIds
) -> None:
    with pytest.raises(ProviderError) as caught:
        begin_sign_in(structs.replace(order, client_id=""), clock, ids)
    assert caught.value.fault is ProviderFault.NOT_CONFIGURED
    assert "client id" in caught.value.hint
    assert oauth.requests == []


async def test_the_catalogues_own_sign_in_lacks_only_the_client_id() -> None:
    sign_in = find_entry("openai_oauth").sign_in
    assert sign_in is not None
    assert sign_in.client_id == ""
    assert sign_in.authorize_url.startswith("https://")
    assert sign_in.token_url.startswith("https://")


async def test_tokens_do_not_travel_readable(attempt: SignInAttempt, clients: SharedClients, clock: FixedClock) -> None:
    open_line = replace(attempt, order=structs.replace(attempt.order, token_url="http://auth.example/token"))
    with pytest.raises(ProviderError, match="https://"):
        await finish_sign_in(open_line, f"?code=x&state={attempt.state}", clients, clock)


# --- the browser coming back ---


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


async def fetch(port: int, target: str) -> bytes:
    async with await anyio.connect_tcp("127.0.0.1", port) as stream:
        await stream.send(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        return b"".join([part async for part in stream])


async def test_the_browser_brings_the_answer_back(
    order: SignInOrder, oauth: OAuthServer, clients: SharedClients, clock: FixedClock, ids: CountingIds
) -> None:
    port = free_port()
    attempt = begin_sign_in(structs.replace(order, redirect_url=f"http://localhost:{port}/auth/callback"), clock, ids)
    landed = urlsplit(oauth.sign_in(attempt.url))
    async with catch_landing(attempt) as landing:
        assert b"404" in (await fetch(port, "/favicon.ico")).splitlines()[0]
        assert b"You are signed in" in await fetch(port, f"{landed.path}?{landed.query}")
        kept = await finish_sign_in(attempt, await landing.wait(), clients, clock)
    assert kept.access_token == "access-2"


async def test_a_taken_port_leaves_pasting(order: SignInOrder, clock: FixedClock, ids: CountingIds) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://localhost:{taken.getsockname()[1]}/callback"
        attempt = begin_sign_in(structs.replace(order, redirect_url=url), clock, ids)
        with pytest.raises(ConfigurationError) as caught:
            async with catch_landing(attempt):
                pass
    assert "Paste" in caught.value.hint


# --- afterwards ---


async def test_a_good_token_is_used_as_it_is(tokens: SignedInTokens, oauth: OAuthServer) -> None:
    assert [await tokens.token(), await tokens.token()] == ["access-2", "access-2"]
    assert len(oauth.requests) == 1


@pytest.mark.parametrize("rotates", [True, False])
async def test_a_token_is_renewed_before_it_ends_and_again(
    rotates: bool, tokens: SignedInTokens, oauth: OAuthServer, clock: FixedClock
) -> None:
    oauth.rotates = rotates
    seen = [await tokens.token()]
    for _ in range(2):
        clock.advance(3_590)
        seen.append(await tokens.token())
    assert len(set(seen)) == 3
    assert [form["grant_type"] for form in oauth.requests] == ["authorization_code", "refresh_token", "refresh_token"]


async def test_a_refused_token_is_renewed_whatever_its_end(tokens: SignedInTokens, oauth: OAuthServer) -> None:
    first = await tokens.token()
    tokens.forget()
    second = await tokens.token()
    assert second != first
    assert await tokens.token() == second


async def test_several_tasks_renew_once(tokens: SignedInTokens, oauth: OAuthServer, clock: FixedClock) -> None:
    clock.advance(3_600)
    seen: set[str] = set()

    async def use() -> None:
        seen.add(await tokens.token())

    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(use)
    assert len(seen) == 1
    assert len(oauth.requests) == 2


async def test_a_revoked_sign_in_is_forgotten_and_said(
    tokens: SignedInTokens, oauth: OAuthServer, store: SignIns, clock: FixedClock
) -> None:
    oauth.revoke()
    clock.advance(3_600)
    with pytest.raises(ProviderError, match="has ended") as caught:
        await tokens.token()
    assert caught.value.fault is ProviderFault.BAD_KEY
    assert store.load("openai_oauth") is None
    with pytest.raises(ProviderError, match="Nobody is signed in"):
        await tokens.token()


async def test_a_sign_in_survives_an_endpoint_that_is_down(
    order: SignInOrder, store: SignIns, clients: SharedClients, clock: FixedClock
) -> None:
    store.save("openai_oauth", StoredSignIn("old", "refresh", clock.now_ms()))
    down = structs.replace(order, token_url=f"http://127.0.0.1:{free_port()}/token")
    with pytest.raises(ProviderError) as caught:
        await SignedInTokens(down, store, clients, clock).token()
    assert caught.value.fault is ProviderFault.UNREACHABLE
    assert store.load("openai_oauth") is not None


async def test_a_sign_in_without_a_refresh_token_ends_with_its_token(
    order: SignInOrder, store: SignIns, clients: SharedClients, clock: FixedClock
) -> None:
    store.save("openai_oauth", StoredSignIn("old", "", clock.now_ms()))
    with pytest.raises(ProviderError, match="has ended"):
        await SignedInTokens(order, store, clients, clock).token()
