"""Tool calls as entries of the page: arguments and results made readable, runs of calls under one line."""

import hashlib
import json
import shlex
from collections.abc import Sequence
from itertools import pairwise
from urllib.parse import urlencode

from msgspec import structs

from skales.core.json import JsonValue, as_object, as_text, parse_json
from skales.core.tool import ToolCall, ToolResult
from skales.server.conversation_views import Entry
from skales.server.step_views import Argument, OutputLine, StepEntry, StepGroup, StepState
from skales.server.told import told
from skales.server.ui.phrases import show_duration, show_number
from skales.server.words import N_, _, ngettext

_SHORT_VALUE = 120
_LONGEST_WONDERED = 1_000
_FOLDED_LINES = 12
_FOLDED_CHARACTERS = 1_200
# Longer results are shown as they are: making them pretty would hold up the page.
_LONGEST_PRETTY = 60_000
_STATE_WORDS = {
    StepState.RUNNING: N_("Running"),
    StepState.DONE: N_("Done"),
    StepState.FAILED: N_("Not done"),
    StepState.OPEN: N_("Waiting"),
}


def build_step(call: ToolCall, action: str, state: StepState, words: str = "") -> StepEntry:
    """A call that has no result."""
    return StepEntry(
        key=call_key(call.id),
        tool=call.name,
        action=told(action) or call.name,
        state=state,
        state_words=words or _(_STATE_WORDS[state]),
        arguments=_arguments(call),
        why=_why_address(call),
    )


def build_finished_step(call: ToolCall, action: str, result: ToolResult, duration_ms: int) -> StepEntry:
    """A call with what came of it."""
    step = build_step(call, action, StepState.FAILED if result.is_error else StepState.DONE)
    return structs.replace(
        step,
        result=_pretty(told(result.text) if result.is_error else result.text),
        files=result.files,
        duration=show_duration(duration_ms),
        lines=read_diff(as_text(as_object(result.data).get("diff"))) or read_diff(result.text),
    )


def call_key(call_id: str) -> str:
    """A call's name in the page; ids come from models and may hold anything."""
    return hashlib.sha256(call_id.encode(errors="backslashreplace")).hexdigest()[:12]


def group_steps(entries: Sequence[Entry]) -> list[Entry]:
    """The entries of a turn that is over, its runs of two and more finished calls put together."""
    grouped: list[Entry] = []
    run: list[StepEntry] = []
    for entry in entries:
        if isinstance(entry, StepEntry) and entry.state in (StepState.DONE, StepState.FAILED):
            run.append(entry)
            continue
        grouped.extend(_close(run))
        run = []
        grouped.append(entry)
    grouped.extend(_close(run))
    return grouped


def count_steps(total: int, failed: int) -> str:
    """`5 steps, 1 failed`. The page's script says it in the same words."""
    steps = ngettext("%(num)d step", "%(num)d steps", total)
    if not failed:
        return steps
    return _("%(steps)s, %(failed)s", steps=steps, failed=ngettext("%(num)d failed", "%(num)d failed", failed))


def _why_address(call: ToolCall) -> str:
    """The page that explains such a call, written out in its field; empty for one too long for an address."""
    given = (
        (name, value if isinstance(value, str) else json.dumps(value, default=str))
        for name, value in call.arguments.items()
    )
    words = shlex.join([call.name, *(f"{name}={value}" for name, value in given)])
    return (
        ""
        if call.problem or len(words) > _LONGEST_WONDERED
        else f"/grants?{urlencode({'call': words}, errors='replace')}"
    )


def read_diff(text: str) -> tuple[OutputLine, ...]:
    """The lines of a unified diff by kind; nothing when the text is none."""
    lines = text.split("\n")
    heads = any(line.startswith("--- ") and following.startswith("+++ ") for line, following in pairwise(lines))
    if not heads or not any(line.startswith("@@") for line in lines) or len(text) > _LONGEST_PRETTY:
        return ()
    return tuple(OutputLine(line, _kind(line)) for line in lines)


def _kind(line: str) -> str:
    if line.startswith(("--- ", "+++ ", "@@")):
        return "place"
    return {"+": "added", "-": "removed"}.get(line[:1], "")


def _close(run: Sequence[StepEntry]) -> Sequence[Entry]:
    if len(run) < 2:
        return run
    failed = sum(step.state is StepState.FAILED for step in run)
    return (StepGroup(count_steps(len(run), failed), failed > 0, tuple(run)),)


def _pretty(text: str) -> str:
    """JSON over several lines; anything else as it is."""
    if len(text) > _LONGEST_PRETTY or text[:1] not in "{[" or "\n" in text.strip():
        return text
    try:
        value = parse_json(text)
    except ValueError:
        return text
    return _dump(value) if isinstance(value, (dict, list)) else text


def _arguments(call: ToolCall) -> tuple[Argument, ...]:
    if call.problem:
        return (_text_argument(_("arguments"), call.raw or call.problem, is_long=True),)
    return tuple(_argument(name, value) for name, value in call.arguments.items())


def _argument(name: str, value: JsonValue) -> Argument:
    if isinstance(value, str):
        return _text_argument(name, value)
    short = json.dumps(value, ensure_ascii=False, default=str)
    return _text_argument(name, short if len(short) <= _SHORT_VALUE else _dump(value))


def _text_argument(name: str, text: str, *, is_long: bool = False) -> Argument:
    is_long = is_long or "\n" in text or len(text) > _SHORT_VALUE
    lines = text.count("\n") + 1
    if lines > _FOLDED_LINES:
        return Argument(name, text, is_long, ngettext("%(num)d line", "%(num)d lines", lines))
    if len(text) > _FOLDED_CHARACTERS:
        return Argument(name, text, is_long, _("%(number)s characters", number=show_number(len(text))))
    return Argument(name, text, is_long)


def _dump(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)
