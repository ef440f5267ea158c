import json

import pytest

from skales.core.errors import InputError
from skales.data.model_lists import KnownModel, ModelLists
from skales.data.paths import DataDirectory
from tests.conftest import FixedClock

HERE = "http://127.0.0.1:11434/v1"
SEEN = KnownModel(id="llava", context_tokens=131_072, loaded_tokens=4_096, tools=False, vision=True)


@pytest.fixture
def lists(home: DataDirectory, clock: FixedClock) -> ModelLists:
    return ModelLists(home, clock)


def test_a_list_comes_back_with_its_time(lists: ModelLists, clock: FixedClock) -> None:
    lists.save("ollama", HERE, [SEEN, KnownModel(id="phi3")])
    found = lists.load("ollama", HERE)
    assert found is not None
    assert found.models == (SEEN, KnownModel(id="phi3"))
    assert found.fetched_ms == clock.now_ms()


def test_an_empty_list_counts_as_none(lists: ModelLists) -> None:
    lists.save("ollama", HERE, [])
    assert lists.load("ollama", HERE) is None


def test_a_list_that_another_process_wrote_is_seen(lists: ModelLists, home: DataDirectory, clock: FixedClock) -> None:
    assert lists.load("ollama", HERE) is None
    ModelLists(home, clock).save("ollama", HERE, [SEEN])
    found = lists.load("ollama", HERE)
    assert found is not None
    assert found.find("llava") == SEEN


def test_the_list_of_another_address_says_nothing_about_this_one(lists: ModelLists) -> None:
    lists.save("ollama", HERE, [SEEN])
    assert lists.load("ollama", "http://192.168.1.5:11434/v1") is None


def test_a_name_is_also_found_under_its_usual_tag(lists: ModelLists) -> None:
    found = lists.save("ollama", HERE, [KnownModel(id="phi3:latest"), KnownModel(id="phi3:mini")])
    assert found.find("phi3") == KnownModel(id="phi3:latest")
    assert found.find("phi3:mini") == KnownModel(id="phi3:mini")
    assert found.find("phi") is None


def test_an_endless_list_is_cut(lists: ModelLists, home: DataDirectory) -> None:
    found = lists.save("custom", HERE, [KnownModel(id=f"m{number}") for number in range(9_000)])
    assert len(found.models) == 5_000
    assert lists.load("custom", HERE) == found


@pytest.mark.parametrize("name", ["", "x" * 257])
def test_ids_that_cannot_be_meant_are_left_out(lists: ModelLists, name: str) -> None:
    assert lists.save("custom", HERE, [KnownModel(id=name), SEEN]).models == (SEEN,)


@pytest.mark.parametrize(
    "content",
    ["", "{", "[1]", '{"address": "http://127.0.0.1:11434/v1"}', "\x00", json.dumps({"models": "x" * 5_000_000})],
    ids=["empty", "cut", "list", "no models", "noise", "monstrous"],
)
def test_a_file_that_makes_no_sense_counts_as_never_asked(lists: ModelLists, home: DataDirectory, content: str) -> None:
    home.model_lists.mkdir(parents=True)
    (home.model_lists / "ollama.json").write_text(content, encoding="utf-8")
    assert lists.load("ollama", HERE) is None


def test_odd_entries_cost_themselves_alone(lists: ModelLists, home: DataDirectory) -> None:
    rows = [7, {}, {"id": 3}, {"id": "a", "contextTokens": -5, "vision": "yes", "tools": True}]
    home.model_lists.mkdir(parents=True)
    (home.model_lists / "ollama.json").write_text(json.dumps({"address": HERE, "models": rows}), encoding="utf-8")
    found = lists.load("ollama", HERE)
    assert found is not None
    assert found.models == (KnownModel(id="a", tools=True),)
    assert found.fetched_ms == 0


@pytest.mark.parametrize("provider_id", ["", "../settings", "a/b", ".x"])
def test_no_provider_leads_out_of_the_folder(lists: ModelLists, provider_id: str) -> None:
    with pytest.raises(InputError):
        lists.save(provider_id, HERE, [SEEN])
