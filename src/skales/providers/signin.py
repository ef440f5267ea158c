"""Signing in to a provider instead of entering a key: OAuth 2.0 with PKCE, and the tokens afterwards.

The person opens a link, and either the browser comes back to this computer or the person pastes the address it landed
at; both within ten minutes. Spec: providers.md, "Quirks" (openai_oauth); RFC 7636.
"""

import base64
import hashlib
import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode, urlsplit

import anyio
import anyio.to_thread
from anyio.abc import SocketStream
from msgspec import Struct

from skales.core.clock import Clock
from skales.core.errors import ConfigurationError, InputError, ProviderError, ProviderFault
from skales.core.ids import IdSource
from skales.data.sign_ins import SignIns, StoredSignIn
from skales.providers.clients import ClientSource
from skales.providers.faults import SETTINGS, unconfigured
from skales.providers.token_requests import Token, TokenCall, fetch_token

# providers.md, "Quirks": from another device.
VALID_S = 600.0
_LONGEST_REQUEST = 16_384
_THANKS = b"You are signed in. Close this page and go back to Skales."
_NOT_THIS = b"Nothing is here."


class SignInOrder(Struct, frozen=True, kw_only=True):
    """Where and as which application to sign in. An empty `client_id` means that nobody set it up."""

    provider_id: str
    label: str
    client_id: str
    authorize_url: str
    token_url: str
    redirect_url: str
    scope: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInAttempt:
    """A sign-in that was begun: the link to open, and what proves that its answer is meant for us."""

    order: SignInOrder
    url: str
    state: str = field(repr=False)
    verifier: str = field(repr=False)
    begun_s: float


def begin_sign_in(order: SignInOrder, clock: Clock, ids: IdSource) -> SignInAttempt:
    """The link for the person. Raises ProviderError(NOT_CONFIGURED) that says what is missing; asks nobody."""
    if not (order.client_id and order.authorize_url and order.token_url and order.redirect_url):
        raise unconfigured(
            f"Signing in to {order.label} is not set up",
            f"Enter the client id of your own application for it in {SETTINGS}",
        )
    state, verifier = ids.token(32), ids.token(64)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
    query = {
        "response_type": "code",
        "client_id": order.client_id,
        "redirect_uri": order.redirect_url,
        "scope": order.scope,
        "state": state,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
    }
    url = f"{order.authorize_url}?{urlencode(query)}"
    return SignInAttempt(order=order, url=url, state=state, verifier=verifier, begun_s=clock.monotonic_s())


async def finish_sign_in(attempt: SignInAttempt, landing: str, clients: ClientSource, clock: Clock) -> StoredSignIn:
    """Exchange the address that the browser landed at for tokens.

    Raises InputError for an address of another sign-in, an old or a refused one, ProviderError when the exchange fails.
    """
    if clock.monotonic_s() - attempt.begun_s > VALID_S:
        raise InputError("This sign-in was begun more than ten minutes ago", hint="Begin it again", code="too_late")
    order = attempt.order
    call = TokenCall(
        label=order.label,
        url=order.token_url,
        form={
            "grant_type": "authorization_code",
            "code": _read_code(attempt, landing),
            "redirect_uri": order.redirect_url,
            "client_id": order.client_id,
            "code_verifier": attempt.verifier,
        },
        secret=attempt.verifier,
        key_hint="Begin the sign-in again",
    )
    return _stored(await fetch_token(call, clients, clock))


@asynccontextmanager
async def catch_landing(attempt: SignInAttempt) -> AsyncGenerator["Landing", None]:
    """Listen where the browser comes back to, on this computer only.

    Raises ConfigurationError when the port is taken or the address is elsewhere; pasting the address still works.
    """
    parts = urlsplit(attempt.order.redirect_url)
    if parts.hostname not in ("localhost", "127.0.0.1", "::1") or not parts.port:
        raise ConfigurationError(
            "The browser does not come back to this computer", hint="Paste the address it landed at"
        )
    try:
        listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=parts.port)
    except OSError as error:
        raise ConfigurationError(
            f"Port {parts.port}, where the browser comes back to, is taken", hint="Paste the address it landed at"
        ) from error
    landing = Landing(parts.path)
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, landing.answer)
        yield landing
        tasks.cancel_scope.cancel()


class Landing:
    """Waits for the browser; see `catch_landing`."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._came = anyio.Event()
        self._target = ""

    async def wait(self) -> str:
        """The address the browser landed at, for `finish_sign_in`. Raises InputError after ten minutes."""
        with anyio.move_on_after(VALID_S):
            await self._came.wait()
        if not self._target:
            raise InputError("Nobody signed in within ten minutes", hint="Begin the sign-in again", code="too_late")
        return self._target

    async def answer(self, stream: SocketStream) -> None:
        """Read one request; the first with an answer of the sign-in ends the waiting."""
        async with stream:
            target = await _read_target(stream)
            parts = urlsplit(target)
            is_landing = parts.path == self._path and bool(parts.query)
            words, status = (_THANKS, "200 OK") if is_landing else (_NOT_THIS, "404 Not Found")
            head = f"HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {len(words)}\r\n"
            with suppress(anyio.BrokenResourceError):  # the code was received all the same
                await stream.send(f"{head}Connection: close\r\n\r\n".encode() + words)
        if is_landing and not self._target:
            self._target = target
            self._came.set()


class SignedInTokens:
    """The tokens of a sign-in, renewed a minute before they end and kept on disk. Safe in several tasks at once."""

    def __init__(self, order: SignInOrder, store: SignIns, clients: ClientSource, clock: Clock) -> None:
        self._order = order
        self._store = store
        self._clients = clients
        self._clock = clock
        self._is_refused = False
        self._lock = anyio.Lock()

    async def token(self) -> str:
        """A token that is still good. Raises ProviderError when nobody is signed in any more."""
        async with self._lock:
            kept = await anyio.to_thread.run_sync(self._store.load, self._order.provider_id)
            if kept is None:
                raise unconfigured(f"Nobody is signed in to {self._order.label}", f"Sign in in {SETTINGS}")
            if self._is_refused or not Token(kept.access_token, kept.expires_ms).is_good(self._clock.now_ms()):
                kept = await self._renew(kept)
                self._is_refused = False
            return kept.access_token

    def forget(self) -> None:
        """Renew it next time, whatever its end."""
        self._is_refused = True

    async def _renew(self, kept: StoredSignIn) -> StoredSignIn:
        order = self._order
        if not kept.refresh_token:
            await self._keep(None)
            raise self._ended()
        call = TokenCall(
            label=order.label,
            url=order.token_url,
            form={
                "grant_type": "refresh_token",
                "refresh_token": kept.refresh_token,
                "client_id": order.client_id,
            },
            secret=kept.refresh_token,
        )
        try:
            token = await fetch_token(call, self._clients, self._clock)
        except ProviderError as error:
            if error.fault is ProviderFault.BAD_KEY:
                await self._keep(None)
                raise self._ended() from error
            raise
        # Endpoints that do not rotate refresh tokens leave the old one out.
        renewed = _stored(token, kept.refresh_token)
        await self._keep(renewed)
        return renewed

    async def _keep(self, sign_in: StoredSignIn | None) -> None:
        await anyio.to_thread.run_sync(self._store.save, self._order.provider_id, sign_in)

    def _ended(self) -> ProviderError:
        return ProviderError(
            f"The sign-in to {self._order.label} has ended",
            fault=ProviderFault.BAD_KEY,
            hint=f"Sign in again in {SETTINGS}",
        )


def _stored(token: Token, refresh_text: str = "") -> StoredSignIn:
    return StoredSignIn(token.text, token.refresh_text or refresh_text, token.expires_ms)


def _read_code(attempt: SignInAttempt, landing: str) -> str:
    """The code in an address, also when only its end was pasted."""
    text = landing.strip()
    answer = dict(parse_qsl(urlsplit(text).query or text.lstrip("?")))
    if not secrets.compare_digest(answer.get("state", "").encode(), attempt.state.encode()):
        raise InputError(
            "This address does not belong to the sign-in that was begun here",
            hint="Open the newest link, and paste the whole address that the browser landed at",
            code="foreign_sign_in",
        )
    if error := answer.get("error_description") or answer.get("error"):
        raise InputError(
            f"{attempt.order.label} did not sign you in: {error[:200]}", hint="Begin it again", code="sign_in_refused"
        )
    code = answer.get("code", "")
    if not code:
        raise InputError("The address holds no code", hint="Paste the whole address that the browser landed at")
    return code


async def _read_target(stream: SocketStream) -> str:
    """The target of a GET request; empty for anything else."""
    data = b""
    with anyio.move_on_after(5):
        while b"\r\n" not in data and len(data) < _LONGEST_REQUEST:
            try:
                data += await stream.receive()
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                break
    words = data.partition(b"\r\n")[0].decode("latin-1").split(" ")
    return words[1] if len(words) == 3 and words[0] == "GET" else ""
