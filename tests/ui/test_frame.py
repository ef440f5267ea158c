"""The frame as a person uses it: palette, sidebar, notices, connection, and every component without a fault."""

from typing import Literal

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from skales.data.paths import DataDirectory
from tests.scripted import Hang, calls, says
from tests.ui.conftest import Serve, Witness, find_faults, send, wait_until, wait_until_quiet

pytestmark = pytest.mark.ui

ACCENTS = ("viridian", "indigo", "amber")
WRITE = calls(("write_file", {"path": "plan.txt", "content": "first"}))


@pytest.fixture
def development(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKALES_DEV", "1")


def options(page: Page) -> Locator:
    return page.locator("#finder [role=option]")


def open_finder(page: Page) -> None:
    page.keyboard.press("Control+k")
    expect(page.locator("#finder-query")).to_be_focused()
    expect(options(page).first).to_be_visible()


# --- command palette ---


def test_the_palette_goes_to_a_screen_with_the_keyboard_alone(serve: Serve, page: Page, witness: Witness) -> None:
    with serve(says("unused")) as site:
        page.goto(f"{site.address}/chat")
        expect(page.locator("#message")).to_be_focused()
        open_finder(page)
        assert find_faults(page) == []
        page.keyboard.type("too")
        expect(options(page).first).to_contain_text("Tools")
        expect(options(page).first).to_have_attribute("aria-selected", "true")
        page.keyboard.press("Enter")
        page.wait_for_url("**/tools")
    assert witness.complaints == []


def test_escape_closes_the_palette_and_gives_the_focus_back(serve: Serve, page: Page) -> None:
    with serve(says("unused")) as site:
        page.goto(f"{site.address}/chat")
        page.locator("#message").fill("half a sentence")
        open_finder(page)
        page.keyboard.press("Escape")
        expect(page.locator("#finder")).to_be_hidden()
        expect(page.locator("#message")).to_be_focused()
        expect(page.locator("#message")).to_have_value("half a sentence")


def test_the_arrows_walk_round_and_the_combobox_says_where_one_is(serve: Serve, page: Page) -> None:
    with serve(says("unused")) as site:
        page.goto(f"{site.address}/settings")
        open_finder(page)
        page.keyboard.type("theme")
        expect(options(page).first).to_have_text("ThemeAppearance")
        expect(page.locator("#finder-list")).to_have_attribute("aria-busy", "false")
        field = page.locator("#finder-query")
        page.keyboard.press("ArrowUp")
        last = options(page).last.get_attribute("id")
        assert last
        expect(field).to_have_attribute("aria-activedescendant", last)
        page.keyboard.press("ArrowDown")
        expect(field).to_have_attribute("aria-activedescendant", "finder-option-0")
        expect(page.locator("#finder [aria-selected=true]")).to_have_count(1)


@pytest.mark.parametrize(
    ("typed", "found"),
    [("packing", "Packing list"), ("grosse", "Größe der Schrift"), ("shco", "Show keys and commands")],
)
def test_conversations_and_commands_are_found_by_few_letters(serve: Serve, page: Page, typed: str, found: str) -> None:
    with serve(says("unused")) as site:
        for title in ("Packing list", "Größe der Schrift", "Reports"):
            site.app.sessions.create(title=title)
        page.goto(f"{site.address}/chat")
        open_finder(page)
        page.keyboard.type(typed)
        expect(options(page).filter(has_text=found)).to_have_count(1)
        expect(options(page).filter(has_text="Reports")).to_have_count(0)


def test_a_late_answer_does_not_replace_a_newer_one(serve: Serve, page: Page) -> None:
    with serve(says("unused")) as site:
        for title in ("Alpha", "Beta"):
            site.app.sessions.create(title=title)
        page.goto(f"{site.address}/chat")
        open_finder(page)
        held = []
        page.route("**/ui/commands/conversations?q=alpha", lambda route: held.append(route))
        with page.expect_request("**/ui/commands/conversations?q=alpha"):
            page.locator("#finder-query").fill("alpha")
        page.locator("#finder-query").fill("beta")
        expect(options(page).filter(has_text="Beta")).to_have_count(1)
        for route in held:
            route.continue_()
        expect(options(page).filter(has_text="Alpha")).to_have_count(0)


def test_a_search_without_an_answer_is_asked_again(serve: Serve, page: Page) -> None:
    with serve(says("unused")) as site:
        site.app.sessions.create(title="Alpha")
        page.goto(f"{site.address}/chat")
        open_finder(page)
        page.route("**/ui/commands/conversations?q=alpha", lambda route: route.abort(), times=1)
        page.locator("#finder-query").fill("alpha")
        expect(options(page).filter(has_text="Alpha")).to_have_count(1)


def test_the_palette_changes_the_theme_for_good(serve: Serve, page: Page) -> None:
    with serve(says("unused")) as site:
        page.goto(f"{site.address}/tools")
        open_finder(page)
        page.keyboard.type("dark theme")
        with page.expect_response("**/ui/commands/theme"):
            page.keyboard.press("Enter")
        expect(page.locator("html")).to_have_attribute("data-theme", "dark")
        assert site.app.settings.load().theme == "dark"


def test_nothing_that_fits_is_said_and_not_shown_as_an_empty_box(serve: Serve, page: Page) -> None:
    with serve(says("unused")) as site:
        page.goto(f"{site.address}/tools")
        open_finder(page)
        page.keyboard.type("zzzzqq")
        expect(page.locator("#finder [data-empty]")).to_be_visible()
        assert find_faults(page) == []


# --- sidebar ---


def test_the_rail_stays_and_is_there_before_the_first_paint(serve: Serve, page: Page) -> None:
    with serve(says("unused")) as site:
        page.goto(f"{site.address}/tools")
        wide = page.locator("#sidebar").bounding_box()
        page.keyboard.press("Control+b")
        expect(page.locator("#session-query")).to_be_hidden()
        # Without the modules only the blocking script can have done it.
        page.route("**/js/main.js", lambda route: route.abort())
        page.reload()
        rail = page.locator("#sidebar").bounding_box()
        assert wide
        assert rail
        assert rail["width"] < 80 < wide["width"]
        expect(page.get_by_role("link", name="Settings")).to_be_visible()


def test_the_rail_names_its_entries_and_can_be_opened_again(serve: Serve, page: Page) -> None:
    with serve(says("unused")) as site:
        page.goto(f"{site.address}/tools")
        page.locator("#main").focus()
        page.keyboard.press("[")
        toggle = page.locator("[data-rail-toggle]")
        expect(toggle).to_have_attribute("aria-expanded", "false")
        page.get_by_role("link", name="Chat", exact=True).focus()
        page.keyboard.press("Tab")
        expect(page.locator(".place:focus .label")).to_have_css("opacity", "1")
        assert find_faults(page) == []
        toggle.click()
        expect(toggle).to_have_attribute("aria-expanded", "true")
        expect(page.locator("#session-query")).to_be_visible()


def test_a_bracket_in_a_field_is_only_a_bracket(serve: Serve, page: Page) -> None:
    with serve(says("unused")) as site:
        page.goto(f"{site.address}/chat")
        page.locator("#message").press_sequentially("a[0]?")
        expect(page.locator("#message")).to_have_value("a[0]?")
        expect(page.locator("#help-dialog")).to_be_hidden()
        expect(page.locator("#session-query")).to_be_visible()


def test_the_shortcut_sheet_lists_what_works(serve: Serve, page: Page) -> None:
    with serve(says("unused")) as site:
        page.goto(f"{site.address}/tools")
        page.locator("#main").focus()
        page.keyboard.press("?")
        sheet = page.locator("#help-dialog")
        expect(sheet).to_contain_text("Ctrl K")
        expect(sheet).to_contain_text("/tool")
        assert find_faults(page) == []


# --- notices ---


def test_what_waits_elsewhere_is_shown_without_a_reload_and_leads_there(serve: Serve, page: Page) -> None:
    with serve(WRITE, says("ok")) as site:
        page.goto(f"{site.address}/tools")
        bell = page.locator("#tray-button")
        expect(bell).to_have_attribute("aria-label", "Notifications")
        other = page.context.new_page()
        other.goto(f"{site.address}/chat")
        send(other, "write")
        expect(other.locator(".approval")).to_be_visible()
        expect(bell).to_have_attribute("aria-label", "Notifications, 1 new")
        expect(page.locator("#announcer")).to_contain_text("Waits for your answer")
        page.locator("#main").focus()
        page.keyboard.press("n")
        assert find_faults(page) == []
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.wait_for_url("**/chat/session_*")
        expect(page.locator(".approval")).to_be_visible()


def test_looking_takes_the_count_away_in_every_tab(serve: Serve, page: Page, home: DataDirectory) -> None:
    with serve(says("unused")) as site:
        home.sessions.mkdir(exist_ok=True)
        (home.sessions / "session_1.json").write_text("{broken", encoding="utf-8")
        other = page.context.new_page()
        for tab in (page, other):
            tab.goto(f"{site.address}/tools")
            expect(tab.locator("#tray-button .count")).to_have_text("1")
        page.locator("#tray-button").click()
        expect(page.locator("#tray")).to_contain_text("session_1.json")
        expect(page.locator("#tray-button .count")).to_be_hidden()
        expect(other.locator("#tray-button .count")).to_be_hidden()
        page.keyboard.press("Escape")
        expect(page.locator("#tray-button")).to_be_focused()


def test_a_page_has_one_live_connection(serve: Serve, page: Page) -> None:
    streams: list[str] = []
    page.on("request", lambda request: streams.append(request.url) if "/events?" in request.url else None)
    with serve(says("Hello.")) as site:
        with page.expect_request(lambda request: "/ui/events" in request.url):
            page.goto(f"{site.address}/tools")
        assert len(streams) == 1
        streams.clear()
        page.goto(f"{site.address}/chat")
        send(page, "hi")
        page.wait_for_url("**/chat/session_*")
        wait_until_quiet(page)
        streams.clear()
        with page.expect_request(lambda request: "/events" in request.url):
            page.reload()
        wait_until_quiet(page)
        assert len(streams) == 1
        assert "/ui/events" not in streams[0]


# --- connection ---


def test_a_server_that_went_away_is_said_once_and_forgotten_when_it_is_back(serve: Serve, page: Page) -> None:
    with serve(says("unused")) as site:
        port = int(site.address.rpartition(":")[2])
        page.goto(f"{site.address}/tools")
        expect(page.locator("#connection")).to_be_hidden()
    expect(page.locator("#connection")).to_be_visible(timeout=8000)
    expect(page.locator("#announcer")).to_contain_text("Skales does not answer")
    assert find_faults(page) == []
    with serve(says("unused"), port=port):
        expect(page.locator("#connection")).to_be_hidden(timeout=15000)
        expect(page.locator("#announcer")).to_contain_text("Skales answers again")


# --- components ---


@pytest.mark.usefixtures("development")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1600, 390])
def test_no_component_has_a_fault_that_axe_can_find_in_any_accent(
    serve: Serve, browser: Browser, scheme: Literal["light", "dark"], width: int
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    with serve(says("unused")) as site:
        page.goto(f"{site.address}/design")
        for accent in ACCENTS:
            page.evaluate("accent => { document.documentElement.dataset.accent = accent }", accent)
            assert find_faults(page) == [], accent
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.locator("[data-design-open]").click()
        assert find_faults(page) == []
        context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("accent", ACCENTS[1:])
def test_no_screen_has_a_fault_in_the_other_accents(
    serve: Serve, browser: Browser, scheme: Literal["light", "dark"], accent: str
) -> None:
    context = browser.new_context(viewport={"width": 1024, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    with serve(says("Some **words**.")) as site:
        site.app.settings.set_value("accent", accent)
        page.goto(f"{site.address}/chat")
        send(page, "hi")
        wait_until_quiet(page)
        paths = (page.url.removeprefix(site.address), "/chat", "/tools", "/settings", "/nowhere")
        for path in paths:
            page.goto(f"{site.address}{path}")
            expect(page.locator("html")).to_have_attribute("data-accent", accent)
            assert find_faults(page) == [], path
        context.close()


@pytest.mark.usefixtures("development")
def test_a_menu_is_walked_with_the_arrows_and_gives_the_focus_back(serve: Serve, page: Page) -> None:
    with serve(says("unused")) as site:
        page.goto(f"{site.address}/design")
        opener = page.get_by_role("button", name="More actions")
        opener.focus()
        # The page scrolls to the button; a scroll that comes later would close the menu again.
        page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        opener.press("Enter")
        menu = page.locator("#design-menu")
        expect(menu.get_by_role("menuitem", name="Rename")).to_be_focused()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        expect(menu.get_by_role("menuitem", name="Delete")).to_be_focused()
        page.keyboard.press("ArrowDown")
        expect(menu.get_by_role("menuitem", name="Rename")).to_be_focused()
        page.keyboard.press("d")
        expect(menu.get_by_role("menuitem", name="Delete")).to_be_focused()
        menu_box, button_box = menu.bounding_box(), opener.bounding_box()
        assert menu_box
        assert button_box
        assert abs(menu_box["y"] - button_box["y"] - button_box["height"]) < 10
        page.keyboard.press("Escape")
        expect(menu).to_be_hidden()
        expect(opener).to_be_focused()


@pytest.mark.parametrize("path", ["/chat", "/tools", "/settings", "/nowhere"])
def test_at_200_percent_and_on_the_narrowest_phone_nothing_is_cut_off(serve: Serve, page: Page, path: str) -> None:
    with serve(says("unused")) as site:
        for width, height in ((640, 400), (390, 844), (320, 568)):
            page.set_viewport_size({"width": width, "height": height})
            page.goto(f"{site.address}{path}")
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (path, width)
            for name in ("Find anything", "Open the menu"):
                expect(page.locator(".bar").get_by_role("button", name=name)).to_be_in_viewport()


def test_motion_is_off_for_those_who_asked_for_it(serve: Serve, browser: Browser) -> None:
    context = browser.new_context(reduced_motion="reduce", viewport={"width": 390, "height": 800})
    page = context.new_page()
    with serve([Hang()]) as site:
        page.goto(f"{site.address}/tools")
        assert page.locator("#sidebar").evaluate("e => getComputedStyle(e).transitionDuration") in ("0s", "0s, 0s")
        context.close()


@pytest.mark.parametrize("path", ["/chat", "/tools", "/settings"])
def test_a_first_page_is_light_and_asks_nobody_else(serve: Serve, page: Page, witness: Witness, path: str) -> None:
    with serve(says("unused")) as site:
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        sizes: dict[str, float] = {}
        session.on(
            "Network.loadingFinished", lambda event: sizes.update({event["requestId"]: event["encodedDataLength"]})
        )
        page.goto(f"{site.address}{path}", wait_until="load")
        wait_until(page, "document.fonts.status === 'loaded'")
        assert 20_000 < sum(sizes.values()) < 150_000
    assert witness.foreign_requests == []
