"""Grants in a browser: given on a card as its words say, explained, used, taken back, and given again."""

import pytest
from playwright.sync_api import Page, expect

from skales.data.paths import DataDirectory
from tests.scripted import calls, says
from tests.ui.conftest import Serve, find_faults, send

pytestmark = pytest.mark.ui


def test_a_wider_yes_is_given_listed_used_revoked_and_undone(serve: Serve, page: Page, home: DataDirectory) -> None:
    (home.workspace / "notes").mkdir()
    steps = (
        calls(("write_file", {"path": "notes/a.txt", "content": "a"})),
        says("one"),
        calls(("write_file", {"path": "notes/b.txt", "content": "b"})),
        says("two"),
        calls(("write_file", {"path": "c.txt", "content": "c"})),
        says("three"),
    )
    with serve(*steps) as site:
        page.goto(f"{site.address}/chat")
        send(page, "write a")
        card = page.locator(".approval")
        expect(card).to_be_visible()
        words = f"write_file in the folder {home.workspace}/notes and below"
        expect(card.locator(".scopes")).to_contain_text(f"More than this time covers: {words}.")
        card.locator(".why > summary").click()
        expect(card.locator(".why .decides")).to_contain_text("This decides.")
        assert find_faults(page) == []
        card.get_by_label("for 7 days").check()
        card.get_by_role("button", name="Allow", exact=True).click()
        expect(page.locator(".approval")).to_have_count(0)
        expect(page.get_by_text("one", exact=True)).to_be_visible()
        send(page, "write b")
        expect(page.get_by_text("two", exact=True)).to_be_visible()
        assert (home.workspace / "notes/b.txt").read_text(encoding="utf-8") == "b"
        send(page, "write c")
        expect(page.locator(".approval")).to_be_visible()
        page.locator(".approval [data-answer=reject]").click()
        expect(page.get_by_text("three", exact=True)).to_be_visible()

        page.goto(f"{site.address}/grants")
        row = page.locator(".work-row")
        expect(row.locator("h2")).to_have_text(words)
        expect(row).to_contain_text("Used 1 time")
        expect(row).to_contain_text("until")
        page.locator("#grants-call").fill("write_file path=notes/d.txt content=d")
        expect(page.locator("#grants-answer")).to_contain_text("It would run without asking.")
        assert find_faults(page) == []
        row.get_by_role("button", name="Revoke").click()
        expect(page.locator(".callout")).to_contain_text("Revoked")
        assert site.app.grants.list() == []
        page.get_by_role("button", name="Undo").click()
        expect(page.locator(".work-row h2")).to_have_text(words)
        page.set_viewport_size({"width": 390, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert find_faults(page) == []
