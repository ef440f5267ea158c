"""What kind of place an IP address is: the internet, the local network, this computer, or nowhere a tool belongs.

Looks through addresses that carry another one (mapped, NAT64, 6to4, Teredo, ISATAP). Pure tables.
Sources: RFC 6890 and the IANA special-purpose registries, RFC 6052, RFC 8215, RFC 3056, RFC 4380, RFC 5214.
"""

from collections.abc import Iterator
from enum import StrEnum
from ipaddress import IPv4Address, IPv6Address, ip_network


class AddressClass(StrEnum):
    """Ordered from free to forbidden."""

    PUBLIC = "public"
    LAN = "lan"
    TAILNET = "tailnet"
    LOOPBACK = "loopback"
    LINK_LOCAL = "link-local"
    MULTICAST = "multicast"
    BROADCAST = "broadcast"
    RESERVED = "reserved"
    METADATA = "metadata"


_ORDER = {kind: rank for rank, kind in enumerate(AddressClass)}

# First match counts. Not listed, hence public: the documentation and benchmarking ranges. Nobody lives in the first,
# and local proxies hand out the second (198.18.0.0/15) for every name on the internet.
_TABLE = tuple(
    (ip_network(network), kind)
    for network, kind in (
        ("100.100.100.200/32", AddressClass.METADATA),  # Alibaba Cloud
        ("168.63.129.16/32", AddressClass.METADATA),  # Azure
        ("192.0.0.192/32", AddressClass.METADATA),  # Oracle Cloud
        ("0.0.0.0/32", AddressClass.LOOPBACK),  # systems connect it to themselves
        ("127.0.0.0/8", AddressClass.LOOPBACK),
        ("169.254.0.0/16", AddressClass.LINK_LOCAL),  # holds most metadata services too
        ("10.0.0.0/8", AddressClass.LAN),
        ("172.16.0.0/12", AddressClass.LAN),
        ("192.168.0.0/16", AddressClass.LAN),
        ("100.64.0.0/10", AddressClass.TAILNET),
        ("224.0.0.0/4", AddressClass.MULTICAST),
        ("255.255.255.255/32", AddressClass.BROADCAST),
        ("0.0.0.0/8", AddressClass.RESERVED),
        ("192.0.0.0/24", AddressClass.RESERVED),
        ("192.88.99.0/24", AddressClass.RESERVED),
        ("240.0.0.0/4", AddressClass.RESERVED),
        ("0.0.0.0/0", AddressClass.PUBLIC),
        ("fd00:ec2::/32", AddressClass.METADATA),  # AWS
        ("fd20:ce::/32", AddressClass.METADATA),  # Google Cloud
        ("fd00:c1::/32", AddressClass.METADATA),  # Oracle Cloud
        ("fd00:42::42/128", AddressClass.METADATA),  # Scaleway
        ("::/127", AddressClass.LOOPBACK),
        ("fe80::/10", AddressClass.LINK_LOCAL),
        ("fd7a:115c:a1e0::/48", AddressClass.TAILNET),
        ("fc00::/7", AddressClass.LAN),
        ("ff00::/8", AddressClass.MULTICAST),
        # These carry an IPv4 address, which is judged by itself.
        ("::/96", AddressClass.PUBLIC),
        ("::ffff:0:0/96", AddressClass.PUBLIC),
        ("::ffff:0:0:0/96", AddressClass.PUBLIC),
        ("64:ff9b::/96", AddressClass.PUBLIC),
        ("64:ff9b:1::/48", AddressClass.PUBLIC),
        ("2000::/3", AddressClass.PUBLIC),
        ("::/0", AddressClass.RESERVED),
    )
)

_CARRIES_LAST_32_BITS = tuple(map(ip_network, ("::/96", "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96")))
_LOCAL_NAT64 = ip_network("64:ff9b:1::/48")
# The interface half of an ISATAP address, RFC 5214, 6.1: 0000:5efe or 0200:5efe, then the IPv4 address.
_ISATAP = (0x00005EFE, 0x02005EFE)


def classify_address(address: IPv4Address | IPv6Address) -> AddressClass:
    """The most forbidden class among the address and the ones it carries."""
    kinds = [_look_up(address)]
    if isinstance(address, IPv6Address) and kinds[0] is not AddressClass.LOOPBACK:
        kinds += [_look_up(inner) for inner in _carried(address)]
    return max(kinds, key=_ORDER.__getitem__)


def _look_up(address: IPv4Address | IPv6Address) -> AddressClass:
    return next(kind for network, kind in _TABLE if address in network)


def _carried(address: IPv6Address) -> Iterator[IPv4Address]:
    value = int(address)
    low = IPv4Address(value & 0xFFFFFFFF)
    if any(address in network for network in _CARRIES_LAST_32_BITS) or (value >> 32) & 0xFFFFFFFF in _ISATAP:
        yield low
    if address in _LOCAL_NAT64:
        # RFC 6052, 2.2: a /48 prefix puts the address around bits 64 to 71; a longer one puts it last.
        yield low if int(low) else IPv4Address((value >> 64 & 0xFFFF) << 16 | value >> 40 & 0xFFFF)
    if address.sixtofour is not None:
        yield address.sixtofour
    if address.teredo is not None:
        yield from address.teredo
