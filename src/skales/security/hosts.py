"""One spelling for every host: what a browser makes of a host in an address, so that numbers cannot hide.

Spec: https://url.spec.whatwg.org/#host-parsing. Stricter where no real host is lost: no empty labels, no zone ids.
"""

import ipaddress
import re
from urllib.parse import unquote_to_bytes

from skales.core.errors import InputError

# https://url.spec.whatwg.org/#forbidden-domain-code-point
_FORBIDDEN = re.compile(r"[\x00-\x20#/:<>?@\[\\\]^|%\x7f]")
_NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+")
# RFC 1035, 2.3.4
_MAX_HOST = 253
_MAX_LABEL = 63


def parse_host(text: str) -> str:
    """The host in its one spelling: IPv4 as four numbers, IPv6 short and without brackets, names in ASCII lower case.

    `text` is the host of an address, IPv6 in brackets. Raises InputError.
    """
    if text.startswith("["):
        if not text.endswith("]"):
            raise _bad_host(text)
        return _parse_ipv6(text[1:-1])
    name = _to_ascii(unquote_to_bytes(text).decode(errors="replace"))
    if _FORBIDDEN.search(name):
        raise _bad_host(text)
    labels = name.removesuffix(".").split(".")
    if _NUMBER.fullmatch(labels[-1]):
        return _parse_ipv4(labels)
    if not all(labels) or len(name) > _MAX_HOST or max(map(len, labels)) > _MAX_LABEL:
        raise _bad_host(text)
    return name


def parse_ip(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address a parsed host stands for; None for a name."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _to_ascii(name: str) -> str:
    if name.isascii():
        return name.lower()
    # Loaded late: tables of all scripts, for the rare host that needs them.
    import idna

    try:
        # Maps full-width digits and dots as browsers do, and names outside ASCII as DNS wants them.
        mapped = idna.uts46_remap(name, std3_rules=False, transitional=False)
        return mapped.lower() if mapped.isascii() else idna.encode(mapped).decode("ascii")
    except idna.IDNAError as error:
        raise _bad_host(name) from error


def _parse_ipv4(labels: list[str]) -> str:
    """https://url.spec.whatwg.org/#concept-ipv4-parser: one to four numbers, each decimal, octal or hex."""
    if len(labels) > 4:
        raise _bad_host(".".join(labels))
    numbers = [_parse_number(label) for label in labels]
    *front, last = numbers
    if any(number > 255 for number in front) or last >= 256 ** (5 - len(numbers)):
        raise _bad_host(".".join(labels))
    value = last + sum(number << (8 * (3 - place)) for place, number in enumerate(front))
    return str(ipaddress.IPv4Address(value))


def _parse_number(label: str) -> int:
    if not _NUMBER.fullmatch(label) or len(label) > _MAX_LABEL:
        raise _bad_host(label)
    if label.startswith("0x"):
        return int(label[2:] or "0", 16)
    try:
        return int(label, 8 if label.startswith("0") else 10)
    except ValueError as error:
        raise _bad_host(label) from error


def _parse_ipv6(text: str) -> str:
    try:
        address = ipaddress.IPv6Address(text)
    except ValueError as error:
        raise _bad_host(f"[{text}]") from error
    if address.scope_id is not None:
        raise _bad_host(f"[{text}]")
    return str(address)


def _bad_host(text: str) -> InputError:
    return InputError(f"{text[:100]!r} is not a host", hint="Write a name or an IP address", code="bad_url")
