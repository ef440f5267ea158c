"""Asks one endpoint: opens the connection, tells failures apart, reads the stream, lists models.

What requests and answers look like is the business of `formats/`; who is asked, and with which key, of the caller.
Spec: orchestrator.md, "Streaming, cost, interruption"; providers.md, "Rules".
"""

import json
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, suppress
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

import anyio
from msgspec import Struct, field

from skales.core.clock import Clock, SystemClock
from skales.core.errors import ProviderError
from skales.core.ids import IdSource, RandomIds
from skales.core.json import JsonObject, JsonValue, as_object, parse_json
from skales.core.ports import ChatRequest, ProviderEvent
from skales.providers.address import BaseUrl
from skales.providers.clients import ClientSource
from skales.providers.complaints import find_error
from skales.providers.connection_faults import CONNECT_TIMEOUT_S, translated_errors
from skales.providers.endpoint import Endpoint
from skales.providers.faults import (
    SETTINGS,
    Peer,
    no_stream_fault,
    status_fault,
    stream_fault,
    unconfigured,
)
from skales.providers.formats.wire import AnswerContext, AnswerReader, ListedModel, WireFormat
from skales.providers.pieces import gather_pieces
from skales.providers.retry import RetryPolicy, stream_with_retries
from skales.providers.sse import EventStreamParser

if TYPE_CHECKING:
    import httpx2

_UNAUTHORIZED = 401
_LIST_TIMEOUT_S = 15.0
_LIST_AGE_S = 60.0
# After the reason for stopping only token counts may follow; some endpoints then keep the line open.
_GRACE_S = 5.0
# The end of a body usually comes with the terminator; reading it lets the connection be used again.
_DRAIN_S = 0.2
_MAX_ERROR_BYTES = 64 * 1024
_MAX_LIST_BYTES = 8 * 1024 * 1024
# A list that never ends must not be asked for forever.
_MAX_PAGES = 20


class Surroundings(Struct, frozen=True, kw_only=True):
    """What a provider takes from outside besides its endpoint; tests put their own in.

    `window_of` tells a model's context window instead of what the provider itself knows.
    """

    retry: RetryPolicy = field(default_factory=RetryPolicy)
    window_of: Callable[[str], int] | None = None
    ids: IdSource = field(default_factory=RandomIds)
    clock: Clock = field(default_factory=SystemClock)


class _Target(Struct, frozen=True):
    """An endpoint checked and ready to be asked."""

    peer: Peer
    address: BaseUrl
    headers: Mapping[str, str]
    timeout_s: float


class HttpProvider:
    """A Provider over HTTP in one wire format. Safe to use from several tasks at once."""

    def __init__(
        self,
        endpoint: Endpoint,
        client_factory: ClientSource,
        wire_format: WireFormat,
        surroundings: Surroundings | None = None,
    ) -> None:
        self._endpoint = endpoint
        self._open_client = client_factory
        self._format = wire_format
        self._around = surroundings or Surroundings()
        self._conceded: frozenset[str] = frozenset()
        self._listed: tuple[ListedModel, ...] = ()
        self._listed_at_s: float | None = None

    def stream(self, request: ChatRequest) -> AsyncGenerator[ProviderEvent, None]:
        """Ask; see Provider. Tries again only before the first output."""
        return stream_with_retries(self._around.retry, lambda: self._ask(request))

    async def list_models(self) -> list[str]:
        """Model ids the endpoint offers, at most a minute old."""
        return [model.id for model in await self.describe_models()]

    async def describe_models(self) -> Sequence[ListedModel]:
        """The models the endpoint offers with what it says of them, at most a minute old."""
        now_s = self._around.clock.monotonic_s()
        if self._listed_at_s is None or now_s - self._listed_at_s > _LIST_AGE_S:
            self._listed = tuple(await self._fetch_models())
            self._listed_at_s = now_s
        return self._listed

    def max_tokens(self, model: str) -> int:
        """The context window: the user's word, else the endpoint's, else the catalogue's, else 0."""
        if self._around.window_of is not None:
            return self._around.window_of(model)
        own = self._endpoint.context_tokens
        told = next((listed.context_tokens for listed in self._listed if listed.id == model), 0)
        return own.get(model) or own.get("*") or told or self._endpoint.entry.window_of(model)

    async def _target(self, model: str = "") -> _Target:
        address = self._endpoint.address()
        tokens = self._endpoint.tokens
        key = await tokens.token() if tokens else self._endpoint.key()
        peer = self._endpoint.peer(address, model, key)
        return _Target(peer, address, self._format.headers(key), self._endpoint.timeout_s(address))

    def _may_renew(self, response: "httpx2.Response", *, was_renewed: bool) -> bool:
        """Whether a token is refused that can be had anew; it is then forgotten."""
        tokens = self._endpoint.tokens
        if tokens is None or response.status_code != _UNAUTHORIZED or was_renewed:
            return False
        tokens.forget()
        return True

    # --- asking ---

    async def _ask(self, request: ChatRequest) -> AsyncGenerator[ProviderEvent, None]:
        """One try. An optional field that the endpoint refuses is left out from then on; a stale token is renewed."""
        target = await self._target(request.model)
        was_renewed = False
        while True:
            body = self._format.build_body(self._endpoint.entry, request, self._conceded)
            with translated_errors(target.peer, target.timeout_s):
                async with self._post(target, request.model, body) as response:
                    if response.is_success:
                        async with aclosing(self._read(target, request, response)) as pieces:
                            async for piece in pieces:
                                yield piece
                        return
                    refusal = await _read_text(response, _MAX_ERROR_BYTES)
            if self._may_renew(response, was_renewed=was_renewed):
                target, was_renewed = await self._target(request.model), True
                continue
            wish = self._format.concede(body, refusal) if response.status_code in (400, 422) else ""
            if not wish:
                raise self._status_fault(target.peer, response, refusal)
            self._conceded |= {wish}

    def _post(self, target: _Target, model: str, body: JsonObject) -> "AbstractAsyncContextManager[httpx2.Response]":
        client = self._open_client(is_loopback=target.address.is_loopback)
        return client.stream(
            "POST",
            _read_url(target.address.join(self._format.chat_path(model))),
            # Half characters in a history from elsewhere must not cost the request.
            content=json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"),
            headers={
                **target.headers,
                "Content-Type": "application/json",
                "Accept": "text/event-stream, application/json",
                # Compression makes proxies collect pieces before they pass them on.
                "Accept-Encoding": "identity",
            },
            timeout=(CONNECT_TIMEOUT_S, target.timeout_s, target.timeout_s, None),
        )

    def _status_fault(self, peer: Peer, response: "httpx2.Response", body: str) -> ProviderError:
        return status_fault(peer, response.status_code, response.headers, body, self._around.clock.now_ms())

    # --- reading ---

    async def _read(
        self, target: _Target, request: ChatRequest, response: "httpx2.Response"
    ) -> AsyncGenerator[ProviderEvent, None]:
        """The events of one response. What came before a failure is given before the failure is raised."""
        context = AnswerContext(
            request=request, peer=target.peer, ids=self._around.ids, now_ms=self._around.clock.now_ms
        )
        reader = self._format.open_reader(context)
        parser = EventStreamParser()
        reading = translated_errors(target.peer, target.timeout_s, is_reading=True)
        async with aclosing(response.aiter_bytes()) as chunks:
            failure: ProviderError | None = None
            while failure is None and not reader.is_done:
                data, failure = await _next_chunk(chunks, reading, is_grace=reader.has_reason)
                if not data:
                    break
                found, failure = gather_pieces(_feed(parser, reader, data))
                for piece in found:
                    yield piece
            last = reader.finish(parser.finish(), parser.stray) if failure is None else reader.flush()
            found, late_failure = gather_pieces(last)
            for piece in found:
                yield piece
            if error := failure or late_failure:
                raise error
            await _drain(chunks)

    # --- models ---

    async def _fetch_models(self) -> Sequence[ListedModel]:
        """The whole list; endpoints that give it in pages are asked for each."""
        found: dict[str, ListedModel] = {}
        path = self._format.models_path
        for _ in range(_MAX_PAGES):
            answer = await self._fetch_page(path)
            for model in self._format.read_models(answer):
                found.setdefault(model.id, model)
            path = self._format.next_page(answer)
            if not path:
                break
        return list(found.values())

    async def _fetch_page(self, path: str, *, is_retry: bool = False) -> JsonValue:
        target = await self._target()
        timeout_s = min(_LIST_TIMEOUT_S, target.timeout_s)
        client = self._open_client(is_loopback=target.address.is_loopback)
        url = target.address.join(path)
        with translated_errors(target.peer, timeout_s):
            async with client.stream(
                "GET", url, headers=target.headers, timeout=(CONNECT_TIMEOUT_S, timeout_s, timeout_s, None)
            ) as response:
                text = await _read_text(response, _MAX_LIST_BYTES)
        if self._may_renew(response, was_renewed=is_retry):
            return await self._fetch_page(path, is_retry=True)
        if not response.is_success:
            raise self._status_fault(target.peer, response, text)
        try:
            answer = parse_json(text)
        except ValueError as error:
            raise no_stream_fault(target.peer, text) from error
        if complaint := find_error(as_object(answer)):
            raise stream_fault(target.peer, complaint, self._around.clock.now_ms())
        return answer


class OpenAIProvider(HttpProvider):
    """An endpoint that speaks the format of OpenAI's chat completions."""

    def __init__(
        self, endpoint: Endpoint, client_factory: ClientSource, surroundings: Surroundings | None = None
    ) -> None:
        from skales.providers.formats.openai import OpenAIFormat  # each format is loaded with its first endpoint

        super().__init__(endpoint, client_factory, OpenAIFormat(), surroundings)


class AnthropicProvider(HttpProvider):
    """An endpoint that speaks the format of Anthropic's Messages API."""

    def __init__(
        self, endpoint: Endpoint, client_factory: ClientSource, surroundings: Surroundings | None = None
    ) -> None:
        from skales.providers.formats.anthropic import AnthropicFormat

        version = endpoint.entry.api_version
        wire_format = AnthropicFormat(version=version) if version else AnthropicFormat()
        super().__init__(endpoint, client_factory, wire_format, surroundings)


class GoogleProvider(HttpProvider):
    """An endpoint that speaks the format of Google's generateContent."""

    def __init__(
        self, endpoint: Endpoint, client_factory: ClientSource, surroundings: Surroundings | None = None
    ) -> None:
        from skales.providers.formats.google import GoogleFormat

        super().__init__(endpoint, client_factory, GoogleFormat(), surroundings)


class ResponsesProvider(HttpProvider):
    """An endpoint that speaks the format of OpenAI's Responses."""

    def __init__(
        self, endpoint: Endpoint, client_factory: ClientSource, surroundings: Surroundings | None = None
    ) -> None:
        from skales.providers.formats.openai_responses import ResponsesFormat

        entry = endpoint.entry
        # A server of the person's own has its paths where the format says.
        is_usual = endpoint.base_url.rstrip("/") in ("", entry.base_url)
        sign_in = entry.sign_in
        wire_format = ResponsesFormat(
            prefix=entry.path_prefix if is_usual else "",
            account_header=sign_in.account_header if sign_in else "",
            account_claim=sign_in.account_claim if sign_in else (),
        )
        super().__init__(endpoint, client_factory, wire_format, surroundings)


Adapter = Callable[[Endpoint, ClientSource, Surroundings | None], HttpProvider]

# Wire format of a catalogue entry → who speaks it.
ADAPTERS: Mapping[str, Adapter] = MappingProxyType(
    {
        "openai": OpenAIProvider,
        "openai_responses": ResponsesProvider,
        "anthropic": AnthropicProvider,
        "google": GoogleProvider,
    }
)


def build_provider(
    endpoint: Endpoint, client_factory: ClientSource, surroundings: Surroundings | None = None
) -> HttpProvider:
    """The provider for an endpoint by its wire format. Raises ProviderError(NOT_CONFIGURED) for an unknown one."""
    adapter = ADAPTERS.get(endpoint.entry.format)
    if adapter is None:
        raise unconfigured(
            f"{endpoint.entry.label} speaks the format {endpoint.entry.format!r}, which is not supported yet",
            f"Choose another provider in {SETTINGS}",
        )
    return adapter(endpoint, client_factory, surroundings)


@lru_cache(maxsize=64)
def _read_url(text: str) -> "httpx2.URL":
    """Read once: a conversation asks the same address again and again."""
    import httpx2

    return httpx2.URL(text)


def _feed(parser: EventStreamParser, reader: AnswerReader, data: bytes) -> Iterator[ProviderEvent]:
    for event in parser.feed(data):
        yield from reader.feed(event)


async def _next_chunk(
    chunks: AsyncGenerator[bytes, None], reading: translated_errors, *, is_grace: bool
) -> tuple[bytes, ProviderError | None]:
    """The next bytes, none at the end of the body; or why they do not come.

    Once the model has said why it stopped, the answer is whole: silence or a broken line no longer matter.
    """
    if not is_grace:
        try:
            with reading:
                return await anext(chunks, b""), None
        except ProviderError as failure:
            return b"", failure
    with anyio.move_on_after(_GRACE_S):
        try:
            with reading:
                return await anext(chunks, b""), None
        except ProviderError:
            pass
    return b"", None


async def _drain(chunks: AsyncGenerator[bytes, None]) -> None:
    """Read the end of a body that is over; whatever goes wrong only costs the connection."""
    import httpx2

    with anyio.move_on_after(_DRAIN_S), suppress(httpx2.TransportError, httpx2.DecodingError):
        async for _ in chunks:
            pass


async def _read_text(response: "httpx2.Response", max_bytes: int) -> str:
    """The beginning of a body as text."""
    parts: list[bytes] = []
    size_bytes = 0
    async with aclosing(response.aiter_bytes()) as chunks:
        async for chunk in chunks:
            parts.append(chunk)
            size_bytes += len(chunk)
            if size_bytes >= max_bytes:
                break
    return b"".join(parts)[:max_bytes].decode("utf-8", "replace")
