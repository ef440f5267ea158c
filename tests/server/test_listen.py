"""Sockets as they are bound: both addresses, and no waiting for the client between two writes."""

import asyncio
import socket
from contextlib import ExitStack

import pytest

from skales.core.errors import ConfigurationError
from skales.server.listen import bind_port

pytestmark = pytest.mark.anyio


async def test_what_is_accepted_sends_small_pieces_at_once() -> None:
    accepted: asyncio.Queue[int] = asyncio.Queue()

    def note(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        found: socket.socket = writer.get_extra_info("socket")
        accepted.put_nowait(found.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    for listening in bind_port(0):
        address = listening.getsockname()[:2]
        server = await asyncio.start_server(note, sock=listening)
        async with server:
            _reader, writer = await asyncio.open_connection(*address)
            assert await accepted.get()
            writer.close()
            await writer.wait_closed()


def test_a_taken_port_is_named() -> None:
    with ExitStack() as opened:
        taken = [opened.enter_context(found) for found in bind_port(0)]
        port = taken[0].getsockname()[1]
        with pytest.raises(ConfigurationError, match=f"Port {port} cannot be used: another program uses it"):
            bind_port(port)
