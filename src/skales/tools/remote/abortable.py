"""Runs blocking network work in a thread so that it can be ended at once: by cancellation, and when it takes too long.

And the pace below which a transfer counts as stuck, so that a server that trickles holds nobody up.
"""

import ftplib
import ssl
from collections.abc import Callable
from typing import TypeVar

import anyio
import anyio.lowlevel
from anyio import to_thread

from skales.core.errors import ToolError

Result = TypeVar("Result")

_SLOW_AFTER_S = 60.0
_LEAST_BYTES_PER_S = 500


async def run_abortable(work: Callable[[], Result], abort: Callable[[], None], limit_s: float) -> Result:
    """What the work returns. `abort` must make it fail soon; nothing runs any more when this ends.

    Raises TimeoutError when the limit was reached, else what the work raises: OSError, EOFError, errors of ftplib.
    """
    done = anyio.Event()
    results: list[Result] = []
    failures: list[Exception] = []

    async def watch() -> None:
        try:
            with anyio.move_on_after(limit_s) as limit:
                await done.wait()
            if limit.cancelled_caught:
                failures.insert(0, TimeoutError())
        finally:
            if not done.is_set():
                abort()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(watch)
        try:
            results.append(await to_thread.run_sync(work))
        except (OSError, EOFError, ftplib.Error, ToolError, ValueError) as error:
            failures.append(error)
        finally:
            done.set()
    # What failed because it was aborted by a cancellation ends as one.
    await anyio.lowlevel.checkpoint_if_cancelled()
    if failures:
        raise failures[0]
    return results[0]


class Pace:
    """Watches how fast a transfer is."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._started_s = anyio.current_time()
        self._moved_bytes = 0

    def add(self, size_bytes: int) -> None:
        """Count a piece. Raises ToolError when the transfer has been too slow for a minute."""
        self._moved_bytes += size_bytes
        took_s = anyio.current_time() - self._started_s
        if took_s > _SLOW_AFTER_S and self._moved_bytes < took_s * _LEAST_BYTES_PER_S:
            raise ToolError(
                f"{self._host} is too slow: {self._moved_bytes:,} bytes in {took_s:.0f} s",
                hint="Try again later",
                code="slow",
            )


def remote_failure(host: str, error: Exception) -> ToolError:
    """An error of the network or of FTP in words that say what to do; the server's own words are a quotation."""
    match error:
        case ToolError():
            return error
        case ftplib.error_perm() if str(error)[:3] in ("530", "430", "332"):
            return ToolError(
                f"{host} did not accept the user name or the password",
                hint="Check them, and enter them again with `skales ftp add`",
                code="auth",
            )
        case ftplib.error_perm() if str(error)[:3] in ("550", "501", "553"):
            return ToolError(
                f"{host} refuses: {_quoted(error)}", hint="Look at the folder with ftp_list", code="not_found"
            )
        case ftplib.error_perm() if str(error)[:3] in ("534", "522", "521", "500", "502", "504"):
            return ToolError(f"{host} cannot do this: {_quoted(error)}", hint="Check the protocol of the profile")
        case ftplib.Error():
            return ToolError(f"{host} answers: {_quoted(error)}", hint="Try again later", code="server")
        case TimeoutError():
            return ToolError(f"{host} did not answer in time", hint="Try again later", code="timeout")
        case ssl.SSLError():
            return ToolError(
                f"No secure connection to {host} could be made",
                hint="Check the protocol and port of the profile",
                code="tls",
            )
        case EOFError() | ConnectionResetError() | BrokenPipeError() | ConnectionAbortedError():
            return ToolError(
                f"{host} closed the connection", hint="Try again; what was sent whole is kept", code="closed"
            )
        case OSError():
            return ToolError(
                f"{host} cannot be reached",
                hint="Check host and port of the profile, and whether it is up",
                code="unreachable",
            )
        case _:
            return ToolError(f"The answer of {host} cannot be read", hint="Check the protocol and port of the profile")


def _quoted(error: Exception) -> str:
    words = " ".join(str(error).split())
    return "".join(char for char in words if char.isprintable())[:200].rstrip(".")
