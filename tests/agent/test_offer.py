"""Which tools a request carries: the basic, the pinned, what the conversation found or used, the rest as names."""

from collections.abc import Sequence
from dataclasses import replace

from skales.agent.offer import FINDER, ToolOffer
from skales.core.message import Message, Role, TextPart, text_message
from skales.core.tool import Safety, ToolSpec
from tests.agent.conftest import FakeToolbox, spec

READ = spec("read_file", Safety.AUTO)
LOAD = spec(FINDER, Safety.AUTO)


def hidden(*names: str, category: str = "core", safety: Safety = Safety.AUTO) -> Sequence[ToolSpec]:
    return [replace(spec(name, safety), is_basic=False, category=category) for name in names]


def result(name: str, text: str = "done", *, is_error: bool = False) -> Message:
    return Message(role=Role.TOOL, content=(TextPart(text),), name=name, tool_call_id="1", is_error=is_error)


def offered(offer: ToolOffer, *messages: Message) -> Sequence[str]:
    return [tool.name for tool in offer.choose(messages)]


def test_only_basic_tools_are_offered_at_first() -> None:
    assert offered(ToolOffer(FakeToolbox([LOAD, READ, *hidden("git_log", "git_diff")]))) == [FINDER, "read_file"]


def test_what_is_pinned_is_always_there_if_it_is_on() -> None:
    box = FakeToolbox([READ, *hidden("git_log", "git_diff"), spec("off", Safety.AUTO, addon="extra")])
    offer = ToolOffer(box, lambda: ["git_log", "off", "no_such_tool"])
    assert offered(offer) == ["read_file", "git_log"]


def test_tools_that_only_a_person_starts_are_never_offered() -> None:
    box = FakeToolbox([READ, *hidden("create_connector", safety=Safety.MANUAL)])
    assert offered(ToolOffer(box, lambda: ["create_connector"]), result(FINDER, "create_connector")) == ["read_file"]


def test_what_was_found_or_used_stays_and_new_ones_come_last() -> None:
    offer = ToolOffer(FakeToolbox([LOAD, READ, *hidden("a_tool", "b_tool", "c_tool")]))
    first = offered(offer, result(FINDER, "Ready to call: c_tool\n- c_tool: Does c, unlike a_tool"))
    then = offered(offer, result(FINDER, "Ready to call: c_tool"), text_message(Role.USER, "b_tool"), result("a_tool"))
    assert first == [FINDER, "read_file", "c_tool"]
    assert then == [*first, "a_tool"]


def test_failed_calls_load_nothing() -> None:
    offer = ToolOffer(FakeToolbox([READ, *hidden("a_tool")]))
    assert offered(offer, result(FINDER, "a_tool", is_error=True), result("a_tool", is_error=True)) == ["read_file"]


def test_a_long_conversation_keeps_the_newest_tools_only() -> None:
    names = [f"tool_{number}" for number in range(50)]
    offer = ToolOffer(FakeToolbox([READ, *hidden(*names)]))
    assert offered(offer, *map(result, names)) == ["read_file", *names[-32:]]


def test_the_finder_tells_the_names_of_the_others_by_category_and_families_in_short() -> None:
    pages = [f"wordpress_{number}" for number in range(7)]
    box = FakeToolbox([LOAD, READ, *hidden("git_diff", "git_log", *pages), *hidden("image_crop", category="media")])
    (finder, _read, _used) = ToolOffer(box).choose([result("git_log")])
    assert finder.description.endswith("There are also: core: git_diff wordpress_… (7); media: image_crop")


def test_the_finder_is_the_same_object_while_nothing_changes() -> None:
    offer = ToolOffer(FakeToolbox([LOAD, *hidden("git_log")]))
    assert offer.choose(())[0] is offer.choose(())[0]


def test_a_weak_model_gets_what_the_request_is_about() -> None:
    offer = ToolOffer(FakeToolbox([LOAD, READ, *hidden("git_log", "git_diff", "a_tool")]), lambda: ["a_tool"])
    names = [tool.name for tool in offer.choose_for_weak([text_message(Role.USER, "show git_log"), result("git_diff")])]
    assert names == ["read_file", "git_log", "a_tool"]
