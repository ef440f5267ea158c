"""One request to a token endpoint, and what it answers: shared by sign-ins and keys that are exchanged for tokens.

Spec: RFC 6749, sections 5.1 and 5.2.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

from skales.core.clock import Clock
from skales.core.errors import ProviderError, ProviderFault
from skales.core.json import as_int, as_object, as_text, parse_json
from skales.providers.address import parse_base_url
from skales.providers.clients import ClientSource
from skales.providers.connection_faults import CONNECT_TIMEOUT_S, translated_errors
from skales.providers.faults import Peer, status_fault, unconfigured

_TIMEOUT_S = 30.0
# For an endpoint that does not say how long its token lasts: the shortest that is usual.
_USUAL_LIFE_S = 25 * 60
# A token must last for the request that it is fetched for.
_MARGIN_MS = 60_000
_LONGEST_ANSWER = 100_000


@dataclass(frozen=True, slots=True)
class Token:
    """An access token, when it ends (milliseconds since 1970), and what renews it."""

    text: str = field(repr=False)
    expires_ms: int
    refresh_text: str = field(default="", repr=False)

    def is_good(self, now_ms: int) -> bool:
        """Whether it lasts for one more request."""
        return now_ms < self.expires_ms - _MARGIN_MS


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCall:
    """Whom to ask for a token and with what. `secret` is never shown, whatever the endpoint echoes."""

    label: str
    url: str
    form: Mapping[str, str] = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    secret: str = field(default="", repr=False)
    key_hint: str = ""
    trust_hint: str = ""


async def fetch_token(call: TokenCall, clients: ClientSource, clock: Clock) -> Token:
    """Ask once. Raises ProviderError; BAD_KEY when the key, the code or the refresh token is not accepted."""
    address = parse_base_url(call.url, call.label)
    if address.root.startswith("http:") and not address.is_local:
        raise unconfigured(
            f"The sign-in address of {call.label} must start with https://", "Correct it in the settings"
        )
    peer = Peer(
        label=call.label,
        address=address.shown,
        secret=call.secret,
        is_local=address.is_local,
        key_hint=call.key_hint,
        trust_hint=call.trust_hint,
    )
    client = clients(is_loopback=address.is_loopback)
    with translated_errors(peer, _TIMEOUT_S):
        response = await client.post(
            address.join(""),
            content=urlencode(call.form).encode(),
            headers={
                "Content-Type": "application/x-www-form-urlencoded",
                "Accept": "application/json",
                **call.headers,
            },
            timeout=(CONNECT_TIMEOUT_S, _TIMEOUT_S, _TIMEOUT_S, None),
        )
    text = response.text[:_LONGEST_ANSWER]
    if not response.is_success:
        fault = status_fault(peer, response.status_code, response.headers, text, clock.now_ms())
        raise _refused(fault, call) if _is_refusal(text) else fault
    return _read_token(text, call, clock.now_ms())


def _is_refusal(text: str) -> bool:
    """RFC 6749, 5.2: what was shown is wrong or has run out; the status is then 400."""
    try:
        error = as_object(parse_json(text)).get("error")
    except ValueError:
        return False
    return error in ("invalid_grant", "invalid_client", "unauthorized_client")


def _refused(fault: ProviderError, call: TokenCall) -> ProviderError:
    return ProviderError(fault.message, fault=ProviderFault.BAD_KEY, hint=call.key_hint or fault.hint)


def _read_token(text: str, call: TokenCall, now_ms: int) -> Token:
    try:
        table = as_object(parse_json(text))
    except ValueError:
        table = {}
    token = as_text(table.get("access_token"))
    if not token or not token.isascii() or not token.isprintable():
        raise ProviderError(
            f"{call.label} gave no token", fault=ProviderFault.BAD_ANSWER, hint="Try again later, or check the address"
        )
    moment_ms = as_int(table.get("expires_at"))
    lasts_s = as_int(table.get("expires_in")) or _USUAL_LIFE_S
    return Token(token, moment_ms if moment_ms > 0 else now_ms + lasts_s * 1000, as_text(table.get("refresh_token")))
