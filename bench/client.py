"""A client on bare sockets: its own cost must not hide what it measures. HTTP/1.1 to loopback, answers we know."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlsplit

from bench.programs import Program

_LIMIT = 1 << 26
_WAIT_S = 300
_LAST_CHUNK = b"\r\n0\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer; a chunked body keeps its chunk lines."""

    status: int
    head: bytes
    body: bytes


class Connection:
    """One kept-alive connection. `headers` go with every request."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, headers: Mapping[str, str]) -> None:
        self._reader = reader
        self._writer = writer
        self._headers = "".join(f"{name}: {value}\r\n" for name, value in headers.items())

    @classmethod
    async def open(cls, url: str, headers: Mapping[str, str] | None = None) -> Self:
        """Connect to the host of an address."""
        host = urlsplit(url)
        reader, writer = await asyncio.open_connection(host.hostname, host.port, limit=_LIMIT)
        return cls(reader, writer, {"host": host.netloc, **(headers or {})})

    async def aclose(self) -> None:
        """Leave, whatever was not read."""
        self._writer.close()
        with suppress(ConnectionError):
            await self._writer.wait_closed()

    async def get(self, path: str, until: bytes = b"") -> Answer:
        """Ask for a path; with `until` stop reading an endless answer after these bytes."""
        return await self._ask(f"GET {path} HTTP/1.1\r\n{self._headers}\r\n".encode(), until)

    async def post(self, path: str, body: bytes, content_type: str = "application/json") -> Answer:
        """Send a body and read the whole answer."""
        head = f"content-type: {content_type}\r\ncontent-length: {len(body)}\r\n"
        return await self._ask(f"POST {path} HTTP/1.1\r\n{self._headers}{head}\r\n".encode() + body, b"")

    async def read_until(self, mark: bytes) -> bytes:
        """Go on reading an endless answer."""
        return await self._reader.readuntil(mark)

    async def _ask(self, request: bytes, until: bytes) -> Answer:
        self._writer.write(request)
        async with asyncio.timeout(_WAIT_S):
            head = await self._reader.readuntil(b"\r\n\r\n")
            status = int(head.split(None, 2)[1])
            fields = head.lower()
            if b"chunked" in fields:
                body = await self._reader.readuntil(until or _LAST_CHUNK)
            else:
                length = fields.partition(b"content-length: ")[2].partition(b"\r\n")[0]
                body = await self._reader.readexactly(int(length or b"0"))
        return Answer(status, head, body)


async def take_log(model_url: str) -> list[dict[str, Any]]:
    """The model's records since the last call of this."""
    connection = await Connection.open(model_url)
    try:
        found: list[dict[str, Any]] = json.loads((await connection.get("/log")).body)
    finally:
        await connection.aclose()
    return found


async def post_turn(connection: Connection, program: Program, text: str, session_id: str = "") -> bytes:
    """One turn to its end on a connection; what came back."""
    dialect = program.dialect
    answer = await connection.post(dialect.path, dialect.compose(text, session_id), dialect.content_type)
    assert answer.status == 200, answer
    return answer.body


async def ask_once(program: Program, text: str) -> None:
    """One turn to its end, in a new chat."""
    connection = await Connection.open(program.url, program.headers)
    try:
        await post_turn(connection, program, text)
    finally:
        await connection.aclose()
