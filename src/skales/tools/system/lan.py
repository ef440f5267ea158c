"""The tool `scan_network`: which hosts of the local network answer, and on which ports, by plain connects.

Only private networks of at most 256 addresses. A host that refuses a connect is there too. Spec: integrations.md, 28.
"""

import asyncio
import errno
import socket
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Network, ip_network
from typing import Annotated

import anyio
from anyio import to_thread
from msgspec import Struct, field

from skales.core.errors import InputError, ToolError, ToolRefusedError
from skales.core.events import Progress
from skales.core.json import JsonValue
from skales.core.tool import Effect, Outcome, Safety, ToolResult
from skales.security.addresses import AddressClass, classify_address
from skales.security.network import NetworkPolicy, decide_address
from skales.tools.context import ToolContext
from skales.tools.define import Range, tool
from skales.tools.web.quoting import neutralise

# What runs in homes and offices: SSH, web, printers, shares, media, smart homes, databases, remote desktops.
_PORTS: Mapping[int, str] = {
    21: "ftp", 22: "ssh", 23: "telnet", 53: "dns", 80: "http", 139: "netbios", 443: "https", 445: "smb", 515: "printer",
    548: "afp", 554: "rtsp", 631: "ipp", 1883: "mqtt", 3306: "mysql", 3389: "rdp", 5000: "http", 5432: "postgres",
    5900: "vnc", 8080: "http", 8123: "home-assistant", 8443: "https", 9100: "printer",
}  # fmt: skip
_SMALLEST_PREFIX = 24
_MOST_PORTS = 64
_MOST_NETWORKS = 4
_AT_ONCE = 100
_CONNECT_S = 0.7
_NAMES_S = 6
_REPORT_EVERY = 100
_ALLOWED = {AddressClass.LAN, AddressClass.TAILNET, AddressClass.LOOPBACK}
# Each says that somebody answered.
_REFUSED = {errno.ECONNREFUSED, errno.ECONNRESET}


class _Host(Struct):
    """What answered at one address."""

    ports: list[int] = field(default_factory=list[int])
    name: str = ""


@tool(
    "system",
    Safety.CONFIRM,
    Effect.READS_PRIVATE,
    Effect.UNTRUSTED_OUTPUT,
    Effect.OUTBOUND,
    addon="network_scanner",
    action="Look for hosts and open ports on the network[ {network}]",
    example=("Which devices are on my network?", {}),
    found_by=(
        "Netzwerk Geräte devices LAN WLAN wifi open ports IP router hosts who is on home network Heimnetz "
        "Netz printer Drucker reachable erreichbar Gerät angeschlossen connected hängen offene"
    ),
)
async def scan_network(
    ctx: ToolContext,
    network: str = "",
    ports: Annotated[Sequence[int], Range(0, _MOST_PORTS)] = (),
    names: bool = False,
) -> ToolResult:
    """Find the devices on the local network and their open ports.

    Args:
        network: Such as 192.168.1.0/24, or one address; this computer's own when left out.
        ports: About 20 common ones when left out.
        names: Also ask for their names.
    """
    networks = [_parse_network(network)] if network.strip() else await to_thread.run_sync(_own_networks)
    tried = _check_ports(ports)
    addresses = list(_allowed_addresses(networks, ctx.network))
    found = await _scan(ctx, addresses, tried)
    if names:
        await _find_names(found)
    return _result(networks, found, tried)


def _parse_network(text: str) -> IPv4Network:
    try:
        network = ip_network(text.strip(), strict=False)
    except ValueError as error:
        raise InputError(f"{text[:100]!r} is not a network", hint="Write it like 192.168.1.0/24") from error
    if isinstance(network, IPv6Network):
        raise InputError("Networks of IPv6 are too large to try every address", hint="Name one of IPv4")
    if network.prefixlen < _SMALLEST_PREFIX:
        raise InputError(
            f"{network} has more than 256 addresses", hint=f"Name a part of it, such as {network.network_address}/24"
        )
    return network


def _own_networks() -> Sequence[IPv4Network]:
    """The private networks this computer is in; of large ones the 256 addresses around its own."""
    import psutil

    stats = psutil.net_if_stats()
    found = [
        (address.address, address.netmask or "255.255.255.0")
        for name, addresses in psutil.net_if_addrs().items()
        if name not in stats or stats[name].isup
        for address in addresses
        if address.family == socket.AF_INET
    ]
    networks = own_networks(found)
    if not networks:
        raise ToolError("This computer is in no private network", hint="Name one, such as 192.168.1.0/24")
    return networks


def own_networks(interfaces: Iterable[tuple[str, str]]) -> Sequence[IPv4Network]:
    """The networks to scan for addresses and netmasks of interfaces, in order, without doubles."""
    found: dict[IPv4Network, None] = {}
    for address, mask in interfaces:
        interface = IPv4Interface(f"{address}/{mask}")
        if classify_address(interface.ip) is AddressClass.LAN:
            prefix = max(interface.network.prefixlen, _SMALLEST_PREFIX)
            found[IPv4Network(f"{interface.ip}/{prefix}", strict=False)] = None
    return sorted(found)[:_MOST_NETWORKS]


def _check_ports(ports: Sequence[int]) -> Sequence[int]:
    wrong = next((port for port in ports if not 0 < port < 65_536), None)
    if wrong is not None:
        raise InputError(f"{wrong} is not a port", hint="Use numbers from 1 to 65535")
    return sorted(set(ports)) or list(_PORTS)


def _allowed_addresses(networks: Sequence[IPv4Network], policy: NetworkPolicy) -> Iterator[IPv4Address]:
    """Every address of the networks; single ones that a rule closes are left out. Raises ToolRefusedError."""
    for network in networks:
        kind = classify_address(network.network_address)
        if kind not in _ALLOWED:
            raise ToolRefusedError(
                f"{network} is not a private network, and others are not scanned",
                hint="Name a network of one's own, such as 192.168.1.0/24",
                code="not_private",
            )
        verdicts = {address: decide_address(str(address), policy) for address in network.hosts()}
        open_ones = [address for address, verdict in verdicts.items() if verdict.outcome is Outcome.ALLOW]
        if not open_ones:
            raise ToolRefusedError(next(iter(verdicts.values())).reason)
        yield from open_ones


async def _scan(
    ctx: ToolContext, addresses: Sequence[IPv4Address], ports: Sequence[int]
) -> Mapping[IPv4Address, _Host]:
    """Try every port of every address; port by port, so that no host gets many connects at once."""
    found: dict[IPv4Address, _Host] = defaultdict(_Host)
    pairs = iter([(address, port) for port in ports for address in addresses])
    total = len(addresses) * len(ports)
    done = 0

    async def work() -> None:
        nonlocal done
        for address, port in pairs:
            answer = await _try(address, port)
            if answer is not None:
                found[address].ports.extend([port] if answer else [])
            done += 1
            if done % _REPORT_EVERY == 0 or done == total:
                ctx.scope.report(Progress("Trying addresses and ports", done, total, "steps"))

    async with anyio.create_task_group() as group:
        for _ in range(min(_AT_ONCE, total)):
            group.start_soon(work)
    return found


async def _try(address: IPv4Address, port: int) -> bool | None:
    """Whether the port is open; None when nobody answered."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as connection:
        connection.setblocking(False)
        try:
            with anyio.fail_after(_CONNECT_S):
                await asyncio.get_running_loop().sock_connect(connection, (str(address), port))
        except TimeoutError:
            return None
        except OSError as error:
            return False if error.errno in _REFUSED else None
        return True


async def _find_names(found: Mapping[IPv4Address, _Host]) -> None:
    limiter = anyio.CapacityLimiter(_AT_ONCE // 5)

    async def look_up(address: IPv4Address, host: _Host) -> None:
        with anyio.move_on_after(_NAMES_S):
            host.name = await to_thread.run_sync(_name_of, str(address), abandon_on_cancel=True, limiter=limiter)

    async with anyio.create_task_group() as group:
        for address, host in found.items():
            group.start_soon(look_up, address, host)


def _name_of(address: str) -> str:
    try:
        return socket.gethostbyaddr(address)[0]
    except OSError:
        return ""


def _result(networks: Sequence[IPv4Network], found: Mapping[IPv4Address, _Host], ports: Sequence[int]) -> ToolResult:
    where = ", ".join(map(str, networks))
    hosts = [(address, found[address]) for address in sorted(found)]
    lines = [_line(address, host) for address, host in hosts] or ["Nobody answered."]
    lines.append("Devices that answer on none of these ports are not seen.")
    tried = ", ".join(map(str, ports))
    return ToolResult(
        text="\n".join([f"Hosts that answered in {where}, ports tried: {tried}.", *lines]),
        summary=f"{len(hosts)} {'host' if len(hosts) == 1 else 'hosts'} answered in {where}",
        data={"networks": [str(network) for network in networks], "hosts": [_facts(*pair) for pair in hosts]},
    )


def _line(address: IPv4Address, host: _Host) -> str:
    shown = ", ".join(f"{port} ({_PORTS[port]})" if port in _PORTS else str(port) for port in sorted(host.ports))
    name = f" {neutralise(host.name)[:120]}" if host.name else ""
    return f"{address}{name}: {shown or 'no open port of those'}"


def _facts(address: IPv4Address, host: _Host) -> JsonValue:
    return {"address": str(address), "name": host.name, "ports": sorted(host.ports)}
