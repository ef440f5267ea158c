import errno
import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from skales.core.errors import NotFoundError
from skales.data.paths import DataDirectory
from skales.data.quarantine import BrokenFile, Quarantine
from tests.conftest import FixedClock

BYTES = b'\xff\x00{"half": \r\n'


@pytest.fixture
def quarantine(home: DataDirectory, clock: FixedClock) -> Quarantine:
    return Quarantine(home.quarantine, clock)


@pytest.fixture
def broken(home: DataDirectory) -> Path:
    return put(home.sessions / "a.json")


def put(path: Path, data: bytes = BYTES) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_a_file_moves_byte_for_byte_and_its_notice_says_why(
    home: DataDirectory, quarantine: Quarantine, broken: Path, clock: FixedClock
) -> None:
    found = quarantine.set_aside(broken, "it is torn")
    kept_at = home.quarantine / "sessions" / f"a.json.{clock.now_ms()}"
    assert found == BrokenFile(broken, kept_at, "it is torn", clock.now_ms())
    assert kept_at.read_bytes() == BYTES
    assert not broken.exists()
    assert quarantine.notices() == [found]
    assert json.loads((kept_at.parent / f"{kept_at.name}.notice.json").read_text(encoding="utf-8")) == {
        "path": "sessions/a.json",
        "reason": "it is torn",
        "when_ms": clock.now_ms(),
    }
    assert stat.S_IMODE(kept_at.parent.stat().st_mode) == 0o700


def test_a_later_program_still_knows(home: DataDirectory, quarantine: Quarantine, broken: Path) -> None:
    found = quarantine.set_aside(broken, "it is torn")
    assert Quarantine(home.quarantine, FixedClock(1)).notices() == [found]


def test_notices_move_with_the_data_directory(home: DataDirectory, quarantine: Quarantine, broken: Path) -> None:
    quarantine.set_aside(broken, "it is torn")
    moved = DataDirectory(home.root.rename(home.root.with_name("elsewhere")))
    (notice,) = Quarantine(moved.quarantine, FixedClock()).notices()
    assert notice.path == moved.sessions / "a.json"
    assert notice.kept_at.read_bytes() == BYTES


@pytest.mark.parametrize(
    ("place", "kept_in"),
    [
        ("settings.json", "."),
        ("agents/definitions/x.json", "agents/definitions"),
        ("../outside/y.json", "outside"),
    ],
)
def test_the_place_a_file_had_is_kept(home: DataDirectory, quarantine: Quarantine, place: str, kept_in: str) -> None:
    path = put(Path(os.path.normpath(home.root / place)))
    found = quarantine.set_aside(path, "broken")
    assert found.kept_at.parent == home.quarantine / kept_in
    assert quarantine.notices() == [found]
    assert found.path == path


def test_nothing_is_overwritten_within_one_millisecond(home: DataDirectory, quarantine: Quarantine) -> None:
    found = [quarantine.set_aside(put(home.sessions / "a.json", data), "torn") for data in (b"1", b"2", b"3")]
    assert [broken.kept_at.read_bytes() for broken in found] == [b"1", b"2", b"3"]
    assert sorted(broken.kept_at for broken in quarantine.notices()) == [broken.kept_at for broken in found]


def test_what_lies_in_the_quarantine_already_is_left_alone(
    home: DataDirectory, quarantine: Quarantine, broken: Path, clock: FixedClock
) -> None:
    now_ms = clock.now_ms()
    put(home.quarantine / "sessions" / f"a.json.{now_ms}", b"a file without a notice")
    put(home.quarantine / "sessions" / f"a.json.{now_ms + 1}.notice.json", b"a notice without a file")
    found = quarantine.set_aside(broken, "torn")
    assert found.kept_at.name == f"a.json.{now_ms + 2}"
    assert (home.quarantine / "sessions" / f"a.json.{now_ms}").read_bytes() == b"a file without a notice"
    assert quarantine.notices() == [found]


def test_newest_first(home: DataDirectory, quarantine: Quarantine, clock: FixedClock) -> None:
    for name in ("b.json", "a.json"):
        quarantine.set_aside(put(home.sessions / name), "torn")
    clock.advance(5)
    quarantine.report(put(home.tasks / "left.json"), "unreadable")
    assert [notice.path.name for notice in quarantine.notices()] == ["left.json", "a.json", "b.json"]


def refuse_with(number: int) -> Callable[..., None]:
    def refuse(*args: object, **kwargs: object) -> None:
        raise OSError(number, os.strerror(number))

    return refuse


def test_a_quarantine_on_another_disk_gets_a_copy(
    home: DataDirectory, quarantine: Quarantine, broken: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "replace", refuse_with(errno.EXDEV))
    found = quarantine.set_aside(broken, "torn")
    assert found.kept_at.read_bytes() == BYTES
    assert not broken.exists()
    assert quarantine.notices() == [found]


def test_a_copy_whose_original_cannot_be_removed_is_taken_back(
    home: DataDirectory, quarantine: Quarantine, broken: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "replace", refuse_with(errno.EXDEV))
    real = os.unlink

    def keep_original(path: Path, **options: int) -> None:
        if Path(path) == broken:
            raise PermissionError(errno.EACCES, "no")
        real(path, **options)

    monkeypatch.setattr(os, "unlink", keep_original)
    found = quarantine.set_aside(broken, "torn")
    assert found.kept_at == broken
    assert broken.read_bytes() == BYTES
    assert names_in(home.quarantine) == []
    assert quarantine.notices() == [found]


def block_folder(home: DataDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    home.quarantine.write_text("in the way", encoding="utf-8")


def block_moving(home: DataDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "replace", refuse_with(errno.EROFS))


@pytest.mark.parametrize("block", [block_folder, block_moving])
def test_a_file_that_cannot_be_moved_stays_and_is_reported(
    home: DataDirectory,
    quarantine: Quarantine,
    broken: Path,
    monkeypatch: pytest.MonkeyPatch,
    block: Callable[[DataDirectory, pytest.MonkeyPatch], None],
) -> None:
    block(home, monkeypatch)
    found = quarantine.set_aside(broken, "torn")
    assert found == BrokenFile(broken, broken, "torn", FixedClock().now_ms())
    assert broken.read_bytes() == BYTES
    assert quarantine.notices() == [found]
    assert names_in(home.quarantine) == []


def test_a_reported_file_is_reported_once_until_it_changes(
    quarantine: Quarantine, broken: Path, clock: FixedClock
) -> None:
    first = quarantine.report(broken, "permission is missing")
    clock.advance(60)
    assert quarantine.report(broken, "permission is missing") == first
    assert quarantine.notices() == [first]
    put(broken, b"longer than before, but still not right")
    assert quarantine.notices() == []
    second = quarantine.report(broken, "torn")
    put(broken, b"changed again")
    third = quarantine.report(broken, "torn")
    assert quarantine.notices() == [third] == [second]


def test_a_reported_file_that_is_gone_is_no_news(quarantine: Quarantine, broken: Path) -> None:
    quarantine.report(broken, "torn")
    broken.unlink()
    assert quarantine.notices() == []


def test_a_dismissed_notice_is_gone_and_the_file_stays(home: DataDirectory, quarantine: Quarantine) -> None:
    kept = [quarantine.set_aside(put(home.sessions / name), "torn") for name in ("a.json", "b.json", "c.json")]
    quarantine.dismiss(kept[1].kept_at)
    assert quarantine.notices() == [kept[0], kept[2]]
    assert kept[1].kept_at.read_bytes() == BYTES


def test_a_notice_about_a_file_in_place_can_be_dismissed(quarantine: Quarantine, broken: Path) -> None:
    quarantine.report(broken, "torn")
    quarantine.dismiss(broken)
    assert quarantine.notices() == []
    assert broken.read_bytes() == BYTES


def test_only_notices_can_be_dismissed(home: DataDirectory, quarantine: Quarantine, broken: Path) -> None:
    kept = quarantine.set_aside(broken, "torn")
    with pytest.raises(NotFoundError):
        quarantine.dismiss(home.settings)
    assert quarantine.notices() == [kept]


def test_a_quarantine_that_was_never_needed_is_empty(home: DataDirectory, quarantine: Quarantine) -> None:
    assert quarantine.notices() == []
    assert not home.quarantine.exists()


def test_a_file_someone_took_out_of_the_quarantine_is_no_news(quarantine: Quarantine, broken: Path) -> None:
    quarantine.set_aside(broken, "torn").kept_at.unlink()
    assert quarantine.notices() == []


@pytest.mark.parametrize("torn", [b"", b'{"path": "sess', b"\xff", b"[]", b"7"])
def test_a_torn_notice_still_shows_its_file(
    home: DataDirectory, quarantine: Quarantine, broken: Path, torn: bytes
) -> None:
    found = quarantine.set_aside(broken, "torn")
    put(found.kept_at.with_name(found.kept_at.name + ".notice.json"), torn)
    (notice,) = quarantine.notices()
    assert notice == BrokenFile(broken, found.kept_at, "the reason was not recorded", found.when_ms)


def test_a_notice_for_a_file_of_another_name_is_shown_as_well_as_it_can_be(
    home: DataDirectory, quarantine: Quarantine
) -> None:
    put(home.quarantine / "mine.txt")
    put(home.quarantine / "mine.txt.notice.json", b"{}")
    (notice,) = quarantine.notices()
    assert (notice.path, notice.when_ms) == (home.root / "mine", 0)
