"""The tool `execute_command`: runs a command confined and shows what came. Whether it may run is judged before."""

from pathlib import Path
from typing import Annotated

from skales.core.tool import Effect, Safety, ToolResult
from skales.tools.context import ToolContext
from skales.tools.define import Range, ShellCommand, tool
from skales.tools.system.confined import run_confined
from skales.tools.system.outcome import render_ended, render_started
from skales.tools.system.shell import shell_words
from skales.tools.system.starting import start_confined


@tool(
    "system",
    Safety.CONFIRM,
    Effect.READS_PRIVATE,
    Effect.WRITES,
    Effect.DESTRUCTIVE,
    Effect.OUTBOUND,
    action="Run {command}[ in {cwd}][; network open: {network}][; in the background: {background}]",
    example=("How many lines does data.csv have?", {"command": "wc -l data.csv"}),
    basic=True,
    found_by=(
        "Terminal Befehl shell bash Kommando run command line ausführen install starten npm pip build make "
        "start server dev docker git pull apt compile kompilieren bauen"
    ),
)
async def execute_command(  # noqa: PLR0913 - what a call may say
    ctx: ToolContext,
    command: ShellCommand,
    cwd: Path | None = None,
    timeout_s: Annotated[int, Range(1, 3600)] = 120,
    network: bool = False,
    background: bool = False,
) -> ToolResult:
    """Run a shell command and get its output and exit code; prefer the file tools for reading and writing files.

    It gets no input, sees the workspace and the allowed folders only, and everything it started ends with it.

    Args:
        command: The command line, for bash on Linux and macOS, for PowerShell on Windows.
        cwd: Folder to run it in; the workspace when left out.
        timeout_s: Seconds after which it is ended, with everything it started.
        network: True when it needs the network, as for installing, cloning and downloading.
        background: True to leave it running, such as a server; gives its id, and its output goes to a file.
    """
    folder = cwd or ctx.paths.workspace
    words = shell_words(command)
    if background:
        return render_started(await start_confined(ctx, words, folder, label=command, network=network))
    limit_s = min(float(timeout_s), ctx.command_timeout_s)
    started_s = ctx.clock.monotonic_s()
    ended = await run_confined(ctx, words, folder, limit_s=limit_s, network=network)
    return render_ended(ctx, ended, limit_s, ctx.clock.monotonic_s() - started_s)
