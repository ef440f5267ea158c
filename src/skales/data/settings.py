"""settings.json: what the person chose, read forgivingly and written strictly.

A key of the wrong type costs itself alone: it counts as its default, is reported, and stays in the file. A change is
checked as a whole before anything is written. Spec: data-directory.md, "settings.json".
"""

import copy
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails, PydanticCustomError

from skales.core.errors import BrokenDocumentError, InputError, NotFoundError
from skales.core.ids import is_safe_id
from skales.core.json import JsonValue
from skales.core.tool import SafetyMode
from skales.data.document import Stamp, read_object, stamp_of, storage_errors
from skales.data.endpoints import mask_key as mask_key  # whoever shows settings masks keys
from skales.data.endpoints import parse_account_id, parse_api_key, parse_base_url
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.secret_places import SETTINGS, SecretDocument
from skales.data.setting_names import open_object, read_setting, write_setting
from skales.data.vault import Vault
from skales.data.vault_text import is_sealed

RawSettings = dict[str, JsonValue]
Place = tuple[str | int, ...]

BUDGET_LIMIT_USD = 100_000

# What a value must be, by the kind of pydantic's complaint.
_WANTED = {
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
}


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


def _from_to(low: int, high: int) -> WrapValidator:
    def check(value: object, read: ValidatorFunctionWrapHandler) -> int:
        try:
            number = low - 1 if isinstance(value, bool) else cast(int, read(value))
        except ValidationError:
            number = low - 1
        if not low <= number <= high:
            raise PydanticCustomError(
                "refused", "must be a whole number from {low} to {high}", {"low": low, "high": high}
            )
        return number

    return WrapValidator(check)


def _amount(high: int) -> WrapValidator:
    def check(value: object, read: ValidatorFunctionWrapHandler) -> float:
        try:
            number = -1.0 if isinstance(value, bool) else cast(float, read(value))
        except ValidationError:
            number = -1.0
        if not 0 <= number <= high:  # not a number is none of these either
            raise PydanticCustomError("refused", "must be a number from 0 to {high}", {"high": high})
        return number

    return WrapValidator(check)


def _parsed_by(parse: Callable[[str], str]) -> AfterValidator:
    def check(value: str) -> str:
        try:
            return parse(value)
        except InputError as error:
            reason = {"reason": f"{error.message[0].lower()}{error.message[1:]}", "hint": error.hint}
            raise PydanticCustomError("refused", "cannot be used: {reason}", reason) from error

    return AfterValidator(check)


def _require_open(value: str) -> str:
    if is_sealed(value):
        raise PydanticCustomError("refused", "is sealed by a key store that is not open here")
    return value


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

    api_key: Annotated[str, _parsed_by(parse_api_key)] = Field(default="", repr=False)
    base_url: Annotated[str, _parsed_by(parse_base_url)] = ""


class ModelSettings(_FilePart):
    """What the person says of one model; it counts more than what anybody else says. 0 and null leave it open."""

    context_tokens: Annotated[int, _from_to(0, 100_000_000)] = 0
    output_tokens: Annotated[int, _from_to(0, 100_000_000)] = 0
    vision: bool | None = None
    tools: bool | None = None


class SignInSettings(_FilePart):
    """An application of one's own to sign in with, instead of the catalogue's."""

    client_id: str = ""
    authorize_url: Annotated[str, _parsed_by(parse_base_url)] = ""
    token_url: Annotated[str, _parsed_by(parse_base_url)] = ""
    redirect_url: Annotated[str, _parsed_by(parse_base_url)] = ""
    scope: str = ""


class ProviderSettings(_FilePart):
    """One model endpoint. Empty texts mean the catalogue's own; `context_tokens` 0 means unknown.

    `label` is what the person calls a slot of their own, `endpoint` names one of the catalogue's addresses,
    `account_id` fills the placeholder of an address, `account_type`, `token_url` and `ca_file` belong to a key that is
    exchanged for a token. `models` holds what the person says of single models, under `*` of all of them.
    """

    enabled: bool = True
    label: str = ""
    api_key: Annotated[str, _parsed_by(parse_api_key)] = Field(default="", repr=False)
    base_url: Annotated[str, _parsed_by(parse_base_url)] = ""
    model: str = ""
    context_tokens: Annotated[int, _from_to(0, 100_000_000)] = 0
    endpoint: str = ""
    account_id: Annotated[str, _parsed_by(parse_account_id)] = ""
    account_type: str = ""
    token_url: Annotated[str, _parsed_by(parse_base_url)] = ""
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
    password: Annotated[str, AfterValidator(_require_open)] = Field(default="", repr=False)


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
    tavily_api_key: Annotated[str, _parsed_by(parse_api_key)] = Field(default="", repr=False)  # as other programs write
    service_urls: dict[str, Annotated[str, _parsed_by(parse_base_url)]] = {}  # instead of the usual addresses
    sandbox: SandboxMode = SandboxMode.AUTO
    sandbox_network: bool = True  # for commands that ask for it
    approval_timeout_s: Annotated[int, _from_to(5, 86_400)] = 300
    task_timeout_s: Annotated[int, _from_to(10, 86_400)] = 300  # of one task, subtask or scheduled run
    undo_megabytes: Annotated[int, _from_to(16, 1_000_000)] = 1024
    inactivity_timeout_s: Annotated[int, _from_to(5, 3_600)] = 60
    local_inactivity_timeout_s: Annotated[int, _from_to(5, 3_600)] = 200
    session_budget_usd: Annotated[float, _amount(BUDGET_LIMIT_USD)] = 5.0  # 0 is none
    daily_budget_usd: Annotated[float, _amount(BUDGET_LIMIT_USD)] = 0.0
    compact_at_percent: Annotated[int, _from_to(0, 95)] = 75  # of the window; 0 is never
    automation_paused: bool = False  # set by the kill switch: no task and no scheduled run begins
    turn_minutes: Annotated[float, _amount(1_440)] = 60.0  # without the time that a person is waited for; 0 is none
    calls_per_turn: Annotated[int, _from_to(1, 1_000)] = 15  # of one tool
    audit_days: Annotated[int, _from_to(1, 3_650)] = 90
    cameras: dict[str, CameraSettings] = {}
    addons: dict[str, bool] = {}
    pinned_tools: list[str] = []  # always offered to models
    obsidian_vaults: list[VaultSettings] = []
    obsidian_format: NoteFormat = NoteFormat()

    def provider(self, provider_id: str) -> ProviderSettings:
        """What is set for a provider; all defaults when the file does not name it."""
        return self.providers.get(provider_id, ProviderSettings())


@dataclass(frozen=True, slots=True)
class SettingFault:
    """A value of the file that does not count. `reason` goes on from the name: `must be true or false`."""

    place: Place
    reason: str
    hint: str = ""

    @property
    def name(self) -> str:
        """The dotted name: `providers.openai.model`."""
        return ".".join(map(str, self.place))

    def __str__(self) -> str:
        """Name and reason as one sentence without a period."""
        return f"{self.name!r} {self.reason}"


def parse_settings(raw: RawSettings) -> tuple[Settings, tuple[SettingFault, ...]]:
    """The settings an object of the file means, and what of it does not count. Null means the default."""
    value = {_whole(name): _copy(item) for name, item in raw.items()}
    faults: list[SettingFault] = []
    while True:
        try:
            return Settings.model_validate(value, by_alias=True, by_name=False), tuple(faults)
        except ValidationError as error:
            found = [_fault(detail) for detail in error.errors(include_url=False, include_input=False)]
            faults.extend(fault for fault in found if _value_at(value, fault.place) is not None)
            for fault in reversed(found):  # so that places in lists stay right while later ones go
                _drop(value, _cost(fault.place))


class SettingsStore:
    """Reads and changes the file; a person may edit it at any time. Thread-safe.

    `changed` hears of each change made here, with the file's object before and after.
    """

    def __init__(self, directory: DataDirectory, quarantine: Quarantine, vault: Vault | None = None) -> None:
        self._path = directory.settings
        self._quarantine = quarantine
        self._vault = vault or Vault(directory, quarantine)
        self._document = SecretDocument(SETTINGS, directory, quarantine, self._vault)
        self._cached: tuple[tuple[Stamp, int], Settings, tuple[SettingFault, ...]] | None = None
        self.changed: Callable[[RawSettings, RawSettings], None] = _nobody

    def load(self) -> Settings:
        """What counts now. A missing or broken file means all defaults, and a broken one is set aside.

        Raises StorageError when the file is there and cannot be read.
        """
        return self._read()[0]

    def faults(self) -> tuple[SettingFault, ...]:
        """Values of the file that do not count; the quarantine's notices name them too."""
        return self._read()[1]

    def update(self, change: Callable[[RawSettings], None]) -> Settings:
        """Alter the raw object in place; keys that nobody here knows survive.

        Raises InputError that names the key and what it may be; nothing is written then. Faults that the file
        had before do not stand in the way.
        """
        before: RawSettings = {}
        after: RawSettings = {}

        def change_checked(raw: RawSettings) -> None:
            nonlocal before, after
            before = copy.deepcopy(raw)
            change(raw)
            _refuse_new_faults(before, raw)
            after = copy.deepcopy(raw)

        self._document.update(change_checked)
        self.changed(before, after)
        return self.load()

    def raw(self) -> RawSettings:
        """The object of the file as it is; empty while it is missing or broken."""
        try:
            return dict(read_object(self._path, self._quarantine))
        except (NotFoundError, BrokenDocumentError):
            return {}

    def set_provider(
        self,
        provider_id: str,
        *,
        base_url: str | None = None,
        model: str | None = None,
        api_key: str | None = None,
        activate: bool = False,
    ) -> Settings:
        """Change what is given, in an entry that is made when missing; an empty key removes the stored one.

        `activate` makes it the provider that answers, and switches it on. Raises InputError.
        """
        if not is_safe_id(provider_id):
            raise InputError(f"{provider_id!r} cannot name a provider", hint="Use letters, digits, _ and -")
        wanted: RawSettings = {
            **({} if base_url is None else {"baseUrl": parse_base_url(base_url)}),
            **({} if model is None else {"model": model.strip()}),
            **({} if api_key is None else {"apiKey": parse_api_key(api_key)}),
            **({"enabled": True} if activate else {}),
        }

        def change(raw: RawSettings) -> None:
            open_object(open_object(raw, "providers"), provider_id).update(wanted)
            if activate:
                raw["activeProvider"] = provider_id

        return self.update(change)

    def get_value(self, name: str = "") -> JsonValue:
        """What counts under a dotted name of the file, such as `providers.openai.model`; secrets are masked.

        Without a name, everything. Raises NotFoundError that suggests the nearest name.
        """
        return read_setting(self.load(), name)

    def set_value(self, name: str, text: str) -> Settings:
        """Set a dotted name from text, read as the type of the key. Raises InputError."""
        return self.update(lambda raw: write_setting(Settings, raw, name, text))

    def _read(self) -> tuple[Settings, tuple[SettingFault, ...]]:
        with storage_errors(self._path, "read"):
            stamp, changed = stamp_of(self._path), self._vault.changed
        cached = self._cached
        if cached is None or cached[0] != (stamp, changed):
            try:
                raw, stamp = self._document.read_stamped()
            except (NotFoundError, BrokenDocumentError):
                raw = {}
            settings, faults = parse_settings(raw)
            if faults:
                self._quarantine.report(self._path, "; ".join(map(str, faults)))
            cached = self._cached = ((stamp, changed), settings, faults)
        return cached[1], cached[2]


def _nobody(_before: RawSettings, _after: RawSettings) -> None:
    """Nobody listens."""


def _copy(value: JsonValue) -> JsonValue:
    """A copy that may be cut down, without the halves of surrogate pairs, over which pydantic loses its place."""
    match value:
        case str():
            return _whole(value)
        case Mapping():
            return {_whole(name): _copy(item) for name, item in value.items()}
        case Sequence():
            return [_copy(item) for item in value]
        case _:
            return value


def _whole(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _fault(detail: ErrorDetails) -> SettingFault:
    context = detail.get("ctx", {})
    match detail["type"]:
        case "refused":
            reason = detail["msg"]
        case "enum":
            reason = f"must be {context['expected']}"
        case kind:
            reason = f"must be {_WANTED.get(kind, 'text')}"
    return SettingFault(detail["loc"], reason, str(context.get("hint", "")))


def _cost(place: Place) -> Place:
    """What goes with a faulty value: itself, or all of a provider or engine, whose key must not go elsewhere."""
    match place:
        case ("providers" | "searchEngines" as kind, entry_id, "baseUrl"):
            return (kind, entry_id)
        case _:
            return place


def _value_at(value: object, place: Place) -> object:
    """What stands there, None when nothing does."""
    for step in place:
        match value, step:
            case dict(), str():
                value = cast("dict[str, object]", value).get(step)
            case list(), int() if step < len(cast("list[object]", value)):
                value = cast("list[object]", value)[step]
            case _:
                return None
    return value


def _drop(value: RawSettings, place: Place) -> None:
    match _value_at(value, place[:-1]), place[-1]:
        case dict() as parent, last:
            cast("dict[str | int, object]", parent).pop(last, None)
        case list() as parent, int(last):
            del cast("list[object]", parent)[last]
        case _:
            pass  # went with something bigger


def _refuse_new_faults(before: RawSettings, after: RawSettings) -> None:
    for fault in parse_settings(after)[1]:
        if _value_at(before, fault.place) != _value_at(after, fault.place):
            raise InputError(str(fault), hint=fault.hint, code="bad_setting")
