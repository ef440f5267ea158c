"""A conversation's messages as entries of the page: what was said, what was done, what still waits."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from markupsafe import Markup

from skales.core.approval import Approval, AskKind
from skales.core.json import JsonValue
from skales.core.message import ImagePart, Message, Role
from skales.core.tool import ToolCall, ToolResult
from skales.server.markdown import render_markdown
from skales.server.ui.phrases import show_duration, show_moment, show_usage
from skales.server.views import (
    AnswerEntry,
    ApprovalCard,
    Argument,
    Entry,
    Moment,
    Picture,
    StepEntry,
    StepState,
    TurnOutcome,
    UserEntry,
)

Indexed = tuple[int, Message]
# What a call would do, in plain words.
Describe = Callable[[ToolCall], str]

_SHORT_VALUE = 120
_SHOWN_PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_INCOMPLETE = {
    "stopped": "Stopped before the end",
    "cut": "The connection broke off; the text so far was kept",
    "length": "The model's limit for one answer was reached",
    "failed": "An error ended this answer",
}
_STATE_WORDS = {
    StepState.RUNNING: "Running",
    StepState.DONE: "Done",
    StepState.FAILED: "Not done",
    StepState.OPEN: "Waiting",
}
_COMMAND = "/tool"


@dataclass(frozen=True, slots=True)
class Setting:
    """What entries are built with. `is_running` decides how a call without a result looks."""

    describe: Describe
    now_ms: int
    is_running: bool = False


def build_entries(messages: Sequence[Indexed], setting: Setting, *, is_end: bool = True) -> tuple[Entry, ...]:
    """Entries of consecutive messages; results join the calls they answer. `is_end` when no message follows."""
    entries: list[Entry] = []
    for place, (index, message) in enumerate(messages):
        match message.role:
            case Role.USER:
                entries.append(build_user(index, message, setting.now_ms))
            case Role.ASSISTANT:
                last = is_end and place == len(messages) - 1 and not setting.is_running
                if message.text or message.reasoning:
                    entries.append(build_answer(index, message, setting.now_ms, is_last=last))
                entries.extend(_build_steps(message, _results_after(messages, place), setting))
            case Role.SYSTEM | Role.TOOL:
                pass
    return tuple(entries)


def build_user(index: int, message: Message, now_ms: int) -> UserEntry:
    """What the person said."""
    pictures = tuple(
        Picture(f"data:{part.media_type};base64,{part.data_base64}", part.name)
        for part in message.content
        if isinstance(part, ImagePart) and part.media_type in _SHOWN_PICTURES
    )
    return UserEntry(
        entry_id(index), message.text, _when(message, now_ms), pictures, message.text.startswith(f"{_COMMAND} ")
    )


def build_answer(index: int, message: Message, now_ms: int, *, is_last: bool) -> AnswerEntry:
    """What the model said, rendered."""
    facts = (message.model, show_usage(message.usage), show_duration(message.duration_ms))
    return AnswerEntry(
        id=entry_id(index),
        html=Markup(render_markdown(message.text)),  # noqa: S704 - the renderer's promise
        has_footer=bool(message.text) and not message.tool_calls,
        reasoning=message.reasoning.strip(),
        when=_when(message, now_ms),
        facts=tuple(fact for fact in facts if fact),
        incomplete=_INCOMPLETE.get(message.incomplete, "Not complete") if message.incomplete else "",
        can_continue=is_last and bool(message.incomplete),
    )


def build_step(call: ToolCall, action: str, state: StepState, words: str = "") -> StepEntry:
    """A call that has no result."""
    return StepEntry(
        key=call_key(call.id),
        tool=call.name,
        action=action or call.name,
        state=state,
        state_words=words or _STATE_WORDS[state],
        arguments=_arguments(call),
    )


def build_finished_step(call: ToolCall, action: str, result: ToolResult, duration_ms: int) -> StepEntry:
    """A call with what came of it."""
    step = build_step(call, action, StepState.FAILED if result.is_error else StepState.DONE)
    return replace(step, result=result.text, files=result.files, duration=show_duration(duration_ms))


def call_key(call_id: str) -> str:
    """A call's name in the page; ids come from models and may hold anything."""
    return hashlib.sha256(call_id.encode(errors="backslashreplace")).hexdigest()[:12]


def entry_id(index: int) -> str:
    """A message's name in the page: its place in the conversation."""
    return f"m-{index}"


def build_card(approval: Approval) -> ApprovalCard:
    """A waiting question."""
    return ApprovalCard(
        id=approval.id,
        call_key=call_key(approval.call_id),
        tool=approval.tool,
        action=approval.action,
        reason=approval.reason[:1].upper() + approval.reason[1:],
        arguments=json.dumps(approval.args, ensure_ascii=False, indent=2, default=str),
        covers=approval.covers,
        created_ms=approval.created_ms,
        expires_ms=approval.expires_ms,
        is_question=approval.kind is AskKind.QUESTION,
        options=approval.options,
    )


def judge_end(messages: Sequence[Indexed], *, is_running: bool, waits: bool) -> TurnOutcome | None:
    """What to say below a conversation that stands still although somebody still waits for an answer."""
    if is_running or waits or not messages:
        return None
    last = messages[-1][1]
    user = next((message for _, message in reversed(messages) if message.role is Role.USER), None)
    if user is not None and user.text.startswith(_COMMAND):
        return None
    if last.role is Role.USER:
        return TurnOutcome("Not answered yet", is_error=False)
    if last.role is Role.TOOL or last.tool_calls:
        return TurnOutcome("This turn was interrupted", "What was done so far stands above", is_error=False)
    return None


def _results_after(messages: Sequence[Indexed], place: int) -> Mapping[str, Message]:
    """By call id, up to the next thing said: models count their calls anew each turn."""
    following = takewhile(lambda indexed: indexed[1].role is Role.TOOL, messages[place + 1 :])
    return {message.tool_call_id: message for _, message in following}


def _build_steps(message: Message, results: Mapping[str, Message], setting: Setting) -> list[StepEntry]:
    open_state = StepState.RUNNING if setting.is_running else StepState.OPEN
    steps: list[StepEntry] = []
    for call in message.tool_calls:
        action = setting.describe(call)
        found = results.get(call.id)
        if found is None:
            steps.append(build_step(call, action, open_state))
        else:
            result = ToolResult(text=found.text, is_error=found.is_error)
            steps.append(build_finished_step(call, action, result, found.duration_ms))
    return steps


def _arguments(call: ToolCall) -> tuple[Argument, ...]:
    if call.problem:
        return (Argument("arguments", call.raw or call.problem, is_long=True),)
    return tuple(_argument(name, value) for name, value in call.arguments.items())


def _argument(name: str, value: JsonValue) -> Argument:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return Argument(name, text, is_long="\n" in text or len(text) > _SHORT_VALUE)


def _when(message: Message, now_ms: int) -> Moment:
    return show_moment(message.timestamp_ms or now_ms, now_ms)
