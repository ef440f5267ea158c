"""Rows about turns over HTTP on warm servers: what we add to the model's own time, and many at once."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from time import monotonic, monotonic_ns
from typing import Any

from bench.client import Connection, ask_once, post_turn, take_log
from bench.machine import cpu_ms
from bench.page import PageChat, open_and_leave
from bench.programs import Program, Stage
from bench.table import Row, Target

_PROXY = "FastAPI proxy"
STEPS = 12  # a turn may call one tool fifteen times
_TARGETED_CHATS = 16
# The targets are 6 ms on a machine where the bare server has asked the model after 1 ms.
_ASKED_WITHIN = 6
_WARM_UP = 3
_LONG, _SHORT = 4000, 200


@dataclass(frozen=True, slots=True)
class Timed:
    """One turn: all of it, what the model took of it, and the model's records."""

    total_ms: float
    model_ms: float
    before_ms: float
    records: Sequence[dict[str, Any]]

    @property
    def overhead_ms(self) -> float:
        """What is not the model's."""
        return self.total_ms - self.model_ms


@dataclass(frozen=True, slots=True)
class Pair:
    """A server and the bare one over the same model."""

    stage: Stage
    measured: Program
    proxy: Program


async def measure_overhead(pair: Pair, repeats: int) -> list[Row]:
    """Time beside the model's, of answers with 200 tokens."""
    new, same, bare = await _take_turns(pair, repeats)
    overheads = [turn.overhead_ms for turn in bare]
    before = [turn.before_ms for turn in bare]
    return [
        *_overhead_rows("new chat", new, overheads),
        *_overhead_rows("same chat", same, overheads),
        *_asking_rows("new chat", new, before, None),
        *_asking_rows("warm", same, before, Target(_ASKED_WITHIN)),
        Row(
            name="model calls of a turn",
            unit="calls",
            samples=[len(turn.records) for turn in new],
            baseline=_PROXY,
            beside=[len(turn.records) for turn in bare],
        ),
        *request_rows(new[-1].records[0], bare[-1].records[0]),
    ]


async def measure_tool_step(pair: Pair, repeats: int) -> Row:
    """From the model's last byte that asks for a call to the request that brings the result."""
    gaps, bare = [], []
    async with connected(pair.measured) as measured, connected(pair.proxy) as proxy:
        for _ in range(repeats):
            turn = await _timed(pair.stage, measured, pair.measured, f"TOOLS:{STEPS} TOKENS:5")
            assert len(turn.records) == STEPS + 1, turn
            pairs = zip(turn.records, turn.records[1:], strict=False)
            gaps += [(after["arrival_ns"] - before["last_ns"]) / 1e6 for before, after in pairs]
            bare.append((await _timed(pair.stage, proxy, pair.proxy, "TOKENS:5")).before_ms)
    return Row(
        name="one tool step (read_file)",
        unit="ms",
        samples=gaps,
        baseline=f"{_PROXY}, before the model",
        beside=bare,
        target=Target(_ASKED_WITHIN),
    )


async def measure_chunk_cpu(pair: Pair, repeats: int) -> list[Row]:
    """CPU of the server for one more streamed chunk, without and with a page that watches."""
    page = await PageChat.open(pair.measured)
    async with connected(pair.measured) as skales, connected(pair.proxy) as proxy:
        ours = [
            await _chunk_us(pair.measured, lambda text: post_turn(skales, pair.measured, text)) for _ in range(repeats)
        ]
        paged = [await _chunk_us(pair.measured, page.ask) for _ in range(repeats)]
        bare = [await _chunk_us(pair.proxy, lambda text: post_turn(proxy, pair.proxy, text)) for _ in range(repeats)]
    await page.aclose()
    return [
        Row(name="CPU per chunk, by API", unit="µs", samples=ours, baseline=_PROXY, beside=bare),
        Row(name="CPU per chunk, from our page", unit="µs", samples=paged, baseline=_PROXY, beside=bare),
    ]


async def measure_crowd(pair: Pair, chats: int, turns: int) -> Row:
    """Turns per second of many chats at once, by API."""
    by_api = await _rate(chats, turns, lambda _: ask_once(pair.measured, "hello"))
    bare = await _rate(chats, turns, lambda _: ask_once(pair.proxy, "hello"))
    return _crowd_row(f"{chats} chats by API", (by_api, bare), chats, 0.45)


async def measure_page_crowd(pair: Pair, chats: int, turns: int) -> list[Row]:
    """The same from our page: on open pages, and on pages opened for each new chat."""
    pages = [await PageChat.open(pair.measured) for _ in range(chats)]
    on_pages = await _rate(chats, turns, lambda at: pages[at].ask("hello"))
    for page in pages:
        await page.aclose()
    new_pages = await _rate(chats, turns, lambda _: open_and_leave(pair.measured))
    bare = await _rate(chats, turns, lambda _: ask_once(pair.proxy, "hello"))

    return [
        _crowd_row(f"{chats} chats on open pages", (on_pages, bare), chats, 0.25),
        _crowd_row(f"{chats} chats each on a new page", (new_pages, bare), chats, 0.25),
    ]


async def _take_turns(pair: Pair, repeats: int) -> tuple[list[Timed], list[Timed], list[Timed]]:
    """Turn about in new chats, in one chat where the server can go on with it, and before the bare server."""
    new, same, bare = [], [], []
    async with connected(pair.measured) as measured, connected(pair.proxy) as proxy:
        session_of = pair.measured.dialect.session_of
        session_id = session_of(await post_turn(measured, pair.measured, "hello")) if session_of else ""
        for number in range(repeats + _WARM_UP):
            text = f"hello {number}"
            new.append(await _timed(pair.stage, measured, pair.measured, text))
            if session_id:
                same.append(await _timed(pair.stage, measured, pair.measured, text, session_id))
            bare.append(await _timed(pair.stage, proxy, pair.proxy, text))
    return new[_WARM_UP:], same[_WARM_UP:], bare[_WARM_UP:]


def _overhead_rows(chat: str, turns: Sequence[Timed], beside: Sequence[float]) -> Iterator[Row]:
    if turns:
        yield Row(
            name=f"turn overhead, {chat}",
            unit="ms",
            samples=[turn.overhead_ms for turn in turns],
            baseline=_PROXY,
            beside=beside,
            target=Target(1.8),
        )


def _asking_rows(chat: str, turns: Sequence[Timed], beside: Sequence[float], target: Target | None) -> Iterator[Row]:
    if turns:
        yield Row(
            name=f"before the model is asked, {chat}",
            unit="ms",
            samples=[turn.before_ms for turn in turns],
            baseline=_PROXY,
            beside=beside,
            target=target,
        )


def _crowd_row(name: str, rates: tuple[float, float], chats: int, bound: float) -> Row:
    target = Target(bound, at_least=True) if chats == _TARGETED_CHATS else None
    return Row(name=name, unit="/s", samples=[rates[0]], baseline=_PROXY, beside=[rates[1]], target=target)


def request_rows(record: Mapping[str, Any], beside: Mapping[str, Any]) -> Iterator[Row]:
    """What a first turn sends to the model. About four bytes of JSON schema are a token."""
    yield Row(
        name="first request",
        unit="KB",
        samples=[record["bytes"] / 1000],
        baseline=_PROXY,
        beside=[beside["bytes"] / 1000],
        target=Target(20, "value"),
    )
    yield Row(name="tools in it", unit="tools", samples=[record["tools"]])
    yield Row(name="their schemas, about", unit="tokens", samples=[record["tool_bytes"] / 4])


@asynccontextmanager
async def connected(program: Program) -> AsyncGenerator[Connection, None]:
    """A connection that is kept for a program's requests."""
    connection = await Connection.open(program.url, program.headers)
    try:
        yield connection
    finally:
        await connection.aclose()


async def _timed(stage: Stage, connection: Connection, program: Program, text: str, session_id: str = "") -> Timed:
    await take_log(stage.model_url)
    start_ns = monotonic_ns()
    await post_turn(connection, program, text, session_id)
    end_ns = monotonic_ns()
    records = await take_log(stage.model_url)
    assert records, "it asked the model"
    return Timed(
        total_ms=(end_ns - start_ns) / 1e6,
        model_ms=sum(record["last_ns"] - record["arrival_ns"] for record in records) / 1e6,
        before_ms=(records[0]["arrival_ns"] - start_ns) / 1e6,
        records=records,
    )


async def _chunk_us(program: Program, ask: Callable[[str], Awaitable[object]]) -> float:
    used_ms = []
    for tokens in (_SHORT, _LONG):
        before_ms = cpu_ms(program.pid)
        await ask(f"TOKENS:{tokens}")
        used_ms.append(cpu_ms(program.pid) - before_ms)
    return (used_ms[1] - used_ms[0]) / (_LONG - _SHORT) * 1000


async def _rate(chats: int, turns: int, ask: Callable[[int], Awaitable[object]]) -> float:
    """Turns per second of `chats` workers that share `turns` of them, after one turn each to warm up."""

    async def work(at: int, count: int) -> None:
        for _ in range(count):
            await ask(at)

    async def together(count: int) -> None:
        await asyncio.gather(*(work(at, count) for at in range(chats)))

    await together(1)
    each = max(turns // chats, 1)
    start_s = monotonic()
    await together(each)
    return chats * each / (monotonic() - start_s)
