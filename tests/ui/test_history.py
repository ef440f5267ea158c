"""Conversations in a real browser: the list by keyboard, searching with jumps, finding within, exporting, the trash."""

import re
import zipfile
from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from skales.core.ids import SessionId
from skales.core.message import Message, Role, TextPart, text_message
from tests.scripted import says
from tests.ui.conftest import Serve, Site, find_faults, wait_until

pytestmark = pytest.mark.ui


def fill(site: Site, *titles: str) -> list[SessionId]:
    """Conversations with two messages each, the last one newest."""
    made: list[SessionId] = []
    for title in titles:
        made.append(site.app.sessions.create(title=title).id)
        question = text_message(Role.USER, f"About {title}")
        site.app.sessions.append(made[-1], question, text_message(Role.ASSISTANT, f"A needle in {title}"))
    return made


def fill_long(site: Site) -> SessionId:
    """A conversation with the word in message 41 and in the last."""
    session_id = site.app.sessions.create(title="Long").id
    messages: list[Message] = []
    for number in range(150):
        messages.append(text_message(Role.USER, f"Question {number}"))
        words = "the needle is here" if number in (20, 149) else "only hay"
        messages.append(Message(role=Role.ASSISTANT, content=(TextPart(f"Answer {number}: {words}"),)))
    site.app.sessions.append(session_id, *messages)
    return session_id


def rows(page: Page) -> list[str]:
    return page.locator("#session-list .session .title").all_inner_texts()


def test_the_list_is_worked_with_the_keyboard_and_everything_can_be_undone(serve: Serve, page: Page) -> None:
    with serve(says("unused")) as site:
        fill(site, "One", "Two", "Three")
        page.goto(f"{site.address}/tools")
        page.locator("#session-list .session > a").first.focus()
        page.keyboard.press("ArrowDown")
        expect(page.locator("#session-list .session > a", has_text="Two")).to_be_focused()
        page.keyboard.press("F2")
        page.keyboard.type("Zwei")
        page.keyboard.press("Enter")
        expect(page.locator("#session-list .title", has_text="Zwei")).to_be_visible()
        link = page.locator("#session-list .session > a", has_text="Zwei")
        link.focus()
        page.keyboard.press("Delete")
        expect(page.locator("#session-list .session")).to_have_count(2)
        page.get_by_role("button", name="Undo").press("Enter")
        expect(page.locator("#session-list .session")).to_have_count(3)


def test_the_menu_pins_and_moves_and_folders_stay_open(serve: Serve, page: Page) -> None:
    with serve(says("unused")) as site:
        fill(site, "One", "Two")
        page.goto(f"{site.address}/tools")
        page.get_by_role("button", name="Actions for One").focus()
        page.keyboard.press("Enter")
        page.get_by_role("menuitem", name="Pin", exact=True).press("Enter")
        expect(page.locator("#session-list h3").first).to_have_text("Pinned")
        page.get_by_role("button", name="Actions for Two").press("Enter")
        page.get_by_role("menuitem", name="Move to a folder").press("Enter")
        page.get_by_label("Or a new folder").fill("Work")
        page.keyboard.press("Enter")
        folder = page.locator("summary", has_text="Work")
        folder.press("Enter")
        expect(page.locator(".in-folder .title")).to_have_text(["Two"])
        page.reload()
        expect(page.locator(".in-folder .title")).to_have_text(["Two"])
        assert rows(page) == ["One", "Two"]


def test_escape_leaves_a_name_as_it_was_and_an_empty_one_gives_the_first_message(serve: Serve, page: Page) -> None:
    with serve(says("unused")) as site:
        (session_id,) = fill(site, "One")
        page.goto(f"{site.address}/tools")
        link = page.locator("#session-list .session > a")
        link.focus()
        page.keyboard.press("F2")
        page.keyboard.type("Nonsense")
        page.keyboard.press("Escape")
        expect(page.locator("#session-list .title")).to_have_text("One")
        expect(link).to_be_focused()
        page.keyboard.press("F2")
        page.keyboard.press("Delete")
        page.keyboard.press("Enter")
        expect(page.locator("#session-list .title")).to_have_text("About One")
        assert site.app.sessions.load(session_id).title == "About One"


def test_a_found_line_leads_to_its_message_and_marks_the_words(serve: Serve, page: Page) -> None:
    with serve(says("unused")) as site:
        session_id = fill_long(site)
        page.goto(f"{site.address}/tools")
        page.locator("#session-query").fill("needle")
        hit = page.locator("#session-list .session > a")
        expect(hit.locator("mark")).to_have_text("needle")
        hit.click()
        page.wait_for_url(re.compile(rf"/chat/{session_id}\?at=\d+&find=needle"))
        expect(page.locator("#find-query")).to_have_value("needle")
        expect(page.locator("[data-find-count]")).to_have_text(re.compile(r"[12] of 2"))
        wait_until(page, "CSS.highlights.get('find-current')?.size === 1")


def test_finding_goes_through_parts_that_are_not_loaded(serve: Serve, page: Page) -> None:
    with serve(says("unused")) as site:
        page.goto(f"{site.address}/chat/{fill_long(site)}")
        page.locator("#message").blur()
        page.keyboard.press("f")
        expect(page.locator("#find-query")).to_be_focused()
        page.keyboard.type("needle")
        expect(page.locator("[data-find-count]")).to_have_text("2 of 2")
        page.keyboard.press("Enter")
        expect(page.locator("[data-find-count]")).to_have_text("1 of 2")
        expect(page.locator("#m-41")).to_be_in_viewport()
        expect(page.locator("#find-query")).to_be_focused()
        page.keyboard.press("Shift+Enter")
        expect(page.locator("#m-299")).to_be_in_viewport()
        page.keyboard.press("Escape")
        expect(page.locator("#find-bar")).to_be_hidden()
        assert page.evaluate("CSS.highlights.size") == 0


def test_the_browsers_own_search_stays_the_browsers(serve: Serve, page: Page) -> None:
    with serve(says("unused")) as site:
        page.goto(f"{site.address}/chat/{fill(site, 'One')[0]}")
        page.keyboard.press("Control+f")
        expect(page.locator("#find-bar")).to_be_hidden()
        page.keyboard.press("Control+Shift+f")
        expect(page.locator("#find-bar")).to_be_visible()


@pytest.mark.parametrize("form", ["Markdown", "HTML", "PDF", "JSON"])
def test_a_conversation_is_exported_from_its_menu(serve: Serve, page: Page, form: str) -> None:
    with serve(says("unused")) as site:
        fill(site, "My title")
        page.goto(f"{site.address}/tools")
        page.get_by_role("button", name="Actions for My title").press("Enter")
        page.get_by_role("menuitem", name="Export").press("Enter")
        page.get_by_role("radio", name=form).check()
        with page.expect_download(timeout=20_000) as started:
            page.locator("#export-dialog").get_by_role("button", name="Export").click()
        assert " My title." in started.value.suggested_filename
        assert started.value.path().stat().st_size > 0


def test_all_conversations_are_exported_with_progress(serve: Serve, page: Page) -> None:
    with serve(says("unused")) as site:
        fill(site, *(f"Number {number}" for number in range(30)))
        page.goto(f"{site.address}/history")
        page.get_by_role("button", name="Export all").click()
        with page.expect_download(timeout=20_000) as started:
            page.locator("#export-all-dialog").get_by_role("button", name="Export").click()
        with zipfile.ZipFile(started.value.path()) as archive:
            assert len(archive.namelist()) == 30
        expect(page.get_by_text("All conversations were exported")).to_be_visible()


def test_the_history_page_searches_as_one_types_and_keeps_its_address(serve: Serve, page: Page) -> None:
    with serve(says("unused")) as site:
        fill(site, "Hay", "Straw")
        page.goto(f"{site.address}/history")
        expect(page.locator("#found .found-row")).to_have_count(2)
        page.get_by_label("Words").fill("straw")
        expect(page.locator("#found .found-row")).to_have_count(1)
        page.wait_for_url("**/history?q=straw")
        page.reload()
        expect(page.locator("#found a.title")).to_have_text("Straw")


def test_a_deleted_conversation_goes_for_good_only_after_a_question(serve: Serve, page: Page) -> None:
    with serve(says("unused")) as site:
        for session_id in fill(site, "One", "Two"):
            site.app.sessions.delete(session_id)
        page.goto(f"{site.address}/history?deleted=true")
        page.get_by_role("button", name="Delete One for good").press("Enter")
        page.locator("#purge-dialog").get_by_role("button", name="Cancel").press("Enter")
        expect(page.locator("[data-deleted]")).to_have_count(2)
        page.get_by_role("button", name="Delete One for good").press("Enter")
        page.locator("#purge-dialog").get_by_role("button", name="Delete for good").press("Enter")
        expect(page.locator("[data-deleted]")).to_have_count(1)
        page.get_by_role("button", name="Bring back Two").press("Enter")
        expect(page.locator("#session-list .title")).to_have_text(["Two"])


PLACES = (
    "/history",
    "/history?q=needle",
    "/history?q=absent",
    "/history?deleted=true",
    "/chat/{one}?at=1&find=needle",
)
LAYERS = ("export-dialog", "export-all-dialog", "purge-dialog", "session-menu")
OPEN = (
    "name => { const found = document.getElementById(name); found.showModal ? found.showModal() : found.showPopover() }"
)


def open_filled(site: Site, page: Page, path: str) -> None:
    """A page beside a list with a pinned one, a folder and something in the trash."""
    one, two, three = fill(site, "One", "Two", "Three")
    site.app.sessions.update(one, pinned=True)
    site.app.sessions.update(two, folder="Work")
    site.app.sessions.delete(three)
    page.goto(f"{site.address}{path.format(one=one)}")


@pytest.mark.parametrize("path", PLACES)
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_of_the_history_has_a_fault_that_axe_can_find(
    serve: Serve, page: Page, path: str, width: int, scheme: Literal["light", "dark"]
) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)
    with serve(says("unused")) as site:
        open_filled(site, page, path)
        assert find_faults(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_dialog_of_the_history_has_a_fault_that_axe_can_find(
    serve: Serve, page: Page, layer: str, scheme: Literal["light", "dark"]
) -> None:
    page.emulate_media(color_scheme=scheme)
    with serve(says("unused")) as site:
        open_filled(site, page, "/history")
        page.evaluate(OPEN, layer)
        assert find_faults(page) == []
