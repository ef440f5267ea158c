"""The types come from the real settings; what is allowed is tested with them."""

import pytest

from skales.core.errors import ConflictError, InputError, NotFoundError
from skales.core.json import JsonValue
from skales.data.setting_names import read_setting, write_setting
from skales.data.setting_shapes import Settings

Raw = dict[str, JsonValue]


@pytest.mark.parametrize(
    ("name", "text", "raw"),
    [
        ("systemPrompt", "Answer briefly.", {"systemPrompt": "Answer briefly."}),
        ("systemPrompt", "true", {"systemPrompt": "true"}),
        ("systemPrompt", "", {"systemPrompt": ""}),
        ("safetyMode", "advanced", {"safetyMode": "advanced"}),
        ("allowLoopback", "true", {"allowLoopback": True}),
        ("allowLoopback", " ON ", {"allowLoopback": True}),
        ("allowLoopback", "no", {"allowLoopback": False}),
        ("allowLoopback", "0", {"allowLoopback": False}),
        ("approvalTimeoutSeconds", "60", {"approvalTimeoutSeconds": 60}),
        ("allowedFolders", "~/a, ~/b ,", {"allowedFolders": ["~/a", "~/b"]}),
        ("allowedFolders", "", {"allowedFolders": []}),
        ("allowedFolders", ' ["~/a, b"]', {"allowedFolders": ["~/a, b"]}),
        ("addons.notion", "off", {"addons": {"notion": False}}),
        ("providers.openai.model", "gpt-5.5", {"providers": {"openai": {"model": "gpt-5.5"}}}),
        ("providers.openai.enabled", "yes", {"providers": {"openai": {"enabled": True}}}),
        ("providers.openai.contextTokens", "8192", {"providers": {"openai": {"contextTokens": 8192}}}),
    ],
)
def test_text_is_read_as_the_type_of_the_key(name: str, text: str, raw: Raw) -> None:
    written: Raw = {}
    write_setting(Settings, written, name, text)
    assert written == raw


@pytest.mark.parametrize(
    ("present", "text", "after"),
    [
        ("default", "pirate", "pirate"),
        ("5", "7", "7"),
        (5, "7", 7),
        (5, "7.5", 7.5),
        (0.5, "1e3", 1000.0),
        (True, "off", False),
        (["a"], '["b"]', ["b"]),
        ({"a": 1}, '{"a": 2}', {"a": 2}),
        (None, '"words"', "words"),
    ],
)
def test_a_key_that_only_the_file_knows_keeps_its_type(present: JsonValue, text: str, after: JsonValue) -> None:
    raw: Raw = {"persona": present, "nested": {"persona": present}}
    write_setting(Settings, raw, "persona", text)
    write_setting(Settings, raw, "nested.persona", text)
    assert raw == {"persona": after, "nested": {"persona": after}}


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("allowLoopback", "maybe", "'allowLoopback' must be true or false"),
        ("approvalTimeoutSeconds", "soon", "'approvalTimeoutSeconds' must be a number"),
        ("approvalTimeoutSeconds", "true", "'approvalTimeoutSeconds' must be a number"),
        ("approvalTimeoutSeconds", '"60"', "'approvalTimeoutSeconds' must be a number"),
        ("approvalTimeoutSeconds", "NaN", "'approvalTimeoutSeconds' must be a number"),
        ("approvalTimeoutSeconds", "Infinity", "'approvalTimeoutSeconds' must be a number"),
        ("allowedFolders", '["~/a"', "'allowedFolders' must be a list"),
        ("plans", "{", "'plans' must be JSON"),
        ("addons", "true", "'addons' holds several settings"),
        ("providers.openai", "true", "'providers.openai' holds several settings"),
    ],
)
def test_text_that_does_not_fit_the_key_is_refused(name: str, text: str, words: str) -> None:
    raw: Raw = {"plans": []}
    with pytest.raises(InputError, match=words):
        write_setting(Settings, raw, name, text)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("saftyMode", "Did you mean safetyMode"),
        ("providers.openai.modle", "Did you mean providers.openai.model"),
        ("providres.openai.model", "Did you mean providers?"),
        ("persona.tone", "Known here"),
        ("autopilotConfig.maxCallsPerHuor", "Did you mean autopilotConfig.maxCallsPerHour"),
        ("addons.", "Known here: addons.notion"),
        ("addons.a/b", "Known here: addons.notion"),
        ("empty.name", ""),
        ("providers.openai.x", "Known here: providers.openai.enabled, providers.openai.label, providers.openai.apiKey"),
        ("", "Known here"),
    ],
)
def test_an_unknown_name_is_refused_and_the_nearest_suggested(name: str, hint: str) -> None:
    raw: Raw = {"autopilotConfig": {"maxCallsPerHour": 20}, "addons": {"notion": True}, "empty": {}}
    with pytest.raises(NotFoundError, match="There is no setting") as caught:
        write_setting(Settings, raw, name, "x")
    assert hint in caught.value.hint
    assert bool(hint) == bool(caught.value.hint)


def test_a_value_where_an_object_should_be_is_left_alone() -> None:
    raw: Raw = {"providers": "openai"}
    with pytest.raises(ConflictError, match=r"'providers' in settings\.json is not an object"):
        write_setting(Settings, raw, "providers.openai.model", "x")
    assert raw == {"providers": "openai"}


def settings(**extra: object) -> Settings:
    return Settings.model_validate(extra)


def test_a_name_reads_what_counts() -> None:
    chosen = settings(safetyMode="advanced", providers={"openai": {"model": "m"}}, persona="pirate", plans=[1, None])
    names = ("safetyMode", "theme", "providers.openai.model", "providers.openai.enabled", "persona", "plans")
    assert [read_setting(chosen, name) for name in names] == ["advanced", "system", "m", True, "pirate", [1, None]]


@pytest.mark.parametrize("name", ["themes", "theme.dark", "providers.openai", "providers.openai.model"])
def test_reading_an_unknown_name_is_refused(name: str) -> None:
    with pytest.raises(NotFoundError, match="There is no setting"):
        read_setting(settings(), name)


def test_no_name_reads_secrets() -> None:
    secret = "sk-abcdefghijklmnopqrstuvwxyz"
    chosen = settings(
        providers={"openai": {"apiKey": secret}, "gigachat": {"clientSecret": secret}},
        tavilyApiKey=secret,
        replicate_api_token=secret,
        servers=[{"headers": {"Authorization": secret}, "keys": 1, "refreshTokens": [], "token": [secret]}],
    )
    assert read_setting(chosen, "providers.openai.apiKey") == "sk-•••wxyz"
    assert read_setting(chosen, "tavilyApiKey") == "sk-•••wxyz"
    assert secret not in repr(read_setting(chosen, ""))
