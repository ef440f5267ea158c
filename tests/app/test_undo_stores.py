"""Changes of settings, grants, memories and conversations stand on the undo timeline and can be taken back."""

import pytest

from skales.core.errors import ConflictError
from skales.data.audit_reading import read_calls
from skales.data.grants import FolderReach, Grant, Reach, ReachKind
from skales.data.paths import DataDirectory
from tests.agent.undo_scene import open_scene

pytestmark = pytest.mark.anyio


async def test_a_setting_goes_back_and_comes_again(home: DataDirectory) -> None:
    async with open_scene(home) as scene:
        settings = scene.app.settings
        settings.set_value("theme", "dark")
        settings.set_value("approvalTimeoutSeconds", "60")
        (second, first) = scene.app.undo.recent()
        scene.undo(first.id)
        assert (settings.load().theme, settings.load().approval_timeout_s) == ("system", 60)
        assert "theme" not in settings.raw()
        scene.undo(redo=True)
        assert settings.load().theme == "dark"
        settings.set_value("approvalTimeoutSeconds", "70")
        with pytest.raises(ConflictError, match="approvalTimeoutSeconds"):
            scene.undo(second.id)


async def test_keys_are_neither_recorded_nor_taken_back(home: DataDirectory) -> None:
    key = "sk-" + "abcdefgh12345678" * 3
    async with open_scene(home) as scene:
        scene.app.settings.set_provider("openai", model="gpt-5.5", api_key=key)
        scene.app.settings.set_provider("openai", model="gpt-5", api_key=key + "9")
        written = [path.read_text(encoding="utf-8") for path in (home.undo / "steps").glob("*")]
        assert key not in "".join(written)
        scene.undo()
        provider = scene.app.settings.load().provider("openai")
        assert (provider.model, provider.api_key) == ("gpt-5.5", key + "9")


async def test_a_grant_goes_back_and_comes_again(home: DataDirectory) -> None:
    async with open_scene(home) as scene:
        reach = Reach(kind=ReachKind.PLACES, folders=(FolderReach("path", str(home.workspace)),))
        grant = scene.app.grants.add(Grant(id="", tool="write_file", session_id="", reach=reach))
        scene.undo()
        assert scene.app.grants.list() == []
        scene.undo(redo=True)
        assert scene.app.grants.list() == [grant]
        scene.app.grants.revoke(grant.id)
        scene.undo()
        assert scene.app.grants.list() == [grant]


async def test_a_deleted_memory_comes_back_as_it_was_and_is_not_blocked(home: DataDirectory) -> None:
    async with open_scene(home) as scene:
        memory = scene.app.memories.add("Ana likes tea", keywords=["Ana"])
        scene.app.memories.delete(memory.id)
        scene.undo()
        assert list(scene.app.memories.list()) == [memory]
        assert not scene.app.memories.is_blocked("Ana likes tea")


async def test_what_a_tool_remembers_belongs_to_its_call(home: DataDirectory) -> None:
    async with open_scene(home) as scene:
        step = await scene.do("memory_write", content="Ana likes tea")
        assert (step.tool, step.turn_id, len(scene.app.undo.recent())) == ("memory_write", "turn_1", 1)
        scene.undo()
        assert scene.app.memories.count() == 0


async def test_a_deleted_conversation_comes_back_unless_it_is_gone_for_good(home: DataDirectory) -> None:
    async with open_scene(home) as scene:
        session_id = scene.app.sessions.create(title="Dear").id
        scene.app.sessions.delete(session_id)
        step = scene.undo()
        assert scene.app.sessions.load(session_id).title == "Dear"
        scene.undo(redo=True)
        assert not scene.app.sessions.has(session_id)
        for path in (home.trash / "sessions").iterdir():
            path.unlink()
        with pytest.raises(ConflictError, match="for good"):
            scene.undo(step.undoes[0])


async def test_what_is_taken_back_and_brought_again_is_in_the_audit_log(home: DataDirectory) -> None:
    async with open_scene(home) as scene:
        step = await scene.do("write_file", path="a.txt", content="x")
        done = scene.undo()
        scene.undo(redo=True)
        again, back, *_calls = list(read_calls(home))
        assert (back.kind, back.facts["steps"], back.facts["as"]) == ("undo", [step.id], done.id)
        assert (again.kind, again.facts["steps"]) == ("redo", [step.id])
