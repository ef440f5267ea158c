import errno
import socket
import ssl

import httpx2
import pytest

from skales.core.errors import ProviderError, ProviderFault
from skales.providers.connection_faults import translated_errors
from skales.providers.faults import Peer

REMOTE = Peer(label="Acme", address="https://acme.example/v1", secret="sk-secret")
LOCAL = Peer(label="Custom", address="http://127.0.0.1:8080/v1", is_local=True)
STARTED = Peer(label="Ollama", address="http://127.0.0.1:11434/v1", is_local=True, start_hint="Start it")

REFUSED = ConnectionRefusedError(errno.ECONNREFUSED, "refused")
UNTRUSTED = ssl.SSLCertVerificationError(1, "certificate verify failed")
UNTRUSTED.verify_message = "self-signed certificate"

EXPIRED = ssl.SSLCertVerificationError(1, "certificate verify failed")
EXPIRED.verify_message = "certificate has expired"
ELSEWHERE = ssl.SSLCertVerificationError(1, "certificate verify failed")
ELSEWHERE.verify_message = "Hostname mismatch, certificate is not valid for 'acme.example'"
RUSSIAN = Peer(label="GigaChat", address="https://giga.example/v1", trust_hint="Download its root")


def translate(
    error: Exception, cause: BaseException | None = None, peer: Peer = REMOTE, **options: bool
) -> ProviderError:
    with pytest.raises(ProviderError) as caught, translated_errors(peer, 60, **options):
        raise error from cause
    assert caught.value.__cause__ is error
    assert "sk-secret" not in str(caught.value)
    return caught.value


CONNECT = httpx2.ConnectError("All connection attempts failed")
CASES: dict[str, tuple[Exception, BaseException | None, Peer, ProviderFault, bool, str]] = {
    "refused": (CONNECT, REFUSED, REMOTE, ProviderFault.UNREACHABLE, False, "Check the internet connection"),
    "refused here": (
        CONNECT,
        REFUSED,
        LOCAL,
        ProviderFault.UNREACHABLE,
        False,
        "Is it running at http://127.0.0.1:8080/v1?",
    ),
    "refused by a known program": (CONNECT, REFUSED, STARTED, ProviderFault.UNREACHABLE, False, "Start it"),
    "refused over both protocols": (
        CONNECT,
        ExceptionGroup("all", [OSError(errno.EADDRNOTAVAIL, "x"), REFUSED]),
        LOCAL,
        ProviderFault.UNREACHABLE,
        False,
        "Is it running",
    ),
    "unknown name": (
        CONNECT,
        socket.gaierror(socket.EAI_NONAME, "x"),
        REMOTE,
        ProviderFault.UNREACHABLE,
        False,
        "spelling",
    ),
    "no name service": (
        CONNECT,
        socket.gaierror(socket.EAI_AGAIN, "x"),
        REMOTE,
        ProviderFault.UNREACHABLE,
        True,
        "spelling",
    ),
    "untrusted": (CONNECT, UNTRUSTED, REMOTE, ProviderFault.TLS, False, "SSL_CERT_FILE"),
    "untrusted as expected": (CONNECT, UNTRUSTED, RUSSIAN, ProviderFault.TLS, False, "Download its root"),
    "run out": (CONNECT, EXPIRED, REMOTE, ProviderFault.TLS, False, "clock of this computer"),
    "of another host": (CONNECT, ELSEWHERE, REMOTE, ProviderFault.TLS, False, "belongs to another"),
    "no TLS": (
        CONNECT,
        ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER] wrong"),
        REMOTE,
        ProviderFault.TLS,
        False,
        "plain http",
    ),
    "handshake": (CONNECT, ssl.SSLError(1, "x"), REMOTE, ProviderFault.TLS, False, "inspect this computer's traffic"),
    "anything else": (CONNECT, OSError(errno.ENETUNREACH, "x"), REMOTE, ProviderFault.UNREACHABLE, True, "internet"),
    "no cause": (httpx2.ReadError("x"), None, REMOTE, ProviderFault.UNREACHABLE, True, "internet"),
    "connect timeout": (httpx2.ConnectTimeout("x"), None, REMOTE, ProviderFault.TIMEOUT, True, "internet"),
    "connect timeout here": (httpx2.ConnectTimeout("x"), None, LOCAL, ProviderFault.TIMEOUT, False, "running"),
    "silence": (httpx2.ReadTimeout("x"), None, REMOTE, ProviderFault.TIMEOUT, False, "more time"),
    "proxy": (httpx2.ProxyError("407 for sk-secret"), None, REMOTE, ProviderFault.UNREACHABLE, False, "HTTPS_PROXY"),
    "proxy without words": (httpx2.ProxyError(""), None, REMOTE, ProviderFault.UNREACHABLE, False, "HTTPS_PROXY"),
    "damaged": (httpx2.DecodingError("x"), None, REMOTE, ProviderFault.BAD_ANSWER, True, "Ask again"),
    "unusable address": (httpx2.InvalidURL("x"), None, REMOTE, ProviderFault.NOT_CONFIGURED, False, "base URL"),
    "unusable header": (
        httpx2.LocalProtocolError("x sk-secret"),
        None,
        REMOTE,
        ProviderFault.NOT_CONFIGURED,
        False,
        "key",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_each_failure_of_a_connection_has_one_cause(name: str) -> None:
    error, cause, peer, fault, retryable, hint = CASES[name]
    translated = translate(error, cause, peer)
    assert (translated.fault, translated.retryable) == (fault, retryable)
    assert peer.address in translated.message
    assert hint in translated.hint


@pytest.mark.parametrize(
    ("cause", "reason"),
    [
        (UNTRUSTED, "the certificate is not trusted (self-signed certificate)"),
        (ssl.SSLError(1, "x"), "handshake failed"),
    ],
)
def test_the_reason_of_a_failed_handshake_is_told(cause: ssl.SSLError, reason: str) -> None:
    assert translate(CONNECT, cause).message.endswith(reason)


def test_a_line_that_breaks_while_reading_cut_the_answer_off() -> None:
    assert translate(httpx2.ReadError("x"), is_reading=True).fault is ProviderFault.STREAM_CUT


def test_errors_that_cause_each_other_end_the_search() -> None:
    error = httpx2.ConnectError("x")
    cause = OSError("y")
    cause.__context__ = error
    assert translate(error, cause).fault is ProviderFault.UNREACHABLE
