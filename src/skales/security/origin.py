"""Who may talk to the local server: judges Host, Origin and Sec-Fetch headers against rebinding and foreign pages.

For a server on loopback without remote access. Says nothing about tokens. Spec: security.md, "Network".
"""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

_OWN_NAMES = ("127.0.0.1", "localhost", "[::1]")
_HTTP_PORT = 80


class RequestOrigin(Struct, frozen=True, kw_only=True):
    """What a request says about where it comes from.

    `host_values` holds one entry per Host line; the others are None when the header is missing. `port` is ours.
    """

    host_values: Sequence[str]
    origin: str | None = None
    sec_fetch_site: str | None = None
    sec_fetch_mode: str | None = None
    sec_fetch_dest: str | None = None
    port: int
    method: str


class OriginVerdict(Struct, frozen=True):
    """Answer the request, or refuse it with this status before its body is read."""

    status: Literal[200, 400, 403]
    reason: str = ""


def decide_request(request: RequestOrigin) -> OriginVerdict:
    """Whether the request comes from our own page or from a program on this computer."""
    if len(request.host_values) != 1 or not request.host_values[0]:
        return OriginVerdict(400, "A request needs exactly one Host header")
    own = _own_hosts(request.port)
    if request.host_values[0].lower() not in own:
        return OriginVerdict(403, "This host name is not ours; open http://127.0.0.1 with the port of Skales")
    # Another spelling of our address is our own page too; a browser cannot forge it.
    if request.origin is not None and request.origin.lower() not in {f"http://{host}" for host in own}:
        return OriginVerdict(403, "Pages of other origins may not use this server")
    if request.sec_fetch_site not in (None, "none", "same-origin") and not _is_navigation(request):
        return OriginVerdict(403, "Other sites may only link to this page, not load from it or post to it")
    return OriginVerdict(200)


def _own_hosts(port: int) -> frozenset[str]:
    hosts = {f"{name}:{port}" for name in _OWN_NAMES}
    # A missing port means 80 (RFC 9110, 4.2.1), so it is ours only there.
    return frozenset(hosts | set(_OWN_NAMES) if port == _HTTP_PORT else hosts)


def _is_navigation(request: RequestOrigin) -> bool:
    """A link followed in a tab of its own: nothing is posted, and the other site cannot read the page."""
    return (
        request.method == "GET"
        and request.sec_fetch_site in ("cross-site", "same-site")
        and request.sec_fetch_mode == "navigate"
        and request.sec_fetch_dest == "document"
    )
