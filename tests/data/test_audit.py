"""What the audit log keeps, and that nothing done to its files afterwards goes unnoticed."""

import itertools
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import structs

from skales.core.errors import StorageError
from skales.core.json import JsonObject, JsonValue
from skales.data.audit import AuditDecision, AuditLog, AuditRun, find_files
from skales.data.audit_chain import ANCHOR_BYTES, read_line, seal_line
from skales.data.audit_verify import AuditReport, verify_audit
from skales.data.paths import DataDirectory
from skales.security.redact import redact_value
from tests.conftest import FixedClock

DAY_S = 86_400
DECISION = AuditDecision(
    session_id="s1", turn_id="t1", call_id="c1", surface="page", tool="look", decision="auto", arguments={"path": "a"}
)


@pytest.fixture
def log(home: DataDirectory, clock: FixedClock) -> AuditLog:
    return AuditLog(home, clock, redact_value)


def write_call(log: AuditLog, **arguments: JsonValue) -> None:
    number = log.decided(structs.replace(DECISION, arguments=arguments))
    log.ran(AuditRun(session_id="s1", call_id="c1", tool="look", decision_number=number, ok=True, duration_ms=3))


@pytest.fixture
def small(log: AuditLog, clock: FixedClock, home: DataDirectory) -> DataDirectory:
    """Three files, six lines: what each test below does something to."""
    for day in range(2):
        write_call(log, path=f"{day}.txt")
        clock.advance(DAY_S)
    log.decided(DECISION)
    return home


@pytest.fixture
def tiny(log: AuditLog, clock: FixedClock, home: DataDirectory) -> DataDirectory:
    """Two files, three lines: for what is done to every single byte."""
    log.decided(DECISION)
    clock.advance(DAY_S)
    log.decided(DECISION)
    return home


def lines_of(home: DataDirectory) -> list[JsonObject]:
    return [json.loads(line) for path in find_files(home.logs) for line in path.read_bytes().splitlines()]


def words(report: AuditReport) -> str:
    return "\n".join(f"{finding.where}: {finding.what}" for finding in (*report.findings, *report.notes))


def test_a_log_that_nobody_touched_is_whole(small: DataDirectory) -> None:
    report = verify_audit(small)
    assert report.findings == ()
    assert report.notes == ()
    assert report.lines == 6
    assert len(find_files(small.logs)) == 3


def test_no_log_is_whole(home: DataDirectory) -> None:
    assert verify_audit(home).is_whole


def test_decision_and_run_name_each_other_and_what_they_belong_to(log: AuditLog, home: DataDirectory) -> None:
    number = log.decided(structs.replace(DECISION, approval_id="ap_1", decision="approved", effects=("outbound",)))
    log.ran(
        AuditRun(session_id="s1", turn_id="t1", call_id="c1", tool="look", decision_number=number, ok=False, error="x")
    )
    _begun, decision, run = lines_of(home)
    assert (decision["n"], run["of"]) == (number, number)
    assert (decision["approval"], decision["turn"], decision["call"]) == ("ap_1", "t1", "c1")
    assert decision["effects"] == ["outbound"]
    assert (run["ok"], run["error"]) == (False, "x")


def test_secrets_are_masked_and_megabytes_kept_short(log: AuditLog, home: DataDirectory) -> None:
    key = "sk-proj-" + "0123456789abcdefghij"
    write_call(log, text=key, more="x" * 10_000_000, deep=[[[["y"] * 500]]])
    text = next(home.logs.glob("audit-*.jsonl")).read_text(encoding="utf-8")
    assert key not in text
    assert len(text) < 5_000


@pytest.mark.parametrize("value", ["\ud800", {"a": {1, 2}}, "line\nbreak", "\u2028"])
def test_no_argument_breaks_a_line(log: AuditLog, home: DataDirectory, value: JsonValue) -> None:
    write_call(log, text=value)
    assert len(lines_of(home)) == 3
    assert verify_audit(home).is_whole


# --- what is done to the files afterwards ---


def test_every_changed_byte_is_found(tiny: DataDirectory) -> None:
    missed: list[tuple[str, int]] = []
    for path in (*find_files(tiny.logs), tiny.audit_head):
        data = path.read_bytes()
        for at in range(len(data)):
            path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
            if verify_audit(tiny).is_whole:
                missed.append((path.name, at))
        path.write_bytes(data)
    assert missed == []
    assert verify_audit(tiny).is_whole


def test_every_added_and_removed_byte_is_found(tiny: DataDirectory) -> None:
    missed: list[tuple[str, int]] = []
    path = find_files(tiny.logs)[1]
    data = path.read_bytes()
    for at in range(len(data) + 1):
        for changed in (data[:at] + b"\n" + data[at:], data[:at] + b" " + data[at:], data[:at] + data[at + 1 :]):
            path.write_bytes(changed)
            if changed != data and verify_audit(tiny).is_whole:
                missed.append((path.name, at))
    assert missed == []


def all_lines(home: DataDirectory) -> list[tuple[Path, list[bytes]]]:
    return [(path, path.read_bytes().splitlines(keepends=True)) for path in find_files(home.logs)]


def put(files: list[tuple[Path, list[bytes]]]) -> None:
    for path, lines in files:
        path.write_bytes(b"".join(lines))


def test_every_removed_doubled_swapped_and_moved_line_is_found(small: DataDirectory) -> None:
    whole = all_lines(small)
    places = [(number, at) for number, (_path, lines) in enumerate(whole) for at in range(len(lines))]
    missed: list[object] = []

    def check(name: object, change: Callable[[list[list[bytes]]], None]) -> None:
        lines = [list(members) for _path, members in whole]
        change(lines)
        put([(path, members) for (path, _old), members in zip(whole, lines, strict=True)])
        if verify_audit(small).is_whole:
            missed.append(name)

    for number, at in places:
        check(("removed", number, at), lambda lines, n=number, a=at: lines[n].pop(a))  # type: ignore[misc]
        check(("doubled", number, at), lambda lines, n=number, a=at: lines[n].insert(a, lines[n][a]))  # type: ignore[misc]
        for target in range(len(whole)):
            if target != number:
                check(("first of", target), lambda lines, n=number, a=at, t=target: lines[t].insert(0, lines[n].pop(a)))  # type: ignore[misc]
                check(("last of", target), lambda lines, n=number, a=at, t=target: lines[t].append(lines[n].pop(a)))  # type: ignore[misc]
    for (number, at), (other, there) in itertools.combinations(places, 2):

        def swap(lines: list[list[bytes]], n: int = number, a: int = at, o: int = other, t: int = there) -> None:
            lines[n][a], lines[o][t] = lines[o][t], lines[n][a]

        check(("swapped", number, at, other, there), swap)
    assert missed == []


def test_every_truncation_is_found(tiny: DataDirectory) -> None:
    missed: list[tuple[str, int]] = []
    for path in find_files(tiny.logs):
        data = path.read_bytes()
        for length in range(len(data)):
            path.write_bytes(data[:length])
            if verify_audit(tiny).is_whole:
                missed.append((path.name, length))
        path.write_bytes(data)
    assert missed == []


def test_every_removed_renamed_and_swapped_file_is_found(small: DataDirectory) -> None:
    files = find_files(small.logs)
    contents = {path: path.read_bytes() for path in files}
    for count in range(1, len(files) + 1):
        for gone in itertools.combinations(files, count):
            for path in gone:
                path.unlink()
            assert not verify_audit(small).is_whole, gone
            for path in gone:
                path.write_bytes(contents[path])
    for one, other in itertools.combinations(files, 2):
        one.write_bytes(contents[other])
        other.write_bytes(contents[one])
        assert not verify_audit(small).is_whole, (one, other)
        one.write_bytes(contents[one])
        other.write_bytes(contents[other])
    for path in files:
        moved = path.with_name("audit-2020-01-01.jsonl")
        path.rename(moved)
        assert not verify_audit(small).is_whole, path
        moved.rename(path)
    assert verify_audit(small).is_whole


def test_a_foreign_file_and_a_missing_anchor_are_found(small: DataDirectory) -> None:
    stray = small.logs / "audit-2001-01-01.jsonl"
    stray.write_text('{"tool": "look"}\n', encoding="utf-8")
    assert "audit-2001-01-01.jsonl" in words(verify_audit(small))
    stray.unlink()
    small.audit_head.unlink()
    assert "anchor is missing" in words(verify_audit(small))


def test_a_cut_end_stays_found_after_more_was_written(small: DataDirectory, log: AuditLog) -> None:
    path = find_files(small.logs)[-1]
    data, anchor = path.read_bytes(), small.audit_head.read_bytes()
    for length in range(0, len(data) - 1, 7):  # a missing line end alone is put back by the next write
        path.write_bytes(data[:length])
        small.audit_head.write_bytes(anchor)
        write_call(log)
        assert not verify_audit(small).is_whole, length


def test_an_end_that_was_cut_with_its_anchor_stays_found(small: DataDirectory, log: AuditLog) -> None:
    find_files(small.logs)[-1].unlink()
    small.audit_head.unlink()
    write_call(log)
    assert "lines before it may be gone" in words(verify_audit(small))


def test_what_is_added_at_the_end_is_found_also_later(small: DataDirectory, log: AuditLog) -> None:
    path = find_files(small.logs)[-1]
    data = path.read_bytes()
    (begin, anchor) = (read_line(data.splitlines()[-1]), small.audit_head.read_bytes())
    assert begin is not None
    forged, _place = seal_line({"ts": 1, "kind": "decision"}, begin.place, begin.place.day)
    for added in (forged, forged[:-1], forged[:50], b"{", b" ", b"\n", b'{"n":7,"day":"2'):
        path.write_bytes(data + added)
        small.audit_head.write_bytes(anchor)
        assert not verify_audit(small).is_whole, added
        write_call(log)
        assert not verify_audit(small).is_whole, added


# --- crashes ---


class PowerCut(BaseException):
    """What a program that is killed does not see."""


def cut_off(monkeypatch: pytest.MonkeyPatch, log: AuditLog, write: int, length: int) -> None:
    """Kill the program in its n-th write, after so many bytes. Anchors are one sector: whole or not at all."""
    real, count = os.write, itertools.count(1)

    def write_some(descriptor: int, data: bytes) -> int:
        if next(count) < write:
            return real(descriptor, data)
        if len(data) == ANCHOR_BYTES:
            real(descriptor, data if length else b"")
        else:
            real(descriptor, data[:length])
        raise PowerCut

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", write_some)
        with pytest.raises(PowerCut):
            log.decided(DECISION)


# One line is three writes: the announcement, the line, the anchor. The first of all has an anchor and a line before.
CUTS = [(write, length) for write in range(1, 8) for length in (0, 1, 5, 20, 60, 200, 10_000)]


@pytest.mark.parametrize(("write", "length"), CUTS)
def test_the_first_write_of_all_may_be_cut_off_anywhere(
    home: DataDirectory, log: AuditLog, monkeypatch: pytest.MonkeyPatch, write: int, length: int
) -> None:
    cut_off(monkeypatch, log, write, length)
    assert verify_audit(home).is_whole, words(verify_audit(home))
    write_call(log)
    assert verify_audit(home).is_whole, words(verify_audit(home))


@pytest.mark.parametrize("later_s", [1, DAY_S])
@pytest.mark.parametrize("then_s", [1, DAY_S])
@pytest.mark.parametrize("write", [1, 2, 3])
def test_a_write_may_be_cut_off_anywhere_and_the_next_seals_it(  # noqa: PLR0913 - fixtures
    small: DataDirectory,
    log: AuditLog,
    clock: FixedClock,
    monkeypatch: pytest.MonkeyPatch,
    later_s: int,
    then_s: int,
    write: int,
) -> None:
    for length in (0, 1, 5, 20, 60, 200, 397, 10_000):
        clock.advance(later_s)
        cut_off(monkeypatch, log, write, length)
        assert verify_audit(small).is_whole, (length, words(verify_audit(small)))
        clock.advance(then_s)
        write_call(log)
        assert verify_audit(small).is_whole, (length, words(verify_audit(small)))


def test_a_torn_last_line_is_named_and_its_seal_holds(
    small: DataDirectory, log: AuditLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_off(monkeypatch, log, 2, 20)
    assert "cut off while it wrote" in words(verify_audit(small))
    write_call(log)
    assert "cut off while it wrote" in words(verify_audit(small))
    path = find_files(small.logs)[-1]
    path.write_bytes(path.read_bytes().replace(b'{"n":7,"day":"2031-0\n', b'{"n":7,"day":"2032-0\n'))
    assert not verify_audit(small).is_whole


def test_a_whole_line_without_its_anchor_is_taken_up(
    small: DataDirectory, log: AuditLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_off(monkeypatch, log, 3, 0)
    assert "cut off after line 7" in words(verify_audit(small))
    write_call(log)
    assert "cut off after writing 1 lines" in words(verify_audit(small))


def test_a_clock_that_goes_back_leaves_the_order(small: DataDirectory, log: AuditLog, clock: FixedClock) -> None:
    clock.advance(-10 * DAY_S)
    write_call(log)
    assert verify_audit(small).is_whole
    assert verify_audit(small).lines == 8


# --- age ---


def test_old_files_go_and_the_chain_still_holds(home: DataDirectory, clock: FixedClock) -> None:
    log = AuditLog(home, clock, redact_value, lambda: 2)
    for day in range(6):
        write_call(log, path=f"{day}.txt")
        clock.advance(DAY_S)
    report = verify_audit(home)
    assert report.is_whole, words(report)
    assert len(find_files(home.logs)) == 3
    assert report.pruned_before
    find_files(home.logs)[0].unlink()
    assert not verify_audit(home).is_whole


def test_a_crash_while_old_files_go_leaves_a_whole_log(home: DataDirectory, clock: FixedClock) -> None:
    log = AuditLog(home, clock, redact_value, lambda: 2)
    write_call(log)
    (first,) = find_files(home.logs)
    kept = first.read_bytes()
    clock.advance(3 * DAY_S)
    write_call(log)
    first.write_bytes(kept)
    assert verify_audit(home).is_whole
    clock.advance(DAY_S)
    write_call(log)
    assert not first.exists()
    assert verify_audit(home).is_whole


def write_old(home: DataDirectory, name: str, count: int = 2) -> Path:
    home.logs.mkdir(exist_ok=True)
    path = home.logs / name
    path.write_text("".join(f'{{"ts": {number}, "tool": "look"}}\n' for number in range(count)), encoding="utf-8")
    return path


def test_lines_from_before_the_chain_stay_and_are_named(home: DataDirectory, clock: FixedClock, log: AuditLog) -> None:
    old = write_old(home, "audit-2031-02-20.jsonl")
    assert verify_audit(home).is_whole
    log.decided(DECISION)
    report = verify_audit(home)
    assert report.is_whole, words(report)
    assert report.unchained_before == find_files(home.logs)[-1].stem.removeprefix("audit-")
    old.write_text('{"ts": 0, "tool": "other"}\n', encoding="utf-8")
    assert not verify_audit(home).is_whole
    old.unlink()
    assert not verify_audit(home).is_whole


def test_a_day_may_begin_without_a_chain_and_end_with_one(home: DataDirectory, log: AuditLog) -> None:
    log.decided(DECISION)
    (today,) = find_files(home.logs)
    shutil.rmtree(home.logs)
    old = write_old(home, today.name)
    with old.open("a", encoding="utf-8") as file:
        file.write('{"torn')
    log.decided(DECISION)
    assert verify_audit(home).is_whole, words(verify_audit(home))
    old.write_bytes(old.read_bytes().replace(b'"ts": 0', b'"ts": 7'))
    assert not verify_audit(home).is_whole


# --- the disk, and others ---


def test_a_folder_that_cannot_be_written_is_told(home: DataDirectory, log: AuditLog) -> None:
    home.logs.write_text("in the way", encoding="utf-8")
    with pytest.raises(StorageError, match="audit log"):
        log.decided(DECISION)


def test_a_write_that_fails_half_way_is_told_and_sealed(
    small: DataDirectory, log: AuditLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write
    monkeypatch.setattr(
        os, "write", lambda descriptor, data: write(descriptor, data if len(data) == ANCHOR_BYTES else data[:20])
    )
    with pytest.raises(StorageError, match="not be written whole"):
        log.decided(DECISION)
    monkeypatch.undo()
    assert verify_audit(small).is_whole
    write_call(log)
    assert verify_audit(small).is_whole


def test_two_programs_write_one_chain(home: DataDirectory, clock: FixedClock) -> None:
    one, other = AuditLog(home, clock, redact_value), AuditLog(home, clock, redact_value)
    for _ in range(5):
        write_call(one)
        write_call(other)
    report = verify_audit(home)
    assert (report.is_whole, report.lines) == (True, 21)
