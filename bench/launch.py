"""Rows about programs that start: commands, the server, its first answer, its first page, its memory at rest."""

import asyncio
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from time import monotonic_ns, sleep, time_ns
from typing import TypeVar

from playwright.sync_api import Browser, sync_playwright

from bench.client import ask_once, take_log
from bench.machine import pss_mib
from bench.programs import Program, Stage, run_command, run_proxy, run_skales
from bench.table import Row, Target

Sample = TypeVar("Sample")

_CHROMIUM = "/usr/bin/chromium"
_FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
_SKALES = ("-m", "skales.cli.main")
_PAINTED = """() => new Promise(done => new PerformanceObserver(list => {
    const paint = list.getEntriesByName("first-contentful-paint")[0];
    if (paint) done(performance.timeOrigin + paint.startTime);
}).observe({type: "paint", buffered: true}))"""


def measure_help(stage: Stage, repeats: int) -> Row:
    """`skales --help` beside an interpreter that does nothing."""
    home = stage.new_home("help")
    ours, bare = _interleave(
        repeats,
        lambda: _elapsed_ms(run_command([*_SKALES, "--help"], home)),
        lambda: _elapsed_ms(run_command(["-c", "pass"])),
    )
    return Row(name="skales --help", unit="ms", samples=ours, baseline="python -c pass", beside=bare, target=Target(6))


def measure_one_shot(stage: Stage, repeats: int) -> Iterator[Row]:
    """`skales chat "…"` beside the same answer with raw httpx2: to the request on the wire, and to the end."""
    home = stage.new_home("one-shot")

    def ask(arguments: list[str]) -> tuple[float, float]:
        asyncio.run(take_log(stage.model_url))
        started_ns, ended_ns = run_command(arguments, home)
        (record,) = asyncio.run(take_log(stage.model_url))
        return (record["arrival_ns"] - started_ns) / 1e6, (ended_ns - started_ns) / 1e6

    ours, bare = _interleave(
        repeats,
        lambda: ask([*_SKALES, "chat", "hello"]),
        lambda: ask(["-m", "bench.raw_turn", f"{stage.model_url}/v1", "hello"]),
    )
    wire, ends = zip(*ours, strict=True)
    bare_wire, bare_ends = zip(*bare, strict=True)
    yield Row(name="one-shot chat: on the wire", unit="ms", samples=wire, baseline="raw httpx2", beside=bare_wire)
    yield Row(
        name="one-shot chat: end", unit="ms", samples=ends, baseline="raw httpx2", beside=bare_ends, target=Target(3.5)
    )


def measure_server_start(stage: Stage, repeats: int) -> Iterator[Row]:
    """To the first HTTP 200, and to the end of a first answer that is asked for at once."""

    def start(running: AbstractContextManager[Program]) -> tuple[float, float]:
        with running as program:
            asyncio.run(ask_once(program, "hello"))
            return program.ready_ms, (monotonic_ns() - program.started_ns) / 1e6

    ours, bare = _interleave(
        repeats, lambda: start(run_skales(stage.new_home("start"))), lambda: start(run_proxy(stage))
    )
    ready, answered = zip(*ours, strict=True)
    bare_ready, bare_answered = zip(*bare, strict=True)
    yield Row(
        name="server ready", unit="ms", samples=ready, baseline="FastAPI proxy", beside=bare_ready, target=Target(1.7)
    )
    yield Row(
        name="launch to first answer's end",
        unit="ms",
        samples=answered,
        baseline="FastAPI proxy",
        beside=bare_answered,
        target=Target(2),
    )


def measure_first_paint(stage: Stage, repeats: int) -> Row:
    """Process start to the first content on the screen; the browser runs already."""
    with open_browser() as browser:

        def paint(running: AbstractContextManager[Program], path: str) -> float:
            with running as program:
                return _paint_ms(browser, program, path)

        ours, bare = _interleave(
            repeats,
            lambda: paint(run_skales(stage.new_home("paint")), "/chat"),
            lambda: paint(run_proxy(stage), "/"),
        )
    return Row(name="first page painted", unit="ms", samples=ours, baseline="FastAPI, one-line page", beside=bare)


def measure_idle_memory(stage: Stage, settle_s: float) -> Row:
    """PSS of the tree after a first answer and a while of rest."""
    with run_skales(stage.new_home("idle")) as skales, run_proxy(stage) as proxy:
        for program in (skales, proxy):
            asyncio.run(ask_once(program, "hello"))
        sleep(settle_s)
        ours, bare = pss_mib(skales.pid), pss_mib(proxy.pid)
    return Row(
        name=f"idle PSS after {settle_s:g} s",
        unit="MiB",
        samples=[ours],
        baseline="FastAPI proxy",
        beside=[bare],
        target=Target(1.9),
    )


@contextmanager
def open_browser() -> Generator[Browser, None, None]:
    """A Chromium without a window, until the block ends."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_CHROMIUM, args=_FLAGS)
        yield browser
        browser.close()


def _paint_ms(browser: Browser, program: Program, path: str) -> float:
    context = browser.new_context()
    try:
        page = context.new_page()
        offset_ms = _clock_offset_ms()
        page.goto(program.url + path)
        return float(page.evaluate(_PAINTED)) - offset_ms - program.started_ns / 1e6
    finally:
        context.close()


def _clock_offset_ms() -> float:
    """Browsers tell wall time, we measure monotonic time."""
    return (time_ns() - monotonic_ns()) / 1e6


def _elapsed_ms(moments: tuple[int, int]) -> float:
    return (moments[1] - moments[0]) / 1e6


def _interleave(
    repeats: int, ours: Callable[[], Sample], bare: Callable[[], Sample]
) -> tuple[list[Sample], list[Sample]]:
    """Turn about, so that a busy moment hits both; one of each first, to warm the caches."""
    ours(), bare()
    pairs = [(ours(), bare()) for _ in range(repeats)]
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]
