"""Rows about programs that start: commands, the server, its first answer, its first page, its memory at rest."""

import asyncio
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from time import monotonic_ns, sleep, time_ns
from typing import Any, TypeVar

from playwright.sync_api import Browser, sync_playwright

from bench.client import ask_once, take_log
from bench.machine import pss_mib
from bench.programs import (
    SKALES,
    Command,
    Program,
    Stage,
    Subject,
    python_command,
    run_command,
    run_proxy,
    run_skales,
)
from bench.table import Row, Target
from bench.turns import request_rows

Sample = TypeVar("Sample")

_CHROMIUM = "/usr/bin/chromium"
_FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
_PAINTED = """() => new Promise(done => new PerformanceObserver(list => {
    const paint = list.getEntriesByName("first-contentful-paint")[0];
    if (paint) done(performance.timeOrigin + paint.startTime);
}).observe({type: "paint", buffered: true}))"""


def measure_help(stage: Stage, repeats: int, subject: Subject = SKALES) -> Iterator[Row]:
    """`--help` beside an interpreter that does nothing."""
    if subject.help is None:
        return
    asked = subject.help(subject.new_home(stage, "help"))
    ours, bare = interleave(
        repeats,
        lambda: run_command(asked).elapsed_ms,
        lambda: run_command(python_command("-c", "pass")).elapsed_ms,
    )
    yield Row(name="--help", unit="ms", samples=ours, baseline="python -c pass", beside=bare, target=Target(6))


def measure_one_shot(stage: Stage, repeats: int, subject: Subject = SKALES) -> Iterator[Row]:
    """`skales chat "…"` beside the same answer with raw httpx2: to the request on the wire, and to the end."""
    chat = subject.chat
    if chat is None:
        return
    home = subject.new_home(stage, "one-shot")
    plain = python_command("-m", "bench.raw_turn", f"{stage.model_url}/v1", "hello")

    def ask(command: Command) -> tuple[float, float, Mapping[str, Any]]:
        asyncio.run(take_log(stage.model_url))
        ended = run_command(command)
        records = asyncio.run(take_log(stage.model_url))
        assert records, "it asked the model"
        return (records[0]["arrival_ns"] - ended.started_ns) / 1e6, ended.elapsed_ms, records[0]

    ours, bare = interleave(repeats, lambda: ask(chat(home, "hello")), lambda: ask(plain))
    wire, ends, records = zip(*ours, strict=True)
    bare_wire, bare_ends, bare_records = zip(*bare, strict=True)
    yield Row(name="one-shot chat: on the wire", unit="ms", samples=wire, baseline="raw httpx2", beside=bare_wire)
    yield Row(
        name="one-shot chat: end", unit="ms", samples=ends, baseline="raw httpx2", beside=bare_ends, target=Target(3.5)
    )
    if subject.serve is None:  # else it is asked over HTTP what it sends
        yield from request_rows(records[-1], bare_records[-1])


def measure_server_start(stage: Stage, repeats: int, subject: Subject = SKALES) -> Iterator[Row]:
    """To the first HTTP 200, and to the end of a first answer that is asked for at once."""
    run = subject.serve
    if run is None:
        return

    def start(running: AbstractContextManager[Program]) -> tuple[float, float]:
        with running as program:
            asyncio.run(ask_once(program, "hello"))
            return program.ready_ms, (monotonic_ns() - program.started_ns) / 1e6

    ours, bare = interleave(
        repeats, lambda: start(run(subject.new_home(stage, "start"))), lambda: start(run_proxy(stage))
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

        ours, bare = interleave(
            repeats,
            lambda: paint(run_skales(stage.new_home("paint")), "/chat"),
            lambda: paint(run_proxy(stage), "/"),
        )
    return Row(name="first page painted", unit="ms", samples=ours, baseline="FastAPI, one-line page", beside=bare)


def measure_idle_memory(stage: Stage, settle_s: float, subject: Subject = SKALES) -> Iterator[Row]:
    """PSS of the tree after a first answer and a while of rest."""
    if subject.serve is None:
        return
    with subject.serve(subject.new_home(stage, "idle")) as measured, run_proxy(stage) as proxy:
        for program in (measured, proxy):
            asyncio.run(ask_once(program, "hello"))
        sleep(settle_s)
        ours, bare = pss_mib(measured.pid), pss_mib(proxy.pid)
    yield Row(
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


def interleave(
    repeats: int, ours: Callable[[], Sample], bare: Callable[[], Sample]
) -> tuple[list[Sample], list[Sample]]:
    """Turn about, so that a busy moment hits both; one of each first, to warm the caches."""
    ours(), bare()
    pairs = [(ours(), bare()) for _ in range(repeats)]
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]
