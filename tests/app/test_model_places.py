import pytest

from skales.app.model_places import search_places
from skales.data.setting_faults import parse_settings


def places(providers: dict[str, object]) -> dict[tuple[str, str], str]:
    """Where is looked, with the key shown there."""
    settings, faults = parse_settings({"providers": providers})  # type: ignore[dict-item]
    assert not faults
    return {
        (place.provider_id, place.address.shown): place.key for place in search_places(settings, but="skales_local")
    }


USUAL = {
    ("ollama", "http://127.0.0.1:11434/v1"): "",
    ("lmstudio", "http://127.0.0.1:1234/v1"): "",
    ("unsloth", "http://127.0.0.1:8888/v1"): "",
    ("custom", "http://127.0.0.1:8080/v1"): "",
    ("unsloth", "http://127.0.0.1:8000/v1"): "",
}


def test_without_settings_the_usual_places_are_looked_at() -> None:
    assert places({}) == USUAL


def test_a_server_that_was_moved_is_looked_for_where_it_is() -> None:
    found = places({"ollama": {"baseUrl": "http://192.168.1.5:11434/v1", "apiKey": "k"}})
    assert found[("ollama", "http://192.168.1.5:11434/v1")] == "k"
    assert ("ollama", "http://127.0.0.1:11434/v1") not in found


def test_slots_of_ones_own_are_looked_at_and_remote_ones_are_not() -> None:
    found = places(
        {
            "custom_lab": {"baseUrl": "http://10.0.0.3:8000/v1"},
            "custom_far": {"baseUrl": "https://models.example/v1"},
            "openai": {"apiKey": "k"},
            "unknown": {"baseUrl": "http://127.0.0.1:9/v1"},
        }
    )
    assert set(found) == {*USUAL, ("custom_lab", "http://10.0.0.3:8000/v1")}


@pytest.mark.parametrize("provider_id", ["ollama", "unsloth"])
def test_what_is_switched_off_is_left_alone(provider_id: str) -> None:
    assert provider_id not in {name for name, _ in places({provider_id: {"enabled": False}})}


def test_keys_are_shown_only_where_the_person_meant_them() -> None:
    found = places({"unsloth": {"apiKey": "sk-unsloth-1"}, "custom": {"apiKey": "sk-own"}})
    assert found[("unsloth", "http://127.0.0.1:8888/v1")] == "sk-unsloth-1"
    assert found[("unsloth", "http://127.0.0.1:8000/v1")] == ""
    assert found[("custom", "http://127.0.0.1:8080/v1")] == ""
