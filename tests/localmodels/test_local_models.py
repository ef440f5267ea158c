from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from skales.core.errors import ConfigurationError, NotFoundError
from skales.core.events import Progress
from skales.data.paths import DataDirectory
from skales.localmodels.fetch import Store
from skales.localmodels.local_models import InstalledModel, LocalModels, LocalStatus
from skales.localmodels.wheel import Pip
from tests.localmodels.conftest import GGUF, Child, Shelf, StoreMaker, ignore

MakeModels = Callable[..., LocalModels]


def put_model(home: DataDirectory, name: str, data: bytes = GGUF) -> Path:
    home.local_models.mkdir(exist_ok=True)
    path = home.local_models / name
    path.write_bytes(data)
    return path


def test_before_anything_is_fetched_the_status_says_how_much_it_will_be(
    make_models: MakeModels, make_store: StoreMaker
) -> None:
    store = make_store()
    assert make_models(store).status() == LocalStatus(
        runtime_installed=False,
        model_installed=False,
        running=False,
        model_id="Starter",
        size_bytes_to_fetch=store.missing_bytes(),
        tool_accuracy="3 of 20",
    )
    assert make_models(store).installed_models() == []


@pytest.mark.anyio
async def test_the_first_use_fetches_starts_and_shows_both(make_models: MakeModels) -> None:
    models = make_models()
    labels: list[str] = []
    try:
        address = await models.ensure_running(lambda progress: labels.append(progress.label))
        assert address.model == "Starter"
        assert list(dict.fromkeys(labels)) == [
            "Fetching the program that runs local models",
            "Fetching the model Starter",
            "Starting the model Starter",
        ]
        assert models.status() == LocalStatus(
            runtime_installed=True,
            model_installed=True,
            running=True,
            model_id="Starter",
            size_bytes_to_fetch=0,
            tool_accuracy="3 of 20",
        )
    finally:
        await models.stop()
    assert not models.status().running


@pytest.mark.anyio
async def test_each_start_has_a_key_of_its_own(make_models: MakeModels) -> None:
    models = make_models()
    keys: set[str] = set()
    for _ in range(2):
        keys.add((await models.ensure_running(ignore)).api_key)
        await models.stop()
    assert len(keys) == 2
    assert all(len(key) >= 32 for key in keys)


@pytest.mark.anyio
async def test_two_turns_at_once_fetch_once(make_models: MakeModels, shelf: Shelf, child: Child) -> None:
    models = make_models()

    async def use() -> None:
        await models.ensure_running(ignore)

    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(use)
            tasks.start_soon(use)
        assert (len(shelf.pip_starts()), len(child.pids())) == (2, 1)
    finally:
        await models.stop()


@pytest.mark.anyio
async def test_fetching_alone_starts_nothing(make_models: MakeModels, child: Child) -> None:
    models = make_models()
    await models.fetch(ignore)
    assert (models.status().model_installed, child.pids()) == (True, [])


def test_models_a_person_put_there_are_listed_and_others_are_not(make_models: MakeModels, home: DataDirectory) -> None:
    put_model(home, "Qwen3-4B.gguf")
    put_model(home, "big-00001-of-00002.gguf")
    put_model(home, "big-00002-of-00002.gguf")
    put_model(home, "mmproj-Qwen.gguf")
    put_model(home, ".hidden.gguf")
    put_model(home, "empty.gguf", b"")
    put_model(home, "notes.txt")
    (home.local_models / "folder.gguf").mkdir()
    found = make_models().installed_models()
    assert [model.id for model in found] == ["Qwen3-4B", "big-00001-of-00002"]
    assert found[0] == InstalledModel("Qwen3-4B", "Qwen3-4B.gguf", len(GGUF), is_tiny=True)


def test_a_large_model_is_not_tiny(make_models: MakeModels, home: DataDirectory) -> None:
    with put_model(home, "Large.gguf").open("r+b") as file:
        file.truncate(2_000_000_000)  # sparse
    assert [model.is_tiny for model in make_models().installed_models()] == [False]


@pytest.mark.anyio
async def test_a_model_of_ones_own_can_be_chosen_by_name_and_needs_no_starter(
    make_models: MakeModels, home: DataDirectory, shelf: Shelf
) -> None:
    put_model(home, "Mine.gguf")
    models = make_models()
    try:
        assert (await models.ensure_running(ignore, "Mine")).model == "Mine"
        assert len(shelf.pip_starts()) == 1
        assert models.status().tool_accuracy == ""
    finally:
        await models.stop()


@pytest.mark.anyio
async def test_without_a_name_the_only_model_there_is_used(make_models: MakeModels, home: DataDirectory) -> None:
    put_model(home, "Mine.gguf")
    models = make_models()
    assert models.status().model_id == "Mine"
    try:
        assert (await models.ensure_running(ignore)).model == "Mine"
    finally:
        await models.stop()


@pytest.mark.anyio
async def test_an_unknown_model_is_refused_before_anything_is_fetched(
    make_models: MakeModels, home: DataDirectory, shelf: Shelf
) -> None:
    put_model(home, "Mine.gguf")
    with pytest.raises(NotFoundError, match="'Nope'") as caught:
        await make_models().ensure_running(ignore, "Nope")
    assert "Mine" in caught.value.hint
    assert shelf.pip_starts() == []


@pytest.mark.anyio
async def test_a_file_that_is_no_model_is_refused_before_it_is_started(
    make_models: MakeModels, home: DataDirectory, child: Child
) -> None:
    put_model(home, "Page.gguf", b"<html>Sign in</html>")
    with pytest.raises(ConfigurationError, match=r"'Page.gguf' is not a model") as caught:
        await make_models().ensure_running(ignore, "Page")
    assert caught.value.code == "bad_model"
    assert child.pids() == []


@pytest.mark.anyio
async def test_what_is_there_works_offline(make_models: MakeModels, make_store: StoreMaker) -> None:
    await make_models().fetch(ignore)
    offline: Store = make_store(Pip(command=("/nowhere/python",)))
    models = make_models(offline)
    try:
        assert (await models.ensure_running(ignore)).model == "Starter"
    finally:
        await models.stop()


@pytest.mark.anyio
async def test_progress_reports_stay_few(make_models: MakeModels) -> None:
    seen: list[Progress] = []
    await make_models().fetch(seen.append)
    assert 2 <= len(seen) < 200
