"""The tools about Skales itself, over a real data directory."""

import json
from pathlib import Path

import pytest

from skales.core.errors import ToolError
from skales.core.json import as_list, as_object
from skales.core.tool import Effect, Safety
from skales.data.paths import DataDirectory
from skales.tools.registry import BuiltinToolbox
from tests.tools.conftest import Call, Rules

pytestmark = pytest.mark.anyio

SECRET = "sk-live-0123456789abcdef0123456789abcdef"


@pytest.mark.parametrize(
    ("name", "effect"),
    [
        ("get_workspace_info", Effect.READS_PRIVATE),
        ("get_disk_usage", Effect.READS_PRIVATE),
        ("check_system_status", Effect.READS_PRIVATE),
        ("check_capabilities", Effect.READS_PRIVATE),
        ("check_identity", Effect.READS_PRIVATE),
        ("update_capabilities", Effect.WRITES),
        ("send_notification", Effect.WRITES),
    ],
)
def test_each_runs_by_itself_and_says_what_it_touches(toolbox: BuiltinToolbox, name: str, effect: Effect) -> None:
    spec = toolbox.find(name)
    assert spec is not None
    assert (spec.category, spec.safety, spec.effects) == ("system", Safety.AUTO, frozenset({effect}))


async def test_the_state_names_what_is_set_up_and_no_secret(call: Call, home: DataDirectory) -> None:
    settings = {
        "activeProvider": "openai",
        "providers": {"openai": {"apiKey": SECRET, "model": "gpt-5.5"}},
        "fallbackProviders": ["ollama/llama3.2"],
        "obsidianVaults": ["/home/ada/vault"],
        "addons": {"email": True, "notion": False},
    }
    home.settings.write_text(json.dumps(settings), encoding="utf-8")
    (home.root / "integrations").mkdir()
    (home.root / "integrations" / "telegram.json").write_text(json.dumps({"botToken": SECRET}), encoding="utf-8")
    found = await call("check_system_status")
    facts = as_object(found.data)
    assert facts["Stands by"] == "ollama llama3.2"
    assert facts["Add-ons switched on"] == "email"
    assert facts["Integrations with stored accounts"] == "telegram"
    assert facts["Obsidian vaults"] == "1"
    assert facts["Runs unasked"] == "safe"
    assert SECRET not in found.text
    assert "not tried" in found.text


async def test_tools_are_told_by_category_with_those_that_are_off(call: Call, rules: Rules) -> None:
    whole = await call("check_capabilities")
    assert "- file: append_file" in whole.text
    names = [*as_list(as_object(whole.data)["on"]), *as_list(as_object(whole.data)["off"])]
    assert "check_capabilities" in names
    files = await call("check_capabilities", category="File")
    assert "- read_file: " in files.text
    with pytest.raises(ToolError, match=r"no category 'none'.*core, file"):
        await call("check_capabilities", category="none")


async def test_a_note_about_abilities_is_kept_and_replaced(call: Call, home: DataDirectory) -> None:
    noted = await call("update_capabilities", section="mail", key="limit", value="30 a day", note="since May")
    assert noted.text == "Noted mail.limit: 30 a day"
    assert (await call("update_capabilities", section="mail", key="limit", value="40")).summary == "Replaced mail.limit"
    assert "- mail.limit: 40" in (await call("check_capabilities")).text
    assert json.loads(home.capabilities.read_text(encoding="utf-8")) == [
        {"name": "mail.limit", "section": "mail", "key": "limit", "value": "40"}
    ]
    for section, value in ((" ", "x"), ("a\nb", "x"), ("a", "x" * 10_000_000)):
        with pytest.raises(ToolError):
            await call("update_capabilities", section=section, key="k", value=value)


async def test_identity_is_the_instructions_and_the_files(call: Call, home: DataDirectory, tmp_path: Path) -> None:
    assert "no identity files" in (await call("check_identity")).text
    home.settings.write_text(json.dumps({"systemPrompt": "Answer briefly."}), encoding="utf-8")
    home.identity.mkdir()
    (home.identity / "soul.md").write_bytes(b"\xef\xbb\xbfCalm and exact")
    (home.identity / "huge.md").write_text("x" * 70_000, encoding="utf-8")
    (home.identity / "picture.png").write_bytes(b"\x89PNG")
    secret = tmp_path / "secret.txt"
    secret.write_text("do not read", encoding="utf-8")
    (home.identity / "link.md").symlink_to(secret)
    text = (await call("check_identity")).text
    assert "## Standing instructions\n\nAnswer briefly." in text
    assert "## soul.md\n\nCalm and exact" in text
    assert "[larger than 64 KB, not read]" in text
    assert "[cannot be read: 'link.md' is not a plain file" in text
    assert "do not read" not in text
    assert "PNG" not in text


async def test_a_notice_goes_on_the_board_with_its_conversation(call: Call, rules: Rules) -> None:
    await call("send_notification", title="Backup\nfinished", message="12 folders")
    (entry,) = rules.board.entries()
    assert (entry.text, entry.detail, entry.session_id, entry.is_new) == (
        "Backup finished",
        "12 folders",
        "session_1",
        True,
    )
    for title, message in ((" ", ""), ("x" * 101, ""), ("x", "y" * 501)):
        with pytest.raises(ToolError):
            await call("send_notification", title=title, message=message)
    assert len(rules.board.entries()) == 1
