"""Rows about what a person sees: from the click on a conversation until its newest message is on the screen."""

from collections.abc import Iterator, Sequence

from playwright.sync_api import Browser, BrowserContext

from bench.launch import open_browser
from bench.programs import Program, Stage, run_proxy, run_skales
from bench.stored import write_session
from bench.table import Row, Target

_OTHERS = 60
# Two frames after the element is there and in sight, it has been drawn.
_WATCH = """
window.painted = new Promise((done) => {
  const look = () => {
    const box = document.querySelector(SELECTOR)?.getBoundingClientRect();
    if (!box?.height || box.top >= innerHeight || box.bottom <= 0) return requestAnimationFrame(look);
    requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now())));
  };
  look();
});
"""


def measure_long_paint(stage: Stage, messages: int, repeats: int) -> Iterator[Row]:
    """A conversation with very many messages beside sixty others, read from the disk and again from memory."""
    home = stage.new_home("painted")
    (home / "sessions").mkdir()
    for number in range(1, _OTHERS + 1):
        write_session(home, number, 6)
    path = f"/chat/{write_session(home, 0, messages)}"
    newest = f"#m-{messages - 1}"
    first: list[float] = []
    again: list[float] = []
    with open_browser() as browser:
        for _ in range(repeats):
            with run_skales(home) as program:
                opened, *later = _paint_each_ms(browser, program, ["/chat", path, path, path], newest)
            first.append(opened)
            again += later
        with run_proxy(stage) as program:
            bare = _paint_each_ms(browser, program, ["/"] * (repeats + 1), "body")
    baseline = "FastAPI, one-line page"
    name = f"{messages:,} messages, newest painted"
    limit = Target(300, of="value")
    yield Row(name=f"{name}, first", unit="ms", samples=first, baseline=baseline, beside=bare, target=limit)
    yield Row(name=f"{name}, again", unit="ms", samples=again, baseline=baseline, beside=bare, target=limit)


def _paint_each_ms(browser: Browser, program: Program, paths: Sequence[str], selector: str) -> Sequence[float]:
    """From each navigation on; the first path only makes the browser and the server know each other."""
    context = browser.new_context(viewport={"width": 1200, "height": 800})
    try:
        context.new_page().goto(program.url + paths[0], wait_until="load")
        return [_paint_ms(context, program.url + path, selector) for path in paths[1:]]
    finally:
        context.close()


def _paint_ms(context: BrowserContext, address: str, selector: str) -> float:
    page = context.new_page()
    page.add_init_script(_WATCH.replace("SELECTOR", repr(selector)))
    page.goto(address, wait_until="commit")
    moment = float(page.evaluate("window.painted"))
    page.close()
    return moment
