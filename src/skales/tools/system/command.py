"""The tool `execute_command`: runs a command in bounds and shows what came. Whether it may run is judged before."""

from pathlib import Path
from typing import Annotated

from skales.core.tool import Effect, Safety, ToolResult
from skales.tools.context import ToolContext
from skales.tools.define import Range, ShellCommand, tool
from skales.tools.describe import render_size
from skales.tools.system.confined import run_confined
from skales.tools.system.output import cut_to_lines, render_output
from skales.tools.system.running import Ended
from skales.tools.system.shell import shell_words


@tool(
    "system",
    Safety.CONFIRM,
    Effect.READS_PRIVATE,
    Effect.WRITES,
    Effect.DESTRUCTIVE,
    Effect.OUTBOUND,
    action="Run {command}[ in {cwd}]",
    example=("How many lines does data.csv have?", {"command": "wc -l data.csv"}),
    basic=True,
)
async def execute_command(
    ctx: ToolContext,
    command: ShellCommand,
    cwd: Path | None = None,
    timeout_s: Annotated[int, Range(1, 3600)] = 120,
) -> ToolResult:
    """Run a shell command and get its output and exit code; prefer the file tools for reading and writing files.

    The command gets no input and must not ask questions. To start something that keeps running, send it to the
    background with its output in a file: `server > server.log 2>&1 &`.

    Args:
        command: The command line, for bash on Linux and macOS, for PowerShell on Windows.
        cwd: Folder to run it in; the workspace when left out.
        timeout_s: Seconds after which it is ended, with everything it started.
    """
    folder = cwd or ctx.paths.workspace
    limit_s = min(float(timeout_s), ctx.command_timeout_s)
    started_s = ctx.clock.monotonic_s()
    ended = await run_confined(ctx, shell_words(command), folder, limit_s=limit_s, network=True)
    return _render(ended, limit_s, ctx.clock.monotonic_s() - started_s)


def _render(ended: Ended, limit_s: float, took_s: float) -> ToolResult:
    output = _shown_output(ended)
    if ended.timed_out:
        outcome = f"Ended after {limit_s:g} s without being finished"
    elif ended.exit_code < 0:
        outcome = f"Ended by signal {-ended.exit_code} after {took_s:.1f} s"
    else:
        outcome = f"Exit code {ended.exit_code} after {took_s:.1f} s"
    lines = [f"{outcome}.", output or "(no output)"]
    if ended.has_heirs and not ended.timed_out:
        lines.append("Something it started is still running; its further output is not seen.")
    is_error = ended.timed_out or ended.exit_code != 0
    last = next((line.strip() for line in reversed(output.splitlines()) if line.strip()), "")
    return ToolResult(
        text="\n".join(lines),
        summary=f"{outcome}: {last}" if is_error and last else outcome,
        is_error=is_error,
        data={"exit_code": None if ended.timed_out else ended.exit_code, "timed_out": ended.timed_out},
    )


def _shown_output(ended: Ended) -> str:
    if not ended.left_out_bytes:
        return render_output(ended.head + ended.tail)
    head, tail = cut_to_lines(ended.head, ended.tail)
    note = f"[about {render_size(ended.left_out_bytes)} of output left out here]"
    return "\n".join((render_output(head), note, render_output(tail)))
