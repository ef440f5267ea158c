"""Rows about turns over HTTP on warm servers: what we add to the model's own time, and many at once."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from time import monotonic, monotonic_ns
from typing import Any

from bench.client import Connection, ask_once, take_log
from bench.machine import cpu_ms
from bench.page import PageChat, open_and_leave
from bench.programs import Program, Stage
from bench.table import Row, Target

_PROXY = "FastAPI proxy"
_STEPS = 12  # a turn may call one tool fifteen times
_TARGETED_CHATS = 16
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
    """Both servers over one model."""

    stage: Stage
    skales: Program
    proxy: Program


async def measure_overhead(pair: Pair, repeats: int) -> list[Row]:
    """Time beside the model's, of answers with 200 tokens."""
    async with _connected(pair.skales) as skales, _connected(pair.proxy) as proxy:
        session_id = await _begin_chat(skales, pair.skales)
        new, same, bare = [], [], []
        for number in range(repeats + 3):
            new.append(await _timed(pair.stage, skales, pair.skales, f"hello {number}"))
            same.append(await _timed(pair.stage, skales, pair.skales, f"hello {number}", session_id))
            bare.append(await _timed(pair.stage, proxy, pair.proxy, f"hello {number}"))
    new, same, bare = new[3:], same[3:], bare[3:]
    overheads = [turn.overhead_ms for turn in bare]
    before = [turn.before_ms for turn in bare]
    return [
        Row(
            name="turn overhead, new chat",
            unit="ms",
            samples=[turn.overhead_ms for turn in new],
            baseline=_PROXY,
            beside=overheads,
            target=Target(1.8),
        ),
        Row(
            name="turn overhead, same chat",
            unit="ms",
            samples=[turn.overhead_ms for turn in same],
            baseline=_PROXY,
            beside=overheads,
            target=Target(1.8),
        ),
        Row(
            name="before the model is asked, new chat",
            unit="ms",
            samples=[turn.before_ms for turn in new],
            baseline=_PROXY,
            beside=before,
        ),
        Row(
            name="before the model is asked, warm",
            unit="ms",
            samples=[turn.before_ms for turn in same],
            baseline=_PROXY,
            beside=before,
            target=Target(6, "value"),
        ),
        *_request_rows(new[-1], bare[-1]),
    ]


async def measure_tool_step(pair: Pair, repeats: int) -> Row:
    """From the model's last byte that asks for a call to the request that brings the result."""
    gaps, bare = [], []
    async with _connected(pair.skales) as skales, _connected(pair.proxy) as proxy:
        for _ in range(repeats):
            turn = await _timed(pair.stage, skales, pair.skales, f"TOOLS:{_STEPS} TOKENS:5")
            assert len(turn.records) == _STEPS + 1, turn
            pairs = zip(turn.records, turn.records[1:], strict=False)
            gaps += [(after["arrival_ns"] - before["last_ns"]) / 1e6 for before, after in pairs]
            bare.append((await _timed(pair.stage, proxy, pair.proxy, "TOKENS:5")).before_ms)
    return Row(
        name="one tool step (read_file)",
        unit="ms",
        samples=gaps,
        baseline=f"{_PROXY}, before the model",
        beside=bare,
        target=Target(6, "value"),
    )


async def measure_chunk_cpu(pair: Pair, repeats: int) -> list[Row]:
    """CPU of the server for one more streamed chunk, without and with a page that watches."""
    page = await PageChat.open(pair.skales)
    async with _connected(pair.skales) as skales, _connected(pair.proxy) as proxy:
        ours = [await _chunk_us(pair.skales, lambda text: _post(skales, pair.skales, text)) for _ in range(repeats)]
        paged = [await _chunk_us(pair.skales, page.ask) for _ in range(repeats)]
        bare = [await _chunk_us(pair.proxy, lambda text: _post(proxy, pair.proxy, text)) for _ in range(repeats)]
    await page.aclose()
    return [
        Row(name="CPU per chunk, by API", unit="µs", samples=ours, baseline=_PROXY, beside=bare),
        Row(name="CPU per chunk, from our page", unit="µs", samples=paged, baseline=_PROXY, beside=bare),
    ]


async def measure_concurrent(pair: Pair, chats: int, turns: int) -> list[Row]:
    """Turns per second of many chats at once: by API, on open pages, and on pages opened for each new chat."""
    by_api = await _rate(chats, turns, lambda _: ask_once(pair.skales, "hello"))
    pages = [await PageChat.open(pair.skales) for _ in range(chats)]
    on_pages = await _rate(chats, turns, lambda at: pages[at].ask("hello"))
    for page in pages:
        await page.aclose()
    new_pages = await _rate(chats, turns, lambda _: open_and_leave(pair.skales))
    bare = await _rate(chats, turns, lambda _: ask_once(pair.proxy, "hello"))

    def row(name: str, rate: float, bound: float) -> Row:
        target = Target(bound, at_least=True) if chats == _TARGETED_CHATS else None
        return Row(
            name=f"{chats} chats {name}", unit="/s", samples=[rate], baseline=_PROXY, beside=[bare], target=target
        )

    return [
        row("by API", by_api, 0.45),
        row("on open pages", on_pages, 0.25),
        row("each on a new page", new_pages, 0.25),
    ]


def _request_rows(ours: Timed, bare: Timed) -> Iterator[Row]:
    """What a first turn sends to the model. About four bytes of JSON schema are a token."""
    record, beside = ours.records[0], bare.records[0]
    yield Row(
        name="first request",
        unit="KB",
        samples=[record["bytes"] / 1000],
        baseline=_PROXY,
        beside=[beside["bytes"] / 1000],
        target=Target(20, "value"),
    )
    yield Row(name=f"its {record['tools']} tools, about", unit="tokens", samples=[record["tool_bytes"] / 4])


@asynccontextmanager
async def _connected(program: Program) -> AsyncGenerator[Connection, None]:
    connection = await Connection.open(program.url, program.headers)
    try:
        yield connection
    finally:
        await connection.aclose()


async def _timed(stage: Stage, connection: Connection, program: Program, text: str, session_id: str = "") -> Timed:
    await take_log(stage.model_url)
    start_ns = monotonic_ns()
    await _post(connection, program, text, session_id)
    end_ns = monotonic_ns()
    records = await take_log(stage.model_url)
    return Timed(
        total_ms=(end_ns - start_ns) / 1e6,
        model_ms=sum(record["last_ns"] - record["arrival_ns"] for record in records) / 1e6,
        before_ms=(records[0]["arrival_ns"] - start_ns) / 1e6,
        records=records,
    )


async def _post(connection: Connection, program: Program, text: str, session_id: str = "") -> bytes:
    body = {"message": text, **({"sessionId": session_id} if session_id else {})}
    answer = await connection.post(program.chat_path, json.dumps(body).encode())
    assert answer.status == 200, answer
    return answer.body


async def _begin_chat(connection: Connection, program: Program) -> str:
    found = re.search(rb'"sessionId":"([^"]+)"', await _post(connection, program, "hello"))
    assert found, "the last frame names the session"
    return found.group(1).decode()


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
