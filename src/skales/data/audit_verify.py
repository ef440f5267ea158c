"""Looks whether the audit log is as it was written: every edit, removal, cut and reordering shows. Changes nothing.

Who can write the files can also write a whole new chain with a new anchor. Against that helps only keeping the last
hash, which a report names, somewhere else. Spec: security.md, "Audit log".
"""

from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path

from msgspec import Struct, field

from skales.core.clock import to_datetime
from skales.core.json import JsonValue, as_int, as_list, as_object, as_text
from skales.data.audit import find_files, held
from skales.data.audit_chain import (
    GENESIS,
    Anchor,
    ChainedLine,
    Place,
    could_begin,
    digest_of,
    read_anchor,
    read_line,
)
from skales.data.document import storage_errors
from skales.data.paths import DataDirectory


class AuditFinding(Struct, frozen=True):
    """Something that is not as it was written. `where` is a file, with a line where there is one."""

    where: str
    what: str


class AuditReport(Struct, frozen=True):
    """What was found. `notes` are traces of crashes, which are no change by anybody.

    `unchained_before` is a day when there are older lines from before there was a chain.
    """

    lines: int
    findings: tuple[AuditFinding, ...]
    notes: tuple[AuditFinding, ...]
    last: Place | None
    unchained_before: str = ""
    pruned_before: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether nothing was changed."""
        return not self.findings


def verify_audit(directory: DataDirectory) -> AuditReport:
    """Read the whole log. Raises StorageError when it cannot be read."""
    walk = _Walk()
    with storage_errors(directory.logs / "audit log", "read"):
        anchor, sizes = _look(directory)
        for path, size_bytes in sizes.items():
            walk.read_file(path, size_bytes)
    return walk.finish(directory.audit_head.name, anchor)


def _look(directory: DataDirectory) -> tuple[bytes, dict[Path, int]]:
    """The anchor, and how long the files are with it, while nobody writes."""
    with ExitStack() as stack:
        if directory.logs.exists():
            with suppress(PermissionError):  # a copy that is only to be read has no writers
                stack.enter_context(held(directory.logs))
        sizes = {path: path.stat().st_size for path in find_files(directory.logs)}
        try:
            return directory.audit_head.read_bytes(), sizes
        except FileNotFoundError:
            return b"", sizes


class _Spot(Struct, frozen=True):
    """Where reading is: a line of a file, and the byte behind it."""

    path: Path
    number: int
    end: int

    def __str__(self) -> str:
        return f"{self.path.name}, line {self.number}"

    @property
    def day(self) -> str:
        return self.path.stem.removeprefix("audit-")


class _Walk(Struct):
    """Reads the files in order and keeps what the end must be compared with."""

    findings: list[AuditFinding] = field(default_factory=list[AuditFinding])
    notes: list[AuditFinding] = field(default_factory=list[AuditFinding])
    start: ChainedLine | None = None
    last: Place | None = None
    ends: dict[int, tuple[Place, int]] = field(default_factory=dict[int, tuple[Place, int]])
    lines: int = 0
    foreign: tuple[_Spot, bytes] | None = None
    unchained: dict[str, bytes] = field(default_factory=dict[str, bytes])
    pruned: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    rest: tuple[_Spot, bytes] | None = None

    def read_file(self, path: Path, size_bytes: int) -> None:
        """Take a file's lines; files come in the order of their days."""
        self._refuse_rest()
        data = path.read_bytes()[:size_bytes]
        *whole, rest = data.split(b"\n")
        end = 0
        for number, line in enumerate(whole, start=1):
            end += len(line) + 1
            self._read(line, _Spot(path, number, end))
        if rest:
            self.rest = (_Spot(path, len(whole) + 1, end + len(rest)), rest)

    def finish(self, name: str, anchor_data: bytes) -> AuditReport:
        """Compare the end with the anchor and the beginning with what was dropped."""
        anchor = read_anchor(anchor_data)
        if self.start is None and not anchor_data:
            self._refuse_foreign()
        elif anchor is None:
            self._refuse_rest()
            self._find(name, "The anchor is missing or was changed, so a cut end would not show")
        else:
            self._check_end(name, anchor)
        self._refuse_foreign()
        self._check_beginning()
        begun = self.start.value if self.start else {}
        return AuditReport(
            lines=self.lines,
            findings=tuple(self.findings),
            notes=tuple(self.notes),
            last=self.last,
            unchained_before=f"{to_datetime(as_int(begun.get('ts'))):%Y-%m-%d}" if begun.get("before") else "",
            pruned_before=as_text(self.pruned.get("before")),
        )

    def _find(self, where: object, what: str) -> None:
        self.findings.append(AuditFinding(str(where), what))

    def _read(self, line: bytes, spot: _Spot) -> None:
        found = read_line(line)
        if found is None and self.start is None:
            self.unchained[spot.path.name] = self.unchained.get(spot.path.name, b"") + line + b"\n"
            return
        if found is None:
            self._refuse_foreign()
            self.foreign = (spot, line)
            return
        self._forgive_torn(found)
        self._refuse_foreign()
        self._check_place(found, spot)
        self._read_kind(found, spot)
        self.last = found.place
        self.ends[found.place.number] = (found.place, spot.end)
        self.lines += 1

    def _check_place(self, found: ChainedLine, spot: _Spot) -> None:
        place = found.place
        if place.day != spot.day:
            self._find(spot, f"The line belongs to the file of {place.day}")
        if self.last is None:
            self.start = found
            return
        expected = self.last.number + 1
        if place.number > expected:
            self._find(spot, f"Lines {expected} to {place.number - 1} of the log are missing before it")
        elif place.number < expected:
            self._find(spot, f"Line {place.number} of the log is here after line {self.last.number}")
        elif found.prev != self.last.hash:
            self._find(spot, "The line before it is another than when it was written")

    def _read_kind(self, found: ChainedLine, spot: _Spot) -> None:
        value = found.value
        match value.get("kind"):
            case "anchor lost":
                self._find(spot, "The anchor was missing when this was written: lines before it may be gone")
            case "begun" if found.place.number != 1:
                self._find(spot, "A log begins here although there was one")
            case "sealed" if late := as_int(value.get("late_lines")):
                self.notes.append(AuditFinding(str(spot), f"Skales was cut off after writing {late} lines before it"))
            case "pruned":
                self.pruned = value
            case _:
                return

    def _forgive_torn(self, found: ChainedLine) -> None:
        """Half a line of a crash is known by the seal that follows it."""
        if self.foreign is None or found.value.get("kind") != "sealed":
            return
        spot, line = self.foreign
        is_half = could_begin(line, found.place.number)
        if is_half and found.value.get("torn") == digest_of(line):
            self.notes.append(AuditFinding(str(spot), "Skales was cut off while it wrote this line"))
            self.foreign = None

    def _refuse_foreign(self) -> None:
        if self.foreign is not None:
            self._find(self.foreign[0], "The line was changed or is not from Skales")
            self.foreign = None

    def _refuse_rest(self) -> None:
        """A file that does not end with a whole line; only the newest may after a crash."""
        if self.rest is not None:
            self._find(self.rest[0], "The file is cut off in the middle of a line")
            self.rest = None

    def _check_end(self, name: str, anchor: Anchor) -> None:
        end = self.last.number if self.last else 0
        known = self.ends.get(anchor.place.number)
        count = anchor.place.number
        if end < count:
            self._refuse_rest()
            self._find(name, f"The end is missing: line {end} is the last, and there were {count}")
        elif count and known != (anchor.place, anchor.size_bytes):
            self._find(name, f"Line {count} is another than the anchor says")
        elif end > count and (end > count + 1 or self.last is None or self.last.hash != anchor.coming):
            self._find(name, f"{end - count} lines follow the last one that the anchor knows")
        elif end > count:
            self.notes.append(AuditFinding(name, f"Skales was cut off after line {end} and before it noted that"))
        if self.rest is not None and not (end == count and anchor.coming and could_begin(self.rest[1], end + 1)):
            self._refuse_rest()
        elif self.rest is not None:
            self.notes.append(AuditFinding(str(self.rest[0]), "Skales was cut off while it wrote this line"))

    def _check_beginning(self) -> None:
        start = self.start
        if start is None:
            return
        before: dict[str, JsonValue] = {}
        if start.place.number == 1 and start.prev == GENESIS:
            before.update(as_object(start.value.get("before")))
        elif not self._is_after_pruned(start):
            self._find("audit log", f"The beginning is missing: line {start.place.number} is the first")
        for name, data in self.unchained.items():
            if as_list(before.pop(name, None)) != [len(data), digest_of(data)]:
                self._find(name, "Lines before the beginning of the chain were changed or added")
        for name, facts in before.items():
            day = name.removeprefix("audit-").removesuffix(".jsonl")
            if day >= as_text(self.pruned.get("before")) and as_list(facts)[:1] != [0]:
                self._find(name, "The file is missing or was emptied")

    def _is_after_pruned(self, start: ChainedLine) -> bool:
        through = as_int(self.pruned.get("through"))
        if start.place.number <= through:  # a crash kept some of the files that were to go
            return True
        return start.place.number == through + 1 and start.prev == self.pruned.get("last")
