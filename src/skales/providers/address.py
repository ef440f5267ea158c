"""Reads a base URL the way people paste it, and judges where it leads. Looks nothing up.

Local is decided by address, not by name. Spec: providers.md, "Rules"; local-models.md.
"""

import re
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import ip_address
from urllib.parse import urlsplit

from skales.core.errors import ProviderError
from skales.providers.faults import SETTINGS, unconfigured
from skales.security.network import is_local_host

_ENDINGS = ("/chat/completions", "/completions", "/messages", "/models")


@dataclass(frozen=True, slots=True)
class BaseUrl:
    """A base URL in parts.

    `shown` is for people: no credentials, no query. `is_loopback` is true for plain HTTP to this machine.
    """

    shown: str
    is_local: bool
    is_loopback: bool
    root: str = field(repr=False)
    query: str = field(default="", repr=False)

    def join(self, path: str) -> str:
        """The address of a path below the base, which may have a query; that of the base stays at the end."""
        query = self.query.replace("?", "&", 1) if "?" in path else self.query
        return f"{self.root}{path}{query}"


@lru_cache(maxsize=64)
def parse_base_url(text: str, label: str) -> BaseUrl:
    """A usable base URL. Raises ProviderError(NOT_CONFIGURED) that says what is missing; `label` names the provider."""
    text = text.strip()
    if not text:
        raise unconfigured(f"{label} has no base URL", f"Enter one in {SETTINGS}, such as http://127.0.0.1:8080/v1")
    if placeholder := re.search(r"\{[^{}]*\}", text):
        raise unconfigured(
            f"The base URL of {label} still holds {placeholder.group()}",
            f"Put your own value in its place in {SETTINGS}",
        )
    try:
        parts = urlsplit(text)
        host = parts.hostname or ""
        port = parts.port
    except ValueError as error:
        raise _unusable(label) from error
    if parts.scheme not in ("http", "https") or not host or re.search(r"\s", text):
        raise _unusable(label)
    path = parts.path.rstrip("/")
    for ending in _ENDINGS:
        path = path.removesuffix(ending).rstrip("/")
    shown_host = f"[{host}]" if ":" in host else host
    return BaseUrl(
        shown=f"{parts.scheme}://{shown_host}{f':{port}' if port is not None else ''}{path}",
        is_local=is_local_host(host),
        is_loopback=parts.scheme == "http" and _is_loopback_host(host),
        root=f"{parts.scheme}://{parts.netloc}{path}",
        query=f"?{parts.query}" if parts.query else "",
    )


def _is_loopback_host(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        name = host.lower().rstrip(".")
        return name == "localhost" or name.endswith(".localhost")


def _unusable(label: str) -> ProviderError:
    return unconfigured(
        f"The base URL of {label} is not usable",
        f"Write it in {SETTINGS} with http:// or https:// and a host, such as http://127.0.0.1:8080/v1",
    )
