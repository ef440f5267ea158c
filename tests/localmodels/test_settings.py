import json
from pathlib import Path

import pytest

from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.localmodels.catalog import load_catalog
from skales.localmodels.settings import ModelSettings, load_settings
from tests.conftest import FixedClock


@pytest.fixture
def path(home: DataDirectory) -> Path:
    home.local_models.mkdir()
    return home.local_models / "model-settings.json"


@pytest.fixture
def quarantine(home: DataDirectory, clock: FixedClock) -> Quarantine:
    return Quarantine(home.quarantine, clock)


def load(path: Path, quarantine: Quarantine, model_id: str = "Mine") -> ModelSettings:
    return load_settings(path, quarantine, model_id, load_catalog().starter)


def test_without_a_file_defaults_hold(path: Path, quarantine: Quarantine) -> None:
    assert load(path, quarantine) == ModelSettings()


def test_the_starter_has_defaults_of_its_own(path: Path, quarantine: Quarantine) -> None:
    starter = load_catalog().starter
    own = load(path, quarantine, starter.id)
    assert (own.temperature, own.repeat_penalty) == (starter.temperature, starter.repeat_penalty)


def test_each_setting_is_read(path: Path, quarantine: Quarantine) -> None:
    own = {
        "ctx": 2048,
        "temperature": 0,
        "topP": 0.5,
        "repeatPenalty": 1.3,
        "threads": 3,
        "gpuLayers": 0,
        "chatTemplate": "x",
    }
    path.write_text(json.dumps({"Mine": own}), encoding="utf-8")
    assert load(path, quarantine) == ModelSettings(
        context_tokens=2048,
        temperature=0,
        top_p=0.5,
        repeat_penalty=1.3,
        threads=3,
        gpu_layers=0,
        chat_template="x",
    )


@pytest.mark.parametrize(
    "own", [{"ctx": -1, "temperature": "hot", "threads": True, "topP": 7, "chatTemplate": None}, [], "x", None]
)
def test_values_that_make_no_sense_count_as_not_set(path: Path, quarantine: Quarantine, own: object) -> None:
    path.write_text(json.dumps({"Mine": own}), encoding="utf-8")
    assert load(path, quarantine) == ModelSettings()


def test_a_broken_file_is_set_aside_and_defaults_hold(path: Path, quarantine: Quarantine) -> None:
    path.write_text("{", encoding="utf-8")
    assert load(path, quarantine) == ModelSettings()
    assert len(quarantine.notices()) == 1
