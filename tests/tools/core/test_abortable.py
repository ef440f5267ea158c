import ftplib
import socket
import ssl
import threading

import anyio
import pytest

from skales.core.errors import ToolError
from skales.tools.remote.abortable import Pace, remote_failure, run_abortable

pytestmark = pytest.mark.anyio


async def test_work_that_takes_too_long_is_aborted() -> None:
    released = threading.Event()
    with pytest.raises(TimeoutError):
        await run_abortable(lambda: released.wait(30), released.set, 0.05)
    assert released.is_set()


async def test_work_that_is_cancelled_is_aborted_and_awaited() -> None:
    released, started, ended = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        started.set()
        released.wait(30)
        ended.set()
        raise ConnectionAbortedError

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run_abortable, work, released.set, 30.0)
        await anyio.to_thread.run_sync(started.wait, 5)
        tasks.cancel_scope.cancel()
    assert ended.is_set()


async def test_what_fails_raises_its_own_error() -> None:
    def work() -> None:
        raise ftplib.error_perm("550 no")

    with pytest.raises(ftplib.error_perm, match="550 no"):
        await run_abortable(work, lambda: None, 5)


async def test_a_pace_below_the_least_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    moment = 0.0
    monkeypatch.setattr(anyio, "current_time", lambda: moment)
    pace = Pace("host")
    pace.add(1)
    moment = 59.0
    pace.add(1)
    moment = 61.0
    with pytest.raises(ToolError, match="host is too slow: 3 bytes in 61 s"):
        pace.add(1)
    pace.add(1_000_000)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ftplib.error_perm("530 no"), "auth"),
        (ftplib.error_perm("550 no\x1b[2J such"), "not_found"),
        (ftplib.error_temp("421 full"), "server"),
        (TimeoutError(), "timeout"),
        (ssl.SSLError("x"), "tls"),
        (EOFError(), "closed"),
        (BrokenPipeError(), "closed"),
        (socket.gaierror(), "unreachable"),
        (ValueError("x"), "tool_failed"),
    ],
)
def test_errors_are_told_apart(error: Exception, code: str) -> None:
    told = remote_failure("host", error)
    assert told.code == code
    assert "host" in told.message
    assert "\x1b" not in told.message
