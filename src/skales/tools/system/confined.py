"""Runs a program for a tool: in the sandbox, in bounds, with a clean environment. The one door to start programs."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from anyio import to_thread
from msgspec import Struct, structs

from skales.core.errors import ToolError, ToolRefusedError
from skales.security.sandbox import enclose
from skales.tools.context import ToolContext
from skales.tools.programs import Launch
from skales.tools.system.bounds import limit_words, usual_bounds
from skales.tools.system.running import Ended, run_program
from skales.tools.system.sandbox import Sandbox, SandboxKind, find_sandbox, look_around
from skales.tools.system.scope import scope_words
from skales.tools.system.shell import safe_environment

_NOT_FOUND = "execvp "


class Needs(Struct, frozen=True, kw_only=True):
    """What a program needs besides the workspace and the allowed folders: checked places, and the network."""

    network: bool = False
    reads: tuple[Path, ...] = ()
    writes: tuple[Path, ...] = ()


async def run_confined(  # noqa: PLR0913 - one call form for every tool that starts a program
    ctx: ToolContext,
    words: Sequence[str],
    folder: Path,
    *,
    limit_s: float,
    network: bool = False,
    environment: Mapping[str, str] | None = None,
    reads: tuple[Path, ...] = (),
    writes: tuple[Path, ...] = (),
) -> Ended:
    """Run a program to its end, or end it with all it started when the time is up or the caller is cancelled.

    What it leaves running ends with it. Where there is no sandbox it runs without one, unless the settings demand it.

    Args:
        ctx: Whose call it is; its rules hold for the program.
        words: The program with its arguments; no shell reads them.
        folder: Where it runs; a checked path.
        limit_s: Seconds it may take; never more than the context allows for a command.
        network: Whether what it does needs the network; the settings may still close it.
        environment: What it is told beyond the clean environment.
        reads: Files and folders that it reads besides the workspace and the allowed folders.
        writes: Files and folders that it changes besides these.

    Raises:
        InputError: The words cannot be passed to a program.
        ToolRefusedError: The settings demand a sandbox and this computer has none.
        ToolError: The program cannot be started.
    """
    needs = Needs(network=network, reads=reads, writes=writes)
    launch = await prepare_launch(ctx, words, folder, needs, environment or {})
    ended = await run_program(launch, min(limit_s, ctx.command_timeout_s))
    if launch.kind == SandboxKind.BUBBLEWRAP and ended.exit_code == 1 and ended.head.startswith(b"bwrap: "):
        raise _failed_start(ended, words)
    return ended


async def prepare_launch(
    ctx: ToolContext, words: Sequence[str], folder: Path, needs: Needs, environment: Mapping[str, str]
) -> Launch:
    """The program as it is started: with the sandbox and the limits before its words. Raises as `run_confined`."""
    sandbox = await to_thread.run_sync(_choose, ctx) if ctx.sandbox.is_wanted else Sandbox(SandboxKind.NONE)
    told = {**safe_environment(os.environ), **ctx.scope.environment, **environment}
    bounds = usual_bounds()
    plain = Launch(words, folder, told, bounds=bounds)
    if not sandbox.confines:
        limits = limit_words(bounds, counts_own=False)
        return structs.replace(plain, words=[*limits, *words], kind=sandbox.kind.value)
    network = needs.network and ctx.sandbox.allows_network
    before = await to_thread.run_sync(_words_before, ctx, sandbox, folder, structs.replace(needs, network=network))
    is_own = sandbox.kind is SandboxKind.BUBBLEWRAP
    scope = scope_words() if is_own and network else ()
    return structs.replace(
        plain,
        words=[*before, *scope, *limit_words(bounds, counts_own=is_own), *words],
        environment=_inside(told) if is_own else told,
        kind=sandbox.kind.value,
        network=network,
        dies_together=is_own,
    )


def _choose(ctx: ToolContext) -> Sandbox:
    sandbox = find_sandbox()
    if ctx.sandbox.is_required and not sandbox.confines:
        raise ToolRefusedError(
            "The settings demand a sandbox for commands, and this computer has none",
            hint=sandbox.missing or "The setting sandbox can allow commands without one",
            code="no_sandbox",
        )
    return sandbox


def _words_before(ctx: ToolContext, sandbox: Sandbox, folder: Path, needs: Needs) -> Sequence[str]:
    around = look_around(ctx.data.root, programs=needs.reads, writes=needs.writes)
    enclosure = enclose(ctx.paths, around, network=needs.network)
    return sandbox.words(enclosure, folder)


def _inside(environment: Mapping[str, str]) -> Mapping[str, str]:
    """Folders that are others in the sandbox, and sockets that are not there."""
    dropped = {"TMPDIR", "TEMP", "TMP", "XDG_RUNTIME_DIR", "SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS"}
    return {**{name: value for name, value in environment.items() if name not in dropped}, "TMPDIR": "/tmp"}  # noqa: S108 - the sandbox's own


def _failed_start(ended: Ended, words: Sequence[str]) -> ToolError:
    said = ended.head.decode("utf-8", "replace").strip().partition(": ")[2]
    if said.startswith(_NOT_FOUND):
        return ToolError(f"The program {words[0]!r} is not installed, or the sandbox does not show it")
    return ToolError(f"The sandbox cannot be set up: {said[:300]}", code="sandbox_failed")
