"""Halves of files that a killed program left."""

import os
from pathlib import Path

from skales.data.leftovers import sweep_leftovers
from skales.data.paths import DataDirectory

_NOW_MS = 1_900_000_000_000
_HOUR_S = 3_600


def test_old_halves_go_and_nothing_else(tmp_path: Path) -> None:
    directory = DataDirectory(tmp_path / "data")
    directory.create()
    old = _NOW_MS / 1_000 - 2 * _HOUR_S
    half = _put(directory.sessions / ".a.json.0123456789ab.tmp", old)
    at_root = _put(directory.root / ".settings.json.ba9876543210.tmp", old)
    kept = [
        _put(directory.sessions / "a.json", old),
        _put(directory.sessions / ".b.json.0123456789ab.tmp", _NOW_MS / 1_000 - 60),
        _put(directory.sessions / "notes.tmp", old),
        _put(directory.workspace / ".mine.0123456789ab.tmp", old),
        _put(directory.trash / "sessions" / ".c.json.0123456789ab.tmp", old),
        _put(directory.quarantine / ".d.json.0123456789ab.tmp", old),
    ]
    assert sweep_leftovers(directory, _NOW_MS) == 2
    assert not half.exists()
    assert not at_root.exists()
    assert all(path.exists() for path in kept)


def test_a_link_to_elsewhere_is_not_followed(tmp_path: Path) -> None:
    directory = DataDirectory(tmp_path / "data")
    directory.create()
    old = _NOW_MS / 1_000 - 2 * _HOUR_S
    outside = _put(tmp_path / "outside" / ".x.json.0123456789ab.tmp", old)
    (directory.root / "linked").symlink_to(outside.parent)
    assert sweep_leftovers(directory, _NOW_MS) == 0
    assert outside.exists()


def _put(path: Path, moment_s: float) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("half", encoding="utf-8")
    os.utime(path, (moment_s, moment_s))
    return path
