"""One page's view of a session's event stream: events in, frames out. The wire is `ui/push`'s business.

Text goes out as it comes, and each finished block once more as rendered HTML; a whole message replaces both when it is
on disk. Everything that names a message or a call replaces what the page has under that name, so that a frame sent
twice changes nothing. Frames: `sync` (forget what is not on disk), `reload` (fetch the transcript again), `turn`,
`tail`, unnamed text, `block`, `think`, `answer`, `step`, `ask`, `asked`, `notice`, `progress`, `queue`, `marks`
(text of others was read), `end`.
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from functools import partial
from typing import assert_never

import anyio.to_thread
from msgspec import Struct

from skales.app.app import App
from skales.core.errors import SkalesError
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
from skales.core.ids import SessionId
from skales.core.json import JsonValue
from skales.core.message import Message, Role
from skales.core.tool import ToolCall
from skales.data.sessions import Session
from skales.server.blocks import BlockKind, BlockSplitter, BlockStep, Finished, Grew, Opened
from skales.server.conversation_views import NoticeLine, TurnOutcome
from skales.server.markdown import render_markdown
from skales.server.step_views import StepState
from skales.server.told import told
from skales.server.ui.asking import show_ask, show_asked
from skales.server.ui.pages import render
from skales.server.ui.phrases import show_number, show_size
from skales.server.ui.provider_names import name_providers
from skales.server.ui.receipts import sum_effort
from skales.server.ui.steps import build_finished_step, build_step
from skales.server.ui.transcript import (
    Setting,
    Spot,
    build_answer,
    build_queue,
    build_summaries,
    build_user,
    find_turn_start,
    read_marks,
)
from skales.server.words import _

# How far back a message is looked for that an event says is on disk.
_LOOK_BACK = 30
# Rendering more than this, or any code, could hold up other streams; it goes to a thread.
_SHORT_SOURCE = 4_000


class Place(Struct, frozen=True):
    """A point in a session's stream. Numbers mean something within one epoch only: one life of the program."""

    epoch: str
    number: int

    def __str__(self) -> str:
        """As pages keep it: `<epoch>-<number>`."""
        return f"{self.epoch}-{self.number}"


class Frame(Struct, frozen=True):
    """One message to the page. Without a name it is text that goes on; without a place it cannot be come back to."""

    name: str
    data: JsonValue
    place: Place | None = None


def parse_place(text: str) -> Place | None:
    """Read `<epoch>-<number>`; None for anything else."""
    epoch, _, number = text.rpartition("-")
    return Place(epoch, int(number)) if epoch and number.isdecimal() and number.isascii() else None


def place_on_disk(app: App, session_id: SessionId) -> Place:
    """Up to where the session's file tells everything; why the last turn ended comes after it."""
    return Place(app.turns.epoch, app.turns.saved_number(session_id))


async def stream_frames(app: App, session_id: SessionId, after: Place | None) -> AsyncGenerator[Frame, None]:
    """Frames for a page that has everything up to `after`; ends only with `reload` or when closed."""
    saved = place_on_disk(app, session_id)
    if after is None or after.epoch != saved.epoch or after.number < saved.number:
        yield Frame("reload", None, saved)
        return
    yield Frame("sync", {"running": app.turns.running(session_id)}, saved)
    view = _LiveView(app, session_id)
    last = saved.number
    async with aclosing(app.turns.events(session_id, saved.number)) as events:
        async for numbered in events:
            place = Place(saved.epoch, numbered.number)
            if numbered.number != last + 1:
                # Events between were dropped while this page was slow; the disk has their effect.
                yield Frame("reload", None, place)
                return
            last = numbered.number
            try:
                named = await view.render(numbered.event)
            except SkalesError:
                # The conversation was deleted or broke meanwhile; fetching it tells the page.
                yield Frame("reload", None, place)
                return
            for name, data in named:
                # Only what is on disk is a place to come back to, and no saved event is text.
                yield Frame(name, data, place if name else None)


_Named = tuple[str, JsonValue]
_Speech = TextDelta | ReasoningDelta | TurnStarted | AnswerSaved | Compacted | MessageQueued | TurnEnded
_Deed = ToolStarted | ToolFinished | ApprovalRequested | ApprovalResolved | Notice | Progress


class _LiveView:
    """What one page must be told about each event. Keeps the answer that streams and the calls that run."""

    def __init__(self, app: App, session_id: SessionId) -> None:
        self._app = app
        self._session_id = session_id
        self._splitter = BlockSplitter()
        self._kind = BlockKind.TEXT
        self._calls: dict[str, tuple[ToolCall, str]] = {}
        self._asked: dict[str, str] = {}
        self._answered = False

    async def render(self, event: TurnEvent) -> Sequence[_Named]:
        match event:
            case (
                TextDelta()
                | ReasoningDelta()
                | TurnStarted()
                | AnswerSaved()
                | Compacted()
                | MessageQueued()
                | TurnEnded()
            ):
                return await self._render_speech(event)
            case ToolStarted() | ToolFinished() | ApprovalRequested() | ApprovalResolved() | Notice() | Progress():
                return self._render_deed(event)
            case _:
                assert_never(event)

    async def _render_speech(self, event: _Speech) -> Sequence[_Named]:
        match event:
            case TextDelta(text):
                return await self._grow(text)
            case ReasoningDelta(text):
                return (("think", text),)
            case TurnStarted():
                return await self._start(event)
            case AnswerSaved(text, incomplete):
                return await self._save(text, incomplete)
            case Compacted(up_to):
                return await self._summarised(up_to)
            case MessageQueued():
                return (await self._queue(),)
            case TurnEnded():
                return (self._end(event),)
            case _:
                assert_never(event)

    def _render_deed(self, event: _Deed) -> Sequence[_Named]:
        match event:
            case ToolStarted(call, action):
                self._calls[call.id] = (call, action)
                return (self._step(call.id, StepState.RUNNING),)
            case ToolFinished(call, result, duration_ms):
                _, action = self._calls.pop(call.id, (call, ""))
                step = build_finished_step(call, action or self._app.gate.describe(call), result, duration_ms)
                shown = ("step", {"key": step.key, "html": render(step)})
                return (shown, ("marks", None)) if result.sources else (shown,)
            case ApprovalRequested() | ApprovalResolved():
                return self._approval(event)
            case Notice(level, text):
                return (("notice", {"html": render(NoticeLine(level, told(text))), "text": told(text)}),)
            case Progress():
                return (("progress", describe_progress(event)),)
            case _:
                assert_never(event)

    async def _start(self, event: TurnStarted) -> Sequence[_Named]:
        self._splitter, self._answered = BlockSplitter(), False
        found = await self._find(
            lambda message: message.role is Role.USER and message.text == event.text and bool(message.content)
        )
        session = await anyio.to_thread.run_sync(self._app.sessions.load, self._session_id)
        html = render(build_user(*found, self._setting(session))) if found else ""
        began = {"id": f"m-{found[0]}" if html and found else "", "html": html, "title": session.title}
        return (("turn", began), ("queue", {"html": render(build_queue(session))}))

    async def _grow(self, text: str) -> Sequence[_Named]:
        return [named for step in self._splitter.feed(text) for named in await self._show_block(step)]

    async def _show_block(self, step: BlockStep) -> Sequence[_Named]:
        match step:
            case Opened(kind, note):
                self._kind = kind
                return (("tail", {"kind": kind.value, "note": note}),)
            case Grew(text):
                return (("", text),)
            case Finished(source):
                if self._kind is BlockKind.CODE or len(source) > _SHORT_SOURCE:
                    return (("block", await anyio.to_thread.run_sync(render_markdown, source)),)
                return (("block", render_markdown(source)),)
            case _:
                assert_never(step)

    async def _save(self, text: str, incomplete: str) -> Sequence[_Named]:
        self._splitter = BlockSplitter()
        self._answered = self._answered or bool(incomplete)
        found = await self._find(lambda message: message.role is Role.ASSISTANT and message.text == text)
        if found is None or not (found[1].text or found[1].reasoning):
            return (("answer", {"id": "", "html": ""}),)
        index, message = found
        session = await anyio.to_thread.run_sync(self._app.sessions.load, self._session_id)
        start = find_turn_start(session.messages, index)
        spot = Spot(start, sum_effort(session.messages[start : index + 1]), is_last=True)
        answer = partial(build_answer, index, message, self._setting(session), spot)
        html = await anyio.to_thread.run_sync(lambda: render(answer()))
        return (("answer", {"id": f"m-{index}", "html": html}),)

    def _setting(self, session: Session) -> Setting:
        return Setting(
            self._app.gate.describe,
            self._app.clock.now_ms(),
            is_running=True,
            chosen=(session.provider, session.model),
            marks=read_marks(session),
            facts_of=self._app.models.facts,
            label_of=name_providers(self._app),
        )

    async def _find(self, wanted: Callable[[Message], bool]) -> tuple[int, Message] | None:
        """The newest such message on disk; None when the conversation changed under us."""
        tail = await anyio.to_thread.run_sync(self._app.sessions.tail, self._session_id, _LOOK_BACK)
        return next(((index, message) for index, message in reversed(tail) if wanted(message)), None)

    async def _summarised(self, up_to: int) -> Sequence[_Named]:
        session = await anyio.to_thread.run_sync(self._app.sessions.load, self._session_id)
        mark = build_summaries(session).get(up_to)
        if mark is None:  # undone since
            return ()
        return (("notice", {"html": await anyio.to_thread.run_sync(render, mark), "text": mark.words}),)

    async def _queue(self) -> _Named:
        session = await anyio.to_thread.run_sync(self._app.sessions.load, self._session_id)
        return ("queue", {"html": render(build_queue(session))})

    def _step(self, call_id: str, state: StepState, words: str = "") -> _Named:
        call, action = self._calls[call_id]
        step = build_step(call, action, state, words)
        return ("step", {"key": step.key, "html": render(step)})

    def _approval(self, event: ApprovalRequested | ApprovalResolved) -> Sequence[_Named]:
        match event:
            case ApprovalRequested(approval):
                self._asked[approval.id] = approval.call_id
                ask = ("ask", show_ask(approval, self._app.toolbox.find(approval.tool)))
                state, told = StepState.OPEN, _("Waiting for you")
                call_id = approval.call_id
            case ApprovalResolved(approval_id):
                ask = ("asked", show_asked(event))
                state, told = StepState.RUNNING, ""
                call_id = self._asked.pop(approval_id, "")
            case _:
                assert_never(event)
        return (self._step(call_id, state, told), ask) if call_id in self._calls else (ask,)

    def _end(self, event: TurnEnded) -> _Named:
        self._splitter, self._calls = BlockSplitter(), {}
        outcome = describe_end(event, explained=self._answered)
        return ("end", {"html": render(outcome) if outcome else "", "text": outcome.words if outcome else ""})


def describe_end(event: TurnEnded, *, explained: bool) -> TurnOutcome | None:
    """What to say below a turn that did not simply finish; nothing when its last answer says it (`explained`)."""
    match event.end:
        case TurnEnd.COMPLETED:
            return None
        case TurnEnd.STOPPED:
            return None if explained else TurnOutcome(_("Stopped"), is_error=False)
        case TurnEnd.FAILED | TurnEnd.LIMIT:
            return TurnOutcome(told(event.error) or _("The turn failed"), told(event.hint), event.code)
        case _:
            assert_never(event.end)


def describe_progress(progress: Progress) -> JsonValue:
    """How far a long step is, for a bar and in words."""
    if progress.unit == "bytes":
        done, total = show_size(progress.done), show_size(progress.total)
    else:
        done, total = show_number(progress.done), show_number(progress.total)
    words = done if progress.done else ""
    if progress.total:
        words = _("%(done)s of %(total)s", done=done, total=total)
    return {"label": told(progress.label), "done": progress.done, "total": progress.total, "words": words}
