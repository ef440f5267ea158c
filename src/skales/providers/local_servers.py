"""Model servers on this computer or the local network: which ones run, which models they have, and the real window.

Their OpenAI-compatible side tells neither; each has an API of its own for it. A request to the compatible side cannot
choose the window either, so what the server loaded is what counts. Spec: local-models.md; providers.md, "Quirks".
"""

import json
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from types import MappingProxyType

import anyio
from msgspec import Struct, structs

from skales.core.json import JsonObject, JsonValue, as_int, as_list, as_object, as_text, parse_json
from skales.data.model_lists import KnownModel
from skales.providers.abilities import chats_by_name
from skales.providers.address import BaseUrl
from skales.providers.clients import ClientSource

# First-run must not wait longer for a server that is not there.
DETECT_TIMEOUT_S = 1.0
# local-models.md: when a person asks.
PING_TIMEOUT_S = 5.0
_LOCKED = (401, 403)
_MAX_BYTES = 8 * 1024 * 1024
# Ollama describes one model per request.
_SHOWN_MODELS = 200
_AT_ONCE = 8
_NUM_CTX = re.compile(r"^\s*num_ctx\s+(\d+)", re.MULTILINE)


class FoundServer(Struct, frozen=True):
    """A server that answers. `needs_key` says that it runs but asks for one before it tells its models."""

    provider_id: str
    base_url: str
    models: tuple[KnownModel, ...]
    needs_key: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where to look for a server: whose it would be, which API it would have, and the key to show it.

    `wants_key` says that this kind of server keeps its models to itself until it is shown one.
    """

    provider_id: str
    api: str
    address: BaseUrl
    key: str = field(default="", repr=False)
    wants_key: bool = False


class _Answer(Struct, frozen=True):
    """What a server said; status 0 for nothing usable."""

    status: int
    value: JsonValue


class _Server:
    """One server, asked with small bounded requests. Whatever goes wrong counts as no answer."""

    def __init__(self, clients: ClientSource, place: Place) -> None:
        self._clients = clients
        self._place = place
        # The APIs of their own lie beside the compatible one, not below it.
        self._root = place.address.root.removesuffix("/v1")
        self.is_locked = False

    async def get(self, path: str) -> _Answer:
        return await self._ask("GET", path, None)

    async def post(self, path: str, body: JsonObject) -> _Answer:
        return await self._ask("POST", path, body)

    async def _ask(self, method: str, path: str, body: JsonObject | None) -> _Answer:
        import httpx2

        key = self._place.key
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        client = self._clients(is_loopback=self._place.address.is_loopback)
        content = None if body is None else json.dumps(body).encode()
        try:
            async with client.stream(method, f"{self._root}{path}", headers=headers, content=content) as response:
                text = await _read_text(response.aiter_bytes())
            self.is_locked = self.is_locked or response.status_code in _LOCKED
            return _Answer(response.status_code, parse_json(text))
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError):
            return _Answer(0, None)


Describe = Callable[[_Server, list[KnownModel]], Awaitable[bool]]


async def describe_models(clients: ClientSource, place: Place, timeout_s: float) -> tuple[KnownModel, ...]:
    """The chat models a server has and what it says of them; none when it is not there or is another program."""
    found = await _look(clients, place, timeout_s)
    return found.models if found else ()


async def find_servers(clients: ClientSource, places: Sequence[Place], timeout_s: float) -> list[FoundServer]:
    """The places where a server answers, all asked at the same time, in the order given."""
    found: dict[int, FoundServer] = {}

    async def look(number: int, place: Place) -> None:
        if server := await _look(clients, place, timeout_s):
            found[number] = server

    async with anyio.create_task_group() as tasks:
        for number, place in enumerate(places):
            tasks.start_soon(look, number, place)
    return [found[number] for number in sorted(found)]


async def _look(clients: ClientSource, place: Place, timeout_s: float) -> FoundServer | None:
    """What is at a place. Models that were found before the time ran out count."""
    models: list[KnownModel] = []
    server = _Server(clients, place)
    is_there = False
    with anyio.move_on_after(timeout_s):
        is_there = await _DESCRIBERS[place.api](server, models)
    is_locked = server.is_locked and place.wants_key
    if not (is_there or models or is_locked):
        return None
    chatting = tuple(model for model in models if chats_by_name(model.id))
    return FoundServer(place.provider_id, place.address.shown, chatting, needs_key=is_locked and not models)


# --- Ollama ---


async def _describe_ollama(server: _Server, models: list[KnownModel]) -> bool:
    """`/api/tags` names the models, `/api/ps` the loaded windows, `/api/show` the rest, one by one."""
    tags = await server.get("/api/tags")
    rows = [as_object(row) for row in as_list(as_object(tags.value).get("models"))]
    if tags.status != 200 or "models" not in as_object(tags.value):
        return False
    models.extend(KnownModel(id=name) for row in rows if (name := as_text(row.get("name"))))
    loaded = {
        as_text(as_object(row).get("name")): max(as_int(as_object(row).get("context_length")), 0)
        for row in as_list(as_object((await server.get("/api/ps")).value).get("models"))
    }
    limit = anyio.CapacityLimiter(_AT_ONCE)

    async def show(number: int, name: str) -> None:
        async with limit:
            shown = as_object((await server.post("/api/show", {"model": name})).value)
        models[number] = _read_shown(name, shown, loaded.get(name, 0))

    async with anyio.create_task_group() as tasks:
        for number, model in enumerate(models[:_SHOWN_MODELS]):
            tasks.start_soon(show, number, model.id)
    return True


def _read_shown(name: str, shown: JsonObject, loaded_tokens: int) -> KnownModel:
    facts = as_object(shown.get("model_info"))
    lengths = (as_int(value) for key, value in facts.items() if key.endswith(".context_length"))
    told = _NUM_CTX.search(as_text(shown.get("parameters")))
    model = KnownModel(
        id=name,
        context_tokens=max(next(lengths, 0), 0),
        loaded_tokens=loaded_tokens or (int(told.group(1)) if told else 0),
    )
    if "capabilities" not in shown:
        return model
    able = set(map(as_text, as_list(shown.get("capabilities"))))
    return structs.replace(model, tools="tools" in able, vision="vision" in able, reasoning="thinking" in able)


# --- LM Studio ---


async def _describe_lmstudio(server: _Server, models: list[KnownModel]) -> bool:
    """`/api/v0/models` says everything; versions before it only have the compatible list."""
    answer = await server.get("/api/v0/models")
    if answer.status == 200 and "data" in as_object(answer.value):
        rows = [as_object(row) for row in as_list(as_object(answer.value).get("data"))]
        models.extend(_read_lmstudio(row) for row in rows if row.get("type") in ("llm", "vlm"))
        return True
    return await _describe_compatible(server, models)


def _read_lmstudio(row: JsonObject) -> KnownModel:
    is_loaded = row.get("state") == "loaded"
    able = row.get("capabilities")
    return KnownModel(
        id=as_text(row.get("id")),
        context_tokens=max(as_int(row.get("max_context_length")), 0),
        loaded_tokens=max(as_int(row.get("loaded_context_length")), 0) if is_loaded else 0,
        tools="tool_use" in as_list(able) if able is not None else None,
        vision=row.get("type") == "vlm",
    )


# --- llama.cpp and others ---


async def _describe_llamacpp(server: _Server, models: list[KnownModel]) -> bool:
    """The compatible list; when it holds one model, `/props` tells the window it was started with."""
    if not await _describe_compatible(server, models):
        return False
    if len(models) == 1:
        props = as_object((await server.get("/props")).value)
        started = as_object(props.get("default_generation_settings"))
        loaded_tokens = as_int(started.get("n_ctx")) or as_int(props.get("n_ctx")) or models[0].loaded_tokens
        senses = as_object(props.get("modalities"))
        sees = senses["vision"] is True if "vision" in senses else models[0].vision
        models[0] = structs.replace(models[0], loaded_tokens=max(loaded_tokens, 0), vision=sees)
    return True


async def _describe_compatible(server: _Server, models: list[KnownModel]) -> bool:
    answer = await server.get("/v1/models")
    rows = as_object(answer.value).get("data")
    if answer.status != 200 or rows is None:
        return False
    for row in map(as_object, as_list(rows)):
        meta = as_object(row.get("meta"))
        if name := as_text(row.get("id")):
            windows = (row.get("max_model_len"), row.get("context_length"), meta.get("n_ctx_train"))
            window = next((size for size in map(as_int, windows) if size > 0), 0)
            models.append(KnownModel(id=name, context_tokens=window, loaded_tokens=max(as_int(meta.get("n_ctx")), 0)))
    return True


_DESCRIBERS: Mapping[str, Describe] = MappingProxyType(
    {
        "ollama": _describe_ollama,
        "lmstudio": _describe_lmstudio,
        "llamacpp": _describe_llamacpp,
        "": _describe_compatible,
    }
)


async def _read_text(chunks: AsyncGenerator[bytes, None]) -> str:
    """A body as text. Raises ValueError when it is longer than any list."""
    parts: list[bytes] = []
    size_bytes = 0
    async with aclosing(chunks) as pieces:
        async for piece in pieces:
            parts.append(piece)
            size_bytes += len(piece)
            if size_bytes > _MAX_BYTES:
                raise ValueError("the answer is too long")
    return b"".join(parts).decode("utf-8", "replace")
