import json
from collections.abc import Sequence

import pytest

from skales.core.json import parse_json
from skales.core.message import ImagePart, Message, Role, TextPart, text_message
from skales.core.tool import ToolCall
from skales.providers.history import NOT_RUN, repair_history
from tests.conftest import CASES
from tests.providers.sessions import read_session


def user(text: str) -> Message:
    return text_message(Role.USER, text)


def answer(text: str = "", *ids: str) -> Message:
    calls = tuple(ToolCall(call_id, "read_file", {"path": call_id}) for call_id in ids)
    return Message(role=Role.ASSISTANT, content=(TextPart(text),) if text else (), tool_calls=calls, timestamp_ms=5)


def called(path: str, *, as_id: str) -> Message:
    """The answer that called `path` under an id of ours."""
    return Message(role=Role.ASSISTANT, tool_calls=(ToolCall(as_id, "read_file", {"path": path}),), timestamp_ms=5)


def result(call_id: str, text: str = "done") -> Message:
    return Message(role=Role.TOOL, content=(TextPart(text),), tool_call_id=call_id, name="read_file")


def cancelled(call_id: str) -> Message:
    return Message(
        role=Role.TOOL,
        content=(TextPart(NOT_RUN),),
        tool_call_id=call_id,
        name="read_file",
        is_error=True,
        timestamp_ms=5,
    )


HEALTHY = (user("a"), answer("", "c1", "c2"), result("c1"), result("c2"), answer("b"), user("c"), user("d"))
PICTURE = Message(role=Role.ASSISTANT, content=(ImagePart("image/png", "AAAA"),))

REPAIRS: dict[str, tuple[Sequence[Message], Sequence[Message]]] = {
    "nothing": ((), ()),
    "a healthy history": (HEALTHY, HEALTHY),
    "system messages stay": ((text_message(Role.SYSTEM, "s"), user("a")), (text_message(Role.SYSTEM, "s"), user("a"))),
    "an open call at the end": ((user("a"), answer("", "c1")), (user("a"), answer("", "c1"), cancelled("c1"))),
    "an open call before a new message": (
        (user("a"), answer("", "c1", "c2"), result("c1"), user("b")),
        (user("a"), answer("", "c1", "c2"), result("c1"), cancelled("c2"), user("b")),
    ),
    "results in another order": (
        (answer("", "c1", "c2"), result("c2", "two"), result("c1", "one")),
        (answer("", "c1", "c2"), result("c1", "one"), result("c2", "two")),
    ),
    "a result after later texts": (
        (answer("", "c1"), user("b"), answer("text"), result("c1"), user("c")),
        (answer("", "c1"), result("c1"), user("b"), answer("text"), user("c")),
    ),
    "a result without a call": ((user("a"), result("c9"), answer("b")), (user("a"), answer("b"))),
    "a result before its call": (
        (result("c1"), answer("", "c1"), result("c1", "later")),
        (answer("", "c1"), result("c1", "later")),
    ),
    "a second result": (
        (answer("", "c1"), result("c1", "first"), result("c1", "second")),
        (answer("", "c1"), result("c1", "first")),
    ),
    "an empty answer": ((user("a"), answer(), user("b")), (user("a"), user("b"))),
    "an answer of blanks": ((user("a"), answer(" \n"), user("b")), (user("a"), user("b"))),
    "an answer of a picture": ((user("a"), PICTURE), (user("a"), PICTURE)),
    "an id used again in a later turn": (
        (answer("", "c1"), result("c1", "one"), user("b"), answer("", "c1"), result("c1", "two")),
        (answer("", "c1"), result("c1", "one"), user("b"), called("c1", as_id="c1_2"), result("c1_2", "two")),
    ),
    "an id used again after a cancelled turn": (
        (answer("", "c1"), user("b"), answer("", "c1"), result("c1", "two"), result("c1", "three")),
        (
            answer("", "c1"),
            cancelled("c1"),
            user("b"),
            called("c1", as_id="c1_2"),
            result("c1_2", "two"),
        ),
    ),
    "an id used twice in one answer": (
        (answer("", "c1", "c1"), result("c1", "one"), result("c1", "two")),
        (
            Message(
                role=Role.ASSISTANT,
                tool_calls=(
                    ToolCall("c1", "read_file", {"path": "c1"}),
                    ToolCall("c1_2", "read_file", {"path": "c1"}),
                ),
                timestamp_ms=5,
            ),
            result("c1", "one"),
            result("c1_2", "two"),
        ),
    ),
    "the next number is taken": (
        (answer("", "c1"), result("c1"), answer("", "c1"), result("c1", "x"), answer("", "c1_2"), result("c1_2", "y")),
        (
            answer("", "c1"),
            result("c1"),
            called("c1", as_id="c1_3"),
            result("c1_3", "x"),
            answer("", "c1_2"),
            result("c1_2", "y"),
        ),
    ),
    "a call without an id": (
        (answer("", ""), result("", "one")),
        (called("", as_id="call_2"), result("call_2", "one")),
    ),
}


@pytest.mark.parametrize("name", REPAIRS)
def test_each_call_ends_up_with_exactly_one_result_right_after_it(name: str) -> None:
    stored, expected = REPAIRS[name]
    assert repair_history(stored) == tuple(expected)


@pytest.mark.parametrize("name", REPAIRS)
def test_a_repaired_history_stays_as_it_is(name: str) -> None:
    once = repair_history(REPAIRS[name][0])
    assert repair_history(once) == once


def test_what_is_healthy_is_passed_on_untouched() -> None:
    repaired = repair_history(HEALTHY)
    assert all(after is before for after, before in zip(repaired, HEALTHY, strict=True))


def test_a_stored_history_is_not_changed() -> None:
    stored = [answer("", "c1", "c1"), result("c1"), user("b")]
    before = list(stored)
    repair_history(stored)
    assert stored == before


def test_a_turn_that_was_cancelled_between_two_results_can_go_on() -> None:
    folder = CASES / "history"
    session = parse_json((folder / "HIS-01-cancelled-turn.session.json").read_text(encoding="utf-8"))
    expected = json.loads((folder / "HIS-01-cancelled-turn.expected.json").read_text(encoding="utf-8"))["openai"]

    repaired = repair_history(read_session(session))

    assert [message.role for message in repaired] == expected["roles"]
    results = [message for message in repaired if message.role is Role.TOOL]
    assert [message.tool_call_id for message in results] == expected["tool_call_ids"]
    assert (results[0].text, results[0].is_error) == ("renamed", False)
    assert results[1].is_error
    assert "Cancelled, not run" in results[1].text
    assert repair_history(repaired) == repaired


def test_a_random_mess_becomes_a_valid_history() -> None:
    pieces = [answer("", "c1", "c2"), result("c1"), user("u"), answer("", "c1"), result("c2"), answer(""), result("c3")]
    for rotation in range(len(pieces)):
        repaired = repair_history(pieces[rotation:] + pieces[:rotation])
        assert_valid(repaired)


def assert_valid(messages: Sequence[Message]) -> None:
    waiting: list[str] = []
    seen: set[str] = set()
    for message in messages:
        if message.role is Role.TOOL:
            assert message.tool_call_id == waiting.pop(0)
            continue
        assert waiting == []
        waiting = [call.id for call in message.tool_calls]
        assert not seen.intersection(waiting)
        seen.update(waiting)
    assert waiting == []
