"""The tools that look at the program and its stores, as the app wires them."""

import json

import pytest

from skales.app.life import open_app
from skales.app.notices import Subject
from skales.core.json import as_object
from skales.data.paths import DataDirectory

pytestmark = pytest.mark.anyio


async def test_tools_see_the_program_as_it_is_wired(home: DataDirectory) -> None:
    vault = home.root.parent / "vault"
    vault.mkdir()
    settings = {
        "activeProvider": "openai",
        "providers": {"openai": {"apiKey": "sk-0123456789abcdefghij", "model": "gpt-5.5"}},
        "obsidianVaults": [str(vault)],
        "obsidianFormat": {"folder": "Inbox"},
        "safetyMode": "advanced",
    }
    home.settings.write_text(json.dumps(settings), encoding="utf-8")
    async with open_app(home) as app:
        facts = as_object((await app.run_tool("check_system_status", {})).data)
        assert facts["Answers"] == "openai with gpt-5.5"
        on = sum(app.toolbox.is_enabled(spec.name) for spec in app.toolbox.specs())
        assert facts["Tools"] == f"{on} of {len(app.toolbox.specs())} on"
        assert not (await app.run_tool("obsidian_create_note", {"title": "New", "content": "text"})).is_error
        assert not (await app.run_tool("planner_create_task", {"title": "Read"})).is_error
        assert not (await app.run_tool("knowledge_graph_update", {"name": "Ada"})).is_error
        assert not (await app.run_tool("update_capabilities", {"section": "a", "key": "b", "value": "c"})).is_error
        assert not (await app.run_tool("send_notification", {"title": "Done"})).is_error
        assert [(entry.subject, entry.text) for entry in app.notices.entries()] == [(Subject.TOLD, "Done")]
    assert (vault / "Inbox" / "New.md").read_text(encoding="utf-8") == "text\n"
    assert len(list(home.planner.iterdir())) == 1
    async with open_app(home) as app:
        assert [note.name for note in app.capabilities.notes()] == ["a.b"]
