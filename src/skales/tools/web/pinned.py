"""A transport that connects to the very addresses it judged, so that a name cannot mean another host a moment later.

The name stays in the Host header and in the TLS handshake. Imported when the first request is made: `httpx2` is heavy.
Spec: security.md, "Network".
"""

from collections.abc import Awaitable, Callable, Sequence

import httpx2

from skales.core.errors import ToolError, ToolRefusedError
from skales.core.tool import Outcome
from skales.security.hosts import parse_ip
from skales.security.network import NetworkPolicy, decide_address

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]

_MOST_ADDRESSES = 4


class PinnedTransport(httpx2.AsyncBaseTransport):
    """Resolves and judges the host of each request, then hands the request on with an address in its place.

    Every request gets a transport of its own: a connection kept for later could serve another name of that address.
    """

    def __init__(
        self,
        policy: NetworkPolicy,
        resolve: Resolver,
        find_proxy: Callable[[str, str], str],
        open_inner: Callable[[str], httpx2.AsyncBaseTransport],
    ) -> None:
        self._policy = policy
        self._resolve = resolve
        self._find_proxy = find_proxy
        self._open_inner = open_inner
        self._opened: list[httpx2.AsyncBaseTransport] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Try the addresses in turn until one can be connected to. Raises ToolRefusedError when a rule forbids one."""
        named = request.url
        host = named.raw_host.decode("ascii")
        proxy = self._find_proxy(named.scheme, host)
        inner = self._open_inner(proxy)
        self._opened.append(inner)
        if proxy:
            # The proxy resolves the name; what this side can judge is the address as written, and that is done.
            return await inner.handle_async_request(request)
        addresses = await self._judged_addresses(host, named.port or (443 if named.scheme == "https" else 80))
        for address in addresses[:-1]:
            try:
                return await inner.handle_async_request(_pinned(request, host, address))
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                continue
        return await inner.handle_async_request(_pinned(request, host, addresses[-1]))

    async def aclose(self) -> None:
        """Close what was opened."""
        for inner in self._opened:
            await inner.aclose()

    async def _judged_addresses(self, host: str, port: int) -> Sequence[str]:
        """The host's addresses. One forbidden address forbids the name: an honest one does not lead to both kinds."""
        found = [host] if parse_ip(host) else await self._resolve(host, port)
        addresses = list(dict.fromkeys(found))
        if not addresses:
            raise ToolError(f"The host {host!r} has no address", hint="Check the address for a typing error")
        for address in addresses:
            verdict = decide_address(address, self._policy)
            if verdict.outcome is not Outcome.ALLOW:
                lead = "" if address == host else f"{host} is not what it seems: "
                raise ToolRefusedError(f"{lead}{verdict.reason}")
        return addresses[:_MOST_ADDRESSES]


def _pinned(request: httpx2.Request, host: str, address: str) -> httpx2.Request:
    """The request to an address; the Host header is already set. A copy, since cookies go by the name."""
    extensions = request.extensions if parse_ip(host) else {**request.extensions, "sni_hostname": host}
    return httpx2.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        extensions=extensions,
    )
