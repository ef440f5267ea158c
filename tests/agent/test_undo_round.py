"""What calls change is recorded before they run, and can be taken back: every file tool, and commands."""

import random
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from skales.core.errors import ConflictError
from skales.data.paths import DataDirectory
from skales.data.undo_shape import StepState
from tests.agent.undo_scene import open_scene, tree

pytestmark = pytest.mark.anyio


def furnish(work: Path) -> None:
    """Files of several kinds: text, bytes, a program, a secret, folders, links."""
    (work / "notes.txt").write_text("one\ntwo\nthree\n", encoding="utf-8")
    (work / "data.bin").write_bytes(bytes(range(256)))
    (work / "run.sh").write_text("#!/bin/sh\necho hi\n", encoding="utf-8")
    (work / "run.sh").chmod(0o750)
    (work / ".env").write_text("TOKEN=abc\n", encoding="utf-8")
    (work / ".env").chmod(0o600)
    (work / "box" / "inner").mkdir(parents=True)
    (work / "box" / "a.txt").write_text("a", encoding="utf-8")
    (work / "box" / "inner" / "b.txt").write_text("b", encoding="utf-8")
    (work / "empty").mkdir()
    (work / "link").symlink_to("notes.txt")
    (work / "box" / "dangling").symlink_to("nowhere")
    with zipfile.ZipFile(work / "pack.zip", "w") as archive:
        archive.writestr("p/one.txt", "1")
        archive.writestr("p/two.txt", "2")


CALLS: dict[str, tuple[str, dict[str, object]]] = {
    "write a new file in new folders": ("write_file", {"path": "x/y/z.txt", "content": "new"}),
    "replace a file": ("write_file", {"path": "notes.txt", "content": "other"}),
    "replace through a link": ("write_file", {"path": "link", "content": "other"}),
    "append": ("append_file", {"path": "notes.txt", "content": "four\n"}),
    "append to a new file": ("append_file", {"path": "fresh.txt", "content": "four\n"}),
    "edit": ("edit_file", {"path": "notes.txt", "old_text": "two", "new_text": "2"}),
    "edit a program": ("edit_file", {"path": "run.sh", "old_text": "hi", "new_text": "ho"}),
    "replace in a file": ("replace_in_file", {"path": "notes.txt", "find": "o", "replace": "0"}),
    "make folders": ("create_directory", {"path": "m/n/o"}),
    "move a file": ("move_file", {"source": "notes.txt", "destination": "moved.txt"}),
    "move a folder": ("move_file", {"source": "box", "destination": "crate"}),
    "move into a folder": ("move_file", {"source": "notes.txt", "destination": "box"}),
    "move over a file": ("move_file", {"source": "notes.txt", "destination": "data.bin", "overwrite": True}),
    "move a link": ("move_file", {"source": "link", "destination": "link2"}),
    "copy a file": ("copy_file", {"source": "notes.txt", "destination": "c/copy.txt"}),
    "copy a folder": ("copy_file", {"source": "box", "destination": "empty"}),
    "copy over a file": ("copy_file", {"source": "notes.txt", "destination": "data.bin", "overwrite": True}),
    "delete a file": ("delete_file", {"path": "run.sh"}),
    "delete a secret": ("delete_file", {"path": ".env"}),
    "delete a folder": ("delete_file", {"path": "box", "recursive": True}),
    "delete a link": ("delete_file", {"path": "link"}),
    "pack": ("create_archive", {"paths": ["box"], "archive": "box.zip"}),
    "pack over": ("create_archive", {"paths": ["box"], "archive": "pack.zip", "overwrite": True}),
    "unpack": ("extract_archive", {"archive": "pack.zip"}),
    "unpack into a new folder": ("extract_archive", {"archive": "pack.zip", "destination": "new/place"}),
    "unpack into a folder": ("extract_archive", {"archive": "pack.zip", "destination": "box"}),
    "a command that does a bit of all": (
        "execute_command",
        {
            "command": "echo more >> notes.txt; rm -r box; mkdir -p q/w; ln -s q s; chmod 640 data.bin;"
            " mv run.sh q/; rm link; mkdir link; echo x > link/x; rm -r empty; echo file > empty"
        },
    ),
    "a command in a folder that fails": ("execute_command", {"command": "echo y > y; false", "cwd": "box"}),
}


@pytest.mark.parametrize("name", CALLS)
async def test_each_call_is_taken_back_and_brought_again(home: DataDirectory, name: str) -> None:
    tool, arguments = CALLS[name]
    async with open_scene(home) as scene:
        furnish(scene.work)
        before = tree(scene.work)
        await scene.call(tool, **arguments)
        (step,) = scene.app.undo.recent()
        after = tree(scene.work)
        assert (step.tool, step.turn_id, step.state) == (tool, "turn_1", StepState.DONE)
        assert after != before
        scene.undo()
        assert tree(scene.work) == before
        scene.undo(redo=True)
        assert tree(scene.work) == after
        scene.undo(step.id)
        assert tree(scene.work) == before


async def test_a_call_that_changes_nothing_leaves_no_step(home: DataDirectory) -> None:
    async with open_scene(home) as scene:
        furnish(scene.work)
        await scene.call("execute_command", command="cat notes.txt")
        await scene.call("extract_archive", archive="pack.zip", list_only=True)
        await scene.call("edit_file", path="notes.txt", old_text="not there", new_text="x")
        assert scene.app.undo.recent() == []


async def test_what_was_changed_since_is_named_and_stays(home: DataDirectory) -> None:
    async with open_scene(home) as scene:
        furnish(scene.work)
        await scene.do("execute_command", command="echo a > a.txt; echo b > notes.txt")
        (scene.work / "notes.txt").write_text("mine", encoding="utf-8")
        with pytest.raises(ConflictError, match=r"notes\.txt") as caught:
            scene.undo()
        assert "other 1" in caught.value.hint
        assert (scene.work / "a.txt").exists()
        scene.undo(partial=True)
        assert not (scene.work / "a.txt").exists()
        assert (scene.work / "notes.txt").read_text(encoding="utf-8") == "mine"
        assert scene.app.undo.recent()[1].state is StepState.PARTIAL


async def test_a_folder_with_something_of_mine_in_it_stays(home: DataDirectory) -> None:
    async with open_scene(home) as scene:
        await scene.do("write_file", path="new/file.txt", content="x")
        (scene.work / "new" / "mine.txt").write_text("mine", encoding="utf-8")
        with pytest.raises(ConflictError, match="put there since"):
            scene.undo()
        scene.undo(partial=True)
        assert tree(scene.work).keys() == {"new", "new/mine.txt"}


async def test_a_turn_is_taken_back_as_a_whole_and_only_the_turn(home: DataDirectory) -> None:
    async with open_scene(home) as scene:
        furnish(scene.work)
        await scene.do("write_file", path="keep.txt", content="of an earlier turn")
        before = tree(scene.work)
        scene.turn = "turn_2"
        await scene.do("write_file", path="notes.txt", content="1")
        await scene.do("append_file", path="notes.txt", content="2")
        await scene.do("execute_command", command="mv notes.txt box/; rm data.bin")
        last = await scene.do("delete_file", path="box", recursive=True)
        after = tree(scene.work)
        scene.undo(last.id, turn=True)
        assert tree(scene.work) == before
        scene.undo(redo=True)
        assert tree(scene.work) == after


async def test_a_change_between_two_steps_of_a_turn_is_not_lost(home: DataDirectory) -> None:
    async with open_scene(home) as scene:
        await scene.do("write_file", path="a.txt", content="1")
        (scene.work / "a.txt").write_text("mine", encoding="utf-8")
        last = await scene.do("write_file", path="a.txt", content="2")
        with pytest.raises(ConflictError, match="in between"):
            scene.undo(last.id, turn=True)
        scene.undo(last.id)
        assert (scene.work / "a.txt").read_text(encoding="utf-8") == "mine"


async def test_closed_files_are_neither_written_nor_copied(home: DataDirectory) -> None:
    async with open_scene(home) as scene:
        furnish(scene.work)
        scene.app.settings.update(lambda raw: raw.update(blockedFolders=[str(scene.work / "box")]))
        step = await scene.do("execute_command", command='for f in b*/a.txt; do echo new > "$f"; done; echo z > z.txt')
        assert [Path(item.name).name for item in step.items] == ["z.txt"]
        assert any("box" in note for note in step.notes)
        assert (scene.work / "box" / "a.txt").read_text(encoding="utf-8") == "a"
        kept = [path.read_bytes() for path in (home.undo / "blobs").rglob("*") if path.is_file()]
        assert b"a" not in kept
        assert b"b" not in kept


async def test_a_place_that_was_closed_since_is_not_written_to(home: DataDirectory) -> None:
    async with open_scene(home) as scene:
        furnish(scene.work)
        step = await scene.do("write_file", path="box/a.txt", content="new")
        scene.app.settings.update(lambda raw: raw.update(blockedFolders=[str(scene.work / "box")]))
        with pytest.raises(ConflictError, match="closed to tools"):
            scene.undo(step.id)
        assert (scene.work / "box" / "a.txt").read_text(encoding="utf-8") == "new"


async def test_a_folder_that_became_a_link_is_not_followed(home: DataDirectory, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("new", encoding="utf-8")
    async with open_scene(home) as scene:
        furnish(scene.work)
        await scene.do("write_file", path="box/a.txt", content="new")
        shutil.rmtree(scene.work / "box")
        (scene.work / "box").symlink_to(outside)
        with pytest.raises(ConflictError):
            scene.undo()
        assert (outside / "a.txt").read_text(encoding="utf-8") == "new"


async def test_copies_are_for_the_person_alone_and_tools_cannot_read_them(home: DataDirectory) -> None:
    async with open_scene(home) as scene:
        furnish(scene.work)
        await scene.do("write_file", path=".env", content="TOKEN=other\n")
        files = [path for path in home.undo.rglob("*") if path.is_file()]
        assert {path.stat().st_mode & 0o777 for path in files} == {0o600}
        scene.app.settings.set_value("fileAccessMode", "unrestricted")
        result = await scene.call("list_directory", path=str(home.undo))
        assert result.text.startswith("BLOCKED")


async def test_folders_that_were_not_looked_at_do_not_count_as_new_under_another_name(home: DataDirectory) -> None:
    async with open_scene(home) as scene:
        (scene.work / "node_modules").mkdir()
        (scene.work / "node_modules" / "dear.js").write_text("x", encoding="utf-8")
        await scene.do("execute_command", command="mv node_modules modules; echo y > y.txt")
        scene.undo()
        assert (scene.work / "modules" / "dear.js").exists()
        assert not (scene.work / "y.txt").exists()


Step = tuple[str, dict[str, object]]


def random_call(chance: random.Random) -> Step:
    """A call with names that partly exist, so that some fail, some replace, some nest."""
    names = ["a.txt", "b.txt", "d", "d/c.txt", "d/e/f.bin", "l", "d/m", "z.sh"]
    one, two = chance.sample(names, 2)
    text = chance.choice(["", "x", "line\n" * 5, "ü" * 10])
    commands = [
        f"echo '{text}' >> {one}", f"rm -rf {one}", f"mv -T {one} {two}", f"ln -sfn {two} {one}",
        f"chmod 7{chance.randrange(8)}0 {one}",
        f"mkdir -p {one}; cp -r {one} {two}", f"touch {one}", f"head -c {chance.randrange(99)} /dev/zero > {one}",
    ]  # fmt: skip
    choices: list[Callable[[], Step]] = [
        lambda: ("write_file", {"path": one, "content": text}),
        lambda: ("append_file", {"path": one, "content": text}),
        lambda: ("edit_file", {"path": one, "old_text": "x", "new_text": "y"}),
        lambda: ("replace_in_file", {"path": one, "find": "line", "replace": "row"}),
        lambda: ("create_directory", {"path": one}),
        lambda: ("move_file", {"source": one, "destination": two, "overwrite": chance.random() < 0.5}),
        lambda: ("copy_file", {"source": one, "destination": two, "overwrite": chance.random() < 0.5}),
        lambda: ("delete_file", {"path": one, "recursive": True}),
        lambda: ("create_archive", {"paths": [one], "archive": "pack.zip", "overwrite": True}),
        lambda: ("extract_archive", {"archive": "pack.zip", "destination": two}),
        lambda: ("execute_command", {"command": chance.choice(commands)}),
        lambda: ("execute_command", {"command": chance.choice(commands)}),
    ]
    return chance.choice(choices)()


@pytest.mark.parametrize("seed", range(12))
async def test_whatever_happened_undoing_all_of_it_gives_the_tree_back(home: DataDirectory, seed: int) -> None:
    chance = random.Random(seed)
    async with open_scene(home) as scene:
        furnish(scene.work)
        states = [tree(scene.work)]
        done: list[str] = []
        for _ in range(25):
            tool, arguments = random_call(chance)
            await scene.call(tool, **arguments)
            latest = scene.app.undo.recent(1)
            if latest and latest[0].id not in done:
                done.append(latest[0].id)
                states.append(tree(scene.work))
            else:
                assert tree(scene.work) == states[-1], (tool, arguments)
        if seed % 2:
            scene.undo(done[-1], turn=True)
        else:
            for step_id, state in zip(reversed(done), reversed(states[:-1]), strict=True):
                scene.undo(step_id)
                assert tree(scene.work) == state, step_id
        assert tree(scene.work) == states[0]
