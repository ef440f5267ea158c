"""Whom secure connections trust: the system, what the environment adds, and a file of one provider's own."""

import ssl
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from skales.core.errors import ProviderError, ProviderFault
from skales.providers.catalog import find_entry
from skales.providers.clients import SharedClients
from skales.providers.endpoint import Endpoint
from skales.providers.provider import build_provider

TLS = Path(__file__).parent / "tls"
AUTHORITY = TLS / "authority.pem"

pytestmark = pytest.mark.anyio


class Listing(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = b'{"data": [{"id": "demo"}]}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


class QuietServer(HTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """Handshakes that a client breaks off are what some tests are about."""


@pytest.fixture
def secure_url() -> Iterator[str]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(TLS / "server.pem")
    with QuietServer(("127.0.0.1", 0), Listing) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.01))
        thread.start()
        yield f"https://127.0.0.1:{server.server_port}/v1"
        server.shutdown()
        thread.join()


@asynccontextmanager
async def opened(ca_file: str = "") -> AsyncIterator[SharedClients]:
    clients = SharedClients(ca_file)
    yield clients
    await clients.aclose()


async def list_models(url: str, ca_file: str = "") -> list[str]:
    async with opened(ca_file) as clients:
        endpoint = Endpoint(entry=find_entry("custom"), provider_id="custom", base_url=url)
        return await build_provider(endpoint, clients).list_models()


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


async def test_a_certificate_that_nobody_vouches_for_is_refused_and_named(secure_url: str) -> None:
    with pytest.raises(ProviderError, match="certificate is not trusted") as caught:
        await list_models(secure_url)
    assert caught.value.fault is ProviderFault.TLS
    assert "SSL_CERT_FILE" in caught.value.hint


async def test_certificates_of_the_environment_count(secure_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(AUTHORITY))
    assert await list_models(secure_url) == ["demo"]


async def test_a_file_of_ones_own_counts_for_its_provider_alone(secure_url: str) -> None:
    assert await list_models(secure_url, str(AUTHORITY)) == ["demo"]
    with pytest.raises(ProviderError, match="not trusted"):
        await list_models(secure_url)


async def test_a_certificate_of_another_host_is_refused(secure_url: str) -> None:
    elsewhere = secure_url.replace("127.0.0.1", "127.0.0.2")
    with pytest.raises(ProviderError) as caught:
        await list_models(elsewhere, str(AUTHORITY))
    assert caught.value.fault in (ProviderFault.TLS, ProviderFault.UNREACHABLE)


@pytest.mark.parametrize("content", [None, "no certificate"], ids=["missing", "not one"])
@pytest.mark.parametrize("is_own", [True, False], ids=["own file", "environment"])
async def test_certificates_that_cannot_be_loaded_are_named(
    content: str | None, is_own: bool, tmp_path: Path, secure_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    if not is_own:
        monkeypatch.setenv("SSL_CERT_FILE", str(path))
    with pytest.raises(ProviderError) as caught:
        await list_models(secure_url, str(path) if is_own else "")
    assert caught.value.fault is (ProviderFault.NOT_CONFIGURED if is_own else ProviderFault.TLS)
    assert ("PEM" if is_own else "SSL_CERT_FILE") in caught.value.hint
