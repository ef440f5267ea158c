"""The first run in a browser: from start to a first answer, by keyboard, in both languages."""

from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from tests.scripted import says
from tests.ui.conftest import Serve, find_faults, wait_until_quiet

pytestmark = pytest.mark.ui


def test_from_the_start_to_a_first_answer_in_four_steps(serve: Serve, page: Page, tmp_path: Path) -> None:
    with serve(says("Three files, all notes.")) as site:
        page.goto(site.address)
        page.get_by_role("radio", name="English").check()
        page.get_by_role("button", name="Continue").click()
        page.get_by_role("button", name="Use the starter model").click()
        page.get_by_label("A folder of yours to work in").fill(str(tmp_path))
        page.get_by_role("button", name="Continue").click()
        page.get_by_role("button", name="Get an overview").click()
        wait_until_quiet(page)
        expect(page.get_by_text("Three files, all notes.")).to_be_visible()
        page.goto(site.address)
        expect(page).to_have_url(f"{site.address}/chat")


def test_german_from_the_first_click_on_and_by_keyboard_alone(serve: Serve, page: Page) -> None:
    with serve() as site:
        page.goto(site.address)
        page.get_by_role("radio", name="Deutsch").focus()
        page.keyboard.press("Space")
        page.keyboard.press("Enter")
        expect(page.locator("html")).to_have_attribute("lang", "de")
        expect(page).to_have_url(f"{site.address}/bootstrap?step=answerer")


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1280, "dark")])
@pytest.mark.parametrize("step", ["language", "answerer", "safety", "tasks"])
def test_axe_finds_nothing_and_nothing_leaves_the_computer(
    serve: Serve, page: Page, step: str, width: int, scheme: Literal["light", "dark"]
) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)
    with serve() as site:
        page.goto(f"{site.address}/bootstrap?step={step}")
        assert find_faults(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert all(address.startswith(site.address) for address in asked)
