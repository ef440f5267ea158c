"""Add-ons as the app lists and switches them."""

import pytest

from skales.app.addons import list_addons, report_addons, switch_addon
from skales.app.app import App
from skales.core.errors import ConflictError, NotFoundError
from skales.tools.addons import load_addons
from tests.journeys.conftest import OpenApp

pytestmark = pytest.mark.anyio


def ids(app: App) -> list[str]:
    return [status.addon.id for status in list_addons(app)]


async def test_only_add_ons_with_tools_are_listed(open_scripted: OpenApp) -> None:
    async with open_scripted([]) as app:
        behind = {spec.addon for spec in app.toolbox.specs()}
        assert set(ids(app)) <= behind
        assert all(status.tools for status in list_addons(app))


async def test_a_switch_counts_at_once_and_keeps_the_others(open_scripted: OpenApp) -> None:
    async with open_scripted([]) as app:
        app.settings.update(lambda raw: raw.update({"addons": {"of_another_program": True}}))
        assert switch_addon(app, "network_scanner", is_on=True)["enabled"] is True
        assert app.settings.load().addons == {"of_another_program": True, "network_scanner": True}


@pytest.mark.parametrize("addon", ["weather", "github"])
async def test_what_has_no_switch_cannot_be_switched(open_scripted: OpenApp, addon: str) -> None:
    async with open_scripted([]) as app:
        for is_on in (True, False):
            with pytest.raises(ConflictError):
                switch_addon(app, addon, is_on=is_on)
        assert app.settings.load().addons == {}


async def test_an_unknown_one_is_named_with_the_nearest(open_scripted: OpenApp) -> None:
    async with open_scripted([]) as app:
        with pytest.raises(NotFoundError) as caught:
            switch_addon(app, "emial", is_on=True)
        assert caught.value.hint == "Did you mean email?"


async def test_every_listed_one_says_what_it_brings(open_scripted: OpenApp) -> None:
    async with open_scripted([]) as app:
        report = report_addons(app)
        assert report["addons"]
    assert all(addon.about for addon in load_addons().values() if addon.state != "retired")
