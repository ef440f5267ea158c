"""Replaces the oldest part of a conversation, for the model only, by a summary: when, up to where, and the doing.

The messages stay on disk untouched; a mark in the session file says what stands for them, and goes with an undo.
Whoever runs the turn asks the model, so that budget, accounts and a stop hold here as for any call. Nothing is written
before the whole summary is there. Spec: orchestrator.md, "Streaming, cost, interruption".
"""

from collections.abc import Awaitable, Callable, Sequence

import anyio.to_thread
from msgspec import Struct, field

from skales.agent.context import FULL_SHARE, ContextBuilder, Load, Story
from skales.agent.summary import OpenTask, build_question, spell_messages, write_summary
from skales.agent.tokens import CountedHistory, count_text
from skales.core.clock import Clock
from skales.core.errors import ProviderError, ProviderFault
from skales.core.events import Compacted
from skales.core.message import Message, Role
from skales.core.ports import ChatRequest, ChosenModel
from skales.data.session_codec import Session
from skales.data.session_compactions import Compaction
from skales.data.sessions import SessionStore

# The newest turns that take at most this share of the window stay as they are.
_KEPT_SHARE = 0.3
# A summary must save at least this share of the window to be worth a request.
_WORTH_SHARE = 0.05
# What is summarised in one request, so that instruction, earlier summary and answer find room beside it.
_PART_SHARE = 0.5
# Where no window is known, about what every model of today takes.
_USUAL_PART_TOKENS = 24_000
# What a summary may take: this share of the window, at most so many characters, about three of them a token.
_SUMMARY_SHARE = 0.2
_MOST_SUMMARY_CHARACTERS = 30_000
_CHARACTERS_PER_TOKEN = 3
# Longer histories, met after a change to a small model, are summarised without their oldest part.
_MOST_PARTS = 8

# Asks a model without tools and returns its text. Raises ProviderError, and whatever stops a turn.
Ask = Callable[[ChosenModel, ChatRequest], Awaitable[str]]


class Compactor(Struct, frozen=True, kw_only=True):
    """Decides and does it. `at_percent` is the setting, 0 for never; `writer` names who summarises for a model."""

    sessions: SessionStore
    context: ContextBuilder
    clock: Clock
    at_percent: Callable[[], int]
    open_tasks: Callable[[], Sequence[OpenTask]]
    writer: Callable[[ChosenModel], ChosenModel] = field(default=lambda chosen: chosen)

    @property
    def is_on(self) -> bool:
        """Whether conversations are summarised unasked."""
        return self.at_percent() > 0

    def is_due(self, load: Load, session: Session) -> bool:
        """Whether the request takes so much of a known window; after an undo only when it no longer fits."""
        percent = self.at_percent()
        if not percent or not load.window_tokens:
            return False
        was_undone = any(mark.undone for mark in session.compactions)
        return load.share >= (max(percent / 100, FULL_SHARE) if was_undone else percent / 100)

    def find_end(self, chosen: ChosenModel, story: Story, *, by_person: bool = False) -> int:
        """Up to which message to summarise, 0 when it would not be worth it; the last turn always stays.

        When a person wants it, a little is enough.
        """
        load = self.context.measure(chosen, story)
        room = min(load.window_tokens, load.tokens) if load.window_tokens else load.tokens
        room = int(room / self.context.scale.factor(chosen.provider_id, chosen.model))
        counted = self.context.count(story)
        end = choose_end(story.messages, counted, story.start, int(room * _KEPT_SHARE))
        worth = 0 if by_person else int(room * _WORTH_SHARE)
        return end if end > story.start and counted.between(story.start, end) > worth else 0

    async def compact(self, chosen: ChosenModel, story: Story, end: int, ask: Ask) -> Compacted:
        """Summarise up to `end` and write the mark down. Raises what `ask` raises, ProviderError for an empty summary.

        A summary that there is already goes into the new one.
        """
        writer = self.writer(chosen)
        summary = story.mark.summary if story.mark else ""
        spelled = await anyio.to_thread.run_sync(lambda: list(spell_messages(story.messages[story.start : end])))
        for part in split_parts(spelled, self._part_tokens(writer)):
            request = ChatRequest(model=writer.model, messages=build_question(part, summary))
            summary = (await ask(writer, request)).strip()
            if not summary:
                raise ProviderError("The model wrote no summary", fault=ProviderFault.BAD_ANSWER)
        tasks = await anyio.to_thread.run_sync(self.open_tasks)
        room = _summary_characters(chosen)
        text = await anyio.to_thread.run_sync(write_summary, summary, story.messages[:end], tasks, room)
        mark = Compaction(
            up_to=end,
            summary=text,
            at_ms=self.clock.now_ms(),
            provider=writer.provider_id,
            model=writer.model,
            tokens=count_text(text),
        )
        await anyio.to_thread.run_sync(self.sessions.add_compaction, story.session_id, mark)
        return Compacted(end, mark.tokens)

    def _part_tokens(self, writer: ChosenModel) -> int:
        window = writer.provider.max_tokens(writer.model)
        factor = self.context.scale.factor(writer.provider_id, writer.model)
        return int(window * _PART_SHARE / factor) if window else _USUAL_PART_TOKENS


def choose_end(messages: Sequence[Message], counted: CountedHistory, start: int, kept_tokens: int) -> int:
    """The first user message from which on little enough follows, else the last one; `start` when there is none."""
    least = max(counted.first_start(kept_tokens), start + 1)
    following = (index for index in range(least, len(messages)) if messages[index].role is Role.USER)
    end = next(following, None)
    if end is None:
        behind = (index for index in range(least - 1, start, -1) if messages[index].role is Role.USER)
        end = next(behind, start)
    return end


def _summary_characters(chosen: ChosenModel) -> int:
    window = chosen.provider.max_tokens(chosen.model)
    room = int(window * _SUMMARY_SHARE) * _CHARACTERS_PER_TOKEN
    return min(room, _MOST_SUMMARY_CHARACTERS) if window else _MOST_SUMMARY_CHARACTERS


def split_parts(spelled: Sequence[str], part_tokens: int) -> list[list[str]]:
    """Parts of at most that many tokens, each with whole messages; of too many the newest."""
    parts: list[list[str]] = []
    room = 0
    for text in spelled:
        tokens = count_text(text)
        if not parts or tokens > room:
            parts.append([])
            room = part_tokens
        parts[-1].append(text)
        room -= tokens
    return parts[-_MOST_PARTS:]
