"""`skales status`: what runs, with which model, and how much it holds."""

import argparse
import asyncio
import json

from skales.cli.backend import open_backend
from skales.cli.terminal import format_duration, row, title
from skales.core.json import as_int
from skales.data.paths import locate_data_directory


def run(arguments: argparse.Namespace) -> int:
    """Print the status of the server, or of the data when none runs."""
    return asyncio.run(_run(as_json="json" in arguments))


async def _run(*, as_json: bool) -> int:
    async with open_backend() as backend:
        report = {**await backend.report("status"), "server_running": backend.is_remote}
    if as_json:
        print(json.dumps(report, ensure_ascii=False))
        return 0
    title("Skales")
    row(
        "server",
        f"running for {format_duration(as_int(report['uptime_ms']))}" if report["server_running"] else "not running",
    )
    row("provider", report["provider"])
    row("model", report["model"])
    row("sessions", report["session_count"])
    row("memories", report["memory_count"])
    row("tools", report["tools_count"])
    row("data", locate_data_directory().root)
    row("version", report["implementation"])
    print()
    return 0
