"""The settings in a real browser: search, save, undo, setting up a provider, all by keyboard where it matters."""

from collections.abc import Iterator
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from skales.data.paths import DataDirectory
from tests.scripted import says
from tests.servers.echo_model import EchoModel
from tests.ui.conftest import Serve, Witness, find_faults

pytestmark = pytest.mark.ui


@pytest.fixture(autouse=True)
def _patience(page: Page) -> Iterator[None]:
    """A busy machine is no fault of the page."""
    page.set_default_timeout(30_000)
    expect.set_options(timeout=20_000)
    yield
    expect.set_options(timeout=5_000)


@pytest.fixture
def model() -> Iterator[EchoModel]:
    with EchoModel() as running:
        yield running


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1600, 1024, 390])
def test_the_settings_have_no_fault_that_axe_can_find(
    serve: Serve, browser: Browser, scheme: Literal["light", "dark"], width: int
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    page.set_default_timeout(30_000)
    with serve(says("unused")) as site:
        site.app.settings.set_provider("custom_lab", base_url="http://127.0.0.1:9/v1", model="m", api_key="k-12345678")
        site.app.settings.set_value("fallbackProviders", '["custom_lab/m", "skales_local/n"]')
        for path in (
            "/settings?view=advanced",
            "/settings?q=folder",
            "/settings/providers?open=custom_lab",
            "/settings/providers?open=openai_oauth",
        ):
            page.goto(f"{site.address}{path}")
            for summary in page.locator(".more > summary, .licences > summary, .ask > summary").all():
                if summary.is_visible():
                    summary.click()
            assert find_faults(page) == [], path
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
        page.goto(f"{site.address}/settings")
        page.locator('[name="value"][value="unrestricted"]').first.check()
        page.locator(".callout.warn").wait_for()
        assert find_faults(page) == []
        context.close()


def test_german_fits_a_phone(serve: Serve, browser: Browser) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, locale="de-DE")
    page = context.new_page()
    page.set_default_timeout(30_000)
    with serve(says("unused")) as site:
        for path in ("/settings?view=advanced", "/settings/providers?open=openai"):
            page.goto(f"{site.address}{path}")
            assert page.locator("html").get_attribute("lang") == "de"
            assert page.evaluate("document.querySelector('.scroll').scrollWidth <= innerWidth"), path
        context.close()


def test_a_choice_by_keyboard_shows_at_once_keeps_the_focus_and_is_undone(
    serve: Serve, page: Page, witness: Witness
) -> None:
    with serve(says("unused")) as site:
        page.goto(f"{site.address}/settings")
        page.locator('#setting-theme [value="system"]').focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        expect(page.locator("html")).to_have_attribute("data-theme", "dark")
        expect(page.locator("#setting-theme .saved")).to_be_visible()
        expect(page.locator('#setting-theme [value="dark"]')).to_be_focused()
        expect(page.locator('#setting-theme [value="dark"]')).to_be_checked()
        assert site.app.settings.load().theme == "dark"
        page.locator("#setting-theme [data-put-back]").press("Enter")
        expect(page.locator("#setting-theme .saved")).to_contain_text("Put back")
        expect(page.locator("html")).to_have_attribute("data-theme", "light")
        assert page.evaluate("document.activeElement.closest('#setting-theme') !== null")
    assert witness.complaints == []
    assert witness.foreign_requests == []


def test_the_toast_undoes_too(serve: Serve, page: Page) -> None:
    with serve(says("unused")) as site:
        page.goto(f"{site.address}/settings?view=advanced")
        field = page.locator("#setting-approvalTimeoutSeconds-value")
        field.fill("120")
        field.press("Enter")
        page.locator(".toast button").first.click()
        expect(field).to_have_value("300")
        assert site.app.settings.load().approval_timeout_s == 300


def test_a_refused_value_says_why_beside_its_field_and_can_be_corrected(serve: Serve, page: Page) -> None:
    with serve(says("unused")) as site:
        page.goto(f"{site.address}/settings?view=advanced")
        field = page.locator("#setting-approvalTimeoutSeconds-value")
        field.fill("2")
        field.press("Enter")
        expect(page.locator("#setting-approvalTimeoutSeconds [role=alert]")).to_contain_text("from 5 to 86400")
        expect(field).to_have_value("2")
        expect(field).to_be_focused()
        field.fill("20")
        field.press("Enter")
        expect(page.locator("#setting-approvalTimeoutSeconds .saved")).to_be_visible()
        assert site.app.settings.load().approval_timeout_s == 20


def test_a_looser_mode_is_confirmed_on_the_page(serve: Serve, page: Page) -> None:
    with serve(says("unused")) as site:
        page.goto(f"{site.address}/settings")
        row = page.locator("#setting-safetyMode")
        row.locator('[value="advanced"]').check()
        expect(row.locator("[role=alert]")).to_contain_text("without asking you")
        assert site.app.settings.load().safety_mode == "safe"
        row.get_by_role("button", name="Leave it as it is").click()
        expect(row.locator('[value="safe"]')).to_be_checked()
        row.locator('[value="advanced"]').check()
        row.get_by_role("button", name="Switch", exact=True).click()
        expect(row.locator('[value="advanced"]')).to_be_checked()
        assert site.app.settings.load().safety_mode == "advanced"


def test_an_edit_by_hand_while_the_page_is_open_is_shown_and_not_overwritten(
    serve: Serve, page: Page, home: DataDirectory
) -> None:
    with serve(says("unused")) as site:
        page.goto(f"{site.address}/settings")
        home.settings.write_text('{"systemPrompt": "by hand"}', encoding="utf-8")
        field = page.locator("#setting-systemPrompt-value")
        field.fill("from the page")
        field.blur()
        expect(field).to_have_value("by hand")
        assert site.app.settings.load().system_prompt == "by hand"
        page.get_by_role("button", name="Save mine instead").click()
        expect(field).to_have_value("from the page")
        assert site.app.settings.load().system_prompt == "from the page"


def test_search_finds_walks_and_jumps_by_keyboard(serve: Serve, page: Page) -> None:
    with serve(says("unused")) as site:
        page.goto(f"{site.address}/settings")
        expect(page.locator("#setting-allowLoopback")).to_be_hidden()
        page.locator("#setting-query").fill("localhost")
        page.locator("a.hit").first.wait_for()
        page.keyboard.press("ArrowDown")
        expect(page.locator("a.hit").first).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator("#setting-allowLoopback")).to_be_visible()
        expect(page.locator("#setting-allowLoopback-value")).to_be_focused()


def test_the_way_of_looking_is_remembered(serve: Serve, page: Page) -> None:
    with serve(says("unused")) as site:
        page.goto(f"{site.address}/settings")
        expect(page.locator("#setting-blockedFolders")).to_be_hidden()
        page.locator(".modes").get_by_role("link", name="Advanced").click()
        expect(page.locator("#setting-blockedFolders")).to_be_visible()
        page.goto(f"{site.address}/settings")
        expect(page.locator("#setting-blockedFolders")).to_be_visible()


def test_folders_are_added_and_removed(serve: Serve, page: Page) -> None:
    with serve(says("unused")) as site:
        page.goto(f"{site.address}/settings")
        row = page.locator("#setting-allowedFolders")
        for folder in ("/srv/a", "/srv/b"):
            row.locator("input.input").fill(folder)
            row.locator("input.input").press("Enter")
            expect(row.locator("li code", has_text=folder)).to_be_visible()
            expect(row.locator("input.input")).to_have_value("")
        row.get_by_role("button", name="Remove /srv/a").click()
        expect(row.locator("li")).to_have_count(1)
        assert site.app.settings.load().allowed_folders == ["/srv/b"]


def test_a_provider_is_set_up_against_a_real_endpoint(
    serve: Serve, page: Page, model: EchoModel, witness: Witness
) -> None:
    with serve(says("unused")) as site:
        page.goto(f"{site.address}/settings/providers")
        page.locator("#new-endpoint summary").click()
        page.locator("#slot-name").fill("Workshop")
        page.locator("#slot-address").fill(model.url)
        page.locator("#new-endpoint").get_by_role("button", name="Add").click()
        card = page.locator("#provider-custom_workshop")
        card.get_by_role("button", name="Test the connection").click()
        expect(card.locator(".callout.good")).to_contain_text("It answers.")
        card.get_by_role("button", name="Use echo").click()
        expect(card.locator("#setting-providers-custom_workshop-model-value")).to_have_value("echo")
        card.get_by_role("button", name="Let this one answer").click()
        expect(page.locator("#setting-activeProvider .saved")).to_be_visible()
        expect(card.locator("summary .badge").first).to_have_text("Answers")
        settings = site.app.settings.load()
        assert (settings.active_provider, settings.provider("custom_workshop").model) == ("custom_workshop", "echo")
    assert witness.complaints == []


def test_a_key_leaves_the_page_and_only_its_mask_comes_back(serve: Serve, page: Page) -> None:
    key = "sk-live-0123456789abcdefghijklmnop"
    with serve(says("unused")) as site:
        page.goto(f"{site.address}/settings/providers")
        page.locator("#provider-openai > summary").click()
        field = page.locator("#provider-openai-key-value")
        field.fill(key)
        field.press("Enter")
        mask = page.locator("#provider-openai-key-help code")
        expect(mask).to_be_visible()
        expect(field).to_have_value("")
        assert key not in page.content()
        field.fill(mask.inner_text())
        field.press("Enter")
        expect(page.locator("#provider-openai-key-error")).to_be_visible()
        assert site.app.settings.load().provider("openai").api_key == key


def test_the_order_is_changed_by_keyboard_and_the_focus_follows(serve: Serve, page: Page) -> None:
    with serve(says("unused")) as site:
        site.app.settings.set_value("fallbackProviders", '["skales_local/a", "skales_local/b", "skales_local/c"]')
        page.goto(f"{site.address}/settings/providers")
        up = page.get_by_role("button", name="Move Skales Local c up")
        up.focus()
        page.keyboard.press("Enter")
        expect(page.locator(".order-list li .quiet").nth(1)).to_have_text("c")
        expect(up).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator(".order-list li .quiet").nth(0)).to_have_text("c")
        expect(page.get_by_role("button", name="Move Skales Local c down")).to_be_focused()
        assert [item.model for item in site.app.settings.load().fallback_providers] == ["c", "a", "b"]
