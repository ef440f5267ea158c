"""Old files are looked through, masked, and brought back as they were."""

import json
from pathlib import Path

import pytest

from skales.core.errors import NotFoundError
from skales.data.paths import DataDirectory
from skales.data.secret_sweep import Masks, SecretSweep, Sweep

SECRET = "planted-secret-word"


def mask(text: str) -> str:
    return text.replace(SECRET, "[masked]")


def mask_value(value: object) -> object:
    return json.loads(mask(json.dumps(value)))


def go_on(_done: int, _total: int) -> bool:
    return True


@pytest.fixture
def sweep(home: DataDirectory) -> SecretSweep:
    masks = Masks(mask, mask_value, lambda text: ["[masked]"] * text.count("[masked]"))  # type: ignore[arg-type]
    return SecretSweep(home, masks)


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def old(home: DataDirectory) -> list[Path]:
    session = json.dumps({"id": "session_1", "messages": [{"role": "user", "content": f"{SECRET} {SECRET}"}], "own": 1})
    return [
        write(home.sessions / "session_1.json", session),
        write(home.trash / "sessions" / "session_2.json", session),
        write(home.memories / "mem_1.json", json.dumps({"content": SECRET})),
        write(home.results / "session_1" / "call.txt", f"a\n{SECRET}\n"),
        write(home.logs / "other.jsonl", json.dumps({"x": SECRET}) + "\nno json " + SECRET + "\n"),
    ]


def holders(home: DataDirectory) -> set[str]:
    files = (path for path in home.root.rglob("*") if path.is_file() and "trash/secrets" not in path.as_posix())
    return {path.name for path in files if SECRET in path.read_text(encoding="utf-8", errors="replace")}


def test_a_look_finds_everything_and_changes_nothing(sweep: SecretSweep, home: DataDirectory, old: list[Path]) -> None:
    write(home.sessions / "session_3.json", '{"messages": []}')
    before = [path.read_bytes() for path in old]
    found = sweep.look(go_on)
    assert [(file.place, len(file.markers)) for file in found.found] == [
        ("conversation", 2),
        ("deleted conversation", 2),
        ("memory", 1),
        ("result", 1),
        ("log", 2),
    ]
    assert (found.looked_at, found.secrets, found.id) == (6, 8, "")
    assert not any(SECRET in repr(file) for file in found.found)
    assert [path.read_bytes() for path in old] == before


def test_what_was_masked_comes_back_byte_for_byte(sweep: SecretSweep, home: DataDirectory, old: list[Path]) -> None:
    before = [path.read_bytes() for path in old]
    found = sweep.mask(1_700_000_000_000, go_on)
    assert all(file.is_masked for file in found.found)
    assert holders(home) == set()
    assert json.loads(old[0].read_text(encoding="utf-8"))["own"] == 1
    assert sweep.look(go_on).found == ()
    back = sweep.undo(found.id)
    assert len(back.restored) == 5
    assert [path.read_bytes() for path in old] == before
    assert sweep.backups() == []


def test_a_file_that_changed_since_is_not_taken_back(sweep: SecretSweep, old: list[Path]) -> None:
    found = sweep.mask(1_700_000_000_000, go_on)
    write(old[2], json.dumps({"content": "another"}))
    back = sweep.undo(found.id)
    assert back.kept == ("memories/mem_1.json",)
    assert json.loads(old[2].read_text(encoding="utf-8")) == {"content": "another"}
    assert sweep.backups() == [found.id]


def test_the_audit_log_is_only_looked_at(sweep: SecretSweep, home: DataDirectory) -> None:
    log = write(home.logs / "audit-2026-11-30.jsonl", json.dumps({"x": SECRET}) + "\n")
    (file,) = sweep.mask(1_700_000_000_000, go_on).found
    assert (file.place, file.is_masked) == ("audit", False)
    assert SECRET in log.read_text(encoding="utf-8")


def test_what_cannot_be_read_is_said_and_left(sweep: SecretSweep, home: DataDirectory, old: list[Path]) -> None:
    broken = write(home.sessions / "session_4.json", f'{{"messages": ["{SECRET}')
    (home.logs / "picture.log").write_bytes(b"\xff\xfe\x00" + SECRET.encode())
    found = sweep.mask(1_700_000_000_000, go_on)
    assert set(found.unread) == {"sessions/session_4.json", "logs/picture.log"}
    assert SECRET in broken.read_text(encoding="utf-8")
    assert len(found.found) == len(old)


def test_a_link_is_not_followed(sweep: SecretSweep, home: DataDirectory, tmp_path: Path) -> None:
    outside = write(tmp_path / "outside.txt", SECRET)
    home.results.mkdir(parents=True, exist_ok=True)
    (home.results / "link.txt").symlink_to(outside)
    assert sweep.mask(1, go_on) == Sweep()
    assert outside.read_text(encoding="utf-8") == SECRET


def test_stopped_early_the_rest_stays_and_what_was_done_comes_back(sweep: SecretSweep, old: list[Path]) -> None:
    found = sweep.mask(1_700_000_000_000, lambda done, _total: done < 2)
    assert found.looked_at == 2
    assert len(found.found) == 2
    assert SECRET in old[2].read_text(encoding="utf-8")
    assert len(sweep.undo(found.id).restored) == 2


def test_a_backup_that_is_forgotten_is_gone(sweep: SecretSweep, home: DataDirectory, old: list[Path]) -> None:
    assert old
    found = sweep.mask(1_700_000_000_000, go_on)
    sweep.forget(found.id)
    assert not any(SECRET.encode() in path.read_bytes() for path in home.root.rglob("*") if path.is_file())
    for name in (found.id, "../sessions", ""):
        with pytest.raises(NotFoundError):
            sweep.undo(name)


def test_a_manifest_cannot_lead_out_of_the_folder(sweep: SecretSweep, home: DataDirectory, tmp_path: Path) -> None:
    outside = write(tmp_path / "victim.txt", "mine")
    digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    content = json.dumps({"files": {"../victim.txt": digest, str(outside): digest}})
    write(home.trash / "secrets" / "1" / "manifest.json", content)
    sweep.undo("1")
    assert outside.read_text(encoding="utf-8") == "mine"


def test_the_index_is_made_anew(sweep: SecretSweep, home: DataDirectory) -> None:
    write(home.index, SECRET)
    sweep.drop_index()
    sweep.drop_index()
    assert not home.index.exists()
