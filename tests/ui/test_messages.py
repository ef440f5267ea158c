"""What a person does with messages that stand in the conversation, and how a long conversation stays light."""

import os
from collections.abc import Iterator, Sequence

import pytest
from playwright.sync_api import Browser, Page, expect

from skales.core.message import Message, Role, TextPart, Usage, text_message
from skales.core.ports import Finished, FinishReason, TextPiece
from skales.core.tool import ToolCall
from tests.scripted import Hang, calls, says
from tests.ui.conftest import Serve, Site, Witness, find_faults, send, wait_until, wait_until_quiet

pytestmark = pytest.mark.ui


def exchange(number: int) -> Sequence[Message]:
    answer = f"answer {number}\n\n" + "words " * 40
    return (
        text_message(Role.USER, f"question {number}"),
        Message(role=Role.ASSISTANT, content=(TextPart(answer),), model="demo", usage=Usage(1200, 40), duration_ms=800),
    )


def many(count: int) -> list[Message]:
    return [message for number in range(count) for message in exchange(number)]


def open_with(site: Site, page: Page, *messages: Message, query: str = "") -> str:
    session = site.app.sessions.create()
    site.app.sessions.append(session.id, *messages)
    page.goto(f"{site.address}/chat/{session.id}{query}")
    page.locator("#transcript").wait_for()
    return session.id


# --- edit, again, branch, versions ---


def test_a_message_is_edited_in_place_and_both_versions_can_be_seen(serve: Serve, page: Page) -> None:
    with serve(says("the new answer")) as site:
        open_with(site, page, *many(2))
        page.locator("#m-2").hover()
        page.locator("#m-2").get_by_role("button", name="Edit this message").click()
        editor = page.get_by_role("textbox", name="Your message")
        expect(editor).to_be_focused()
        expect(editor).to_have_value("question 1")
        editor.fill("question one")
        editor.press("Enter")
        expect(page.locator("#m-3")).to_contain_text("the new answer")
        wait_until_quiet(page)
        expect(page.locator("#m-2 .versions .count")).to_have_text("2/2")
        page.locator("#m-2").get_by_role("button", name="Version before").click()
        expect(page.locator("#m-2 .versions .count")).to_have_text("1/2")
        expect(page.locator("#m-3")).to_contain_text("answer 1")
        expect(page.locator("#announcer")).to_have_text("Version 1 of 2")
        expect(page.locator("#m-2 [data-version]").first).to_be_focused()
        page.keyboard.press("ArrowRight")
        expect(page.locator("#m-3")).to_contain_text("the new answer")
        assert find_faults(page) == []


def test_escape_leaves_the_message_as_it_is(serve: Serve, page: Page) -> None:
    with serve(says("unused")) as site:
        open_with(site, page, *many(1))
        page.locator("#m-0 [data-edit]").focus()
        page.keyboard.press("Enter")
        page.get_by_role("textbox", name="Your message").fill("other")
        page.keyboard.press("Escape")
        expect(page.locator("#m-0 .words")).to_have_text("question 0")
        expect(page.locator("#m-0 form")).to_have_count(0)
        expect(page.locator("#m-0 [data-edit]")).to_be_focused()


def test_an_answer_is_written_again(serve: Serve, page: Page) -> None:
    with serve(says("another answer")) as site:
        open_with(site, page, *many(1))
        page.get_by_role("button", name="Answer again").click()
        expect(page.locator("#m-1")).to_contain_text("another answer")
        wait_until_quiet(page)
        expect(page.locator("#m-1 .versions .count")).to_have_text("2/2")


def test_a_branch_opens_as_a_conversation_of_its_own(serve: Serve, page: Page) -> None:
    with serve(says("unused")) as site:
        first = open_with(site, page, *many(3))
        page.locator("#m-3").get_by_role("button", name="Branch off here").click()
        page.wait_for_url(lambda address: "/chat/" in address and first not in address)
        expect(page.locator(".message").last).to_contain_text("answer 1")


def test_while_an_answer_is_written_nothing_is_rewritten_and_the_reason_is_said(serve: Serve, page: Page) -> None:
    with serve([TextPiece("a"), Hang()]) as site:
        open_with(site, page, *many(1))
        send(page, "go")
        expect(page.locator(".streaming")).to_be_visible()
        button = page.locator("#m-1").get_by_role("button", name="Answer again")
        expect(button).to_have_attribute("aria-disabled", "true")
        button.press("Enter")
        expect(page.locator("#toasts")).to_contain_text("Not while an answer is being written")
        expect(page.locator("#m-1")).to_contain_text("answer 0")


def test_a_waiting_message_is_changed_taken_back_and_sent_at_once(serve: Serve, page: Page) -> None:
    with serve([TextPiece("a"), Hang()], says("the next answer")) as site:
        open_with(site, page, *many(1))
        send(page, "go")
        expect(page.locator(".streaming")).to_be_visible()
        for text in ("one", "two"):
            send(page, text)
            expect(page.locator(".queued", has_text=text)).to_be_visible()
        page.locator(".queued").first.get_by_role("button", name="Take this message back").click()
        expect(page.locator(".queued")).to_have_count(1)
        page.locator(".queued").get_by_role("button", name="Edit this message").click()
        page.locator(".queued textarea").fill("two and a half")
        page.locator(".queued textarea").press("Enter")
        expect(page.locator(".queued .words")).to_have_text("two and a half")
        page.get_by_role("button", name="Stop and send now").click()
        expect(page.locator(".message-answer").last).to_contain_text("the next answer")
        expect(page.locator(".message-user").last).to_contain_text("two and a half")


# --- receipts and steps ---


def test_a_receipt_opens_to_a_table_with_the_keyboard(serve: Serve, page: Page) -> None:
    with serve(says("unused")) as site:
        open_with(site, page, *many(1))
        expect(page.locator(".receipt summary")).to_contain_text("1,200 tokens in, 40 out")
        page.locator(".receipt summary").press("Enter")
        expect(page.get_by_role("row", name="Speed")).to_contain_text("50 tokens per second")
        assert find_faults(page) == []


def test_a_group_that_was_opened_stays_open_when_the_transcript_comes_anew(serve: Serve, page: Page) -> None:
    wanted = tuple(ToolCall(f"call_{number}", "list_directory", {"path": "."}) for number in range(3))
    results = [Message(role=Role.TOOL, content=(TextPart("[]"),), tool_call_id=call.id) for call in wanted]
    with serve(says("again")) as site:
        open_with(
            site,
            page,
            *many(1),
            text_message(Role.USER, "look"),
            Message(role=Role.ASSISTANT, tool_calls=wanted),
            *results,
            *exchange(8)[1:],
        )
        expect(page.locator(".steps > summary")).to_have_text("3 steps")
        expect(page.locator(".step").first).to_be_hidden()
        page.locator(".steps > summary").click()
        page.locator(".step > summary").nth(1).click()
        page.locator("#m-1").get_by_role("button", name="Branch off here").wait_for()
        page.evaluate("document.dispatchEvent(new CustomEvent('skales:jump', {detail: {index: 0}}))")
        page.locator("#m-7").get_by_role("button", name="Answer again").click()
        expect(page.locator(".message-answer").last).to_contain_text("again")
        wait_until_quiet(page)
        assert page.locator("#m-1").is_visible()


def test_a_finished_answer_is_heard_once_and_its_pieces_are_not(serve: Serve, page: Page) -> None:
    with serve(calls(("list_directory", {"path": "."})), says("The **folder** is empty.")) as site:
        open_with(site, page, *many(1))
        page.evaluate(
            """() => { window.heard = []; new MutationObserver(() => {
               const text = document.getElementById("announcer").textContent; if (text) window.heard.push(text);
            }).observe(document.getElementById("announcer"), {childList: true}); }"""
        )
        expect(page.locator("#scroll")).to_have_attribute("aria-live", "off")
        send(page, "go")
        expect(page.locator(".message-answer").last).to_contain_text("is empty")
        wait_until_quiet(page)
        wait_until(page, "window.heard.length > 0")
        assert page.evaluate("window.heard") == ["1 step. Skales answered: The folder is empty."]


# --- long conversations ---


def test_a_link_into_the_middle_shows_the_message_and_the_way_down_leads_to_the_end(serve: Serve, page: Page) -> None:
    with serve(says("fresh answer")) as site:
        open_with(site, page, *many(200), query="?at=101")
        expect(page.locator("#m-101")).to_be_in_viewport()
        expect(page.locator("#m-399")).to_have_count(0)
        for _ in range(60):
            if page.locator("#m-399").count():
                break
            page.locator("#scroll").evaluate("element => element.scrollBy(0, 4000)")
            page.wait_for_timeout(60)
        expect(page.locator("#m-399")).to_be_attached()
        assert page.locator("#saved > *").count() < 300
        send(page, "and now")
        expect(page.locator(".message-answer").last).to_contain_text("fresh answer")


def test_the_end_is_one_press_away_from_the_middle(serve: Serve, page: Page) -> None:
    with serve(says("unused")) as site:
        open_with(site, page, *many(200), query="#m-20")
        expect(page.locator("#m-20")).to_be_in_viewport()
        page.get_by_role("button", name="To the end").click()
        expect(page.locator("#m-399")).to_be_in_viewport()


def test_the_page_keeps_few_elements_however_far_one_scrolls_up(serve: Serve, page: Page, witness: Witness) -> None:
    with serve(says("unused")) as site:
        open_with(site, page, *many(400))
        for _ in range(200):
            if page.locator("#m-0").count():
                break
            page.locator("#scroll").evaluate("element => { element.scrollTop = 0; }")
            page.wait_for_timeout(30)
        expect(page.locator("#m-0")).to_be_attached()
        assert page.locator("#saved > *").count() < 330
        page.get_by_role("button", name="To the end").click()
        expect(page.locator("#m-799")).to_be_in_viewport()
    assert witness.complaints == []


def test_a_question_below_says_that_it_waits(serve: Serve, page: Page) -> None:
    with serve(calls(("write_file", {"path": "a.txt", "content": "x"})), says("ok")) as site:
        session = open_with(site, page, *many(20))
        page.locator("#scroll").hover()
        page.mouse.wheel(0, -3000)
        page.evaluate(
            """session => fetch("/ui/chat/send", {method: "POST", headers: {accept: "application/json"},
               body: new URLSearchParams({text: "write", session_id: session})})""",
            session,
        )
        # The person's own message leads down; the reader goes up again.
        expect(page.locator(".approval")).to_be_attached()
        page.mouse.wheel(0, -3000)
        expect(page.locator("#newest")).to_contain_text("Waiting for you")
        page.locator("#newest").click()
        expect(page.locator(".approval h3")).to_be_in_viewport()


# --- weight ---


@pytest.fixture
def precise(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1200, "height": 800})
    context.set_default_timeout(20_000)
    yield context.new_page()
    context.close()


def _measure(page: Page) -> tuple[float, int]:
    """Heap in MB after a collection, and elements in the document."""
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    used = session.send("Runtime.getHeapUsage")["usedSize"]
    session.detach()
    return used / 1e6, page.evaluate("document.querySelectorAll('*').length")


@pytest.mark.bench
@pytest.mark.timeout(1800)
def test_memory_stays_flat_over_many_turns(serve: Serve, precise: Page) -> None:
    """`SKALES_TURNS` says how many; figures go to the output."""
    turns = int(os.environ.get("SKALES_TURNS", "1000"))
    paragraph = "Files are **read** in order; see `config get` for more.\n\n"
    answer = [TextPiece(piece) for piece in [paragraph] * 4 + ["```py\nprint(1)\n```\n"]]
    figures: list[tuple[int, float, int]] = []
    with serve([*answer, Finished(FinishReason.STOP)]) as site:
        session = open_with(site, precise, *exchange(0))
        for turn in range(1, turns + 1):
            precise.evaluate(
                """([session, text]) => fetch("/ui/chat/send", {method: "POST", headers: {accept: "application/json"},
                   body: new URLSearchParams({text, session_id: session})})""",
                [session, f"turn {turn}"],
            )
            precise.locator(f"#m-{turn * 2 + 1}").wait_for(state="attached")
            precise.locator("#transcript[data-running=false]").wait_for(state="attached")
            if turn % max(turns // 10, 1) == 0:
                figures.append((turn, *_measure(precise)))
    print(*(f"{turn} turns: {heap:.1f} MB, {elements} elements" for turn, heap, elements in figures), sep="\n")  # noqa: T201
    settled = [heap for turn, heap, _elements in figures if turn >= 150]  # before that the page fills up
    assert max(settled) < min(settled) * 1.25 + 1
    assert max(elements for _turn, _heap, elements in figures) < 12_000
