"""Every view renders with its template, and no page carries script or style of its own."""

import pytest
from jinja2.meta import find_referenced_templates
from selectolax.lexbor import LexborHTMLParser as HTMLParser

from skales.server.ui.pages import environment, render
from skales.server.views import View
from tests.server.samples import make_samples, view_classes

SAMPLES = list(make_samples())


def name_of(sample: View) -> str:
    return type(sample).__name__


def test_every_template_is_used() -> None:
    made = environment()
    assert made.loader is not None
    waiting = [str(vars(cls)["template"]) for cls in view_classes()]
    used: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in used:
            used.add(name)
            named = find_referenced_templates(made.parse(made.loader.get_source(made, name)[0]))
            waiting.extend(found for found in named if found is not None)
    assert used == {name for name in made.loader.list_templates() if name.endswith(".html")}


@pytest.mark.parametrize("sample", SAMPLES, ids=name_of)
def test_what_comes_from_outside_is_shown_and_never_acts(sample: View) -> None:
    tree = HTMLParser(render(sample))
    for node in tree.css("*"):
        handlers = [name for name in node.attributes if name.startswith("on") or name == "style"]
        assert not handlers, node.html
        if node.tag == "script":
            assert node.attributes.get("src") or node.attributes.get("type") == "application/json", node.html
        assert node.tag != "style"


@pytest.mark.parametrize("sample", [sample for sample in SAMPLES if hasattr(sample, "shell")], ids=name_of)
def test_a_page_has_one_main_one_heading_named_navigation_and_named_controls(sample: View) -> None:
    tree = HTMLParser(render(sample))
    assert [len(tree.css(tag)) for tag in ("main", "h1")] == [1, 1]
    names = [node.attributes.get("aria-label") or node.attributes.get("aria-labelledby") for node in tree.css("nav")]
    assert names
    assert all(names)
    ids = [node.attributes["id"] for node in tree.css("[id]")]
    assert len(ids) == len(set(ids))
    for button in tree.css("button"):
        assert button.text(strip=True) or button.attributes.get("aria-label") is not None, button.html
    labelled = {label.attributes.get("for") for label in tree.css("label")}
    for control in tree.css("input, select, textarea"):
        hidden = control.attributes.get("type") == "hidden"
        inside = control.parent is not None and control.parent.tag == "label"
        named = control.attributes.get("aria-label") is not None
        assert hidden or inside or named or control.attributes.get("id") in labelled, control.html
