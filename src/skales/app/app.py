"""The app: the rooms, wired. Everything a surface may use hangs on it; `wiring.py` builds it, `life.py` runs it."""

from collections.abc import Callable

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup
from msgspec import Struct

from skales.agent.approvals import ApprovalDesk
from skales.agent.gate import Gate
from skales.agent.marks import MarkBook
from skales.agent.origin import CallOrigin
from skales.agent.outbox_round import Outbox
from skales.agent.running import RunningCalls
from skales.app.activity import Undoable
from skales.app.attachments import Attachments
from skales.app.compare import Comparisons
from skales.app.costs import CallAccounts
from skales.app.kill_switch import KillSwitch
from skales.app.models import Models
from skales.app.notices import NoticeBoard, NoticedTurns
from skales.app.secret_scan import SecretScan
from skales.app.small_jobs import SmallJobs
from skales.app.undo import Undo
from skales.automation.scheduler import Scheduler
from skales.automation.tasks import TaskRunner
from skales.core.clock import Clock
from skales.core.errors import NotFoundError
from skales.core.events import ApprovalRequested, ApprovalResolved, TurnEvent
from skales.core.ids import IdSource, SessionId
from skales.core.json import JsonObject
from skales.core.ports import Toolbox
from skales.core.tool import ToolCall, ToolResult, ToolSpec
from skales.data.capabilities import Capabilities
from skales.data.connectors import ConnectorStore
from skales.data.cron import CronStore
from skales.data.cron_runs import RunLog
from skales.data.deploy_targets import DeployTargets
from skales.data.devkit import DevKit
from skales.data.ftp_profiles import FtpProfiles
from skales.data.grant_uses import GrantUses
from skales.data.grants import GrantStore
from skales.data.incidents import IncidentStore
from skales.data.instance import InstanceLock
from skales.data.ledger import Ledger
from skales.data.leftovers import sweep_leftovers
from skales.data.memories import MemoryStore
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.secret_store import SecretStore
from skales.data.sessions import SessionStore
from skales.data.settings import SettingsStore
from skales.data.spending import SpendingStore
from skales.data.tasks import TaskStore
from skales.data.vault import Vault
from skales.data.workflows import WorkflowStore
from skales.localmodels.local_models import LocalModels
from skales.security.veil import Veil
from skales.tools.system.background import ProcessTable

# A launch is over by then, its first page painted.
_QUIET_START_S = 60


class App(Struct, frozen=True, kw_only=True):
    """The rooms, wired. `page_token` and `local_token` last as long as the process."""

    directory: DataDirectory
    clock: Clock
    ids: IdSource
    quarantine: Quarantine
    vault: Vault
    secrets: SecretStore
    settings: SettingsStore
    sessions: SessionStore
    memories: MemoryStore
    tasks: TaskStore
    cron: CronStore
    job_runs: RunLog
    workflows: WorkflowStore
    grants: GrantStore
    grant_uses: GrantUses
    ftp_profiles: FtpProfiles
    deploy_targets: DeployTargets
    devkit: DevKit
    connectors: ConnectorStore
    capabilities: Capabilities
    toolbox: Toolbox
    gate: Gate
    marks: MarkBook
    veil: Veil
    secret_scan: SecretScan
    approvals: ApprovalDesk
    outbox: Outbox
    turns: NoticedTurns
    attachments: Attachments
    notices: NoticeBoard
    models: Models
    ledger: Ledger
    spending: SpendingStore
    accounts: CallAccounts
    small_jobs: SmallJobs
    comparisons: Comparisons
    task_runner: TaskRunner
    scheduler: Scheduler
    local: LocalModels
    background: ProcessTable
    incidents: IncidentStore
    kill_switch: KillSwitch
    calls: RunningCalls
    undo: Undo
    lock: InstanceLock
    started_s: float
    page_token: str
    local_token: str
    undoable: Undoable | None = None

    def uptime_ms(self) -> int:
        """Milliseconds since the process opened the app."""
        return int((self.clock.monotonic_s() - self.started_s) * 1000)

    def start_automation(self, tasks: TaskGroup) -> None:
        """Run filed tasks and the schedule from now on, and tidy up once the start is over."""
        tasks.start_soon(self.task_runner.run)
        tasks.start_soon(self.scheduler.run)
        tasks.start_soon(self._tidy_up)

    async def stop_all(self) -> int:
        """Stop every running turn and let nothing that waits follow: no message, no task, no scheduled run.

        How many turns ran and tasks waited. Raises StorageError.
        """
        waiting = await self.task_runner.cancel_waiting()
        await self.scheduler.skip_due()
        return self.turns.stop_all() + waiting

    async def close(self) -> None:
        """Give everything back, once no turn runs any more."""
        await self.models.close()
        await self.background.close()
        await self.local.stop()
        self.sessions.close()
        self.undo.store.close()
        self.lock.release()

    async def _tidy_up(self) -> None:
        await anyio.sleep(_QUIET_START_S)
        await anyio.to_thread.run_sync(sweep_leftovers, self.directory, self.clock.now_ms())

    def require_tool(self, name: str) -> ToolSpec:
        """The tool of this name or alias. Raises NotFoundError."""
        spec = self.toolbox.find(name)
        if spec is None:
            raise NotFoundError(f"There is no tool named {name!r}", hint="`skales tools` and the Tools page list them")
        return spec

    async def run_tool(
        self,
        name: str,
        arguments: JsonObject,
        *,
        surface: str = "page",
        emit: Callable[[TurnEvent], None] | None = None,
        attended: bool = True,
    ) -> ToolResult:
        """Run a tool as the person, without a conversation. Raises NotFoundError for a tool that does not exist.

        What it asks waits where every question waits; not `attended` it is refused at once instead.
        """
        self.require_tool(name)
        call = ToolCall(f"call_{self.ids.token(12)}", name, arguments)

        def tell(event: TurnEvent) -> None:
            if isinstance(event, (ApprovalRequested, ApprovalResolved)):
                self.notices.tell()
            if emit is not None:
                emit(event)

        origin = CallOrigin(session_id=SessionId(""), surface=surface, emit=tell, by_user=True, is_attended=attended)
        return await self.gate.run(call, origin)
