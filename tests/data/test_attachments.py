import os
from pathlib import Path

import pytest

from skales.core.errors import NotFoundError, StorageError
from skales.core.ids import SessionId
from skales.data.attachments import STAGED_FOR_MS, AttachmentStore, Staged, safe_name
from skales.data.paths import DataDirectory
from tests.conftest import CountingIds, FixedClock

SESSION = SessionId("session_1930000000000")


@pytest.fixture
def store(home: DataDirectory, clock: FixedClock, ids: CountingIds) -> AttachmentStore:
    return AttachmentStore(home, clock, ids)


def stage(store: AttachmentStore, name: str = "notes.md", content: bytes = b"buy milk") -> Staged:
    staged_id, path = store.begin()
    path.write_bytes(content)
    staged = Staged(id=staged_id, name=name, media_type="text/plain", size_bytes=len(content), kind="document")
    store.stage(staged, content.decode())
    return staged


def set_age(folder: Path, moment_ms: int) -> None:
    os.utime(folder, (moment_ms / 1000, moment_ms / 1000))


def test_a_staged_file_is_found_with_its_facts_and_text(store: AttachmentStore) -> None:
    staged = stage(store)
    assert store.find(staged.id) == staged
    assert store.read_text(staged.id) == "buy milk"
    assert store.content_path(staged.id).read_bytes() == b"buy milk"


@pytest.mark.parametrize("name", ["", "../../etc", "a/b", "nothing", ".", ".."])
def test_an_id_that_names_nothing_is_not_found(store: AttachmentStore, name: str) -> None:
    with pytest.raises(NotFoundError):
        store.find(name)
    with pytest.raises(NotFoundError):
        store.read_text(name)


def test_bytes_without_facts_are_no_staged_file_yet(store: AttachmentStore) -> None:
    staged_id, path = store.begin()
    path.write_bytes(b"half")
    with pytest.raises(NotFoundError):
        store.find(staged_id)


@pytest.mark.parametrize("facts", ["", "[1]", '{"name": "x"}', "{"])
def test_damaged_facts_are_a_file_that_is_gone(store: AttachmentStore, home: DataDirectory, facts: str) -> None:
    staged = stage(store)
    (home.uploads / staged.id / "facts.json").write_text(facts, encoding="utf-8")
    with pytest.raises(NotFoundError):
        store.find(staged.id)


def test_kept_files_are_numbered_under_their_conversation(store: AttachmentStore, home: DataDirectory) -> None:
    first = store.keep(SESSION, stage(store))
    second = store.keep(SESSION, stage(store, content=b"other"))
    assert [first, second] == [home.attachments / SESSION / "1-notes.md", home.attachments / SESSION / "2-notes.md"]
    assert (first.read_bytes(), second.read_bytes()) == (b"buy milk", b"other")


def test_a_kept_file_stays_when_the_staged_one_goes(store: AttachmentStore) -> None:
    staged = stage(store)
    path = store.keep(SESSION, staged)
    store.discard(staged.id)
    assert path.read_bytes() == b"buy milk"
    with pytest.raises(NotFoundError):
        store.find(staged.id)


def test_a_file_system_without_second_names_gets_a_copy(
    store: AttachmentStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_paths: object) -> None:
        raise PermissionError(1, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    path = store.keep(SESSION, stage(store))
    assert path.read_bytes() == b"buy milk"
    assert [entry.name for entry in path.parent.iterdir()] == ["1-notes.md"]


def test_keeping_what_is_gone_says_so(store: AttachmentStore) -> None:
    staged = stage(store)
    store.discard(staged.id)
    with pytest.raises(NotFoundError):
        store.keep(SESSION, staged)


def test_keeping_can_be_taken_back(store: AttachmentStore) -> None:
    staged = stage(store)
    path = store.keep(SESSION, staged)
    store.forget(path)
    store.forget(path)
    assert not path.exists()
    assert store.find(staged.id) == staged


def test_a_folder_that_cannot_be_made_is_an_error_in_words(store: AttachmentStore, home: DataDirectory) -> None:
    home.uploads.write_text("in the way", encoding="utf-8")
    with pytest.raises(StorageError):
        store.begin()
    store.sweep()


def test_staged_files_are_swept_after_a_day(store: AttachmentStore, home: DataDirectory, clock: FixedClock) -> None:
    old, fresh = stage(store), stage(store)
    set_age(home.uploads / old.id, clock.now_ms() - STAGED_FOR_MS - 1000)
    set_age(home.uploads / fresh.id, clock.now_ms() - STAGED_FOR_MS + 1000)
    store.sweep()
    assert [folder.name for folder in home.uploads.iterdir()] == [fresh.id]


@pytest.mark.parametrize(
    "place",
    ["sessions/{}.json", "trash/sessions/{}.json", "trash/sessions/{}.json.1930", "quarantine/sessions/{}.json.1"],
)
def test_kept_files_stay_while_their_conversation_is_anywhere(
    store: AttachmentStore, home: DataDirectory, place: str
) -> None:
    path = store.keep(SESSION, stage(store))
    file = home.root / place.format(SESSION)
    file.parent.mkdir(parents=True)
    file.write_text("{}", encoding="utf-8")
    store.sweep()
    assert path.exists()
    file.unlink()
    store.sweep()
    assert not path.exists()


def test_another_conversation_whose_name_begins_the_same_saves_nothing(
    store: AttachmentStore, home: DataDirectory
) -> None:
    path = store.keep(SESSION, stage(store))
    home.sessions.mkdir()
    (home.sessions / f"{SESSION}0.json").write_text("{}", encoding="utf-8")
    store.sweep()
    assert not path.exists()


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("notes.md", "notes.md"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\report.docx", "report.docx"),
        ("two\nlines\t.txt", "two lines .txt"),
        ("\u202egnp.exe", "gnp.exe"),
        ("a\u200bb\x00c.txt", "abc.txt"),
        ('<b>"what?"|*.txt', "_b__what____.txt"),
        ("...hidden", "hidden"),
        ("trailing. . ", "trailing"),
        ("CON", "_CON"),
        ("con.txt", "_con.txt"),
        ("Café ☕ 日本.pdf", "Café ☕ 日本.pdf"),
        ("half \ud800.txt", "half .txt"),
        ("", "file"),
        ("/", "file"),
        ("..", "file"),
    ],
)
def test_a_name_becomes_one_that_is_what_it_looks_like(name: str, safe: str) -> None:
    assert safe_name(name) == safe


@pytest.mark.parametrize("name", ["x" * 500 + ".docx", "日" * 300 + ".docx", "x." + "y" * 500])
def test_a_long_name_is_cut_and_keeps_a_short_ending(name: str) -> None:
    cut = safe_name(name)
    assert len(cut.encode()) <= 120
    assert cut.endswith(".docx" if name.endswith(".docx") else "y")
