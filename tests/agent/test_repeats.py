"""The repeat guard's numbers."""

from skales.agent.repeats import NAME_LIMIT, Repeat, RepeatGuard
from skales.core.tool import ToolCall


def test_the_third_identical_call_is_guarded_and_the_fifth_ends() -> None:
    guard = RepeatGuard()
    call = ToolCall("1", "read_file", {"path": "a", "start": 1})
    same = ToolCall("2", "read_file", {"start": 1, "path": "a"})
    judged = [guard.count(each) for each in (call, same, call, same, call)]
    assert judged == [Repeat.RUN, Repeat.RUN, Repeat.GUARD, Repeat.GUARD, Repeat.END]
    assert "same read_file call" in guard.explain(call)


def test_other_arguments_are_another_call() -> None:
    guard = RepeatGuard()
    assert all(
        guard.count(ToolCall(str(number), "read_file", {"path": str(number)})) is Repeat.RUN
        for number in range(NAME_LIMIT)
    )


def test_a_tool_called_too_often_is_guarded_whatever_the_arguments() -> None:
    guard = RepeatGuard()
    calls = [ToolCall(str(number), "read_file", {"path": str(number)}) for number in range(NAME_LIMIT + 1)]
    assert [guard.count(call) for call in calls][-1] is Repeat.GUARD
    assert str(NAME_LIMIT) in guard.explain(calls[-1])


def test_unreadable_arguments_are_told_apart_by_their_text() -> None:
    guard = RepeatGuard()
    first = ToolCall("1", "read_file", problem="cut", raw='{"pa')
    other = ToolCall("2", "read_file", problem="cut", raw='{"path": "')
    assert [guard.count(call) for call in (first, other, first)] == [Repeat.RUN] * 3
