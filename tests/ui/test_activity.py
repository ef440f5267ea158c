"""The activity page and the kill switch in a real browser: what happened, filters, two clicks to stop; on a phone."""

from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from skales.data.audit import AuditDecision, AuditLog, AuditRun
from skales.security.redact import redact_value
from tests.scripted import Hang
from tests.ui.conftest import Serve, Witness, find_faults

pytestmark = pytest.mark.ui


def test_a_use_is_on_the_tools_page_and_in_the_activity(serve: Serve, page: Page, witness: Witness) -> None:
    with serve([Hang()]) as site:
        page.goto(f"{site.address}/tools/list_tasks")
        expect(page.get_by_text("It was not used yet")).to_be_visible()
        page.get_by_role("button", name="Run", exact=True).click()
        expect(page.locator("#tool-result")).not_to_be_empty()
        page.reload()
        expect(page.locator(".tool-card .activity-row")).to_have_count(1)
        assert find_faults(page) == []
        page.get_by_role("link", name="All uses").click()
        row = page.locator("ol .activity-row")
        expect(row).to_have_count(1)
        expect(row).to_contain_text("Started by you")
        page.locator("#activity-outcome").select_option("failed")
        page.get_by_role("button", name="Show", exact=True).click()
        expect(page.locator(".empty-state")).to_contain_text("Nothing fits")
        page.get_by_role("link", name="Show everything").click()
        expect(row).to_have_count(1)
        assert find_faults(page) == []
    assert witness.complaints == []


def test_two_clicks_stop_everything_and_a_third_lets_it_go_on(serve: Serve, page: Page, witness: Witness) -> None:
    with serve([Hang()]) as site:
        page.goto(f"{site.address}/chat")
        page.get_by_role("textbox").last.fill("Think for ever")
        page.keyboard.press("Enter")
        page.wait_for_url("**/chat/*")
        page.locator("#tray-button").click()
        page.locator("#tray .kill > summary").click()
        assert find_faults(page) == []
        page.locator("#tray").get_by_role("button", name="Stop everything now").click()
        page.wait_for_url("**/activity#incident-*")
        expect(page.locator(".incident pre")).to_contain_text("Conversations: was stopped")
        expect(page.locator(".callout")).to_contain_text("are paused")
        assert site.app.turns.running_sessions() == []
        assert find_faults(page) == []
        page.get_by_role("button", name="Let them go on").click()
        expect(page.get_by_text("are paused since")).to_have_count(0)
    assert witness.complaints == []


def test_what_a_tool_asks_is_answered_on_its_page_and_on_the_activity_page(
    serve: Serve, page: Page, witness: Witness
) -> None:
    with serve([Hang()]) as site:
        page.goto(f"{site.address}/tools/ask_user")
        page.locator("#field-question").fill("Tea or coffee?")
        page.locator("#field-options").fill("Tea\nCoffee")
        page.get_by_role("button", name="Run", exact=True).press("Enter")
        card = page.get_by_role("region", name="Tea or coffee?")
        expect(card).to_be_focused()
        assert find_faults(page) == []
        page.keyboard.press("Tab")
        expect(card.get_by_role("button", name="Tea")).to_be_focused()
        page.keyboard.press("Enter")
        expect(card).to_have_count(0)
        expect(page.locator("#tool-result")).to_contain_text("The person answered: Tea")
        expect(page.get_by_role("button", name="Run", exact=True)).to_be_focused()

        page.get_by_role("button", name="Run", exact=True).click()
        expect(card).to_be_visible()
        other = page.context.new_page()
        other.goto(f"{site.address}/activity")
        asked = other.get_by_role("region", name="Tea or coffee?")
        assert find_faults(other) == []
        asked.get_by_role("textbox", name="Your answer").fill("Water")
        other.keyboard.press("Enter")
        expect(asked).to_have_count(0)
        expect(card).to_have_count(0)
        expect(page.locator("#tool-result")).to_contain_text("The person answered: Water")
    assert witness.complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_a_phone(serve: Serve, browser: Browser, scheme: Literal["light", "dark"]) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    with serve([Hang()]) as site:
        log = AuditLog(site.app.directory, site.app.clock, redact_value)
        for decision in ("auto", "approved", "declined", "blocked"):
            number = log.decided(
                AuditDecision(
                    session_id="s",
                    call_id="c",
                    surface="page",
                    tool="averyveryverylongtool" * 4,
                    decision=decision,
                    arguments={"text": "x" * 600},
                    effects=("outbound", "spends"),
                    reason="y" * 300,
                )
            )
            if decision in ("auto", "approved"):
                log.ran(
                    AuditRun(
                        session_id="s",
                        call_id="c",
                        tool="t",
                        decision_number=number,
                        ok=decision == "auto",
                        error="" if decision == "auto" else "z" * 300,
                        duration_ms=1_400,
                    )
                )
        page.goto(f"{site.address}/activity")
        page.locator("ol .activity-row details").first.locator("summary").click()
        assert find_faults(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page.evaluate("document.querySelector('.activity').scrollWidth <= innerWidth")
    context.close()
