"""One clear error per way a connection fails: refused, unknown name, TLS, proxy, time.

The deepest known cause decides, since the outer ones only say that something failed. Spec: providers.md.
"""

import errno
import socket
import ssl
from collections.abc import Iterator
from types import TracebackType

from skales.core.errors import ProviderError, ProviderFault
from skales.providers.faults import SETTINGS, Peer, broken_chunk_fault, cut_fault, proxy_fault, unconfigured

CONNECT_TIMEOUT_S = 10.0


class translated_errors:  # noqa: N801 - a context manager; every piece of an answer is read in one, so it must be cheap
    """The HTTP library's errors as ours. A line that breaks while reading cut an answer off. May be entered again."""

    __slots__ = ("_is_reading", "_peer", "_timeout_s")

    def __init__(self, peer: Peer, timeout_s: float, *, is_reading: bool = False) -> None:
        self._peer = peer
        self._timeout_s = timeout_s
        self._is_reading = is_reading

    def __enter__(self) -> None:
        """Nothing is needed before."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Raises ProviderError for an error of the library."""
        if error is not None and (fault := self._find_fault(error)):
            raise fault from error

    def _find_fault(self, error: BaseException) -> ProviderError | None:
        import httpx2

        peer = self._peer
        match error:
            case httpx2.ConnectTimeout():
                return _connect_timeout_fault(peer, CONNECT_TIMEOUT_S)
            case httpx2.TimeoutException():
                return _silence_fault(peer, self._timeout_s)
            case httpx2.ProxyError():
                return _proxy_fault(peer, str(error))
            case httpx2.DecodingError():
                return broken_chunk_fault(peer)
            case httpx2.UnsupportedProtocol() | httpx2.LocalProtocolError() | httpx2.InvalidURL():
                return unconfigured(
                    f"{peer.label} at {peer.address} cannot be asked like this: {peer.conceal(str(error))}",
                    f"Check the base URL and the key in {SETTINGS}",
                )
            case httpx2.TransportError():
                return cut_fault(peer) if self._is_reading else _connection_fault(peer, error)
            case _:
                return None


def _connect_timeout_fault(peer: Peer, timeout_s: float) -> ProviderError:
    """The error for a connection that was not accepted in time."""
    return ProviderError(
        f"{peer.label} at {peer.address} could not be reached within {timeout_s:g} s",
        fault=ProviderFault.TIMEOUT,
        hint=_reach_hint(peer),
        retryable=not peer.is_local,
    )


def _silence_fault(peer: Peer, timeout_s: float) -> ProviderError:
    """The error for an endpoint that fell silent; asking again would only make it start over."""
    return ProviderError(
        f"{peer.label} at {peer.address} sent nothing for {timeout_s:g} s",
        fault=ProviderFault.TIMEOUT,
        hint=f"Ask again, or allow it more time in {SETTINGS}",
    )


def _connection_fault(peer: Peer, error: BaseException) -> ProviderError:
    """The error for a connection that failed, by the deepest cause known."""
    for cause in _causes(error):
        match cause:
            case ssl.SSLError():
                return ProviderError(
                    f"No secure connection to {peer.label} at {peer.address}: {_tls_reason(cause)}",
                    fault=ProviderFault.TLS,
                    hint=_tls_hint(peer, cause),
                )
            case socket.gaierror():
                return ProviderError(
                    f"The name of {peer.label} at {peer.address} could not be looked up",
                    fault=ProviderFault.UNREACHABLE,
                    hint="Check the internet connection and the spelling of the address",
                    retryable=cause.errno == socket.EAI_AGAIN,
                )
            case OSError(errno=errno.ECONNREFUSED):
                return ProviderError(
                    f"Nothing answers for {peer.label} at {peer.address}",
                    fault=ProviderFault.UNREACHABLE,
                    hint=_reach_hint(peer),
                )
            case _:
                pass
    return ProviderError(
        f"The connection to {peer.label} at {peer.address} failed",
        fault=ProviderFault.UNREACHABLE,
        hint=_reach_hint(peer),
        retryable=True,
    )


def _proxy_fault(peer: Peer, reason: str) -> ProviderError:
    """The error for a proxy of the environment that does not do its work."""
    return proxy_fault(peer, peer.conceal(reason))


def _reach_hint(peer: Peer) -> str:
    if peer.is_local:
        return peer.start_hint or f"Is it running at {peer.address}?"
    return "Check the internet connection, the address, and the proxy if one is set"


def _tls_hint(peer: Peer, error: ssl.SSLError) -> str:
    """What to do, as far as the reason tells."""
    reason = f"{getattr(error, 'verify_message', '')} {getattr(error, 'reason', '') or error}".lower().replace("_", " ")
    if "wrong version number" in reason:
        return "The server speaks plain http at this address; check the address"
    if "expired" in reason or "not yet valid" in reason:
        return "Check the clock of this computer; if it is right, the server's certificate has run out"
    if "mismatch" in reason or "not valid for" in reason:
        return "Check the address: the certificate belongs to another one"
    if not isinstance(error, ssl.SSLCertVerificationError):
        return "Check the address, the proxy if one is set, and programs that inspect this computer's traffic"
    return peer.trust_hint or (
        "If a company network, an antivirus program or a server of your own signs its certificates itself, "
        "name the file with its root certificate in SSL_CERT_FILE"
    )


def _tls_reason(error: ssl.SSLError) -> str:
    # Errors that Python code raises itself lack what those of OpenSSL carry.
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the certificate is not trusted ({getattr(error, 'verify_message', 'it does not fit')})"
    return str(getattr(error, "reason", None) or "handshake failed").lower().replace("_", " ")


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and everything it came from, outside first."""
    seen: set[int] = set()
    waiting = [error]
    while waiting:
        current = waiting.pop(0)
        if id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        if isinstance(current, BaseExceptionGroup):
            waiting.extend(current.exceptions)
        waiting.extend(cause for cause in (current.__cause__, current.__context__) if cause is not None)
