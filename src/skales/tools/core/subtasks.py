"""The tool `dispatch_subtasks`: independent parts of a job, done side by side in conversations of their own."""

from collections.abc import Sequence
from typing import cast

from skales.core.errors import ToolError
from skales.core.events import Progress
from skales.core.json import JsonObject, JsonValue, as_list, as_object, as_text, parse_json
from skales.core.tool import Effect, Safety, ToolResult
from skales.tools.context import ToolContext
from skales.tools.define import tool
from skales.tools.starting import Part, PartEnd

_MOST_PARTS = 12
_TITLE_CHARACTERS = 60
_ONE_ANSWER = 6_000
_SHAPE = 'Write a JSON array such as [{"title": "Prices", "task": "Look up the price of …"}]'


@tool(
    "core",
    Safety.CONFIRM,
    Effect.SPENDS,
    Effect.READS_PRIVATE,
    Effect.UNTRUSTED_OUTPUT,
    action="Hand out subtasks[ of {parent_title}]: {subtasks_json}",
    example=(
        "Compare the three offers in parallel",
        {
            "parent_title": "Compare offers",
            "subtasks_json": '[{"title": "Offer A", "task": "Read offer-a.pdf. Name price, delivery time, warranty."},'
            ' {"title": "Offer B", "task": "Read offer-b.pdf. Name price, delivery time, warranty."}]',
        },
    ),
    found_by=(
        "parallel aufteilen split agents gleichzeitig several at once team Teilaufgaben research each mehrere "
        "compare competitors overview same time nebeneinander separately jeweils delegate"
    ),
)
async def dispatch_subtasks(ctx: ToolContext, subtasks_json: str, parent_title: str = "") -> ToolResult:
    """Do independent parts of a big job side by side, each by a sub-agent, and gather their answers.

    A sub-agent knows nothing of this conversation and cannot hand work on.

    Args:
        subtasks_json: JSON array of {"title", "task"}; each task says everything needed to do it.
        parent_title: What the whole is, in a few words.
    """
    parts = _read_parts(subtasks_json)

    def report(title: str, done: int) -> None:
        ctx.scope.report(Progress(title, done, len(parts), "steps"))

    ends = await ctx.work.run_parts(ctx.scope.session_id, " ".join(parent_title.split()), parts, report)
    return _gather(ends)


def _gather(ends: Sequence[PartEnd]) -> ToolResult:
    """What became of each, failures first in the count. When all failed, so did the call."""
    failed = [end for end in ends if not end.ok]
    heading = f"{len(ends) - len(failed)} of {len(ends)} subtasks done"
    if failed:
        heading += f", {len(failed)} FAILED: {', '.join(end.title for end in failed)}"
    texts = [_write_end(number, end) for number, end in enumerate(ends, 1)]
    return ToolResult(
        text="\n\n".join([f"{heading}.", *texts]),
        summary=heading[:200],
        is_error=len(failed) == len(ends),
        data=[_data_of(end) for end in ends],
        sources=tuple(dict.fromkeys(source for end in ends for source in end.sources)),
    )


def _write_end(number: int, end: PartEnd) -> str:
    lines = [f"## {number}. {end.title}: {'ok' if end.ok else 'FAILED'}"]
    if end.error:
        lines.append(f"Reason: {end.error}")
    lines.extend(f"Not allowed: {action}" for action in end.refused)
    if end.answer:
        answer = (
            end.answer
            if len(end.answer) <= _ONE_ANSWER
            else f"{end.answer[:_ONE_ANSWER]}… (cut; whole in {end.session_id})"
        )
        lines.append(answer if end.ok else f"It had written so far: {answer}")
    return "\n".join(lines)


def _data_of(end: PartEnd) -> JsonObject:
    return {
        "title": end.title,
        "ok": end.ok,
        "sessionId": end.session_id,
        **({"error": end.error} if end.error else {}),
        **({"refused": list(end.refused)} if end.refused else {}),
    }


def _read_parts(text: str) -> Sequence[Part]:
    """Raises ToolError that says which entry is at fault."""
    try:
        value = parse_json(text)
    except ValueError as error:
        raise ToolError("subtasks_json is not JSON", hint=_SHAPE, code="bad_input") from error
    entries = value if isinstance(value, list) else as_list(as_object(value).get("subtasks"))
    if not 1 <= len(entries) <= _MOST_PARTS:
        raise ToolError(
            f"subtasks_json holds {len(entries)} subtasks; 1 to {_MOST_PARTS} are possible",
            hint=_SHAPE,
            code="bad_input",
        )
    return [_read_part(number, entry) for number, entry in enumerate(cast("Sequence[JsonValue]", entries), 1)]


def _read_part(number: int, entry: JsonValue) -> Part:
    given = {"task": entry} if isinstance(entry, str) else as_object(entry)
    task = next((text for key in ("task", "description", "prompt") if (text := as_text(given.get(key)).strip())), "")
    title = " ".join(as_text(given.get("title")).split())
    if not (task or title):
        raise ToolError(f"Subtask {number} has no task", hint=_SHAPE, code="bad_input")
    shown = title or " ".join(task.split())
    return Part(shown if len(shown) <= _TITLE_CHARACTERS else f"{shown[: _TITLE_CHARACTERS - 1]}…", task or title)
