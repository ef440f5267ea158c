import pytest

from skales.data.document import write_object
from skales.data.model_probes import ModelProbes, ProbeResult
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from tests.conftest import FixedClock

HERE = "http://127.0.0.1:1234/v1"


@pytest.fixture
def probes(home: DataDirectory, clock: FixedClock) -> ModelProbes:
    return ModelProbes(home, Quarantine(home.quarantine, clock), clock)


def test_a_result_comes_back_with_its_time(probes: ModelProbes, clock: FixedClock) -> None:
    probes.save("custom", "a/b.c", ProbeResult(address=HERE, tools=True, parallel_calls=False, context_tokens=8_192))
    assert probes.load("custom", "a/b.c", HERE) == ProbeResult(
        address=HERE, probed_ms=clock.now_ms(), tools=True, parallel_calls=False, context_tokens=8_192
    )


def test_results_stand_beside_each_other_and_the_newest_counts(probes: ModelProbes) -> None:
    for model, sees in (("a", True), ("b", False), ("a", False)):
        probes.save("custom", model, ProbeResult(address=HERE, vision=sees))
    found = [probes.load("custom", model, HERE) for model in ("a", "b", "c")]
    assert [result and result.vision for result in found] == [False, False, None]


def test_the_same_name_at_another_address_is_another_model(probes: ModelProbes) -> None:
    probes.save("custom", "a", ProbeResult(address=HERE, tools=True))
    assert probes.load("custom", "a", "https://b.example/v1") is None
    assert probes.load("openai", "a", HERE) is None


def test_a_broken_file_is_set_aside_and_the_next_result_kept(probes: ModelProbes, home: DataDirectory) -> None:
    home.model_probes.write_text("{", encoding="utf-8")
    assert probes.load("custom", "a", HERE) is None
    probes.save("custom", "a", ProbeResult(address=HERE, json=True))
    found = probes.load("custom", "a", HERE)
    assert found is not None
    assert found.json is True


def test_odd_values_count_as_not_known(probes: ModelProbes, home: DataDirectory) -> None:
    write_object(home.model_probes, {"custom": {"a": {"address": HERE, "tools": "yes", "contextTokens": -1}}})
    assert probes.load("custom", "a", HERE) == ProbeResult(address=HERE)
