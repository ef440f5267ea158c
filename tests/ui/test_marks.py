"""The chip that says whose text was read: it comes while the turn runs, lists, and is lifted with two presses."""

import pytest
from playwright.sync_api import Page, expect

from skales.data.paths import DataDirectory
from tests.scripted import calls, says
from tests.ui.conftest import Serve, Witness, find_faults, send, wait_until_quiet

pytestmark = pytest.mark.ui


def test_the_chip_comes_with_the_text_and_goes_when_it_is_lifted(
    serve: Serve, page: Page, witness: Witness, home: DataDirectory
) -> None:
    (home.workspace / "bill.html").write_text("<p>Pay me</p>", encoding="utf-8")
    with serve(calls(("read_file", {"path": "bill.html"})), says("A bill.")) as site:
        page.goto(f"{site.address}/chat")
        send(page, "Read the bill")
        wait_until_quiet(page)
        chip = page.locator("#marks button.badge")
        expect(chip).to_be_visible()
        chip.click()
        expect(page.locator("#marks-list li")).to_have_text("file bill.html")
        assert find_faults(page) == []
        page.locator("#marks-list button").click()
        expect(chip).to_have_count(0)
        page.reload()
        expect(page.locator("#marks button.badge")).to_have_count(0)
    assert witness.complaints == []
