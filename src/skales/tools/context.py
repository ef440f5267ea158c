"""What a tool function gets as `ctx`: the surroundings of its call, the rules it obeys and the stores it may use."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from skales.core.clock import Clock
from skales.core.ids import IdSource
from skales.core.ports import CallScope
from skales.data.paths import DataDirectory
from skales.security.network import NetworkPolicy
from skales.security.paths import PathPolicy
from skales.tools.ports import (
    BackgroundPrograms,
    Camera,
    Connectors,
    DeployTargetBook,
    FtpProfileBook,
    Graph,
    MemoryNotes,
    NoteFormat,
    NoticeSink,
    Planner,
    ProgramView,
    PublishedBook,
    SavedWorkflows,
    ScheduledJobs,
    SearchEngines,
    SessionSearch,
    SkillStore,
    TaskList,
    ToolSearch,
    VaultFolder,
)
from skales.tools.programs import SandboxRules
from skales.tools.screens import ScreenMemory
from skales.tools.starting import WorkStarter


class ToolContext(Struct, frozen=True, kw_only=True):
    """The surroundings of one call. Path arguments arrive checked; what a tool derives from them it checks again.

    `command_timeout_s` bounds a shell command or script. `cameras` are the ones of the settings, by name.
    `service_urls` are addresses the person named instead of the usual ones of keyless services.
    """

    scope: CallScope
    paths: PathPolicy
    network: NetworkPolicy
    data: DataDirectory
    sessions: SessionSearch
    memories: MemoryNotes
    tasks: TaskList
    clock: Clock
    ids: IdSource
    tools: ToolSearch
    ftp_profiles: FtpProfileBook
    deploy_targets: DeployTargetBook
    published: PublishedBook
    screens: ScreenMemory
    cameras: Mapping[str, Camera]
    background: BackgroundPrograms
    sandbox: SandboxRules
    planner: Planner
    graph: Graph
    skills: SkillStore
    program: ProgramView
    notices: NoticeSink
    vaults: Sequence[VaultFolder]
    note_format: NoteFormat
    search: SearchEngines
    connectors: Connectors
    service_urls: Mapping[str, str]
    cron: ScheduledJobs
    workflows: SavedWorkflows
    work: WorkStarter
    command_timeout_s: float = 120
