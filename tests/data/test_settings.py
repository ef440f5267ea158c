import json
import random
import stat

import pytest

from skales.core.errors import ConflictError, InputError, NotFoundError, StorageError
from skales.core.json import JsonObject, JsonValue
from skales.core.tool import SafetyMode
from skales.data.document import write_object
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.secret_places import SETTINGS
from skales.data.setting_faults import parse_settings
from skales.data.setting_shapes import FileAccess, ProviderSettings, Settings
from skales.data.settings import SettingsStore
from tests.conftest import FixedClock
from tests.opened import read_opened

KEY = "sk-abcdefghijklmnopqrstuvwxyz"


@pytest.fixture
def quarantine(home: DataDirectory, clock: FixedClock) -> Quarantine:
    return Quarantine(home.quarantine, clock)


@pytest.fixture
def store(home: DataDirectory, quarantine: Quarantine) -> SettingsStore:
    return SettingsStore(home, quarantine)


def write(home: DataDirectory, value: JsonObject) -> None:
    write_object(home.settings, value)


def read(home: DataDirectory) -> JsonValue:
    return read_opened(home, SETTINGS)


# --- reading -----------------------------------------------------------------------------------------------------


def test_without_a_file_everything_is_the_default(store: SettingsStore, home: DataDirectory) -> None:
    settings = store.load()
    assert settings == Settings(
        active_provider="skales_local",
        providers={},
        system_prompt="",
        locale="",
        theme="system",
        safety_mode=SafetyMode.SAFE,
        file_access_mode=FileAccess.WORKSPACE_ONLY,
        allowed_folders=[],
        blocked_folders=[],
        allow_loopback=False,
        approval_timeout_s=300,
        inactivity_timeout_s=60,
        local_inactivity_timeout_s=200,
        addons={},
    )
    assert settings.provider("openai") == ProviderSettings(
        enabled=True, api_key="", base_url="", model="", context_tokens=0
    )
    assert not home.settings.exists()


def test_the_file_of_the_specification_is_understood(store: SettingsStore, home: DataDirectory) -> None:
    write(
        home,
        {
            "activeProvider": "ollama",
            "providers": {
                "ollama": {"enabled": True, "baseUrl": "http://127.0.0.1:11434/v1/", "model": "llama3.2", "apiKey": ""},
                "openai": {
                    "enabled": False,
                    "apiKey": KEY,
                    "model": "gpt-5.5",
                    "contextTokens": 8192,
                    "organisation": "o",
                },
            },
            "persona": "default",
            "systemPrompt": "Answer briefly.",
            "locale": "de",
            "theme": "dark",
            "safetyMode": "advanced",
            "fileAccessMode": "custom",
            "allowedFolders": ["/home/ada/projects"],
            "blockedFolders": ["/home/ada/private"],
            "allowLoopback": True,
            "approvalTimeoutSeconds": 60,
            "inactivityTimeoutSeconds": 90,
            "localInactivityTimeoutSeconds": 400,
            "addons": {"notion": True},
            "mcp_servers": [],
        },
    )
    settings = store.load()
    assert settings.provider("ollama") == ProviderSettings(base_url="http://127.0.0.1:11434/v1", model="llama3.2")
    openai = settings.provider("openai")
    assert (openai.enabled, openai.api_key, openai.model, openai.context_tokens) == (False, KEY, "gpt-5.5", 8192)
    assert (settings.active_provider, settings.system_prompt, settings.locale, settings.theme) == (
        "ollama",
        "Answer briefly.",
        "de",
        "dark",
    )
    assert (settings.safety_mode, settings.file_access_mode) == (SafetyMode.ADVANCED, FileAccess.CUSTOM)
    assert (settings.allowed_folders, settings.blocked_folders) == (["/home/ada/projects"], ["/home/ada/private"])
    assert (settings.allow_loopback, settings.addons) == (True, {"notion": True})
    timeouts = (settings.approval_timeout_s, settings.inactivity_timeout_s, settings.local_inactivity_timeout_s)
    assert timeouts == (60, 90, 400)
    assert store.faults() == ()


@pytest.mark.parametrize(
    ("value", "name", "reason"),
    [
        ({"theme": 5}, "theme", "must be text"),
        ({"locale": ["en"]}, "locale", "must be text"),
        ({"activeProvider": False}, "activeProvider", "must be text"),
        ({"safetyMode": "reckless"}, "safetyMode", "must be 'safe', 'advanced' or 'unrestricted'"),
        ({"safetyMode": 3}, "safetyMode", "must be 'safe', 'advanced' or 'unrestricted'"),
        (
            {"fileAccessMode": "custom_folders"},
            "fileAccessMode",
            "must be 'workspace_only', 'custom' or 'unrestricted'",
        ),
        ({"allowedFolders": "/home"}, "allowedFolders", "must be a list"),
        ({"blockedFolders": {"a": "/home"}}, "blockedFolders", "must be a list"),
        ({"allowLoopback": "perhaps"}, "allowLoopback", "must be true or false"),
        ({"allowLoopback": {}}, "allowLoopback", "must be true or false"),
        ({"approvalTimeoutSeconds": 4}, "approvalTimeoutSeconds", "must be a whole number from 5 to 86400"),
        ({"approvalTimeoutSeconds": 86_401}, "approvalTimeoutSeconds", "must be a whole number from 5 to 86400"),
        ({"approvalTimeoutSeconds": True}, "approvalTimeoutSeconds", "must be a whole number from 5 to 86400"),
        ({"approvalTimeoutSeconds": "soon"}, "approvalTimeoutSeconds", "must be a whole number from 5 to 86400"),
        ({"approvalTimeoutSeconds": 7.5}, "approvalTimeoutSeconds", "must be a whole number from 5 to 86400"),
        ({"approvalTimeoutSeconds": 10**400}, "approvalTimeoutSeconds", "must be a whole number from 5 to 86400"),
        ({"inactivityTimeoutSeconds": 0}, "inactivityTimeoutSeconds", "must be a whole number from 5 to 3600"),
        ({"sessionBudgetUsd": -0.5}, "sessionBudgetUsd", "must be a number from 0 to 100000"),
        ({"sessionBudgetUsd": True}, "sessionBudgetUsd", "must be a number from 0 to 100000"),
        ({"sessionBudgetUsd": "much"}, "sessionBudgetUsd", "must be a number from 0 to 100000"),
        ({"dailyBudgetUsd": float("nan")}, "dailyBudgetUsd", "must be a number from 0 to 100000"),
        ({"dailyBudgetUsd": 10**400}, "dailyBudgetUsd", "must be a number from 0 to 100000"),
        ({"dailyBudgetUsd": 1e9}, "dailyBudgetUsd", "must be a number from 0 to 100000"),
        ({"addons": []}, "addons", "must be an object"),
        ({"addons": {"notion": "x"}}, "addons.notion", "must be true or false"),
        ({"providers": "openai"}, "providers", "must be an object"),
        ({"providers": {"openai": KEY}}, "providers.openai", "must be an object"),
        ({"providers": {"openai": {"apiKey": 5}}}, "providers.openai.apiKey", "must be text"),
        ({"providers": {"openai": {"enabled": "x"}}}, "providers.openai.enabled", "must be true or false"),
        (
            {"providers": {"openai": {"contextTokens": "many"}}},
            "providers.openai.contextTokens",
            "must be a whole number from 0 to 100000000",
        ),
    ],
)
def test_a_wrong_value_costs_its_own_key_alone(
    store: SettingsStore, home: DataDirectory, value: JsonObject, name: str, reason: str
) -> None:
    others: JsonObject = {"systemPrompt": "Answer briefly.", "unknown": 1}
    write(home, {**others, **value})
    settings = store.load()
    assert settings.system_prompt == "Answer briefly."
    untouched = dict.fromkeys(value) | {"providers": {}, "addons": {}}
    assert settings.model_copy(update={"providers": {}, "addons": {}}) == parse_settings({**others, **untouched})[0]
    assert [(fault.name, fault.reason) for fault in store.faults()] == [(name, reason)]


def test_a_wrong_value_inside_a_provider_leaves_the_rest_of_it(store: SettingsStore, home: DataDirectory) -> None:
    wrong: JsonObject = {"apiKey": KEY, "model": 5, "contextTokens": "many", "enabled": False}
    write(home, {"providers": {"openai": wrong, "ollama": {"model": "llama3.2"}}})
    settings = store.load()
    assert settings.provider("openai") == ProviderSettings(enabled=False, api_key=KEY)
    assert settings.provider("ollama").model == "llama3.2"


def test_a_wrong_item_of_a_list_costs_itself_alone(store: SettingsStore, home: DataDirectory) -> None:
    write(home, {"blockedFolders": [1, "/a", None, {}, "/b", []]})
    assert store.load().blocked_folders == ["/a", "/b"]
    assert [fault.name for fault in store.faults()] == ["blockedFolders.0", "blockedFolders.3", "blockedFolders.5"]


def test_null_means_the_default_and_is_no_fault(store: SettingsStore, home: DataDirectory) -> None:
    write(home, {"theme": None, "providers": {"openai": None, "ollama": {"model": None}}, "addons": {"notion": None}})
    assert store.load() == Settings(providers={"ollama": ProviderSettings()})
    assert store.faults() == ()


@pytest.mark.parametrize("address", ["http://proxy.example/v1", "https://ada:pw@proxy.example/v1", "nonsense", 5])
def test_a_provider_whose_address_may_not_be_used_counts_as_not_set_up(
    store: SettingsStore, home: DataDirectory, address: JsonValue
) -> None:
    """Its key must reach no other address than the one it was given for."""
    write(home, {"providers": {"openai": {"baseUrl": address, "apiKey": KEY, "contextTokens": "x"}, "groq": {}}})
    assert store.load().providers == {"groq": ProviderSettings()}
    assert "providers.openai.baseUrl" in [fault.name for fault in store.faults()]


@pytest.mark.parametrize("stored", ["enc:v1:QUFBQUFBQUFBQUFB", "enc:v1:not base64!", "sk-•••wxyz", "sk-***"])
def test_a_stored_key_that_cannot_be_used_is_kept_in_the_file(
    store: SettingsStore, home: DataDirectory, stored: str
) -> None:
    write(home, {"providers": {"openai": {"apiKey": stored, "model": "m"}}})
    assert store.load().provider("openai") == ProviderSettings(model="m")
    store.set_provider("openai", model="n")
    assert read(home) == {"providers": {"openai": {"apiKey": stored, "model": "n"}}}
    assert stored not in str(store.faults())


def test_spellings_of_our_own_code_mean_nothing_in_the_file(store: SettingsStore, home: DataDirectory) -> None:
    write(home, {"safety_mode": "unrestricted", "providers": {"openai": {"api_key": KEY}}})
    assert store.load().safety_mode is SafetyMode.SAFE
    assert store.load().provider("openai").api_key == ""


def test_broken_characters_cost_nothing_and_survive_a_change(store: SettingsStore, home: DataDirectory) -> None:
    before: JsonObject = {"\ud800": 1, "theme": "\ud800", "providers": {"openai": {"\udc00": "\ud800", "model": "m"}}}
    write(home, before)
    assert store.load().provider("openai").model == "m"
    store.update(lambda raw: raw.update({"locale": "de"}))
    assert read(home) == {**before, "locale": "de"}


def test_no_secret_stands_in_the_representation(store: SettingsStore, home: DataDirectory) -> None:
    write(
        home,
        {
            "tavilyApiKey": KEY,
            "system_prompt": KEY,
            "providers": {"openai": {"apiKey": KEY, "api_key": KEY, "clientSecret": KEY, "model": "gpt-5.5"}},
        },
    )
    shown = f"{store.load()!r} {store.load()}"
    assert KEY not in shown
    assert "model='gpt-5.5'" in shown


def test_wrong_values_are_among_the_notices_until_they_are_corrected(
    store: SettingsStore, home: DataDirectory, quarantine: Quarantine
) -> None:
    write(home, {"theme": 5, "locale": 6, "systemPrompt": "x"})
    store.load()
    [notice] = quarantine.notices()
    assert (notice.kept_at, notice.reason) == (home.settings, "'locale' must be text; 'theme' must be text")
    store.update(lambda raw: raw.update({"theme": "dark", "locale": "de"}))
    assert quarantine.notices() == []


def test_a_broken_file_is_set_aside_and_everything_is_the_default(
    store: SettingsStore, home: DataDirectory, quarantine: Quarantine
) -> None:
    home.settings.write_bytes(b'{"safetyMode": "unrestricted", ')
    assert store.load() == Settings()
    [notice] = quarantine.notices()
    assert notice.path == home.settings
    assert notice.kept_at.read_bytes() == b'{"safetyMode": "unrestricted", '


def test_a_broken_file_that_cannot_be_set_aside_counts_as_defaults_until_it_is_replaced(
    store: SettingsStore, home: DataDirectory
) -> None:
    home.quarantine.write_text("in the way", encoding="utf-8")
    home.settings.write_bytes(b"{")
    assert store.load() is store.load()
    write(home, {"theme": "dark"})
    assert store.load().theme == "dark"


def test_a_file_that_cannot_be_read_is_an_error_and_not_the_default(store: SettingsStore, home: DataDirectory) -> None:
    home.settings.mkdir()
    with pytest.raises(StorageError, match=r"'settings\.json' is not a plain file"):
        store.load()


def test_an_edit_by_hand_counts_at_once_and_an_unchanged_file_is_not_parsed_again(
    store: SettingsStore, home: DataDirectory
) -> None:
    write(home, {"theme": "dark"})
    first = store.load()
    assert store.load() is first
    home.settings.write_text('{"theme": "light"}', encoding="utf-8-sig")
    assert store.load().theme == "light"
    home.settings.unlink()
    assert store.load() == Settings()


def test_any_json_object_can_be_read() -> None:
    """Whatever a file holds, reading it ends and keeps the keys that are right."""
    source = random.Random(7)
    names = [
        "theme",
        "safetyMode",
        "addons",
        "providers",
        "openai",
        "baseUrl",
        "apiKey",
        "allowedFolders",
        "\ud800",
        "[key]",
        "",
    ]
    plain: list[JsonValue] = [None, True, 0, -1, 1e308, float("nan"), 10**30, "", "dark", "\ud800", "enc:v1:x"]

    def value(depth: int) -> JsonValue:
        match source.randrange(3 if depth else 1):
            case 0:
                return source.choice(plain)
            case 1:
                return [value(depth - 1) for _ in range(source.randrange(4))]
            case _:
                return {source.choice(names): value(depth - 1) for _ in range(source.randrange(5))}

    for _ in range(3000):
        raw: dict[str, JsonValue] = {source.choice(names): value(4) for _ in range(6)}
        before = repr(raw)
        settings, _ = parse_settings({**raw, "locale": "de"})
        assert settings.locale == "de"
        assert repr(raw) == before


# --- changing ----------------------------------------------------------------------------------------------------


def test_a_change_keeps_unknown_keys_and_wrong_values(store: SettingsStore, home: DataDirectory) -> None:
    before: JsonObject = {
        "persona": "pirate",
        "theme": 5,
        "fileAccessMode": "custom_folders",
        "providers": {"openai": {"apiKey": KEY, "organisation": "o", "contextTokens": "many"}},
    }
    write(home, before)
    assert store.update(lambda raw: raw.update({"safetyMode": "advanced"})).safety_mode is SafetyMode.ADVANCED
    assert read(home) == {**before, "safetyMode": "advanced"}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"safetyMode": "reckless"}, "'safetyMode' must be 'safe', 'advanced' or 'unrestricted'"),
        ({"fileAccessMode": "all"}, "'fileAccessMode' must be 'workspace_only', 'custom' or 'unrestricted'"),
        ({"approvalTimeoutSeconds": 1}, "'approvalTimeoutSeconds' must be a whole number from 5 to 86400"),
        ({"allowLoopback": "perhaps"}, "'allowLoopback' must be true or false"),
        ({"allowedFolders": ["/a", 5]}, "'allowedFolders.1' must be text"),
        ({"theme": 6}, "'theme' must be text"),
        (
            {"providers": {"openai": {"baseUrl": "http://proxy.example/v1"}}},
            "'providers.openai.baseUrl' cannot be used: the address must start with https://",
        ),
        (
            {"providers": {"openai": {"apiKey": "sk-•••"}}},
            "'providers.openai.apiKey' cannot be used: this is the masked form",
        ),
    ],
)
def test_a_change_to_a_value_that_is_not_allowed_writes_nothing(
    store: SettingsStore, home: DataDirectory, change: JsonObject, words: str
) -> None:
    write(home, {"theme": 5})
    before = home.settings.read_bytes()
    with pytest.raises(InputError) as caught:
        store.update(lambda raw: raw.update({"locale": "de", **change}))
    assert str(caught.value).startswith(words)
    assert home.settings.read_bytes() == before


def test_the_hint_of_a_refused_value_reaches_the_person(store: SettingsStore) -> None:
    with pytest.raises(InputError) as caught:
        store.set_value("providers.openai.apiKey", "sk-***")
    assert caught.value.hint == "Paste the whole key"


def test_the_first_change_makes_a_private_file(store: SettingsStore, home: DataDirectory) -> None:
    store.update(lambda raw: raw.update({"theme": "dark"}))
    assert read(home) == {"theme": "dark"}
    assert stat.S_IMODE(home.settings.stat().st_mode) == 0o600


def test_a_change_after_the_file_broke_starts_over_and_keeps_the_broken_one(
    store: SettingsStore, home: DataDirectory, quarantine: Quarantine
) -> None:
    home.settings.write_bytes(b'{"theme": "da')
    assert store.update(lambda raw: raw.update({"locale": "de"})).locale == "de"
    assert [notice.kept_at.read_bytes() for notice in quarantine.notices()] == [b'{"theme": "da']


# --- providers ---------------------------------------------------------------------------------------------------


def test_a_provider_is_set_up_piece_by_piece(store: SettingsStore, home: DataDirectory) -> None:
    store.set_provider("openai", api_key=f" {KEY}\n")
    store.set_provider("openai", model=" gpt-5.5 ")
    settings = store.set_provider("openai", base_url="https://proxy.example/v1/")
    assert settings.provider("openai") == ProviderSettings(
        api_key=KEY, model="gpt-5.5", base_url="https://proxy.example/v1"
    )
    assert settings.active_provider == "skales_local"
    assert read(home) == {
        "providers": {"openai": {"apiKey": KEY, "model": "gpt-5.5", "baseUrl": "https://proxy.example/v1"}}
    }


def test_an_empty_key_or_address_removes_the_stored_one(store: SettingsStore) -> None:
    store.set_provider("openai", api_key=KEY, base_url="https://proxy.example/v1")
    assert store.set_provider("openai", api_key="", base_url="").provider("openai") == ProviderSettings()


def test_activating_a_provider_switches_it_on(store: SettingsStore, home: DataDirectory) -> None:
    write(home, {"providers": {"openai": {"enabled": False, "organisation": "o"}}})
    settings = store.set_provider("openai", activate=True)
    assert (settings.active_provider, settings.provider("openai").enabled) == ("openai", True)
    assert read(home) == {
        "activeProvider": "openai",
        "providers": {"openai": {"enabled": True, "organisation": "o"}},
    }


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"base_url": "http://proxy.example/v1"}, "bad_address"),
        ({"base_url": "https://ada:pw@proxy.example"}, "bad_address"),
        ({"api_key": "sk-•••wxyz"}, "masked_key"),
        ({"api_key": "sk-***"}, "masked_key"),
        ({"api_key": "two words"}, "bad_key"),
    ],
)
def test_what_cannot_be_an_address_or_a_key_is_not_saved(
    store: SettingsStore, home: DataDirectory, change: dict[str, str], code: str
) -> None:
    store.set_provider("openai", api_key=KEY)
    before = home.settings.read_bytes()
    with pytest.raises(InputError) as caught:
        store.set_provider("openai", model="m", **{"activate": False, **change})  # type: ignore[arg-type]
    assert caught.value.code == code
    assert home.settings.read_bytes() == before


def test_the_mask_of_the_stored_key_is_not_saved_as_the_key(store: SettingsStore) -> None:
    store.set_provider("openai", api_key=KEY)
    mask = store.get_value("providers.openai.apiKey")
    assert isinstance(mask, str)
    with pytest.raises(InputError, match="masked form"):
        store.set_provider("openai", api_key=f"x{mask}")
    assert store.load().provider("openai").api_key == KEY


@pytest.mark.parametrize("provider_id", ["", "../x", "a b", ".hidden", "a/b"])
def test_a_name_that_cannot_be_a_provider_is_refused(store: SettingsStore, provider_id: str) -> None:
    with pytest.raises(InputError, match="cannot name a provider"):
        store.set_provider(provider_id, model="m")


@pytest.mark.parametrize("providers", ["openai", [], 5, {"openai": KEY}])
def test_something_else_in_place_of_a_provider_is_left_alone(
    store: SettingsStore, home: DataDirectory, providers: JsonValue
) -> None:
    write(home, {"providers": providers})
    before = home.settings.read_bytes()
    with pytest.raises(ConflictError, match="is not an object"):
        store.set_provider("openai", model="m")
    assert home.settings.read_bytes() == before


# --- by name -----------------------------------------------------------------------------------------------------


def test_a_setting_is_changed_and_read_by_name(store: SettingsStore, home: DataDirectory) -> None:
    assert store.set_value("approvalTimeoutSeconds", "60").approval_timeout_s == 60
    store.set_value("providers.openai.apiKey", KEY)
    assert store.get_value("approvalTimeoutSeconds") == 60
    assert store.get_value("providers.openai.apiKey") == "sk-•••wxyz"
    assert read(home) == {"approvalTimeoutSeconds": 60, "providers": {"openai": {"apiKey": KEY}}}
    assert KEY not in json.dumps(store.get_value())


def test_a_name_or_value_that_is_not_allowed_writes_nothing(store: SettingsStore, home: DataDirectory) -> None:
    with pytest.raises(NotFoundError, match="There is no setting 'saftyMode'"):
        store.set_value("saftyMode", "safe")
    with pytest.raises(InputError, match="'safetyMode' must be 'safe', 'advanced' or 'unrestricted'"):
        store.set_value("safetyMode", "none")
    assert not home.settings.exists()
