"""What the settings mean for web tools."""

import pytest

from skales.app.rules import build_network_policy
from skales.core.tool import Outcome
from skales.data.setting_faults import parse_settings
from skales.data.setting_shapes import BLOCKED_DOMAINS, Settings
from skales.security.network import decide_url, parse_domain


def test_fresh_settings_open_internet_and_network_but_not_this_computer() -> None:
    policy = build_network_policy(Settings())
    outcomes = [decide_url(url, policy).outcome for url in ("http://example.org/", "http://10.0.0.1/", "http://[::1]/")]
    assert outcomes == [Outcome.ALLOW, Outcome.ALLOW, Outcome.DENY]
    assert decide_url("https://abc.webhook.site/", policy).rule == "network.blocked"


@pytest.mark.parametrize("text", BLOCKED_DOMAINS)
def test_every_entry_of_the_usual_list_is_in_its_one_spelling(text: str) -> None:
    assert parse_domain(text) == text


def test_list_is_the_persons_and_an_entry_that_is_none_costs_itself_alone() -> None:
    settings, faults = parse_settings({"blockedDomains": ["*.Bad.example", "a b", ""], "allowLan": False})
    policy = build_network_policy(settings)
    assert not faults
    assert policy.blocked_domains == ("bad.example",)
    assert not policy.allow_lan
    assert decide_url("https://webhook.site/", policy).outcome is Outcome.ALLOW
