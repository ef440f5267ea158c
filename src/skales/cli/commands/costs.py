"""`skales costs`: what models cost lately, estimated from list prices."""

import argparse
import asyncio
import json

from skales.cli.backend import open_backend
from skales.cli.terminal import paint, title
from skales.core.json import JsonObject, as_int, as_list, as_object, as_text

_NAME_WIDTH = 44


def run(arguments: argparse.Namespace) -> int:
    """Print the sums, the dearest first."""
    return asyncio.run(_run(arguments.since, arguments.by, as_json="json" in arguments))


async def _run(since: str, by: str, *, as_json: bool) -> int:
    async with open_backend() as backend:
        report = await backend.costs(since, by)
    if as_json:
        print(json.dumps(report, ensure_ascii=False))
        return 0
    total = as_object(report["total"])
    title(f"{show_cost(total)} in {_count(as_int(total['calls']), 'call')}, by {by}")
    for item in as_list(report["rows"]):
        _print_row(as_object(item))
    if as_int(total["calls"]):
        print()
    print(paint("  Estimated from list prices. Models without a known price are not in the sums.", "dim"))
    print()
    return 0


def _print_row(row: JsonObject) -> None:
    name = as_text(row.get("title")) or as_text(row["name"]) or "outside of conversations"
    print(f"  {name:<{_NAME_WIDTH}} {show_cost(row):>14}")
    facts = [
        _count(as_int(row["calls"]), "call"),
        f"{as_int(row['inputTokens']):,} tokens in ({as_int(row['cachedTokens']):,} cached)",
        f"{as_int(row['outputTokens']):,} out",
    ]
    if as_int(row["unpricedCalls"]) and row["costUsd"] is not None:
        facts.append(f"{as_int(row['unpricedCalls'])} without a known price")
    if as_int(row["estimatedCalls"]):
        facts.append(f"tokens of {as_int(row['estimatedCalls'])} estimated")
    print(paint(f"    {', '.join(facts)}", "dim"))


def show_cost(row: JsonObject) -> str:
    """`1.24 USD`, more places below a cent, `unknown` where no price is known."""
    cost = row["costUsd"]
    if not isinstance(cost, (int, float)):
        return "unknown"
    return f"{cost:.2f} USD" if cost >= 0.01 or not cost else f"{cost:.6f} USD"


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"
