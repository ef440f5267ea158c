"""Days on which something is wrong: each has a state that says so calmly and leads on."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from skales.core.approval import Approval, AskKind
from skales.core.errors import ProviderError, ProviderFault
from skales.core.ids import ApprovalId, SessionId
from skales.core.message import Message, Role, TextPart, text_message
from skales.core.ports import TextPiece
from skales.core.tool import ToolCall
from skales.data.approvals import ApprovalStore
from skales.data.paths import DataDirectory
from tests.scripted import Hang, calls, says
from tests.ui.conftest import Serve, Site, Witness, find_faults, send, wait_until, wait_until_quiet

pytestmark = pytest.mark.ui

WRITE = calls(("write_file", {"path": "plan.txt", "content": "first"}))
CONNECTIONS = """() => { window.heard = [];
  document.addEventListener("skales:connection", ({detail}) => window.heard.push(detail)); }"""


def begin(site: Site, page: Page, pairs: int = 1) -> SessionId:
    session = site.app.sessions.create()
    for number in range(pairs):
        said = Message(role=Role.ASSISTANT, content=(TextPart(f"answer {number}"),), model="demo")
        site.app.sessions.append(session.id, text_message(Role.USER, f"question {number}"), said)
    page.goto(f"{site.address}/chat/{session.id}")
    page.locator("#transcript").wait_for()
    return session.id


def port_of(site: Site) -> int:
    return int(site.address.rpartition(":")[2])


@pytest.fixture
def second(context: BrowserContext) -> Iterator[Page]:
    made = context.new_page()
    yield made
    made.close()


# --- the program goes and comes back ---


def test_after_a_restart_the_page_shows_what_it_missed_and_says_that_it_is_back(serve: Serve, page: Page) -> None:
    with serve(says("first life")) as site:
        session = begin(site, page)
        page.evaluate(CONNECTIONS)
    wait_until(page, "window.heard.includes('lost')")
    with serve(says("second life"), port=port_of(site)) as again:
        again.app.sessions.append(session, text_message(Role.ASSISTANT, "written meanwhile"))
        expect(page.locator(".message-answer").last).to_contain_text("written meanwhile", timeout=20_000)
        wait_until(page, "window.heard.at(-1) === 'open'")
        send(page, "hello")
        expect(page.locator(".message-answer").last).to_contain_text("second life", timeout=20_000)


def test_a_question_from_before_a_crash_is_there_once_and_its_answer_goes_on(
    serve: Serve, page: Page, home: DataDirectory
) -> None:
    with serve(says("Written.")) as site:
        call = ToolCall("call_1", "write_file", {"path": "plan.txt", "content": "first"})
        session = site.app.sessions.create()
        asked = (text_message(Role.USER, "write it"), Message(role=Role.ASSISTANT, tool_calls=(call,)))
        site.app.sessions.append(session.id, *asked)
        question = Approval(
            id=ApprovalId("ap_earlier"),
            kind=AskKind.TOOL,
            session_id=session.id,
            call_id=call.id,
            tool=call.name,
            args=call.arguments,
            action="Write 5 bytes to plan.txt",
            reason="writes",
            created_ms=site.app.clock.now_ms(),
            expires_ms=site.app.clock.now_ms() + 600_000,
        )
        ApprovalStore(home, site.app.quarantine).add(question)
        page.goto(f"{site.address}/chat/{session.id}")
        expect(page.locator(".approval")).to_have_count(1)
        expect(page.locator(".outcome")).to_have_count(0)
        page.get_by_role("button", name="Allow", exact=True).click()
        expect(page.locator(".message-answer").last).to_contain_text("Written.", timeout=20_000)
        expect(page.locator(".approval")).to_have_count(0)
    assert (home.workspace / "plan.txt").read_text(encoding="utf-8") == "first"


def test_a_question_that_waits_at_a_reload_is_there_once(serve: Serve, page: Page) -> None:
    with serve(WRITE, says("ok")) as site:
        begin(site, page)
        send(page, "write it")
        expect(page.locator(".approval")).to_be_visible()
        page.reload()
        expect(page.locator(".approval")).to_have_count(1)
        page.locator("#scroll[aria-busy=true]").wait_for()
        expect(page.locator(".approval")).to_have_count(1)
        assert find_faults(page) == []


# --- the provider ---


def test_a_provider_that_is_down_is_named_with_a_way_to_try_again_and_to_the_settings(serve: Serve, page: Page) -> None:
    down = ProviderError("Groq does not answer", fault=ProviderFault.UNREACHABLE, hint="Check the network")
    with serve([down], says("back again")) as site:
        begin(site, page)
        send(page, "hello")
        card = page.locator(".outcome")
        expect(card).to_contain_text("Groq does not answer. Check the network.")
        expect(card.get_by_role("link", name="Open settings")).to_have_attribute("href", "/settings/providers")
        assert find_faults(page) == []
        card.get_by_role("button", name="Try again").click()
        expect(page.locator(".message-answer").last).to_contain_text("back again")
        expect(page.locator(".outcome")).to_have_count(0)
        expect(page.locator(".message-user")).to_have_count(2)


# --- two tabs ---


def test_two_tabs_show_the_same_conversation_and_one_answer_counts_for_both(
    serve: Serve, page: Page, second: Page, home: DataDirectory
) -> None:
    with serve(WRITE, says("Written.")) as site:
        session = begin(site, page)
        second.goto(f"{site.address}/chat/{session}")
        send(page, "write it")
        expect(second.locator(".message-user").last).to_contain_text("write it")
        expect(second.locator(".approval")).to_be_visible()
        second.get_by_role("button", name="Allow", exact=True).click()
        for tab in (page, second):
            expect(tab.locator(".message-answer").last).to_contain_text("Written.")
            expect(tab.locator(".approval")).to_have_count(0)
            wait_until_quiet(tab)
    assert (home.workspace / "plan.txt").exists()


def test_what_one_tab_rewrites_the_other_shows(serve: Serve, page: Page, second: Page) -> None:
    with serve(says("written anew")) as site:
        session = begin(site, page, pairs=2)
        second.goto(f"{site.address}/chat/{session}")
        page.locator("#m-3").get_by_role("button", name="Answer again").click()
        for tab in (page, second):
            expect(tab.locator("#m-3")).to_contain_text("written anew")
            expect(tab.locator("#m-3 .versions .count")).to_have_text("2/2")
        second.locator("#m-3").get_by_role("button", name="Version before").click()
        for tab in (page, second):
            expect(tab.locator("#m-3")).to_contain_text("answer 1")


def test_a_conversation_deleted_in_another_tab_is_told_calmly_and_can_be_brought_back(
    serve: Serve, page: Page, witness: Witness
) -> None:
    with serve(says("unused")) as site:
        session = begin(site, page)
        page.evaluate(
            """session => fetch("/ui/sessions/" + session, {method: "DELETE"})""",
            session,
        )
        expect(page.get_by_role("alert")).to_contain_text("This conversation was deleted.")
        expect(page.locator("#m-1")).to_contain_text("answer 0")
        assert find_faults(page) == []
        page.get_by_role("button", name="Bring it back").click()
        expect(page.locator(".lost")).to_have_count(0)
        send(page, "hello")
        expect(page.locator(".message-answer").last).to_contain_text("unused")


# --- a slow network, errors ---


def test_on_a_slow_connection_earlier_messages_say_that_they_are_on_their_way(serve: Serve, page: Page) -> None:
    with serve(says("unused")) as site:
        held: list[Route] = []
        page.route("**/older?*", lambda route: held.append(route))
        begin(site, page, pairs=25)
        page.locator("#scroll").evaluate("element => { element.scrollTop = 0; }")
        expect(page.locator("[data-older]")).to_have_text("Loading …")
        expect(page.locator("#message")).to_be_enabled()
        for route in held:
            route.continue_()
        expect(page.locator("#m-10")).to_be_attached()
        expect(page.locator("[data-older]")).to_have_count(0)


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (404, '{"error": "Session not found"}', "Session not found"),
        (
            500,
            '{"error": "OSError: disk", "hint": "See the log for details"}',
            "OSError: disk. See the log for details.",
        ),
        (502, "<html>not ours</html>", "The server answered 502"),
    ],
)
def test_earlier_messages_that_cannot_be_had_say_why_and_can_be_asked_for_again(
    serve: Serve, page: Page, status: int, body: str, words: str
) -> None:
    with serve(says("unused")) as site:
        page.route("**/older?*", lambda route: route.fulfill(status=status, body=body))
        begin(site, page, pairs=25)
        page.locator("#scroll").evaluate("element => { element.scrollTop = 0; }")
        expect(page.locator("[data-older]")).to_contain_text(words)
        page.unroute("**/older?*")
        page.get_by_role("button", name="Try again").click()
        expect(page.locator("#m-10")).to_be_attached()


def test_what_cannot_be_sent_is_told_at_its_place_and_nothing_is_lost(serve: Serve, page: Page) -> None:
    with serve(says("unused")) as site:
        begin(site, page)
        page.route("**/edit", lambda route: route.fulfill(status=500, body='{"error": "No space left"}'))
        page.locator("#m-0").hover()
        page.locator("#m-0").get_by_role("button", name="Edit this message").click()
        page.get_by_role("textbox", name="Your message").fill("said better")
        page.keyboard.press("Enter")
        expect(page.locator("#m-0 .field-error")).to_contain_text("No space left.")
        expect(page.get_by_role("textbox", name="Your message")).to_have_value("said better")


# --- files ---


def test_a_conversation_whose_file_broke_under_the_page_says_so_and_keeps_what_is_seen(
    serve: Serve, page: Page, home: DataDirectory
) -> None:
    with serve(says("unused")) as site:
        session = begin(site, page)
        (home.sessions / f"{session}.json").write_text('{"messages": 7', encoding="utf-8")
        page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide'))")
        page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))")
        expect(page.get_by_role("alert")).to_contain_text("This conversation")
        expect(page.locator("#m-1")).to_contain_text("answer 0")


def test_a_broken_file_opens_as_a_page_that_says_where_it_went(serve: Serve, page: Page, home: DataDirectory) -> None:
    with serve(says("unused")) as site:
        home.sessions.mkdir(exist_ok=True)
        (home.sessions / "session_1930000000001.json").write_text('{"messages": 7', encoding="utf-8")
        page.goto(f"{site.address}/chat/session_1930000000001")
        expect(page.get_by_role("heading", name="This conversation cannot be read").last).to_be_visible()
        assert find_faults(page) == []


# --- one connection, closed while hidden ---


def test_a_hidden_page_has_no_connection_and_catches_up_when_it_is_seen(serve: Serve, page: Page) -> None:
    streams: list[str] = []
    page.on("request", lambda request: streams.append(request.url) if re.search(r"/events\?", request.url) else None)
    with serve(says("while you were away")) as site:
        session = begin(site, page)
        page.locator("#scroll[aria-busy=false]").wait_for()
        _hide(page, hidden=True)
        page.wait_for_timeout(100)
        before = len(streams)
        page.evaluate(
            """session => fetch("/ui/chat/send", {method: "POST", headers: {accept: "application/json"},
               body: new URLSearchParams({text: "are you there", session_id: session})})""",
            session,
        )
        page.wait_for_timeout(600)
        assert len(streams) == before
        expect(page.locator(".message-user")).to_have_count(1)
        _hide(page, hidden=False)
        expect(page.locator(".message-answer").last).to_contain_text("while you were away")
        expect(page.locator(".message-user")).to_have_count(2)


def test_frames_that_are_not_about_the_conversation_are_told_to_the_page(serve: Serve, page: Page) -> None:
    with serve([TextPiece("a"), Hang()]) as site:
        page.add_init_script(
            """window.boards = 0;
               document.addEventListener("skales:notice-board", () => { window.boards += 1; }, true);"""
        )
        begin(site, page)
        wait_until(page, "window.boards > 0")


def _hide(page: Page, *, hidden: bool) -> None:
    page.evaluate(
        """hidden => { Object.defineProperty(document, "hidden", {value: hidden, configurable: true});
           document.dispatchEvent(new Event("visibilitychange")); }""",
        hidden,
    )
