"""Which addresses and keys of model endpoints may be kept, and how a key is shown.

Judges the text alone: no name is looked up, no request is made. Spec: providers.md; spec README, contradiction 7.
"""

import re
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit, urlunsplit

from skales.core.errors import InputError

# Private use (RFC 1918, RFC 4193) and the shared range that tailnets hand out (RFC 6598).
_NEAR_NETWORKS = tuple(
    ip_network(text) for text in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7")
)
_NEAR_ENDINGS = (".local", ".localhost")
_UNPRINTABLE = re.compile(r"[^\x21-\x7e]")
_HOST_NAME = re.compile(r"[a-z0-9_]+([.-]+[a-z0-9_]+)*", re.IGNORECASE)
# Resolvers read such a last label as a number, so that 134744072 and 0x8.8.8.8 are addresses in disguise.
_NUMBER_LABEL = re.compile(r"(\d+|0x[0-9a-f]*)", re.IGNORECASE)
_ACCOUNT = re.compile(r"[A-Za-z0-9_-]{1,128}")
_KEY_PREFIX = re.compile(r"[A-Za-z]{2,6}[-_]")
_SEALED = re.compile(r"enc:v\d+:")
_DOTS = "•••"


def parse_base_url(text: str) -> str:
    """The address without a trailing slash; empty text stays empty and means the provider's own address.

    Raises InputError, which never repeats the address: it may hold a password.
    """
    stripped = text.strip()
    if not stripped:
        return ""
    if _UNPRINTABLE.search(stripped) or "\\" in stripped:
        raise _bad_address("The address holds a space, a backslash or a character outside ASCII", "Type it again")
    try:
        parts = urlsplit(stripped)
        host, _ = parts.hostname or "", parts.port
    except ValueError as error:
        raise _bad_address("The address is not a URL", "Write it like https://host.example/v1") from error
    if parts.scheme not in ("http", "https") or not host:
        raise _bad_address(
            "The address must start with https:// or http:// and name a host", "Write it like https://host.example/v1"
        )
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise _bad_address(
            "The address must not hold a user name, a password, a query or a fragment", "Put the key into its own field"
        )
    if not _is_near(host) and parts.scheme == "http":
        raise _bad_address(
            "The address must start with https://, because the host is not on this computer or the local network",
            "Keys and messages would travel readable for everyone on the way",
        )
    return urlunsplit(parts).rstrip("/")


def parse_api_key(text: str) -> str:
    """The key without surrounding blanks; empty stays empty. Raises InputError, which never repeats the key."""
    key = text.strip()
    if "•" in key or "***" in key:
        raise InputError(
            "This is the masked form of a key, not the key itself", hint="Paste the whole key", code="masked_key"
        )
    if _SEALED.match(key):
        raise InputError(
            "The key is sealed by a key store that is not open here", hint="Enter the key again", code="sealed_key"
        )
    if _UNPRINTABLE.search(key):
        raise InputError(
            "The key holds a blank or a character that no key has", hint="Paste the key alone", code="bad_key"
        )
    return key


def parse_account_id(text: str) -> str:
    """An account id as it may stand in an address; empty stays empty. Raises InputError."""
    account = text.strip()
    if account and not _ACCOUNT.fullmatch(account):
        raise InputError(
            "An account id holds only letters, digits, _ and -",
            hint="Copy the id alone, not the address it stands in",
            code="bad_account",
        )
    return account


def mask_key(key: str) -> str:
    """The key for people: a prefix such as `sk-`, dots, at most the last four; never more than a third of it."""
    if not key:
        return ""
    shown = len(key) // 3
    tail = min(4, shown)
    found = _KEY_PREFIX.match(key)
    prefix = found.group() if found and len(found.group()) + tail <= shown else ""
    return f"{prefix}{_DOTS}{key[len(key) - tail :]}"


def _is_near(host: str) -> bool:
    """Whether the host is this computer or on its own network. Raises InputError for what no endpoint is."""
    name = host.removesuffix(".").lower()
    address = _parse_address(name)
    if address is None:
        return "." not in name or name.endswith(_NEAR_ENDINGS)
    if address.is_link_local:
        raise _bad_address(
            "The address is link-local, where cloud machines keep their own secrets", "Name the host by its LAN address"
        )
    return address.is_loopback or any(address in network for network in _NEAR_NETWORKS)


def _parse_address(name: str) -> IPv4Address | IPv6Address | None:
    """The IP address a host is written as, None for a name."""
    try:
        address = ip_address(name)
    except ValueError as error:
        if not _HOST_NAME.fullmatch(name) or _NUMBER_LABEL.fullmatch(name.rpartition(".")[2]):
            raise _bad_address(
                "The host of the address is neither a name nor an IP address", "Type it again"
            ) from error
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def _bad_address(message: str, hint: str) -> InputError:
    return InputError(message, hint=hint, code="bad_address")
