"""Tasks and the schedule in a real browser: filed, watched and changed without reloading, on a phone too."""

from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from skales.core.ids import SessionId
from tests.scripted import Hang, says
from tests.ui.conftest import Serve, Witness, find_faults

pytestmark = pytest.mark.ui


def test_a_task_is_filed_and_its_end_is_seen_without_a_reload(serve: Serve, page: Page, witness: Witness) -> None:
    with serve([Hang()], says("Offer B.")) as site:
        page.goto(f"{site.address}/chat")
        page.get_by_role("link", name="Tasks", exact=True).click()
        page.get_by_label("What is to be done").fill("Compare the offers")
        page.get_by_role("button", name="File the task").click()
        row = page.locator(".work-row")
        expect(row.locator(".badge").first).to_have_text("Running")
        (task,) = site.app.tasks.list()
        row.get_by_role("button", name="Cancel").click()
        expect(row.locator(".badge").first).to_have_text("Cancelled")
        row.get_by_role("button", name="Try again").click()
        expect(row).to_contain_text("Offer B.")
        expect(row.locator(".badge").first).to_have_text("Done")
        assert find_faults(page) == []
        row.get_by_role("link", name="Open the conversation").click()
        expect(page.locator(".prose").last).to_contain_text("Offer B.")
        assert SessionId(site.app.tasks.get(task.id).session_id) in page.url
        page.goto(f"{site.address}/tasks")
        page.locator(".work-row").get_by_role("button", name="Delete").click()
        expect(page.locator(".empty-state")).to_contain_text("No tasks")
    assert witness.complaints == []


def test_a_job_is_previewed_made_run_and_switched_off(serve: Serve, page: Page, witness: Witness) -> None:
    with serve(says("Three mails.")) as site:
        page.goto(f"{site.address}/schedule")
        page.locator("#job-name").fill("Mail")
        when = page.get_by_label("When", exact=True)
        when.press_sequentially("0 9 * *")
        expect(page.locator("#job-preview")).to_contain_text("4 fields")
        when.press_sequentially(" 1-5")
        expect(page.locator("#job-preview")).to_contain_text("Weekdays at 9:00")
        page.get_by_label("What to do each time").fill("Count my mail")
        page.get_by_role("button", name="Schedule it").click()
        row = page.locator(".work-row")
        expect(row).to_contain_text("Next run:")
        row.get_by_role("button", name="Run now").click()
        expect(row.locator("summary .badge")).to_have_text("Done")
        row.locator("summary").click()
        expect(row).to_contain_text("by hand")
        assert find_faults(page) == []
        switch = row.get_by_role("switch")
        switch.focus()
        page.keyboard.press("Space")
        expect(row.locator("p").filter(has_text="Off").last).to_be_visible()
        expect(switch).not_to_be_checked()
        # What was unfolded stays so while the list is taken anew.
        expect(row.locator(".work-runs")).to_be_visible()
        assert not site.app.cron.list()[0].enabled
    assert witness.complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_pages_fit_a_phone(serve: Serve, browser: Browser, scheme: Literal["light", "dark"]) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    with serve([Hang()]) as site:
        site.app.tasks.add("Compare " + "averyveryverylongword" * 6, "x" * 300, "high")
        site.app.cron.add("Mail " + "averyveryverylongword" * 6, "0 9 13 * 5", "x" * 300)
        for path in ("/tasks", "/schedule"):
            page.goto(f"{site.address}{path}")
            page.locator(".work-new > summary").click()
            assert find_faults(page) == [], path
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
            assert page.evaluate("document.querySelector('.work').scrollWidth <= innerWidth"), path
    context.close()
