import errno
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from skales.core.errors import StorageError
from skales.data.paths import DataDirectory
from skales.data.results import RESULT_LIMIT, shorten, spill

PATH = Path("/data/workspace/results/session_1/c1.txt")


def test_a_result_lies_whole_in_the_workspace(home: DataDirectory) -> None:
    path = spill(home, "session_1", "call_1", "first line\r\nsecond ☀\n")
    assert path == home.workspace / "results" / "session_1" / "call_1.txt"
    assert path.read_bytes() == "first line\r\nsecond ☀\n".encode()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [file.name for file in path.parent.iterdir()] == ["call_1.txt"]


def test_a_call_id_used_again_leaves_the_earlier_result_alone(home: DataDirectory) -> None:
    paths = [spill(home, "session_1", "call_0", text) for text in ("one", "two", "three")]
    assert [path.read_text(encoding="utf-8") for path in paths] == ["one", "two", "three"]
    assert [path.name for path in paths] == ["call_0.txt", "call_0-2.txt", "call_0-3.txt"]


def test_results_that_come_at_once_get_files_of_their_own(home: DataDirectory) -> None:
    texts = [str(number) for number in range(20)]
    with ThreadPoolExecutor(8) as pool:
        paths = list(pool.map(lambda text: spill(home, "session_1", "call_0", text), texts))
    assert [path.read_text(encoding="utf-8") for path in paths] == texts


ODD_IDS = ["", ".", "..", "../../settings", "/etc/passwd", "C:\\x", "f.read_file:0", ".hidden", "a b", "a\0b", "\ud800"]


@pytest.mark.parametrize("odd", [*ODD_IDS, "ü" * 300, "x" * 300])
def test_no_id_leads_out_of_its_folder(home: DataDirectory, odd: str) -> None:
    path = spill(home, odd, odd, "text")
    assert path.parent.parent == home.results
    assert path.resolve() == path
    assert path.suffix == ".txt"
    assert path.read_text(encoding="utf-8") == "text"


def test_ids_that_look_alike_once_cleaned_stay_apart(home: DataDirectory) -> None:
    paths = {spill(home, "s", call_id, "x") for call_id in ("a/b", "a b", "a:b", "/a/b", "ä", "ö")}
    assert len(paths) == 6
    assert not any(path.stem.endswith("-2") for path in paths)


def test_half_a_surrogate_pair_is_written_in_words(home: DataDirectory) -> None:
    assert spill(home, "s", "c", "a\ud800b").read_text(encoding="utf-8") == "a\\ud800b"


def test_a_full_disk_is_a_storage_error(home: DataDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(StorageError) as caught:
        spill(home, "s", "c", "text")
    assert caught.value.code == "disk_full"
    assert list((home.results / "s").iterdir()) == []


@pytest.mark.parametrize("text", ["", "short", "x" * RESULT_LIMIT])
def test_a_text_that_fits_stays_as_it_is(text: str) -> None:
    assert shorten(text, PATH) == text


@pytest.mark.parametrize("length", [RESULT_LIMIT + 1, 99_999, 100_000, 1_000_000])
def test_a_long_text_keeps_head_and_tail_and_says_what_is_missing(length: int) -> None:
    text = "".join(f"{number:07} " for number in range(length // 8 + 1))[:length]
    short = shorten(text, PATH)
    head, note, tail = short.split("\n\n")
    assert len(short) <= RESULT_LIMIT
    assert len(short) > RESULT_LIMIT - 10
    assert text.startswith(head)
    assert text.endswith(tail)
    assert len(head) > len(tail) > RESULT_LIMIT // 4
    left_out = length - len(head) - len(tail)
    assert note == f"[{left_out:,} characters left out here; the whole result is in {PATH}]"


@pytest.mark.parametrize("limit", [0, 1, 50, 113, 114, 115, 200])
def test_even_a_tiny_limit_is_kept(limit: int) -> None:
    assert len(shorten("x" * 5000, PATH, limit)) <= limit
