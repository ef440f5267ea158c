"""The app in the command's own process, for when no server runs."""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from functools import partial

import anyio.to_thread

from skales.app.addons import report_addons, switch_addon
from skales.app.app import App
from skales.app.arranging import arrange_session
from skales.app.cost_report import costs_to_json, load_report, parse_grouping, parse_since
from skales.app.grants import (
    explain_call,
    explanation_json,
    report_approval,
    report_grants,
    restore_grant,
    revoke_grant,
)
from skales.app.kill_switch import kill_json
from skales.app.life import open_app
from skales.app.outbox import OutboxAnswer, answer_outbox, report_answer, report_outbox
from skales.app.pins import pin_tool
from skales.app.reports import (
    report_hits,
    report_model,
    report_result,
    report_session,
    report_sessions,
    report_status,
    report_tools,
)
from skales.app.tool_runs import follow_run
from skales.app.undo import parse_wish, report_preview, report_step, report_timeline
from skales.app.work_reports import add_job, delete_job, report_jobs, report_tasks, run_job
from skales.cli.backend import Asks, Backend
from skales.core.approval import Decision
from skales.core.errors import InputError
from skales.core.events import ApprovalRequested, ApprovalResolved, NumberedEvent, Progress
from skales.core.ids import ApprovalId, SessionId
from skales.core.json import JsonObject
from skales.core.tool import ToolResult
from skales.data.cron import job_json
from skales.data.paths import locate_data_directory
from skales.data.tasks import task_json

_REPORTS: Mapping[str, Callable[[App], JsonObject]] = {
    "status": report_status,
    "tools": report_tools,
    "addons": report_addons,
    "model": report_model,
    "sessions": report_sessions,
    "tasks": report_tasks,
    "cron": report_jobs,
    "outbox": report_outbox,
    "grants": report_grants,
    "undo": lambda app: report_timeline(app.undo),
}


@asynccontextmanager
async def open_inprocess() -> AsyncGenerator[Backend, None]:
    """Start the app, stop it afterwards."""
    async with open_app(locate_data_directory(), exclusive=False) as app:
        yield InProcessBackend(app)


class InProcessBackend:
    """Calls the app directly."""

    def __init__(self, app: App) -> None:
        self._app = app

    @property
    def is_remote(self) -> bool:
        """Nobody else can reach this process."""
        return False

    async def report(self, name: str) -> JsonObject:
        """`status`, `tools`, `addons`, `model`, `sessions`, `tasks`, `cron`, `outbox` or `grants`."""
        return await anyio.to_thread.run_sync(_REPORTS[name], self._app)

    async def preview_undo(self, wish: JsonObject) -> JsonObject:
        """What taking something back would do."""
        return report_preview(await anyio.to_thread.run_sync(self._app.undo.preview, parse_wish(wish)))

    async def undo(self, wish: JsonObject) -> JsonObject:
        """Take it back."""
        return report_step(await anyio.to_thread.run_sync(self._app.undo.run, parse_wish(wish)))

    async def session(self, session_id: str) -> JsonObject:
        """One conversation."""
        return await anyio.to_thread.run_sync(report_session, self._app, SessionId(session_id))

    async def delete_session(self, session_id: str) -> None:
        """Move one conversation to the trash."""
        await anyio.to_thread.run_sync(self._app.sessions.delete, SessionId(session_id))

    async def costs(self, since: str, by: str) -> JsonObject:
        """What models cost."""
        since_ms, grouping = parse_since(since, self._app.clock.now_ms()), parse_grouping(by)
        report = await anyio.to_thread.run_sync(load_report, self._app.ledger, self._app.sessions, since_ms, grouping)
        return costs_to_json(report)

    async def search_sessions(self, query: str, limit: int) -> JsonObject:
        """Where the words are."""
        return await anyio.to_thread.run_sync(report_hits, self._app, query, limit)

    async def arrange_session(self, session_id: str, *, pinned: bool | None = None, folder: str | None = None) -> None:
        """Pin, unpin, put into a folder."""
        await anyio.to_thread.run_sync(lambda: arrange_session(self._app.sessions, session_id, pinned, folder))

    async def lift_marks(self, session_id: str) -> JsonObject:
        """Let what was read from others no longer count. Raises NotFoundError."""
        lift = partial(self._app.marks.lift, SessionId(session_id), surface="cli")
        return {"sources": list(await anyio.to_thread.run_sync(lift))}

    async def switch_model(self, provider: str, model: str) -> None:
        """Make a configured provider the active one."""
        if not await anyio.to_thread.run_sync(self._app.models.switch, provider, model):
            raise InputError(
                f"Unknown provider: {provider}", hint=f"Set it up with `skales config provider {provider}`"
            )

    async def switch_addon(self, addon_id: str, *, is_on: bool) -> JsonObject:
        """Switch an add-on."""
        return await anyio.to_thread.run_sync(lambda: switch_addon(self._app, addon_id, is_on=is_on))

    async def run_tool(
        self, name: str, arguments: JsonObject, report: Callable[[Progress], None], ask: Asks | None = None
    ) -> JsonObject:
        """Run a tool as the person."""
        run = follow_run(self._app, name, arguments, surface="cli", attended=ask is not None)
        async with aclosing(run) as steps:
            async for step in steps:
                match step:
                    case Progress():
                        report(step)
                    case ApprovalRequested(approval) if ask is not None:
                        await ask(approval)
                    case ApprovalRequested() | ApprovalResolved():
                        pass
                    case ToolResult():
                        return report_result(step)
        raise AssertionError("a run ends with its result")

    async def pin_tool(self, name: str, *, is_pinned: bool) -> JsonObject:
        """Offer a tool to models always, or only when it is found."""
        spec = self._app.require_tool(name)
        status = await anyio.to_thread.run_sync(lambda: pin_tool(self._app, spec, is_pinned=is_pinned))
        return {"name": status.spec.name, "pinned": status.is_pinned, "basic": status.spec.is_basic}

    async def task(self, task_id: str) -> JsonObject:
        """One task."""
        return {"task": task_json(await anyio.to_thread.run_sync(self._app.tasks.get, task_id))}

    async def change_task(self, task_id: str, action: str) -> None:
        """Cancel or retry a task."""
        if action == "cancel":
            await self._app.task_runner.cancel(task_id)
        else:
            await anyio.to_thread.run_sync(self._app.tasks.start_over, task_id)

    async def delete_task(self, task_id: str) -> None:
        """Remove a task's record."""
        await self._app.task_runner.delete(task_id)

    async def add_job(self, body: JsonObject) -> JsonObject:
        """Make a scheduled job."""
        return {"success": True, "job": job_json(await anyio.to_thread.run_sync(add_job, self._app, body))}

    async def remove_job(self, job_id: str) -> bool:
        """Delete a scheduled job."""
        return await anyio.to_thread.run_sync(delete_job, self._app, job_id)

    async def switch_job(self, job_id: str, *, enabled: bool) -> None:
        """Turn a scheduled job on or off."""
        await anyio.to_thread.run_sync(lambda: self._app.cron.switch(job_id, enabled=enabled))

    async def run_job(self, job_id: str) -> JsonObject:
        """Only a program that stays can run one."""
        return await run_job(self._app, job_id)

    async def create_session(self) -> str:
        """A new conversation's id."""
        return (await anyio.to_thread.run_sync(self._app.sessions.create)).id

    async def send(self, session_id: str, text: str) -> int:
        """Start a turn."""
        return (await self._app.turns.start(SessionId(session_id), text, surface="cli")).after

    async def compact(self, session_id: str) -> int:
        """Have the oldest part summarised."""
        return (await self._app.turns.compact(SessionId(session_id), surface="cli")).after

    def events(self, session_id: str, after: int) -> AsyncGenerator[NumberedEvent, None]:
        """Events up to the turn's end."""
        return self._app.turns.follow(SessionId(session_id), after)

    async def stop(self, session_id: str) -> None:
        """Stop the running turn."""
        self._app.turns.stop(SessionId(session_id))

    async def kill(self) -> JsonObject:
        """End everything that runs in this process."""
        return kill_json(await self._app.kill_switch.use("cli"))

    async def decide(self, approval_id: str, decision: Decision) -> None:
        """Answer a question."""
        await self._app.approvals.decide(ApprovalId(approval_id), decision)

    async def answer_outbox(self, intent_id: str, answer: str) -> JsonObject:
        """Say what became of a sending that nobody is sure of."""
        return report_answer(*await answer_outbox(self._app, intent_id, OutboxAnswer(answer), "cli"))

    async def approval(self, approval_id: str) -> JsonObject:
        """A question with its rules."""
        return await report_approval(self._app, approval_id)

    async def explain(self, tool: str, arguments: JsonObject) -> JsonObject:
        """What would happen with a call."""
        return explanation_json(await anyio.to_thread.run_sync(explain_call, self._app, tool, arguments))

    async def revoke_grant(self, grant_id: str) -> JsonObject:
        """Take a lasting yes back."""
        return await anyio.to_thread.run_sync(revoke_grant, self._app, grant_id)

    async def restore_grant(self, grant_id: str) -> JsonObject:
        """Undo taking it back."""
        return await anyio.to_thread.run_sync(restore_grant, self._app, grant_id)
