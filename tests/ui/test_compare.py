"""Comparing models in a real browser: side by side on a desk, one at a time on a phone, and going on with one."""

import re
from collections.abc import Iterator
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from skales.app.app import App
from skales.core.errors import ProviderError, ProviderFault
from skales.core.message import Role, text_message
from skales.core.ports import TextPiece
from tests.scripted import Hang, says
from tests.ui.conftest import Serve, Witness, find_faults

pytestmark = pytest.mark.ui

DOWN = ProviderError("Two cannot be reached", fault=ProviderFault.UNREACHABLE, hint="Start it")


@pytest.fixture(autouse=True)
def _patience(page: Page) -> Iterator[None]:
    """A busy machine is no fault of the page."""
    page.set_default_timeout(30_000)
    expect.set_options(timeout=20_000)
    yield
    expect.set_options(timeout=5_000)


def set_up(app: App) -> None:
    for name, model in (("custom_lab", "one"), ("custom_two", "two")):
        app.settings.set_provider(name, base_url="http://127.0.0.1:9/v1", model=model)


def pick(page: Page) -> None:
    page.locator("#compare-model-0").select_option("custom_lab/one")
    page.locator("#compare-model-1").select_option("custom_two/two")


def test_answers_come_side_by_side_and_one_is_gone_on_with(serve: Serve, page: Page, witness: Witness) -> None:
    with serve(says("**Paris** it is.")) as site:
        set_up(site.app)
        page.goto(f"{site.address}/chat")
        page.locator(".bar").get_by_role("link", name="Compare models").click()
        pick(page)
        page.locator("#compare-text").fill("Capital of France?")
        page.locator("#compare-text").press("Control+Enter")
        columns = page.locator(".compare-column")
        expect(columns).to_have_count(2)
        for column in columns.all():
            expect(column.locator(".prose strong")).to_have_text("Paris")
            expect(column.locator(".compare-foot .help")).to_contain_text("tokens")
        left, right = (column.bounding_box() for column in columns.all())
        assert left is not None
        assert right is not None
        assert left["x"] + left["width"] <= right["x"]
        columns.nth(1).get_by_role("button", name="Go on with the answer of two").click()
        page.wait_for_url(re.compile(r"/chat/session_"))
        expect(page.locator(".message-user .said")).to_have_text("Capital of France?")
        expect(page.locator("#chooser")).to_contain_text("two")
    assert witness.complaints == []
    assert witness.foreign_requests == []


def test_the_command_brings_the_message_and_the_conversation_along(serve: Serve, page: Page) -> None:
    with serve(says("Paris.")) as site:
        set_up(site.app)
        session_id = site.app.sessions.create().id
        site.app.sessions.append(session_id, text_message(Role.USER, "Hello"), text_message(Role.ASSISTANT, "Hi"))
        page.goto(f"{site.address}/chat/{session_id}")
        page.locator("#message").fill("/compare which is it?")
        page.locator("#message").press("Enter")
        page.wait_for_url(re.compile(r"/compare\?"))
        expect(page.locator("#compare-text")).to_have_value("which is it?")
        pick(page)
        page.get_by_role("button", name="Ask them all").click()
        page.locator('[data-column="0"] [data-keep]').click()
        page.wait_for_url(f"{site.address}/chat/{session_id}")
        expect(page.locator(".message-user")).to_have_count(2)


def test_stopping_stops_all_and_what_was_said_stays(serve: Serve, page: Page) -> None:
    with serve([TextPiece("Half of it"), Hang()]) as site:
        set_up(site.app)
        page.goto(f"{site.address}/compare?q=Why")
        pick(page)
        page.get_by_role("button", name="Ask them all").click()
        for number in (0, 1):
            expect(page.locator(f'[data-column="{number}"] .stream')).to_have_text("Half of it")
        page.get_by_role("button", name="Stop all").click()
        for number in (0, 1):
            column = page.locator(f'[data-column="{number}"]')
            expect(column.locator(".incomplete")).to_contain_text("Stopped before the end")
            expect(column.locator("[data-keep]")).to_be_visible()
        expect(page.get_by_role("button", name="Ask them all")).to_be_enabled()
        expect(page.locator("#compare-stop")).to_be_hidden()


def test_too_few_models_are_refused_in_words(serve: Serve, page: Page) -> None:
    with serve(says("unused")) as site:
        set_up(site.app)
        page.goto(f"{site.address}/compare?q=Why")
        page.locator("#compare-model-0").select_option("")
        page.get_by_role("button", name="Ask them all").click()
        expect(page.locator("#compare-error")).to_have_text("Choose two to four models.")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1600, 390])
def test_the_page_has_no_fault_that_axe_can_find(
    serve: Serve, browser: Browser, scheme: Literal["light", "dark"], width: int
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)
    page = context.new_page()
    page.set_default_timeout(30_000)
    with serve(says("**Paris**\n\n```py\nprint(1)\n```"), [DOWN]) as site:
        set_up(site.app)
        page.goto(f"{site.address}/compare?q=Why")
        pick(page)
        assert find_faults(page) == []
        page.get_by_role("button", name="Ask them all").click()
        expect(page.locator(".compare-column[aria-busy=false]")).to_have_count(2)
        assert find_faults(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.screenshot(path=f"/tmp/compare-{width}-{scheme}.png")
        context.close()


def test_on_a_phone_one_answer_is_shown_at_a_time(serve: Serve, browser: Browser) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    page = context.new_page()
    page.set_default_timeout(30_000)
    with serve(says("Paris.")) as site:
        set_up(site.app)
        page.goto(f"{site.address}/compare?q=Why")
        pick(page)
        page.get_by_role("button", name="Ask them all").click()
        first, second = page.locator('[data-column="0"]'), page.locator('[data-column="1"]')
        expect(first).to_be_visible()
        expect(second).to_be_hidden()
        page.locator(".compare-tabs").get_by_text("two").click()
        expect(second).to_be_visible()
        expect(first).to_be_hidden()
        context.close()
