"""A server that plays scripted replies frame by frame and writes down what it was asked.

For wire formats: the exact bytes count, also how they are cut and how the line ends. Runs in threads, so that
synchronous and asynchronous tests can use it alike:

    with RawServer() as server:
        server.replies.append(Reply(b"data: [DONE]\n\n"))
        ...  # ask server.url
        assert server.requests[0].json["model"] == "demo"
"""

import json
import socket
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import TracebackType
from typing import Any, Self

_WAIT_S = 5.0
_POLL_S = 0.01


class Ending(Enum):
    """How a reply ends: as HTTP wants it, with a broken line, or not at all until the client leaves."""

    WHOLE = "whole"
    CUT = "cut"
    STALL = "stall"


@dataclass(frozen=True, slots=True)
class Reply:
    """One scripted reply. `piece_bytes` cuts the body into frames of that size; 0 sends it in one.

    Status 0 sends nothing at all before the ending.
    """

    body: bytes = b""
    status: int = 200
    content_type: str = "text/event-stream"
    headers: Mapping[str, str] = field(default_factory=dict)
    piece_bytes: int = 0
    ending: Ending = Ending.WHOLE


def json_reply(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Reply:
    """A reply whose body is this JSON value."""
    return Reply(json.dumps(value).encode(), status, "application/json", headers or {})


@dataclass(frozen=True, slots=True)
class Request:
    """What a client sent. Header names are lower-case; `connection` tells connections apart."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    connection: int

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


class RawServer:
    """Answers each request with the next of `replies`; without one left it answers 599."""

    def __init__(self) -> None:
        self.replies: deque[Reply] = deque()
        self.requests: list[Request] = []
        self._left = threading.Event()
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(_POLL_S)
        self.port: int = self._listener.getsockname()[1]

    @property
    def url(self) -> str:
        """The base URL of an OpenAI-compatible endpoint here."""
        return f"http://127.0.0.1:{self.port}/v1"

    def wait_until_left(self) -> bool:
        """Whether a client closed the connection of a stalled reply within five seconds."""
        return self._left.wait(_WAIT_S)

    def __enter__(self) -> Self:
        self._start(self._accept)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join(_WAIT_S)
        self._listener.close()

    def _start(self, target: Any, *arguments: Any) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self._stopping.is_set():
            try:
                connection, peer = self._listener.accept()
            except TimeoutError:
                continue
            self._start(self._serve, connection, peer[1])

    def _serve(self, connection: socket.socket, number: int) -> None:
        with connection:
            connection.settimeout(_POLL_S)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            buffer = bytearray()
            try:
                while request := self._read_request(connection, buffer, number):
                    self.requests.append(request)
                    reply = self.replies.popleft() if self.replies else Reply(b"no reply scripted", 599, "text/plain")
                    if not self._play(connection, reply):
                        return
            except OSError:
                return

    def _read_request(self, connection: socket.socket, buffer: bytearray, number: int) -> Request | None:
        while b"\r\n\r\n" not in buffer:
            if not self._receive(connection, buffer):
                return None
            if not buffer[:1].isalpha():
                # TLS or noise: what a plain HTTP server says to it.
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
                return None
        head, _, _ = bytes(buffer).partition(b"\r\n\r\n")
        first, *rest = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in rest)}
        size = int(headers.get("content-length", "0"))
        while len(buffer) < len(head) + 4 + size:
            if not self._receive(connection, buffer):
                return None
        body = bytes(buffer[len(head) + 4 : len(head) + 4 + size])
        del buffer[: len(head) + 4 + size]
        method, path, _ = first.split(" ")
        return Request(method, path, headers, body, number)

    def _receive(self, connection: socket.socket, buffer: bytearray) -> bool:
        while not self._stopping.is_set():
            try:
                data = connection.recv(65536)
            except TimeoutError:
                continue
            buffer.extend(data)
            return bool(data)
        return False

    def _play(self, connection: socket.socket, reply: Reply) -> bool:
        """Send a reply; True when the connection can take another request."""
        if reply.status:
            headers = {"Content-Type": reply.content_type, "Transfer-Encoding": "chunked", **reply.headers}
            lines = [f"HTTP/1.1 {reply.status} Scripted", *(f"{name}: {value}" for name, value in headers.items())]
            connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))
        for piece in _cut(reply.body, reply.piece_bytes):
            connection.sendall(b"%x\r\n%s\r\n" % (len(piece), piece))
        match reply.ending:
            case Ending.WHOLE:
                connection.sendall(b"0\r\n\r\n")
                return True
            case Ending.CUT:
                return False
            case Ending.STALL:
                if not self._receive(connection, bytearray()) and not self._stopping.is_set():
                    self._left.set()
                return False


def _cut(body: bytes, piece_bytes: int) -> Iterator[bytes]:
    step = piece_bytes or len(body) or 1
    for start in range(0, len(body), step):
        yield body[start : start + step]
