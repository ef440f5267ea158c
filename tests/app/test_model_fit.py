"""How a measured model is asked: tools in text form where it calls none but writes JSON, else as it is."""

import pytest

from skales.app.model_fit import fit_to_measure
from skales.core.ports import ChosenModel, ModelTraits
from skales.data.model_probes import ProbeResult
from skales.providers.constrained import ConstrainedProvider
from tests.app.conftest import Setup
from tests.scripted import ScriptedProvider

PLAIN = ChosenModel("lab", "m", ScriptedProvider([]))


@pytest.mark.parametrize(
    ("traits", "is_fitted"),
    [
        (ModelTraits(is_measured=True, tools=False, json=True), True),
        (ModelTraits(is_measured=True, tools=True, json=True), False),
        (ModelTraits(is_measured=True, tools=False, json=False), False),
        (ModelTraits(is_measured=False, tools=False, json=True), False),
    ],
)
def test_only_what_was_measured_changes_how_a_model_is_asked(traits: ModelTraits, is_fitted: bool) -> None:
    chosen = fit_to_measure(PLAIN, traits)
    assert isinstance(chosen.provider, ConstrainedProvider) is is_fitted
    assert chosen.weak is is_fitted


def test_a_weak_model_stays_as_its_own_adapter_has_it() -> None:
    weak = ChosenModel("lab", "m", ScriptedProvider([]), weak=True)
    assert fit_to_measure(weak, ModelTraits(is_measured=True, tools=False, json=True)) is weak


@pytest.mark.anyio
async def test_choosing_follows_the_last_probe_and_the_persons_word_counts_more(setup: Setup) -> None:
    url = "http://127.0.0.1:9/v1"
    setup.provider("custom_lab", baseUrl=url, model="m")
    assert not setup.models.choose("custom_lab").weak
    found = ProbeResult(address=url, tools=False, json=True)
    setup.stores.probes.save("custom_lab", "m", found)
    assert setup.models.choose("custom_lab").weak
    assert setup.models.measured("custom_lab", "m") == setup.stores.probes.load("custom_lab", "m", url)
    setup.provider("custom_lab", baseUrl=url, model="m", models={"m": {"tools": True}})
    assert not setup.models.choose("custom_lab").weak


@pytest.mark.anyio
async def test_what_was_never_probed_or_does_not_exist_has_no_result(setup: Setup) -> None:
    setup.provider("custom_lab", baseUrl="http://127.0.0.1:9/v1", model="m")
    assert setup.models.measured("custom_lab", "m") is None
    assert setup.models.measured("nobody", "m") is None
