import errno
import json
import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from skales.core.errors import BrokenDocumentError, ConflictError, InputError, NotFoundError, StorageError
from skales.core.json import JsonObject, JsonValue
from skales.data.document import (
    ABSENT,
    MAX_DEPTH,
    ChangedOnDiskError,
    create_object,
    lock_for,
    read_object,
    read_stamped,
    stamp_of,
    update_object,
    write_bytes,
    write_object,
    write_stamped,
)
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from tests.conftest import FixedClock


@pytest.fixture
def quarantine(home: DataDirectory, clock: FixedClock) -> Quarantine:
    return Quarantine(home.quarantine, clock)


@pytest.fixture
def path(home: DataDirectory) -> Path:
    return home.root / "things" / "one.json"


@pytest.fixture
def old(path: Path) -> Path:
    write_object(path, {"state": "old"})
    return path


def files_in(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def nested(levels: int) -> JsonObject:
    value: JsonObject = {}
    for _ in range(levels - 1):
        value = {"in": value}
    return value


def never(seconds: float) -> None:
    raise AssertionError("an old file is not waited for")


# --- reading -----------------------------------------------------------------------------------------------------


def test_what_was_written_is_read(path: Path, quarantine: Quarantine) -> None:
    value: JsonObject = {"title": "Grüße ☀", "list": [1, 2.5, True, None, {"a": ""}], "": "empty key"}
    write_object(path, value)
    assert read_object(path, quarantine) == value


def test_a_byte_order_mark_is_ignored(path: Path, quarantine: Quarantine) -> None:
    path.parent.mkdir()
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}\r\n')
    assert read_object(path, quarantine) == {"a": 1}


def test_a_missing_file_is_not_found(path: Path, quarantine: Quarantine) -> None:
    with pytest.raises(NotFoundError, match=r"'one\.json'") as caught:
        read_object(path, quarantine)
    assert caught.value.code == "not_found"


BROKEN: dict[str, tuple[bytes, str]] = {
    "cut off": (b'{\n "a": "b', "unterminated string starting at line 2, column 7"),
    "cut between": (b'{"a": 1,', "line 1, column 9"),
    "empty": (b"", "the file is empty"),
    "blank": (b" \r\n\t", "the file is empty"),
    "only a mark": (b"\xef\xbb\xbf", "line 1, column 1"),
    "zeroed": (bytes(512), "only NUL bytes"),
    "zeroed at the end": (b'{"a": 1}' + bytes(100), "line 1, column 9"),
    "utf-16": ('{"a": 1}'.encode("utf-16"), "not UTF-8 at line 1, byte 0"),
    "latin-1": (b'{\n\n"a": "\xe4"}', "not UTF-8 at line 3, byte 9"),
    "array": (b"[1, 2, 3]", "not an object"),
    "text": (b'"text"', "not an object"),
    "number": (b"7", "not an object"),
    "null": (b"null", "not an object"),
    "two": (b"{}\n{}", "line 2, column 1"),
    "raw line end": (b'{"a": "b\nc"}', "invalid control character at line 1, column 9"),
    "comment": (b'{"a": 1} // mine', "line 1, column 10"),
    "single quotes": (b"{'a': 1}", "line 1, column 2"),
    "endless number": (b'{"a": ' + b"1" * 5000 + b"}", "digits"),
    "deep": (json.dumps(nested(MAX_DEPTH + 1)).encode(), "nested more than 200 levels"),
    "very deep": (b'{"a":' * 100_000, "nested"),
    "very deep and whole": (b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested"),
}


@pytest.mark.parametrize(("data", "reason"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_file_is_set_aside_unchanged_and_named(
    path: Path, quarantine: Quarantine, data: bytes, reason: str
) -> None:
    path.parent.mkdir()
    path.write_bytes(data)
    with pytest.raises(BrokenDocumentError) as caught:
        read_object(path, quarantine, pause=never)
    (broken,) = quarantine.notices()
    assert reason in broken.reason
    assert not path.exists()
    assert broken.kept_at.read_bytes() == data
    assert "one.json" in caught.value.message
    assert broken.reason in caught.value.message
    assert str(broken.kept_at) in caught.value.hint
    assert caught.value.code == "broken_document"


def test_the_deepest_document_that_can_be_written_can_be_read(path: Path, quarantine: Quarantine) -> None:
    write_object(path, nested(MAX_DEPTH))
    assert read_object(path, quarantine) == nested(MAX_DEPTH)


def test_a_deeper_one_is_refused_before_it_is_written(old: Path, quarantine: Quarantine) -> None:
    with pytest.raises(InputError, match="200"):
        write_object(old, nested(MAX_DEPTH + 1))
    assert read_object(old, quarantine) == {"state": "old"}


def test_an_object_that_is_not_what_the_file_should_hold_is_broken(old: Path, quarantine: Quarantine) -> None:
    def check(value: JsonObject) -> None:
        if "name" not in value:
            raise ValueError("it has no name")

    with pytest.raises(BrokenDocumentError, match="it has no name"):
        read_stamped(old, quarantine, check=check)
    assert [broken.path for broken in quarantine.notices()] == [old]


def make_fresh(path: Path, clock: FixedClock) -> None:
    now_s = clock.now_ms() / 1000
    os.utime(path, (now_s, now_s))


def test_a_file_that_is_being_saved_gets_time(path: Path, quarantine: Quarantine, clock: FixedClock) -> None:
    path.parent.mkdir()
    path.write_bytes(b'{"a": ')
    make_fresh(path, clock)
    pauses: list[float] = []

    def finish_saving(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 2:
            path.write_bytes(b'{"a": 1}')
        make_fresh(path, clock)

    assert read_object(path, quarantine, pause=finish_saving) == {"a": 1}
    assert pauses == [0.05, 0.05]
    assert quarantine.notices() == []


def test_the_last_of_three_pauses_still_counts(path: Path, quarantine: Quarantine, clock: FixedClock) -> None:
    path.parent.mkdir()
    path.write_bytes(b'{"a": ')
    make_fresh(path, clock)
    pauses: list[float] = []

    def save_at_last(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            path.write_bytes(b'{"a": 1}')

    assert read_object(path, quarantine, pause=save_at_last) == {"a": 1}


def test_a_fresh_file_that_stays_broken_is_set_aside_after_three_pauses(
    path: Path, quarantine: Quarantine, clock: FixedClock
) -> None:
    path.parent.mkdir()
    path.write_bytes(b'{"a": ')
    make_fresh(path, clock)
    pauses: list[float] = []
    with pytest.raises(BrokenDocumentError):
        read_object(path, quarantine, pause=pauses.append)
    assert len(pauses) == 3
    assert not path.exists()


def test_a_broken_file_that_cannot_be_moved_is_left_and_said_so(
    old: Path, home: DataDirectory, clock: FixedClock
) -> None:
    old.write_bytes(b"{")
    home.quarantine.write_text("in the way", encoding="utf-8")
    with pytest.raises(BrokenDocumentError, match="left in place"):
        read_object(old, Quarantine(home.quarantine, clock))
    assert old.read_bytes() == b"{"


def put_link(path: Path) -> None:
    path.symlink_to(path.parent.parent / "settings.json")


@pytest.mark.parametrize("put", [put_link, Path.mkdir, os.mkfifo], ids=["link", "folder", "pipe"])
def test_what_is_no_plain_file_is_neither_read_nor_replaced_nor_set_aside(
    path: Path, quarantine: Quarantine, put: Callable[[Path], None]
) -> None:
    path.parent.mkdir()
    write_object(path.parent.parent / "settings.json", {"theme": "dark"})
    put(path)
    before = path.lstat()
    for attempt in (
        lambda: read_object(path, quarantine),
        lambda: write_object(path, {"a": 1}),
        lambda: create_object(path, {"a": 1}),
        lambda: update_object(path, quarantine, lambda value: None, missing={}),
    ):
        with pytest.raises(StorageError, match="not a plain file") as caught:
            attempt()
        assert caught.value.code == "not_a_file"
        assert str(path) in caught.value.hint
    assert (path.lstat().st_mode, path.lstat().st_ino) == (before.st_mode, before.st_ino)
    assert quarantine.notices() == []
    assert read_object(path.parent.parent / "settings.json", quarantine) == {"theme": "dark"}


def fail_with(number: int) -> Callable[..., Any]:
    def fail(*args: object, **kwargs: object) -> Any:
        raise OSError(number, os.strerror(number))

    return fail


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (errno.EACCES, "no_permission"),
        (errno.EPERM, "no_permission"),
        (errno.EIO, "storage"),
        (errno.EMFILE, "storage"),
    ],
)
def test_a_file_the_system_refuses_to_read_is_not_broken(
    old: Path, quarantine: Quarantine, monkeypatch: pytest.MonkeyPatch, number: int, code: str
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", fail_with(number))
        with pytest.raises(StorageError, match=r"'one\.json' cannot be read") as caught:
            read_object(old, quarantine)
    assert caught.value.code == code
    assert not isinstance(caught.value, BrokenDocumentError)
    assert read_object(old, quarantine) == {"state": "old"}


def test_a_file_that_vanishes_while_it_is_opened_is_not_found(
    old: Path, quarantine: Quarantine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "open", fail_with(errno.ENOENT))
    with pytest.raises(NotFoundError):
        read_object(old, quarantine)


# --- writing -----------------------------------------------------------------------------------------------------


def test_the_file_is_private_readable_text_and_leaves_nothing_beside_it(path: Path) -> None:
    write_object(path, {"a": ["ä"]})
    assert path.read_bytes() == '{\n  "a": [\n    "ä"\n  ]\n}\n'.encode()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert files_in(path.parent) == ["one.json"]


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "\ude00\ud83d", "\udc80" * 3, "😀", "\0\x1f\x7f\u2028"])
def test_any_text_a_model_writes_comes_back(path: Path, quarantine: Quarantine, text: str) -> None:
    write_object(path, {text: [text]})
    assert path.read_bytes().decode("utf-8")
    assert read_object(path, quarantine) == {text: [text]}


def test_halves_that_meet_become_the_sign_they_are(path: Path, quarantine: Quarantine) -> None:
    write_object(path, {"a": "\ud83d" + "\ude00"})
    assert read_object(path, quarantine) == {"a": "😀"}


def test_read_only_views_are_written_like_what_they_show(path: Path, quarantine: Quarantine) -> None:
    write_object(path, MappingProxyType({"a": MappingProxyType({"b": (1, range(2))})}))
    assert read_object(path, quarantine) == {"a": {"b": [1, [0, 1]]}}


def test_what_is_not_json_is_the_callers_fault_and_writes_nothing(old: Path, quarantine: Quarantine) -> None:
    value: Any = {"a": {1, 2}}
    with pytest.raises(TypeError, match="set is not JSON"):
        write_object(old, value)
    assert files_in(old.parent) == ["one.json"]
    assert read_object(old, quarantine) == {"state": "old"}


class FullDisk:
    """A file that takes nothing."""

    def __init__(self, descriptor: int, mode: str) -> None:
        self.descriptor = descriptor

    def __enter__(self) -> "FullDisk":
        return self

    def __exit__(self, *error: object) -> None:
        os.close(self.descriptor)

    def write(self, data: bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("step", ["open", "fsync", "replace"])
@pytest.mark.parametrize(
    "refusal",
    [
        (errno.ENOSPC, "disk_full", "the disk is full"),
        (errno.EDQUOT, "disk_full", "quota"),
        (errno.EROFS, "read_only", "read-only"),
        (errno.EACCES, "no_permission", "permission"),
        (errno.EPERM, "no_permission", "permission"),
        (errno.EIO, "storage", "error"),
    ],
)
def test_a_write_that_fails_at_any_step_leaves_the_old_file_alone(
    old: Path, quarantine: Quarantine, monkeypatch: pytest.MonkeyPatch, step: str, refusal: tuple[int, str, str]
) -> None:
    number, code, words = refusal
    with monkeypatch.context() as patch:
        patch.setattr(os, step, fail_with(number))
        with pytest.raises(StorageError, match=words) as caught:
            write_object(old, {"state": "new"})
    assert caught.value.code == code
    assert bool(caught.value.hint) == (code != "storage")
    assert files_in(old.parent) == ["one.json"]
    assert read_object(old, quarantine) == {"state": "old"}
    write_object(old, {"state": "new"})
    assert read_object(old, quarantine) == {"state": "new"}


def test_a_disk_that_fills_up_while_writing_leaves_the_old_file_alone(
    old: Path, quarantine: Quarantine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(os, "fdopen", FullDisk)
        with pytest.raises(StorageError) as caught:
            write_object(old, {"state": "new"})
    assert caught.value.code == "disk_full"
    assert files_in(old.parent) == ["one.json"]
    assert read_object(old, quarantine) == {"state": "old"}


def test_an_error_without_a_number_is_told_in_its_own_words(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object) -> None:
        raise OSError("the cable came out")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(StorageError, match="the cable came out"):
        write_object(old, {})


def test_a_folder_that_cannot_be_flushed_is_no_reason_to_fail(
    old: Path, quarantine: Quarantine, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.open

    def refuse_folders(path: Path, *rest: int) -> int:
        if Path(path).is_dir():
            raise PermissionError(errno.EACCES, "as on Windows")
        return real(path, *rest)

    monkeypatch.setattr(os, "open", refuse_folders)
    write_object(old, {"state": "new"})
    assert read_object(old, quarantine) == {"state": "new"}


def test_a_folder_that_is_a_file_is_a_storage_error(home: DataDirectory, quarantine: Quarantine) -> None:
    (home.root / "things").write_text("a file", encoding="utf-8")
    with pytest.raises(StorageError):
        write_object(home.root / "things" / "one.json", {})
    with pytest.raises(StorageError):
        read_object(home.root / "things" / "one.json", quarantine)


def sharing_violation(times: int) -> Callable[..., None]:
    real = os.replace
    left = [times]

    def replace(source: Path, target: Path) -> None:
        if left[0]:
            left[0] -= 1
            error = PermissionError(errno.EACCES, "in use")
            error.winerror = 32  # type: ignore[attr-defined, unused-ignore]
            raise error
        real(source, target)

    return replace


def test_a_scanner_that_holds_the_file_for_a_moment_is_waited_for(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "replace", sharing_violation(10))
    pauses: list[float] = []
    write_bytes(old, b"new", pause=pauses.append)
    assert old.read_bytes() == b"new"
    assert pauses == [0.02] * 10


def test_a_file_that_stays_in_use_is_given_up(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "replace", sharing_violation(99))
    before = old.read_bytes()
    with pytest.raises(StorageError) as caught:
        write_bytes(old, b"new", pause=lambda seconds: None)
    assert caught.value.code == "no_permission"
    assert old.read_bytes() == before


def test_a_write_says_what_state_it_left(path: Path) -> None:
    first = write_stamped(path, {"a": 1})
    assert first == stamp_of(path)
    second = write_stamped(path, {"a": 22}, expected=first)
    assert second == stamp_of(path) != first


def test_a_write_against_another_state_is_refused(old: Path, quarantine: Quarantine) -> None:
    for expected in (ABSENT, (1, 1)):
        with pytest.raises(ChangedOnDiskError):
            write_stamped(old, {"state": "new"}, expected=type(ABSENT)(*expected))
    assert read_object(old, quarantine) == {"state": "old"}
    assert files_in(old.parent) == ["one.json"]


def test_a_reader_never_sees_half_a_write(path: Path, quarantine: Quarantine) -> None:
    values: list[JsonObject] = [{"text": letter * 200_000} for letter in "ab"]
    write_object(path, values[0])
    done = threading.Event()

    def write() -> None:
        while not done.is_set():
            for value in values:
                write_object(path, value)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert all(read_object(path, quarantine) in values for _ in range(100))
    finally:
        done.set()
        writer.join()


WRITER = """
import sys
from pathlib import Path
from skales.data.document import write_object
number = 0
while True:
    write_object(Path(sys.argv[1]), {"number": number, "text": "x" * 300_000})
    print(number, flush=True)
    number += 1
"""


def test_a_killed_program_leaves_a_whole_file(path: Path, quarantine: Quarantine) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ) as writer:
        assert writer.stdout is not None
        for _ in range(20):
            last = int(writer.stdout.readline())
        writer.send_signal(signal.SIGKILL)
    number = read_object(path, quarantine)["number"]
    assert isinstance(number, int)
    assert number >= last
    assert quarantine.notices() == []


# --- creating ----------------------------------------------------------------------------------------------------


def test_a_new_file_is_made_once(path: Path, quarantine: Quarantine) -> None:
    stamp = create_object(path, {"by": "first"})
    assert stamp == stamp_of(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(ConflictError, match=r"'one\.json'"):
        create_object(path, {"by": "second"})
    assert read_object(path, quarantine) == {"by": "first"}
    assert files_in(path.parent) == ["one.json"]


def test_of_many_that_create_the_same_file_one_succeeds(path: Path, quarantine: Quarantine) -> None:
    def create(number: int) -> bool:
        try:
            create_object(path, {"by": number})
        except ConflictError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(create, range(8)))
    assert outcomes.count(True) == 1
    assert read_object(path, quarantine) == {"by": outcomes.index(True)}


def test_a_file_system_without_hard_links_will_do(
    path: Path, quarantine: Quarantine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "link", fail_with(errno.EPERM))
    create_object(path, {"by": "first"})
    with pytest.raises(ConflictError):
        create_object(path, {"by": "second"})
    assert read_object(path, quarantine) == {"by": "first"}


# --- changing ----------------------------------------------------------------------------------------------------


def set_new(value: dict[str, JsonValue]) -> None:
    value["state"] = "new"


def test_a_change_keeps_what_it_does_not_name(path: Path, quarantine: Quarantine) -> None:
    write_object(path, {"x_plugin": {"keep": "me"}, "state": "old"})
    changed = update_object(path, quarantine, set_new, missing=None)
    assert changed == {"x_plugin": {"keep": "me"}, "state": "new"} == read_object(path, quarantine)
    assert list(changed) == ["x_plugin", "state"]


def test_a_missing_file_starts_from_a_copy(path: Path, quarantine: Quarantine) -> None:
    start: JsonObject = {"list": []}

    def add(value: dict[str, JsonValue]) -> None:
        assert isinstance(value["list"], list)
        value["list"].append(1)

    update_object(path, quarantine, add, missing=start)
    update_object(path, quarantine, add, missing=start)
    assert read_object(path, quarantine) == {"list": [1, 1]}
    assert start == {"list": []}


def test_a_missing_file_without_a_start_is_not_found(path: Path, quarantine: Quarantine) -> None:
    with pytest.raises(NotFoundError):
        update_object(path, quarantine, set_new, missing=None)
    assert not path.exists()


def test_a_change_that_raises_writes_nothing(old: Path, quarantine: Quarantine) -> None:
    def refuse(value: dict[str, JsonValue]) -> None:
        value["state"] = "half"
        raise InputError("no")

    with pytest.raises(InputError):
        update_object(old, quarantine, refuse, missing={})
    assert read_object(old, quarantine) == {"state": "old"}


def test_a_broken_file_is_not_taken_for_a_missing_one(old: Path, quarantine: Quarantine) -> None:
    old.write_bytes(b'{"state": "preci')
    with pytest.raises(BrokenDocumentError):
        update_object(old, quarantine, set_new, missing={})
    assert not old.exists()
    assert [broken.kept_at.read_bytes() for broken in quarantine.notices()] == [b'{"state": "preci']


def test_changes_from_many_threads_all_count(path: Path, quarantine: Quarantine) -> None:
    def add_one(value: dict[str, JsonValue]) -> None:
        count = value["count"]
        assert isinstance(count, int)
        value["count"] = count + 1

    with ThreadPoolExecutor(8) as pool:
        for _ in range(80):
            pool.submit(update_object, path, quarantine, add_one, missing={"count": 0})
    assert read_object(path, quarantine) == {"count": 80}


def test_a_hand_edit_made_meanwhile_survives(old: Path, quarantine: Quarantine) -> None:
    seen: list[JsonObject] = []

    def change(value: dict[str, JsonValue]) -> None:
        if not seen:
            old.write_text('{"state": "old", "by_hand": true}', encoding="utf-8")
        seen.append(dict(value))
        value["state"] = "new"

    assert update_object(old, quarantine, change, missing=None) == {"state": "new", "by_hand": True}
    assert seen == [{"state": "old"}, {"state": "old", "by_hand": True}]


def test_a_file_made_meanwhile_survives(path: Path, quarantine: Quarantine) -> None:
    def change(value: dict[str, JsonValue]) -> None:
        if not path.exists():
            write_object(path, {"by_hand": True})
        value["state"] = "new"

    assert update_object(path, quarantine, change, missing={}) == {"by_hand": True, "state": "new"}


def test_a_file_that_never_rests_is_given_up_after_five_attempts(old: Path, quarantine: Quarantine) -> None:
    attempts: list[int] = []

    def change(value: dict[str, JsonValue]) -> None:
        attempts.append(1)
        old.write_text(json.dumps({"edits": "x" * len(attempts)}), encoding="utf-8")

    with pytest.raises(ChangedOnDiskError) as caught:
        update_object(old, quarantine, change, missing=None)
    assert len(attempts) == 5
    assert caught.value.code == "conflict"
    assert read_object(old, quarantine) == {"edits": "xxxxx"}


def test_a_file_has_one_lock_however_it_is_named(home: DataDirectory) -> None:
    lock = lock_for(home.settings)
    assert lock_for(home.root / "sessions" / ".." / "settings.json") is lock
    assert lock_for(home.grants) is not lock
