"""Builds the request of one step: system prompt, tool offer, summary of what is old, history, within the window.

The order keeps the longest possible unchanged prefix between steps and turns, so that providers' caches fit: nothing
before the newest message changes within a day, unless the conversation is summarised or outgrows the window.
Spec: orchestrator.md, "Turn flow".
"""

import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from msgspec import Struct, structs

from skales.agent.documents import DocumentShelf
from skales.agent.offer import ToolOffer
from skales.agent.pictures import leave_out_pictures
from skales.agent.prompt import PromptFacts, build_system_prompt
from skales.agent.summary import present_summary
from skales.agent.tokens import CountedHistory, HistoryCounts, TokenScale, count_message, count_tool
from skales.core.clock import Clock, to_datetime
from skales.core.ids import SessionId
from skales.core.message import Message, Role, Usage, text_message
from skales.core.ports import ChatRequest, ChosenModel, DocumentLimits
from skales.core.tool import ToolSpec
from skales.data.paths import DataDirectory
from skales.data.session_codec import Session
from skales.data.session_compactions import Compaction

# Of the window a request may take; the rest is for the answer and for what the count misses.
FULL_SHARE = 0.85
# What is left out grows in steps of this share of the window: with each step the cached prefix is lost.
_STEP_SHARE = 0.2
# System prompts that are kept: one a day, and one for weak models.
_KEPT_SYSTEMS = 4

HistoryRepair = Callable[[Sequence[Message]], tuple[Message, ...]]


class Story(Struct, frozen=True):
    """A conversation as it is told to a model. `mark` is the summary of its beginning, `sees` is about pictures.

    `documents` says which files the model takes as they are, None for none.
    Only messages that are new since the last look at `session_id` are counted.
    """

    session_id: SessionId
    messages: Sequence[Message]
    mark: Compaction | None
    sees: bool
    documents: DocumentLimits | None = None

    @property
    def start(self) -> int:
        """How many of the oldest messages the summary stands for."""
        return self.mark.up_to if self.mark else 0


class BuiltRequest(Struct, frozen=True):
    """The request, how many of the oldest messages did not fit, and its estimate before the model's own factor."""

    request: ChatRequest
    left_out: int
    estimated_tokens: int

    def with_cap(self, output_tokens: int) -> "BuiltRequest":
        """The same with the person's own limit for the answer; 0 leaves it open."""
        if not output_tokens:
            return self
        return structs.replace(self, request=replace(self.request, max_output_tokens=output_tokens))

    def without_tools(self) -> "BuiltRequest":
        """The same for a model that calls none."""
        offered = sum(map(count_tool, self.request.tools))
        return BuiltRequest(replace(self.request, tools=()), self.left_out, self.estimated_tokens - offered)


class Load(Struct, frozen=True):
    """What a request would take of a window, in the model's own tokens; the window is 0 when unknown."""

    tokens: int
    window_tokens: int

    @property
    def share(self) -> float:
        """The part of the window that is taken; 0 without a window."""
        return self.tokens / self.window_tokens if self.window_tokens else 0.0


class Plan(Struct, frozen=True, kw_only=True):
    """What a request would be made of, before anybody knows whether it fits.

    `fixed` are the tokens of what stands before the history, `factor` is the model's own for such estimates, `load`
    what a request with all that is not summarised would take.
    """

    story: Story
    head: Sequence[Message]
    tools: tuple[ToolSpec, ...]
    counted: CountedHistory
    fixed: int
    factor: float
    load: Load


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextBuilder:
    """Assembles requests; `custom_prompt` is read for each one, since the user may change it at any time."""

    directory: DataDirectory
    offer: ToolOffer
    repair: HistoryRepair
    custom_prompt: Callable[[], str]
    clock: Clock
    scale: TokenScale = field(default_factory=TokenScale)
    secret_names: Callable[[], Sequence[str]] = tuple
    counts: HistoryCounts = field(default_factory=HistoryCounts)
    _tools: dict[str, tuple[ToolSpec, int]] = field(default_factory=dict[str, tuple[ToolSpec, int]], init=False)
    _systems: dict[str, Message] = field(default_factory=dict[str, Message], init=False)
    _shelf: DocumentShelf = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_shelf", DocumentShelf(self.directory))

    def build(
        self, chosen: ChosenModel, session: Session, *, sees: bool, documents: DocumentLimits | None = None
    ) -> BuiltRequest:
        """The next request of a conversation; `sees` says whether the model takes pictures, `documents` which files."""
        return self.finish(chosen, self.plan(chosen, tell(session, sees=sees, documents=documents)))

    def plan(self, chosen: ChosenModel, story: Story) -> Plan:
        """What the next request would be made of.

        A weak model gets the whole history, of which its adapter takes what it can use.
        """
        if chosen.weak:
            story = structs.replace(story, mark=None, documents=None)
        tools, head, counted = self._offer(chosen, story), self._head(chosen, story), self.count(story)
        fixed = self._fixed(head, tools)
        factor = self.scale.factor(chosen.provider_id, chosen.model)
        window = chosen.provider.max_tokens(chosen.model)
        return Plan(
            story=story,
            head=head,
            tools=tools,
            counted=counted,
            fixed=fixed,
            factor=factor,
            load=Load(int((fixed + counted.between(story.start)) * factor), window),
        )

    def finish(self, chosen: ChosenModel, plan: Plan) -> BuiltRequest:
        """The request that was planned, with as much of the history as fits."""
        story, start = plan.story, plan.story.start
        if not chosen.weak:
            start = _find_start(story, plan.counted, int(plan.load.window_tokens / plan.factor), plan.fixed)
        kept = leave_out_pictures(story.messages[start:] if start else story.messages, lambda: story.sees)
        kept = self._shelf.fill(kept, story.documents)
        request = ChatRequest(model=chosen.model, messages=(*plan.head, *self.repair(kept)), tools=plan.tools)
        return BuiltRequest(request, start - story.start, plan.fixed + plan.counted.between(start))

    def learn(self, chosen: ChosenModel, built: BuiltRequest, usage: Usage) -> None:
        """An answer came, and with it what the endpoint counted."""
        counted = usage.input_tokens
        self.scale.learn(
            chosen.provider_id, chosen.model, estimated_tokens=built.estimated_tokens, counted_tokens=counted
        )

    def measure(self, chosen: ChosenModel, story: Story) -> Load:
        """What a request with all that is not summarised would take."""
        return self.plan(chosen, story).load

    def count(self, story: Story) -> CountedHistory:
        """The sums over its messages."""
        kinds = story.documents.kinds if story.documents else frozenset[str]()
        return self.counts.of(story.session_id, story.messages, sees=story.sees, kinds=kinds)

    def _offer(self, chosen: ChosenModel, story: Story) -> tuple[ToolSpec, ...]:
        choose = self.offer.choose_for_weak if chosen.weak else self.offer.choose
        return choose(story.messages)

    def _head(self, chosen: ChosenModel, story: Story) -> tuple[Message, ...]:
        system = self._keep(text_message(Role.SYSTEM, build_system_prompt(self._facts(), compact=chosen.weak)))
        return (system, *present_summary(story.mark.summary)) if story.mark else (system,)

    def _keep(self, system: Message) -> Message:
        """The same object as long as it says the same, so that it is counted and looked through once."""
        if len(self._systems) > _KEPT_SYSTEMS:
            self._systems.clear()
        return self._systems.setdefault(system.text, system)

    def _fixed(self, head: Sequence[Message], tools: Sequence[ToolSpec]) -> int:
        return sum(map(count_message, head)) + sum(map(self._count_tool, tools))

    def _count_tool(self, tool: ToolSpec) -> int:
        known = self._tools.get(tool.name)
        if known is None or known[0] is not tool:
            known = self._tools[tool.name] = (tool, count_tool(tool))
        return known[1]

    def _facts(self) -> PromptFacts:
        today = to_datetime(self.clock.now_ms())
        return PromptFacts(
            workspace=self.directory.workspace,
            today=f"{today:%A, %d %B %Y}",
            system=f"{platform.system()} {platform.machine()}",
            custom=self.custom_prompt(),
            secrets=tuple(self.secret_names()),
        )


def tell(session: Session, *, sees: bool, documents: DocumentLimits | None = None) -> Story:
    """A conversation as it stands on disk; `sees` says whether the model takes pictures, `documents` which files."""
    return Story(session.id, session.messages, session.compaction, sees, documents)


def _find_start(story: Story, counted: CountedHistory, window: int, fixed: int) -> int:
    """From which message on the history fits; cuts only before a user message, and never the last one.

    `fixed` is what is taken of the window before the history.
    """
    told = counted.between(story.start)
    over = told + fixed - int(window * FULL_SHARE)
    if not window or over <= 0:
        return story.start
    step = max(int(window * _STEP_SHARE), 1)
    least = counted.first_start(told - -(-over // step) * step)
    users = [index for index in range(story.start + 1, len(story.messages)) if story.messages[index].role is Role.USER]
    return next((index for index in users if index >= least), users[-1] if users else story.start)
