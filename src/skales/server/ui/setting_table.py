"""The table of settings: where each stands, what it is called, what it takes. A new setting is one entry here.

The page, the search and the command palette are made from it. Providers have rows of their own, which
`provider_rows` makes from the catalogue. Spec: ui-surfaces.md, "Settings sections".
"""

from collections.abc import Callable
from enum import StrEnum

from msgspec import Struct

from skales.core.json import JsonValue
from skales.core.tool import SafetyMode
from skales.data.setting_shapes import BUDGET_LIMIT_USD, FileAccess, SandboxMode, SearchEngine, Settings
from skales.security.network import parse_domain
from skales.server.ui.frame import ACCENTS
from skales.server.words import LANGUAGES, N_


class Kind(StrEnum):
    """What a setting takes, and so how it is shown."""

    SWITCH = "switch"
    SEGMENTS = "segments"
    CARDS = "cards"
    SELECT = "select"
    NUMBER = "number"
    LINE = "line"
    TEXT = "text"
    FOLDERS = "folders"
    WORDS = "words"


class Section(StrEnum):
    """The parts of the page, in their order."""

    APPEARANCE = "appearance"
    PROVIDERS = "providers"
    SAFETY = "safety"
    CHAT = "chat"
    TOOLS = "tools"
    DEVELOPER = "developer"
    DATA = "data"
    ABOUT = "about"


class Option(Struct, frozen=True):
    """One of several values. A `warning` says what changes, and has to be confirmed when `rank` rises to it."""

    value: str
    label: str
    help: str = ""
    symbol: str = ""
    rank: int = 0
    warning: str = ""


class Setting(Struct, frozen=True, kw_only=True):
    """A row of the page. `name` is the dotted name in settings.json; texts are marked, and translated when shown.

    `words` are more words to find it by. `parse` raises InputError for a line that cannot be kept, `check` for a value
    that does not go with the others. A switch with a `warning` asks before it is switched on. `suggestions` is the id
    of a list of values to pick from. A number is whole unless `is_decimal`. `path` is for a name whose parts may hold
    dots. `item_key` is where a folder stands when each item of the list is an object.
    """

    name: str
    section: Section
    label: str
    kind: Kind
    help: str = ""
    words: str = ""
    is_advanced: bool = False
    options: tuple[Option, ...] = ()
    unit: str = ""
    low: int = 0
    high: int = 0
    is_decimal: bool = False
    placeholder: str = ""
    warning: str = ""
    suggestions: str = ""
    parse: Callable[[str], str] | None = None
    check: Callable[[Settings, JsonValue], None] | None = None
    path: tuple[str, ...] = ()
    item_key: str = ""

    @property
    def anchor(self) -> str:
        """The id of the row on its page."""
        return f"setting-{self.name.replace('.', '-')}"

    @property
    def place(self) -> tuple[str, ...]:
        """The path in the file."""
        return self.path or tuple(self.name.split("."))


SECTIONS = {
    Section.APPEARANCE: (N_("Appearance"), N_("How Skales looks and which language it speaks.")),
    Section.PROVIDERS: (
        N_("Providers"),
        N_("Who answers. Keys stay on this computer and never come back to this page."),
    ),
    Section.SAFETY: (N_("Safety"), N_("What runs unasked, and where tools may go.")),
    Section.CHAT: (N_("Chat"), N_("How it answers, and how long it may stay silent.")),
    Section.TOOLS: (N_("Tools and add-ons"), N_("What Skales can do besides talking.")),
    Section.DEVELOPER: (N_("Developer"), N_("Let your own programs use Skales.")),
    Section.DATA: (N_("Your data"), N_("Plain files. Copy, edit or delete them as you like, also while Skales runs.")),
    Section.ABOUT: (N_("About"), N_("Version and licences.")),
}

# The spellings of tokens.css for people.
_ACCENT_NAMES = {"viridian": N_("Viridian"), "indigo": N_("Indigo"), "amber": N_("Amber")}

_APPEARANCE = (
    Setting(
        name="theme",
        section=Section.APPEARANCE,
        label=N_("Theme"),
        kind=Kind.SEGMENTS,
        words=N_("dark mode, light, night, brightness, colours"),
        options=(
            Option("system", N_("System"), symbol="system"),
            Option("light", N_("Light"), symbol="light"),
            Option("dark", N_("Dark"), symbol="dark"),
        ),
    ),
    Setting(
        name="accent",
        section=Section.APPEARANCE,
        label=N_("Accent"),
        help=N_("The colour of buttons, links and marks."),
        kind=Kind.SEGMENTS,
        words=N_("colour, tone, tint"),
        options=tuple(Option(accent, _ACCENT_NAMES.get(accent, accent)) for accent in ACCENTS),
    ),
    Setting(
        name="locale",
        section=Section.APPEARANCE,
        label=N_("Language"),
        help=N_("The language of this page. Answers come in the language you write in."),
        kind=Kind.SELECT,
        words=N_("translation, locale, English, German"),
        options=(Option("", N_("As the browser asks for")), *(Option(tag, own) for tag, own in LANGUAGES.items())),
    ),
)

# What the first run offers; the third mode is for people who look for it.
FIRST_MODES = (
    Option(
        SafetyMode.SAFE,
        N_("Ask me first (safe)"),
        N_("Reading runs by itself. Writing, deleting and commands wait for your yes. Dangerous commands are blocked."),
    ),
    Option(
        SafetyMode.ADVANCED,
        N_("Do not ask (advanced)"),
        N_("Everything runs by itself, except commands that could wreck the computer."),
        rank=1,
        warning=N_(
            "Files are then written and deleted, commands run and messages sent without asking you. "
            "Wiping a disk, deleting the root folder and the like stay blocked."
        ),
    ),
)
_UNRESTRICTED = Option(
    SafetyMode.UNRESTRICTED,
    N_("No brakes (unrestricted)"),
    N_("Even dangerous commands run, with a warning in the log. For throw-away machines."),
    rank=2,
    warning=N_(
        "Nothing asks and nothing is blocked any more: a wrong command can erase this computer. "
        "Choose this only on a machine that you can throw away."
    ),
)

_SAFETY = (
    Setting(
        name="safetyMode",
        section=Section.SAFETY,
        label=N_("What runs unasked"),
        help=N_("Private files of Skales stay closed in every mode."),
        kind=Kind.CARDS,
        words=N_("safe, advanced, unrestricted, approval, permission, confirm, security, dangerous commands"),
        options=(*FIRST_MODES, _UNRESTRICTED),
    ),
    Setting(
        name="fileAccessMode",
        section=Section.SAFETY,
        label=N_("Where file tools may go"),
        kind=Kind.CARDS,
        words=N_("folders, paths, workspace, disk, file access"),
        options=(
            Option(
                FileAccess.WORKSPACE_ONLY,
                N_("Only the workspace"),
                N_("The folder “workspace” in your data folder."),
            ),
            Option(
                FileAccess.CUSTOM,
                N_("The workspace and folders I name"),
                N_("Those of the list below, with everything in them."),
                rank=1,
                warning=N_("Tools can then read and change files in every folder of the list below."),
            ),
            Option(
                FileAccess.UNRESTRICTED,
                N_("Everywhere"),
                N_("Whatever your own account may open, except blocked folders."),
                rank=2,
                warning=N_("Tools can then read and change every file that your own account can open."),
            ),
        ),
    ),
    Setting(
        name="allowedFolders",
        section=Section.SAFETY,
        label=N_("Folders I name"),
        help=N_("They count while “The workspace and folders I name” is chosen."),
        kind=Kind.FOLDERS,
        words=N_("allowed folders, paths, projects"),
        placeholder=N_("/home/you/projects or ~/projects"),
    ),
    Setting(
        name="blockedFolders",
        section=Section.SAFETY,
        label=N_("Blocked folders"),
        help=N_("Closed in every mode, for commands too."),
        kind=Kind.FOLDERS,
        is_advanced=True,
        words=N_("forbidden, private, deny, exclude"),
        placeholder=N_("/home/you/private or ~/private"),
    ),
    Setting(
        name="allowLoopback",
        section=Section.SAFETY,
        label=N_("Web tools may reach services on this computer"),
        help=N_("The internet and your network are open to them anyway; cloud metadata addresses never are."),
        kind=Kind.SWITCH,
        is_advanced=True,
        words=N_("localhost, loopback, 127.0.0.1, network, LAN"),
        warning=N_(
            "Programs that listen only for this computer often trust every caller. Web tools could then use them."
        ),
    ),
    Setting(
        name="allowLan",
        section=Section.SAFETY,
        label=N_("Web tools may reach your network"),
        help=N_("Other computers at home or at work, and those of your tailnet. The internet is open either way."),
        kind=Kind.SWITCH,
        is_advanced=True,
        words=N_("LAN, intranet, router, NAS, private addresses, network"),
    ),
    Setting(
        name="blockedDomains",
        section=Section.SAFETY,
        label=N_("Blocked domains"),
        help=N_("Closed to every web tool, with all that is below them, also by a redirect."),
        kind=Kind.WORDS,
        is_advanced=True,
        words=N_("block list, hosts, websites, forbidden, deny"),
        placeholder="example.org",
        parse=parse_domain,
    ),
    Setting(
        name="sandbox",
        section=Section.SAFETY,
        label=N_("Sandbox for commands"),
        help=N_("In it a command sees only the system's programs and the folders that tools may use."),
        kind=Kind.CARDS,
        is_advanced=True,
        words=N_("confine, isolation, bubblewrap, seatbelt, container, shell, terminal"),
        options=(
            Option(SandboxMode.ON, N_("Always"), N_("Without a sandbox on this computer, commands do not run.")),
            Option(
                SandboxMode.AUTO, N_("Where there is one"), N_("Otherwise the approval card says that there is none.")
            ),
            Option(
                SandboxMode.OFF,
                N_("Never"),
                N_("Commands reach everything that your own account can reach."),
                rank=1,
                warning=N_("Commands can then read and change every file that your own account can open."),
            ),
        ),
    ),
    Setting(
        name="sandboxNetwork",
        section=Section.SAFETY,
        label=N_("Commands may use the network"),
        help=N_("Only those that ask for it; the approval card says so. To the others it stays closed."),
        kind=Kind.SWITCH,
        is_advanced=True,
        words=N_("internet, sandbox, download, install, offline"),
    ),
    Setting(
        name="approvalTimeoutSeconds",
        section=Section.SAFETY,
        label=N_("Time to answer a question"),
        help=N_("No answer by then is a no."),
        kind=Kind.NUMBER,
        is_advanced=True,
        unit=N_("seconds"),
        low=5,
        high=86_400,
        words=N_("approval, timeout, wait"),
    ),
    Setting(
        name="taskTimeoutSeconds",
        section=Section.SAFETY,
        label=N_("Time for a task"),
        help=N_("Also for each scheduled run and each subtask. Waiting for your answer does not count."),
        kind=Kind.NUMBER,
        is_advanced=True,
        unit=N_("seconds"),
        low=10,
        high=86_400,
        words=N_("task, schedule, timeout, limit"),
    ),
    Setting(
        name="turnMinutes",
        section=Section.SAFETY,
        label=N_("Time for one answer"),
        help=N_("With all its tools. Waiting for you does not count. 0 means no ceiling."),
        kind=Kind.NUMBER,
        is_advanced=True,
        is_decimal=True,
        unit=N_("minutes"),
        high=1_440,
        words=N_("ceiling, limit, runaway, loop, long"),
    ),
    Setting(
        name="callsPerTurn",
        section=Section.SAFETY,
        label=N_("Calls of one tool in one answer"),
        help=N_("What is more is not run, and the model is told so."),
        kind=Kind.NUMBER,
        is_advanced=True,
        unit=N_("calls"),
        low=1,
        high=1_000,
        words=N_("ceiling, limit, runaway, loop, repeat"),
    ),
    Setting(
        name="auditDays",
        section=Section.SAFETY,
        label=N_("How long the audit log is kept"),
        help=N_("Older days are dropped when a new one begins."),
        kind=Kind.NUMBER,
        is_advanced=True,
        unit=N_("days"),
        low=1,
        high=3_650,
        words=N_("activity, log, history, retention"),
    ),
    Setting(
        name="undoMegabytes",
        section=Section.SAFETY,
        label=N_("Space for undo"),
        help=N_("Copies of what tools change. When it is full, the oldest steps can no longer be undone."),
        kind=Kind.NUMBER,
        is_advanced=True,
        unit=N_("MB"),
        low=16,
        high=1_000_000,
        words=N_("undo, revert, restore, disk, space"),
    ),
)

_CHAT = (
    Setting(
        name="systemPrompt",
        section=Section.CHAT,
        label=N_("Standing instructions"),
        help=N_("Goes with every conversation: who you are, how answers should be, what to leave out."),
        kind=Kind.TEXT,
        placeholder=N_("Answer briefly. I write Python and read German."),
        words=N_("system prompt, persona, soul, tone, style, character"),
    ),
    Setting(
        name="compactAtPercent",
        section=Section.CHAT,
        label=N_("Summarise long conversations at"),
        help=N_(
            "When a conversation fills so much of the model's window, a summary stands for its oldest part. "
            "Every message is kept, and the summary can be undone. 0 means never."
        ),
        kind=Kind.NUMBER,
        is_advanced=True,
        unit=N_("percent"),
        high=95,
        words=N_("compaction, compress, context window, memory, tokens, summary"),
    ),
    Setting(
        name="inactivityTimeoutSeconds",
        section=Section.CHAT,
        label=N_("Silence before giving up"),
        help=N_("How long a provider on the internet may send nothing before the request counts as failed."),
        kind=Kind.NUMBER,
        is_advanced=True,
        unit=N_("seconds"),
        low=5,
        high=3_600,
        words=N_("timeout, slow, hang, inactivity"),
    ),
    Setting(
        name="localInactivityTimeoutSeconds",
        section=Section.CHAT,
        label=N_("Silence before giving up on a local model"),
        help=N_("Models on your own computer or network may need longer for their first word."),
        kind=Kind.NUMBER,
        is_advanced=True,
        unit=N_("seconds"),
        low=5,
        high=3_600,
        words=N_("timeout, slow, hang, inactivity, Ollama, LM Studio"),
    ),
)

_BUDGETS = (
    Setting(
        name="sessionBudgetUsd",
        section=Section.CHAT,
        label=N_("What a conversation may cost"),
        help=N_("At half of it and at all of it Skales asks before it goes on. 0 means no ceiling."),
        kind=Kind.NUMBER,
        is_decimal=True,
        unit=N_("USD"),
        high=BUDGET_LIMIT_USD,
        words=N_("money, budget, limit, ceiling, spending, price, tokens, costs"),
    ),
    Setting(
        name="dailyBudgetUsd",
        section=Section.CHAT,
        label=N_("What a day may cost"),
        help=N_("All conversations together, asked in the same way. 0 means no ceiling."),
        kind=Kind.NUMBER,
        is_decimal=True,
        unit=N_("USD"),
        high=BUDGET_LIMIT_USD,
        words=N_("money, budget, limit, ceiling, spending, price, tokens, costs"),
    ),
)

_TOOLS = (
    Setting(
        name="obsidianVaults",
        section=Section.TOOLS,
        label=N_("Obsidian vaults"),
        help=N_("Folders with your notes. The note tools may read them and add to them, and nothing else in them."),
        kind=Kind.FOLDERS,
        words=N_("notes, Markdown, vault, Obsidian, knowledge"),
        placeholder=N_("/home/you/vault or ~/vault"),
        item_key="path",
    ),
)

_SEARCH = (
    Setting(
        name="searchEngine",
        section=Section.TOOLS,
        label=N_("Web search"),
        help=N_("Who is asked first. When it does not answer, the others that are set up follow."),
        kind=Kind.SELECT,
        words=N_("internet, DuckDuckGo, Brave, Tavily, SearXNG, Google"),
        options=(
            Option(SearchEngine.AUTO, N_("The best one that is set up")),
            Option(SearchEngine.DUCKDUCKGO, "DuckDuckGo"),
            Option(SearchEngine.BRAVE, "Brave"),
            Option(SearchEngine.TAVILY, "Tavily"),
            Option(SearchEngine.SEARXNG, "SearXNG"),
            Option(SearchEngine.OFF, N_("Off")),
        ),
    ),
    Setting(
        name="searchEngines.searxng.baseUrl",
        section=Section.TOOLS,
        label=N_("Address of your SearXNG"),
        help=N_("Its JSON format must be switched on. Empty means there is none."),
        kind=Kind.LINE,
        is_advanced=True,
        placeholder="http://192.168.1.20:8080",
        words=N_("search, self-hosted, metasearch"),
    ),
    Setting(
        name="searchBuzzwords",
        section=Section.TOOLS,
        label=N_("Words that no search result may hold"),
        help=N_("Such results are left out, unless the search itself uses the word."),
        kind=Kind.WORDS,
        is_advanced=True,
        words=N_("filter, spam, search results, buzzwords"),
        placeholder=N_("online casino"),
    ),
)

SETTINGS = (*_APPEARANCE, *_SAFETY, *_CHAT, *_BUDGETS, *_TOOLS, *_SEARCH)
