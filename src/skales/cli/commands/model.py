"""`skales model`: show the active provider and model, or switch."""

import argparse
import asyncio
import json

from skales.cli.backend import open_backend
from skales.cli.terminal import row, success, title
from skales.core.errors import InputError


def run(arguments: argparse.Namespace) -> int:
    """Show with no argument, switch with two."""
    if arguments.provider and not arguments.model:
        raise InputError("Both provider and model are required", hint="Write skales model openai gpt-5.5")
    return asyncio.run(_run(arguments.provider, arguments.model, as_json="json" in arguments))


async def _run(provider: str | None, model: str | None, *, as_json: bool) -> int:
    async with open_backend() as backend:
        if provider and model:
            await backend.switch_model(provider, model)
        report = await backend.report("model")
    if as_json:
        print(json.dumps(report, ensure_ascii=False))
    elif provider:
        success(f"New conversations use {report['provider']} / {report['model']}")
    else:
        title("Model")
        for key, value in report.items():
            row(key, value)
        print()
    return 0
