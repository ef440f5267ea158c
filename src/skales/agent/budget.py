"""Asks the person at half of a ceiling and at the whole, before the call that would meet it. Adds nothing up itself.

The question goes over the approval desk like one of `ask_user`, so that every surface can answer it and a restart does
not lose it. Only a clear yes goes on. Spec: orchestrator.md, "Streaming, cost, interruption".
"""

from collections.abc import Mapping
from functools import partial
from typing import assert_never

import anyio.to_thread
from msgspec import Struct, structs

from skales.agent.origin import CallOrigin
from skales.agent.permission import Permission
from skales.core.approval import Decision
from skales.core.errors import SkalesError, ToolError
from skales.core.ports import Accounts, Ceiling, CeilingMet, ModelCall, Question
from skales.core.tool import ToolCall

GO_ON, STOP = "Go on", "Stop"
# What the question is kept under, where a tool's name stands otherwise.
SUBJECT = "costs"

_YES = frozenset({GO_ON.lower(), "yes", "y", "ok", "continue"})


class SpendingStoppedError(SkalesError):
    """The person did not want the turn to cost more, or did not answer."""

    def __init__(self, message: str, *, hint: str = "", code: str = "budget") -> None:
        super().__init__(message, hint=hint, code=code)


class Budget(Struct, frozen=True):
    """Lets a call through, after asking where its cost asks for it."""

    accounts: Accounts
    permission: Permission

    async def clear(self, call: ModelCall, origin: CallOrigin, decisions: Mapping[str, Decision]) -> None:
        """Return when the call may be made. Raises SpendingStoppedError, StorageError.

        `decisions` are answers to questions of an earlier run, by `question_id`.
        """
        while met := self.accounts.check(call):
            answer = await self._ask(met, structs.replace(origin, decided=decisions.get(question_id(met))))
            go_on = answer is not None and answer.strip().rstrip(".!").lower() in _YES
            if answer is not None:
                await anyio.to_thread.run_sync(partial(self.accounts.settle, call, met, go_on=go_on))
            if not go_on:
                raise SpendingStoppedError(
                    f"Stopped before the next call to the model: {describe_ceiling(met)}",
                    hint="Write `continue` to go on from here, or change the ceiling in Settings, Chat",
                )

    async def _ask(self, met: CeilingMet, origin: CallOrigin) -> str | None:
        """The answer; None when there is none."""
        call = ToolCall(question_id(met), SUBJECT, {})
        try:
            return await self.permission.question(Question(describe_question(met), (GO_ON, STOP)), call, origin)
        except ToolError:
            return None


def question_id(met: CeilingMet) -> str:
    """Names the question, so that an answer after a restart reaches it and no other."""
    return f"{SUBJECT}-{met.ceiling}-{'full' if met.is_full else 'half'}-{show_usd(met.limit_usd)}"


def describe_question(met: CeilingMet) -> str:
    """What the person is asked."""
    spent = f"{describe_ceiling(met)} with the next call (estimated from list prices)"
    spent = f"{spent[0].upper()}{spent[1:]}"
    if met.is_full:
        return f"{spent}. Go on, up to {show_usd(met.next_usd)} USD?"
    return f"{spent}. Go on?"


def describe_ceiling(met: CeilingMet) -> str:
    """`half of this conversation's 5 USD is spent`, with the amount."""
    match met.ceiling:
        case Ceiling.SESSION:
            whose = "this conversation's"
        case Ceiling.DAY:
            whose = "today's"
        case _:
            assert_never(met.ceiling)
    share = "all" if met.is_full else "half"
    return f"{share} of {whose} {show_usd(met.limit_usd)} USD is spent, {show_usd(met.spent_usd)} USD"


def show_usd(amount: float) -> str:
    """`5`, `2.61`, and `0.0042` for what cents cannot tell."""
    text = f"{amount:.2f}" if amount >= 0.1 or not amount else f"{amount:.4f}"
    return text.removesuffix(".00")
