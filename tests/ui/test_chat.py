"""The conversation as a person has it: with eyes and mouse, or with the keyboard alone."""

import re
from collections.abc import Sequence

import pytest
from playwright.sync_api import Page, expect

from skales.core.errors import ProviderError, ProviderFault
from skales.core.message import Message, Role, TextPart, text_message
from skales.core.ports import Finished, FinishReason, ProviderEvent, ReasoningPiece, TextPiece
from skales.data.paths import DataDirectory
from tests.scripted import Hang, calls, says
from tests.ui.conftest import Serve, Witness, send, wait_until_quiet

pytestmark = pytest.mark.ui

ANSWER = """Here is **what** I found:

1. one `thing`
2. another

```python
print("hello")
```

| a | b |
|---|---|
| 1 | 2 |

That is all."""

WRITE = calls(("write_file", {"path": "plan.txt", "content": "first"}))


def bits(text: str) -> list[ProviderEvent]:
    """The text in pieces of three characters, as a slow endpoint sends it."""
    return [TextPiece(text[start : start + 3]) for start in range(0, len(text), 3)]


def shown(page: Page) -> str:
    return re.sub(r"\s+", " ", page.locator("#transcript").inner_text())


def test_an_answer_streams_in_and_looks_the_same_after_a_reload(serve: Serve, page: Page, witness: Witness) -> None:
    with serve([*bits(ANSWER), Finished(FinishReason.STOP)]) as site:
        page.goto(f"{site.address}/chat")
        send(page, "Tell me")
        expect(page.locator(".message-answer .prose table")).to_be_visible()
        wait_until_quiet(page)
        expect(page.locator(".message-answer li")).to_have_count(2)
        before = shown(page)
        page.reload()
        assert shown(page) == before
    assert witness.complaints == []


def test_an_unfinished_answer_shows_finished_blocks_rendered_and_the_rest_raw(serve: Serve, page: Page) -> None:
    with serve([*bits("Done **bold**.\n\n```py\nx = 1"), Hang()]) as site:
        page.goto(f"{site.address}/chat")
        send(page, "go")
        expect(page.locator(".streaming p strong")).to_have_text("bold")
        expect(page.locator(".streaming .tail.code code")).to_have_text("x = 1")
        expect(page.locator("#scroll")).to_have_attribute("aria-busy", "true")


def test_reloading_in_the_middle_of_an_answer_loses_nothing(serve: Serve, page: Page) -> None:
    with serve([*bits("One.\n\nTwo and"), Hang()]) as site:
        page.goto(f"{site.address}/chat")
        send(page, "go")
        expect(page.locator(".streaming .tail")).to_have_text("Two and")
        page.reload()
        expect(page.locator(".streaming .tail")).to_have_text("Two and")
        expect(page.locator(".streaming p")).to_have_text("One.")
        expect(page.locator(".message-user")).to_have_count(1)


def test_escape_stops_and_continue_goes_on(serve: Serve, page: Page) -> None:
    with serve([*bits("half of"), Hang()], says("the rest.")) as site:
        page.goto(f"{site.address}/chat")
        send(page, "go")
        expect(page.locator(".streaming")).to_contain_text("half of")
        page.keyboard.press("Escape")
        expect(page.locator(".incomplete")).to_contain_text("Stopped before the end")
        page.get_by_role("button", name="Continue").click()
        expect(page.locator(".message-answer").last).to_contain_text("the rest.")
        expect(page.get_by_role("button", name="Continue")).to_have_count(0)


def test_a_message_sent_meanwhile_waits_in_sight_and_is_answered_next(serve: Serve, page: Page) -> None:
    with serve([TextPiece("a"), Hang()], says("second answer")) as site:
        page.goto(f"{site.address}/chat")
        send(page, "first")
        expect(page.locator(".streaming")).to_be_visible()
        send(page, "and another")
        expect(page.locator(".queued")).to_contain_text("and another")
        page.reload()
        expect(page.locator(".queued")).to_contain_text("and another")
        page.locator("#stop").click()
        expect(page.locator(".message-answer").last).to_contain_text("second answer")
        expect(page.locator(".queued")).to_have_count(0)
        expect(page.locator(".message-user")).to_have_count(2)


def test_thoughts_are_folded(serve: Serve, page: Page) -> None:
    with serve([ReasoningPiece("let me think"), TextPiece("ok"), Finished(FinishReason.STOP)]) as site:
        page.goto(f"{site.address}/chat")
        send(page, "go")
        wait_until_quiet(page)
        expect(page.locator(".thoughts .text")).to_be_hidden()
        page.locator(".thoughts summary").click()
        expect(page.locator(".thoughts .text")).to_have_text("let me think")


def test_tool_steps_open_and_tell_arguments_and_result(serve: Serve, page: Page, home: DataDirectory) -> None:
    (home.workspace / "a.txt").write_text("alpha", encoding="utf-8")
    with serve(calls(("read_file", {"path": "a.txt"}), ("read_file", {"path": "none"})), says("ok")) as site:
        page.goto(f"{site.address}/chat")
        send(page, "go")
        wait_until_quiet(page)
        states = [step.get_attribute("data-state") for step in page.locator(".step").all()]
        assert states == ["done", "failed"]
        expect(page.locator(".steps > summary")).to_have_text("2 steps, 1 failed")
        page.locator(".steps > summary").press("Enter")
        page.locator(".step > summary").first.press("Enter")
        expect(page.locator(".step").first.locator(".output")).to_contain_text("alpha")
        page.reload()
        expect(page.locator(".steps > summary")).to_have_text("2 steps, 1 failed")


def test_a_failed_turn_says_why_and_can_be_tried_again(serve: Serve, page: Page) -> None:
    refused = ProviderError("The key was refused", fault=ProviderFault.BAD_KEY, hint="Check the key")
    with serve([refused], says("fine now")) as site:
        page.goto(f"{site.address}/chat")
        send(page, "go")
        expect(page.locator(".outcome")).to_contain_text("The key was refused")
        page.get_by_role("button", name="Try again").click()
        expect(page.locator(".message-answer").last).to_contain_text("fine now")
        expect(page.locator(".outcome")).to_have_count(0)


# --- approvals ---


def test_an_approval_is_found_and_given_with_the_keyboard_alone(serve: Serve, page: Page, home: DataDirectory) -> None:
    with serve(WRITE, says("written")) as site:
        page.goto(f"{site.address}/chat")
        send(page, "write it")
        expect(page.locator(".approval")).to_be_visible()
        page.keyboard.press("Shift+Tab")
        # The card may come while the page still attaches to its new conversation; then the way leads around once more.
        for _ in range(60):
            if page.evaluate("document.activeElement.dataset.answer") == "approve":
                break
            page.keyboard.press("Shift+Tab")
        page.keyboard.press("Enter")
        wait_until_quiet(page)
        expect(page.locator(".approval")).to_have_count(0)
        expect(page.locator("#message")).to_be_focused()
    assert (home.workspace / "plan.txt").read_text(encoding="utf-8") == "first"


def test_an_approval_does_not_take_the_focus_from_somebody_who_writes(serve: Serve, page: Page) -> None:
    with serve(says("hello"), WRITE) as site:
        page.goto(f"{site.address}/chat")
        send(page, "hi")
        wait_until_quiet(page)
        page.evaluate(
            """session => fetch("/ui/chat/send", {method: "POST", headers: {accept: "application/json"},
               body: new URLSearchParams({text: "write it", session_id: session})})""",
            page.locator("#chat").get_attribute("data-session"),
        )
        page.locator("#message").press_sequentially("I am still writ")
        expect(page.locator(".approval")).to_be_visible()
        page.keyboard.type("ing")
        expect(page.locator("#message")).to_have_value("I am still writing")


def test_no_and_instead_is_told_to_the_model_and_nothing_runs(serve: Serve, page: Page, home: DataDirectory) -> None:
    with serve(WRITE, says("I use another name")) as site:
        page.goto(f"{site.address}/chat")
        send(page, "write it")
        page.locator(".approval [name=instead]").fill("call it b.txt")
        page.locator(".approval [name=instead]").press("Enter")
        wait_until_quiet(page)
        expect(page.locator(".step .output")).to_contain_text("call it b.txt")
    assert not (home.workspace / "plan.txt").exists()


def test_arguments_can_be_edited_and_a_slip_is_told_without_losing_the_card(
    serve: Serve, page: Page, home: DataDirectory
) -> None:
    with serve(WRITE, says("ok")) as site:
        page.goto(f"{site.address}/chat")
        send(page, "write it")
        page.locator(".approval .arguments > summary").click()
        page.get_by_label("Path").fill("")
        page.get_by_role("button", name="Allow", exact=True).click()
        expect(page.locator(".approval .field-error")).to_be_visible()
        page.get_by_label("Path").fill("other.txt")
        page.get_by_label("Content").fill("second\nline")
        page.get_by_role("button", name="Allow", exact=True).click()
        wait_until_quiet(page)
    assert (home.workspace / "other.txt").read_text(encoding="utf-8") == "second\nline"
    assert not (home.workspace / "plan.txt").exists()


def test_an_approval_survives_a_reload(serve: Serve, page: Page, home: DataDirectory) -> None:
    with serve(WRITE, says("ok")) as site:
        page.goto(f"{site.address}/chat")
        send(page, "write it")
        expect(page.locator(".approval")).to_be_visible()
        page.reload()
        expect(page.locator(".approval")).to_have_count(1)
        page.get_by_role("button", name="Allow", exact=True).click()
        wait_until_quiet(page)
    assert (home.workspace / "plan.txt").exists()


def test_a_question_is_answered_by_a_click(serve: Serve, page: Page) -> None:
    question = calls(("ask_user", {"question": "Which folder?", "options": ["Here", "There"]}))
    with serve(question, says("There it is.")) as site:
        page.goto(f"{site.address}/chat")
        send(page, "go")
        expect(page.locator(".approval h3")).to_have_text("Which folder?")
        page.get_by_role("button", name="There").click()
        wait_until_quiet(page)
        expect(page.locator(".step .output")).to_contain_text("There")


# --- the message field ---


def test_a_draft_is_kept_for_its_conversation(serve: Serve, page: Page) -> None:
    with serve(says("ok")) as site:
        page.goto(f"{site.address}/chat")
        page.locator("#message").fill("for later")
        page.goto(f"{site.address}/settings")
        page.goto(f"{site.address}/chat")
        expect(page.locator("#message")).to_have_value("for later")
        page.locator("#message").press("Enter")
        page.wait_for_url("**/chat/session_*")
        expect(page.locator("#message")).to_have_value("")
        page.goto(f"{site.address}/chat")
        expect(page.locator("#message")).to_have_value("")


def test_shift_enter_begins_a_line(serve: Serve, page: Page) -> None:
    with serve(says("ok")) as site:
        page.goto(f"{site.address}/chat")
        page.locator("#message").press_sequentially("one")
        page.keyboard.press("Shift+Enter")
        page.keyboard.type("two")
        expect(page.locator("#message")).to_have_value("one\ntwo")


def test_commands_and_tools_complete_with_the_keyboard(serve: Serve, page: Page, home: DataDirectory) -> None:
    (home.workspace / "notes.txt").write_text("buy milk", encoding="utf-8")
    with serve(says("unused")) as site:
        page.goto(f"{site.address}/chat")
        page.locator("#message").press_sequentially("/to")
        page.keyboard.press("Enter")
        page.keyboard.type("read_f")
        expect(page.locator("#palette [aria-selected=true]")).to_contain_text("read_file")
        page.keyboard.press("Tab")
        expect(page.locator("#message")).to_have_value("/tool read_file path=")
        expect(page.locator("#usage")).to_contain_text("/tool read_file path=")
        page.keyboard.type("notes.txt")
        page.keyboard.press("Enter")
        wait_until_quiet(page)
        expect(page.locator(".step .output")).to_contain_text("buy milk")


def test_help_lists_keys_and_commands(serve: Serve, page: Page) -> None:
    with serve(says("unused")) as site:
        page.goto(f"{site.address}/chat")
        send(page, "/help")
        dialog = page.get_by_role("dialog", name="Keys and commands")
        expect(dialog).to_contain_text("/tool")
        expect(dialog).to_contain_text("stop the running turn")
        page.keyboard.press("Escape")
        expect(dialog).to_be_hidden()


def test_an_example_is_put_into_the_field(serve: Serve, page: Page) -> None:
    with serve(says("unused")) as site:
        page.goto(f"{site.address}/chat")
        page.locator(".example").first.click()
        expect(page.locator("#message")).to_have_value("Write a packing list for a weekend at the sea into packing.md")
        expect(page.locator("#message")).to_be_focused()


# --- long conversations ---


def many(count: int) -> Sequence[Message]:
    return [
        message
        for number in range(count)
        for message in (
            text_message(Role.USER, f"question {number}"),
            Message(role=Role.ASSISTANT, content=(TextPart(f"answer {number}\n\n" + "words " * 40),)),
        )
    ]


def test_older_messages_come_on_the_way_up_and_what_is_read_stays_in_place(serve: Serve, page: Page) -> None:
    with serve(says("unused")) as site:
        session = site.app.sessions.create()
        site.app.sessions.append(session.id, *many(60))
        page.goto(f"{site.address}/chat/{session.id}")
        expect(page.locator("#m-119")).to_be_in_viewport()
        expect(page.locator("#m-89")).to_have_count(0)
        page.locator("#m-92").evaluate("element => element.scrollIntoView({block: 'start'})")
        top = page.locator("#m-92").bounding_box()
        expect(page.locator("#m-89")).to_be_attached()
        after = page.locator("#m-92").bounding_box()
        assert top is not None
        assert after is not None
        assert abs(top["y"] - after["y"]) < 2


def test_new_output_below_does_not_pull_a_reader_down(serve: Serve, page: Page) -> None:
    with serve([TextPiece("a\n\n"), *[TextPiece(f"line {number}\n\n") for number in range(60)], Hang()]) as site:
        session = site.app.sessions.create()
        site.app.sessions.append(session.id, *many(5))
        page.goto(f"{site.address}/chat/{session.id}")
        page.locator("#scroll").evaluate("element => { element.scrollTop = 0; }")
        page.evaluate("""session => fetch("/ui/chat/" + session + "/resume", {method: "POST"})""", str(session.id))
        expect(page.get_by_role("button", name="New output")).to_be_visible()
        assert page.locator("#scroll").evaluate("element => element.scrollTop") < 5
        page.get_by_role("button", name="New output").click()
        expect(page.get_by_text("line 59", exact=True)).to_be_in_viewport()


# --- the list ---


def test_a_conversation_is_renamed_deleted_and_brought_back(serve: Serve, page: Page) -> None:
    with serve(says("ok")) as site:
        session = site.app.sessions.create()
        site.app.sessions.append(session.id, text_message(Role.USER, "Holiday photos"))
        page.goto(f"{site.address}/chat/{session.id}")
        page.locator(".bar").get_by_role("button", name="Rename").click()
        page.get_by_role("textbox", name="Name").fill("Summer")
        page.keyboard.press("Enter")
        expect(page.locator("#session-title")).to_have_text("Summer")
        expect(page.locator(".session.current")).to_contain_text("Summer")
        page.locator(".session.current").get_by_role("button", name="Actions for").click()
        page.get_by_role("menuitem", name="Delete").click()
        page.wait_for_url("**/chat?deleted=*")
        expect(page.locator(".session")).to_have_count(0)
        page.get_by_role("button", name="Undo").click()
        expect(page.locator(".session")).to_contain_text("Summer")


def test_the_search_finds_words_inside_conversations(serve: Serve, page: Page) -> None:
    with serve(says("ok")) as site:
        for words in ("the lighthouse keeper", "a tax letter"):
            made = site.app.sessions.create(title="Untold")
            site.app.sessions.append(made.id, text_message(Role.USER, words))
        page.goto(f"{site.address}/chat")
        page.get_by_label("Search conversations").fill("lighthouse")
        expect(page.locator(".session")).to_have_count(1)


def test_the_page_comes_back_by_itself_after_the_program_was_restarted(serve: Serve, page: Page) -> None:
    with serve(says("first life")) as site:
        page.goto(f"{site.address}/chat")
        send(page, "hello")
        wait_until_quiet(page)
        port = int(site.address.rpartition(":")[2])
    with serve(says("second life"), port=port):
        send(page, "are you there")
        expect(page.locator(".message-answer").last).to_contain_text("second life", timeout=15_000)
