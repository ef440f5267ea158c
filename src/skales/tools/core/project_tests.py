"""The tool `test_run`: runs a project's tests and says plainly whether they passed. A failed run never reads as passed.

Which command that is, `project_kinds` finds out. What counts is the exit code, and what test runners print when a
command in a chain hides it.
"""

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from anyio import to_thread

from skales.core.errors import ToolError
from skales.core.events import Progress
from skales.core.tool import Effect, Safety, ToolResult
from skales.tools.context import ToolContext
from skales.tools.core.project_kinds import TestCommand, find_test_commands
from skales.tools.define import Range, ShellCommand, tool
from skales.tools.file.wording import shown_path
from skales.tools.system.confined import run_confined
from skales.tools.system.output import cut_to_lines, render_output
from skales.tools.system.running import Ended
from skales.tools.system.shell import shell_words

_LAST_LINES = 60
_LINE_CHARACTERS = 400
# A run that says so at the end of its output has failed, whatever its exit code: pytest, unittest, jest and vitest,
# mocha, cargo, go, TAP, maven.
_SAYS_FAILED = re.compile(
    r"^=+ .*\b[1-9]\d* (?:failed|errors?)\b.*=+$|^[1-9]\d* failed\b|^FAILED \((?:failures|errors)="
    r"|^\s*Tests?:?\s+.*\b[1-9]\d* failed|^\s*[1-9]\d* failing\b|^test result: FAILED|^--- FAIL:|^FAIL\t|^FAIL$"
    r"|^not ok \d|^# fail [1-9]|Tests run: \d+, (?:Failures: [1-9]|Failures: 0, Errors: [1-9])",
    re.MULTILINE,
)
_SAYS_NOTHING = re.compile(
    r"^Ran 0 tests|^=+ no tests ran|^no tests ran|^running 0 tests$|\[no test files\]|No tests? found|^# tests 0$"
    r"|No test files found",
    re.MULTILINE | re.IGNORECASE,
)
_SAYS_SOME = re.compile(r"\b[1-9]\d* (?:passed|passing|tests? ok)\b|^ok\s|^Ran [1-9]|^running [1-9]", re.MULTILINE)


@tool(
    "core",
    Safety.CONFIRM,
    Effect.READS_PRIVATE,
    Effect.WRITES,
    Effect.DESTRUCTIVE,
    Effect.OUTBOUND,
    action="Run the tests[ of {path}][ with {command}][, network access: {network}]",
    example=("Do the tests of shop pass?", {"path": "projects/shop"}),
    found_by=(
        "Tests laufen lassen unit pytest npm test prüfen ausführen suite build passes durchlaufen grün green "
        "failing fail rot broken make"
    ),
)
async def test_run(
    ctx: ToolContext,
    path: Path | None = None,  # noqa: PT028 - a tool whose name looks like that of a test
    command: ShellCommand | None = None,  # noqa: PT028 - as above
    network: bool = False,  # noqa: PT028 - as above
    timeout_s: Annotated[int, Range(1, 3600)] = 600,  # noqa: PT028 - as above
) -> ToolResult:
    """Run a project's tests and see whether they pass, with the end of their output.

    Args:
        path: The project's folder; the workspace when left out.
        command: Command line that runs the tests; found in the project when left out.
        network: The tests need the internet.
        timeout_s: Seconds after which the run is ended.
    """
    folder = path or ctx.paths.workspace
    words, shown, others = await to_thread.run_sync(_choose, folder, command)
    ctx.scope.report(Progress(f"Running {shown}", 0, 0, "steps"))
    limit_s = min(float(timeout_s), ctx.command_timeout_s)
    started_s = ctx.clock.monotonic_s()
    ended = await run_confined(
        ctx, words, folder, limit_s=limit_s, network=network, environment={"CI": "1", "FORCE_COLOR": "0"}
    )
    took_s = ctx.clock.monotonic_s() - started_s
    return _render(ended, f"`{shown}` in {shown_path(ctx, folder)}", took_s, limit_s, others)


def _choose(folder: Path, command: str | None) -> tuple[Sequence[str], str, Sequence[TestCommand]]:
    """What to run, how it is shown, and which other ways there would be."""
    if command and command.strip():
        return _shell(command), command, ()
    found = find_test_commands(folder)
    if not found:
        raise ToolError(
            f"No tests were found in {str(folder)!r}",
            hint="Say with command how they are run, or name the folder of the project",
            code="no_tests",
        )
    return found[0].words, shlex.join(found[0].words), found[1:]


def _shell(command: str) -> Sequence[str]:
    """The command for the shell; in bash a pipe fails when any of its parts does."""
    shell, *rest = shell_words(command)
    return [shell, "-o", "pipefail", *rest] if Path(shell).name == "bash" else [shell, *rest]


def _render(ended: Ended, what: str, took_s: float, limit_s: float, others: Sequence[TestCommand]) -> ToolResult:
    lines = _last_lines(ended)
    output = "\n".join(lines)
    passed, outcome = _judge(ended, output, limit_s)
    head = f"{outcome}: {what}, {took_s:.0f} s"
    shown = lines[-_LAST_LINES:]
    left = f"[the last {len(shown)} lines]\n" if len(lines) > len(shown) or ended.left_out_bytes else ""
    text = f"{head}\n{left}" + ("\n".join(line[:_LINE_CHARACTERS] for line in shown) or "(no output)")
    if others:
        text += f"\nOther ways to test here: {', '.join(shlex.join(other.words) for other in others[:4])}"
    code = None if ended.timed_out else ended.exit_code
    return ToolResult(text=text, summary=head, is_error=not passed, data={"passed": passed, "exit_code": code})


def _judge(ended: Ended, output: str, limit_s: float) -> tuple[bool, str]:
    if ended.timed_out:
        return False, f"Not finished, ended after {limit_s:g} s"
    if ended.exit_code in (126, 127):
        return False, "Could not run, a program is missing or may not be started"
    if ended.exit_code < 0:
        return False, f"Failed, ended by signal {-ended.exit_code}"
    if ended.exit_code:
        return False, f"Failed with exit code {ended.exit_code}"
    if _SAYS_FAILED.search(output):
        return False, "Failed, as the output says, although the exit code is 0"
    if _SAYS_NOTHING.search(output) and not _SAYS_SOME.search(output):
        return False, "Nothing was tested"
    return True, "Passed"


def _last_lines(ended: Ended) -> list[str]:
    raw = cut_to_lines(ended.head, ended.tail)[1] if ended.left_out_bytes else ended.head + ended.tail
    return render_output(raw).splitlines()
