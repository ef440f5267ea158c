"""`python -m bench`: run the rows, print the table, write the JSON. See README.md."""

import argparse
import asyncio
import json
import os
import platform
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import strftime

from bench.launch import (
    measure_first_paint,
    measure_help,
    measure_idle_memory,
    measure_one_shot,
    measure_server_start,
)
from bench.machine import idle_cores_taken, watched
from bench.painted import measure_long_paint
from bench.programs import Stage, open_stage, run_proxy, run_skales
from bench.stored import Growth, measure_gate, measure_growth, measure_long_page, render_growth
from bench.table import Row, render_table
from bench.turns import Pair, measure_chunk_cpu, measure_concurrent, measure_overhead, measure_tool_step

_RESULTS = Path(__file__).parent / "out"


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is done of everything."""

    starts: int
    turns: int
    crowds: Mapping[int, int]  # turns for each number of chats at once
    settle_s: float
    calls: int
    sizes: Sequence[int]


_FULL = Effort(5, 40, {16: 160, 64: 192}, 30, 1000, (100, 1_000, 10_000, 100_000))
_QUICK = Effort(2, 12, {16: 32}, 3, 300, (100, 1_000))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for; 1 when a target is missed and `--strict` was given."""
    chosen = _parse(arguments)
    effort = _QUICK if chosen.quick else _FULL
    rows: list[Row] = []
    growth: list[Growth] = []
    taken = idle_cores_taken()
    with open_stage() as stage, watched() as load:
        for name, measure in _PARTS.items():
            if not chosen.only or name in chosen.only:
                print(f"measuring: {name}", file=sys.stderr)
                rows += measure(stage, effort)
        if not chosen.only or "growth" in chosen.only:
            print("measuring: growth", file=sys.stderr)
            found, growth = measure_growth(stage, effort.sizes, effort.sizes[-2:])
            rows += found
    machine = {
        "cores": os.cpu_count(),
        "coresTakenByOthersBefore": round(taken, 2),
        "coresBusyMeanwhile": round(load.cores, 2),
        "python": platform.python_version(),
        "system": platform.platform(),
        "when": strftime("%Y-%m-%dT%H:%M:%S"),
    }
    print(render_table(rows), "", render_growth(growth), sep="\n")
    print(
        f"\n{machine['cores']} cores; others took {machine['coresTakenByOthersBefore']} of them before the run; "
        f"{machine['coresBusyMeanwhile']} were busy during it, this benchmark included."
    )
    _write(chosen.json, machine, rows, growth)
    return int(chosen.strict and any(row.verdict == "MISSED" for row in rows))


def _launch_rows(stage: Stage, effort: Effort) -> Iterator[Row]:
    yield measure_help(stage, effort.starts)
    yield from measure_one_shot(stage, effort.starts)
    yield from measure_server_start(stage, effort.starts)
    yield measure_first_paint(stage, effort.starts)


def _memory_rows(stage: Stage, effort: Effort) -> Iterator[Row]:
    yield measure_idle_memory(stage, effort.settle_s)


def _turn_rows(stage: Stage, effort: Effort) -> Iterator[Row]:
    with run_skales(stage.new_home("turns")) as skales, run_proxy(stage) as proxy:
        pair = Pair(stage, skales, proxy)
        yield from asyncio.run(measure_overhead(pair, effort.turns))
        yield asyncio.run(measure_tool_step(pair, max(effort.turns // 8, 2)))
        yield from asyncio.run(measure_chunk_cpu(pair, max(effort.turns // 12, 2)))


def _painted_rows(stage: Stage, effort: Effort) -> Iterator[Row]:
    yield from measure_long_paint(stage, 5_000, effort.starts)


def _crowd_rows(stage: Stage, effort: Effort) -> Iterator[Row]:
    with run_skales(stage.new_home("crowd")) as skales, run_proxy(stage) as proxy:
        pair = Pair(stage, skales, proxy)
        for chats, turns in effort.crowds.items():
            yield from asyncio.run(measure_concurrent(pair, chats, turns))


def _store_rows(stage: Stage, effort: Effort) -> Iterator[Row]:
    yield measure_gate(stage, effort.calls)
    yield from measure_long_page(stage, 5_000, 5)


_PARTS: Mapping[str, Callable[[Stage, Effort], Iterator[Row]]] = {
    "launch": _launch_rows,
    "memory": _memory_rows,
    "turns": _turn_rows,
    "crowd": _crowd_rows,
    "stores": _store_rows,
    "painted": _painted_rows,
}


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/run", description="Measure Skales beside a bare limit of the same run."
    )
    parser.add_argument(
        "--quick", action="store_true", help="fewer repeats, up to 1,000 conversations; under 2 minutes"
    )
    parser.add_argument("--only", nargs="+", choices=[*_PARTS, "growth"], help="only these parts")
    parser.add_argument("--json", type=Path, default=_RESULTS / "latest.json", help="where to write the samples")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when a target is missed")
    return parser.parse_args(arguments)


def _write(path: Path, machine: Mapping[str, object], rows: Sequence[Row], growth: Sequence[Growth]) -> None:
    lines = [{**asdict(line), "slope": line.slope, "perThousand": line.per_thousand} for line in growth]
    path.parent.mkdir(parents=True, exist_ok=True)
    found = {"machine": machine, "rows": [row.as_json() for row in rows], "growth": lines}
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
