import pytest

from skales.tools.addons import AddonState, is_addon_on, load_addons


@pytest.mark.parametrize(
    ("addon", "untouched", "switched_on", "switched_off"),
    [
        ("weather", True, True, True),
        ("studio", True, True, False),
        ("email", False, True, False),
        ("workflow", False, True, False),
        ("github", False, False, False),
        ("no-such", False, False, False),
    ],
)
def test_a_switch_counts_as_far_as_its_addon_has_one(
    addon: str, untouched: bool, switched_on: bool, switched_off: bool
) -> None:
    assert is_addon_on(addon, {}) is untouched
    assert is_addon_on(addon, {addon: True}) is switched_on
    assert is_addon_on(addon, {addon: False}) is switched_off


def test_what_stays_closed_to_new_users_is_off() -> None:
    known = load_addons()
    risky = ("computer_use", "network_scanner", "swarm", "teams", "devkit", "webhooks")
    assert {known[name].state for name in risky} == {AddonState.OFF}
