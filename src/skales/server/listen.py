"""Binds the loopback port and serves until told to stop. Spec: http-api.md, "Server"."""

import errno
import socket
from collections.abc import Callable

import uvicorn

from skales import __version__
from skales.app.wiring import App
from skales.core.errors import ConfigurationError
from skales.server.app import create_server

HOST = "127.0.0.1"
DEFAULT_PORTS = range(3000, 3010)
# Open event streams would hold the stop up; their pages attach again to the next server.
_STOP_WAIT_S = 1


def bind_port(port: int | None) -> socket.socket:
    """A listening socket on the wanted port, else on the first free one of 3000-3009. Raises ConfigurationError."""
    for candidate in [port] if port is not None else DEFAULT_PORTS:
        opened = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            opened.bind((HOST, candidate))
            opened.listen(128)
        except (OSError, OverflowError) as error:
            opened.close()
            if port is not None:
                raise ConfigurationError(
                    f"Port {port} cannot be used: {_reason(error)}", hint="Choose another with --port, or leave it out"
                ) from error
        else:
            return opened
    raise ConfigurationError(
        "Ports 3000 to 3009 are all taken", hint="Stop one of the programs on them, or choose another with --port"
    )


async def serve(app: App, listening: socket.socket, on_ready: Callable[[str], None]) -> None:
    """Answer requests on the socket until SIGINT or SIGTERM; `on_ready` gets the address once it answers."""
    address = f"http://{HOST}:{listening.getsockname()[1]}"
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
    on_ready(address)
    await uvicorn.Server(config).serve(sockets=[listening])


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
