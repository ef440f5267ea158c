"""Stops a model that calls the same tool over and over. Spec: orchestrator.md, "Loop control"."""

import json
from collections import Counter
from enum import StrEnum

from msgspec import Struct, field

from skales.core.tool import ToolCall

# The third identical call of a turn is answered by a message instead of running, the fifth ends the turn.
GUARDED_AT = 3
ENDED_AT = 5
# Calls of one tool in one turn, whatever the arguments, where nobody set another number.
NAME_LIMIT = 15


class Repeat(StrEnum):
    """What to do with a call, judged by those before it in the turn."""

    RUN = "run"
    GUARD = "guard"
    END = "end"


class RepeatGuard(Struct):
    """Counts the calls of one turn; `name_limit` is how many there may be of one tool."""

    name_limit: int = NAME_LIMIT
    _identical: Counter[str] = field(default_factory=Counter)
    _named: Counter[str] = field(default_factory=Counter)

    def count(self, call: ToolCall) -> Repeat:
        """Take note of a call and say what to do with it."""
        key = f"{call.name} {json.dumps(call.arguments, sort_keys=True)} {call.raw if call.problem else ''}"
        self._identical[key] += 1
        self._named[call.name] += 1
        if self._identical[key] >= ENDED_AT:
            return Repeat.END
        if self._identical[key] >= GUARDED_AT or self._named[call.name] > self.name_limit:
            return Repeat.GUARD
        return Repeat.RUN

    def explain(self, call: ToolCall) -> str:
        """What the model is told instead of a result."""
        if self._named[call.name] > self.name_limit:
            return (
                f"Not run: {call.name} was called more than {self.name_limit} times in this turn, which is too often. "
                "Use what you have, try another way, or tell the user what is missing; a new message counts anew, and "
                "the user can raise the ceiling (setting callsPerTurn)."
            )
        return (
            f"Not run: this is the same {call.name} call as before, and its result is already above. "
            "Use that result, change the arguments, or answer."
        )
