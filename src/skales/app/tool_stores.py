"""The stores that tools work on and that nothing else is built from, opened together. Opening reads nothing."""

from msgspec import Struct

from skales.core.clock import Clock
from skales.core.ids import IdSource
from skales.data.agent_skills import AgentSkillStore
from skales.data.connectors import ConnectorStore
from skales.data.cron import CronStore
from skales.data.deploy_targets import DeployTargets
from skales.data.ftp_profiles import FtpProfiles
from skales.data.knowledge_graph import KnowledgeGraph
from skales.data.paths import DataDirectory
from skales.data.planner import PlannerStore
from skales.data.published import PublishedFiles
from skales.data.quarantine import Quarantine
from skales.data.vault import Vault
from skales.data.workflows import WorkflowStore
from skales.tools.screens import ScreenMemory
from skales.tools.system.background import ProcessTable


class ToolStores(Struct, frozen=True):
    """One of each."""

    planner: PlannerStore
    graph: KnowledgeGraph
    skills: AgentSkillStore
    cron: CronStore
    workflows: WorkflowStore
    connectors: ConnectorStore
    ftp_profiles: FtpProfiles
    deploy_targets: DeployTargets
    published: PublishedFiles
    screens: ScreenMemory
    background: ProcessTable


def open_tool_stores(
    directory: DataDirectory, quarantine: Quarantine, clock: Clock, ids: IdSource, vault: Vault
) -> ToolStores:
    """All of them for one data directory."""
    return ToolStores(
        planner=PlannerStore(directory, quarantine, clock, ids),
        graph=KnowledgeGraph(directory, quarantine, clock, ids),
        skills=AgentSkillStore(directory, quarantine),
        cron=CronStore(directory, quarantine, clock, ids),
        workflows=WorkflowStore(directory, quarantine),
        connectors=ConnectorStore(directory, quarantine, vault),
        ftp_profiles=FtpProfiles(directory, quarantine, clock, ids, vault),
        deploy_targets=DeployTargets(directory, quarantine),
        published=PublishedFiles(directory, quarantine),
        screens=ScreenMemory(clock),
        background=ProcessTable(clock),
    )
