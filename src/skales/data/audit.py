"""The audit log: one JSON line per decision of the gate and one per call that ran, chained, one file per day.

Lines are only ever added, by one program at a time; each names the one before, and an anchor beside the files names
the last, so that `audit_verify` finds what was changed afterwards. What a crash left half is sealed by the next
write. Nothing is synced to the disk line by line: a power cut may cost the last ones, which then shows.
Spec: security.md, "Audit log".
"""

import json
import os
import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from datetime import date, timedelta
from pathlib import Path

from msgspec import Struct

from skales.core.clock import Clock, to_datetime
from skales.core.errors import StorageError
from skales.core.json import JsonObject, JsonValue
from skales.data.audit_chain import (
    FILE_NAME,
    GENESIS,
    Anchor,
    Place,
    digest_of,
    read_anchor,
    read_line,
    seal_line,
    write_anchor,
)
from skales.data.document import storage_errors
from skales.data.paths import DataDirectory
from skales.data.system_lock import try_lock, unlock

# Characters of the masked arguments kept for people, and of one argument that are looked at for it.
_PREVIEW_LIMIT = 500
_LOOKED_AT = 4_000
_DAYS = 90

# Another program holds the files for the time of one line.
_ATTEMPTS = 2_000
_PAUSE_S = 0.001
_FOLDER_MODE, _FILE_MODE = 0o700, 0o600
_IN_PLACE = os.O_WRONLY | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_APPEND = _IN_PLACE | os.O_APPEND

Mask = Callable[[JsonValue], JsonValue]


class AuditDecision(Struct, frozen=True, kw_only=True):
    """What the gate said of a call.

    `decision` is auto, user, granted, approved, declined, expired, cancelled, blocked, malformed or unknown; `reason`
    is why it was asked about or refused. `secrets` names the stored secrets that it asks for.
    `proposed` are the arguments of the model where the person changed them.
    """

    session_id: str
    turn_id: str = ""
    call_id: str
    surface: str
    tool: str
    decision: str
    arguments: JsonObject
    effects: tuple[str, ...] = ()
    reason: str = ""
    approval_id: str = ""
    secrets: tuple[str, ...] = ()
    proposed: JsonObject | None = None


class AuditRun(Struct, frozen=True, kw_only=True):
    """What came of a call that ran. `decision_number` is that of the line about its decision, 0 when there is none.

    `questions` are the ids of what the tool asked the person meanwhile.
    """

    session_id: str
    turn_id: str = ""
    call_id: str
    tool: str
    decision_number: int
    ok: bool
    error: str = ""
    duration_ms: int = 0
    questions: tuple[str, ...] = ()


class AuditLog:
    """Appends lines; never rewrites one. `mask` takes the secrets out of what is kept for people.

    `keep_days` is asked when a new day's file begins; older files go then.
    """

    def __init__(
        self, directory: DataDirectory, clock: Clock, mask: Mask, keep_days: Callable[[], int] = lambda: _DAYS
    ) -> None:
        self._folder = directory.logs
        self._anchor = directory.audit_head
        # What it is called when it cannot be written.
        self._name = self._folder / "audit log"
        self._clock = clock
        self._mask = mask
        self._keep_days = keep_days
        self._lock = threading.Lock()

    def decided(self, entry: AuditDecision) -> int:
        """Append a decision; the number of its line. Raises StorageError."""
        arguments = json.dumps(entry.arguments, sort_keys=True, default=str)
        shown = self._preview(entry.arguments)
        return self._write(
            {
                "kind": "decision",
                "session": entry.session_id,
                "turn": entry.turn_id,
                "call": entry.call_id,
                "surface": entry.surface,
                "tool": entry.tool,
                "decision": entry.decision,
                "effects": list(entry.effects),
                "reason": self._mask(entry.reason) if entry.reason else "",
                "approval": entry.approval_id,
                "args_digest": digest_of(arguments.encode("utf-8", "surrogatepass")),
                "args_preview": shown,
                **({"proposed_preview": self._preview(entry.proposed)} if entry.proposed is not None else {}),
                **({"secrets": list(entry.secrets)} if entry.secrets else {}),
            }
        )

    def _preview(self, arguments: JsonObject) -> str:
        return json.dumps(self._mask(_shorten(arguments)), default=str)[:_PREVIEW_LIMIT]

    def ran(self, entry: AuditRun) -> int:
        """Append what came of a call; the number of its line. Raises StorageError."""
        return self._write(
            {
                "kind": "run",
                "of": entry.decision_number,
                "session": entry.session_id,
                "turn": entry.turn_id,
                "call": entry.call_id,
                "tool": entry.tool,
                "ok": entry.ok,
                "error": self._mask(entry.error[:_LOOKED_AT]) if entry.error else "",
                "duration_ms": entry.duration_ms,
                "questions": list(entry.questions),
            }
        )

    def noted(self, what: str, facts: JsonObject) -> int:
        """Append something else that people should find here, such as the use of the kill switch."""
        return self._write({"kind": what, **{name: self._mask(value) for name, value in facts.items()}})

    def _write(self, facts: JsonObject) -> int:
        with self._lock, storage_errors(self._name, "written"):
            if not self._folder.is_dir():
                self._folder.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
            with held(self._folder):
                return self._append(facts)

    def _append(self, facts: JsonObject) -> int:
        now_ms = self._clock.now_ms()
        last = _read_anchor_file(self._anchor)
        # A clock that went back must not make a line stand before older ones.
        day = max(f"{to_datetime(now_ms):%Y-%m-%d}", last.place.day if last else "")
        chain = _Chain(self._folder, self._anchor, last, day, now_ms)
        if not chain.is_clean:
            chain.mend()
        number = chain.add(facts)
        if chain.is_new_day:
            self._prune(chain, day)
        return number

    def _prune(self, chain: "_Chain", today: str) -> None:
        """Drop files that are too old. What they ended with is in the log before the first of them goes."""
        oldest = str(date.fromisoformat(today) - timedelta(days=max(1, self._keep_days())))
        dropped = [path for path in find_files(self._folder) if _day_of(path) < oldest]
        if not dropped:
            return
        ends = [end for path in dropped if (end := _last_chained(path.read_bytes()))]
        end = ends[-1] if ends else Place(0, GENESIS, "")
        chain.add(
            {
                "kind": "pruned",
                "before": oldest,
                "through": end.number,
                "last": end.hash,
                "files": {path.name: digest_of(path.read_bytes()) for path in dropped},
            }
        )
        for path in dropped:
            path.unlink(missing_ok=True)


class _Chain:
    """The end of the chain while one program writes to it."""

    def __init__(self, folder: Path, anchor: Path, last: Anchor | None, day: str, now_ms: int) -> None:
        self._folder = folder
        self._anchor = anchor
        self._last = last
        self._day = day
        self._now_ms = now_ms
        self._place = last.place if last else Place(0, GENESIS, "")
        self._paths: dict[str, Path] = {}
        self.is_new_day = last is None or last.place.day != day

    @property
    def is_clean(self) -> bool:
        """Whether the files end where the anchor says."""
        if self._last is None or self._place.number == 0 or self._last.coming:
            return False
        if self.is_new_day and self._path_of(self._day).exists():
            return False
        return _size_of(self._path_of(self._last.place.day)) == self._last.size_bytes

    def mend(self) -> None:
        """Make the end fit to go on from, and write down what was found there."""
        if self._last is None and self._begin_after_loss():
            return
        late, torn = self._adopt_late()
        if self._place.number == 0:
            self._begin()
        if torn or late:
            self.add({"kind": "sealed", "late_lines": late, "torn_bytes": len(torn), "torn": digest_of(torn)})

    def add(self, facts: JsonObject) -> int:
        """Append a line; its number. The anchor announces it first, so that none but this one may stand there."""
        line, place = seal_line({"ts": self._now_ms, **facts}, self._place, self._day)
        self._save(coming=place.hash)
        self._add_bytes(line, self._path_of(self._day))
        self._place = place
        self._save()
        return place.number

    def _save(self, coming: str = "") -> None:
        """Put the anchor where the chain ends now."""
        size_bytes = max(0, _size_of(self._path_of(self._place.day)))
        data = write_anchor(Anchor(self._place, size_bytes, coming))
        # One write of one sector is there whole or not at all, and a rename for each line would cost ten times as much.
        descriptor = os.open(self._anchor, _IN_PLACE, _FILE_MODE)
        try:
            if os.write(descriptor, data) != len(data):
                raise StorageError("The end of the audit log cannot be noted", hint="Free some space, then try again")
            os.ftruncate(descriptor, len(data))
        finally:
            os.close(descriptor)

    def _adopt_late(self) -> tuple[int, bytes]:
        """Go on after lines that were written without their anchor: how many these are, and what is half of one."""
        late, torn = 0, b""
        for path in find_files(self._folder):
            if self._last is None or _day_of(path) < self._last.place.day:
                continue
            data = path.read_bytes()
            start = self._last.size_bytes if _day_of(path) == self._last.place.day else 0
            *whole, torn = data[start:].split(b"\n")
            late += self._adopt(whole)
            if torn and self._adopt([torn]):  # nothing but its line end is missing
                late, torn = late + 1, b""
            if not self._last.coming:  # nobody of ours was writing, so it is no trace of a crash
                torn = b""
            if not _ends_whole(path):
                self._add_bytes(b"\n", path)
        self._day = max(self._day, self._place.day)
        return late, torn

    def _adopt(self, lines: list[bytes]) -> int:
        """The line that was announced, when it is there: 1, else 0."""
        found = read_line(lines[0]) if lines else None
        if found is None or self._last is None or found.place.hash != self._last.coming:
            return 0
        self._place = found.place
        return 1

    def _begin(self) -> None:
        """The first line of the chain. It vouches for what was written before there was one."""
        path = self._path_of(self._day)
        if not _ends_whole(path):
            self._add_bytes(b"\n", path)
        contents = {path.name: path.read_bytes() for path in find_files(self._folder)}
        # Written first, so that a crash between the two cannot look like an anchor that somebody took away.
        self._place = Place(0, GENESIS, self._day)
        self._save()
        self.add({"kind": "begun", "before": {name: [len(data), digest_of(data)] for name, data in contents.items()}})

    def _begin_after_loss(self) -> bool:
        """Go on where the files end, which may be too early now; False when they hold no chain."""
        ends = [end for path in find_files(self._folder) if (end := _last_chained(path.read_bytes()))]
        if not ends:
            return False
        self._place = ends[-1]
        self._day = max(self._day, self._place.day)
        path = self._path_of(self._day)
        if not _ends_whole(path):
            self._add_bytes(b"\n", path)
        self.add({"kind": "anchor lost"})
        return True

    def _path_of(self, day: str) -> Path:
        if day not in self._paths:
            self._paths[day] = self._folder / f"audit-{day}.jsonl"
        return self._paths[day]

    def _add_bytes(self, data: bytes, path: Path) -> None:
        descriptor = os.open(path, _APPEND, _FILE_MODE)
        try:
            if os.write(descriptor, data) != len(data):
                raise StorageError(f"{path.name!r} could not be written whole", hint="Free some space, then try again")
        finally:
            os.close(descriptor)


def find_files(folder: Path) -> list[Path]:
    """The files of the log, oldest first."""
    return sorted(path for path in folder.glob("audit-*.jsonl") if FILE_NAME.fullmatch(path.name))


def _day_of(path: Path) -> str:
    return path.stem.removeprefix("audit-")


def _last_chained(data: bytes) -> Place | None:
    for line in reversed(data.split(b"\n")):
        if found := read_line(line):
            return found.place
    return None


def _read_anchor_file(path: Path) -> Anchor | None:
    with suppress(FileNotFoundError):
        return read_anchor(path.read_bytes())
    return None


def _size_of(path: Path) -> int:
    with suppress(FileNotFoundError):
        return path.stat().st_size
    return -1


def _ends_whole(path: Path) -> bool:
    """Whether a line added to a file would begin one. A missing and an empty file are whole."""
    with suppress(FileNotFoundError), path.open("rb") as file:
        if file.seek(0, os.SEEK_END):
            file.seek(-1, os.SEEK_END)
            return file.read(1) == b"\n"
    return True


def _shorten(value: JsonValue, depth: int = 0) -> JsonValue:
    """What of arguments can show in a preview at all, so that megabytes are not searched for secrets."""
    match value:
        case str():
            return value[:_LOOKED_AT]
        case Mapping() if depth < 8:
            return {name: _shorten(item, depth + 1) for name, item in list(value.items())[:100]}
        case list() | tuple() if depth < 8:
            return [_shorten(item, depth + 1) for item in value[:100]]
        case Mapping() | list() | tuple():
            return "…"
        case _:
            return value


@contextmanager
def held(folder: Path) -> Generator[None]:
    """The log for this program alone. Raises StorageError when another does not let go, OSError."""
    descriptor = os.open(folder / "audit.lock", os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), _FILE_MODE)
    try:
        for _ in range(_ATTEMPTS):
            if try_lock(descriptor, exclusive=True):
                break
            time.sleep(_PAUSE_S)
        else:
            raise StorageError("The audit log is held by another program", hint="End the other Skales")
        try:
            yield
        finally:
            unlock(descriptor)
    finally:
        os.close(descriptor)
