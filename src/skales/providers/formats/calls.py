"""Leads the calls of an answer back to our tools: names as we know them, ids that no other call has."""

from collections.abc import Callable

from skales.core.json import JsonObject
from skales.core.tool import ToolCall
from skales.providers.formats.wire import AnswerContext
from skales.providers.toolnames import to_wire_name

CUT_CALL = (
    "The answer ended before the arguments of this call were complete. "
    "Send the call again, with shorter arguments when they are long."
)
_NO_NAME = "The call names no tool. Send it again with the name of a tool."


class CallMaker:
    """Makes calls of one answer. `spell` is how the format writes the name of a tool."""

    def __init__(self, context: AnswerContext, spell: Callable[[str], str] = to_wire_name) -> None:
        used = [call for message in context.request.messages for call in message.tool_calls]
        self._ids = context.ids
        self._taken_ids = {call.id for call in used}
        self._names: dict[str, str] = {}
        for name in (*(tool.name for tool in context.request.tools), *(call.name for call in used)):
            self._names.setdefault(spell(name), name)

    def name(self, wire_name: str) -> str:
        """Our name of a tool; a name that was not offered stays as the model wrote it."""
        return self._names.get(wire_name, wire_name) or "unnamed_tool"

    def make(self, wire_id: str, wire_name: str, arguments: JsonObject, problem: str, raw: str) -> ToolCall:
        """A call with a fresh id when the endpoint gave none or one that was used before."""
        call_id = wire_id
        while not call_id or call_id in self._taken_ids:
            call_id = f"call_{self._ids.token(16)}"
        self._taken_ids.add(call_id)
        if not wire_name:
            arguments, problem = {}, _NO_NAME
        return ToolCall(call_id, self.name(wire_name), arguments, problem, raw)
