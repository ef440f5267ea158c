"""The life of the app: open the data directory, run, close. Raises what stands in the way of opening."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from functools import partial

import anyio
import anyio.to_thread

from skales.app.app import App
from skales.app.veiled_logs import veiled_logs
from skales.app.wiring import build_app
from skales.core.clock import SystemClock
from skales.core.ids import RandomIds
from skales.data.instance import InstanceLock
from skales.data.key_store import PATIENCE_S
from skales.data.paths import DataDirectory


@asynccontextmanager
async def open_app(directory: DataDirectory, *, exclusive: bool = True) -> AsyncGenerator[App, None]:
    """Open the data directory and run the app until the block ends; running turns are stopped, their text kept.

    Filed tasks and the schedule run only where the app has the directory to itself, not in a command of a moment.
    Raises ConfigurationError when another program holds the directory, StorageError when it cannot be used.
    """
    directory.create()
    lock = InstanceLock(directory)
    lock.acquire(exclusive=exclusive)
    app = build_app(directory, lock, SystemClock(), RandomIds())
    try:
        await anyio.to_thread.run_sync(app.attachments.sweep)
        await anyio.to_thread.run_sync(lambda: app.outbox.recover(is_alone=exclusive))
        await anyio.to_thread.run_sync(app.undo.recover)
        await anyio.to_thread.run_sync(app.capabilities.write, app.toolbox.specs(), app.toolbox.is_enabled)
        app.vault.keys.file_made = partial(_tell_of_key_file, app, asyncio.get_running_loop())
        # A key store may take its time: a command of a moment waits for it briefly, the server does not.
        await anyio.to_thread.run_sync(app.vault.settle, 0.0 if exclusive else PATIENCE_S)
        with veiled_logs(app.veil), _plain_errors():
            async with anyio.create_task_group() as tasks:
                app.turns.open(tasks)
                app.models.open(tasks)
                app.small_jobs.open(tasks)
                app.background.open(tasks)
                if exclusive:
                    app.start_automation(tasks)
                try:
                    yield app
                finally:
                    app.turns.leave()
                    tasks.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await app.close()


def _tell_of_key_file(app: App, loop: asyncio.AbstractEventLoop) -> None:
    """Called in whatever thread sealed the first secret."""
    path = app.directory.encryption_key
    text = f"Keys and passwords are sealed with the key in {path}, which only your account can read"
    loop.call_soon_threadsafe(app.notices.add_word, "Secrets", text)


@contextmanager
def _plain_errors() -> Generator[None, None, None]:
    """An error of the block itself, without the group that a task group wraps around it."""
    try:
        yield
    except BaseExceptionGroup as group:
        error: BaseException = group
        while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
            error = error.exceptions[0]
        raise error from error.__cause__
