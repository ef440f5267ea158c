"""Binds the loopback port and serves until told to stop. Spec: http-api.md, "Server"."""

import asyncio
import errno
import gc
import signal
import socket
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from types import FrameType

import uvicorn

from skales import __version__
from skales.app.app import App
from skales.core.errors import ConfigurationError
from skales.server.app import create_server

HOST = "127.0.0.1"
DEFAULT_PORTS = range(3000, 3010)
# Open event streams would hold the stop up; their pages attach again to the next server.
_STOP_WAIT_S = 1


def bind_port(port: int | None) -> list[socket.socket]:
    """Listening sockets on the wanted port, else on the first free one of 3000-3009. Raises ConfigurationError.

    The first is 127.0.0.1; one on ::1 follows where the machine has it, since some clients take `localhost` for that.
    """
    for candidate in [port] if port is not None else DEFAULT_PORTS:
        try:
            first = _bind(socket.AF_INET, HOST, candidate)
        except (OSError, OverflowError) as error:
            if port is not None:
                raise ConfigurationError(
                    f"Port {port} cannot be used: {_reason(error)}", hint="Choose another with --port, or leave it out"
                ) from error
            continue
        try:
            return [first, _bind(socket.AF_INET6, "::1", first.getsockname()[1])]
        except OSError:
            return [first]
    raise ConfigurationError(
        "Ports 3000 to 3009 are all taken", hint="Stop one of the programs on them, or choose another with --port"
    )


async def serve(app: App, listening: Sequence[socket.socket], on_ready: Callable[[str], None]) -> None:
    """Answer requests on the sockets until SIGINT or SIGTERM; `on_ready` gets the address once it answers."""
    address = f"http://{HOST}:{listening[0].getsockname()[1]}"
    app.lock.publish(address, app.local_token, __version__, app.clock.now_ms())
    config = uvicorn.Config(
        create_server(app),
        log_level="warning",
        access_log=False,
        ws="none",
        lifespan="off",
        server_header=False,
        timeout_graceful_shutdown=_STOP_WAIT_S,
    )
    server = _Server(config)
    # What is loaded by now stays; looking through it again and again doubles the time to open a long conversation.
    gc.freeze()
    with _stopped_by_signals(server, app):
        on_ready(address)
        await server.serve(sockets=list(listening))


class _Server(uvicorn.Server):
    """Leaves signals to us: uvicorn would raise them again at its end, before the app could close."""

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Nothing to capture."""
        yield


@contextmanager
def _stopped_by_signals(server: uvicorn.Server, app: App) -> Generator[None, None, None]:
    """SIGINT and SIGTERM end the serving; a second one ends it without waiting for open requests."""
    loop = asyncio.get_running_loop()

    def stop(number: int, frame: FrameType | None) -> None:
        # Streams would stay open for good; their pages attach again to the next server.
        loop.call_soon_threadsafe(app.turns.end_streams)
        server.handle_exit(number, frame)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _bind(family: socket.AddressFamily, host: str, port: int) -> socket.socket:
    # With the protocol's number left out asyncio takes it for no TCP and leaves Nagle's algorithm on: an answer's body,
    # and each piece of a stream, would wait 40 ms until the client acknowledges what came before.
    opened = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family is socket.AF_INET6:
            opened.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        opened.bind((host, port))
        opened.listen(128)
    except BaseException:  # whatever it is, the port must not stay taken
        opened.close()
        raise
    return opened


def _reason(error: OSError | OverflowError) -> str:
    if isinstance(error, OverflowError):
        return "it is not between 0 and 65535"
    match error.errno:
        case errno.EADDRINUSE:
            return "another program uses it"
        case errno.EACCES:
            return "this user may not use it"
        case _:
            return error.strerror or str(error)
