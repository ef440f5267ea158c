"""Catches what makes Skales several times slower. It compares ratios to a bare limit of the same run, never times.

The bounds are about twice the targets of `bench/`, so that only a real loss shows on a busy machine.
"""

import asyncio
import sys
from collections.abc import Iterator

import pytest

from bench.launch import measure_help, measure_idle_memory, measure_server_start
from bench.programs import Stage, open_stage, run_proxy, run_skales
from bench.table import Row
from bench.turns import Pair, measure_concurrent, measure_overhead

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
    assert row.ratio is not None
    return row.ratio


def test_help_stays_near_an_empty_interpreter(stage: Stage) -> None:
    assert ratio_of(measure_help(stage, repeats=3)) <= 12


def test_the_server_is_ready_and_answers_soon_after_a_bare_one(stage: Stage) -> None:
    ready, answered = measure_server_start(stage, repeats=2)
    assert ratio_of(ready) <= 3.4
    assert ratio_of(answered) <= 4


def test_an_idle_server_is_small(stage: Stage) -> None:
    assert ratio_of(measure_idle_memory(stage, settle_s=1)) <= 2.5


def test_a_turn_adds_little_and_asks_with_a_small_request(pair: Pair) -> None:
    rows = {row.name: row for row in asyncio.run(measure_overhead(pair, repeats=8))}
    assert ratio_of(rows["turn overhead, same chat"]) <= 4
    assert rows["first request"].value <= 20


def test_many_chats_at_once_share_the_machine_well(pair: Pair) -> None:
    by_api, on_pages, _ = asyncio.run(measure_concurrent(pair, chats=16, turns=16))
    assert ratio_of(by_api) >= 0.2
    assert ratio_of(on_pages) >= 0.12
