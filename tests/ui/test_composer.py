"""The message field as a person has it: files by button, paste and drop, who answers, commands, drafts."""

import base64
import json

import pytest
from playwright.sync_api import BrowserContext, FilePayload, Page, expect

from skales.core.ids import SessionId
from skales.core.message import FilePart, ImagePart
from skales.data.paths import DataDirectory
from tests.scripted import Hang, says
from tests.ui.conftest import Serve, Site, Witness, find_faults, send, wait_until_quiet

pytestmark = pytest.mark.ui

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)
PROVIDERS = {
    "activeProvider": "openai",
    "providers": {
        "openai": {"enabled": True, "apiKey": "sk-1", "model": "gpt-5.5"},
        "groq": {"enabled": True, "apiKey": "sk-2", "model": "blind-model"},
    },
}
# Makes files in the page, as a paste or a drop brings them.
TRANSFER = """([kind, selector, files, text]) => {
  const data = new DataTransfer();
  for (const [name, type, content] of files) data.items.add(new File([content], name, { type }));
  if (text) data.setData("text/plain", text);
  const target = document.querySelector(selector);
  const event = kind === "paste"
    ? new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true })
    : new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true });
  target.dispatchEvent(event);
}"""


@pytest.fixture(autouse=True)
def configured(home: DataDirectory) -> None:
    home.settings.write_text(json.dumps(PROVIDERS), encoding="utf-8")


def choose_files(page: Page, *files: tuple[str, bytes]) -> None:
    with page.expect_file_chooser() as chooser:
        page.locator("#attach").click()
    payloads: list[FilePayload] = [{"name": name, "mimeType": "", "buffer": content} for name, content in files]
    chooser.value.set_files(payloads)


def transfer(page: Page, kind: str, selector: str, *files: tuple[str, str, str], text: str = "") -> None:
    page.evaluate(TRANSFER, [kind, selector, [list(file) for file in files], text])


def session_of(page: Page) -> SessionId:
    return SessionId(page.url.rsplit("/", 1)[1])


def test_chosen_files_go_with_the_message_and_show_in_it(serve: Serve, page: Page, witness: Witness) -> None:
    with serve(says("Seen.")) as site:
        page.goto(f"{site.address}/chat")
        choose_files(page, ("cat.png", PNG), ("notes.md", b"buy milk"))
        expect(page.locator("#attachments [data-id]")).to_have_count(2)
        expect(page.locator("#announcer")).to_have_text("Attached notes.md")
        send(page, "What is this?")
        expect(page.locator(".message-user .sent-files .name")).to_have_text("notes.md")
        expect(page.locator(".message-user img")).to_have_attribute("alt", "cat.png")
        wait_until_quiet(page)
        expect(page.locator("#attachments")).to_be_hidden()
        picture, file, _text = site.app.sessions.load(session_of(page)).messages[0].content
        assert isinstance(picture, ImagePart)
        assert isinstance(file, FilePart)
        assert file.text == "buy milk"
    assert witness.complaints == []


def test_files_come_by_paste_and_by_drop_and_text_stays_text(serve: Serve, page: Page) -> None:
    with serve(says("ok")) as site:
        page.goto(f"{site.address}/chat")
        transfer(page, "paste", "#message", ("shot.txt", "text/plain", "pasted"))
        expect(page.locator("#attachments [data-name='shot.txt']")).to_be_visible()
        transfer(page, "dragover", "#chat", ("drop.txt", "text/plain", "dropped"))
        expect(page.locator("#drop-zone")).to_be_visible()
        transfer(page, "drop", "#chat", ("drop.txt", "text/plain", "dropped"))
        expect(page.locator("#drop-zone")).to_be_hidden()
        expect(page.locator("#attachments [data-id]")).to_have_count(2)
        transfer(page, "dragover", "#chat", text="only words")
        expect(page.locator("#drop-zone")).to_be_hidden()


def test_long_pasted_text_is_offered_as_a_file_and_stays_text_otherwise(serve: Serve, page: Page) -> None:
    with serve(says("ok")) as site:
        page.goto(f"{site.address}/chat")
        long = "word " * 1000
        page.locator("#message").fill(f"Before {long}")
        transfer(page, "paste", "#message", text=long)
        expect(page.locator("#pasted")).to_contain_text("5,000 characters pasted")
        page.get_by_role("button", name="Attach it as a file").click()
        expect(page.locator("#attachments [data-name='Pasted text.txt']")).to_be_visible()
        expect(page.locator("#message")).to_have_value("Before ")
        expect(page.locator("#pasted")).to_be_hidden()


def test_a_file_is_removed_by_keyboard_and_said_aloud(serve: Serve, page: Page) -> None:
    with serve(says("ok")) as site:
        page.goto(f"{site.address}/chat")
        choose_files(page, ("a.txt", b"a"), ("b.txt", b"b"))
        expect(page.locator("#attachments [data-id]")).to_have_count(2)
        page.get_by_role("button", name="Remove a.txt").focus()
        page.keyboard.press("Enter")
        expect(page.locator("#announcer")).to_have_text("Removed a.txt")
        expect(page.get_by_role("button", name="Remove b.txt")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator("#message")).to_be_focused()
        expect(page.locator("#attachments")).to_be_hidden()


def test_what_cannot_be_attached_says_why(serve: Serve, page: Page) -> None:
    with serve(says("ok")) as site:
        page.goto(f"{site.address}/chat")
        choose_files(page, ("empty.txt", b""))
        expect(page.locator(".toast")).to_contain_text("'empty.txt' is empty. Choose a file with content.")
        expect(page.locator("#attachments")).to_be_hidden()


def test_a_draft_with_files_and_choice_survives_a_reload_and_goes_when_it_is_sent(serve: Serve, page: Page) -> None:
    with serve(says("ok")) as site:
        page.goto(f"{site.address}/chat")
        page.locator("#message").fill("half a thought")
        choose_files(page, ("notes.md", b"buy milk"))
        expect(page.locator("#attachments [data-id]")).to_have_count(1)
        choose_model(page, "blind")
        page.reload()
        expect(page.locator("#message")).to_have_value("half a thought")
        expect(page.locator("#attachments [data-id]")).to_have_count(1)
        expect(page.locator("#chooser .label")).to_have_text("blind-model")
        page.locator("#message").press("Enter")
        expect(page.locator(".message-user")).to_be_visible()
        assert site.app.sessions.load(session_of(page)).model == "blind-model"
        page.goto(f"{site.address}/chat")
        expect(page.locator("#message")).to_have_value("")
        expect(page.locator("#attachments")).to_be_hidden()
        expect(page.locator("#chooser .label")).to_have_text("gpt-5.5")


def test_what_one_tab_sent_does_not_come_back_in_another(serve: Serve, page: Page, context: BrowserContext) -> None:
    with serve(says("ok")) as site:
        page.goto(f"{site.address}/chat")
        page.locator("#message").fill("the same thought")
        other = context.new_page()
        other.goto(f"{site.address}/chat")
        expect(other.locator("#message")).to_have_value("the same thought")
        page.locator("#message").press("Enter")
        expect(page.locator(".message-user")).to_be_visible()
        expect(other.locator("#message")).to_have_value("")


def test_a_message_that_is_refused_stays_in_the_field(serve: Serve, page: Page) -> None:
    with serve(says("ok")) as site:
        page.goto(f"{site.address}/chat")
        page.route("**/ui/chat/send", lambda route: route.abort())
        send(page, "important words")
        expect(page.locator(".toast")).to_contain_text("Skales does not answer")
        expect(page.locator("#message")).to_have_value("important words")
        page.reload()
        expect(page.locator("#message")).to_have_value("important words")


def choose_model(page: Page, typed: str) -> None:
    page.locator("#chooser").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#picker-query")).to_be_focused()
    expect(page.locator("#picker-list [role=option]").first).to_be_visible()
    page.keyboard.type(typed)
    page.keyboard.press("Enter")
    expect(page.locator("#picker")).to_be_hidden()


def begin(page: Page, site: Site) -> None:
    page.goto(f"{site.address}/chat")
    send(page, "hello")
    expect(page.locator(".message-answer")).to_be_visible()
    wait_until_quiet(page)


def test_the_model_of_a_conversation_is_chosen_by_keyboard(serve: Serve, page: Page) -> None:
    with serve(says("ok")) as site:
        begin(page, site)
        choose_model(page, "blind")
        expect(page.locator("#message")).to_be_focused()
        expect(page.locator("#chooser .label")).to_have_text("blind-model")
        session = site.app.sessions.load(session_of(page))
        assert (session.provider, session.model) == ("groq", "blind-model")
        page.reload()
        expect(page.locator("#chooser .label")).to_have_text("blind-model")


def test_a_model_is_chosen_by_its_typed_name(serve: Serve, page: Page) -> None:
    with serve(says("ok")) as site:
        begin(page, site)
        page.locator("#chooser").click()
        page.locator("#picker-query").fill("brand-new-model")
        page.get_by_role("option", name="Use brand-new-model with OpenAI").click()
        expect(page.locator("#chooser .label")).to_have_text("brand-new-model")
        assert site.app.sessions.load(session_of(page)).model == "brand-new-model"


def test_a_model_that_does_not_see_is_named_before_sending(serve: Serve, page: Page) -> None:
    with serve(says("ok")) as site:
        page.goto(f"{site.address}/chat")
        choose_files(page, ("cat.png", PNG))
        expect(page.locator("#attachments [data-id]")).to_have_count(1)
        expect(page.locator("#blind")).to_be_hidden()
        choose_model(page, "blind")
        expect(page.locator("#blind")).to_have_text("blind-model cannot see pictures; it will be told their names.")
        page.get_by_role("button", name="Remove cat.png").click()
        expect(page.locator("#blind")).to_be_hidden()


def test_an_unknown_command_is_kept_and_can_be_sent_as_text(serve: Serve, page: Page) -> None:
    with serve(says("ok")) as site:
        page.goto(f"{site.address}/chat")
        send(page, "/xyzzy")
        expect(page.locator("#told")).to_contain_text("There is no command /xyzzy")
        expect(page.locator("#message")).to_have_value("/xyzzy")
        page.get_by_role("button", name="Send as text").click()
        expect(page.locator(".message-user .words")).to_have_text("/xyzzy")


def test_commands_answer_above_the_field(serve: Serve, page: Page) -> None:
    with serve(says("ok")) as site:
        begin(page, site)
        send(page, "/version")
        expect(page.locator("#told")).to_contain_text("Skales ")
        expect(page.locator("#message")).to_have_value("")
        page.locator("#told").get_by_role("button", name="Close").click()
        expect(page.locator("#told")).to_be_hidden()
        send(page, "/model blind-model")
        expect(page.locator("#chooser .label")).to_have_text("blind-model")
        send(page, "/model nowhere")
        expect(page.locator("#picker-query")).to_have_value("nowhere")
        page.keyboard.press("Escape")
        send(page, "/help")
        expect(page.locator("#help-dialog")).to_be_visible()


def test_files_wait_with_their_message_while_an_answer_runs(serve: Serve, page: Page) -> None:
    with serve([Hang()]) as site:
        page.goto(f"{site.address}/chat")
        send(page, "first")
        expect(page.locator("#stop")).to_be_visible()
        choose_files(page, ("notes.md", b"buy milk"))
        expect(page.locator("#attachments [data-id]")).to_have_count(1)
        send(page, "second")
        expect(page.locator(".queued")).to_contain_text("notes.md")
        expect(page.locator("#attachments")).to_be_hidden()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_is_wrong_with_cards_picker_and_answers(serve: Serve, page: Page, theme: str) -> None:
    with serve(says("ok")) as site:
        page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
        page.goto(f"{site.address}/chat")
        choose_files(page, ("cat.png", PNG), ("notes.md", b"buy milk"))
        expect(page.locator("#attachments [data-id]")).to_have_count(2)
        send(page, "/version")
        expect(page.locator("#told")).to_be_visible()
        assert find_faults(page) == []
        page.locator("#chooser").click()
        expect(page.locator("#picker-list [role=option]").first).to_be_visible()
        assert find_faults(page) == []
