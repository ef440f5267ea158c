import pytest

from skales.core.tool import ToolSpec
from skales.providers.weak.mentions import find_mentions
from skales.providers.weak.relevance import choose_offer
from tests.providers.weak.specs import CREATE_TASK, FETCH, TOOLS, spec


def offer(message: str, tools: tuple[ToolSpec, ...] = TOOLS, limit: int = 6, min_share: float = 0.4) -> list[str]:
    found = choose_offer(message, find_mentions(message), tools, limit=limit, min_share=min_share)
    return [tool.name for tool in found]


@pytest.mark.parametrize(
    ("message", "first"),
    [
        ("Read notes.txt", "read_file"),
        ("Can you open config.json and show me what's inside?", "read_file"),
        ("Get the page https://example.com", "fetch_web_page"),
        ("Search for TODO in the sources", "search_in_files"),
        ("How much memory does my computer have?", "get_system_info"),
        ("Create a task to buy milk", "create_task"),
        ("Show me my tasks", "list_tasks"),
        ("Rename a.txt to b.txt", "move_file"),
        ("Write hello to hello.txt", "write_file"),
    ],
)
def test_the_tool_a_message_is_about_comes_first(message: str, first: str) -> None:
    assert offer(message)[0] == first


@pytest.mark.parametrize(
    "message",
    [
        "What is the capital of France?",
        "Tell me a joke.",
        "Thank you!",
        "",
        "Write a short poem about the sea.",
        "What is a file system?",
        "How does a computer work?",
        "What does RAM mean?",
        "Why do people search for meaning?",
        "你好，今天怎么样？",
    ],
)
def test_a_message_that_needs_no_tool_gets_none(message: str) -> None:
    assert offer(message) == []


def test_a_tool_that_needs_an_address_is_not_offered_without_one() -> None:
    assert "fetch_web_page" not in offer("Fetch the web page of the museum")
    assert offer("Fetch the web page museum.example.com/today") == ["fetch_web_page"]


def test_at_most_the_limit_is_offered_in_the_order_of_likelihood() -> None:
    all_of_them = offer("Read, write, search or move the file notes.txt", min_share=0.1)
    assert len(all_of_them) > 2
    assert offer("Read, write, search or move the file notes.txt", limit=2, min_share=0.1) == all_of_them[:2]


def test_the_offer_does_not_depend_on_the_order_of_the_tools() -> None:
    message = "Create a task to read notes.txt"
    assert set(offer(message)) == set(offer(message, tuple(reversed(TOOLS))))


def test_conditions_in_a_long_description_do_not_attract_messages() -> None:
    chatty = spec("save_draft", "Keep a draft. Use it when the capital letters of France are wrong.", {})
    assert offer("What is the capital of France?", (chatty, CREATE_TASK, FETCH)) == []


def test_no_tools_make_no_offer() -> None:
    assert offer("Read notes.txt", ()) == []
