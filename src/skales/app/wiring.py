"""Builds the app from its rooms and owns its life: open, run, close. Everything a surface may use hangs on `App`."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from skales.agent.approvals import ApprovalDesk
from skales.agent.budget import Budget
from skales.agent.ceilings import Ceilings
from skales.agent.clicks import judge_click
from skales.agent.compaction import Compactor
from skales.agent.context import ContextBuilder
from skales.agent.gate import Gate, GateParts
from skales.agent.look_back import LookBack
from skales.agent.marks import MarkBook
from skales.agent.offer import ToolOffer
from skales.agent.origin import CallOrigin
from skales.agent.outbox_round import Outbox, OutboxParts, find_turn_start
from skales.agent.permission import Permission, PermissionParts
from skales.agent.policy import Policy
from skales.agent.running import RunningCalls
from skales.agent.secrecy import VeiledChooser, judge_markers, veil_results
from skales.agent.secrets_round import SecretUse
from skales.agent.summary import OpenTask
from skales.agent.taint import TaintJudge
from skales.agent.taint_round import TaintRound
from skales.agent.turn_parts import TurnParts
from skales.app.activity import Undoable
from skales.app.attachments import Attachments
from skales.app.automation_wiring import AutomationNeeds, build_automation
from skales.app.compare import CompareParts, Comparisons
from skales.app.costs import CallAccounts
from skales.app.kill_switch import KillParts, KillSwitch
from skales.app.model_endpoints import ModelStores
from skales.app.models import Models
from skales.app.notices import NoticeBoard, NoticedTurns
from skales.app.program import Program
from skales.app.secret_scan import SecretScan
from skales.app.small_jobs import SmallJobParts, SmallJobs
from skales.app.standings import name_conditions
from skales.app.tool_stores import open_tool_stores
from skales.app.undo import Undo
from skales.app.undo_stores import Stores
from skales.app.undo_wiring import build_undo
from skales.app.veiled_logs import veiled_logs
from skales.automation.origins import parent_of
from skales.automation.scheduler import Scheduler
from skales.automation.tasks import TaskRunner
from skales.core.clock import Clock, SystemClock
from skales.core.errors import InputError, NotFoundError
from skales.core.events import ApprovalRequested, ApprovalResolved, TurnEvent
from skales.core.ids import IdSource, RandomIds, SessionId
from skales.core.json import JsonObject
from skales.core.ports import CallScope, ModelChooser, Toolbox
from skales.core.tool import ToolCall, ToolResult, ToolSpec
from skales.data.approvals import ApprovalStore
from skales.data.attachments import AttachmentStore
from skales.data.audit import AuditLog
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
from skales.data.index import Index
from skales.data.instance import InstanceLock
from skales.data.key_store import PATIENCE_S
from skales.data.ledger import Ledger
from skales.data.memories import MemoryStore
from skales.data.model_lists import ModelLists
from skales.data.model_probes import ModelProbes
from skales.data.outbox import OutboxStore
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.secret_store import SecretStore
from skales.data.sessions import SessionStore, TranscriptMask
from skales.data.settings import FileAccess, SandboxMode, Settings, SettingsStore
from skales.data.sign_ins import SignIns
from skales.data.spending import SpendingStore
from skales.data.started import StartedCalls
from skales.data.tainted_files import TaintedFiles
from skales.data.tasks import TaskStore
from skales.data.undo import UndoStore
from skales.data.vault import Vault
from skales.data.workflows import WorkflowStore
from skales.localmodels.local_models import LocalModels
from skales.providers.history import repair_history
from skales.security.network import NetworkPolicy, parse_domain
from skales.security.paths import PathPolicy
from skales.security.veil import Veil
from skales.security.veiled_messages import veil_message
from skales.tools.context import ToolContext
from skales.tools.programs import SandboxRules
from skales.tools.registry import BuiltinToolbox
from skales.tools.system.background import ProcessTable
from skales.tools.web import search_desk


@dataclass(frozen=True, slots=True, kw_only=True)
class App:
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
        """Run filed tasks and the schedule from now on."""
        tasks.start_soon(self.task_runner.run)
        tasks.start_soon(self.scheduler.run)

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


def build_app(
    directory: DataDirectory, lock: InstanceLock, clock: Clock, ids: IdSource, chooser: ModelChooser | None = None
) -> App:
    """Wire the rooms. Nothing is read from the disk yet but the tool index.

    `chooser` stands in for the configured models, for tests and embedding programs.
    """
    quarantine = Quarantine(directory.quarantine, clock)
    vault = Vault(directory, quarantine)
    settings = SettingsStore(directory, quarantine, vault)
    veil = Veil(vault.known_values)
    sessions = SessionStore(
        directory, quarantine, Index(directory.index, directory.sessions), clock, mask_transcripts(veil)
    )
    memories = MemoryStore(directory, quarantine, clock, ids, veil.text)
    tasks = TaskStore(directory, quarantine, clock, ids)
    job_runs = RunLog(directory, quarantine)
    grants, uses = GrantStore(directory, quarantine, clock, ids), GrantUses(directory, quarantine, clock)
    started = StartedCalls(directory)
    tainted = TaintedFiles(directory, quarantine, clock)
    stores = open_tool_stores(directory, quarantine, clock, ids, vault)
    search = search_desk.SearchDesk(settings.load, clock)

    def policy() -> Policy:
        return build_policy(settings.load(), directory)

    questions, intents = ApprovalStore(directory, quarantine), OutboxStore(directory, quarantine, clock, ids)
    notices = NoticeBoard(clock, questions.pending, quarantine.notices, intents.unsure, veil.text)
    program = Program(directory, settings.load, quarantine)

    def context_for(scope: CallScope) -> ToolContext:
        rules, chosen = policy(), settings.load()
        return ToolContext(
            scope=scope,
            paths=rules.paths,
            network=rules.network,
            data=directory,
            sessions=sessions,
            memories=memories,
            tasks=tasks,
            clock=clock,
            ids=ids,
            planner=stores.planner,
            graph=stores.graph,
            skills=stores.skills,
            program=program,
            notices=notices,
            vaults=tuple(chosen.obsidian_vaults),
            note_format=chosen.obsidian_format,
            tools=toolbox,
            ftp_profiles=stores.ftp_profiles,
            deploy_targets=stores.deploy_targets,
            published=stores.published,
            screens=stores.screens,
            cameras=chosen.cameras,
            search=search,
            connectors=stores.connectors,
            service_urls=chosen.service_urls,
            background=stores.background,
            sandbox=build_sandbox_rules(chosen),
            cron=stores.cron,
            workflows=stores.workflows,
            work=automation.work,
        )

    toolbox = BuiltinToolbox(
        context_for,
        lambda: settings.load().addons,
        name_conditions(settings.load, stores.connectors, stores.ftp_profiles, search.standing),
    )
    program.toolbox = toolbox
    desk = ApprovalDesk(questions, clock, partial(_check_arguments, toolbox), veil)
    permission = Permission(
        PermissionParts(
            desk=desk,
            grants=grants,
            uses=uses,
            clock=clock,
            ids=ids,
            timeout_s=lambda: settings.load().approval_timeout_s,
            paths=lambda: policy().paths,
            look_back=LookBack(sessions, lambda: policy().paths).count,
            veil=veil,
        )
    )
    secrets = SecretStore(directory, quarantine, clock, vault)
    secret_use = SecretUse(secrets, vault)
    audit = AuditLog(directory, clock, veil.value, lambda: settings.load().audit_days)
    calls = RunningCalls(clock)
    outbox = Outbox(
        OutboxParts(
            store=intents,
            started=started,
            describe=toolbox.describe,
            conversation_of=lambda session_id: parent_of(sessions, session_id) or session_id,
            turn_began_ms=partial(find_turn_start, sessions),
            tell=notices.tell,
        )
    )
    changes = UndoStore(directory, quarantine, clock, ids, lambda: settings.load().undo_megabytes)
    undo, undo_round = build_undo(
        changes,
        Stores(settings, grants, memories, sessions),
        policy,
        own=(directory.results, directory.root),
        describe=lambda spec, call: veil.text(toolbox.describe(spec, call.arguments)),
    )
    marks = MarkBook(sessions, audit, clock)
    taint = TaintJudge(lambda: policy().mode, lambda: _working_folders(policy().paths))
    gate = Gate(
        GateParts(
            toolbox=toolbox,
            policy=policy,
            permission=permission,
            audit=audit,
            started=started,
            clock=clock,
            judges=(taint.judge, judge_markers(), judge_click, secret_use.judge, outbox.judge, undo_round.judge_size),
            rounds=(
                calls,
                veil_results(veil),
                secret_use.go_around,
                TaintRound(judge=taint, workspace=directory.workspace, marks=marks, files=tainted, clock=clock).run,
                outbox.round,
                undo_round,
            ),
            veil=veil,
        )
    )
    local = LocalModels(directory, quarantine, clock)
    models = Models(
        settings,
        local,
        ModelStores(
            lists=ModelLists(directory, clock),
            probes=ModelProbes(directory, quarantine, clock),
            sign_ins=SignIns(directory, quarantine, vault),
            clock=clock,
            ids=ids,
        ),
    )
    program.models = models
    asked = VeiledChooser(chooser or models, veil)
    ledger, spending = Ledger(directory), SpendingStore(directory, quarantine, clock)
    accounts = CallAccounts(ledger, spending, (chooser or models).facts, settings.load, clock)
    accounts.payer = lambda session_id: parent_of(sessions, session_id) or session_id
    models.accounts = accounts
    context = ContextBuilder(
        directory=directory,
        repair=repair_history,
        custom_prompt=lambda: settings.load().system_prompt,
        secret_names=lambda: [secret.name for secret in secrets.list()],
        clock=clock,
        offer=ToolOffer(toolbox, lambda: settings.load().pinned_tools),
    )

    small_jobs = SmallJobs(
        SmallJobParts(
            settings=settings.load,
            chooser=asked,
            sessions=sessions,
            accounts=accounts,
            tell_named=lambda _session_id: notices.tell(),
        )
    )
    compactor = Compactor(
        sessions=sessions,
        context=context,
        clock=clock,
        at_percent=lambda: settings.load().compact_at_percent,
        open_tasks=lambda: [OpenTask(task.id, task.title) for task in tasks.list() if not task.is_over],
        writer=small_jobs.writer,
    )
    parts = TurnParts(
        directory=directory,
        sessions=sessions,
        chooser=asked,
        context=context,
        compactor=compactor,
        gate=gate,
        toolbox=toolbox,
        started=started,
        accounts=accounts,
        budget=Budget(accounts, permission),
        marks=marks,
        tainted=tainted,
        clock=clock,
        ids=ids,
        fate=outbox.tell_fate,
        is_unsure=outbox.is_unsure,
        ceilings=lambda: Ceilings(settings.load().turn_minutes, settings.load().calls_per_turn),
        veil=veil,
    )
    turns = NoticedTurns(parts, desk, notices)
    turns.ended = small_jobs.note_end

    automation = build_automation(
        AutomationNeeds(
            settings=settings,
            sessions=sessions,
            tasks=tasks,
            jobs=stores.cron,
            job_runs=job_runs,
            turns=turns,
            notices=notices,
            marks=marks,
            tainted=tainted,
            clock=clock,
        )
    )
    incidents = IncidentStore(directory, clock)
    return App(
        directory=directory,
        clock=clock,
        ids=ids,
        quarantine=quarantine,
        vault=vault,
        secrets=secrets,
        settings=settings,
        sessions=sessions,
        memories=memories,
        tasks=tasks,
        cron=stores.cron,
        job_runs=job_runs,
        workflows=stores.workflows,
        grants=grants,
        grant_uses=uses,
        ftp_profiles=stores.ftp_profiles,
        deploy_targets=stores.deploy_targets,
        devkit=DevKit(directory, clock),
        connectors=stores.connectors,
        capabilities=Capabilities(directory),
        toolbox=toolbox,
        gate=gate,
        marks=marks,
        veil=veil,
        secret_scan=SecretScan(directory, veil, clock, sessions.close),
        approvals=desk,
        outbox=outbox,
        turns=turns,
        attachments=Attachments(AttachmentStore(directory, clock, ids)),
        notices=notices,
        models=models,
        ledger=ledger,
        spending=spending,
        accounts=accounts,
        small_jobs=small_jobs,
        comparisons=Comparisons(
            CompareParts(
                chooser=parts.chooser,
                context=context,
                sessions=sessions,
                turns=turns,
                accounts=accounts,
                clock=clock,
                ids=ids,
            )
        ),
        task_runner=automation.task_runner,
        scheduler=automation.scheduler,
        local=local,
        background=stores.background,
        incidents=incidents,
        kill_switch=KillSwitch(
            KillParts(
                turns=turns,
                calls=calls,
                background=stores.background,
                settings=settings,
                sessions=sessions,
                tasks=tasks,
                task_runner=automation.task_runner,
                scheduler=automation.scheduler,
                incidents=incidents,
                audit=audit,
                clock=clock,
            )
        ),
        calls=calls,
        undo=undo,
        lock=lock,
        started_s=clock.monotonic_s(),
        page_token=ids.token(43),
        local_token=ids.token(43),
    )


def mask_transcripts(veil: Veil) -> TranscriptMask:
    """What conversations are kept through."""
    return TranscriptMask(partial(veil_message, veil), veil.text)


def _check_arguments(toolbox: Toolbox, tool: str, arguments: JsonObject) -> JsonObject:
    """The arguments of a tool named by an approval; one that is gone by now is left to the gate."""
    spec = toolbox.find(tool)
    return toolbox.check_arguments(spec, arguments) if spec else arguments


def build_policy(settings: Settings, directory: DataDirectory) -> Policy:
    """The rules the settings ask for; the data directory's private files are blocked in every mode."""
    custom = settings.file_access_mode is not FileAccess.WORKSPACE_ONLY
    paths = PathPolicy(
        workspace=directory.workspace,
        allowed=(directory.attachments, *(_folder(text) for text in settings.allowed_folders if custom)),
        blocked=(*directory.private, *(_folder(text) for text in settings.blocked_folders)),
        unrestricted=settings.file_access_mode is FileAccess.UNRESTRICTED,
    )
    return Policy(
        settings.safety_mode, paths, build_network_policy(settings), partial(_find_unconfined, settings.sandbox)
    )


def build_network_policy(settings: Settings) -> NetworkPolicy:
    """Which hosts tools may reach; an entry of the block list that names no host blocks none."""
    blocked: list[str] = []
    for text in settings.blocked_domains:
        with suppress(InputError):
            blocked.append(parse_domain(text))
    return NetworkPolicy(settings.allow_loopback, settings.allow_lan, tuple(blocked))


def build_sandbox_rules(settings: Settings) -> SandboxRules:
    """How the settings want programs to be confined."""
    return SandboxRules(
        is_wanted=settings.sandbox is not SandboxMode.OFF,
        is_required=settings.sandbox is SandboxMode.ON,
        allows_network=settings.sandbox_network,
    )


def _find_unconfined(mode: SandboxMode) -> str:
    """Why commands run without a sandbox, in words; empty when they run in one. Tries it out the first time."""
    from skales.tools.system.sandbox import NO_SANDBOX, SANDBOX_OFF, find_sandbox  # loaded with the first command

    if mode is SandboxMode.OFF:
        return SANDBOX_OFF
    return "" if find_sandbox().confines else NO_SANDBOX


def _working_folders(paths: PathPolicy) -> tuple[Path, ...]:
    return paths.workspace, *paths.allowed


def _folder(text: str) -> Path:
    return Path(text).expanduser().absolute()
