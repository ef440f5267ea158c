"""The network rules for hosts that are not reached by an address to fetch: servers for files and for git."""

from collections.abc import Sequence

from skales.core.errors import ToolError, ToolRefusedError
from skales.core.tool import Outcome
from skales.security.hosts import parse_host, parse_ip
from skales.security.network import NetworkPolicy, decide_address, decide_url
from skales.tools.web.client import resolve_name

_MOST_ADDRESSES = 4


async def resolve_judged(host: str, port: int, policy: NetworkPolicy) -> Sequence[str]:
    """The addresses of a host, each of them allowed; connect to one of these, not to the name.

    Raises ToolRefusedError when a rule forbids the host or one of its addresses, ToolError when it has none.
    """
    name = judge_host(host, policy)
    found = [name] if parse_ip(name) else await resolve_name(name, port)
    addresses = list(dict.fromkeys(found))
    if not addresses:
        raise ToolError(f"The host {name!r} has no address", hint="Check it for a typing error")
    for address in addresses:
        verdict = decide_address(address, policy)
        if verdict.outcome is not Outcome.ALLOW:
            raise ToolRefusedError(verdict.reason)
    return addresses[:_MOST_ADDRESSES]


def judge_host(host: str, policy: NetworkPolicy) -> str:
    """The host in its one spelling. Raises ToolRefusedError when its name alone is forbidden, InputError for none."""
    bare = host.removeprefix("[").removesuffix("]")
    name = parse_host(f"[{bare}]" if ":" in bare else bare)
    verdict = decide_url(f"https://[{name}]/" if ":" in name else f"https://{name}/", policy)
    if verdict.outcome is not Outcome.ALLOW:
        raise ToolRefusedError(verdict.reason)
    return name
