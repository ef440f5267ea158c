"""A toolbox over real stores and a workspace of its own; tools are called as the agent calls them."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from functools import partial
from pathlib import Path

import anyio
import pytest

from skales.app.notices import NoticeBoard
from skales.app.program import Program
from skales.app.standings import stand_connectors
from skales.core.errors import ToolError
from skales.core.ids import SessionId
from skales.core.json import JsonValue
from skales.core.ports import CallScope, Question
from skales.core.tool import ToolResult
from skales.data.agent_skills import AgentSkillStore
from skales.data.connectors import ConnectorStore
from skales.data.cron import CronStore
from skales.data.deploy_targets import DeployTargets
from skales.data.ftp_profiles import FtpProfiles
from skales.data.index import Index
from skales.data.knowledge_graph import KnowledgeGraph
from skales.data.memories import MemoryStore
from skales.data.paths import DataDirectory
from skales.data.planner import PlannerStore
from skales.data.published import PublishedFiles
from skales.data.quarantine import Quarantine
from skales.data.sessions import SessionStore
from skales.data.setting_shapes import CameraSettings, NoteFormat, Settings, VaultSettings
from skales.data.settings import SettingsStore
from skales.data.tasks import TaskStore
from skales.data.workflows import WorkflowStore
from skales.security.network import NetworkPolicy
from skales.security.paths import PathPolicy
from skales.tools.conditions import Condition
from skales.tools.context import ToolContext
from skales.tools.programs import SandboxRules
from skales.tools.registry import BuiltinToolbox
from skales.tools.screens import ScreenMemory
from skales.tools.starting import Part, PartEnd, PartReport
from skales.tools.system.background import ProcessTable
from skales.tools.web.search_desk import SearchDesk
from tests.conftest import CountingIds, FixedClock


@dataclass
class Rules:
    """What a test may change before it calls a tool."""

    paths: PathPolicy
    network: NetworkPolicy = field(default_factory=lambda: NetworkPolicy(allow_loopback=True))
    addons: dict[str, bool] = field(default_factory=dict[str, bool])
    settings: Settings = field(default_factory=Settings)
    sandbox: SandboxRules = field(default_factory=SandboxRules)
    answers: list[str] = field(default_factory=list[str])
    questions: list[Question] = field(default_factory=list[Question])
    vaults: list[VaultSettings] = field(default_factory=list[VaultSettings])
    note_format: NoteFormat = field(default_factory=NoteFormat)
    board: NoticeBoard = field(default_factory=lambda: NoticeBoard(FixedClock(), list, list))
    cameras: dict[str, CameraSettings] = field(default_factory=dict[str, CameraSettings])


@dataclass
class ScriptedWork:
    """Stands where work is started: keeps what was ordered, ends as it is told, by default well."""

    tasks: TaskStore
    ends: list[PartEnd] = field(default_factory=list[PartEnd])
    ordered: list[tuple[str, Sequence[Part]]] = field(default_factory=list[tuple[str, Sequence[Part]]])
    refusal: ToolError | None = None

    async def run_parts(
        self, parent: SessionId, title: str, parts: Sequence[Part], report: PartReport
    ) -> Sequence[PartEnd]:
        await self.refuse_filing(parent)
        self.ordered.append((title, parts))
        for number, part in enumerate(parts):
            report(part.title, number)
        return self.ends or [PartEnd(title=part.title, ok=True, answer=f"did {part.title}") for part in parts]

    async def refuse_filing(self, session_id: SessionId) -> None:
        if self.refusal is not None:
            raise self.refusal

    async def delete_task(self, task_id: str) -> None:
        self.tasks.delete(task_id)


Call = Callable[..., Awaitable[ToolResult]]


@pytest.fixture(scope="session", autouse=True)
def own_trash(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The system's trash, moved to a temporary folder before the library that uses it reads the environment."""
    with pytest.MonkeyPatch.context() as patch:
        place = tmp_path_factory.mktemp("share")
        patch.setenv("XDG_DATA_HOME", str(place))
        import send2trash  # noqa: F401

        yield place / "Trash"


@pytest.fixture
def workspace(home: DataDirectory) -> Path:
    return home.workspace


@pytest.fixture
def rules(home: DataDirectory) -> Rules:
    return Rules(PathPolicy(workspace=home.workspace, blocked=home.private))


@pytest.fixture
def search_desk(clock: FixedClock, rules: Rules) -> SearchDesk:
    return SearchDesk(lambda: rules.settings, clock)


@pytest.fixture
def work(home: DataDirectory, clock: FixedClock, ids: CountingIds) -> ScriptedWork:
    return ScriptedWork(TaskStore(home, Quarantine(home.quarantine, clock), clock, ids))


@pytest.fixture
def contexts(  # noqa: PLR0913 - fixtures
    home: DataDirectory,
    clock: FixedClock,
    ids: CountingIds,
    rules: Rules,
    search_desk: SearchDesk,
    work: ScriptedWork,
) -> Iterator[Callable[[CallScope], ToolContext]]:
    quarantine = Quarantine(home.quarantine, clock)
    sessions = SessionStore(home, quarantine, Index(home.index, home.sessions), clock)
    screens = ScreenMemory(clock)

    settings = SettingsStore(home, quarantine)
    program = Program(home, settings.load, quarantine)
    program.toolbox = BuiltinToolbox(lambda scope: context(scope), lambda: rules.addons)
    background = ProcessTable(clock)

    def context(scope: CallScope) -> ToolContext:
        return ToolContext(
            scope=scope,
            paths=rules.paths,
            network=rules.network,
            data=home,
            sessions=sessions,
            memories=MemoryStore(home, quarantine, clock, ids),
            tasks=TaskStore(home, quarantine, clock, ids),
            clock=clock,
            ids=ids,
            tools=BuiltinToolbox(context, lambda: rules.addons),
            planner=PlannerStore(home, quarantine, clock, ids, UTC),
            graph=KnowledgeGraph(home, quarantine, clock, ids),
            skills=AgentSkillStore(home, quarantine),
            program=program,
            notices=rules.board,
            vaults=tuple(rules.vaults),
            note_format=rules.note_format,
            ftp_profiles=FtpProfiles(home, quarantine, clock, ids),
            deploy_targets=DeployTargets(home, quarantine),
            published=PublishedFiles(home, quarantine),
            screens=screens,
            cameras=rules.cameras,
            search=search_desk,
            connectors=ConnectorStore(home, quarantine),
            service_urls=rules.settings.service_urls,
            background=background,
            sandbox=rules.sandbox,
            cron=CronStore(home, quarantine, clock, ids, zone=lambda: "Europe/Berlin"),
            workflows=WorkflowStore(home, quarantine),
            work=work,
        )

    yield context
    anyio.run(background.close)
    sessions.close()


@pytest.fixture
def toolbox(
    contexts: Callable[[CallScope], ToolContext], rules: Rules, search_desk: SearchDesk, home: DataDirectory
) -> BuiltinToolbox:
    connectors = ConnectorStore(home, Quarantine(home.quarantine, FixedClock()))
    conditions: dict[str, Condition] = {
        "search_engine": search_desk.standing,
        "connector": partial(stand_connectors, connectors),
    }
    return BuiltinToolbox(contexts, lambda: rules.addons, conditions)


@pytest.fixture
def scope(rules: Rules) -> CallScope:
    async def ask(question: Question) -> str:
        rules.questions.append(question)
        return rules.answers.pop(0)

    return CallScope(SessionId("session_1"), "call_1", ask, lambda _progress: None)


@pytest.fixture
def ctx(contexts: Callable[[CallScope], ToolContext], scope: CallScope) -> ToolContext:
    return contexts(scope)


@pytest.fixture
def call(toolbox: BuiltinToolbox, scope: CallScope) -> Call:
    """`await call("read_file", path="a.txt")`"""

    async def run(name: str, /, **arguments: JsonValue) -> ToolResult:
        spec = toolbox.find(name)
        assert spec is not None, f"no tool {name}"
        return await toolbox.run(spec, toolbox.check_arguments(spec, arguments), scope)

    return run
