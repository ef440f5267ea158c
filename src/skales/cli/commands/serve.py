"""`skales serve`: the app with its page and API, until Ctrl-C."""

import argparse
import asyncio
import os
import webbrowser

from skales.app.life import open_app
from skales.cli.terminal import aside, success
from skales.core.errors import InputError
from skales.data.paths import locate_data_directory
from skales.server.listen import bind_port, serve


def run(arguments: argparse.Namespace) -> int:
    """Serve on the wanted port, else the first free one, and open the page where there is a screen."""
    port = arguments.port if arguments.port is not None else _port_of_environment()
    asyncio.run(_serve(port, open_page=not arguments.no_window))
    return 0


async def _serve(port: int | None, *, open_page: bool) -> None:
    directory = locate_data_directory()
    async with open_app(directory) as app:
        listening = bind_port(port)

        def announce(address: str) -> None:
            success(f"Skales is at {address}")
            aside(f"  data in {directory.root}, Ctrl-C stops it")
            if open_page and _has_screen():
                asyncio.get_running_loop().run_in_executor(None, webbrowser.open, address)

        await serve(app, listening, announce)


def _port_of_environment() -> int | None:
    text = os.environ.get("SKALES_PORT", "")
    if not text:
        return None
    if not text.isdigit():
        raise InputError(f"SKALES_PORT is {text!r}, not a port number", hint="Set it to a number such as 3000")
    return int(text)


def _has_screen() -> bool:
    """Without a display, opening a browser would start a text one in this terminal."""
    return (
        os.name == "nt"
        or os.uname().sysname == "Darwin"
        or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    )
