"""Files that hold text of others are known again: by path, when moved, when copied; and not for ever more of them."""

import os
from pathlib import Path

import pytest

from skales.data import tainted_files
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.tainted_files import TaintedFiles
from tests.conftest import FixedClock

PAGE = ("web page example.org",)


@pytest.fixture
def store(home: DataDirectory, clock: FixedClock) -> TaintedFiles:
    return TaintedFiles(home, Quarantine(home.quarantine, clock), clock)


def make(home: DataDirectory, name: str, text: str = "hello world") -> Path:
    path = home.workspace / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_nothing_is_known_at_first(store: TaintedFiles, home: DataDirectory) -> None:
    assert store.sources_of(make(home, "a")) == ()
    assert not store.is_own(home.workspace / "a")


def test_a_file_is_known_also_after_a_restart(store: TaintedFiles, home: DataDirectory, clock: FixedClock) -> None:
    store.add([make(home, "a")], PAGE)
    again = TaintedFiles(home, Quarantine(home.quarantine, clock), clock)
    assert again.sources_of(home.workspace / "a") == PAGE


def test_a_file_moved_or_copied_by_others_is_known(store: TaintedFiles, home: DataDirectory) -> None:
    store.add([make(home, "a")], PAGE)
    make(home, "copy")
    (home.workspace / "a").rename(home.workspace / "b")
    (home.workspace / "other").write_text("hello earth", encoding="utf-8")
    assert store.sources_of(home.workspace / "b") == PAGE
    assert store.sources_of(home.workspace / "copy") == PAGE
    assert store.sources_of(home.workspace / "other") == ()


def test_an_empty_file_says_nothing_of_other_empty_files(store: TaintedFiles, home: DataDirectory) -> None:
    store.add([make(home, "a", "")], PAGE)
    assert store.sources_of(make(home, "b", "")) == ()


def test_everything_in_a_folder_is_known(store: TaintedFiles, home: DataDirectory) -> None:
    inside = make(home, "folder/deep/a")
    store.add([home.workspace / "folder"], PAGE)
    assert store.sources_of(inside) == PAGE
    assert [entry.path for entry in store.below(home.workspace)] == [str(home.workspace / "folder")]


def test_what_is_known_follows_a_folder(store: TaintedFiles, home: DataDirectory) -> None:
    store.add([make(home, "from/a")], PAGE)
    make(home, "to/a", "changed since")
    store.follow(home.workspace / "from", home.workspace / "to")
    assert store.sources_of(home.workspace / "to" / "a") == PAGE


def test_own_files_and_forgotten_ones(store: TaintedFiles, home: DataDirectory) -> None:
    path = make(home, "a")
    store.add([path], PAGE)
    store.forget([path])
    assert store.sources_of(path) == ()
    store.add([path], ())
    assert store.is_own(path)
    assert store.below(home.workspace) == []


def test_notes_are_found_by_what_names_them(store: TaintedFiles) -> None:
    store.note("memory", "mem_1", PAGE)
    store.note("memory", "mem_1", ("mail",))
    assert store.noted_in("memory", "- x (id mem_1)") == ("mail",)
    assert store.noted_in("skill", "mem_1") == ()


def test_the_file_stays_small_and_keeps_what_is_there(
    store: TaintedFiles, home: DataDirectory, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tainted_files, "MOST_ENTRIES", 3)
    paths = [make(home, f"f{number}", f"text {number}") for number in range(5)]
    store.add(paths[:2], PAGE)
    clock.advance(1)
    os.remove(paths[0])  # noqa: PTH107 - by whomever
    store.add(paths[2:], PAGE)
    assert [bool(store.sources_of(path)) for path in paths] == [False, False, True, True, True]


def test_a_broken_file_is_set_aside_and_begun_anew(store: TaintedFiles, home: DataDirectory, clock: FixedClock) -> None:
    home.tainted.write_text("{", encoding="utf-8")
    os.utime(home.tainted, (0, 0))
    path = make(home, "a")
    assert store.sources_of(path) == ()
    store.add([path], PAGE)
    assert store.sources_of(path) == PAGE
    assert list(home.quarantine.iterdir())
