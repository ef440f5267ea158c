"""How answers behave in Chromium: streaming that moves nothing, blocks with buttons, frames that reach nobody."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Page, expect

from skales.core.ports import Finished, FinishReason, ProviderEvent, TextPiece
from skales.data.paths import DataDirectory
from tests.scripted import Hang, says
from tests.ui.conftest import Serve, Witness, find_faults, send, wait_until_quiet

pytestmark = pytest.mark.ui

PICTURE = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAACCAYAAACZgbYnAAAAC0lEQVR4nGNgQAcAABIAAQVmOBEAAAAASUVORK5CYII="
)

MIXED = f"""# A heading

A paragraph with **bold**, `code` and a [link](https://example.org/x), long enough to take more than a single line on \
the page, so that wrapping matters for what is shown while it comes.

## Steps

1. First, with `code`
2. Second
   - nested
   - nested too
3. Third

> A quotation
> of two lines

```python
def greet(name: str) -> str:
    return f"Hello {{name}}"
```

- a point
- [x] a task

| name | size |
|---|---|
| one | 1,024 |
| two | 7 |

$$
\\int_0^1 x^2\\,dx = \\frac{{1}}{{3}}
$$

Inline $$a^2+b^2$$ and a price of $5 or $6.

![dot]({PICTURE})

### The end

Last words."""

DIAGRAM = "```mermaid\nflowchart LR\n  A[Start] --> B[End]\n```"

WATCH_SHIFTS = """() => {
  window.shifts = [];
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const moved = entry.sources.map((source) => source.node?.outerHTML?.slice(0, 80));
      if (!entry.hadRecentInput) window.shifts.push([entry.value, moved]);
    }
  }).observe({ type: "layout-shift", buffered: true });
}"""

# Every finished block gets a number when it is seen first; one that goes away while the answer goes on is remembered.
WATCH_BLOCKS = """() => {
  window.lost = [];
  new MutationObserver((records) => {
    for (const record of records) {
      if (!record.target.matches?.(".streaming .prose")) continue;
      for (const node of record.removedNodes) {
        if (node.nodeType === 1 && !node.matches(".tail")) window.lost.push(node.outerHTML.slice(0, 80));
      }
    }
  }).observe(document.getElementById("scroll"), { childList: true, subtree: true });
}"""


def bits(text: str, size: int = 3) -> list[ProviderEvent]:
    return [TextPiece(text[start : start + size]) for start in range(0, len(text), size)]


def ask(page: Page, address: str) -> None:
    page.goto(f"{address}/chat")
    send(page, "go")
    wait_until_quiet(page)
    expect(page.locator(".message-answer:not(.streaming)")).to_have_count(1)


# An address of this computer that nothing else comes to by accident.
ELSEWHERE = "127.0.0.77"


@contextmanager
def listener() -> Iterator[tuple[int, list[str]]]:
    """A port of somebody else, over TCP and UDP, and whatever reached it."""
    reached: list[str] = []
    with socket.socket() as tcp, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        tcp.bind((ELSEWHERE, 0))
        port = tcp.getsockname()[1]
        udp.bind((ELSEWHERE, port))
        tcp.listen()

        def take_tcp() -> None:
            while True:
                try:
                    connection, _address = tcp.accept()
                except OSError:
                    return
                connection.close()
                reached.append("tcp")

        def take_udp() -> None:
            while True:
                try:
                    data = udp.recv(2000)
                except OSError:
                    return
                if not data:
                    return
                reached.append("udp")

        threads = [threading.Thread(target=take) for take in (take_tcp, take_udp)]
        for thread in threads:
            thread.start()
        yield port, reached
        tcp.shutdown(socket.SHUT_RDWR)
        udp.sendto(b"", (ELSEWHERE, port))
        for thread in threads:
            thread.join(5)


# --- streaming ---


def test_a_long_mixed_answer_streams_without_moving_what_is_there(serve: Serve, page: Page, witness: Witness) -> None:
    text = "\n\n".join([MIXED] * 3)
    with serve([*bits(text), Finished(FinishReason.STOP)]) as site:
        page.goto(f"{site.address}/chat")
        page.evaluate(WATCH_SHIFTS)
        send(page, "go")
        page.wait_for_url("**/chat/session_*")
        page.evaluate(WATCH_SHIFTS)
        wait_until_quiet(page)
        expect(page.locator(".message-answer .prose table")).to_have_count(3)
        shifts = page.evaluate("window.shifts")
    assert sum(value for value, _sources in shifts) < 0.05, shifts
    assert witness.complaints == []


def test_a_finished_block_is_never_replaced_while_the_answer_goes_on(serve: Serve, page: Page) -> None:
    with serve(says("ready"), [*bits("\n\n".join([MIXED] * 2)), TextPiece("\n\nand then"), Hang()]) as site:
        ask(page, site.address)
        page.evaluate(WATCH_BLOCKS)
        send(page, "go on")
        expect(page.locator(".streaming .tail")).to_have_text("and then")
        assert page.locator(".streaming .prose > *").count() > 20
        assert page.evaluate("window.lost") == []


def test_unfinished_maths_and_diagrams_are_text(serve: Serve, page: Page) -> None:
    with serve([*bits(f"{DIAGRAM}\n\n$$\na +\n"), Hang()]) as site:
        page.goto(f"{site.address}/chat")
        send(page, "go")
        expect(page.locator(".streaming .tail-maths")).to_contain_text("a +")
        expect(page.locator(".streaming figure.diagram code")).to_contain_text("flowchart")
        expect(page.locator("iframe")).to_have_count(0)


# --- code, tables, maths, pictures ---


def test_code_wraps_downloads_and_unfolds(serve: Serve, page: Page) -> None:
    long_line = "x = '" + "word " * 60 + "'"
    code = "\n".join([long_line, *(f"y{number} = {number}" for number in range(60))])
    with serve(says("ready"), says(f"```python\n{code}\n```")) as site:
        ask(page, site.address)
        send(page, "go on")
        expect(page.locator("figure.code")).to_be_visible()
        wait_until_quiet(page)
        wrap = page.get_by_role("button", name="Wrap")
        assert page.evaluate("(e => e.scrollWidth > e.clientWidth)(document.querySelector('.code pre'))")
        wrap.focus()
        page.keyboard.press("Enter")
        expect(wrap).to_have_attribute("aria-pressed", "true")
        assert page.evaluate("(e => e.scrollWidth <= e.clientWidth)(document.querySelector('.code pre'))")
        with page.expect_download() as started:
            page.get_by_role("button", name="Download").click()
        assert started.value.suggested_filename == "code.py"
        assert started.value.path().read_text(encoding="utf-8") == f"{code}\n"
        expect(page.get_by_role("button", name="Show all 61 lines")).to_have_count(0)
        page.reload()
        unfold = page.get_by_role("button", name="Show all 61 lines")
        folded = page.locator(".code pre").bounding_box()
        unfold.click()
        whole = page.locator(".code pre").bounding_box()
        assert folded
        assert whole
        assert whole["height"] > 2 * folded["height"]
        expect(unfold).to_be_hidden()


def test_a_table_is_copied_as_csv_and_as_markdown(serve: Serve, page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    with serve(says('| name | n |\n|---|---|\n| a "b", c | 1,5 |\n| p\\|q | 2 |')) as site:
        ask(page, site.address)
        page.get_by_role("region", name="Table").focus()
        page.get_by_role("button", name="Copy as CSV").click()
        expect(page.get_by_role("button", name="Copied")).to_be_visible()
        assert page.evaluate("navigator.clipboard.readText()") == 'name,n\r\n"a ""b"", c","1,5"\r\np|q,2\r\n'
        page.get_by_role("button", name="Copy as Markdown").click()
        expect(page.locator(".copy-table[data-format=markdown]")).to_have_text("Copied")
        copied = '| name | n |\n| --- | --- |\n| a "b", c | 1,5 |\n| p\\|q | 2 |\n'
        assert page.evaluate("navigator.clipboard.readText()") == copied


def test_maths_is_drawn_by_the_browser(serve: Serve, page: Page, witness: Witness) -> None:
    with serve(says("$$\n\\frac{a}{b}\n$$\n\nand \\(x^2\\), and $$\\href{javascript:alert(1)}{x}$$.")) as site:
        ask(page, site.address)
        box = page.locator("mfrac").bounding_box()
        assert box
        assert box["height"] > 25
        expect(page.locator("p math")).to_have_count(1)
        expect(page.locator(".maths-source")).to_have_text("\\href{javascript:alert(1)}{x}")
    assert witness.complaints == []


def test_a_picture_opens_large_and_closes_with_escape(serve: Serve, page: Page) -> None:
    with serve(says(f"![a dot]({PICTURE})")) as site:
        ask(page, site.address)
        zoom = page.get_by_role("button", name="Enlarge a dot")
        zoom.focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("dialog", name="a dot")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(zoom).to_be_focused()


def test_files_of_the_workspace_are_cards_and_pictures(serve: Serve, page: Page, home: DataDirectory) -> None:
    (home.workspace / "plot.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><script>alert(1)</script></svg>',
        encoding="utf-8",
    )
    (home.workspace / "report.pdf").write_bytes(b"%PDF-1.4")
    with serve(says("[the report](report.pdf) ![plot](plot.svg) ![gone](gone.png)")) as site:
        ask(page, site.address)
        expect(page.locator(".from-file").first).to_have_js_property("naturalWidth", 40)
        expect(page.locator(".lost-picture")).to_contain_text("gone")
        with page.expect_download() as started:
            page.get_by_role("link", name="the report").click()
        assert started.value.suggested_filename == "report.pdf"


# --- diagrams ---


def test_a_diagram_is_drawn_apart_from_the_page(serve: Serve, page: Page, witness: Witness) -> None:
    with serve(says(f"Look:\n\n{DIAGRAM}\n\nDone.")) as site:
        ask(page, site.address)
        expect(page.locator("figure.diagram.drawn")).to_have_count(1, timeout=15000)
        frame = page.frame_locator("figure.diagram iframe")
        expect(frame.locator("svg")).to_contain_text("Start")
        expect(page.locator("figure.diagram iframe")).to_have_attribute("sandbox", "allow-scripts")
        expect(page.locator("figure.diagram pre")).to_be_hidden()
        page.get_by_role("button", name="Code").press("Enter")
        expect(page.locator("figure.diagram pre")).to_contain_text("flowchart LR")
        light = frame.locator("svg").evaluate("e => getComputedStyle(document.documentElement).colorScheme")
        page.evaluate("document.documentElement.dataset.theme = 'dark'")
        expect(frame.locator("html")).to_have_css("color-scheme", "dark")
        assert light == "light"
        assert find_faults(page) == []
    assert witness.complaints == []
    assert witness.foreign_requests == []


@pytest.mark.parametrize(
    "source",
    [
        'flowchart LR\n A --> B\n click A href "javascript:parent.alert(1)" _self',
        'flowchart LR\n A["<img src=x onerror=alert(1)>"] --> B',
        '%%{init: {"securityLevel": "loose", "flowchart": {"htmlLabels": true}}}%%\nflowchart LR\n'
        " A[\"<img src='https://attacker.example/x' onerror='alert(1)'>\"] --> B",
        '%%{init: {"themeCSS": "@import url(https://attacker.example/a.css)"}}%%\nflowchart LR\n A --> B',
    ],
)
def test_a_hostile_diagram_does_nothing(serve: Serve, page: Page, witness: Witness, source: str) -> None:
    with serve(says(f"```mermaid\n{source}\n```")) as site:
        ask(page, site.address)
        page.locator("figure.diagram:is([data-drawing=done], [data-drawing=failed])").wait_for(timeout=15000)
    assert witness.dialogs == []
    assert witness.foreign_requests == []


def test_a_broken_diagram_shows_its_source_and_the_reason(serve: Serve, page: Page) -> None:
    with serve(says("```mermaid\nflowchart LR\n A --> --> B\n```")) as site:
        ask(page, site.address)
        expect(page.locator("figure.diagram .trouble")).to_contain_text("could not be drawn", timeout=15000)
        expect(page.locator("figure.diagram pre")).to_contain_text("A --> --> B")
        expect(page.locator("figure.diagram iframe")).to_have_count(0)


# --- previews of pages ---


def test_a_page_runs_only_after_a_person_asked_and_stops_when_hidden(
    serve: Serve, page: Page, witness: Witness
) -> None:
    code = "<button onclick=\"this.textContent = 'pressed'\">Press</button><script>document.title = 'ran'</script>"
    with serve(says(f"```html\n{code}\n```")) as site:
        ask(page, site.address)
        expect(page.locator("iframe")).to_have_count(0)
        page.get_by_role("button", name="Preview").press("Enter")
        inside = page.frame_locator(".page-preview iframe")
        inside.get_by_role("button", name="Press").click()
        expect(inside.get_by_role("button", name="pressed")).to_be_visible()
        page.get_by_role("button", name="Reload").click()
        expect(inside.get_by_role("button", name="Press", exact=True)).to_be_visible()
        page.get_by_role("button", name="Open large").click()
        expect(page.frame_locator("dialog iframe").get_by_role("button", name="Press")).to_be_visible()
        assert find_faults(page) == []
        page.get_by_role("button", name="Close").click()
        expect(page.locator("dialog.large-view")).to_have_count(0)
        page.get_by_role("button", name="Show the code").click()
        expect(page.locator("iframe")).to_have_count(0)
        expect(page.locator(".code pre")).to_be_visible()
    assert witness.complaints == []


# Each tries to reach another host at `ADDRESS`, or over UDP at `PORT`, from a page that a model wrote.
ESCAPES = {
    "image": "<img src='ADDRESS'>",
    "stylesheet": "<link rel=stylesheet href='ADDRESS'>",
    "style": "<style>@import 'ADDRESS'; body { background: url(ADDRESS) }</style>",
    "script": "<script src='ADDRESS'></script>",
    "fetch": "<script>fetch('ADDRESS', {mode: 'no-cors'}).catch(() => 0); navigator.sendBeacon('ADDRESS')</script>",
    "socket": "<script>try { new WebSocket('ADDRESS'.replace('http', 'ws')) } catch {}</script>",
    "refresh": "<meta http-equiv=refresh content='0;url=ADDRESS'>",
    "location": "<script>location = 'ADDRESS'</script>",
    "top": "<script>try { top.location = 'ADDRESS' } catch {}</script>",
    "form": "<form id=f action='ADDRESS'></form><script>f.submit()</script>",
    "window": "<script>open('ADDRESS')</script>",
    "link": "<a id=a href='ADDRESS' target=_blank ping='ADDRESS'>x</a><script>a.click()</script>",
    "own link": "<a id=a href='ADDRESS'>x</a><script>a.click()</script>",
    "download": "<a id=a href='ADDRESS' download>x</a><script>a.click()</script>",
    "frame": "<iframe src='ADDRESS'></iframe><object data='ADDRESS'></object><embed src='ADDRESS'>",
    "connection ahead": "<link rel=preconnect href='ADDRESS'><link rel=dns-prefetch href='ADDRESS'>",
    "fetch ahead": "<link rel=prefetch href='ADDRESS'><link rel=modulepreload href='ADDRESS'>",
    "rules": '<script type=speculationrules>{"prerender": [{"urls": ["ADDRESS"]}]}</script>',
    "worker": "<script>try { new Worker(URL.createObjectURL(new Blob([`fetch('ADDRESS')`]))) } catch {}</script>",
    "media": "<video src='ADDRESS' autoplay></video><audio src='ADDRESS' autoplay></audio>",
    "calls": (
        "<iframe id=f></iframe><script>for (const w of [window, f.contentWindow]) try {"
        " const p = new w.RTCPeerConnection({iceServers: [{urls: 'stun:127.0.0.77:PORT'}]});"
        " p.createDataChannel('x'); p.createOffer().then((o) => p.setLocalDescription(o)); window.kept = p }"
        " catch {}</script>"
    ),
}


@pytest.mark.parametrize("name", ESCAPES)
def test_a_previewed_page_reaches_nobody(serve: Serve, page: Page, witness: Witness, name: str) -> None:
    with listener() as (port, reached):
        address = f"http://{ELSEWHERE}:{port}/out"
        code = ESCAPES[name].replace("ADDRESS", address).replace("PORT", str(port))
        with serve(says(f"```html\n<p id=here>here</p>\n{code}\n```")) as site:
            ask(page, site.address)
            where = page.url
            page.get_by_role("button", name="Preview").click()
            expect(page.locator(".page-preview iframe")).to_have_count(1)
            # Whatever the page tries begins within this; nothing tells that it did not.
            page.wait_for_timeout(700)
            assert page.url == where
            assert len(page.context.pages) == 1
    assert reached == []
    assert witness.dialogs == []


def test_the_listener_notices_a_connection() -> None:
    with listener() as (port, reached):
        socket.create_connection((ELSEWHERE, port)).close()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            udp.sendto(b"x", (ELSEWHERE, port))
        for _attempt in range(500):
            if len(reached) == 2:
                break
            threading.Event().wait(0.01)
    assert sorted(reached) == ["tcp", "udp"]


def test_a_previewed_page_cannot_touch_the_page_around_it(serve: Serve, page: Page) -> None:
    code = """<script>
const told = [];
try { parent.document.title; told.push("document") } catch {}
try { localStorage.length; told.push("storage") } catch {}
try { document.cookie; told.push("cookie") } catch {}
try { alert(1) } catch {}
parent.postMessage({ kind: "drawn", height: 9 }, "*");
parent.postMessage({ kind: "ready" }, "*");
document.body.append(Object.assign(document.createElement("output"), { textContent: `told: ${told}` }));
</script>"""
    with serve(says(f"```html\n<body>{code}\n```")) as site:
        ask(page, site.address)
        page.get_by_role("button", name="Preview").click()
        expect(page.frame_locator(".page-preview iframe").locator("output")).to_have_text("told: ")


def test_a_screen_with_every_kind_of_block_has_no_faults(
    serve: Serve, page: Page, witness: Witness, home: DataDirectory
) -> None:
    (home.workspace / "a.txt").write_text("a", encoding="utf-8")
    with serve(says(f"{MIXED}\n\n[a file](a.txt)\n\n```svg\n<svg/>\n```")) as site:
        ask(page, site.address)
        assert find_faults(page) == []
    assert witness.complaints == []
    assert witness.foreign_requests == []
