"""What came of a command, in words for the model and for people."""

import re

from skales.core.tool import ToolResult
from skales.tools.context import ToolContext
from skales.tools.describe import render_size, visible
from skales.tools.programs import Background
from skales.tools.system.output import cut_to_lines, render_output
from skales.tools.system.running import Ended

# What programs say when they do not get out.
_NO_NETWORK = re.compile(
    r"could ?n.t resolve|could not resolve|temporary failure in name resolution|name or service not known"
    r"|network is unreachable|no route to host|ENOTFOUND|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|ECONNREFUSED|getaddrinfo"
    r"|connection refused|unable to resolve|failed to establish a new connection|unable to access|dial tcp"
    r"|could not connect|cannot assign requested address|nodename nor servname|bad address|socket\.gaierror",
    re.IGNORECASE,
)


def render_ended(ctx: ToolContext, ended: Ended, limit_s: float, took_s: float) -> ToolResult:
    """The result of a command that ran to its end, or was ended."""
    output = _shown_output(ended)
    outcome = _outcome(ended, limit_s, took_s)
    lines = [f"{outcome}.", output or "(no output)"]
    if ended.has_heirs and not ended.timed_out:
        lines.append("Something it started is still running; its further output is not seen.")
    is_error = ended.timed_out or bool(ended.excess) or ended.exit_code != 0
    if is_error and not ended.network and _NO_NETWORK.search(output):
        lines.append(_network_hint(ctx))
    last = next((line.strip() for line in reversed(output.splitlines()) if line.strip()), "")
    return ToolResult(
        text="\n".join(lines),
        summary=f"{outcome}: {last}" if is_error and last else outcome,
        is_error=is_error,
        data={
            "exit_code": None if ended.timed_out or ended.excess else ended.exit_code,
            "timed_out": ended.timed_out,
            "sandbox": ended.sandbox,
            "network": ended.network,
        },
    )


def render_started(program: Background) -> ToolResult:
    """The result of a command that was left running."""
    command = visible(program.command)
    short = command if len(command) <= 120 else f"{command[:119]}…"
    return ToolResult(
        text=f"Started in the background as {program.id} (process {program.pid}); its output goes to {program.output}. "
        "It ends with kill_process, or when Skales ends.",
        summary=f"Started in the background: {short}",
        data={"id": program.id, "pid": program.pid, "output": str(program.output)},
        files=(str(program.output),),
    )


def _outcome(ended: Ended, limit_s: float, took_s: float) -> str:
    if ended.timed_out:
        return f"Ended after {limit_s:g} s without being finished"
    if ended.excess:
        return f"Ended because it used {ended.excess}"
    if ended.exit_code < 0:
        return f"Ended by signal {-ended.exit_code} after {took_s:.1f} s"
    return f"Exit code {ended.exit_code} after {took_s:.1f} s"


def _network_hint(ctx: ToolContext) -> str:
    if ctx.sandbox.allows_network:
        return "The network is closed to commands that do not ask for it; if it needs it, call again with network true."
    return "The network is closed to commands by the setting sandboxNetwork."


def _shown_output(ended: Ended) -> str:
    if not ended.left_out_bytes:
        return render_output(ended.head + ended.tail)
    head, tail = cut_to_lines(ended.head, ended.tail)
    note = f"[about {render_size(ended.left_out_bytes)} of output left out here]"
    return "\n".join((render_output(head), note, render_output(tail)))
