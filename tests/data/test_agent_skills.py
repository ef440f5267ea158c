"""The skills of a data directory: listed as they lie there, nothing read from outside, nothing overwritten."""

import os
from pathlib import Path

import pytest

from skales.core.errors import ConflictError, InputError, NotFoundError, StorageError
from skales.data.agent_skills import AgentSkillStore
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from tests.conftest import FixedClock


@pytest.fixture
def store(home: DataDirectory, clock: FixedClock) -> AgentSkillStore:
    return AgentSkillStore(home, Quarantine(home.quarantine, clock))


def put(home: DataDirectory, folder: str, text: str = "", *, name: str = "") -> Path:
    place = home.agent_skills / folder
    place.mkdir(parents=True, exist_ok=True)
    (place / "SKILL.md").write_text(text or f"---\nname: {name or folder}\ndescription: d\n---\nBody", encoding="utf-8")
    return place


def test_without_a_folder_there_are_none(store: AgentSkillStore) -> None:
    assert store.list().skills == ()


def test_broken_ones_are_listed_with_file_and_line(store: AgentSkillStore, home: DataDirectory) -> None:
    put(home, "good")
    put(home, "bad", "---\nname: bad\ndescription: 'open\n---\n")
    put(home, "two words")
    (home.agent_skills / "empty").mkdir()
    put(home, "latin").joinpath("SKILL.md").write_bytes(b"---\nname: x\ndescription: caf\xe9\n---\n")
    put(home, "huge", f"---\nname: huge\n---\n{'x' * 1024 * 1024}")
    shelf = store.list()
    assert [skill.folder for skill in shelf.skills] == ["good"]
    assert [(broken.folder, broken.line) for broken in shelf.broken] == [
        ("bad", 3), ("huge", 0), ("latin", 3), ("two words", 0),
    ]  # fmt: skip
    assert shelf.broken[0].path == home.agent_skills / "bad" / "SKILL.md"
    with pytest.raises(InputError, match="at line 3"):
        store.find("bad")


def test_a_skill_is_found_by_name_or_folder_whatever_the_capitals(store: AgentSkillStore, home: DataDirectory) -> None:
    put(home, "folder-one", name="Inbox-Tidy")
    for name in ("inbox-tidy", "/INBOX-TIDY", "Folder-One"):
        assert store.find(name).folder == "folder-one"
    with pytest.raises(NotFoundError):
        store.find("inbox")


def test_the_state_file_switches_off_and_a_broken_one_nothing(store: AgentSkillStore, home: DataDirectory) -> None:
    put(home, "one")
    put(home, "two")
    state = home.agent_skills / "agent-skills-state.json"
    state.write_text('{"one": {"enabled": false}, "two": {"enabled": true}}', encoding="utf-8")
    assert [skill.is_enabled for skill in store.list().skills] == [False, True]
    with pytest.raises(ConflictError, match="switched off"):
        store.find("one")
    state.write_text("[]", encoding="utf-8")
    os.utime(state, (1, 1))
    assert [skill.is_enabled for skill in store.list().skills] == [True, True]


def test_links_out_of_a_skill_are_refused(store: AgentSkillStore, home: DataDirectory, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("---\nname: stolen\n---\nsecret", encoding="utf-8")
    place = put(home, "good")
    (place / "references").mkdir()
    (place / "references" / "out.md").symlink_to(secret)
    (place / "references" / "in.md").write_bytes(b"inside\r\n")
    (place / "scripts").symlink_to(tmp_path)
    (home.agent_skills / "linked").mkdir()
    (home.agent_skills / "linked" / "SKILL.md").symlink_to(secret)
    (home.agent_skills / "whole").symlink_to(place)
    assert [broken.folder for broken in store.list().broken] == ["linked", "whole"]
    skill = store.find("good")
    assert store.files(skill) == ["references/in.md"]
    assert store.read_file(skill, "references/in.md") == "inside\n"
    for name in ("references/out.md", "scripts/secret.txt"):
        with pytest.raises(InputError, match="leads out"):
            store.read_file(skill, name)


@pytest.mark.parametrize(
    "name", ["SKILL.md", "../good/SKILL.md", "/etc/passwd", "references/../SKILL.md", "references", "", "assets/x"]
)
def test_only_files_beside_the_text_are_read(store: AgentSkillStore, home: DataDirectory, name: str) -> None:
    put(home, "good")
    with pytest.raises(InputError):
        store.read_file(store.find("good"), name)


def test_a_pipe_or_a_missing_file_does_not_hold_the_reader(store: AgentSkillStore, home: DataDirectory) -> None:
    place = put(home, "good")
    (place / "scripts").mkdir()
    os.mkfifo(place / "scripts" / "pipe")
    with pytest.raises(StorageError, match="plain file"):
        store.read_file(store.find("good"), "scripts/pipe")
    with pytest.raises(NotFoundError):
        store.read_file(store.find("good"), "scripts/none")


def test_a_new_skill_is_written_and_no_name_is_taken_twice(store: AgentSkillStore, home: DataDirectory) -> None:
    put(home, "old-folder", name="Taken")
    (home.agent_skills / "leftover").mkdir()
    skill = store.create("release-notes", "Turn work: into notes", "# Do it")
    assert store.find("release-notes") == skill
    text = (home.agent_skills / "release-notes" / "SKILL.md").read_text(encoding="utf-8")
    assert text == '---\nname: release-notes\ndescription: "Turn work: into notes"\n---\n\n# Do it\n'
    for name in ("release-notes", "RELEASE-notes", "taken", "old-folder", "leftover"):
        with pytest.raises(ConflictError, match="exists already"):
            store.create(name, "d", "b")
    assert (home.agent_skills / "release-notes" / "SKILL.md").read_text(encoding="utf-8") == text
