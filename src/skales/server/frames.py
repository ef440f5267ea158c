"""A turn as the DevKit's SSE frames. Compact JSON, `type` first, one `data: ` line each.

Spec: http-api.md, "POST /api/cli/chat"; cli.md, "Scripts in the DevKit that must keep working".
"""

import json
from collections.abc import Sequence
from typing import assert_never

from skales.core.approval import AskKind
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
from skales.core.evidence import Unconfirmed, unconfirmed_to_json
from skales.core.ids import SessionId
from skales.core.json import JsonObject
from skales.data.approvals import approval_json

# Comment lines keep a client with a 120 s silence rule connected.
KEEP_ALIVE = b": ping\n\n"
KEEP_ALIVE_S = 15.0

_DISPLAY_LIMIT = 200


class DevKitFrames:
    """Renders one turn; the whole text comes once, before `done`."""

    def __init__(self, session_id: SessionId) -> None:
        self._session_id = session_id
        self._texts: list[str] = []
        self._unconfirmed: tuple[Unconfirmed, ...] = ()

    def render(self, event: TurnEvent) -> bytes:
        """The frames of one event, often none."""
        return b"".join(encode_frame(frame) for frame in self._frames(event))

    def _frames(self, event: TurnEvent) -> Sequence[JsonObject]:
        match event:
            case AnswerSaved(text, _, unconfirmed):
                self._texts.append(text)
                self._unconfirmed += unconfirmed
                return ()
            case ToolStarted(call, _, first_of_batch):
                return ({"type": "tool_call", "tool": call.name, "args": call.arguments},) if first_of_batch else ()
            case ToolFinished(call, result):
                shown = (result.summary or result.text)[:_DISPLAY_LIMIT]
                return ({"type": "tool_result", "tool": call.name, "result": shown},)
            case ApprovalRequested(approval):
                kind = "question" if approval.kind is AskKind.QUESTION else "tool"
                return ({"type": "approval_request", **approval_json(approval), "kind": kind},)
            case TurnEnded():
                return self._end(event)
            case (
                TurnStarted()
                | TextDelta()
                | ReasoningDelta()
                | ApprovalResolved()
                | Notice()
                | Progress()
                | Compacted()
                | MessageQueued()
            ):
                return ()
            case _:
                assert_never(event)

    def _end(self, event: TurnEnded) -> Sequence[JsonObject]:
        frames: list[JsonObject] = []
        text = "\n\n".join(part for part in self._texts if part)
        if text:
            # A script that knows only the content goes on as before.
            frames.append({"type": "text", "content": text, **unconfirmed_to_json(self._unconfirmed)})
        if event.end in (TurnEnd.FAILED, TurnEnd.LIMIT):
            words = f"{event.error}. {event.hint}" if event.hint else event.error
            frames.append({"type": "error", "error": words})
        elif event.end is TurnEnd.STOPPED:
            frames.append({"type": "error", "error": "Stopped"})
        frames.append({"type": "done", "sessionId": self._session_id})
        return frames


def encode_frame(frame: JsonObject) -> bytes:
    """One `data: ` line and a blank line."""
    return f"data: {json.dumps(frame, ensure_ascii=False, separators=(',', ':'))}\n\n".encode(
        "utf-8", "backslashreplace"
    )
