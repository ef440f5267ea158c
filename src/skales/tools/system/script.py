"""The tool `run_script`: runs a Python or shell script that is given as text. The script lies outside the workspace."""

import os
import shutil
import sys
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from skales.core.errors import InputError, ToolError
from skales.core.tool import Effect, Safety, ToolResult
from skales.tools.context import ToolContext
from skales.tools.define import Range, ShellCommand, tool
from skales.tools.system.confined import run_confined
from skales.tools.system.outcome import render_ended


@tool(
    "system",
    Safety.CONFIRM,
    Effect.READS_PRIVATE,
    Effect.WRITES,
    Effect.DESTRUCTIVE,
    Effect.OUTBOUND,
    action="Run a script[ in Python: {python}][ for the shell: {shell}][; network open: {network}]",
    example=("What is 2 to the power of 200?", {"python": "print(2**200)"}),
    found_by=(
        "Python Skript script calculate berechnen code ausführen rechnen snippet programm Python-Programm "
        "quick rename rechne Durchschnitt average sum count zählen auswerten compute batch stapel hundreds"
    ),
)
async def run_script(  # noqa: PLR0913 - what a call may say
    ctx: ToolContext,
    python: str | None = None,
    shell: ShellCommand | None = None,
    arguments: list[str] | None = None,
    cwd: Path | None = None,
    timeout_s: Annotated[int, Range(1, 3600)] = 120,
    network: bool = False,
) -> ToolResult:
    """Run a script of several lines, for calculations and for work on many files; give either python or shell.

    Args:
        python: The text of a Python script.
        shell: The text of a shell script, for bash on Linux and macOS, for PowerShell on Windows.
        arguments: What the script gets as its arguments.
        cwd: Folder to run it in; the workspace when left out.
        timeout_s: Seconds after which it is ended, with everything it started.
        network: True when it needs the network.
    """
    if (not python) == (not shell):
        raise InputError("Give the script as either python or shell", hint="One of them, not both")
    limit_s = min(float(timeout_s), ctx.command_timeout_s)
    program = _python() if python else _shell()
    started_s = ctx.clock.monotonic_s()
    with _file_with(python or shell or "", ".py" if python else ".ps1" if os.name == "nt" else ".sh") as file:
        ended = await run_confined(
            ctx,
            [*program, str(file), *(arguments or ())],
            cwd or ctx.paths.workspace,
            limit_s=limit_s,
            network=network,
            reads=(file.parent,),
        )
    return render_ended(ctx, ended, limit_s, ctx.clock.monotonic_s() - started_s)


def _python() -> Sequence[str]:
    """The interpreter Skales runs on, without the folder of the script on its path."""
    if not getattr(sys, "frozen", False):
        return [sys.executable, "-P", "-X", "utf8"]
    found = shutil.which("python3") or shutil.which("python")
    if found is None:
        raise ToolError("Python is not installed", hint="Give the script as shell")
    return [found, "-X", "utf8"]


def _shell() -> Sequence[str]:
    if os.name != "nt":
        return [shutil.which("bash") or "/bin/sh"]
    found = shutil.which("pwsh") or shutil.which("powershell")
    if found is None:
        raise ToolError("PowerShell is not installed", hint="Give the script as python")
    return [found, "-NoLogo", "-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass", "-File"]


@contextmanager
def _file_with(text: str, suffix: str) -> Generator[Path, None, None]:
    """The text in a file that only this account may read, in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="skales-script-") as folder:
        file = Path(folder).resolve() / f"script{suffix}"
        try:
            file.write_text(text, encoding="utf-8-sig" if suffix == ".ps1" else "utf-8", newline="\n")
        except UnicodeEncodeError as error:
            raise InputError("The script contains a character that cannot be written") from error
        yield file
