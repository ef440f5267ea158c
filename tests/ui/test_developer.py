"""The playground calls the real routes, in a browser, while the token stays on the server."""

import json

import pytest
from playwright.sync_api import Page, expect

from skales.data.paths import DataDirectory
from tests.scripted import says
from tests.ui.conftest import Serve, find_faults

pytestmark = pytest.mark.ui

TOKEN = "the-token-of-this-machine"


@pytest.fixture(autouse=True)
def devkit(home: DataDirectory) -> None:
    home.devkit.parent.mkdir(parents=True, exist_ok=True)
    home.devkit.write_text(json.dumps({"enabled": True, "api": {"token": TOKEN}}), encoding="utf-8")


def test_a_call_shows_the_real_answer_and_its_status(serve: Serve, page: Page) -> None:
    with serve() as site:
        page.goto(f"{site.address}/developer?call=status")
        page.get_by_role("button", name="Send").click()
        expect(page.locator("#call-status")).to_contain_text("200 OK")
        told = json.loads(page.locator("#call-output").inner_text())
        assert told["app"] == "Skales"
        assert TOKEN not in page.content()


def test_a_turn_streams_its_frames(serve: Serve, page: Page) -> None:
    with serve(says("Nothing yet.")) as site:
        page.goto(f"{site.address}/developer?call=chat")
        page.get_by_role("button", name="Send").focus()
        page.keyboard.press("Enter")
        expect(page.locator("#call-output")).to_contain_text('"content":"Nothing yet."')
        expect(page.locator("#call-output")).to_contain_text('"type":"done"')
        expect(page.get_by_role("button", name="Send")).to_be_enabled()


def test_a_refusal_is_an_answer_and_a_slip_is_said(serve: Serve, page: Page) -> None:
    with serve() as site:
        page.goto(f"{site.address}/developer?call=delete-memory")
        page.get_by_role("button", name="Send").click()
        expect(page.locator("#call-status")).to_contain_text("400")
        expect(page.locator("#call-output")).to_contain_text("id parameter is required")
        page.goto(f"{site.address}/developer?call=add-memory")
        page.get_by_label("Body (JSON)").fill("{")
        page.get_by_role("button", name="Send").click()
        expect(page.locator(".toast")).to_contain_text("not valid JSON")


@pytest.mark.parametrize("path", ["/developer", "/developer/debug", "/developer/docs"])
def test_axe_finds_nothing(serve: Serve, page: Page, path: str) -> None:
    with serve() as site:
        page.goto(f"{site.address}{path}")
        assert find_faults(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
