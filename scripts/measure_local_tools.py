"""Prints how well a local model calls tools, as a table of requests, and how fast it is.

    python scripts/measure_local_tools.py [--group dev|held_out] [--model ID] [--data FOLDER]

Fetches the starter model when it is missing. The figure for `held_out` belongs into localmodels/catalog.toml; never
tune the protocol to that group.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path

import anyio
import psutil

sys.path.insert(0, str(Path(__file__).parent.parent))

from skales.core.clock import SystemClock
from skales.core.message import Role, text_message
from skales.core.ports import ChatRequest, Provider, TextPiece, UsageCounted
from skales.data.paths import DataDirectory, locate_data_directory
from skales.data.quarantine import Quarantine
from skales.localmodels.local_models import LocalModels
from skales.providers.clients import SharedClients
from skales.providers.constrained import ConstrainedProvider
from tests.live.starter import build_inner, offered_tools
from tests.live.tool_measure import Outcome, ask, load_plain, load_requests, measure

_SPEED_QUESTION = "Explain in a few sentences how bread is made."


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--group", choices=["dev", "held_out"], default="held_out")
    parser.add_argument("--model", default="")
    parser.add_argument("--data", type=Path, default=None)
    options = parser.parse_args()
    directory = DataDirectory(options.data.absolute()) if options.data else locate_data_directory()
    anyio.run(_run, directory, options.group, options.model)


async def _run(directory: DataDirectory, group: str, model: str) -> None:
    directory.create()
    clock = SystemClock()
    models = LocalModels(directory, Quarantine(directory.quarantine, clock), clock)
    clients = SharedClients()
    await models.fetch(lambda progress: _say(f"{progress.label}: {progress.done / 1e6:.0f} MB", end="\r"))
    try:
        started_s = time.monotonic()
        address = await models.ensure_running(lambda _: None, model)
        loading_s = time.monotonic() - started_s
        inner = build_inner(address, clients)
        tiny = any(found.is_tiny for found in models.installed_models() if found.id == address.model)
        provider = ConstrainedProvider(inner, tiny=tiny)
        outcomes = await measure(provider, address.model, offered_tools(), load_requests(group))
        _print_table(outcomes)
        await _print_plain(provider, address.model, load_plain(group))
        await _print_speed(inner, address.model, loading_s)
    finally:
        await models.stop()
        await clients.aclose()


def _print_table(outcomes: Sequence[Outcome]) -> None:
    _say("| request | call | tool | all |\n| --- | --- | --- | --- |")
    for outcome in outcomes:
        called = f"{outcome.call.name} {dict(outcome.call.arguments)}" if outcome.call else "no call"
        marks = ["yes" if right else "no" for right in (outcome.tool_right, outcome.all_right)]
        _say(f"| {outcome.expected.request} | {called} | {marks[0]} | {marks[1]} |")
    right_tools = sum(outcome.tool_right for outcome in outcomes)
    all_right = sum(outcome.all_right for outcome in outcomes)
    _say(f"\nRight tool: {right_tools} of {len(outcomes)}. Right tool and arguments: {all_right} of {len(outcomes)}.")


async def _print_plain(provider: Provider, model: str, messages: Sequence[str]) -> None:
    called = [message for message in messages if (await ask(provider, model, offered_tools(), message))[0]]
    _say(f"Calls where none was needed: {len(called)} of {len(messages)}. {'; '.join(called)}")


async def _print_speed(inner: Provider, model: str, loading_s: float) -> None:
    messages = (text_message(Role.SYSTEM, "You are a helpful assistant."), text_message(Role.USER, _SPEED_QUESTION))
    request = ChatRequest(model=model, messages=messages, max_output_tokens=200)
    first_s = last_s = 0.0
    tokens = 0
    async with aclosing(inner.stream(request)) as events:
        async for event in events:
            match event:
                case TextPiece():
                    last_s = time.monotonic()
                    first_s = first_s or last_s
                case UsageCounted(usage):
                    tokens = usage.output_tokens
                case _:
                    pass
    speed = tokens / (last_s - first_s) if last_s > first_s else 0.0
    _say(f"Loading {loading_s:.1f} s, {speed:.0f} tokens a second, {_memory_mb():.0f} MB.")


def _memory_mb() -> float:
    """Resident memory of our child processes."""
    return sum(child.memory_info().rss for child in psutil.Process().children(recursive=True)) / 1e6


def _say(text: str, end: str = "\n") -> None:
    sys.stdout.write(text + end)
    sys.stdout.flush()


if __name__ == "__main__":
    main()
