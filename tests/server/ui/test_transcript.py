"""Messages as entries of the page."""

import json
from dataclasses import replace

import pytest
from selectolax.lexbor import LexborHTMLParser as HTMLParser

from skales.core.approval import Approval, AskKind
from skales.core.ids import ApprovalId, SessionId
from skales.core.json import JsonObject, JsonValue
from skales.core.message import ImagePart, Message, Role, TextPart, Usage, text_message
from skales.core.tool import Safety, ToolCall, ToolSpec
from skales.server.conversation_views import AnswerEntry, Entry, UserEntry, Versions
from skales.server.step_views import StepEntry, StepGroup, StepState
from skales.server.ui.cards import build_card
from skales.server.ui.pages import render
from skales.server.ui.steps import call_key, count_steps, read_diff
from skales.server.ui.transcript import Setting, build_entries, find_turn_start, judge_end

SETTING = Setting(lambda call: f"Do {call.name}", now_ms=1_930_000_000_000)
RUNNING = Setting(SETTING.describe, SETTING.now_ms, is_running=True)


def user(text: str) -> Message:
    return text_message(Role.USER, text)


def calling(*ids: str, text: str = "") -> Message:
    calls = tuple(ToolCall(call_id, "read_file", {"path": "a.txt"}) for call_id in ids)
    return Message(role=Role.ASSISTANT, content=(TextPart(text),) if text else (), tool_calls=calls)


def result(call_id: str, text: str = "fine", *, is_error: bool = False) -> Message:
    return Message(role=Role.TOOL, content=(TextPart(text),), tool_call_id=call_id, is_error=is_error, duration_ms=12)


def indexed(*messages: Message) -> list[tuple[int, Message]]:
    return list(enumerate(messages))


def steps(*messages: Message, setting: Setting = SETTING) -> list[StepEntry]:
    found: list[StepEntry] = []
    for entry in build_entries(indexed(*messages), setting):
        match entry:
            case StepEntry():
                found.append(entry)
            case StepGroup():
                found.extend(entry.steps)
            case _:
                pass
    return found


def test_results_join_their_calls() -> None:
    first, second = steps(user("go"), calling("a", "b"), result("a"), result("b", "no such file", is_error=True))
    assert (first.state, first.result, first.duration, first.action) == (
        StepState.DONE,
        "fine",
        "12 ms",
        "Do read_file",
    )
    assert (second.state, second.result) == (StepState.FAILED, "no such file")


def test_call_ids_that_repeat_in_later_turns_do_not_mix() -> None:
    found = steps(calling("call_0"), result("call_0", "one"), calling("call_0"), result("call_0", "two"))
    assert [step.result for step in found] == ["one", "two"]


def test_a_call_without_result_runs_or_waits() -> None:
    assert steps(calling("a"), setting=RUNNING)[0].state is StepState.RUNNING
    assert steps(calling("a"))[0].state is StepState.OPEN


def test_arguments_are_shown_short_or_long_and_unreadable_ones_raw() -> None:
    call = ToolCall("a", "t", {"path": "x", "content": "one\ntwo", "deep": True})
    broken = ToolCall("b", "t", {}, problem="not JSON", raw='{"path": ')
    shown, raw = steps(Message(role=Role.ASSISTANT, tool_calls=(call, broken)))
    assert [(argument.name, argument.value, argument.is_long) for argument in shown.arguments] == [
        ("path", "x", False),
        ("content", "one\ntwo", True),
        ("deep", "true", False),
    ]
    assert [argument.value for argument in raw.arguments] == ['{"path": ']


def test_an_answer_says_who_wrote_it_and_why_it_ends_early() -> None:
    message = Message(
        role=Role.ASSISTANT,
        content=(TextPart("Half a"),),
        model="demo",
        usage=Usage(10, 5),
        duration_ms=1400,
        incomplete="stopped",
    )
    (entry,) = build_entries([(7, message)], SETTING)
    assert isinstance(entry, AnswerEntry)
    assert (entry.id, entry.facts) == ("m-7", ("demo", "10 tokens in, 5 out", "1.4 s"))
    assert entry.incomplete == "Stopped before the end"
    assert entry.can_continue
    assert [(row.label, row.value) for row in entry.receipt] == [
        ("Model", "demo"),
        ("Tokens in", "10"),
        ("Tokens out", "5"),
        ("Duration", "1.4 s"),
        ("Speed", "3.6 tokens per second"),
    ]


def test_only_the_last_answer_of_a_quiet_conversation_can_go_on() -> None:
    cut = Message(role=Role.ASSISTANT, content=(TextPart("Half a"),), incomplete="cut")

    def can_continue(messages: list[tuple[int, Message]], setting: Setting, *, is_end: bool = True) -> bool:
        answer = next(
            entry for entry in build_entries(messages, setting, is_end=is_end) if isinstance(entry, AnswerEntry)
        )
        return answer.can_continue

    assert can_continue(indexed(cut), SETTING)
    assert not can_continue(indexed(cut, user("more")), SETTING)
    assert not can_continue(indexed(cut), RUNNING)
    assert not can_continue(indexed(cut), SETTING, is_end=False)


def test_an_answer_that_only_calls_tools_has_no_text_entry() -> None:
    assert [type(entry) for entry in build_entries(indexed(user("go"), calling("a")), SETTING)] == [
        UserEntry,
        StepEntry,
    ]


def test_pictures_are_shown_when_they_are_pictures() -> None:
    parts = (TextPart("look"), ImagePart("image/png", "AA=="), ImagePart("image/svg+xml", "PHN2Zz4="))
    (entry,) = build_entries([(0, Message(role=Role.USER, content=parts))], SETTING)
    assert isinstance(entry, UserEntry)
    assert [picture.address for picture in entry.pictures] == ["data:image/png;base64,AA=="]


def test_a_receipt_tells_what_the_whole_turn_took_and_what_came_from_the_cache() -> None:
    first = Message(
        role=Role.ASSISTANT, tool_calls=(ToolCall("a", "read_file", {}),), usage=Usage(1000, 20), duration_ms=900
    )
    last = Message(role=Role.ASSISTANT, content=(TextPart("ok"),), usage=Usage(1200, 30, 1024), duration_ms=600)
    found = build_entries(indexed(user("go"), first, result("a"), last), SETTING)
    answer = found[-1]
    assert isinstance(answer, AnswerEntry)
    rows = {row.label: row.value for row in answer.receipt}
    assert rows["Tokens in"] == "1,200, of these 1,024 cached"
    assert rows["Whole turn"] == "2 requests, 2,200 tokens in, 50 out, 1.5 s"


def test_an_answer_by_somebody_else_than_chosen_says_so_and_only_while_it_is_the_last() -> None:
    message = Message(role=Role.ASSISTANT, content=(TextPart("ok"),), provider="groq", model="small")

    def remark(chosen: tuple[str, str], *, is_end: bool = True) -> str:
        setting = Setting(SETTING.describe, SETTING.now_ms, chosen=chosen)
        (entry,) = build_entries([(1, message)], setting, is_end=is_end)
        assert isinstance(entry, AnswerEntry)
        return entry.remark

    assert "Written by small (Groq)" in remark(("openai", "gpt"))
    assert remark(("openai", "gpt"), is_end=False) == ""
    assert remark(("groq", "small")) == remark(("groq", "")) == remark(("", "")) == ""
    assert remark(("groq", "large")) != ""


# --- runs of steps ---


def kinds(entries: tuple[Entry, ...]) -> list[str]:
    return [type(entry).__name__ for entry in entries]


def test_consecutive_steps_of_a_turn_that_is_over_stand_under_one_line() -> None:
    messages = (user("go"), calling("a", "b"), result("a"), result("b", is_error=True), calling("c"), result("c"))
    entries = build_entries(indexed(*messages, text_message(Role.ASSISTANT, "done")), SETTING)
    assert kinds(entries) == ["UserEntry", "StepGroup", "AnswerEntry"]
    group = entries[1]
    assert isinstance(group, StepGroup)
    assert (group.words, group.failed, len(group.steps)) == ("3 steps, 1 failed", True, 3)


def test_a_single_step_words_between_and_a_running_turn_are_not_put_together() -> None:
    apart = (user("go"), calling("a"), result("a"), calling("b", text="Now the other"), result("b"))
    assert kinds(build_entries(indexed(*apart), SETTING)) == ["UserEntry", "StepEntry", "AnswerEntry", "StepEntry"]
    together = indexed(user("go"), calling("a", "b"), result("a"), result("b"))
    assert kinds(build_entries(together, RUNNING)) == ["UserEntry", "StepEntry", "StepEntry"]
    later = [*together, (4, user("and")), (5, calling("c", "d"))]
    assert kinds(build_entries(later, RUNNING)) == ["UserEntry", "StepGroup", "UserEntry", "StepEntry", "StepEntry"]


def test_steps_that_still_wait_are_not_hidden_under_a_line() -> None:
    assert kinds(build_entries(indexed(user("go"), calling("a", "b"), result("a")), SETTING)) == [
        "UserEntry",
        "StepEntry",
        "StepEntry",
    ]


def test_steps_are_counted_in_words() -> None:
    assert (count_steps(1, 0), count_steps(5, 0), count_steps(5, 1), count_steps(2, 2)) == (
        "1 step",
        "5 steps",
        "5 steps, 1 failed",
        "2 steps, 2 failed",
    )


DIFF = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\n-old\n+new"


def test_a_diff_is_told_line_by_line_and_other_text_is_not() -> None:
    assert [line.kind for line in read_diff(DIFF)] == ["place", "place", "place", "", "removed", "added"]
    for text in ("", "- a list\n+ another", "--- \n+++ \nno place", "one\n@@ two"):
        assert read_diff(text) == ()


def test_json_is_made_readable_and_long_values_fold() -> None:
    call = ToolCall("a", "t", {"deep": {"key": ["value " * 10] * 4}, "text": "line\n" * 40, "wide": "w" * 2000})
    (step,) = steps(Message(role=Role.ASSISTANT, tool_calls=(call,)), result("a", '{"a":[1,2]}'))
    assert step.result == '{\n  "a": [\n    1,\n    2\n  ]\n}'
    assert [argument.folded for argument in step.arguments] == ["", "41 lines", "2,000 characters"]
    assert step.arguments[0].value.startswith('{\n  "key": [')
    (raw,) = steps(calling("a"), result("a", '{"a": not json'))
    assert raw.result == '{"a": not json'


# --- versions ---


def test_versions_stand_at_the_message_or_at_the_end_of_the_turn_that_has_them() -> None:
    said, again = Versions(0, 0, 2), Versions(3, 1, 3, is_answer=True)
    setting = Setting(SETTING.describe, SETTING.now_ms, marks={0: said, 3: again})
    done = text_message(Role.ASSISTANT, "done")
    entries = build_entries(indexed(user("one"), done, user("two"), calling("a"), result("a"), done), setting)
    assert isinstance(entries[0], UserEntry)
    assert entries[0].versions == said
    answers = [entry for entry in entries if isinstance(entry, AnswerEntry)]
    assert [answer.versions for answer in answers] == [None, again]
    assert [answer.turn_start for answer in answers] == [1, 3]
    assert again.words == "2/3"
    # Without an answer that could show them they get a line of their own.
    assert build_entries(indexed(user("one"), done, user("two")), setting)[-1] == again


def test_the_start_of_a_turn_is_after_what_the_person_said_last() -> None:
    messages = (user("one"), calling("a"), result("a"), user("two"), calling("b"))
    assert [find_turn_start(messages, index) for index in range(6)] == [0, 1, 1, 1, 4, 4]


def test_a_quiet_conversation_that_owes_an_answer_says_so() -> None:
    def words(*messages: Message, is_running: bool = False, waits: bool = False) -> str | None:
        outcome = judge_end(indexed(*messages), is_running=is_running, waits=waits)
        return outcome.words if outcome else None

    done = text_message(Role.ASSISTANT, "done")
    assert words() is None
    assert words(user("hi")) == "Not answered yet"
    assert words(user("hi"), is_running=True) is None
    assert words(user("hi"), done) is None
    assert words(user("hi"), calling("a"), result("a")) == "This turn was interrupted"
    assert words(user("hi"), calling("a")) == "This turn was interrupted"
    assert words(user("hi"), calling("a"), waits=True) is None
    assert words(user("/tool read_file path=a"), calling("a"), result("a")) is None


def test_a_card_shows_the_arguments_as_json_and_the_reason_as_a_sentence() -> None:
    approval = Approval(
        id=ApprovalId("ap_1"),
        kind=AskKind.TOOL,
        session_id=SessionId("s"),
        call_id='weird id "><b>',
        tool="write_file",
        args={"path": "ü.txt"},
        action="Write",
        reason="asks first",
    )
    card = build_card(approval)
    assert card.arguments == '{\n  "path": "ü.txt"\n}'
    assert card.reason == "Asks first"
    assert card.call_key == call_key('weird id "><b>')
    assert card.call_key.isalnum()


@pytest.mark.parametrize(
    ("preview", "selector"), [(DIFF, ".output.diff .line-added"), ("The file <a>, 8 bytes.", "pre")]
)
def test_a_card_shows_what_would_change_before_its_buttons(preview: str, selector: str) -> None:
    markup = render(build_card(replace(asked("edit_file", {"path": "a"}), preview=preview)))
    shown = HTMLParser(markup).css_first(selector)
    assert shown is not None
    assert shown.text() in preview
    assert markup.index("<pre") < markup.index("<form")


def test_a_card_without_a_preview_has_no_empty_box() -> None:
    assert "<pre" not in render(build_card(asked("edit_file", {"path": "a"})))


def asked(tool: str, args: JsonObject) -> Approval:
    return Approval(
        id=ApprovalId("ap_1"),
        kind=AskKind.TOOL,
        session_id=SessionId("s"),
        call_id="c",
        tool=tool,
        args=args,
        action="Do it",
        reason="",
    )


def spec(**properties: JsonValue) -> ToolSpec:
    parameters: JsonObject = {"type": "object", "properties": properties, "required": ["path"]}
    return ToolSpec(name="t", description="d", parameters=parameters, category="file", safety=Safety.CONFIRM)


PATH: JsonObject = {"type": "string", "format": "path", "description": "Where."}
KINDS = spec(
    path=PATH,
    count={"type": "integer"},
    deep={"type": "boolean"},
    names={"type": "array", "items": {"type": "string"}},
    mode={"type": "string", "enum": ["a", "b"]},
    extra={"type": "object"},
)


def test_simple_arguments_come_as_fields_with_what_the_model_wants() -> None:
    args: JsonObject = {"path": "a.txt", "count": 3, "deep": True, "names": ["x", "y"], "mode": "b"}
    fields = build_card(asked("t", args), KINDS).fields
    assert [(field.name, field.control, field.value) for field in fields] == [
        ("path", "line", "a.txt"),
        ("count", "number", "3"),
        ("deep", "switch", "true"),
        ("names", "list", "x\ny"),
        ("mode", "choice", "b"),
    ]


def test_a_required_argument_that_is_missing_has_a_field_and_a_long_one_more_lines() -> None:
    assert [field.value for field in build_card(asked("t", {}), KINDS).fields] == [""]
    (field,) = build_card(asked("t", {"path": "x" * 300}), KINDS).fields
    assert field.control == "text"


@pytest.mark.parametrize(
    "args",
    [
        {"path": "a", "extra": {"x": 1}},
        {"path": "a", "unknown": 1},
        {"path": 7},
        {"path": "a", "count": "three"},
        {"path": "a", "count": True},
        {"path": "a", "deep": "yes"},
        {"path": "a", "names": ["x", 1]},
        {"path": "a", "mode": "c"},
    ],
)
def test_arguments_that_no_field_can_hold_come_as_json(args: JsonObject) -> None:
    card = build_card(asked("t", args), KINDS)
    assert card.fields == ()
    assert json.loads(card.arguments) == args
