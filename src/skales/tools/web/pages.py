"""Fetches what a tool wants to read as a page. What it does with it is its own business."""

from msgspec import Struct

from skales.core.errors import ToolError
from skales.security.network import NetworkPolicy
from skales.tools.web.client import WebRequest, open_reply
from skales.tools.web.document import Source, require_readable

MOST_BYTES = 5_000_000
_ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,application/json;q=0.9,text/*;q=0.9,*/*;q=0.5"


class Fetched(Struct, frozen=True):
    """An answer with its body, whatever its status."""

    source: Source
    status: int
    reason: str


async def fetch_source(url: str, policy: NetworkPolicy) -> Fetched:
    """Fetch what can be read as text; the first 5 MB of it. Raises ToolError for anything else."""
    async with open_reply(url, policy, WebRequest(headers={"Accept": _ACCEPT})) as reply:
        content_type = reply.headers.get("content-type", "")
        require_readable(content_type, reply.url)
        body, is_cut = await reply.read(MOST_BYTES)
        return Fetched(Source(body, content_type, reply.url, is_cut), reply.status, reply.reason)


async def fetch_page(url: str, policy: NetworkPolicy) -> Source:
    """Fetch a page that is there. Raises ToolError also when the server answers with an error."""
    fetched = await fetch_source(url, policy)
    if fetched.status >= 400:
        answer = f"The server answered {fetched.status} {fetched.reason}".rstrip()
        raise ToolError(f"{answer} for {fetched.source.address}", hint="Check the address", code="http_status")
    return fetched.source
