"""HTTP clients that all endpoints share, so that connections stay open between requests.

The library is loaded when the first request is made: start-up is a feature. Redirects are never followed, since they
would carry a key to another address. Proxies and certificates of the environment count (HTTPS_PROXY, NO_PROXY,
SSL_CERT_FILE, SSL_CERT_DIR) for everything but plain requests to this machine.
"""

import ssl
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from anyio.lowlevel import RunVar

from skales import __version__
from skales.core.errors import ProviderError, ProviderFault

if TYPE_CHECKING:
    import httpx2

# People pause between questions; a new TLS handshake would cost them a round trip or two.
_KEEPALIVE_S = 120.0
_MAX_IDLE_CONNECTIONS = 20


class ClientSource(Protocol):
    """Where HTTP clients come from; see SharedClients."""

    def __call__(self, *, is_loopback: bool) -> "httpx2.AsyncClient":
        """An open client."""
        ...


class SharedClients:
    """One client for this machine and one for everything else, per event loop. Close it before the loop ends.

    `ca_file` names certificates to trust besides the usual ones; only for the endpoints that get these clients.
    """

    def __init__(self, ca_file: str = "") -> None:
        self._ca_file = ca_file
        self._near: RunVar[httpx2.AsyncClient] = RunVar("skales_loopback_client")
        self._far: RunVar[httpx2.AsyncClient] = RunVar("skales_http_client")

    def __call__(self, *, is_loopback: bool) -> "httpx2.AsyncClient":
        """The client for an address, opened on first use. Raises ProviderError for an unusable proxy.

        Plain requests to this machine need neither certificates, which take 30 to 90 ms to load, nor a proxy.
        """
        variable = self._near if is_loopback else self._far
        client = variable.get(None)
        if client is None or client.is_closed:
            client = _open_client(is_loopback=is_loopback, ca_file=self._ca_file)
            variable.set(client)
        return client

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        for variable in (self._near, self._far):
            client = variable.get(None)
            if client is not None:
                await client.aclose()


def _open_client(*, is_loopback: bool, ca_file: str) -> "httpx2.AsyncClient":
    import httpx2

    try:
        return httpx2.AsyncClient(
            headers={"User-Agent": f"Skales/{__version__}"},
            limits=httpx2.Limits(max_keepalive_connections=_MAX_IDLE_CONNECTIONS, keepalive_expiry=_KEEPALIVE_S),
            follow_redirects=False,
            trust_env=not is_loopback,
            verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if is_loopback else _load_certificates(ca_file),
        )
    except (ImportError, ValueError, httpx2.InvalidURL) as error:
        raise ProviderError(
            f"The proxy of this environment cannot be used: {error}",
            fault=ProviderFault.NOT_CONFIGURED,
            hint="Check HTTP_PROXY, HTTPS_PROXY and ALL_PROXY; socks proxies are not supported",
        ) from error


def _load_certificates(ca_file: str) -> ssl.SSLContext:
    """Whom to trust. Raises ProviderError that names the file or the variable at fault."""
    import httpx2

    try:
        context = httpx2.create_ssl_context()
    except OSError as error:  # an ssl.SSLError is one too
        raise ProviderError(
            f"The certificates of this environment cannot be loaded: {error.strerror or error}",
            fault=ProviderFault.TLS,
            hint="Check SSL_CERT_FILE and SSL_CERT_DIR",
        ) from error
    if ca_file:
        try:
            context.load_verify_locations(cafile=Path(ca_file).expanduser())
        except OSError as error:
            raise ProviderError(
                f"The certificate file {ca_file!r} cannot be loaded: {error.strerror or error}",
                fault=ProviderFault.NOT_CONFIGURED,
                hint="Name a file with certificates in PEM form",
            ) from error
    return context
