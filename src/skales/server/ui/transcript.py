"""A conversation's messages as entries of the page: what was said, what was done, what still waits."""

from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from types import MappingProxyType

from markupsafe import Markup
from msgspec import Struct, field, structs

from skales.app.costs import FactsOf
from skales.core.evidence import unconfirmed_of
from skales.core.message import ImagePart, Message, Role
from skales.core.tool import ToolCall, ToolResult
from skales.data.sessions import Session
from skales.server.conversation_views import (
    AnswerEntry,
    Entry,
    Picture,
    Queue,
    SummaryMark,
    TurnOutcome,
    UnconfirmedClaim,
    UserEntry,
    Versions,
)
from skales.server.markdown import render_markdown
from skales.server.step_views import StepEntry, StepState
from skales.server.told import told
from skales.server.ui.phrases import show_moment, show_number
from skales.server.ui.provider_names import LabelOf, name_by_catalogue
from skales.server.ui.receipts import Chosen, Effort, build_receipt, name_swap, show_facts, sum_effort
from skales.server.ui.sent import list_files, name_attached
from skales.server.ui.steps import build_finished_step, build_step, group_steps
from skales.server.ui.unconfirmed import mark_sentences
from skales.server.views import Moment
from skales.server.words import N_, _, ngettext

Indexed = tuple[int, Message]
# What a call would do, in plain words.
Describe = Callable[[ToolCall], str]

_SHOWN_PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_INCOMPLETE = {
    "stopped": N_("Stopped before the end"),
    "cut": N_("The connection broke off; the text so far was kept"),
    "length": N_("The model's limit for one answer was reached"),
    "failed": N_("An error ended this answer"),
}
_COMMAND = "/tool"


class Setting(Struct, frozen=True):
    """What entries are built with. `is_running` decides how a call without a result looks.

    `chosen` is who should answer this conversation, `marks` the places with other tails, `summaries` those before which
    a summary ends. `turn_start` is where the turn began that the first of the messages belongs to. `facts_of` knows the
    prices for the receipts, `label_of` the names of providers.
    """

    describe: Describe
    now_ms: int
    is_running: bool = False
    chosen: Chosen = ("", "")
    marks: Mapping[int, Versions] = field(default_factory=lambda: MappingProxyType({}))
    turn_start: int = 0
    summaries: Mapping[int, SummaryMark] = field(default_factory=lambda: MappingProxyType({}))
    facts_of: FactsOf | None = None
    label_of: LabelOf = name_by_catalogue


class Spot(Struct, frozen=True):
    """Where an answer stands: from which message on its turn goes, what the turn took, whether nothing follows."""

    turn_start: int = 0
    effort: Effort = field(default_factory=Effort)
    is_last: bool = False


def build_entries(messages: Sequence[Indexed], setting: Setting, *, is_end: bool = True) -> tuple[Entry, ...]:
    """Entries of consecutive messages; results join the calls they answer. `is_end` when no message follows."""
    turns = _split_turns(messages)
    entries: list[Entry] = []
    for number, turn in enumerate(turns):
        entries.extend(_build_turn(turn, setting, is_end=is_end and number == len(turns) - 1))
    return tuple(entries)


def build_user(index: int, message: Message, setting: Setting) -> UserEntry:
    """What the person said."""
    pictures = tuple(
        Picture(f"data:{part.media_type};base64,{part.data_base64}", part.name)
        for part in message.content
        if isinstance(part, ImagePart) and part.media_type in _SHOWN_PICTURES
    )
    return UserEntry(
        entry_id(index),
        message.text,
        _when(message, setting.now_ms),
        pictures,
        message.text.startswith(f"{_COMMAND} "),
        setting.marks.get(index),
        list_files(message.content),
    )


def build_answer(index: int, message: Message, setting: Setting, spot: Spot) -> AnswerEntry:
    """What the model said, rendered."""
    when = _when(message, setting.now_ms)
    has_footer = bool(message.text) and not message.tool_calls
    unconfirmed = unconfirmed_of(message.extra)
    html = Markup(render_markdown(message.text))  # noqa: S704 - the renderer's promise
    return AnswerEntry(
        id=entry_id(index),
        html=mark_sentences(html, [claim.sentence for claim in unconfirmed]),
        has_footer=has_footer,
        reasoning=message.reasoning.strip(),
        when=when,
        facts=show_facts(message),
        incomplete=_(_INCOMPLETE.get(message.incomplete, N_("Not complete"))) if message.incomplete else "",
        can_continue=spot.is_last and bool(message.incomplete),
        receipt=build_receipt(message, when, spot.effort, setting.label_of, setting.facts_of) if has_footer else (),
        remark=name_swap(message, setting.chosen, setting.label_of) if spot.is_last and has_footer else "",
        versions=setting.marks.get(spot.turn_start) if has_footer else None,
        turn_start=spot.turn_start,
        unconfirmed=tuple(UnconfirmedClaim(claim.sentence, told(claim.reason)) for claim in unconfirmed),
    )


def read_marks(session: Session) -> Mapping[int, Versions]:
    """The places of a conversation that have other tails."""
    messages = session.messages
    return {
        mark.at: Versions(
            mark.at,
            mark.current,
            mark.count,
            is_answer=mark.at >= len(messages) or messages[mark.at].role is not Role.USER,
        )
        for mark in session.versions
    }


def build_summaries(session: Session) -> Mapping[int, SummaryMark]:
    """The summaries that stand for what is above a message."""
    present = session.compaction
    return {
        mark.up_to: SummaryMark(
            session_id=session.id,
            up_to=mark.up_to,
            words=ngettext("Summarised %(num)d earlier message", "Summarised %(num)d earlier messages", mark.up_to),
            facts=" · ".join(filter(None, (mark.model, _("about %(tokens)s tokens", tokens=show_number(mark.tokens))))),
            html=Markup(render_markdown(mark.summary)),  # noqa: S704 - the renderer's promise
            can_undo=mark == present,
        )
        for mark in session.compactions
        if not mark.undone and mark.up_to <= len(session.messages)
    }


def build_queue(session: Session) -> Queue:
    """What waits for the running turn to end."""
    return Queue(
        tuple(waiting.text for waiting in session.queued),
        tuple(name_attached(waiting.attachments) for waiting in session.queued),
    )


def find_turn_start(messages: Sequence[Message], index: int) -> int:
    """The message after what the person said last before an index."""
    while index > 0 and messages[index - 1].role is not Role.USER:
        index -= 1
    return index


def entry_id(index: int) -> str:
    """A message's name in the page: its place in the conversation."""
    return f"m-{index}"


def judge_end(messages: Sequence[Indexed], *, is_running: bool, waits: bool) -> TurnOutcome | None:
    """What to say below a conversation that stands still although somebody still waits for an answer."""
    if is_running or waits or not messages:
        return None
    last = messages[-1][1]
    user = next((message for _index, message in reversed(messages) if message.role is Role.USER), None)
    if user is not None and user.text.startswith(_COMMAND):
        return None
    if last.role is Role.USER:
        return TurnOutcome(_("Not answered yet"), is_error=False)
    if last.role is Role.TOOL or last.tool_calls:
        return TurnOutcome(_("This turn was interrupted"), _("What was done so far stands above"), is_error=False)
    return None


def _split_turns(messages: Sequence[Indexed]) -> list[list[Indexed]]:
    """Each but perhaps the first begins with what the person said."""
    turns: list[list[Indexed]] = []
    for indexed in messages:
        if not turns or indexed[1].role is Role.USER:
            turns.append([])
        turns[-1].append(indexed)
    return turns


def _build_turn(turn: Sequence[Indexed], setting: Setting, *, is_end: bool) -> Sequence[Entry]:
    head, first = turn[0]
    entries: list[Entry] = []
    start = setting.turn_start
    if first.role is Role.USER:
        if head in setting.summaries:
            entries.append(setting.summaries[head])
        entries.append(build_user(head, first, setting))
        start = head + 1
    last_said = max((place for place, (_index, message) in enumerate(turn) if _is_final(message)), default=-1)
    for place, (index, message) in enumerate(turn):
        if message.role is not Role.ASSISTANT:
            continue
        if message.text or message.reasoning:
            is_last = is_end and place == len(turn) - 1 and not setting.is_running
            effort = sum_effort(said for _index, said in turn[: place + 1])
            answer = build_answer(index, message, setting, Spot(start, effort, is_last))
            entries.append(answer if place == last_said else structs.replace(answer, versions=None))
        entries.extend(_build_steps(message, _results_after(turn, place), setting))
    if is_end and setting.is_running:
        return entries
    mark = setting.marks.get(start)
    return [*group_steps(entries), *([mark] if mark and last_said < 0 else ())]


def _is_final(message: Message) -> bool:
    return message.role is Role.ASSISTANT and bool(message.text) and not message.tool_calls


def _results_after(messages: Sequence[Indexed], place: int) -> Mapping[str, Message]:
    """By call id, up to the next thing said: models count their calls anew each turn."""
    following = takewhile(lambda indexed: indexed[1].role is Role.TOOL, messages[place + 1 :])
    return {message.tool_call_id: message for _index, message in following}


def _build_steps(message: Message, results: Mapping[str, Message], setting: Setting) -> list[StepEntry]:
    open_state = StepState.RUNNING if setting.is_running else StepState.OPEN
    steps: list[StepEntry] = []
    for call in message.tool_calls:
        action = setting.describe(call)
        found = results.get(call.id)
        if found is None:
            steps.append(build_step(call, action, open_state))
        else:
            result = ToolResult(text=found.text, is_error=found.is_error, data=found.extra)
            steps.append(build_finished_step(call, action, result, found.duration_ms))
    return steps


def _when(message: Message, now_ms: int) -> Moment:
    return show_moment(message.timestamp_ms or now_ms, now_ms)
