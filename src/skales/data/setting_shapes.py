"""What settings.json may hold, with its defaults. Spec: data-directory.md, "settings.json"."""

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    model_validator,
)
from pydantic.alias_generators import to_camel

from skales.core.tool import SafetyMode
from skales.data.endpoints import parse_account_id, parse_api_key, parse_base_url
from skales.data.setting_checks import amount, from_to, parsed_by, require_open

BUDGET_LIMIT_USD = 100_000


class FileAccess(StrEnum):
    """Where file tools may go. Spec: security.md, "File access"."""

    WORKSPACE_ONLY = "workspace_only"
    CUSTOM = "custom"
    UNRESTRICTED = "unrestricted"


class SandboxMode(StrEnum):
    """Whether commands run in a sandbox: always, where the computer has one, never. Spec: security.md."""

    ON = "on"
    AUTO = "auto"
    OFF = "off"


def _spell(name: str) -> str:
    """The name as it stands in the file: `approval_timeout_s` is `approvalTimeoutSeconds` there."""
    return to_camel(re.sub(r"_s$", "_seconds", name))


class _FilePart(BaseModel):
    model_config = ConfigDict(frozen=True, extra="allow", populate_by_name=True, alias_generator=_spell)

    def __repr_args__(self) -> Iterable[tuple[str | None, object]]:
        # Keys we do not know may hold secrets of other programs.
        return [(name, getattr(self, name)) for name, field in type(self).model_fields.items() if field.repr]


class SearchEngine(StrEnum):
    """Which search engine is asked first; the others that are set up follow in their order."""

    AUTO = "auto"
    OFF = "off"
    DUCKDUCKGO = "duckduckgo"
    BRAVE = "brave"
    TAVILY = "tavily"
    SEARXNG = "searxng"


# Places made to collect what others send. A page that talks a model into a request most likely names one of them.
BLOCKED_DOMAINS = (
    "webhook.site", "requestbin.com", "requestbin.net", "requestcatcher.com", "hookbin.com", "interact.sh",
    "oast.fun", "oast.live", "oast.me", "oast.online", "oast.pro", "oast.site", "burpcollaborator.net",
    "oastify.com", "dnslog.cn", "ceye.io",
)  # fmt: skip


# Results with these words are hardly ever what somebody looks for who did not write them.
SEARCH_BUZZWORDS = ("online casino", "casino bonus", "free spins", "escort service", "porn", "xxx video", "keygen")


class SearchEngineSettings(_FilePart):
    """A search engine's key and address; empty texts mean none and its own."""

    api_key: Annotated[str, parsed_by(parse_api_key)] = Field(default="", repr=False)
    base_url: Annotated[str, parsed_by(parse_base_url)] = ""


class ModelSettings(_FilePart):
    """What the person says of one model; it counts more than what anybody else says. 0 and null leave it open."""

    context_tokens: Annotated[int, from_to(0, 100_000_000)] = 0
    output_tokens: Annotated[int, from_to(0, 100_000_000)] = 0
    vision: bool | None = None
    tools: bool | None = None


class SignInSettings(_FilePart):
    """An application of one's own to sign in with, instead of the catalogue's."""

    client_id: str = ""
    authorize_url: Annotated[str, parsed_by(parse_base_url)] = ""
    token_url: Annotated[str, parsed_by(parse_base_url)] = ""
    redirect_url: Annotated[str, parsed_by(parse_base_url)] = ""
    scope: str = ""


class ProviderSettings(_FilePart):
    """One model endpoint. Empty texts mean the catalogue's own; `context_tokens` 0 means unknown.

    `label` is what the person calls a slot of their own, `endpoint` names one of the catalogue's addresses,
    `account_id` fills the placeholder of an address, `account_type`, `token_url` and `ca_file` belong to a key that is
    exchanged for a token. `models` holds what the person says of single models, under `*` of all of them.
    """

    enabled: bool = True
    label: str = ""
    api_key: Annotated[str, parsed_by(parse_api_key)] = Field(default="", repr=False)
    base_url: Annotated[str, parsed_by(parse_base_url)] = ""
    model: str = ""
    context_tokens: Annotated[int, from_to(0, 100_000_000)] = 0
    endpoint: str = ""
    account_id: Annotated[str, parsed_by(parse_account_id)] = ""
    account_type: str = ""
    token_url: Annotated[str, parsed_by(parse_base_url)] = ""
    ca_file: str = ""
    sign_in: SignInSettings = SignInSettings()
    models: dict[str, ModelSettings] = {}

    def is_chosen(self) -> bool:
        """Whether the file says in so many words that it is on."""
        return self.enabled and "enabled" in self.model_fields_set


class FallbackSettings(_FilePart):
    """Who answers when the chosen provider fails; in the file also as text, `provider/model`."""

    provider: str = ""
    model: str = ""

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        provider, _, model = value.partition("/")
        return {"provider": provider.strip(), "model": model.strip()}


class VaultSettings(_FilePart):
    """A folder of notes, kept with Obsidian; in the file also as text, the path alone."""

    path: str = ""
    alias: str = ""

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: object) -> object:
        return {"path": value.strip()} if isinstance(value, str) else value


class NoteFormat(_FilePart):
    """How new notes are made: folder, text and name with `{title}` and other places, and a tag. Empty is plain."""

    folder: str = ""
    template: str = ""
    tag: str = ""
    filename: str = ""


class CameraSettings(_FilePart):
    """A camera. `address` is where it gives one picture (http, https), or a device such as `/dev/video0`."""

    address: str = Field(default="", repr=False)
    username: str = ""
    password: Annotated[str, AfterValidator(require_open)] = Field(default="", repr=False)


class Settings(_FilePart):
    """All settings as they count now. Shared between readers; nobody changes it."""

    active_provider: str = "skales_local"
    providers: dict[str, ProviderSettings] = {}
    fallback_providers: list[FallbackSettings] = []
    small_model: FallbackSettings = FallbackSettings()  # for titles and summaries; nobody while empty
    system_prompt: str = ""
    locale: str = ""  # as the browser asks for
    theme: str = "system"
    accent: str = "viridian"
    onboarding: str = ""  # how far the first run came
    safety_mode: SafetyMode = SafetyMode.SAFE
    file_access_mode: FileAccess = FileAccess.WORKSPACE_ONLY
    allowed_folders: list[str] = []
    blocked_folders: list[str] = []
    allow_loopback: bool = False
    allow_lan: bool = True
    blocked_domains: list[str] = list(BLOCKED_DOMAINS)
    search_engine: SearchEngine = SearchEngine.AUTO
    search_order: list[str] = ["searxng", "tavily", "brave", "duckduckgo"]
    search_engines: dict[str, SearchEngineSettings] = {}
    search_buzzwords: list[str] = list(SEARCH_BUZZWORDS)
    tavily_api_key: Annotated[str, parsed_by(parse_api_key)] = Field(default="", repr=False)  # as other programs write
    service_urls: dict[str, Annotated[str, parsed_by(parse_base_url)]] = {}  # instead of the usual addresses
    sandbox: SandboxMode = SandboxMode.AUTO
    sandbox_network: bool = True  # for commands that ask for it
    approval_timeout_s: Annotated[int, from_to(5, 86_400)] = 300
    task_timeout_s: Annotated[int, from_to(10, 86_400)] = 300  # of one task, subtask or scheduled run
    undo_megabytes: Annotated[int, from_to(16, 1_000_000)] = 1024
    inactivity_timeout_s: Annotated[int, from_to(5, 3_600)] = 60
    local_inactivity_timeout_s: Annotated[int, from_to(5, 3_600)] = 200
    session_budget_usd: Annotated[float, amount(BUDGET_LIMIT_USD)] = 5.0  # 0 is none
    daily_budget_usd: Annotated[float, amount(BUDGET_LIMIT_USD)] = 0.0
    compact_at_percent: Annotated[int, from_to(0, 95)] = 75  # of the window; 0 is never
    automation_paused: bool = False  # set by the kill switch: no task and no scheduled run begins
    turn_minutes: Annotated[float, amount(1_440)] = 60.0  # without the time that a person is waited for; 0 is none
    calls_per_turn: Annotated[int, from_to(1, 1_000)] = 15  # of one tool
    audit_days: Annotated[int, from_to(1, 3_650)] = 90
    cameras: dict[str, CameraSettings] = {}
    addons: dict[str, bool] = {}
    pinned_tools: list[str] = []  # always offered to models
    obsidian_vaults: list[VaultSettings] = []
    obsidian_format: NoteFormat = NoteFormat()

    def provider(self, provider_id: str) -> ProviderSettings:
        """What is set for a provider; all defaults when the file does not name it."""
        return self.providers.get(provider_id, ProviderSettings())
