import os
import threading
from pathlib import Path

import pytest

from skales.core.errors import BrokenDocumentError, StorageError
from skales.core.json import JsonObject, JsonValue, as_text
from skales.data.document import write_object
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.records import Folder, Source, moment_ms, remove_file, texts_of, update_or_start_over
from tests.conftest import FixedClock


@pytest.fixture
def quarantine(home: DataDirectory, clock: FixedClock) -> Quarantine:
    return Quarantine(home.quarantine, clock)


class Reading:
    """A folder of named things, and how often a file was parsed."""

    def __init__(self, path: Path, quarantine: Quarantine) -> None:
        self.parsed: list[str] = []
        self.folder = Folder(path, quarantine, self._parse, quarantine.report)

    def _parse(self, source: Source) -> str:
        self.parsed.append(source.path.name)
        name = as_text(source.value.get("name"))
        if not name:
            raise ValueError("it has no name")
        return name


@pytest.fixture
def path(home: DataDirectory) -> Path:
    folder = home.root / "things"
    folder.mkdir()
    return folder


def write(path: Path, value: JsonObject) -> None:
    write_object(path, value)


def test_a_folder_that_is_not_there_holds_nothing(home: DataDirectory, quarantine: Quarantine) -> None:
    assert Reading(home.root / "nowhere", quarantine).folder.read() == []


def test_only_plain_json_files_without_a_special_name_count(path: Path, quarantine: Quarantine) -> None:
    write(path / "b.json", {"name": "second"})
    write(path / "a.json", {"name": "first"})
    for bookkeeping in ("_state.json", ".hidden.json", "notes.txt"):
        write(path / bookkeeping, {"name": "never"})
    (path / "folder.json").mkdir()
    assert Reading(path, quarantine).folder.read() == ["first", "second"]


def test_a_file_is_read_again_only_when_it_changed(path: Path, quarantine: Quarantine) -> None:
    write(path / "a.json", {"name": "one"})
    write(path / "b.json", {"name": "two"})
    reading = Reading(path, quarantine)
    reading.folder.read()
    reading.folder.read()
    assert reading.parsed == ["a.json", "b.json"]
    write(path / "b.json", {"name": "changed"})
    assert reading.folder.read() == ["one", "changed"]
    assert reading.parsed == ["a.json", "b.json", "b.json"]


def test_a_deleted_file_is_gone_at_the_next_look(path: Path, quarantine: Quarantine) -> None:
    write(path / "a.json", {"name": "one"})
    reading = Reading(path, quarantine)
    reading.folder.read()
    (path / "a.json").unlink()
    assert reading.folder.read() == []


def test_a_broken_file_costs_itself_alone_and_is_set_aside(path: Path, quarantine: Quarantine) -> None:
    write(path / "a.json", {"name": "one"})
    (path / "b.json").write_bytes(b'{"name": ')
    assert Reading(path, quarantine).folder.read() == ["one"]
    assert [notice.path for notice in quarantine.notices()] == [path / "b.json"]
    assert not (path / "b.json").exists()


def test_a_file_of_another_kind_stays_and_is_reported_once(path: Path, quarantine: Quarantine) -> None:
    write(path / "a.json", {"other": True})
    reading = Reading(path, quarantine)
    assert reading.folder.read() == []
    assert reading.folder.read() == []
    assert reading.parsed == ["a.json"]
    assert [(notice.kept_at, notice.reason) for notice in quarantine.notices()] == [(path / "a.json", "it has no name")]


def test_a_file_that_cannot_be_read_is_reported_and_read_once_it_can(
    path: Path, home: DataDirectory, quarantine: Quarantine
) -> None:
    elsewhere = home.root / "elsewhere.json"
    write(elsewhere, {"name": "linked"})
    (path / "a.json").symlink_to(elsewhere)
    write(path / "b.json", {"name": "plain"})
    reading = Reading(path, quarantine)
    assert reading.folder.read() == ["plain"]
    assert [notice.path for notice in quarantine.notices()] == [path / "a.json"]
    (path / "a.json").unlink()
    elsewhere.rename(path / "a.json")
    assert reading.folder.read() == ["linked", "plain"]


def test_a_file_deleted_while_the_folder_is_read_is_no_error(path: Path, quarantine: Quarantine) -> None:
    write(path / "a.json", {"name": "one"})
    write(path / "b.json", {"name": "two"})

    def parse(source: Source) -> str:
        (path / "b.json").unlink()
        return source.path.name

    assert Folder(path, quarantine, parse, quarantine.report).read() == ["a.json"]


def test_a_file_where_the_folder_should_be_is_a_storage_error(home: DataDirectory, quarantine: Quarantine) -> None:
    (home.root / "things").write_text("", encoding="utf-8")
    with pytest.raises(StorageError, match="'things' cannot be listed"):
        Reading(home.root / "things", quarantine).folder.read()


def test_of_many_who_remove_a_file_one_did(path: Path) -> None:
    write(path / "a.json", {})
    barrier, answers = threading.Barrier(8), list[bool]()

    def remove() -> None:
        barrier.wait(timeout=5)
        answers.append(remove_file(path / "a.json"))

    threads = [threading.Thread(target=remove) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=5)
    assert sorted(answers) == [False] * 7 + [True]


def test_a_file_that_cannot_be_removed_is_a_storage_error(path: Path) -> None:
    (path / "a.json").mkdir()
    with pytest.raises(StorageError, match=r"'a\.json' cannot be deleted"):
        remove_file(path / "a.json")


def mark(value: dict[str, JsonValue]) -> None:
    value["marked"] = True


def test_a_change_keeps_what_the_file_had(path: Path, quarantine: Quarantine) -> None:
    write(path / "a.json", {"kept": 1})
    assert update_or_start_over(path / "a.json", quarantine, mark, missing={}) == {"kept": 1, "marked": True}


def test_a_change_to_a_broken_file_starts_over_and_keeps_the_broken_one(path: Path, quarantine: Quarantine) -> None:
    (path / "a.json").write_bytes(b"{")
    assert update_or_start_over(path / "a.json", quarantine, mark, missing={"fresh": 1}) == {"fresh": 1, "marked": True}
    assert [notice.kept_at.read_bytes() for notice in quarantine.notices()] == [b"{"]


def test_a_broken_file_that_cannot_be_set_aside_is_not_overwritten(home: DataDirectory, quarantine: Quarantine) -> None:
    broken = home.root / "a.json"
    broken.write_bytes(b"{")
    home.quarantine.write_text("in the way", encoding="utf-8")
    with pytest.raises(BrokenDocumentError):
        update_or_start_over(broken, quarantine, mark, missing={})
    assert broken.read_bytes() == b"{"


def test_a_broken_file_that_cannot_be_set_aside_is_looked_at_once(home: DataDirectory, quarantine: Quarantine) -> None:
    folder = home.root / "things"
    folder.mkdir()
    (folder / "a.json").write_bytes(b"{")
    home.quarantine.write_text("in the way", encoding="utf-8")
    reading = Reading(folder, quarantine)
    assert reading.folder.read() == []
    os.utime(folder, ns=(0, 0))
    assert reading.folder.read() == []
    assert [notice.kept_at for notice in quarantine.notices()] == [folder / "a.json"]


@pytest.mark.parametrize(
    ("value", "texts"), [(["a", 1, None, "b"], ("a", "b")), ("ab", ()), (None, ()), ({"a": "b"}, ()), ([], ())]
)
def test_texts_of_takes_the_strings_of_an_array(value: JsonValue, texts: tuple[str, ...]) -> None:
    assert texts_of(value) == texts


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        (1_930_000_000_000, 1_930_000_000_000),
        (1_930_000_000_000.9, 1_930_000_000_000),
        (0, 0),
        (True, 7),
        ("1930000000000", 7),
        (None, 7),
        (-1, 7),
        (10**400, 7),
        (float("inf"), 7),
        (float("nan"), 7),
    ],
)
def test_what_cannot_be_a_moment_counts_as_the_default(value: JsonValue, moment: int) -> None:
    assert moment_ms(value, default=7) == moment
