"""Messages as entries of the page."""

from skales.core.approval import Approval, AskKind
from skales.core.ids import ApprovalId, SessionId
from skales.core.message import ImagePart, Message, Role, TextPart, Usage, text_message
from skales.core.tool import ToolCall
from skales.server.ui.transcript import Setting, build_card, build_entries, call_key, judge_end
from skales.server.views import AnswerEntry, StepEntry, StepState, UserEntry

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
    return [entry for entry in build_entries(indexed(*messages), setting) if isinstance(entry, StepEntry)]


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
