"""What a person should know who looks elsewhere: questions that wait, turns that ended unseen, files set aside.

And what tools tell. Kept in memory, at most 50, newest first; what is on disk anyway (questions, broken files) is read
there. A surface says which conversations it shows, so that nobody is told what happened before their eyes. Spec:
ui-surfaces.md, "Notifications".
"""

from collections import Counter, deque
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import aclosing, contextmanager
from enum import StrEnum
from itertools import islice

import anyio
import anyio.to_thread
from msgspec import Struct, structs

from skales.agent.approvals import ApprovalDesk
from skales.agent.turn_parts import TurnParts
from skales.agent.turns import Ticket, Turns
from skales.core.approval import Approval, Decision
from skales.core.clock import Clock
from skales.core.errors import SkalesError
from skales.core.events import (
    ApprovalRequested,
    ApprovalResolved,
    MessageQueued,
    Notice,
    TurnEnd,
    TurnEnded,
    TurnEvent,
    TurnStarted,
)
from skales.core.ids import SessionId
from skales.core.message import ContentPart
from skales.data.outbox import Intent
from skales.data.quarantine import BrokenFile
from skales.security.redact import redact

_KEPT = 50
# A tool that tells too much must not drive out how turns ended.
_KEPT_TOLD = 20
# Parts of a conversation's work: it says itself what became of them.
_QUIET_SURFACES = frozenset({"subtask"})
# Of what belongs to no conversation.
NO_SESSION = SessionId("")


class Subject(StrEnum):
    """What a notice is about; a surface has the words."""

    WAITING = "waiting"
    FINISHED = "finished"
    FAILED = "failed"
    BROKEN = "broken"
    TOLD = "told"
    PAUSED = "paused"
    UNSURE = "unsure"


class BoardNotice(Struct, frozen=True, kw_only=True):
    """One entry. `text` is the question or whose news it is (conversation, file, job, tool), `detail` the reason."""

    id: str
    subject: Subject
    when_ms: int
    text: str
    detail: str = ""
    session_id: SessionId = NO_SESSION
    is_new: bool = True


class NoticeBoard:
    """Entries and who waits for them. Call it on the event loop, except `entries`, which reads the disk."""

    def __init__(
        self,
        clock: Clock,
        waiting: Callable[[], Sequence[Approval]],
        broken: Callable[[], Sequence[BrokenFile]],
        unsure: Callable[[], Sequence[Intent]] = tuple,
        mask: Callable[[str], str] = str,
    ) -> None:
        self._mask = mask
        self._clock = clock
        self._waiting = waiting
        self._broken = broken
        self._unsure = unsure
        self._ended: deque[BoardNotice] = deque(maxlen=_KEPT)
        self._told: deque[BoardNotice] = deque(maxlen=_KEPT_TOLD)
        self._told_count = 0
        self._shown: Counter[SessionId] = Counter()
        self._seen_ms = 0
        self._changed = anyio.Event()
        self._is_closed = False
        self.version = 0

    def entries(self, showing: str = "") -> list[BoardNotice]:
        """Newest first, without those about the conversation on the screen. Reads the disk."""
        now_ms, seen_ms = self._clock.now_ms(), self._seen_ms
        questions = [_question(asked) for asked in self._waiting() if asked.expires_ms > now_ms]
        questions += [_unsure_sending(intent) for intent in self._unsure()]
        others = [*self._ended, *self._told, *(_broken_file(file) for file in self._broken())]
        found = questions + [structs.replace(entry, is_new=entry.when_ms > seen_ms) for entry in others]
        kept = (entry for entry in found if not showing or entry.session_id != showing)
        return list(islice(sorted(kept, key=lambda entry: -entry.when_ms), _KEPT))

    def mark_seen(self) -> None:
        """The person looked. Questions stay new until they are answered."""
        self._seen_ms = self._clock.now_ms()
        self.tell()

    def visit(self, session_id: str) -> None:
        """The person opened a conversation: how its turns ended is news no more."""
        ended = [entry for entry in self._ended if entry.session_id != session_id]
        told = [entry for entry in self._told if entry.session_id != session_id]
        if len(ended) + len(told) < len(self._ended) + len(self._told):
            self._ended = deque(ended, maxlen=_KEPT)
            self._told = deque(told, maxlen=_KEPT_TOLD)
            self.tell()

    def add_end(self, session_id: SessionId, title: str, end: TurnEnded) -> None:
        """A turn ended, unless a surface shows its conversation or the person stopped it."""
        if self._shown[session_id] or end.end is TurnEnd.STOPPED:
            return
        subject = Subject.FINISHED if end.end is TurnEnd.COMPLETED else Subject.FAILED
        now_ms = self._clock.now_ms()
        entry = BoardNotice(
            id=f"end-{session_id}",
            subject=subject,
            when_ms=now_ms,
            text=title,
            detail=end.error,
            session_id=session_id,
        )
        others = (kept for kept in self._ended if kept.id != entry.id)
        self._put((entry, *others))

    def add_pause(self, job_id: str, name: str, reason: str) -> None:
        """A scheduled job was switched off, because it failed again and again."""
        now_ms = self._clock.now_ms()
        entry = BoardNotice(id=f"pause-{job_id}", subject=Subject.PAUSED, when_ms=now_ms, text=name, detail=reason)
        self._put((entry, *(kept for kept in self._ended if kept.id != entry.id)))

    def _put(self, entries: Sequence[BoardNotice]) -> None:
        self._ended = deque(entries[:_KEPT], maxlen=_KEPT)
        self.tell()

    def add_word(self, title: str, text: str, session_id: SessionId = NO_SESSION) -> None:
        """A tool tells the person something, also while its conversation is on a screen."""
        self._told_count += 1
        entry = BoardNotice(
            id=f"told-{self._told_count}",
            subject=Subject.TOLD,
            when_ms=self._clock.now_ms(),
            text=self._mask(title),
            detail=self._mask(text),
            session_id=session_id,
        )
        self._told.appendleft(entry)
        self.tell()

    def tell(self) -> None:
        """Something changed; every surface that waits looks again."""
        self.version += 1
        self._changed.set()
        self._changed = anyio.Event()

    async def changes(self, after: int) -> AsyncGenerator[int, None]:
        """The version each time it is not `after` any more; ends with `close`."""
        while not self._is_closed:
            if self.version == after:
                await self._changed.wait()
            else:
                after = self.version
                yield after

    @contextmanager
    def showing(self, session_id: SessionId) -> Generator[None, None, None]:
        """While the block runs, a surface shows this conversation."""
        self._shown[session_id] += 1
        try:
            yield
        finally:
            self._shown[session_id] -= 1
            if not self._shown[session_id]:
                del self._shown[session_id]

    def close(self) -> None:
        """Let every surface go, because the program stops."""
        self._is_closed = True
        self.tell()


class NoticedTurns(Turns):
    """Turns that put what happens on the board, whichever surface started them."""

    def __init__(self, parts: TurnParts, desk: ApprovalDesk, board: NoticeBoard) -> None:
        super().__init__(parts, desk)
        self._board = board
        # Whoever else wants to know how a turn ended, such as small jobs that follow it.
        self.ended: Callable[[SessionId, TurnEnd], None] = lambda _session_id, _end: None
        self._followed: set[SessionId] = set()
        self._quiet: set[SessionId] = set()

    async def start(
        self, session_id: SessionId, text: str, attachments: Sequence[ContentPart] = (), *, surface: str = "page"
    ) -> Ticket:
        """As without a board."""
        ticket = await super().start(session_id, text, attachments, surface=surface)
        if surface in _QUIET_SURFACES:
            self._quiet.add(session_id)
        else:
            self._quiet.discard(session_id)
        self._follow(session_id, ticket.after)
        return ticket

    async def resume(self, session_id: SessionId, *, surface: str = "page") -> Ticket:
        """As without a board."""
        ticket = await super().resume(session_id, surface=surface)
        self._follow(session_id, ticket.after)
        return ticket

    async def rewind(
        self,
        session_id: SessionId,
        index: int,
        text: str = "",
        attachments: Sequence[ContentPart] = (),
        *,
        surface: str = "page",
    ) -> Ticket:
        """As without a board."""
        ticket = await super().rewind(session_id, index, text, attachments, surface=surface)
        self._follow(session_id, ticket.after)
        return ticket

    def end_streams(self) -> None:
        """As without a board, which lets its surfaces go too."""
        super().end_streams()
        self._board.close()

    async def _go_on(self, approval: Approval, decision: Decision) -> None:
        after = self.last_number(approval.session_id)
        await super()._go_on(approval, decision)
        self._board.tell()
        self._follow(approval.session_id, after)

    def _follow(self, session_id: SessionId, after: int) -> None:
        if session_id not in self._followed and self._tasks is not None:
            self._followed.add(session_id)
            self._tasks.start_soon(self._report, session_id, after)

    async def _report(self, session_id: SessionId, after: int) -> None:
        progress = _Progress()
        try:
            async with aclosing(self.events(session_id, after)) as events:
                async for numbered in events:
                    await self._note(session_id, numbered.event)
                    if progress.is_over_with(numbered.event):
                        return
        finally:
            self._followed.discard(session_id)

    async def _note(self, session_id: SessionId, event: TurnEvent) -> None:
        match event:
            case ApprovalRequested() | ApprovalResolved():
                self._board.tell()
            case TurnEnded() if session_id in self._quiet:
                self._quiet.discard(session_id)
            case TurnEnded():
                self._board.add_end(session_id, await self._title(session_id), event)
                self.ended(session_id, event.end)
            case _:
                return

    async def _title(self, session_id: SessionId) -> str:
        try:
            return (await anyio.to_thread.run_sync(self._parts.sessions.load, session_id)).title
        except SkalesError:  # deleted meanwhile, or broken, which is reported by itself
            return ""


class _Progress(Struct):
    """When nothing more comes: a turn ended and no message waits, or what waited is gone with its conversation."""

    queued: bool = False
    ended: bool = False

    def is_over_with(self, event: TurnEvent) -> bool:
        match event:
            case TurnStarted():
                self.queued = self.ended = False
            case MessageQueued():
                self.queued = True
            case TurnEnded():
                self.ended = True
            case Notice():
                return self.ended
            case _:
                return False
        return self.ended and not self.queued


def _question(asked: Approval) -> BoardNotice:
    return BoardNotice(
        id=f"ask-{asked.id}",
        subject=Subject.WAITING,
        when_ms=asked.created_ms,
        text=asked.action,
        detail=asked.reason,
        session_id=asked.session_id,
    )


def _unsure_sending(intent: Intent) -> BoardNotice:
    # Of no conversation, so that it is told in its own too: nothing there asks.
    return BoardNotice(
        id=f"sent-{intent.id}",
        subject=Subject.UNSURE,
        when_ms=intent.changed_ms,
        text=redact(intent.draft.action),
        detail=intent.note,
    )


def _broken_file(file: BrokenFile) -> BoardNotice:
    return BoardNotice(
        id=f"file-{file.when_ms}-{file.path.name}",
        subject=Subject.BROKEN,
        when_ms=file.when_ms,
        text=file.path.name,
        detail=file.reason,
    )
