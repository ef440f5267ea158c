"""Which hosts a tool may reach: internet, local network and tailnet yes, this computer by a setting, the rest never.

Judges text only. The client must request the `url` of the parsed address, judge every redirect again, and judge each
address a name resolves to before it connects. Spec: security.md, "Network".
"""

import re
from ipaddress import ip_address
from typing import assert_never
from urllib.parse import quote, urljoin

from msgspec import Struct

from skales.core.errors import InputError
from skales.core.tool import Outcome, Verdict
from skales.security.addresses import AddressClass, classify_address
from skales.security.hosts import parse_host, parse_ip

_HINT = "Write it like https://example.org/page"
_DEFAULT_PORTS = {"http": 80, "https": 443}
_MAX_URL = 16_384

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
# Exactly two slashes: browsers read `http:///host` as a host too, but nobody means it.
_AUTHORITY = re.compile(r"[/\\]{2}([^/\\?#]*)")
_REST = re.compile(r"([^?#]*)(\?[^#]*)?(#.*)?", re.DOTALL)
_PORT = re.compile(r"[0-9]{0,5}")
# What browsers leave as it is in each part of an address; `%` stays, so that escapes are not escaped again.
_PATH_SAFE = "%/:@!$&'()*+,;=|[]^"
_QUERY_SAFE = _PATH_SAFE.replace("'", "") + "?`{}\\"
_USER_SAFE = "%!$&'()*+,"

_LOOPBACK_NAMES = frozenset({"localhost", "localhost.localdomain", "localhost6", "ip6-localhost", "ip6-loopback"})
_METADATA_NAMES = (
    "metadata",
    "metadata.google.internal",
    "metadata.goog",
    "instance-data",
    "instance-data.ec2.internal",
)


class NetworkPolicy(Struct, frozen=True):
    """`allow_loopback` lets tools reach this computer, `allow_lan` the local network and the tailnet.

    `blocked_domains` are hosts in the spelling of `parse_domain`; what is below one of them is blocked as well.
    """

    allow_loopback: bool = False
    allow_lan: bool = True
    blocked_domains: tuple[str, ...] = ()


class CheckedUrl(Struct, frozen=True):
    """An address taken apart as a browser does. Only `url` may be requested; `host` has no brackets."""

    scheme: str
    host: str
    port: int
    url: str

    @property
    def origin(self) -> tuple[str, str, int]:
        """What must stay the same for credentials to follow a redirect."""
        return self.scheme, self.host, self.port


def parse_url(text: str) -> CheckedUrl:
    """Take an http or https address apart. Raises InputError, which never repeats user name, password or query."""
    scheme, rest = _split_scheme(text)
    if scheme not in _DEFAULT_PORTS:
        raise InputError(
            f"Addresses that begin with {scheme}: are never fetched",
            hint="Only http:// and https:// are",
            code="bad_scheme",
        )
    authority = _AUTHORITY.match(rest)
    if authority is None:
        raise InputError("The address names no host", hint=_HINT, code="bad_url")
    user, _, place = authority[1].rpartition("@")
    host_text, port_text = _split_port(place)
    if not host_text:
        raise InputError("The address names no host", hint=_HINT, code="bad_url")
    host = parse_host(host_text)
    port = _parse_port(port_text, _DEFAULT_PORTS[scheme])
    url = f"{scheme}://{_user_part(user)}{_host_part(host, port, scheme)}{_path_part(rest[authority.end() :])}"
    return CheckedUrl(scheme, host, port, url)


def join_url(current: CheckedUrl, location: str) -> CheckedUrl:
    """Where a redirect leads. Raises InputError like `parse_url`."""
    path, mark, query = _clean(location).partition("?")
    # Browsers read a backslash here as a slash.
    target = path.replace("\\", "/") + mark + query
    if _SCHEME.match(target):
        return parse_url(target)
    return parse_url(f"{current.scheme}:{target}" if target.startswith("//") else urljoin(current.url, target))


def decide_url(text: str, policy: NetworkPolicy) -> Verdict:
    """Whether a tool may request an address, as far as its text tells; what is no address is refused as well."""
    try:
        host = parse_url(text).host
    except InputError as error:
        return Verdict(Outcome.DENY, str(error), f"network.{error.code.removeprefix('bad_')}")
    address = parse_ip(host)
    return _decide(host, _class_of_name(host) if address is None else classify_address(address), policy)


def decide_address(ip_text: str, policy: NetworkPolicy) -> Verdict:
    """Whether a connection to one resolved address may be opened. Raises InputError when it is no IP address."""
    address = parse_ip(ip_text)
    if address is None:
        raise InputError(f"{ip_text[:100]!r} is not an IP address", code="bad_address")
    return _decide(str(address), classify_address(address), policy)


def parse_domain(text: str) -> str:
    """A host for the block list, written as a name, `*.name`, an IP address or a whole address. Raises InputError."""
    bare = text.strip()
    if _SCHEME.match(bare) and "//" in bare:
        return parse_url(bare).host.removesuffix(".")
    bare = bare.removeprefix("*").removeprefix(".")
    try:
        return str(ip_address(bare.strip("[]")))
    except ValueError:
        return parse_host(bare).removesuffix(".")


def is_local_host(host: str) -> bool:
    """Whether a host is on this computer or the local network: loopback, private, link-local, `.local`, one label."""
    try:
        name = parse_host(f"[{host}]" if ":" in host and not host.startswith("[") else host)
    except InputError:
        return False
    address = parse_ip(name)
    if address is not None:
        return classify_address(address) in (AddressClass.LOOPBACK, AddressClass.LAN, AddressClass.LINK_LOCAL)
    bare = name.removesuffix(".")
    return "." not in bare or bare.endswith(".local") or _class_of_name(name) is AddressClass.LOOPBACK


def _clean(text: str) -> str:
    """Browsers drop blanks and controls around an address, and line ends and tabs anywhere."""
    cleaned = text.strip("".join(map(chr, range(0x21)))).translate({ord(char): None for char in "\t\r\n"})
    if len(cleaned) > _MAX_URL:
        raise InputError(f"The address is longer than {_MAX_URL} characters", code="bad_url")
    if any("\ud800" <= char <= "\udfff" for char in cleaned):
        raise InputError("The address contains half a character", code="bad_url")
    return cleaned


def _split_scheme(text: str) -> tuple[str, str]:
    cleaned = _clean(text)
    match = _SCHEME.match(cleaned)
    if match is None:
        raise InputError("The address does not begin with http:// or https://", hint=_HINT, code="bad_url")
    return match[1].lower(), cleaned[match.end() :]


def _split_port(place: str) -> tuple[str, str]:
    end_of_ipv6 = place.find("]") + 1
    host_end = place.find(":", end_of_ipv6)
    return (place, "") if host_end < 0 else (place[:host_end], place[host_end + 1 :])


def _parse_port(text: str, default: int) -> int:
    number = int(text or default) if _PORT.fullmatch(text) else 0
    if not 0 < number < 65_536:
        raise InputError(f"{text[:20]!r} is not a port", hint="Use a number from 1 to 65535", code="bad_url")
    return number


def _user_part(user: str) -> str:
    name, colon, password = user.partition(":")
    return f"{quote(name, safe=_USER_SAFE)}{colon}{quote(password, safe=_USER_SAFE)}@" if user else ""


def _host_part(host: str, port: int, scheme: str) -> str:
    shown = f"[{host}]" if ":" in host else host
    return shown if port == _DEFAULT_PORTS[scheme] else f"{shown}:{port}"


def _path_part(text: str) -> str:
    match = _REST.match(text)
    assert match is not None, "the pattern matches every text"
    path, query, fragment = (part or "" for part in match.groups())
    return "".join(
        (
            quote(path.replace("\\", "/"), safe=_PATH_SAFE) or "/",
            quote(query, safe=_QUERY_SAFE),
            "#" * bool(fragment) + quote(fragment[1:], safe=_QUERY_SAFE),
        )
    )


def _class_of_name(host: str) -> AddressClass:
    """What a name says about itself; what it resolves to is judged when it is known."""
    name = host.removesuffix(".")
    if name in _LOOPBACK_NAMES or name.endswith(".localhost"):
        return AddressClass.LOOPBACK
    if name.endswith(tuple(f".{known}" for known in _METADATA_NAMES)) or name in _METADATA_NAMES:
        return AddressClass.METADATA
    return AddressClass.PUBLIC


def _blocking(place: str, policy: NetworkPolicy) -> str:
    """The entry of the block list that a host is or is below, empty when there is none."""
    host = place.removesuffix(".")
    return next((entry for entry in policy.blocked_domains if host == entry or host.endswith(f".{entry}")), "")


def _decide(place: str, kind: AddressClass, policy: NetworkPolicy) -> Verdict:
    if entry := _blocking(place, policy):
        return Verdict(
            Outcome.DENY, f"{place} is closed by the entry {entry} of the setting blockedDomains", "network.blocked"
        )
    match kind:
        case AddressClass.PUBLIC:
            return Verdict(Outcome.ALLOW)
        case AddressClass.LAN | AddressClass.TAILNET if policy.allow_lan:
            return Verdict(Outcome.ALLOW)
        case AddressClass.LAN | AddressClass.TAILNET:
            reason = f"{place} is in the local network, which tools reach only when the setting allowLan is on"
        case AddressClass.LOOPBACK if policy.allow_loopback:
            return Verdict(Outcome.ALLOW)
        case AddressClass.LOOPBACK:
            reason = f"{place} is this computer, which tools reach only when the setting allowLoopback is on"
        case AddressClass.LINK_LOCAL | AddressClass.METADATA:
            reason = f"{place} is a {kind} address, where cloud machines keep their keys; tools never reach it"
        case AddressClass.MULTICAST | AddressClass.BROADCAST | AddressClass.RESERVED:
            reason = f"{place} is a {kind} address; tools never reach it"
        case _:
            assert_never(kind)
    return Verdict(Outcome.DENY, reason, f"network.{kind}")
