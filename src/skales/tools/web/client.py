"""The one way tools make requests: each hop judged before it is sent, bounded in time and size.

Redirects are followed here and not by the library, because each new address is a new decision. Cookies live as long
as one fetch. What an answer means is not its business. Spec: security.md, "Network".
"""

import socket
import ssl
import urllib.request
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio
from msgspec import Struct, field, structs

from skales import __version__
from skales.core.errors import InputError, ToolError, ToolRefusedError
from skales.core.tool import Outcome
from skales.security.hosts import parse_ip
from skales.security.network import CheckedUrl, NetworkPolicy, decide_url, join_url, parse_url

if TYPE_CHECKING:
    import httpx2

USER_AGENT = f"Skales/{__version__}"

_Trace = Callable[[str, Mapping[str, object]], Awaitable[None]]

_REDIRECTS = {301, 302, 303, 307, 308}
# Headers that say nothing about who asks; all others stay behind when a redirect leads to another host.
_IMPERSONAL = {"accept", "accept-language"}


class WebRequest(Struct, frozen=True, kw_only=True):
    """What to send. A 303, or a 301 or 302 after a POST, goes on as a GET without the body, as browsers do.

    With `stays` a redirect to another origin is refused, for requests that carry a secret or were let through for
    the sake of the address a person named. `on_send` is awaited when a connection stands and the first byte is about
    to leave, at each hop; what it raises keeps the request from being sent.
    """

    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    stays: bool = False
    on_send: Callable[[], Awaitable[None]] | None = None


class Limits(Struct, frozen=True, kw_only=True):
    """How far a fetch may go. `idle_s` bounds each wait for the next bytes, `total_s` everything together."""

    total_s: float = 30
    idle_s: float = 12
    redirects: int = 5


async def resolve_name(host: str, port: int) -> Sequence[str]:
    """The addresses of a name, as the system finds them. Raises ToolError."""
    try:
        found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ToolError(
            f"The host {host!r} cannot be found", hint="Check the address, and whether this computer is online"
        ) from error
    return [str(place[0]) for _family, _type, _protocol, _name, place in found]


def open_transport(proxy: str) -> "httpx2.AsyncBaseTransport":
    """A fresh transport to the network, through a proxy when one is named."""
    import httpx2

    try:
        return httpx2.AsyncHTTPTransport(proxy=proxy or None)
    except (ImportError, ValueError) as error:
        raise ToolError(
            "This computer's proxy is of a kind that is not supported", hint="Set HTTPS_PROXY to an http:// proxy"
        ) from error


def find_proxy(scheme: str, host: str) -> str:
    """The proxy this computer is set up to use for a host; never one for this computer itself."""
    address = parse_ip(host)
    if host.removesuffix(".") == "localhost" or (address is not None and address.is_loopback):
        return ""
    proxies = urllib.request.getproxies()
    proxy = proxies.get(scheme) or proxies.get("all", "")
    if not proxy or urllib.request.proxy_bypass(host):
        return ""
    return proxy if "://" in proxy else f"http://{proxy}"


class Wire(Struct, frozen=True, kw_only=True):
    """How requests leave this computer; tests put a script in its place."""

    resolve: Callable[[str, int], Awaitable[Sequence[str]]] = resolve_name
    find_proxy: Callable[[str, str], str] = find_proxy
    open_transport: "Callable[[str], httpx2.AsyncBaseTransport]" = open_transport
    limits: Limits = Limits()


class WebReply:
    """The last answer of a chain; its body is read at most once. Header names compare in any case.

    `method` is the one it answers, which a redirect may have changed.
    """

    def __init__(self, url: str, response: "httpx2.Response") -> None:
        self.url = url
        self.method: str = response.request.method
        self.status: int = response.status_code
        self.reason: str = response.reason_phrase
        self.headers: Mapping[str, str] = response.headers
        self.header_rows: Sequence[tuple[str, str]] = response.headers.multi_items()
        self._response = response

    async def read(self, most_bytes: int) -> tuple[bytes, bool]:
        """The body, and whether it was cut at `most_bytes`; what counts is what comes out of a compression."""
        body = bytearray()
        async for chunk in self.chunks():
            body += chunk
            if len(body) > most_bytes:
                return bytes(body[:most_bytes]), True
        return bytes(body), False

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body as it comes, out of its compression, in pieces of a megabyte at most."""
        async for chunk in self._response.aiter_bytes():
            yield chunk


@asynccontextmanager
async def open_reply(
    url: str, policy: NetworkPolicy, request: WebRequest | None = None, wire: Wire | None = None
) -> AsyncGenerator[WebReply]:
    """Request an address and follow redirects; the reply can be read inside the block.

    Raises:
        ToolRefusedError: A rule forbids the address, that of a redirect, or one that a name resolves to.
        ToolError: No answer came, or one that cannot be read.
    """
    import httpx2

    from skales.tools.web.pinned import PinnedTransport

    wire = wire or Wire()
    limits = wire.limits
    transport = PinnedTransport(policy, wire.resolve, wire.find_proxy, wire.open_transport)
    client = httpx2.AsyncClient(transport=transport, trust_env=False, timeout=limits.idle_s)
    host = _judge(url, policy).host
    try:
        with anyio.fail_after(limits.total_s):
            async with client:
                found, response = await _follow(client, url, policy, request or WebRequest(), limits.redirects)
                host = found.host
                try:
                    yield WebReply(found.url, response)
                finally:
                    await response.aclose()
    except (TimeoutError, httpx2.TimeoutException) as error:
        raise ToolError(f"{host} did not answer in time", hint="Try again later, or another address") from error
    except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.CookieConflict) as error:
        raise _failure(host, error) from error


async def _follow(
    client: "httpx2.AsyncClient", url: str, policy: NetworkPolicy, request: WebRequest, most_redirects: int
) -> "tuple[CheckedUrl, httpx2.Response]":
    """The first answer that is no redirect; each address is judged before it is asked."""
    current = _judge(url, policy)
    for _ in range(most_redirects + 1):
        sent = client.build_request(
            request.method,
            current.url,
            headers={"User-Agent": USER_AGENT, **request.headers},
            content=request.body or None,
            extensions=_watch(request.on_send),
        )
        response = await client.send(sent, stream=True, follow_redirects=False)
        location = response.headers.get("location", "")
        if response.status_code not in _REDIRECTS or not location:
            return current, response
        await response.aclose()
        target = _judge_redirect(current, location, policy)
        if request.stays and target.origin != current.origin:
            raise ToolRefusedError(
                f"{current.host} redirects to another host, which this request must not go to",
                hint="Name the address it redirects to, if that is the right one",
            )
        request = _redirected(request, response.status_code, leaves_host=target.origin != current.origin)
        current = target
    raise ToolError(
        f"The address redirects more than {most_redirects} times", hint="It may lead in a circle; try another address"
    )


def _watch(on_send: Callable[[], Awaitable[None]] | None) -> "Mapping[str, _Trace]":
    """What makes the library say when it begins to send."""
    if on_send is None:
        return {}

    async def trace(name: str, _details: Mapping[str, object]) -> None:
        if name.endswith("send_request_headers.started"):
            await on_send()

    return {"trace": trace}


def _judge(url: str, policy: NetworkPolicy) -> CheckedUrl:
    """The address taken apart. Raises ToolRefusedError when a rule forbids it, InputError when it is none."""
    checked = parse_url(url)
    verdict = decide_url(checked.url, policy)
    if verdict.outcome is not Outcome.ALLOW:
        raise ToolRefusedError(verdict.reason)
    return checked


def _judge_redirect(current: CheckedUrl, location: str, policy: NetworkPolicy) -> CheckedUrl:
    try:
        return _judge(join_url(current, location).url, policy)
    except (InputError, ToolRefusedError) as error:
        raise ToolRefusedError(
            f"{current.host} redirects to an address that is not allowed: {error.message}"
        ) from error


def _redirected(request: WebRequest, status: int, *, leaves_host: bool) -> WebRequest:
    if (status == 303 and request.method != "HEAD") or (status in {301, 302} and request.method == "POST"):
        kept = {name: value for name, value in request.headers.items() if not name.lower().startswith("content-")}
        request = WebRequest(headers=kept)
    if leaves_host:
        kept = {name: value for name, value in request.headers.items() if name.lower() in _IMPERSONAL}
        request = structs.replace(request, headers=kept)
    return request


def _failure(host: str, error: Exception) -> ToolError:
    """The library's error in words that say what to do."""
    causes = [error, *_causes(error)]
    if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in causes):
        return ToolError(
            f"The certificate of {host} is not valid", hint="The site cannot be trusted to be the one named"
        )
    if any(isinstance(cause, ssl.SSLError) for cause in causes):
        return ToolError(f"No secure connection to {host} could be made", hint="Try the address with http://")
    import httpx2

    if isinstance(error, httpx2.ConnectError):
        return ToolError(f"{host} cannot be reached", hint="Check the address and the port, or try again later")
    return ToolError(f"The answer of {host} cannot be read", hint="Try again later, or another address")


def _causes(error: BaseException) -> Sequence[BaseException]:
    found: list[BaseException] = []
    cause = error.__cause__ or error.__context__
    while cause is not None and len(found) < 10:
        found.append(cause)
        cause = cause.__cause__ or cause.__context__
    return found
