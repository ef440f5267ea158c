"""A fuzzer against the audit log: whatever is done to its files by somebody who cannot write the anchor shows."""

import json
import random
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from skales.data.audit import AuditDecision, AuditLog, AuditRun, find_files
from skales.data.audit_chain import FILE_NAME, GENESIS, Anchor, Place, seal_line, write_anchor
from skales.data.audit_verify import verify_audit
from skales.data.paths import DataDirectory
from skales.security.redact import redact_value
from tests.conftest import FixedClock

DAY_S = 86_400
ROUNDS = 25
Change = Callable[[random.Random, list[Path]], None]


@pytest.fixture
def written(home: DataDirectory, clock: FixedClock) -> DataDirectory:
    """Four days, sixteen lines, umlauts and line ends in what was called."""
    log = AuditLog(home, clock, redact_value)
    for day in range(4):
        for number in range(2):
            call = AuditDecision(
                session_id=f"s{day}",
                call_id=f"c{number}",
                surface="page",
                tool="write_file",
                decision="approved",
                arguments={"path": f"Grüße {day}\n{number}.txt", "content": "é"},
            )
            of = log.decided(call)
            log.ran(
                AuditRun(session_id=f"s{day}", call_id=f"c{number}", tool="write_file", decision_number=of, ok=True)
            )
        clock.advance(DAY_S)
    return home


def _lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


def _rewrite(path: Path, lines: Sequence[bytes]) -> None:
    path.write_bytes(b"".join(lines))


def flip_bit(chance: random.Random, files: list[Path]) -> None:
    path = chance.choice(files)
    data = bytearray(path.read_bytes())
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def remove_line(chance: random.Random, files: list[Path]) -> None:
    path = chance.choice(files)
    lines = _lines(path)
    del lines[chance.randrange(len(lines))]
    _rewrite(path, lines)


def swap_lines(chance: random.Random, files: list[Path]) -> None:
    path = chance.choice(files)
    lines = _lines(path)
    one, other = chance.sample(range(len(lines)), 2)
    lines[one], lines[other] = lines[other], lines[one]
    _rewrite(path, lines)


def double_line(chance: random.Random, files: list[Path]) -> None:
    source, target = chance.choice(files), chance.choice(files)
    lines = _lines(target)
    lines.insert(chance.randrange(len(lines) + 1), chance.choice(_lines(source)))
    _rewrite(target, lines)


def cut_end(chance: random.Random, files: list[Path]) -> None:
    path = chance.choice(files)
    data = path.read_bytes()
    path.write_bytes(data[: chance.randrange(len(data))])


def cut_last_lines(chance: random.Random, files: list[Path]) -> None:
    lines = _lines(files[-1])
    _rewrite(files[-1], lines[: chance.randrange(len(lines))])


def remove_file(chance: random.Random, files: list[Path]) -> None:
    chance.choice(files).unlink()


def remove_last_files(chance: random.Random, files: list[Path]) -> None:
    for path in files[chance.randrange(len(files)) :]:
        path.unlink()


def rename_file(chance: random.Random, files: list[Path]) -> None:
    path = chance.choice(files)
    path.rename(path.with_name(f"audit-{chance.randrange(1990, 2090)}-01-02.jsonl"))


def swap_files(chance: random.Random, files: list[Path]) -> None:
    one, other = chance.sample(files, 2)
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)


def other_line_ends(chance: random.Random, files: list[Path]) -> None:
    path = chance.choice(files)
    path.write_bytes(
        path.read_bytes().replace(b"\n", chance.choice([b"\r\n", b"\r", b"\n\n", b" \n", b"\t\n", b"\0\n"]))
    )


def add_emptiness(chance: random.Random, files: list[Path]) -> None:
    path = chance.choice(files)
    data = path.read_bytes()
    ends = [0, *(at + 1 for at, byte in enumerate(data) if byte == 10)]
    at = chance.choice(ends)
    empty = chance.choice([b"\n", b" ", b"\t", b"\r\n", b"\0", b"{}\n", b"\xef\xbb\xbf", b"\x1a", b"null\n", b"\n\n\n"])
    path.write_bytes(data[:at] + empty + data[at:])


def spell_otherwise(chance: random.Random, files: list[Path]) -> None:
    path = chance.choice(files)
    lines = _lines(path)
    at = chance.randrange(len(lines))
    value = json.loads(lines[at])
    spelled = [
        json.dumps(value, sort_keys=True, separators=(",", ":")),
        json.dumps(value),
        json.dumps(value, ensure_ascii=False, separators=(",", ":")) + " ",
        json.dumps(dict(reversed(value.items())), separators=(",", ":")),
    ]
    lines[at] = chance.choice(spelled).encode() + b"\n"
    _rewrite(path, lines)


def normalise(chance: random.Random, files: list[Path]) -> None:
    path = chance.choice(files)
    before = path.read_bytes()
    changed = before.replace(rb"\u00fc", rb"u\u0308").replace(rb"\u00e9", "é".encode())
    path.write_bytes(changed if changed != before else before + b" ")


def seal_suffix_again(chance: random.Random, files: list[Path]) -> None:
    """Change one call and give it and all that follow new hashes, as somebody would who knows how."""
    values = [(path, json.loads(line)) for path in files for line in _lines(path)]
    changed = chance.randrange(len(values))
    place = Place(0, GENESIS, "")
    sealed: dict[Path, list[bytes]] = {path: [] for path in files}
    for number, (path, value) in enumerate(values):
        facts = {key: part for key, part in value.items() if key not in ("n", "day", "prev", "hash")}
        if number == changed:
            facts["decision" if "decision" in facts else "note"] = "nobody asked"
        if number == changed and chance.random() < 0.3:
            continue
        line, place = seal_line(facts, place, value["day"])
        sealed[path].append(line)
    for path, lines in sealed.items():
        _rewrite(path, lines)


def seal_one_again(chance: random.Random, files: list[Path]) -> None:
    path = chance.choice(files)
    lines = _lines(path)
    at = chance.randrange(len(lines))
    value = json.loads(lines[at])
    facts = {key: part for key, part in value.items() if key not in ("n", "day", "prev", "hash")}
    facts["surface"] = "somewhere else"
    lines[at], _ = seal_line(facts, Place(value["n"] - 1, value["prev"], ""), value["day"])
    _rewrite(path, lines)


def go_on(chance: random.Random, files: list[Path]) -> None:
    """Add lines that fit."""
    last = json.loads(_lines(files[-1])[-1])
    place = Place(last["n"], last["hash"], last["day"])
    for _ in range(chance.randrange(1, 4)):
        kind = chance.choice(["decision", "sealed", "begun", "pruned"])
        line, place = seal_line({"kind": kind, "torn": "", "late_lines": 1}, place, last["day"])
        files[-1].write_bytes(files[-1].read_bytes() + line)


def prune_by_hand(chance: random.Random, files: list[Path]) -> None:
    """Take the first files away and say that they were too old."""
    gone = chance.randrange(1, len(files))
    last_gone = json.loads(_lines(files[gone - 1])[-1])
    for path in files[:gone]:
        path.unlink()
    first = json.loads(_lines(files[gone])[0])
    line, _ = seal_line(
        {"kind": "pruned", "through": last_gone["n"], "last": last_gone["hash"], "before": first["day"]},
        Place(last_gone["n"], last_gone["hash"], ""),
        first["day"],
    )
    files[gone].write_bytes(line + files[gone].read_bytes())


def foreign_file(chance: random.Random, files: list[Path]) -> None:
    path = files[0].with_name(f"audit-19{chance.randrange(10, 99)}-01-01.jsonl")
    path.write_bytes(chance.choice([b"x\n", b"{}\n", _lines(files[0])[0], b"\n"]))


def old_anchor(chance: random.Random, files: list[Path]) -> None:
    """Put an anchor of an earlier moment beside the files, as a backup holds one."""
    number = chance.randrange(len(files))
    last = json.loads(_lines(files[number])[-2])
    size = len(b"".join(_lines(files[number])[:-1]))
    anchor = files[0].parent.parent / "audit-head.json"
    found = next(path for path in (anchor, files[0].parent / "audit-head.json") if path.exists())
    found.write_bytes(write_anchor(Anchor(Place(last["n"], last["hash"], last["day"]), size)))


CHANGES: Sequence[Change] = [
    flip_bit,
    remove_line,
    swap_lines,
    double_line,
    cut_end,
    cut_last_lines,
    remove_file,
    remove_last_files,
    rename_file,
    swap_files,
    other_line_ends,
    add_emptiness,
    spell_otherwise,
    normalise,
    seal_suffix_again,
    seal_one_again,
    go_on,
    prune_by_hand,
    foreign_file,
    old_anchor,
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_no_change_goes_unnoticed(written: DataDirectory, change: Change, tmp_path: Path) -> None:
    assert verify_audit(written).is_whole
    kept = tmp_path / "kept"
    shutil.copytree(written.root, kept)
    chance = random.Random(change.__name__)
    for number in range(ROUNDS):
        change(chance, list(find_files(written.logs)))
        names = sorted(path.name for path in written.logs.iterdir() if FILE_NAME.fullmatch(path.name))
        assert not verify_audit(written).is_whole, (number, names)
        shutil.rmtree(written.root)
        shutil.copytree(kept, written.root)
