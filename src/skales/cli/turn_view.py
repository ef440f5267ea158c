"""One turn on the terminal: the answer on standard output, all else on standard error."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import assert_never

from skales.cli.progress_bar import ProgressBar
from skales.cli.terminal import aside, paint, warn
from skales.core.events import (
    AnswerSaved,
    ApprovalRequested,
    ApprovalResolved,
    Compacted,
    MessageQueued,
    Notice,
    Progress,
    ReasoningDelta,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnEnd,
    TurnEnded,
    TurnEvent,
    TurnStarted,
)
from skales.core.evidence import Unconfirmed
from skales.core.json import JsonObject, JsonValue
from skales.core.tool import ToolCall, ToolResult


@dataclass(slots=True)
class TurnView:
    """Shows events as they come and keeps what a script wants to know. `quiet` shows nothing."""

    quiet: bool = False
    text: list[str] = field(default_factory=list)
    calls: list[JsonValue] = field(default_factory=list)
    unconfirmed: list[JsonValue] = field(default_factory=list)
    end: TurnEnded | None = None
    _mid_line: bool = False
    # The person ran a tool themselves: its result is the answer.
    _is_direct: bool = False
    _is_failed_direct: bool = False
    _bar: ProgressBar = field(init=False)

    def __post_init__(self) -> None:
        self._bar = ProgressBar(self._end_line)

    def show(self, event: TurnEvent) -> None:  # noqa: C901 - one arm per event
        """Render one event."""
        if not isinstance(event, Progress):
            self._bar.clear()
        match event:
            case TextDelta(text):
                self._write(text)
            case AnswerSaved(text):
                self.text.append(text)
                self._end_line()
                self._show_unconfirmed(event.unconfirmed)
            case ToolStarted(_, action):
                self._say(f"→ {action}")
            case ToolFinished(call, result):
                self._show_result(call, result)
            case Notice(level, text):
                self._say(text, important=level == "warning")
            case Progress():
                if not self.quiet:
                    self._bar.show(event)
            case Compacted(messages):
                self._say(f"Summarised {messages} earlier messages for the model; the whole conversation is kept")
            case MessageQueued(text):
                self._say(f"Queued: {text}")
            case TurnEnded():
                self._show_end(event)
            case TurnStarted():
                self._is_direct = not event.provider and bool(event.text)
            case ReasoningDelta() | ApprovalRequested() | ApprovalResolved():
                return
            case _:
                assert_never(event)

    @property
    def succeeded(self) -> bool:
        """Whether the person got what they asked for; a tool they ran themselves must have worked."""
        assert self.end is not None, "the turn is over"
        return self.end.end is TurnEnd.COMPLETED and not self._is_failed_direct

    def as_json(self, session_id: str) -> JsonObject:
        """What `--json` prints."""
        assert self.end is not None, "the turn is over"
        usage = self.end.usage
        return {
            "sessionId": session_id,
            "text": "\n\n".join(part for part in self.text if part),
            "toolCalls": self.calls,
            "unconfirmed": self.unconfirmed,
            "end": self.end.end.value,
            "error": self.end.error or None,
            "usage": {"inputTokens": usage.input_tokens, "outputTokens": usage.output_tokens},
            "durationMs": self.end.duration_ms,
        }

    def _show_unconfirmed(self, found: Sequence[Unconfirmed]) -> None:
        for claim in found:
            self.unconfirmed.append({"sentence": claim.sentence, "reason": claim.reason})
            self._say(f"Not confirmed: {claim.sentence} ({claim.reason})", important=True)

    def _write(self, text: str) -> None:
        if self.quiet or not text:
            return
        sys.stdout.write(text)
        sys.stdout.flush()
        self._mid_line = not text.endswith("\n")

    def _end_line(self) -> None:
        if self._mid_line:
            print(flush=True)
            self._mid_line = False

    def _say(self, text: str, *, important: bool = False) -> None:
        if self.quiet:
            return
        self._end_line()
        (warn if important else aside)(text)

    def _show_result(self, call: ToolCall, result: ToolResult) -> None:
        self.calls.append({"tool": call.name, "args": call.arguments, "ok": not result.is_error})
        self._is_failed_direct = self._is_direct and result.is_error
        if self._is_direct and not result.is_error:
            self.text.append(result.text)
            self._write(result.text)
            self._end_line()
        else:
            self._say(f"{'✗' if result.is_error else '✓'} {result.summary or result.text[:200]}")

    def _show_end(self, event: TurnEnded) -> None:
        self.end = event
        self._end_line()
        if event.end is TurnEnd.STOPPED:
            self._say("Stopped; what was written is kept.")
        if event.error and not self.quiet:
            print(paint(f"Error: {event.error}", "red", to=sys.stderr), file=sys.stderr)
            if event.hint:
                aside(f"  {event.hint}")
