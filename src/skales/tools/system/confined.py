"""Runs a program for a tool: in bounds, with a clean environment. The one door through which tools start programs."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from skales.tools.context import ToolContext
from skales.tools.system.running import Ended, Launch, run_program
from skales.tools.system.shell import safe_environment


async def run_confined(
    ctx: ToolContext,
    words: Sequence[str],
    folder: Path,
    *,
    limit_s: float,
    network: bool = False,
    environment: Mapping[str, str] | None = None,
) -> Ended:
    """Run a program to its end, or end it with all it started when the time is up or the caller is cancelled.

    Args:
        ctx: Whose call it is; its rules hold for the program.
        words: The program with its arguments; no shell reads them.
        folder: Where it runs; a checked path.
        limit_s: Seconds it may take; never more than the context allows for a command.
        network: Whether what it does needs the network.
        environment: What it is told beyond the clean environment.

    Raises:
        InputError: The words cannot be passed to a program.
        ToolError: The program cannot be started.
    """
    told = {**safe_environment(os.environ), **(environment or {})}
    return await run_program(Launch(words, folder, told), min(limit_s, ctx.command_timeout_s))
