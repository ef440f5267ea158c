"""Hosts and ports are found by real connects on this computer; nothing but private networks is ever tried."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from ipaddress import IPv4Network

import anyio
import pytest

from skales.core.errors import SkalesError, ToolError
from skales.core.events import Progress
from skales.core.json import JsonObject, as_object
from skales.core.ports import CallScope
from skales.security.network import NetworkPolicy
from skales.tools.registry import BuiltinToolbox
from skales.tools.system.lan import own_networks
from tests.tools.conftest import Call, Rules

pytestmark = pytest.mark.anyio

NET = "127.7.7.8/29"


@pytest.fixture
async def ports(anyio_backend: str) -> AsyncIterator[Sequence[int]]:
    """Three ports: open at .10 and .12, open at .10 alone, and open nowhere."""

    async def close(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    first = await asyncio.start_server(close, "127.7.7.10", 0)
    shared: int = first.sockets[0].getsockname()[1]
    second = await asyncio.start_server(close, "127.7.7.12", shared)
    third = await asyncio.start_server(close, "127.7.7.10", 0)
    alone: int = third.sockets[0].getsockname()[1]
    fourth = await asyncio.start_server(close, "127.7.7.13", 0)
    nowhere: int = fourth.sockets[0].getsockname()[1]
    fourth.close()
    await fourth.wait_closed()
    yield shared, alone, nowhere
    for listener in (first, second, third):
        listener.close()


async def test_hosts_and_open_ports_are_found_in_order(call: Call, ports: Sequence[int]) -> None:
    shared, alone, nowhere = ports
    result = await call("scan_network", network=NET, ports=list(ports))
    # All of 127.0.0.0/8 is this computer, so the others answer too, with a refusal.
    assert as_object(result.data) == {
        "networks": ["127.7.7.8/29"],
        "hosts": [
            {"address": "127.7.7.9", "name": "", "ports": []},
            {"address": "127.7.7.10", "name": "", "ports": sorted([shared, alone])},
            {"address": "127.7.7.11", "name": "", "ports": []},
            {"address": "127.7.7.12", "name": "", "ports": [shared]},
            {"address": "127.7.7.13", "name": "", "ports": []},
            {"address": "127.7.7.14", "name": "", "ports": []},
        ],
    }
    assert result.summary == "6 hosts answered in 127.7.7.8/29"
    assert str(nowhere) not in result.text.partition("\n")[2]


async def test_one_address_can_be_named(call: Call, ports: Sequence[int]) -> None:
    result = await call("scan_network", network="127.7.7.12", ports=[ports[0]])
    assert result.summary == "1 host answered in 127.7.7.12/32"
    assert f"127.7.7.12: {ports[0]}" in result.text


async def test_names_are_looked_up_when_wanted(call: Call, ports: Sequence[int]) -> None:
    result = await call("scan_network", network="127.0.0.1/32", ports=[ports[2]], names=True)
    assert "localhost" in result.text


async def test_this_computer_is_tried_only_when_the_setting_allows_it(call: Call, rules: Rules) -> None:
    rules.network = NetworkPolicy(allow_loopback=False)
    with pytest.raises(ToolError, match="only when the setting allowLoopback is on"):
        await call("scan_network", network=NET, ports=[80])


@pytest.mark.parametrize(
    ("network", "words"),
    [
        ("8.8.8.0/24", "8.8.8.0/24 is not a private network"),
        ("1.1.1.1", "is not a private network"),
        ("169.254.169.0/24", "is not a private network"),
        ("224.0.0.0/24", "is not a private network"),
        ("255.255.255.255", "is not a private network"),
        ("240.0.0.0/28", "is not a private network"),
        ("10.0.0.0/8", "has more than 256 addresses"),
        ("192.168.0.0/23", "has more than 256 addresses"),
        ("0.0.0.0/0", "has more than 256 addresses"),
        ("fd00::/120", "Networks of IPv6"),
        ("::ffff:192.168.1.0/120", "Networks of IPv6"),
        ("192.168.1.0/33", "is not a network"),
        ("192.168.1", "is not a network"),
        ("0300.0250.1.1", "is not a network"),
        ("example.org", "is not a network"),
        ("x" * 1_000_000, "is not a network"),
        ("100.100.100.200", "is not a private network"),
    ],
)
async def test_other_networks_are_refused(call: Call, network: str, words: str) -> None:
    with pytest.raises(ToolError, match=words):
        await call("scan_network", network=network, ports=[80])


@pytest.mark.parametrize("ports", [[0], [65_536], [-1], list(range(1, 66)), ["ssh"]])
async def test_what_are_no_ports_is_refused(call: Call, ports: list[int]) -> None:
    with pytest.raises(SkalesError, match=r"is not a port|'ports' should be"):
        await call("scan_network", network=NET, ports=ports)


def test_own_networks_are_private_and_small() -> None:
    interfaces = [
        ("127.0.0.1", "255.0.0.0"),
        ("192.168.5.17", "255.255.255.0"),
        ("192.168.5.18", "255.255.255.0"),
        ("10.3.200.9", "255.0.0.0"),
        ("172.17.0.1", "255.255.0.0"),
        ("203.0.113.9", "255.255.255.0"),
        ("169.254.3.4", "255.255.0.0"),
        ("192.168.9.33", "255.255.255.240"),
    ]
    expected = ["10.3.200.0/24", "172.17.0.0/24", "192.168.5.0/24", "192.168.9.32/28"]
    assert own_networks(interfaces) == [IPv4Network(text) for text in expected]


async def test_cancelled_scan_leaves_no_task_behind(toolbox: BuiltinToolbox, scope: CallScope) -> None:
    spec = toolbox.find("scan_network")
    assert spec is not None
    before = asyncio.all_tasks()
    with anyio.CancelScope() as cancelled:
        told = CallScope(scope.session_id, scope.call_id, scope.ask, lambda _progress: cancelled.cancel())
        arguments: JsonObject = {"network": "127.9.9.0/24", "ports": list(range(2, 12))}
        await toolbox.run(spec, arguments, told)
    assert cancelled.cancelled_caught
    assert asyncio.all_tasks() == before


async def test_progress_ends_at_the_end(toolbox: BuiltinToolbox, scope: CallScope) -> None:
    spec = toolbox.find("scan_network")
    assert spec is not None
    seen: list[Progress] = []
    told = CallScope(scope.session_id, scope.call_id, scope.ask, seen.append)
    arguments: JsonObject = {"network": "127.9.9.0/26", "ports": [2, 3, 4, 5]}
    await toolbox.run(spec, arguments, told)
    assert [(step.done, step.total) for step in seen] == [(100, 248), (200, 248), (248, 248)]
