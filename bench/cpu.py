"""Rows that say much the same on a busy machine: CPU time of commands, of a start, of turns; modules that are loaded.

The time is that of all threads and children, ended ones included. The guard of `scripts/test` goes by these rows.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.client import ask_once, post_turn
from bench.launch import interleave
from bench.machine import spent_ms
from bench.page import PageChat, open_and_leave
from bench.programs import (
    SKALES,
    Command,
    Program,
    Stage,
    Subject,
    measure_cpu_ms,
    python_command,
    run_command,
    run_proxy,
    run_skales,
)
from bench.table import Row
from bench.turns import STEPS, Pair, connected

_PROXY = "FastAPI proxy"
_ROUNDS = 2
_TELLING = "PYTHONPROFILEIMPORTTIME"
_IMPORTED = b"import time:"


def measure_command_cpu(stage: Stage, repeats: int, subject: Subject = SKALES) -> Iterator[Row]:
    """`--help`, and a whole one-shot chat."""
    home = subject.new_home(stage, "commands")
    if subject.help is not None:
        asked = subject.help(home)
        nothing = python_command("-c", "pass")
        ours, bare = interleave(repeats, lambda: measure_cpu_ms(asked), lambda: measure_cpu_ms(nothing))
        yield Row(name="CPU of --help", unit="ms", samples=ours, baseline="python -c pass", beside=bare)
    chat = subject.chat
    if chat is not None:
        plain = python_command("-m", "bench.raw_turn", f"{stage.model_url}/v1", "hello")
        ours, bare = interleave(repeats, lambda: measure_cpu_ms(chat(home, "hello")), lambda: measure_cpu_ms(plain))
        yield Row(name="CPU of a one-shot chat", unit="ms", samples=ours, baseline="raw httpx2", beside=bare)


def measure_start_cpu(stage: Stage, repeats: int, subject: Subject = SKALES) -> Iterator[Row]:
    """From the launch of a server to the end of its first answer."""
    run = subject.serve
    if run is None:
        return

    def start(program: Program) -> float:
        asyncio.run(ask_once(program, "hello"))
        return spent_ms(program.pid)

    def ours() -> float:
        with run(subject.new_home(stage, "start")) as program:
            return start(program)

    def bare() -> float:
        with run_proxy(stage) as program:
            return start(program)

    found, beside = interleave(repeats, ours, bare)
    yield Row(name="CPU to the first answer's end", unit="ms", samples=found, baseline=_PROXY, beside=beside)


async def measure_turn_cpu(pair: Pair, repeats: int, turns: int) -> Row:
    """A turn in a new chat by API."""
    ours, bare = [], []
    async with connected(pair.measured) as skales, connected(pair.proxy) as proxy:
        for _ in range(repeats):
            ours.append(await _each_ms(pair.measured, turns, lambda: post_turn(skales, pair.measured, "hello")))
            bare.append(await _each_ms(pair.proxy, turns, lambda: post_turn(proxy, pair.proxy, "hello")))
    return Row(name="CPU of a turn, new chat", unit="ms", samples=ours, baseline=_PROXY, beside=bare)


async def measure_page_cpu(pair: Pair, repeats: int, turns: int) -> Row:
    """A turn on an open page of ours, in one chat."""
    page = await PageChat.open(pair.measured)
    ours, bare = [], []
    for _ in range(repeats):
        ours.append(await _each_ms(pair.measured, turns, lambda: page.ask("hello")))
        bare.append(await _each_ms(pair.proxy, turns, lambda: ask_once(pair.proxy, "hello")))
    await page.aclose()
    return Row(name="CPU of a turn, open page", unit="ms", samples=ours, baseline=_PROXY, beside=bare)


async def measure_step_cpu(pair: Pair, repeats: int, turns: int) -> Row:
    """A tool step, the model's answer that asks for it included."""
    text = f"TOOLS:{STEPS} TOKENS:5"
    ours, bare = [], []
    async with connected(pair.measured) as skales, connected(pair.proxy) as proxy:
        for _ in range(repeats):
            ours.append(await _each_ms(pair.measured, turns, lambda: post_turn(skales, pair.measured, text)) / STEPS)
            bare.append(await _each_ms(pair.proxy, turns * 2, lambda: post_turn(proxy, pair.proxy, "TOKENS:5")))
    return Row(name="CPU of a tool step", unit="ms", samples=ours, baseline=f"{_PROXY}, a turn", beside=bare)


async def measure_new_page_cpu(pair: Pair, repeats: int, turns: int) -> Row:
    """A turn in a new chat on a page of its own: the first page, the conversation's, its stream."""
    ours, bare = [], []
    for _ in range(repeats):
        ours.append(await _each_ms(pair.measured, turns, lambda: open_and_leave(pair.measured)))
        bare.append(await _each_ms(pair.proxy, turns, lambda: ask_once(pair.proxy, "hello")))
    return Row(name="CPU of a turn, new page", unit="ms", samples=ours, baseline=_PROXY, beside=bare)


async def measure_crowd_cpu(pair: Pair, repeats: int, chats: int) -> Row:
    """A turn of many at once, by API."""

    def together(program: Program) -> Callable[[], Awaitable[object]]:
        return lambda: asyncio.gather(*(ask_once(program, "hello") for _ in range(chats)))

    ours, bare = [], []
    for _ in range(repeats):
        ours.append(await _each_ms(pair.measured, _ROUNDS, together(pair.measured)) / chats)
        bare.append(await _each_ms(pair.proxy, _ROUNDS, together(pair.proxy)) / chats)
    return Row(name=f"CPU of a turn, {chats} at once", unit="ms", samples=ours, baseline=_PROXY, beside=bare)


def measure_modules(stage: Stage) -> Iterator[Row]:
    """How many modules Python loads, by its own account: the same number each time."""
    home = stage.new_home("modules")
    with _imports_told():
        helped, chatted = (run_command(command) for command in _own_commands(home))
        nothing = run_command(python_command("-c", "pass"))
        raw = run_command(python_command("-m", "bench.raw_turn", f"{stage.model_url}/v1", "hello"))
        with run_skales(home) as skales, run_proxy(stage) as proxy:
            for program in (skales, proxy):
                asyncio.run(ask_once(program, "hello"))
            served, plain = skales.read_errors(), proxy.read_errors()
    for name, ours, baseline, bare in (
        ("--help", helped.errors, "python -c pass", nothing.errors),
        ("a one-shot chat", chatted.errors, "raw httpx2", raw.errors),
        ("a server's first answer", served, _PROXY, plain),
    ):
        counts = [ours.count(_IMPORTED)], [bare.count(_IMPORTED)]
        yield Row(name=f"modules for {name}", unit="modules", samples=counts[0], baseline=baseline, beside=counts[1])


def _own_commands(home: Path) -> Iterator[Command]:
    assert SKALES.help is not None
    assert SKALES.chat is not None
    yield SKALES.help(home)
    yield SKALES.chat(home, "hello")


@contextmanager
def _imports_told() -> Generator[None, None, None]:
    """Programs started meanwhile name each module that they load."""
    os.environ[_TELLING] = "1"
    try:
        yield
    finally:
        del os.environ[_TELLING]


async def _each_ms(program: Program, times: int, act: Callable[[], Awaitable[object]]) -> float:
    """CPU of the program for each time, after one to warm up."""
    await act()
    before_ms = spent_ms(program.pid)
    for _ in range(times):
        await act()
    return (spent_ms(program.pid) - before_ms) / times
