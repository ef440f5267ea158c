"""Costs in a real browser: the page on a phone and with the keyboard, and the question at a ceiling."""

import csv
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from skales.core.ids import SessionId
from skales.data.ledger import LedgerEntry
from tests.scripted import says
from tests.ui.conftest import Serve, Site, Witness, find_faults, send, wait_until_quiet

pytestmark = pytest.mark.ui

DAY_MS = 86_400_000


def fill(site: Site) -> None:
    """Calls of three models on ten days, one without a price, some in a conversation with a long title."""
    session_id = site.app.sessions.create(title="Compare " + "averyveryverylongword" * 6).id
    for number in range(30):
        model, cost_usd = (("gpt-5.5", 0.4), ("claude-sonnet-5", 0.1), ("a-model-nobody-lists-" * 4, None))[number % 3]
        site.app.ledger.record(
            LedgerEntry(
                when_ms=site.app.clock.now_ms() - (number // 3) * DAY_MS,
                session_id=session_id if number % 2 else "",
                provider="openai",
                model=model,
                purpose="chat",
                input_tokens=123_456,
                cached_tokens=0,
                output_tokens=7_890,
                cost_usd=cost_usd,
                estimated_tokens=number == 0,
            )
        )
    site.app.settings.set_value("dailyBudgetUsd", "4")
    site.app.spending.add(SessionId(""), 1.5)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_has_no_fault_that_axe_can_find_and_fits(
    serve: Serve, browser: Browser, scheme: Literal["light", "dark"], width: int
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    with serve(says("unused")) as site:
        for full in (False, True):
            if full:
                fill(site)
            page.goto(f"{site.address}/costs")
            assert find_faults(page) == []
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            assert page.evaluate("document.querySelector('.costs').scrollWidth <= innerWidth")
    context.close()


def test_times_are_chosen_with_the_keyboard_and_the_calls_come_as_a_file(
    serve: Serve, page: Page, witness: Witness
) -> None:
    with serve(says("unused")) as site:
        fill(site)
        page.goto(f"{site.address}/chat")
        page.get_by_role("link", name="Costs").click()
        expect(page.get_by_role("heading", name="Costs", level=1)).to_be_visible()
        page.get_by_role("link", name="Last 7 days").focus()
        page.keyboard.press("Enter")
        expect(page.locator(".cost-period[aria-current]")).to_contain_text("Last 7 days")
        with page.expect_download() as started:
            page.get_by_role("link", name="Export").press("Enter")
        with started.value.path().open(encoding="utf-8", newline="") as file:
            assert len(list(csv.DictReader(file))) == 21
        page.get_by_role("link", name="Change the ceilings").click()
        expect(page.locator("#setting-sessionBudgetUsd-value")).to_have_value("5")
    assert witness.complaints == []


def test_a_ceiling_is_asked_for_in_the_chat_and_going_on_is_a_click(serve: Serve, page: Page) -> None:
    with serve(says("Here it is.")) as site:
        site.app.settings.set_value("dailyBudgetUsd", "4")
        site.app.spending.add(SessionId(""), 2)
        page.goto(f"{site.address}/chat")
        send(page, "hello")
        card = page.locator("[data-approval]")
        expect(card.get_by_role("heading")).to_contain_text("Half of today's 4 USD is spent")
        assert find_faults(page) == []
        card.get_by_role("button", name="Go on").click()
        expect(page.locator(".prose").last).to_contain_text("Here it is.")
        wait_until_quiet(page)


def test_stopping_at_a_ceiling_says_so_below_the_conversation(serve: Serve, page: Page) -> None:
    with serve(says("Never.")) as site:
        site.app.settings.set_value("dailyBudgetUsd", "4")
        site.app.spending.add(SessionId(""), 4)
        page.goto(f"{site.address}/chat")
        send(page, "hello")
        page.locator("[data-approval]").get_by_role("button", name="Stop").click()
        expect(page.locator("#transcript")).to_contain_text("all of today's 4 USD is spent")
        wait_until_quiet(page)
        expect(page.locator(".prose")).to_have_count(0)
