"""Catches what makes Skales clearly slower or larger: by CPU time, modules, memory and bytes, never by wall time.

Each is a ratio to a bare limit of the same run, turn about, best of each, so that a busy machine disturbs little.
A bound is one and a half to two of what is usual, and less where the same number comes out each time.
"""

import asyncio
import sys
from collections.abc import Iterator

import pytest

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
from bench.launch import measure_idle_memory
from bench.programs import Stage, open_stage, run_proxy, run_skales
from bench.table import Row
from bench.turns import Pair, measure_overhead

_REPEATS = 3
_STARTS = 2  # after one to warm up

pytestmark = [
    pytest.mark.bench,
    pytest.mark.skipif(sys.platform != "linux", reason="the benchmark reads /proc"),
    pytest.mark.timeout(240),
]


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with open_stage() as stage:
        yield stage


@pytest.fixture(scope="module")
def pair(stage: Stage) -> Iterator[Pair]:
    with run_skales(stage.new_home("guard")) as skales, run_proxy(stage) as proxy:
        yield Pair(stage, skales, proxy)


def ratio_of(row: Row) -> float:
    assert row.best_ratio is not None
    print(f"{row.name}: {row.best_ratio:.2f}")  # noqa: T201 - shown where a bound is passed
    return row.best_ratio


def test_a_start_loads_few_modules(stage: Stage) -> None:
    asked, answered, served = measure_modules(stage)
    assert ratio_of(asked) <= 4
    assert ratio_of(answered) <= 3
    assert ratio_of(served) <= 1.9


def test_commands_take_little(stage: Stage) -> None:
    asked, answered = measure_command_cpu(stage, _STARTS)
    assert ratio_of(asked) <= 9
    assert ratio_of(answered) <= 5.5


def test_a_server_takes_little_to_start_and_answer(stage: Stage) -> None:
    (row,) = measure_start_cpu(stage, _STARTS)
    assert ratio_of(row) <= 2.8


def test_an_idle_server_is_small(stage: Stage) -> None:
    (row,) = measure_idle_memory(stage, settle_s=1)
    assert ratio_of(row) <= 2.2


def test_a_turn_takes_little_in_a_new_chat_and_on_a_page(pair: Pair) -> None:
    assert ratio_of(asyncio.run(measure_turn_cpu(pair, _REPEATS, turns=10))) <= 2.5
    assert ratio_of(asyncio.run(measure_page_cpu(pair, _REPEATS, turns=10))) <= 3


def test_a_tool_step_takes_little(pair: Pair) -> None:
    assert ratio_of(asyncio.run(measure_step_cpu(pair, _REPEATS, turns=2))) <= 10


def test_a_new_page_takes_little(pair: Pair) -> None:
    assert ratio_of(asyncio.run(measure_new_page_cpu(pair, _REPEATS, turns=10))) <= 5


def test_many_at_once_cost_no_more_each(pair: Pair) -> None:
    assert ratio_of(asyncio.run(measure_crowd_cpu(pair, _REPEATS, chats=16))) <= 3


def test_a_turn_asks_once_with_a_small_request(pair: Pair) -> None:
    rows = {row.name: row for row in asyncio.run(measure_overhead(pair, repeats=1))}
    assert rows["model calls of a turn"].value == 1
    assert rows["first request"].value <= 20
