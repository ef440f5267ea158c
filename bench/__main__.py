"""`python -m bench`: run the rows, print the table, write the JSON. See README.md."""

import argparse
import json
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from time import strftime

from bench.growth import Growth, render_growth
from bench.loaded import measure_memory_growth
from bench.machine import Load, idle_cores_taken, watched
from bench.parts import FULL, PARTS, QUICK, measure_part
from bench.peers.known import PEERS
from bench.peers.rows import choose_peers, measure_peers
from bench.programs import open_stage
from bench.stored import measure_growth
from bench.table import Row, render_table

_RESULTS = Path(__file__).parent / "out"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for; 1 when a target is missed and `--strict` was given."""
    chosen = _parse(arguments)
    effort = QUICK if chosen.quick else FULL
    parts = [name for name in PARTS if not chosen.only or name in chosen.only]
    rows: list[Row] = []
    growth: list[Growth] = []
    taken = idle_cores_taken()
    with open_stage() as stage, watched() as load:
        for name in parts:
            print(f"measuring: {name}", file=sys.stderr)
            rows += measure_part(name, stage, effort)
        if chosen.peers is not None:
            rows += measure_peers(stage, effort, choose_peers(chosen.peers), parts)
        if not chosen.only or "growth" in chosen.only:
            print("measuring: growth", file=sys.stderr)
            found, growth = measure_growth(stage, effort.sizes, effort.sizes[-2:])
            rows += found
            growth += measure_memory_growth(stage, effort.sizes[:3])
    machine = _describe_machine(taken, load)
    print(render_table(rows), "", render_growth(growth), sep="\n")
    print(
        f"\n{machine['cores']} cores; others took {machine['coresTakenByOthersBefore']} of them before the run; "
        f"{machine['coresBusyMeanwhile']} were busy during it, this benchmark included."
    )
    _write(chosen.json, machine, rows, growth)
    return int(chosen.strict and any(row.verdict == "MISSED" for row in rows))


def _describe_machine(taken: float, load: Load) -> Mapping[str, object]:
    return {
        "cores": os.cpu_count(),
        "coresTakenByOthersBefore": round(taken, 2),
        "coresBusyMeanwhile": round(load.cores, 2),
        "python": platform.python_version(),
        "system": platform.platform(),
        "when": strftime("%Y-%m-%dT%H:%M:%S"),
    }


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/run", description="Measure Skales beside a bare limit of the same run."
    )
    parser.add_argument(
        "--quick", action="store_true", help="fewer repeats, up to 1,000 conversations; under 2 minutes"
    )
    parser.add_argument("--only", nargs="+", choices=[*PARTS, "growth"], help="only these parts")
    parser.add_argument(
        "--peers",
        nargs="*",
        choices=[peer.name for peer in PEERS],
        help="other agents, too, installed once under bench/out/peers; without names all but the large ones",
    )
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
