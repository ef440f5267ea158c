"""Which rows belong to which part of a run. What is shared can be measured of anybody, the rest only of us."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bench.cpu import (
    measure_command_cpu,
    measure_crowd_cpu,
    measure_modules,
    measure_new_page_cpu,
    measure_page_cpu,
    measure_start_cpu,
    measure_step_cpu,
    measure_turn_cpu,
)
from bench.launch import (
    measure_first_paint,
    measure_help,
    measure_idle_memory,
    measure_one_shot,
    measure_server_start,
)
from bench.loaded import measure_full_request
from bench.painted import measure_long_paint
from bench.programs import SKALES, Stage, Subject, run_proxy, run_skales
from bench.stored import measure_gate, measure_long_page
from bench.table import Row
from bench.trust import measure_trust
from bench.turns import (
    Pair,
    measure_chunk_cpu,
    measure_crowd,
    measure_overhead,
    measure_page_crowd,
    measure_tool_step,
)


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is done of everything."""

    starts: int
    turns: int
    crowds: Mapping[int, int]  # turns for each number of chats at once
    settle_s: float
    calls: int
    sizes: Sequence[int]


FULL = Effort(5, 40, {16: 160, 64: 192}, 30, 1000, (100, 1_000, 10_000, 100_000))
QUICK = Effort(2, 12, {16: 32}, 3, 300, (100, 1_000))

Measure = Callable[[Stage, Effort, Subject], Iterator[Row]]


def _turns(stage: Stage, effort: Effort, subject: Subject) -> Iterator[Row]:
    if subject.serve is not None:
        with subject.serve(subject.new_home(stage, "turns")) as program, run_proxy(stage) as proxy:
            yield from asyncio.run(measure_overhead(Pair(stage, program, proxy), effort.turns))


def _crowds(stage: Stage, effort: Effort, subject: Subject) -> Iterator[Row]:
    if subject.serve is not None:
        with subject.serve(subject.new_home(stage, "crowd")) as program, run_proxy(stage) as proxy:
            for chats, turns in effort.crowds.items():
                yield asyncio.run(measure_crowd(Pair(stage, program, proxy), chats, turns))


def _cpu_of_turns(stage: Stage, effort: Effort, subject: Subject) -> Iterator[Row]:
    if subject.serve is not None:
        with subject.serve(subject.new_home(stage, "cpu")) as program, run_proxy(stage) as proxy:
            pair = Pair(stage, program, proxy)
            yield asyncio.run(measure_turn_cpu(pair, effort.starts, effort.turns))
            yield asyncio.run(measure_crowd_cpu(pair, effort.starts, 16))


# Of anybody, in the order of the table.
SHARED: Mapping[str, Sequence[Measure]] = {
    "launch": (
        lambda stage, effort, subject: measure_help(stage, effort.starts, subject),
        lambda stage, effort, subject: measure_one_shot(stage, effort.starts, subject),
        lambda stage, effort, subject: measure_server_start(stage, effort.starts, subject),
    ),
    "memory": (lambda stage, effort, subject: measure_idle_memory(stage, effort.settle_s, subject),),
    "turns": (_turns,),
    "crowd": (_crowds,),
    "cpu": (
        lambda stage, effort, subject: measure_command_cpu(stage, effort.starts, subject),
        lambda stage, effort, subject: measure_start_cpu(stage, effort.starts, subject),
        _cpu_of_turns,
    ),
}


def measure_part(name: str, stage: Stage, effort: Effort) -> Iterator[Row]:
    """All rows of a part about us."""
    for measure in SHARED.get(name, ()):
        yield from measure(stage, effort, SKALES)
    if name in _OURS:
        yield from _OURS[name](stage, effort)


def _our_launch(stage: Stage, effort: Effort) -> Iterator[Row]:
    yield measure_first_paint(stage, effort.starts)


def _our_turns(stage: Stage, effort: Effort) -> Iterator[Row]:
    yield from measure_full_request(stage)
    with run_skales(stage.new_home("steps")) as skales, run_proxy(stage) as proxy:
        pair = Pair(stage, skales, proxy)
        yield asyncio.run(measure_tool_step(pair, max(effort.turns // 8, 2)))
        yield from asyncio.run(measure_chunk_cpu(pair, max(effort.turns // 12, 2)))


def _our_crowds(stage: Stage, effort: Effort) -> Iterator[Row]:
    with run_skales(stage.new_home("pages")) as skales, run_proxy(stage) as proxy:
        for chats, turns in effort.crowds.items():
            yield from asyncio.run(measure_page_crowd(Pair(stage, skales, proxy), chats, turns))


def _our_cpu(stage: Stage, effort: Effort) -> Iterator[Row]:
    yield from measure_modules(stage)
    with run_skales(stage.new_home("page")) as skales, run_proxy(stage) as proxy:
        pair = Pair(stage, skales, proxy)
        yield asyncio.run(measure_step_cpu(pair, effort.starts, max(effort.turns // 8, 1)))
        yield asyncio.run(measure_page_cpu(pair, effort.starts, effort.turns))
        yield asyncio.run(measure_new_page_cpu(pair, effort.starts, effort.turns))


def _our_stores(stage: Stage, effort: Effort) -> Iterator[Row]:
    yield measure_gate(stage, effort.calls)
    yield from measure_trust(stage, effort.calls)
    yield from measure_long_page(stage, 5_000, 5)


def _our_painted(stage: Stage, effort: Effort) -> Iterator[Row]:
    yield from measure_long_paint(stage, 5_000, effort.starts)


_OURS: Mapping[str, Callable[[Stage, Effort], Iterator[Row]]] = {
    "launch": _our_launch,
    "turns": _our_turns,
    "crowd": _our_crowds,
    "cpu": _our_cpu,
    "stores": _our_stores,
    "painted": _our_painted,
}
PARTS: Sequence[str] = ("launch", "memory", "turns", "crowd", "cpu", "stores", "painted")
