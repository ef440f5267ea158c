"""Rows about a person who has much: every add-on on, many memories."""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

from bench.growth import Growth
from bench.machine import pss_mib
from bench.programs import Stage, run_proxy, run_skales
from bench.stored import each_ms
from bench.table import Row
from bench.turns import Pair, measure_overhead
from skales.app.life import open_app
from skales.core.json import JsonObject
from skales.data.paths import DataDirectory
from skales.tools.addons import load_addons

_TURNS = 7
_SEARCHES = 5
_FIRST_MS = 1_700_000_000_000
_SUBJECTS = ("tea", "trains", "maps", "bread", "chess", "birds", "ink", "stamps", "boats", "clocks")


def measure_full_request(stage: Stage) -> Iterator[Row]:
    """The first request, and turns, with every add-on switched off and on. How many tools a model reaches is named."""
    for is_on, word in ((False, "off"), (True, "on")):
        home = _new_home(stage, is_on)
        reachable = _count_tools(home)
        found = _measure_turns(stage, home)
        request, overhead = found["first request"], found["turn overhead, new chat"]
        offered = found["tools in it"].value
        yield replace(request, name=f"first request, all add-ons {word}")
        yield replace(found["their schemas, about"], name=f"its {offered:.0f} tools of {reachable}, about")
        yield replace(overhead, name=f"turn overhead, all add-ons {word}")


def measure_memory_growth(stage: Stage, sizes: Sequence[int]) -> Sequence[Growth]:
    """Turns, a start, memory and a search in one data directory whose memories grow."""
    home = stage.new_home("memories")
    (home / "memories").mkdir()
    growth: dict[str, Growth] = {}
    written = 0
    for size in sizes:
        for number in range(written, size):
            _write_memory(home, number)
        written = size
        for name, (value, unit) in _measure_memories(stage, home).items():
            growth.setdefault(name, Growth(name, unit, "memories")).values[size] = value
    return list(growth.values())


def _measure_memories(stage: Stage, home: Path) -> Mapping[str, tuple[float, str]]:
    with run_skales(home) as skales, run_proxy(stage) as proxy:
        rows = {row.name: row for row in asyncio.run(measure_overhead(Pair(stage, skales, proxy), _TURNS))}
        ready_ms, size_mib = skales.ready_ms, pss_mib(skales.pid)
    first_ms, search_ms = asyncio.run(_search_ms(home))
    return {
        "server ready": (ready_ms, "ms"),
        "turn overhead, new chat": (rows["turn overhead, new chat"].value, "ms"),
        "turn overhead, same chat": (rows["turn overhead, same chat"].value, "ms"),
        "first request": (rows["first request"].value, "KB"),
        "first memory_search": (first_ms, "ms"),
        "memory_search": (search_ms, "ms"),
        "PSS after turns": (size_mib, "MiB"),
    }


async def _search_ms(home: Path) -> tuple[float, float]:
    """The first search, which reads every file, and later ones."""
    async with open_app(DataDirectory(home)) as app:
        arguments: JsonObject = {"query": "what do I think of chess in 42"}
        first_ms, *later_ms = [
            await each_ms(1, lambda: app.run_tool("memory_search", arguments)) for _ in range(_SEARCHES)
        ]
    return first_ms, median(later_ms)


def _measure_turns(stage: Stage, home: Path) -> Mapping[str, Row]:
    with run_skales(home) as skales, run_proxy(stage) as proxy:
        return {row.name: row for row in asyncio.run(measure_overhead(Pair(stage, skales, proxy), _TURNS))}


def _new_home(stage: Stage, is_on: bool) -> Path:
    """A data directory with every switch set."""
    home = stage.new_home("add-ons")
    path = home / "settings.json"
    settings = json.loads(path.read_text(encoding="utf-8"))
    settings["addons"] = {addon.id: is_on for addon in load_addons().values() if addon.has_switch}
    path.write_text(json.dumps(settings), encoding="utf-8")
    return home


def _count_tools(home: Path) -> int:
    async def count() -> int:
        async with open_app(DataDirectory(home)) as app:
            return sum(app.toolbox.is_enabled(spec.name) for spec in app.toolbox.specs())

    return asyncio.run(count())


def _write_memory(home: Path, number: int) -> None:
    subject = _SUBJECTS[number % len(_SUBJECTS)]
    raw = {
        "id": f"mem_{number:06}",
        "category": "preference",
        "content": f"In {number} they said that {subject} matter to them, and why: reason {number * 7 % 1000}",
        "extracted_at": _FIRST_MS + number,
        "source_conversation_id": f"session_{_FIRST_MS + number}",
        "relevance_keywords": [subject, f"reason{number % 100}"],
    }
    (home / "memories" / f"mem_{number:06}.json").write_text(json.dumps(raw), encoding="utf-8")
