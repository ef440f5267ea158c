"""The app behind a command: a running server over HTTP when there is one, else the app in this process."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Protocol

from skales.core.approval import Approval, Decision
from skales.core.events import NumberedEvent, Progress
from skales.core.json import JsonObject
from skales.data.instance import find_instance
from skales.data.paths import locate_data_directory

# Puts a question to the person at this terminal and passes the answer on.
Asks = Callable[[Approval], Awaitable[None]]


class Backend(Protocol):
    """What commands need of the app. JSON shapes are those of `app.reports`."""

    async def report(self, name: str) -> JsonObject:
        """`status`, `tools`, `addons`, `model`, `sessions`, `tasks`, `cron`, `outbox`, `grants` or `undo`."""
        ...

    async def preview_undo(self, wish: JsonObject) -> JsonObject:
        """What taking back `{step, turn, redo, partial}` would do. Raises NotFoundError, ConflictError."""
        ...

    async def undo(self, wish: JsonObject) -> JsonObject:
        """Take it back; the step that says so. Raises NotFoundError, ConflictError."""
        ...

    async def session(self, session_id: str) -> JsonObject:
        """One conversation. Raises NotFoundError."""
        ...

    async def delete_session(self, session_id: str) -> None:
        """Move one conversation to the trash. Raises NotFoundError."""
        ...

    async def costs(self, since: str, by: str) -> JsonObject:
        """What models cost, as `app.cost_report` says it. Raises InputError."""
        ...

    async def search_sessions(self, query: str, limit: int) -> JsonObject:
        """`{hits: [{id, title, index, snippet}]}`, best first."""
        ...

    async def arrange_session(self, session_id: str, *, pinned: bool | None = None, folder: str | None = None) -> None:
        """Pin or unpin, put into a folder or out of it. Raises NotFoundError."""
        ...

    async def lift_marks(self, session_id: str) -> JsonObject:
        """Let what was read from others no longer count: `{sources: […]}`. Raises NotFoundError."""
        ...

    async def switch_model(self, provider: str, model: str) -> None:
        """Make a configured provider the active one. Raises InputError."""
        ...

    async def switch_addon(self, addon_id: str, *, is_on: bool) -> JsonObject:
        """Switch an add-on. Raises NotFoundError, ConflictError for one without a switch."""
        ...

    async def run_tool(
        self, name: str, arguments: JsonObject, report: Callable[[Progress], None], ask: Asks | None = None
    ) -> JsonObject:
        """Run a tool as the person: `{ok, summary, data, files, error, text}`; cancelling ends it.

        `ask` answers what the tool asks, by `decide`; without it a question is refused at once.
        """
        ...

    async def pin_tool(self, name: str, *, is_pinned: bool) -> JsonObject:
        """Offer a tool to models always, or only when it is found. Raises NotFoundError."""
        ...

    async def task(self, task_id: str) -> JsonObject:
        """One task: `{task: {…}}`. Raises NotFoundError."""
        ...

    async def change_task(self, task_id: str, action: str) -> None:
        """`cancel` or `retry` a task. Raises NotFoundError, InputError when its state does not allow it."""
        ...

    async def delete_task(self, task_id: str) -> None:
        """Remove a task's record. Raises NotFoundError, InputError while it runs."""
        ...

    async def add_job(self, body: JsonObject) -> JsonObject:
        """Make a scheduled job: `{success, job: {…}}`. Raises InputError."""
        ...

    async def remove_job(self, job_id: str) -> bool:
        """Delete a scheduled job; whether there was one."""
        ...

    async def switch_job(self, job_id: str, *, enabled: bool) -> None:
        """Turn a scheduled job on or off. Raises NotFoundError."""
        ...

    async def run_job(self, job_id: str) -> JsonObject:
        """Run a scheduled job now: `{id, triggered_at, status}`. Raises NotFoundError, InputError without a server."""
        ...

    async def create_session(self) -> str:
        """A new conversation's id."""
        ...

    async def send(self, session_id: str, text: str) -> int:
        """Start a turn; the number after which its events come."""
        ...

    async def compact(self, session_id: str) -> int:
        """Have the oldest part summarised for the model; the number after which the events of that come.

        Raises NotFoundError, InputError while a turn runs.
        """
        ...

    def events(self, session_id: str, after: int) -> AsyncGenerator[NumberedEvent, None]:
        """Events up to the turn's end."""
        ...

    async def stop(self, session_id: str) -> None:
        """Stop the running turn."""
        ...

    async def kill(self) -> JsonObject:
        """End everything that runs: `{turns, tools, programs, left, incident}`. Raises StorageError."""
        ...

    async def decide(self, approval_id: str, decision: Decision) -> None:
        """Answer a question. Raises NotFoundError when it is answered already, InputError for bad arguments."""
        ...

    async def answer_outbox(self, intent_id: str, answer: str) -> JsonObject:
        """`sent`, `again` or `drop`: `{intent, result}`. Raises NotFoundError, InputError when it is settled."""
        ...

    async def approval(self, approval_id: str) -> JsonObject:
        """A question, waiting or answered, with its rules. Raises NotFoundError."""
        ...

    async def explain(self, tool: str, arguments: JsonObject) -> JsonObject:
        """What would happen with a call; nothing is run."""
        ...

    async def revoke_grant(self, grant_id: str) -> JsonObject:
        """Take a lasting yes back. Raises NotFoundError."""
        ...

    async def restore_grant(self, grant_id: str) -> JsonObject:
        """Undo taking it back. Raises NotFoundError."""
        ...

    @property
    def is_remote(self) -> bool:
        """Whether other surfaces can answer questions too."""
        ...


@asynccontextmanager
async def open_backend() -> AsyncGenerator[Backend, None]:
    """The server of this data directory, or the app in this process for as long as the block lasts."""
    instance = find_instance(locate_data_directory())
    if instance is not None:
        from skales.cli.remote import RemoteBackend

        async with RemoteBackend(instance) as remote:
            yield remote
        return
    from skales.cli.inprocess import open_inprocess

    async with open_inprocess() as own:
        yield own
