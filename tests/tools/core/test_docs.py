"""fetch_skales_docs finds what the guide says about the program."""

import pytest

from skales.core.errors import ToolError
from skales.core.json import as_list, as_object
from skales.core.tool import Safety
from skales.tools.core.docs import guide_folder, load_guide
from skales.tools.registry import BuiltinToolbox
from tests.tools.conftest import Call

pytestmark = pytest.mark.anyio


def test_looking_up_the_guide_is_automatic_and_touches_nothing(toolbox: BuiltinToolbox) -> None:
    spec = toolbox.find("fetch_skales_docs")
    assert spec is not None
    assert (spec.category, spec.safety, spec.effects) == ("core", Safety.AUTO, frozenset())


@pytest.mark.parametrize(
    ("query", "page"),
    [
        ("approval mode safe advanced", "safety.md"),
        ("how do I block a folder from tools", "safety.md"),
        ("blockedDomains", "web.md"),
        ("SearXNG search engine", "web.md"),
        ("connector secret bearer", "connectors.md"),
        ("starter model weights", "local-models.md"),
        ("budget daily limit", "costs.md"),
        ("keyboard shortcuts", "keyboard.md"),
        ("trash restore deleted conversation", "history.md"),
        ("dark theme accent", "appearance.md"),
    ],
)
async def test_question_finds_its_page(call: Call, query: str, page: str) -> None:
    result = await call("fetch_skales_docs", query=query)
    pages = [as_object(row)["page"] for row in as_list(result.data)]
    assert page in pages[:2], pages
    assert len(result.text) < 9_000


async def test_question_without_an_answer_gets_the_list_of_pages(call: Call) -> None:
    result = await call("fetch_skales_docs", query="xylophone quux")
    assert result.text.startswith("The guide says nothing about this. Its pages: activity.md, addons.md, ")


async def test_empty_question_is_refused(call: Call) -> None:
    with pytest.raises(ToolError, match="nothing to look up"):
        await call("fetch_skales_docs", query="  ")


def test_every_page_of_the_guide_is_read() -> None:
    assert {section.page for section in load_guide()} == {path.name for path in guide_folder().glob("*.md")}
