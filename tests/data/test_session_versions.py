import random
from dataclasses import dataclass, field

import pytest

from skales.core.errors import InputError, NotFoundError
from skales.core.json import JsonObject, JsonValue, as_list, as_object
from skales.data.session_codec import messages_from_disk
from skales.data.session_versions import VersionMark, entries_from, first_entries, read_marks, rewind, switch

NOW_MS = 1_930_000_000_000


def user(text: str) -> JsonObject:
    return {"role": "user", "content": text}


def session(*texts: str) -> dict[str, JsonValue]:
    return {"title": "T", "x": 1, "messages": [user(text) for text in texts]}


def texts(raw: JsonObject) -> str:
    return "".join(message.text for message in messages_from_disk(raw.get("messages")))


def marks(raw: JsonObject) -> list[tuple[int, int, int]]:
    return [(mark.at, mark.count, mark.current) for mark in read_marks(raw.get("versions"))]


def say(raw: JsonObject, *added: str) -> dict[str, JsonValue]:
    return dict(raw) | {"messages": [*as_list(raw.get("messages")), *map(user, added)]}


def cut(raw: JsonObject, index: int, *added: str) -> dict[str, JsonValue]:
    return say(rewind(raw, index, NOW_MS), *added)


# --- one place ---------------------------------------------------------------------------------------------------


def test_a_rewind_keeps_the_cut_messages_in_the_file() -> None:
    raw = rewind(session("a", "b", "c"), 1, NOW_MS)
    assert raw == session("a") | {
        "updatedAt": NOW_MS,
        "versions": [{"at": 1, "cutAt": NOW_MS, "messages": [user("b"), user("c")], "id": 1}],
    }
    assert read_marks(raw["versions"]) == (VersionMark(1, 2, 1),)


def test_the_versions_keep_their_numbers_however_one_switches() -> None:
    raw = cut(cut(cut(session("a", "b"), 1, "c"), 1, "d", "e"), 1, "f")
    assert (texts(raw), marks(raw)) == ("af", [(1, 4, 3)])
    for number in (0, 2, 1, 3, 3, 0, 1):
        raw = switch(raw, 1, number, NOW_MS)
        assert (texts(raw), marks(raw)) == ("a" + ("b", "c", "de", "f")[number], [(1, 4, number)])


def test_a_new_version_is_the_newest_wherever_one_was() -> None:
    raw = switch(cut(cut(session("a", "b"), 1, "c"), 1, "d"), 1, 0, NOW_MS)
    raw = cut(raw, 1, "e")
    assert (texts(raw), marks(raw)) == ("ae", [(1, 4, 3)])
    assert [texts(switch(raw, 1, number, NOW_MS)) for number in range(4)] == ["ab", "ac", "ad", "ae"]


def test_the_first_message_too_can_be_replaced() -> None:
    raw = cut(session("a", "b"), 0, "c")
    assert (texts(raw), marks(raw)) == ("c", [(0, 2, 1)])
    assert texts(switch(raw, 0, 0, NOW_MS)) == "ab"


def test_a_switch_back_from_a_rewind_after_which_nothing_was_said_leaves_no_trace() -> None:
    raw = session("a", "b")
    assert switch(rewind(raw, 1, NOW_MS), 1, 0, NOW_MS) == raw | {"updatedAt": NOW_MS}
    twice = rewind(cut(raw, 1, "c"), 1, NOW_MS)
    assert marks(twice) == [(1, 3, 2)]
    for number in (0, 1):
        back = switch(twice, 1, number, NOW_MS)
        assert (texts(back), marks(back)) == ("a" + "bc"[number], [(1, 2, number)])


# --- several places ----------------------------------------------------------------------------------------------


def test_versions_within_a_tail_go_and_come_with_it() -> None:
    raw = cut(session("a", "b", "c", "d"), 3, "D")
    assert marks(raw) == [(3, 2, 1)]
    raw = cut(raw, 1, "B", "C", "x", "y")
    assert (texts(raw), marks(raw)) == ("aBCxy", [(1, 2, 1)])
    raw = cut(raw, 3, "X")
    assert (texts(raw), marks(raw)) == ("aBCX", [(1, 2, 1), (3, 2, 1)])
    raw = switch(raw, 1, 0, NOW_MS)
    assert (texts(raw), marks(raw)) == ("abcD", [(1, 2, 0), (3, 2, 1)])
    raw = switch(raw, 3, 0, NOW_MS)
    assert (texts(raw), marks(raw)) == ("abcd", [(1, 2, 0), (3, 2, 0)])
    raw = switch(raw, 1, 1, NOW_MS)
    assert (texts(raw), marks(raw)) == ("aBCX", [(1, 2, 1), (3, 2, 1)])
    assert texts(switch(raw, 3, 0, NOW_MS)) == "aBCxy"


@dataclass
class Line:
    """A stretch of messages, and after its last one perhaps a choice of others: a plain tree to compare with."""

    said: list[str] = field(default_factory=list)
    choices: list["Line"] = field(default_factory=list)
    current: int = 0

    def path(self) -> list[tuple[int, "Line"]]:
        """The lines that are shown, each with the index of its first message."""
        found, start, line = [(0, self)], 0, self
        while line.choices:
            start, line = start + len(line.said), line.choices[line.current]
            found.append((start, line))
        return found

    def text(self) -> str:
        return "".join(text for _, line in self.path() for text in line.said)

    def marks(self) -> list[tuple[int, int, int]]:
        return [(at + len(line.said), len(line.choices), line.current) for at, line in self.path() if line.choices]

    def say(self, text: str) -> None:
        self.path()[-1][1].said.append(text)

    def rewind(self, index: int) -> None:
        start, line = [found for found in self.path() if found[0] <= index and found[1].said][-1]
        for at, parent in self.path():
            if parent.choices and at + len(parent.said) == index:
                parent.choices.append(Line())
                parent.current = len(parent.choices) - 1
                return
        tail = Line(line.said[index - start :], line.choices, line.current)
        line.said, line.choices, line.current = line.said[: index - start], [tail, Line()], 1

    def switch(self, at: int, number: int) -> None:
        line = next(line for start, line in self.path() if line.choices and start + len(line.said) == at)
        present, chosen = line.choices[line.current], line.choices[number]
        if present is not chosen and not present.said and not present.choices:
            line.choices.remove(present)
        line.current = line.choices.index(chosen)
        if len(line.choices) == 1:
            line.said, line.choices, line.current = line.said + chosen.said, chosen.choices, chosen.current


@pytest.mark.parametrize("seed", range(60))
def test_any_order_of_edits_and_switches_shows_what_a_tree_of_all_that_was_said_shows(seed: int) -> None:
    chance = random.Random(seed)
    raw: dict[str, JsonValue] = {"messages": [None]}
    tree = Line()
    for number in range(80):
        length = len(messages_from_disk(raw["messages"]))
        match chance.choice(["say", "say", "rewind", "switch"]):
            case "rewind" if length:
                index = chance.randrange(length)
                raw = rewind(raw, index, NOW_MS)
                tree.rewind(index)
            case "switch" if tree.marks():
                at, count, _ = chance.choice(tree.marks())
                chosen = chance.randrange(count)
                raw = switch(raw, at, chosen, NOW_MS)
                tree.switch(at, chosen)
            case _:
                raw = say(raw, f"{number} ")
                tree.say(f"{number} ")
        assert (texts(raw), marks(raw)) == (tree.text(), tree.marks())


# --- what there is not -------------------------------------------------------------------------------------------

EXCHANGE: list[JsonValue] = [
    {"role": "system", "content": "Be brief"},
    user("a"),
    {"role": "assistant", "content": "", "tool_calls": [{"id": "c", "function": {"name": "f"}}]},
    {"role": "tool", "tool_call_id": "c", "content": "done"},
    {"role": "assistant", "content": "b"},
]


@pytest.mark.parametrize("index", [1, 2, 4])
def test_a_conversation_is_cut_at_what_a_person_or_a_model_said(index: int) -> None:
    assert as_list(rewind({"messages": EXCHANGE}, index, NOW_MS)["messages"]) == EXCHANGE[:index]


@pytest.mark.parametrize("index", [0, 3])
def test_a_conversation_is_not_cut_at_anything_else(index: int) -> None:
    with pytest.raises(InputError, match=f"Message {index} is "):
        rewind({"messages": EXCHANGE}, index, NOW_MS)


@pytest.mark.parametrize("index", [-1, 2, 99])
def test_what_is_not_there_cannot_be_cut_nor_branched_from(index: int) -> None:
    for attempt in (lambda: rewind(session("a", "b"), index, NOW_MS), lambda: first_entries(session("a", "b"), index)):
        with pytest.raises(NotFoundError, match=f"There is no message {index} in this conversation"):
            attempt()


@pytest.mark.parametrize(("at", "number"), [(0, 0), (1, -1), (1, 2), (2, 0), (9, 0)])
def test_a_version_that_is_not_there_cannot_be_shown(at: int, number: int) -> None:
    with pytest.raises(NotFoundError, match=f"There is no version {number + 1} of message {at}"):
        switch(cut(session("a", "b"), 1, "c"), at, number, NOW_MS)


def test_a_version_of_a_message_that_was_taken_out_by_hand_cannot_be_shown() -> None:
    raw = cut(session("a", "b", "c"), 2, "d") | {"messages": [user("a")]}
    with pytest.raises(NotFoundError, match="There is no message 2"):
        switch(raw, 2, 0, NOW_MS)


# --- files that people and other programs change -----------------------------------------------------------------


def test_entries_that_are_no_messages_stay_where_they_are() -> None:
    raw: dict[str, JsonValue] = {"messages": [None, user("a"), "odd", user("b"), 7, user("c")]}
    assert first_entries(raw, 1) == [None, user("a"), "odd", user("b")]
    assert list(entries_from(raw, 2)) == [user("c")]
    assert list(entries_from(raw, 3)) == []
    cut_raw = rewind(raw, 1, NOW_MS)
    assert cut_raw["messages"] == [None, user("a"), "odd"]
    assert switch(cut_raw, 1, 0, NOW_MS)["messages"] == raw["messages"]


ODD: list[JsonValue] = [
    None,
    "text",
    7,
    {},
    {"at": 1},
    {"at": True, "messages": []},
    {"at": -1, "messages": []},
    {"at": "1", "messages": []},
    {"at": 1.0, "messages": []},
    {"at": 1, "messages": None},
    {"at": 1, "present": 1},
    {"at": 1, "messages": [], "in": 99},
]


@pytest.mark.parametrize("odd", ODD)
def test_an_entry_that_is_no_version_is_passed_over_and_kept(odd: JsonValue) -> None:
    raw = cut(session("a", "b") | {"versions": [odd]}, 1, "c")
    assert marks(raw) == [(1, 2, 1)]
    back = switch(raw, 1, 0, NOW_MS)
    assert (texts(back), marks(back)) == ("ab", [(1, 2, 0)])
    assert odd in as_list(back["versions"])
    assert odd in as_list(switch(back, 1, 1, NOW_MS)["versions"])


@pytest.mark.parametrize("versions", [None, {}, "text", 7, []])
def test_versions_that_are_no_list_are_none(versions: JsonValue) -> None:
    assert read_marks(versions) == ()
    assert marks(cut(session("a") | {"versions": versions}, 0, "b")) == [(0, 2, 1)]


def test_a_second_sign_of_the_present_tail_does_not_count() -> None:
    sign: JsonObject = {"at": 1, "present": True}
    raw = session("a", "b") | {"versions": [sign, {"at": 1, "messages": [user("c")]}, sign]}
    assert marks(raw) == [(1, 2, 0)]
    assert texts(switch(raw, 1, 1, NOW_MS)) == "ac"


def test_a_sign_of_the_present_tail_alone_is_no_version() -> None:
    assert read_marks([{"at": 1, "present": True}]) == ()


def test_a_version_written_by_hand_without_a_number_can_be_shown() -> None:
    raw = session("a", "b") | {"versions": [{"at": 1, "messages": [user("c")]}]}
    shown = switch(raw, 1, 0, NOW_MS)
    assert (texts(shown), marks(shown)) == ("ac", [(1, 2, 0)])
    assert [as_object(entry).get("id") for entry in as_list(shown["versions"])] == [None, 1]
