"""A real Chromium on a real server: the whole app in this process, only the model is scripted."""

import socket
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import axe_playwright_python
import pytest
import uvicorn
from anyio.from_thread import BlockingPortal, start_blocking_portal
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, sync_playwright

from skales.app.app import App
from skales.app.wiring import build_app
from skales.core.clock import SystemClock
from skales.core.ids import RandomIds
from skales.data.instance import InstanceLock
from skales.data.paths import DataDirectory
from skales.server.app import create_server
from tests.scripted import ScriptedChooser, ScriptedProvider, Step

_CHROMIUM = "/usr/bin/chromium-headless-shell"
_FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
_AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=_CHROMIUM, args=_FLAGS)
        yield started
        started.close()


@dataclass
class Site:
    """A running server. `address` has no trailing slash."""

    app: App
    address: str


Serve = Callable[..., AbstractContextManager[Site]]


@pytest.fixture
def portal() -> Iterator[BlockingPortal]:
    with start_blocking_portal() as portal:
        yield portal


@pytest.fixture
def serve(home: DataDirectory, portal: BlockingPortal) -> Serve:
    """`with serve(step, step, …) as site`; with `port` a second life of the same address is possible."""

    @asynccontextmanager
    async def running(steps: Sequence[Step], listening: socket.socket) -> AsyncIterator[App]:
        chooser = ScriptedChooser(ScriptedProvider(steps))
        app = build_app(home, InstanceLock(home), SystemClock(), RandomIds(), chooser)
        config = uvicorn.Config(
            create_server(app), log_level="warning", lifespan="off", ws="none", timeout_graceful_shutdown=0
        )
        server = uvicorn.Server(config)
        async with anyio.create_task_group() as tasks:
            app.turns.open(tasks)
            app.models.open(tasks)
            app.start_automation(tasks)
            served = anyio.Event()

            async def run() -> None:
                await server.serve([listening])
                served.set()

            tasks.start_soon(run)
            while not server.started:  # noqa: ASYNC110 - uvicorn tells by a flag
                await anyio.sleep(0.01)
            try:
                yield app
            finally:
                server.should_exit = True
                await served.wait()
                while server.server_state.connections:  # noqa: ASYNC110 - as above
                    await anyio.sleep(0.01)
                tasks.cancel_scope.cancel()

    @contextmanager
    def start(*steps: Step, port: int = 0) -> Iterator[Site]:
        listening = socket.socket()
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", port))
        with portal.wrap_async_context_manager(running(steps, listening)) as app:
            yield Site(app, f"http://127.0.0.1:{listening.getsockname()[1]}")

    return start


@dataclass
class Witness:
    """What a page did besides showing itself."""

    foreign_requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


@pytest.fixture
def witness() -> Witness:
    return Witness()


@pytest.fixture
def context(browser: Browser, witness: Witness) -> Iterator[BrowserContext]:
    made = browser.new_context(viewport={"width": 1200, "height": 800})
    made.set_default_timeout(5000)
    made.on("request", lambda request: _note_request(witness, request.url))
    yield made
    made.close()


@pytest.fixture
def page(context: BrowserContext, witness: Witness) -> Page:
    made = context.new_page()
    made.on("console", lambda message: _note_console(witness, message))
    made.on("pageerror", lambda error: witness.complaints.append(str(error)))

    def refuse(dialog: object) -> None:
        witness.dialogs.append(str(dialog))
        dialog.dismiss()  # type: ignore[attr-defined]

    made.on("dialog", refuse)
    return made


def _note_request(witness: Witness, url: str) -> None:
    if not url.startswith(("http://127.0.0.1:", "data:", "blob:")):
        witness.foreign_requests.append(url)


def _note_console(witness: Witness, message: ConsoleMessage) -> None:
    if message.type in ("error", "warning"):
        witness.complaints.append(message.text)


# Thirty seconds, as Playwright waits.
_LOOKS, _LOOK_MS = 1_500, 20

_IS_STILL = """() => document.getAnimations().every(
    (motion) => motion.playState !== "running" || motion.effect?.getComputedTiming().endTime === Infinity)"""


def wait_until(page: Page, expression: str) -> None:
    """Wait until the script is true.

    Playwright's own waiting looks a second time from within the page, whose rules forbid that.
    """
    for _ in range(_LOOKS):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(_LOOK_MS)
    raise AssertionError(f"never true: {expression}")


def find_faults(page: Page) -> list[str]:
    """What axe has against the page as it is now; injected past the page's own rules."""
    # A colour that still fades in is no colour to judge.
    wait_until(page, _IS_STILL)
    page.evaluate(_AXE)
    # Frames of previews are nobody's: axe cannot speak with them.
    found = page.evaluate("axe.run({ iframes: false })")
    return [
        f"{violation['id']}: {node['html'][:120]}" for violation in found["violations"] for node in violation["nodes"]
    ]


def send(page: Page, text: str) -> None:
    """Write a message and send it with the keyboard."""
    page.locator("#message").fill(text)
    page.locator("#message").press("Enter")


def wait_until_quiet(page: Page) -> None:
    """Until no turn runs."""
    page.locator("#transcript[data-running=false]").wait_for(state="attached")
    page.locator("#stop").wait_for(state="hidden")
