"""Builds the request of one step: system prompt, repaired history, tool offer, all within the model's window.

The order keeps the longest possible unchanged prefix between steps and turns. Spec: orchestrator.md, "Turn flow".
"""

import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from skales.agent.prompt import PromptFacts, build_system_prompt
from skales.core.clock import Clock, to_datetime
from skales.core.message import Message, Role, text_message
from skales.core.ports import ChatRequest, ChosenModel, Toolbox
from skales.core.tool import Safety, ToolSpec
from skales.data.paths import DataDirectory

# A rough count is enough to stay clear of the limit; tokenisers differ per model. About 4 characters are a token.
_CHARACTERS_PER_TOKEN = 4
# Share of the window left to the answer and to what the rough count misses.
_RESERVED = 0.25

HistoryRepair = Callable[[Sequence[Message]], tuple[Message, ...]]


@dataclass(frozen=True, slots=True)
class BuiltRequest:
    """The request, and how many of the oldest messages did not fit."""

    request: ChatRequest
    left_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextBuilder:
    """Assembles requests; `custom_prompt` is read for each one, since the user may change it at any time."""

    directory: DataDirectory
    toolbox: Toolbox
    repair: HistoryRepair
    custom_prompt: Callable[[], str]
    clock: Clock

    def build(self, chosen: ChosenModel, history: Sequence[Message]) -> BuiltRequest:
        """The next request of a session with this history."""
        system = text_message(Role.SYSTEM, build_system_prompt(self._facts(), compact=chosen.weak))
        tools = self.offer()
        window = chosen.provider.max_tokens(chosen.model)
        kept = list(self.repair(history))
        left_out = 0
        if window and not chosen.weak:
            budget = int(window * (1 - _RESERVED)) - _tokens(system) - _tool_tokens(tools)
            left_out = _overflow(kept, budget)
        request = ChatRequest(model=chosen.model, messages=(system, *kept[left_out:]), tools=tools)
        return BuiltRequest(request, left_out)

    def offer(self) -> tuple[ToolSpec, ...]:
        """The tools a model may start, in a stable order."""
        return tuple(
            spec
            for spec in self.toolbox.specs()
            if spec.safety is not Safety.MANUAL and self.toolbox.is_enabled(spec.name)
        )

    def _facts(self) -> PromptFacts:
        today = to_datetime(self.clock.now_ms())
        return PromptFacts(
            workspace=self.directory.workspace,
            today=f"{today:%A, %d %B %Y}",
            system=f"{platform.system()} {platform.machine()}",
            custom=self.custom_prompt(),
        )


def _overflow(messages: Sequence[Message], budget_tokens: int) -> int:
    """How many of the oldest messages to leave out; cuts only before a user message, and never the last one."""
    starts = [index for index, message in enumerate(messages) if message.role is Role.USER]
    sizes = [_tokens(message) for message in messages]
    total = sum(sizes)
    cut = 0
    for start in starts:
        if total - sum(sizes[:start]) <= budget_tokens:
            return start if total > budget_tokens else 0
        cut = start
    return cut


def _tokens(message: Message) -> int:
    calls = sum(len(call.name) + len(str(call.arguments)) for call in message.tool_calls)
    return (len(message.text) + len(message.reasoning) + calls) // _CHARACTERS_PER_TOKEN + 4


def _tool_tokens(tools: Sequence[ToolSpec]) -> int:
    return sum(len(tool.description) + len(str(tool.parameters)) for tool in tools) // _CHARACTERS_PER_TOKEN
