import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import anyio
import pytest

from skales.core.errors import InputError, ProviderError, ProviderFault
from tests.app.conftest import Setup
from tests.providers.conftest import ask
from tests.providers.outcome import collect
from tests.servers.oauth import OAuthServer
from tests.servers.raw_sse import RawServer, Reply

CHATGPT = "openai_oauth"
ANSWER = Reply(
    b'data: {"type":"response.output_text.delta","output_index":0,"delta":"Hi"}\n\n'
    b'data: {"type":"response.completed","response":{"status":"completed","output":[]}}\n\n'
)

pytestmark = pytest.mark.anyio


@pytest.fixture
def oauth() -> Iterator[OAuthServer]:
    with OAuthServer() as server:
        yield server


@pytest.fixture
def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


@pytest.fixture
def ready(setup: Setup, server: RawServer, oauth: OAuthServer, port: int) -> Setup:
    """Turned on and set up by a person who has an application of their own."""
    sign_in = {
        "clientId": "our-app",
        "authorizeUrl": f"{oauth.url}/authorize",
        "tokenUrl": f"{oauth.url}/token",
        "redirectUrl": f"http://localhost:{port}/auth/callback",
    }
    setup.provider(CHATGPT, enabled=True, baseUrl=server.url, signIn=sign_in)
    return setup


async def test_a_person_signs_in_by_pasting_and_then_models_answer(
    ready: Setup, oauth: OAuthServer, server: RawServer
) -> None:
    desk = ready.models.sign_in
    assert not desk.is_signed_in(CHATGPT)
    await desk.finish(CHATGPT, oauth.sign_in(desk.begin(CHATGPT)))
    assert desk.is_signed_in(CHATGPT)
    server.replies.append(ANSWER)
    chosen = ready.models.choose(CHATGPT)
    assert chosen.model == "gpt-5.5"
    assert (await collect(chosen.provider.stream(ask()))).text == "Hi"
    assert server.requests[0].headers["authorization"] == "Bearer access-2"

    ready.clock.advance(3_600)
    server.replies.append(ANSWER)
    assert (await collect(ready.models.choose(CHATGPT).provider.stream(ask()))).text == "Hi"
    assert server.requests[1].headers["authorization"] != "Bearer access-2"

    desk.sign_out(CHATGPT)
    assert CHATGPT not in [offer.provider_id for offer in ready.models.available()]


async def test_the_browser_of_this_computer_comes_back_by_itself(ready: Setup, oauth: OAuthServer, port: int) -> None:
    desk = ready.models.sign_in
    landed = urlsplit(oauth.sign_in(desk.begin(CHATGPT)))
    async with desk.catch(CHATGPT) as landing:
        async with await anyio.connect_tcp("127.0.0.1", port) as browser:
            await browser.send(f"GET {landed.path}?{landed.query} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            assert b"signed in" in b"".join([part async for part in browser])
        await desk.finish(CHATGPT, await landing.wait())
    assert desk.is_signed_in(CHATGPT)


async def test_a_wrong_address_may_be_followed_by_the_right_one(ready: Setup, oauth: OAuthServer) -> None:
    desk = ready.models.sign_in
    landing = oauth.sign_in(desk.begin(CHATGPT))
    with pytest.raises(InputError):
        await desk.finish(CHATGPT, "http://localhost/?code=1&state=2")
    await desk.finish(CHATGPT, landing)
    with pytest.raises(InputError, match="No sign-in was begun"):
        await desk.finish(CHATGPT, landing)


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({}, "off until you turn it on"),
        ({"signIn": {"clientId": "our-app"}}, "off until you turn it on"),
        ({"enabled": True}, "Signing in to ChatGPT (Codex) is not set up"),
    ],
)
async def test_what_is_not_turned_on_and_set_up_says_so(values: dict[str, object], says: str, setup: Setup) -> None:
    setup.provider(CHATGPT, **values)
    with pytest.raises(ProviderError) as caught:
        setup.models.sign_in.begin(CHATGPT)
    assert caught.value.fault is ProviderFault.NOT_CONFIGURED
    assert says in caught.value.message


@pytest.mark.parametrize("provider_id", ["openai", "acme"])
async def test_others_have_no_sign_in(provider_id: str, setup: Setup) -> None:
    with pytest.raises(ProviderError) as caught:
        setup.models.sign_in.begin(provider_id)
    assert caught.value.fault is ProviderFault.NOT_CONFIGURED
