"""The outbox for surfaces: what was sent, what nobody is sure of, and a person's word about it."""

from collections.abc import Sequence
from enum import StrEnum

import anyio.to_thread

from skales.app.app import App
from skales.app.reports import report_result
from skales.core.json import JsonObject
from skales.core.tool import ToolResult
from skales.data.outbox import Intent, OutboxState, intent_json
from skales.security.redact import redact, redact_value

_SHOWN = 100
# What a program made for itself and is of no use to anybody else.
_INNER = frozenset({"process", "content", "conversation"})


class OutboxAnswer(StrEnum):
    """What a person says of a sending that nobody is sure of."""

    SENT = "sent"
    AGAIN = "again"
    DROP = "drop"


def list_outbox(app: App) -> tuple[Sequence[Intent], Sequence[Intent]]:
    """Those that wait for a person's word, oldest first, and the last others, newest first. Reads the disk."""
    everything = app.outbox.store.list()
    waiting = [intent for intent in reversed(everything) if intent.state is OutboxState.MAYBE]
    return waiting, [intent for intent in everything if intent.state is not OutboxState.MAYBE][:_SHOWN]


def report_outbox(app: App) -> JsonObject:
    """The same as JSON, secrets masked."""
    waiting, others = list_outbox(app)
    return {"waiting": [report_intent(intent) for intent in waiting], "others": [report_intent(one) for one in others]}


def report_intent(intent: Intent) -> JsonObject:
    """One sending as JSON, secrets masked."""
    shown = {name: value for name, value in intent_json(intent).items() if name not in _INNER}
    return {**shown, "args": redact_value(intent.draft.arguments), "action": redact(intent.draft.action)}


def report_answer(intent: Intent, result: ToolResult | None) -> JsonObject:
    """What came of an answer, as JSON."""
    return {"intent": report_intent(intent), "result": report_result(result) if result is not None else None}


async def answer_outbox(app: App, intent_id: str, answer: OutboxAnswer, by: str) -> tuple[Intent, ToolResult | None]:
    """Do what the person says; how it stands then, and the result when it was sent again.

    Raises NotFoundError, ConflictError when it is settled already.
    """
    match answer:
        case OutboxAnswer.SENT:
            return await app.outbox.mark_sent(intent_id, by), None
        case OutboxAnswer.DROP:
            return await app.outbox.drop(intent_id, by), None
        case OutboxAnswer.AGAIN:
            result = await app.outbox.send_again(intent_id, by, app.gate.run)
            return await anyio.to_thread.run_sync(app.outbox.store.get, intent_id), result
