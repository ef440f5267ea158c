"""Where files go that cannot be read as what they should be: byte for byte, beside a notice that says why.

Nothing here is ever overwritten or deleted. Not a trash: what a person deletes does not come here.
Spec: data-directory.md, "Write rules".
"""

import contextlib
import errno
import json
import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from skales.core.clock import Clock
from skales.core.errors import NotFoundError
from skales.core.json import as_int, as_object, as_text, parse_json

_NOTICE = ".notice.json"
_FOLDER_MODE = 0o700
_FILE_MODE = 0o600


class BrokenFile(Struct, frozen=True):
    """A file that could not be read. `kept_at` equals `path` when it could not be moved either."""

    path: Path
    kept_at: Path
    reason: str
    when_ms: int


class Quarantine:
    """The folder of broken files, and what a person should know about each. May be used from several threads."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self.clock = clock
        self._folder = folder
        self._root = folder.parent
        self._lock = threading.Lock()
        self._in_place: dict[Path, tuple[BrokenFile, tuple[int, int]]] = {}

    def set_aside(self, path: Path, reason: str) -> BrokenFile:
        """Move a file to `<folder>/<where it was>/<name>.<ms>`; where that is impossible, leave it and report it."""
        try:
            with self._lock:
                return self._move(path, reason)
        except OSError:
            return self.report(path, reason)

    def report(self, path: Path, reason: str) -> BrokenFile:
        """Remember, once, a file that stays where it is; until it changes or the program ends."""
        met = (BrokenFile(path, path, reason, self.clock.now_ms()), _fingerprint(path))
        with self._lock:
            if path not in self._in_place or self._in_place[path][1] != met[1]:
                self._in_place[path] = met
            return self._in_place[path][0]

    def notices(self) -> list[BrokenFile]:
        """Every broken file that nobody dismissed, newest first."""
        with self._lock:
            self._in_place = {path: kept for path, kept in self._in_place.items() if kept[1] == _fingerprint(path)}
            found = [broken for broken, _ in self._in_place.values()]
        found.extend(self._read_notice(notice) for notice in self._notice_files())
        return sorted(found, key=lambda broken: (-broken.when_ms, str(broken.path)))

    def dismiss(self, kept_at: Path) -> None:
        """Forget the notice of one file; the file itself stays. Raises NotFoundError."""
        with self._lock:
            if self._in_place.pop(kept_at, None) is not None:
                return
            for notice in self._notice_files():
                if _kept_at(notice) == kept_at:
                    notice.unlink(missing_ok=True)
                    return
        raise NotFoundError("There is no notice about this file")

    def _move(self, path: Path, reason: str) -> BrokenFile:
        try:
            relative = path.relative_to(self._root)
        except ValueError:
            relative = Path(path.parent.name, path.name)
        folder = self._folder / relative.parent
        folder.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        when_ms = self.clock.now_ms()
        notice = _reserve(folder, path.name, when_ms)
        try:
            named = relative if self._root / relative == path else path
            text = json.dumps({"path": named.as_posix(), "reason": reason, "when_ms": when_ms})
            notice.write_text(text, encoding="utf-8")
            _move_file(path, _kept_at(notice))
        except OSError:
            with contextlib.suppress(OSError):
                notice.unlink()
            raise
        return BrokenFile(path, _kept_at(notice), reason, when_ms)

    def _notice_files(self) -> Iterator[Path]:
        """Notices whose file is still there; a person may have emptied the folder by hand."""
        return (notice for notice in self._folder.rglob(f"*{_NOTICE}") if os.path.lexists(_kept_at(notice)))

    def _read_notice(self, notice: Path) -> BrokenFile:
        kept_at = _kept_at(notice)
        try:
            content = as_object(parse_json(notice.read_text(encoding="utf-8")))
        except (OSError, ValueError):  # torn by a crash, or edited
            content = {}
        name, _, stamp = kept_at.name.rpartition(".")
        there = self._root / kept_at.parent.relative_to(self._folder) / name
        return BrokenFile(
            path=self._root / as_text(content.get("path")) if as_text(content.get("path")) else there,
            kept_at=kept_at,
            reason=as_text(content.get("reason")) or "the reason was not recorded",
            when_ms=as_int(content.get("when_ms")) or (int(stamp) if stamp.isdecimal() else 0),
        )


def _reserve(folder: Path, name: str, when_ms: int) -> Path:
    """A notice file of our own, created empty; the first free millisecond from `when_ms` on gives the name."""
    while True:
        notice = folder / f"{name}.{when_ms}{_NOTICE}"
        if not os.path.lexists(_kept_at(notice)):
            with contextlib.suppress(FileExistsError):
                os.close(os.open(notice, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _FILE_MODE))
                return notice
        when_ms += 1


def _kept_at(notice: Path) -> Path:
    return notice.with_name(notice.name.removesuffix(_NOTICE))


def _move_file(path: Path, target: Path) -> None:
    try:
        path.replace(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        _copy_file(path, target)


def _copy_file(path: Path, target: Path) -> None:
    """The way across devices. Leaves either the original or, after success, the copy."""
    try:
        shutil.copy2(path, target, follow_symlinks=False)
        path.unlink()
    except OSError:
        target.unlink(missing_ok=True)
        raise


def _fingerprint(path: Path) -> tuple[int, int]:
    try:
        found = path.lstat()
    except OSError:
        return (-1, -1)
    return (found.st_mtime_ns, found.st_size)
