"""The settings page against the real app: a change counts at once, can be put back, overwrites no edit by hand."""

import json
from html import unescape

import pytest
from selectolax.lexbor import LexborHTMLParser as HTMLParser
from starlette.testclient import TestClient

from skales.app.app import App
from skales.core.json import JsonValue
from skales.data.paths import DataDirectory
from skales.server.ui.setting_table import SETTINGS
from tests.server.ui.conftest import Look

HTMX = {"hx-request": "true"}


def save(page: TestClient, name: str, was: str = "", **filled: str | list[str]) -> HTMLParser:
    answer = page.post(f"/ui/settings/values/{name}", data={"was": was, **filled}, headers=HTMX)
    assert answer.status_code in (200, 204), answer.text
    return HTMLParser(answer.text or "<p></p>")


def undo(page: TestClient, name: str, shown: HTMLParser) -> HTMLParser:
    """What the row's own button does."""
    button = shown.css_first("[data-put-back]")
    assert button is not None
    data = json.loads(unescape(str(button.attributes["hx-vals"])))
    return HTMLParser(page.post(str(button.attributes["hx-post"]), data=data, headers=HTMX).text)


def stored(home: DataDirectory) -> dict[str, JsonValue]:
    return json.loads(home.settings.read_text(encoding="utf-8")) if home.settings.exists() else {}


def words(shown: HTMLParser) -> str:
    body = shown.body
    return " ".join(body.text().split()) if body else ""


def test_every_setting_of_the_table_is_on_the_page_in_both_modes(look: Look) -> None:
    for mode in ("standard", "advanced"):
        shown = {str(form.id) for form in look(f"/settings?view={mode}").css("form.setting")}
        assert {setting.anchor for setting in SETTINGS} <= shown


CHANGES = [
    ("theme", "dark", "dark"),
    ("accent", "indigo", "indigo"),
    ("fileAccessMode", "workspace_only", "workspace_only"),
    ("approvalTimeoutSeconds", " 120 ", 120),
    ("inactivityTimeoutSeconds", "5", 5),
    ("localInactivityTimeoutSeconds", "3600", 3600),
    ("systemPrompt", "Answer\r\nbriefly. ", "Answer\nbriefly."),
    ("allowedFolders", "~/projects", ["~/projects"]),
    ("blockedFolders", "C:\\private", ["C:\\private"]),
    ("blockedDomains", "*.Bad.Example", ["bad.example"]),
    ("searchBuzzwords", "free  spins ", ["free  spins"]),
    ("searchEngine", "off", "off"),
]


@pytest.mark.parametrize(("name", "typed", "kept"), [row for row in CHANGES if row[0] != "fileAccessMode"])
def test_a_change_counts_at_once_and_undo_takes_the_key_out_again(
    page: TestClient, home: DataDirectory, name: str, typed: str, kept: JsonValue
) -> None:
    shown = save(page, name, value=typed)
    assert stored(home)[name] == kept
    assert shown.css_first("[data-saved]") is not None
    assert "Put back" in words(undo(page, name, shown))
    assert name not in stored(home)


def test_undo_brings_back_the_value_that_was_there_and_other_keys_stay(page: TestClient, home: DataDirectory) -> None:
    home.settings.write_text('{"theme": "light", "mine": {"a": 1}}', encoding="utf-8")
    undo(page, "theme", save(page, "theme", '"light"', value="dark"))
    assert stored(home) == {"theme": "light", "mine": {"a": 1}}


@pytest.mark.parametrize(
    ("name", "typed"),
    [
        ("theme", "<b>"),
        ("accent", "pink"),
        ("locale", "tlh"),
        ("safetyMode", "reckless"),
        ("approvalTimeoutSeconds", "4"),
        ("approvalTimeoutSeconds", "86401"),
        ("approvalTimeoutSeconds", "1e3"),
        ("approvalTimeoutSeconds", "٣٠٠"),
        ("approvalTimeoutSeconds", "9" * 5000),
        ("approvalTimeoutSeconds", ""),
        ("inactivityTimeoutSeconds", "-1"),
        ("allowedFolders", "projects"),
        ("allowedFolders", "~other/projects"),
        ("allowedFolders", "/tmp/a\x00b"),
        ("blockedFolders", "../secret"),
        ("blockedDomains", "bad..example"),
        ("searchEngine", "google"),
        ("allowLoopback", "perhaps"),
    ],
)
def test_what_cannot_be_kept_is_refused_with_a_reason_and_changes_nothing(
    page: TestClient, home: DataDirectory, name: str, typed: str
) -> None:
    shown = save(page, name, value=typed)
    if name != "allowLoopback":  # anything but `true` is off, which it is already
        assert shown.css_first('[role="alert"]') is not None
    assert name not in stored(home) or stored(home)[name] is False


def test_a_refused_text_can_be_corrected_where_it_was_typed(page: TestClient) -> None:
    shown = save(page, "approvalTimeoutSeconds", value="<4>")
    assert shown.css_first("input.input").attributes["value"] == "<4>"  # type: ignore[union-attr]
    assert shown.css_first("input.input").attributes["aria-invalid"] == "true"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("safetyMode", "advanced"),
        ("safetyMode", "unrestricted"),
        ("fileAccessMode", "custom"),
        ("allowLoopback", "true"),
    ],
)
def test_a_looser_value_waits_for_a_yes_that_says_what_changes(
    page: TestClient, home: DataDirectory, name: str, value: str
) -> None:
    asked = save(page, name, value=value)
    assert name not in stored(home)
    assert asked.css_first(".callout.warn [hx-vals]") is not None
    saved = save(page, name, confirmed=value)
    assert saved.css_first("[data-saved]") is not None
    assert str(stored(home)[name]).lower() == value


def test_a_yes_to_one_mode_is_no_yes_to_a_looser_one(page: TestClient, home: DataDirectory) -> None:
    save(page, "safetyMode", value="unrestricted", confirmed="advanced")
    assert stored(home).get("safetyMode") != "unrestricted"


def test_a_stricter_mode_needs_no_yes_and_undoing_it_does(page: TestClient, home: DataDirectory) -> None:
    save(page, "safetyMode", confirmed="unrestricted")
    shown = save(page, "safetyMode", '"unrestricted"', value="safe")
    assert stored(home)["safetyMode"] == "safe"
    asked = undo(page, "safetyMode", shown)
    assert asked.css_first(".callout.warn") is not None
    assert stored(home)["safetyMode"] == "safe"


def test_a_hand_edit_since_the_page_was_opened_is_not_overwritten(page: TestClient, home: DataDirectory) -> None:
    home.settings.write_text('{"systemPrompt": "by hand"}', encoding="utf-8")
    shown = save(page, "systemPrompt", "", value="from the page")
    assert stored(home)["systemPrompt"] == "by hand"
    assert shown.css_first("textarea").text().strip() == "by hand"  # type: ignore[union-attr]
    assert "from the page" in words(shown)
    again = save(page, "systemPrompt", '"by hand"', value="from the page")
    assert again.css_first("[data-saved]") is not None


def test_undo_does_not_overwrite_a_hand_edit(page: TestClient, home: DataDirectory) -> None:
    shown = save(page, "theme", value="dark")
    home.settings.write_text('{"theme": "light"}', encoding="utf-8")
    told = undo(page, "theme", shown)
    assert told.css_first('[role="alert"]') is not None
    assert stored(home)["theme"] == "light"


def test_saving_what_is_there_already_writes_nothing(page: TestClient, home: DataDirectory) -> None:
    answer = page.post("/ui/settings/values/theme", data={"was": "", "value": "system"}, headers=HTMX)
    assert answer.status_code == 204
    assert not home.settings.exists()


def test_folders_are_added_and_removed_one_by_one(page: TestClient, home: DataDirectory) -> None:
    save(page, "allowedFolders", value=["", "/a"])
    save(page, "allowedFolders", '["/a"]', value=["/a", "/b, with comma"])
    assert stored(home)["allowedFolders"] == ["/a", "/b, with comma"]
    save(page, "allowedFolders", '["/a", "/b, with comma"]', value=["/a", "/b, with comma", ""], remove="0")
    assert stored(home)["allowedFolders"] == ["/b, with comma"]


@pytest.mark.parametrize(
    "name", ["apiKey", "providers.openai.apiKey", "providers.openai", "mine", "__class__", "addons.x"]
)
@pytest.mark.parametrize("address", ["/ui/settings/values/{}", "/ui/settings/undo/{}"])
def test_only_rows_of_the_pages_can_be_written(page: TestClient, home: DataDirectory, name: str, address: str) -> None:
    answer = page.post(address.format(name), data={"value": "x", "was": "", "former": '"x"', "saved": ""}, headers=HTMX)
    assert answer.status_code == 404
    assert not home.settings.exists()


def test_a_faulty_value_of_the_file_is_told_at_its_row(look: Look, home: DataDirectory) -> None:
    home.settings.write_text('{"approvalTimeoutSeconds": "soon", "providers": 7}', encoding="utf-8")
    tree = look("/settings?view=advanced")
    row = tree.css_first("#setting-approvalTimeoutSeconds .field-error")
    assert row is not None
    assert "whole number" in row.text()
    assert "providers" in tree.css_first(".sections > .callout").text()  # type: ignore[union-attr]


def test_the_theme_and_accent_are_on_every_page_before_any_script_runs(page: TestClient, look: Look) -> None:
    save(page, "theme", value="dark")
    save(page, "accent", value="amber")
    for address in ("/chat", "/tools", "/settings", "/settings/providers"):
        root = look(address).css_first("html")
        assert root is not None
        assert (root.attributes["data-theme"], root.attributes["data-accent"]) == ("dark", "amber")


def test_a_new_language_opens_the_page_anew_and_can_be_undone_there(page: TestClient, look: Look) -> None:
    answer = page.post("/ui/settings/values/locale", data={"was": "", "value": "de"}, headers=HTMX)
    address = answer.headers["hx-redirect"]
    tree = look(address)
    assert tree.css_first("html").attributes["lang"] == "de"  # type: ignore[union-attr]
    assert tree.css_first("#setting-locale [data-put-back]") is not None


def test_without_scripts_a_change_leads_back_to_its_row(page: TestClient, home: DataDirectory) -> None:
    answer = page.post("/ui/settings/values/theme", data={"was": "", "value": "dark"}, follow_redirects=False)
    assert answer.status_code == 303
    assert answer.headers["location"].endswith("#setting-theme")
    asked = page.post("/ui/settings/values/safetyMode", data={"was": "", "value": "advanced"})
    assert HTMLParser(asked.text).css_first('#setting-safetyMode button[name="confirmed"]') is not None
    assert stored(home) == {"theme": "dark"}


def test_the_page_says_where_the_data_is_and_which_files_were_set_aside(
    page: TestClient, look: Look, home: DataDirectory
) -> None:
    assert str(home.root) in look("/settings").css_first(".path code").text()  # type: ignore[union-attr]
    home.settings.write_text("{ broken", encoding="utf-8")
    told = look("/settings").css_first("#broken-files")
    assert told is not None
    assert "settings.json" in told.text()
    button = told.css_first("[hx-post]")
    assert button is not None
    data = json.loads(unescape(str(button.attributes["hx-vals"])))
    assert "settings.json" not in page.post("/ui/settings/data/dismiss", data=data, headers=HTMX).text


def test_sizes_name_the_folders_that_hold_something(page: TestClient, home: DataDirectory) -> None:
    (home.workspace / "a.txt").write_text("x" * 3000, encoding="utf-8")
    told = words(HTMLParser(page.get("/ui/settings/data/sizes", headers=HTMX).text))
    assert "workspace" in told
    assert "3.0 kB" in told


def test_a_new_devkit_token_is_shown_once_and_opens_the_routes(page: TestClient, app: App, home: DataDirectory) -> None:
    shown = HTMLParser(page.post("/ui/settings/devkit", data={"on": "true"}, headers=HTMX).text)
    token = shown.css_first("#devkit-token").text()  # type: ignore[union-attr]
    assert app.devkit.read().token == token
    assert app.devkit.read().enabled
    assert token not in page.get("/settings").text
    renewed = HTMLParser(page.post("/ui/settings/devkit/token", headers=HTMX).text)
    assert renewed.css_first("#devkit-token").text() != token  # type: ignore[union-attr]
    page.post("/ui/settings/devkit", data={}, headers=HTMX)
    assert not app.devkit.read().enabled
    assert json.loads(home.devkit.read_text(encoding="utf-8"))["api"]["token"] != ""


def test_a_devkit_file_that_cannot_be_read_is_left_alone(page: TestClient, home: DataDirectory) -> None:
    home.devkit.parent.mkdir()
    home.devkit.write_text("{ broken", encoding="utf-8")
    shown = HTMLParser(page.post("/ui/settings/devkit", data={"on": "true"}, headers=HTMX).text)
    assert shown.css_first(".callout.bad") is not None
    assert home.devkit.read_text(encoding="utf-8") == "{ broken"


def test_vaults_are_added_and_removed_and_keep_their_other_names(page: TestClient, home: DataDirectory) -> None:
    named = {"path": "/home/ada/vault", "alias": "Personal", "colour": "red"}
    home.settings.write_text(json.dumps({"obsidianVaults": [named, "/home/ada/second"]}), encoding="utf-8")
    shown = HTMLParser(page.get("/settings").text)
    form = shown.css_first("#setting-obsidianVaults")
    assert form is not None
    assert [item.text() for item in form.css(".folders code")] == ["/home/ada/vault", "/home/ada/second"]
    was = str(form.css_first("[name=was]").attributes["value"])  # type: ignore[union-attr]
    saved = save(page, "obsidianVaults", was, value=["/home/ada/vault", "/home/ada/second", "~/third"])
    assert stored(home)["obsidianVaults"] == [named, {"path": "/home/ada/second"}, {"path": "~/third"}]
    undo(page, "obsidianVaults", saved)
    assert stored(home)["obsidianVaults"] == [named, {"path": "/home/ada/second"}]
    refused = save(page, "obsidianVaults", value=["vault"])
    assert "Write the whole path of the folder" in words(refused)
