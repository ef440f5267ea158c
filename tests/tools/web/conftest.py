"""A local web server that plays a script, and the ways to reach it."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from skales.security.network import NetworkPolicy

Play = Callable[[asyncio.StreamWriter], Awaitable[None]]


@dataclass
class LocalServer:
    """Answers each path with the bytes set for it and keeps what was asked."""

    port: int = 0
    answers: dict[str, bytes | Play] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    def page(self, path: str, html: str, content_type: str = "text/html; charset=utf-8", status: str = "200 OK") -> str:
        self.answers[path] = reply(html.encode(), content_type, status)
        return self.url(path)


def reply(
    body: bytes, content_type: str = "text/html", status: str = "200 OK", headers: Mapping[str, str] | None = None
) -> bytes:
    """A whole HTTP answer."""
    shown = {"Content-Type": content_type, "Content-Length": str(len(body)), "Connection": "close", **(headers or {})}
    head = "".join(f"{name}: {value}\r\n" for name, value in shown.items())
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + body


@pytest.fixture
async def server(anyio_backend: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[LocalServer]:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    local = LocalServer()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            local.requests.append(head)
            length = re.search(r"(?i)^content-length: (\d+)", head, re.MULTILINE)
            local.bodies.append(await reader.readexactly(int(length[1])) if length else b"")
            target = head.split(" ")[1]
            play = local.answers.get(target) or local.answers[target.partition("?")[0]]
            if isinstance(play, bytes):
                writer.write(play)
                await writer.drain()
            else:
                await play(writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    listener = await asyncio.start_server(answer, "127.0.0.1", 0)
    local.port = listener.sockets[0].getsockname()[1]
    yield local
    listener.close()


@pytest.fixture
def here() -> NetworkPolicy:
    """The rule that lets tests reach their own server."""
    return NetworkPolicy(allow_loopback=True)


def resolver(names: Mapping[str, Sequence[str]]) -> Callable[[str, int], Awaitable[Sequence[str]]]:
    """A resolver that knows only these names, each with its addresses."""

    async def resolve(host: str, port: int) -> Sequence[str]:
        return names[host]

    return resolve
