"""Builds the app from its rooms and owns its life: open, run, close. Everything a surface may use hangs on `App`."""

from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread

from skales.agent.approvals import ApprovalDesk
from skales.agent.budget import Budget
from skales.agent.compaction import Compactor
from skales.agent.context import ContextBuilder
from skales.agent.gate import Gate, GateParts
from skales.agent.offer import ToolOffer
from skales.agent.origin import CallOrigin
from skales.agent.permission import Permission, PermissionParts
from skales.agent.policy import Policy
from skales.agent.summary import OpenTask
from skales.agent.turn_parts import TurnParts
from skales.agent.undo_ground import FileGround
from skales.agent.undo_record import Recorder
from skales.agent.undo_round import UndoRound
from skales.agent.undo_run import Undoing
from skales.app.attachments import Attachments
from skales.app.compare import CompareParts, Comparisons
from skales.app.costs import CallAccounts
from skales.app.model_endpoints import ModelStores
from skales.app.models import Models
from skales.app.notices import NoticeBoard, NoticedTurns
from skales.app.program import Program
from skales.app.small_jobs import SmallJobParts, SmallJobs
from skales.app.undo import Undo
from skales.app.undo_stores import Stores, build_grounds, watch
from skales.core.clock import Clock, SystemClock
from skales.core.errors import NotFoundError
from skales.core.events import TurnEvent
from skales.core.ids import IdSource, RandomIds, SessionId
from skales.core.json import JsonObject
from skales.core.ports import CallScope, ModelChooser, Toolbox
from skales.core.tool import ToolCall, ToolResult, ToolSpec
from skales.data.agent_skills import AgentSkillStore
from skales.data.approvals import ApprovalStore
from skales.data.attachments import AttachmentStore
from skales.data.audit import AuditLog
from skales.data.capabilities import Capabilities
from skales.data.devkit import DevKit
from skales.data.grants import GrantStore
from skales.data.index import Index
from skales.data.instance import InstanceLock
from skales.data.knowledge_graph import KnowledgeGraph
from skales.data.ledger import Ledger
from skales.data.memories import MemoryStore
from skales.data.model_lists import ModelLists
from skales.data.model_probes import ModelProbes
from skales.data.paths import DataDirectory
from skales.data.planner import PlannerStore
from skales.data.quarantine import Quarantine
from skales.data.sessions import SessionStore
from skales.data.settings import FileAccess, Settings, SettingsStore
from skales.data.sign_ins import SignIns
from skales.data.spending import SpendingStore
from skales.data.started import StartedCalls
from skales.data.tasks import TaskStore
from skales.data.undo import UndoStore
from skales.data.undo_shape import Area
from skales.localmodels.local_models import LocalModels
from skales.providers.history import repair_history
from skales.security.network import NetworkPolicy
from skales.security.paths import PathPolicy
from skales.security.redact import redact, redact_value
from skales.tools.context import ToolContext
from skales.tools.registry import BuiltinToolbox


@dataclass(frozen=True, slots=True, kw_only=True)
class App:
    """The rooms, wired. `page_token` and `local_token` last as long as the process."""

    directory: DataDirectory
    clock: Clock
    ids: IdSource
    quarantine: Quarantine
    settings: SettingsStore
    sessions: SessionStore
    memories: MemoryStore
    tasks: TaskStore
    grants: GrantStore
    devkit: DevKit
    capabilities: Capabilities
    toolbox: Toolbox
    gate: Gate
    approvals: ApprovalDesk
    turns: NoticedTurns
    attachments: Attachments
    notices: NoticeBoard
    models: Models
    ledger: Ledger
    spending: SpendingStore
    accounts: CallAccounts
    small_jobs: SmallJobs
    comparisons: Comparisons
    local: LocalModels
    undo: Undo
    lock: InstanceLock
    started_s: float
    page_token: str
    local_token: str

    def uptime_ms(self) -> int:
        """Milliseconds since the process opened the app."""
        return int((self.clock.monotonic_s() - self.started_s) * 1000)

    async def close(self) -> None:
        """Give everything back, once no turn runs any more."""
        await self.models.close()
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
    ) -> ToolResult:
        """Run a tool as the person, without a conversation. Raises NotFoundError for a tool that does not exist."""
        self.require_tool(name)
        call = ToolCall(f"call_{self.ids.token(12)}", name, arguments)
        origin = CallOrigin(session_id=SessionId(""), surface=surface, emit=emit or _ignore, by_user=True)
        return await self.gate.run(call, origin)


@asynccontextmanager
async def open_app(directory: DataDirectory, *, exclusive: bool = True) -> AsyncGenerator[App, None]:
    """Open the data directory and run the app until the block ends; running turns are stopped, their text kept.

    Raises ConfigurationError when another program holds the directory, StorageError when it cannot be used.
    """
    directory.create()
    lock = InstanceLock(directory)
    lock.acquire(exclusive=exclusive)
    app = build_app(directory, lock, SystemClock(), RandomIds())
    try:
        await anyio.to_thread.run_sync(app.attachments.sweep)
        await anyio.to_thread.run_sync(app.undo.recover)
        await anyio.to_thread.run_sync(app.capabilities.write, app.toolbox.specs(), app.toolbox.is_enabled)
        with _plain_errors():
            async with anyio.create_task_group() as tasks:
                app.turns.open(tasks)
                app.models.open(tasks)
                app.small_jobs.open(tasks)
                try:
                    yield app
                finally:
                    app.turns.leave()
                    tasks.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await app.close()


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
    settings = SettingsStore(directory, quarantine)
    sessions = SessionStore(directory, quarantine, Index(directory.index, directory.sessions), clock)
    memories = MemoryStore(directory, quarantine, clock, ids)
    tasks = TaskStore(directory, quarantine, clock, ids)
    grants = GrantStore(directory, quarantine, clock, ids)
    started = StartedCalls(directory)

    def policy() -> Policy:
        return build_policy(settings.load(), directory)

    questions = ApprovalStore(directory, quarantine)
    notices = NoticeBoard(clock, questions.pending, quarantine.notices)
    program = Program(directory, settings.load, quarantine)
    planner = PlannerStore(directory, quarantine, clock, ids)
    graph = KnowledgeGraph(directory, quarantine, clock, ids)
    skills = AgentSkillStore(directory, quarantine)

    def context_for(scope: CallScope) -> ToolContext:
        rules, chosen = policy(), settings.load()
        return ToolContext(
            scope,
            rules.paths,
            rules.network,
            directory,
            sessions,
            memories,
            tasks,
            clock=clock,
            ids=ids,
            planner=planner,
            graph=graph,
            skills=skills,
            program=program,
            notices=notices,
            vaults=tuple(chosen.obsidian_vaults),
            note_format=chosen.obsidian_format,
            tools=toolbox,
        )

    toolbox = BuiltinToolbox(context_for, lambda: settings.load().addons)
    program.toolbox = toolbox
    desk = ApprovalDesk(questions, clock, partial(_check_arguments, toolbox))
    permission = Permission(
        PermissionParts(
            desk=desk, grants=grants, clock=clock, ids=ids, timeout_s=lambda: settings.load().approval_timeout_s
        )
    )
    audit = AuditLog(directory, clock, redact_value)
    changes = UndoStore(directory, quarantine, clock, ids, lambda: settings.load().undo_megabytes)
    recorder = Recorder(changes, own=(directory.results, directory.root))
    stores = Stores(settings, grants, memories, sessions)
    watch(stores, changes)
    grounds = {Area.FILE: FileGround(changes.blobs, lambda: policy().paths), **build_grounds(stores)}
    undo = Undo(changes, Undoing(changes, recorder, grounds, lambda: policy().paths))
    undo_round = UndoRound(changes, recorder, policy, lambda spec, call: redact(toolbox.describe(spec, call.arguments)))
    gate = Gate(
        GateParts(
            toolbox=toolbox,
            policy=policy,
            permission=permission,
            audit=audit,
            started=started,
            clock=clock,
            judges=(undo_round.judge_size,),
            rounds=(undo_round,),
        )
    )
    local = LocalModels(directory, quarantine, clock)
    models = Models(
        settings,
        local,
        ModelStores(
            lists=ModelLists(directory, clock),
            probes=ModelProbes(directory, quarantine, clock),
            sign_ins=SignIns(directory, quarantine),
            clock=clock,
            ids=ids,
        ),
    )
    program.models = models
    ledger = Ledger(directory)
    spending = SpendingStore(directory, quarantine, clock)
    accounts = CallAccounts(ledger, spending, (chooser or models).facts, settings.load, clock)
    models.accounts = accounts
    context = ContextBuilder(
        directory=directory,
        repair=repair_history,
        custom_prompt=lambda: settings.load().system_prompt,
        clock=clock,
        offer=ToolOffer(toolbox, lambda: settings.load().pinned_tools),
    )

    small_jobs = SmallJobs(
        SmallJobParts(
            settings=settings.load,
            chooser=chooser or models,
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
        chooser=chooser or models,
        context=context,
        compactor=compactor,
        gate=gate,
        toolbox=toolbox,
        started=started,
        accounts=accounts,
        budget=Budget(accounts, permission),
        clock=clock,
        ids=ids,
    )
    turns = NoticedTurns(parts, desk, notices)
    turns.ended = small_jobs.note_end
    comparisons = Comparisons(
        CompareParts(
            chooser=parts.chooser,
            context=context,
            sessions=sessions,
            turns=turns,
            accounts=accounts,
            clock=clock,
            ids=ids,
        )
    )
    return App(
        directory=directory,
        clock=clock,
        ids=ids,
        quarantine=quarantine,
        settings=settings,
        sessions=sessions,
        memories=memories,
        tasks=tasks,
        grants=grants,
        devkit=DevKit(directory, clock),
        capabilities=Capabilities(directory),
        toolbox=toolbox,
        gate=gate,
        approvals=desk,
        turns=turns,
        attachments=Attachments(AttachmentStore(directory, clock, ids)),
        notices=notices,
        models=models,
        ledger=ledger,
        spending=spending,
        accounts=accounts,
        small_jobs=small_jobs,
        comparisons=comparisons,
        local=local,
        undo=undo,
        lock=lock,
        started_s=clock.monotonic_s(),
        page_token=ids.token(43),
        local_token=ids.token(43),
    )


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
    return Policy(settings.safety_mode, paths, NetworkPolicy(allow_loopback=settings.allow_loopback))


def _folder(text: str) -> Path:
    return Path(text).expanduser().absolute()


def _ignore(_event: TurnEvent) -> None:
    """A direct run has no stream to show events in."""
