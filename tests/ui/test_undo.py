"""The undo pages in a real browser: no fault that axe can find, they fit a phone, and undo works by keyboard."""

from typing import Literal

import pytest
from playwright.sync_api import Browser, expect

from skales.data.undo_shape import ABSENT, Area, Kind, State, UndoItem, UndoStep
from tests.scripted import says
from tests.ui.conftest import Serve, Site, find_faults

pytestmark = pytest.mark.ui


def fill(site: Site) -> str:
    """Two steps of one turn with long names, one of them with a diff; the id of the newer."""
    app = site.app
    session_id = app.sessions.create(title="Tidy " + "averyveryverylongword" * 6).id
    step_id = ""
    for name in ("first", "second" * 20):
        path = app.directory.workspace / f"{name}.txt"
        path.write_text("one\ntwo\n" + "a long line " * 40, encoding="utf-8")
        with path.open("rb") as stream:
            digest = app.undo.store.blobs.keep(stream)
        found = path.stat()
        state = State(Kind.FILE, found.st_mode & 0o777, found.st_mtime_ns, found.st_size, digest, is_kept=True)
        step_id = app.undo.store.new_id()
        app.undo.store.write(
            UndoStep(
                id=step_id,
                when_ms=app.clock.now_ms(),
                tool="write_file",
                summary=f"Write 1 KB to {path}",
                session_id=session_id,
                turn_id="turn_1",
                items=(UndoItem(Area.FILE, str(path), ABSENT, state),),
                notes=("Not recorded: changes in node_modules.",),
            )
        )
    return step_id


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_pages_have_no_fault_and_fit_and_undo_with_the_keyboard(
    serve: Serve, browser: Browser, scheme: Literal["light", "dark"], width: int
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    with serve(says("unused")) as site:
        page.goto(f"{site.address}/undo")
        assert find_faults(page) == []
        step_id = fill(site)
        for address in ("/undo", f"/undo/{step_id}", f"/undo/{step_id}?turn=true"):
            page.goto(f"{site.address}{address}")
            assert find_faults(page) == []
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.get_by_role("button", name="Undo 2 changes").press("Enter")
        expect(page.get_by_role("status").filter(has_text="Undid")).to_be_visible()
        assert list(site.app.directory.workspace.glob("*.txt")) == []
        assert find_faults(page) == []
    context.close()
