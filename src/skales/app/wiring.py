"""Builds the app from its rooms. What it is: `app.py`; how it lives: `life.py`."""

from functools import partial

from skales.agent.budget import Budget
from skales.agent.ceilings import Ceilings
from skales.agent.compaction import Compactor
from skales.agent.context import ContextBuilder
from skales.agent.offer import ToolOffer
from skales.agent.summary import OpenTask
from skales.agent.turn_parts import TurnParts
from skales.app.app import App
from skales.app.attachments import Attachments
from skales.app.automation_wiring import AutomationNeeds, build_automation
from skales.app.compare import CompareParts, Comparisons
from skales.app.gate_wiring import GateNeeds, build_gate
from skales.app.kill_switch import KillParts, KillSwitch
from skales.app.model_wiring import ModelNeeds, build_models
from skales.app.notices import NoticeBoard, NoticedTurns
from skales.app.program import Program
from skales.app.rules import Rulebook, build_sandbox_rules
from skales.app.secret_scan import SecretScan
from skales.app.small_jobs import SmallJobParts, SmallJobs
from skales.app.standings import name_conditions
from skales.app.tool_stores import open_tool_stores
from skales.app.undo_stores import Stores
from skales.core.clock import Clock
from skales.core.ids import IdSource
from skales.core.ports import CallScope, ModelChooser
from skales.data.approvals import ApprovalStore
from skales.data.attachments import AttachmentStore
from skales.data.capabilities import Capabilities
from skales.data.cron_runs import RunLog
from skales.data.devkit import DevKit
from skales.data.grant_uses import GrantUses
from skales.data.grants import GrantStore
from skales.data.incidents import IncidentStore
from skales.data.index import Index
from skales.data.instance import InstanceLock
from skales.data.memories import MemoryStore
from skales.data.outbox import OutboxStore
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.secret_store import SecretStore
from skales.data.sessions import SessionStore, TranscriptMask
from skales.data.settings import SettingsStore
from skales.data.started import StartedCalls
from skales.data.tainted_files import TaintedFiles
from skales.data.tasks import TaskStore
from skales.data.vault import Vault
from skales.providers.history import repair_history
from skales.security.veil import Veil
from skales.security.veiled_messages import veil_message
from skales.tools.context import ToolContext
from skales.tools.registry import BuiltinToolbox
from skales.tools.web import search_desk


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

    policy = Rulebook(settings.load, directory).policy
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
    secrets = SecretStore(directory, quarantine, clock, vault)
    guarded = build_gate(
        GateNeeds(
            directory=directory,
            quarantine=quarantine,
            clock=clock,
            ids=ids,
            vault=vault,
            secrets=secrets,
            undone=Stores(settings, grants, memories, sessions),
            grant_uses=uses,
            questions=questions,
            intents=intents,
            started=started,
            tainted=tainted,
            toolbox=toolbox,
            policy=policy,
            notices=notices,
            veil=veil,
        )
    )
    asked = build_models(
        ModelNeeds(
            directory=directory,
            quarantine=quarantine,
            clock=clock,
            ids=ids,
            vault=vault,
            settings=settings,
            sessions=sessions,
            veil=veil,
        ),
        chooser,
    )
    program.models = asked.models
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
            chooser=asked.chooser,
            sessions=sessions,
            accounts=asked.accounts,
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
        chooser=asked.chooser,
        context=context,
        compactor=compactor,
        gate=guarded.gate,
        toolbox=toolbox,
        started=started,
        accounts=asked.accounts,
        budget=Budget(asked.accounts, guarded.permission),
        marks=guarded.marks,
        tainted=tainted,
        clock=clock,
        ids=ids,
        fate=guarded.outbox.tell_fate,
        is_unsure=guarded.outbox.is_unsure,
        ceilings=lambda: Ceilings(settings.load().turn_minutes, settings.load().calls_per_turn),
        veil=veil,
    )
    turns = NoticedTurns(parts, guarded.desk, notices)
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
            marks=guarded.marks,
            tainted=tainted,
            clock=clock,
        )
    )
    comparisons = Comparisons(
        CompareParts(
            chooser=parts.chooser,
            context=context,
            sessions=sessions,
            turns=turns,
            accounts=asked.accounts,
            clock=clock,
            ids=ids,
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
        gate=guarded.gate,
        marks=guarded.marks,
        veil=veil,
        secret_scan=SecretScan(directory, veil, clock, sessions.close),
        approvals=guarded.desk,
        outbox=guarded.outbox,
        turns=turns,
        attachments=Attachments(AttachmentStore(directory, clock, ids)),
        notices=notices,
        models=asked.models,
        ledger=asked.ledger,
        spending=asked.spending,
        accounts=asked.accounts,
        small_jobs=small_jobs,
        comparisons=comparisons,
        task_runner=automation.task_runner,
        scheduler=automation.scheduler,
        local=asked.local,
        background=stores.background,
        incidents=incidents,
        kill_switch=KillSwitch(
            KillParts(
                turns=turns,
                comparisons=comparisons,
                calls=guarded.calls,
                background=stores.background,
                settings=settings,
                sessions=sessions,
                tasks=tasks,
                task_runner=automation.task_runner,
                scheduler=automation.scheduler,
                incidents=incidents,
                audit=guarded.audit,
                clock=clock,
            )
        ),
        calls=guarded.calls,
        undo=guarded.undo,
        lock=lock,
        started_s=clock.monotonic_s(),
        page_token=ids.token(43),
        local_token=ids.token(43),
    )


def mask_transcripts(veil: Veil) -> TranscriptMask:
    """What conversations are kept through."""
    return TranscriptMask(partial(veil_message, veil), veil.text)
