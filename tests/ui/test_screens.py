"""Every screen: nothing for axe to find, nothing loaded from elsewhere, usable on a phone and with the keyboard."""

import json
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from skales.core.ids import SessionId
from skales.core.message import Message, Role, TextPart, Usage, text_message
from skales.core.ports import Finished, FinishReason, TextPiece
from skales.core.tool import ToolCall
from skales.data.paths import DataDirectory
from tests.conftest import CASES
from tests.scripted import calls, says
from tests.ui.conftest import Serve, Site, Witness, find_faults, send, wait_until_quiet

pytestmark = pytest.mark.ui

HOSTILE = (CASES / "render" / "RND-01-answer.md").read_text(encoding="utf-8")
EXPECTED = json.loads((CASES / "render" / "RND-01-answer.expected.json").read_text(encoding="utf-8"))

RICH = """# Title

Some **bold** and `code` with a [link](https://example.org).

### Deeper

- [x] done
- [ ] open

> quoted

| a | b |
|---|--:|
| 1 | 2 |

```python
print("hello")  # a comment
```

![chart](https://pictures.example/a.png)
"""


def fill(site: Site) -> str:
    """A conversation with one of everything."""
    session = site.app.sessions.create()
    call = ToolCall("c1", "read_file", {"path": "a.txt"})
    site.app.sessions.append(
        session.id,
        text_message(Role.USER, "Compare the files"),
        Message(role=Role.ASSISTANT, tool_calls=(call, ToolCall("c2", "read_file", {"path": "b"})), reasoning="Hm."),
        Message(role=Role.TOOL, tool_call_id="c1", content=(TextPart("alpha"),), duration_ms=3),
        Message(role=Role.TOOL, tool_call_id="c2", content=(TextPart("no such file"),), is_error=True),
        Message(role=Role.ASSISTANT, content=(TextPart(RICH),), model="demo", usage=Usage(10, 5), incomplete="cut"),
    )
    return session.id


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_no_screen_has_a_fault_that_axe_can_find(
    serve: Serve, browser: Browser, scheme: Literal["light", "dark"], width: int
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    with serve(says("unused")) as site:
        session_id = fill(site)
        for path in ("/chat", f"/chat/{session_id}", "/tools", "/tools/write_file", "/settings", "/chat/session_1"):
            page.goto(f"{site.address}{path}")
            for summary in page.locator("details > summary").all()[:8]:
                if summary.is_visible():
                    summary.click()
            assert find_faults(page) == [], path
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
        context.close()


def test_a_waiting_approval_has_no_fault_that_axe_can_find(serve: Serve, page: Page) -> None:
    with serve(calls(("write_file", {"path": "n.txt", "content": "x"})), says("ok")) as site:
        page.goto(f"{site.address}/chat")
        send(page, "write")
        page.locator(".approval .arguments > summary").click()
        assert find_faults(page) == []


def test_hostile_output_asks_nobody_and_runs_nothing_while_it_streams_and_after(
    serve: Serve, page: Page, witness: Witness
) -> None:
    with serve([*[TextPiece(character) for character in HOSTILE], Finished(FinishReason.STOP)]) as site:
        page.goto(f"{site.address}/chat")
        send(page, "go")
        wait_until_quiet(page)
        page.reload()
        text = page.locator(".message-answer .prose").inner_text()
        html = page.locator(".message-answer .prose").inner_html().lower()
    assert witness.foreign_requests == []
    assert witness.dialogs == []
    assert all(part in text for part in EXPECTED["visible_text_contains"])
    assert [part for part in EXPECTED["html_lacks"] if part in html] == []


def test_the_drawer_works_with_the_keyboard_and_gives_the_focus_back(serve: Serve, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    with serve(says("unused")) as site:
        page.goto(f"{site.address}/settings")
        menu = page.get_by_role("button", name="Open the menu")
        expect(page.locator("#sidebar").get_by_role("link", name="Tools")).to_be_hidden()
        menu.press("Enter")
        expect(page.locator("#sidebar").get_by_role("link", name="Tools")).to_be_visible()
        assert page.evaluate("document.getElementById('main').inert")
        page.keyboard.press("Escape")
        expect(page.locator("#sidebar").get_by_role("link", name="Tools")).to_be_hidden()
        expect(menu).to_be_focused()


def test_the_first_tab_skips_to_the_content(serve: Serve, page: Page) -> None:
    with serve(says("unused")) as site:
        page.goto(f"{site.address}/settings")
        page.keyboard.press("Tab")
        expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator("#main")).to_be_focused()


def test_a_tool_is_found_filled_in_and_run_with_the_keyboard(serve: Serve, page: Page, home: DataDirectory) -> None:
    (home.workspace / "notes.txt").write_text("buy milk", encoding="utf-8")
    with serve(says("unused")) as site:
        page.goto(f"{site.address}/tools")
        page.get_by_label("Search tools").fill("read_file")
        expect(page.locator("#tool-groups a")).to_have_count(1)
        page.locator("#tool-groups a").press("Enter")
        page.get_by_label("Path required").fill("notes.txt")
        page.keyboard.press("Enter")
        expect(page.locator("#tool-result .output")).to_contain_text("buy milk")


def test_settings_are_saved_as_they_are_changed_and_a_key_never_stays_in_the_page(
    serve: Serve, page: Page, witness: Witness
) -> None:
    key = "sk-test-0123456789abcdefghijklmnop"
    with serve(says("unused")) as site:
        page.goto(f"{site.address}/settings/providers")
        page.locator("#provider-openai > summary").click()
        page.locator("#provider-openai-key-value").fill(key)
        page.locator("#setting-providers-openai-model-value").fill("gpt-x")
        page.keyboard.press("Tab")
        expect(page.locator("#setting-providers-openai-model .saved")).to_be_visible()
        expect(page.locator("#provider-openai-key-value")).to_have_value("")
        assert key not in page.content()
        page.locator("#provider-openai").get_by_role("button", name="Let this one answer").click()
        expect(page.locator(".provider").first).to_contain_text("Answers")
        assert site.app.settings.load().provider("openai").api_key == key
        page.goto(f"{site.address}/settings")
        page.get_by_text("Dark", exact=True).click()
        expect(page.locator("#setting-theme .saved")).to_contain_text("Saved")
        expect(page.locator("html")).to_have_attribute("data-theme", "dark")
        page.get_by_text("Do not ask").click()
        page.locator("#setting-safetyMode").get_by_role("button", name="Switch", exact=True).click()
        expect(page.locator("#setting-safetyMode .saved")).to_contain_text("Saved")
        assert site.app.settings.load().safety_mode == "advanced"
    assert witness.complaints == []


def test_a_failed_connection_test_says_what_to_do(serve: Serve, page: Page) -> None:
    with serve(says("unused")) as site:
        page.goto(f"{site.address}/settings/providers")
        page.locator("#provider-custom > summary").click()
        page.locator("#setting-providers-custom-baseUrl-value").fill("http://127.0.0.1:9/v1")
        page.locator("#provider-custom").get_by_role("button", name="Test the connection").click()
        expect(page.locator("#provider-custom-report [role=alert]")).to_be_visible()


def test_motion_stops_for_those_who_asked_for_it(serve: Serve, browser: Browser) -> None:
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    with serve(says("unused")) as site:
        page.goto(f"{site.address}/chat")
        assert page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--calm')") == "0ms"
        context.close()


def test_without_scripts_a_message_is_sent_and_answered(serve: Serve, browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    with serve(says("Hello there.")) as site:
        page.goto(f"{site.address}/chat")
        page.locator("#message").fill("hi")
        page.locator("#send").click()
        page.wait_for_url("**/chat/session_*")
        while site.app.turns.running(SessionId(page.url.rpartition("/")[2])):
            page.wait_for_timeout(20)
        page.reload()
        expect(page.locator(".message-answer")).to_contain_text("Hello there.")
        context.close()
