"""All running turns: one at a time per session, in the program and not in a request. Surfaces start, stop and watch.

A message sent while a turn runs waits on disk and starts the next one. Spec: orchestrator.md, "Streaming".
"""

from collections import OrderedDict
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

import anyio
import anyio.abc
import anyio.to_thread
from msgspec import Struct, field, structs

from skales.agent.approvals import ApprovalDesk
from skales.agent.feed import Feed
from skales.agent.secrecy import veil_event
from skales.agent.turn import Turn
from skales.agent.turn_parts import TurnOrder, TurnParts
from skales.core.approval import Approval, Decision
from skales.core.errors import ConflictError, InputError, SkalesError
from skales.core.events import MessageQueued, Notice, NumberedEvent, TurnEnded, TurnEvent, TurnStarted
from skales.core.ids import SessionId
from skales.core.message import ContentPart, Message
from skales.data.session_codec import Waiting

# Streams of quiet sessions kept for pages that come back.
_KEPT_LANES = 64


class Ticket(Struct, frozen=True):
    """A message was taken. `after` is the event number before anything that comes of it."""

    session_id: SessionId
    queued: bool
    after: int


class _Lane(Struct):
    """One session's turns. `scope` is set while one runs; `lock` is held to start, queue and finish.

    With `halts` what waits stays waiting when the turn is over. `taken` messages of the queue are on their way into the
    history and can no longer be changed.
    """

    feed: Feed
    lock: anyio.Lock = field(default_factory=anyio.Lock)
    scope: anyio.CancelScope | None = None
    halts: bool = False
    taken: int = 0

    @property
    def is_quiet(self) -> bool:
        return self.scope is None and not self.feed.listened and not self.lock.locked()


class Turns:
    """Owns every turn; lives as long as the app. `epoch` names this life, since event numbers restart with it."""

    def __init__(self, parts: TurnParts, desk: ApprovalDesk) -> None:
        self._parts = parts
        self._desk = desk
        self._lanes: OrderedDict[SessionId, _Lane] = OrderedDict()
        self._tasks: anyio.abc.TaskGroup | None = None
        self._floor = 0
        self.epoch = parts.ids.token(8)

    def open(self, tasks: anyio.abc.TaskGroup) -> None:
        """Run turns in this task group from now on."""
        self._tasks = tasks
        self._desk.orphan_answered = self._go_on

    async def start(
        self, session_id: SessionId, text: str, attachments: Sequence[ContentPart] = (), *, surface: str = "page"
    ) -> Ticket:
        """Take a message: run it, or queue it behind the running turn. Raises InputError, NotFoundError."""
        if not text.strip() and not attachments:
            raise InputError("The message is empty", code="empty_message")
        session = await anyio.to_thread.run_sync(self._parts.sessions.load, session_id)
        lane = self._lane(session_id)
        waiting = Waiting(text, tuple(attachments))
        async with lane.lock:
            ticket = Ticket(session_id, lane.scope is not None, lane.feed.last_number)
            if not ticket.queued and not session.queued:
                order = TurnOrder(
                    session_id=session_id, surface=surface, text=waiting.text, attachments=waiting.attachments
                )
                self._launch(lane, order)
                return ticket
            session = await anyio.to_thread.run_sync(
                self._parts.sessions.queue, session_id, waiting.text, waiting.attachments
            )
            if ticket.queued:
                lane.feed.publish(MessageQueued(self._parts.veil.text(text)))
            else:
                # Others have waited since an earlier life of the program; they come first.
                self._launch(lane, _queued_order(session_id, surface, session.queued))
        return ticket

    async def resume(self, session_id: SessionId, *, surface: str = "page") -> Ticket:
        """Go on where the session stands, after a stop, a cut answer or a restart; queued messages come first."""
        session = await anyio.to_thread.run_sync(self._parts.sessions.load, session_id)
        lane = self._lane(session_id)
        async with lane.lock:
            ticket = Ticket(session_id, lane.scope is not None, lane.feed.last_number)
            if not ticket.queued:
                self._launch(lane, _queued_order(session_id, surface, session.queued))
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
        """Go back to before a message, which becomes a version, and go on from there: with a text or with an answer.

        Raises ConflictError while a turn runs, and what `SessionStore.rewind` raises.
        """
        lane = self._lane(session_id)
        async with lane.lock:
            _refuse_while_running(lane)
            ticket = Ticket(session_id, False, lane.feed.last_number)
            await anyio.to_thread.run_sync(self._parts.sessions.rewind, session_id, index)
            await self._desk.drop(session_id)
            lane.feed.restart()
            order = TurnOrder(session_id=session_id, surface=surface, text=text, attachments=tuple(attachments))
            self._launch(lane, order)
        return ticket

    async def add(self, session_id: SessionId, *messages: Message, after: int) -> None:
        """Put messages that were made elsewhere at the end of a history of `after` messages.

        Raises ConflictError while a turn runs and when the history is another by now, NotFoundError.
        """
        lane = self._lane(session_id)
        async with lane.lock:
            _refuse_while_running(lane)
            session = await anyio.to_thread.run_sync(self._parts.sessions.load, session_id)
            if len(session.messages) != after or session.queued:
                raise ConflictError("The conversation went on meanwhile", hint="Ask again from where it is now")
            await anyio.to_thread.run_sync(self._parts.sessions.append, session_id, *messages)
            await self._desk.drop(session_id)
            lane.feed.restart()

    async def compact(self, session_id: SessionId, *, surface: str = "page") -> Ticket:
        """Let the model summarise the oldest part of a conversation now. Raises ConflictError while a turn runs."""
        await anyio.to_thread.run_sync(self._parts.sessions.load, session_id)
        lane = self._lane(session_id)
        async with lane.lock:
            _refuse_while_running(lane)
            ticket = Ticket(session_id, False, lane.feed.last_number)
            self._launch(lane, TurnOrder(session_id=session_id, surface=surface, compacts=True))
        return ticket

    async def undo_compaction(self, session_id: SessionId, up_to: int) -> None:
        """Let the model see the messages again that a summary stands for. Raises ConflictError, NotFoundError."""
        lane = self._lane(session_id)
        async with lane.lock:
            _refuse_while_running(lane)
            await anyio.to_thread.run_sync(self._parts.sessions.remove_compaction, session_id, up_to)
            lane.feed.restart()

    async def switch_version(self, session_id: SessionId, at: int, number: int) -> None:
        """Show another version from message `at` on. Raises ConflictError while a turn runs, NotFoundError."""
        lane = self._lane(session_id)
        async with lane.lock:
            _refuse_while_running(lane)
            await anyio.to_thread.run_sync(self._parts.sessions.switch_version, session_id, at, number)
            await self._desk.drop(session_id)
            lane.feed.restart()

    async def change_queue(self, session_id: SessionId, number: int, before: str, text: str) -> None:
        """Give a waiting message another text, or take it away with an empty one.

        `before` is what it said, so that never another message is changed. Raises ConflictError when it went meanwhile.
        """
        lane = self._lane(session_id)
        async with lane.lock:
            queued = list((await anyio.to_thread.run_sync(self._parts.sessions.load, session_id)).queued)
            if not lane.taken <= number < len(queued) or queued[number].text != before:
                raise ConflictError("This message waits no longer", hint="It was sent or changed meanwhile")
            queued[number : number + 1] = [structs.replace(queued[number], text=text)] if text.strip() else []
            await anyio.to_thread.run_sync(lambda: self._parts.sessions.update(session_id, queued=queued))
            lane.feed.publish(MessageQueued(self._parts.veil.text(text)))

    def tell_changed(self, session_id: SessionId) -> None:
        """Let every page fetch a conversation again that was changed from outside. Call it on the event loop only."""
        lane = self._lanes.get(session_id)
        if lane is not None and lane.scope is None:
            lane.feed.restart()

    def end_streams(self) -> None:
        """Let every surface go, because the program stops. Turns run on until the app closes."""
        for lane in self._lanes.values():
            lane.feed.close()

    def leave(self) -> None:
        """Let a cancellation from now on be the program's end: what waits for an answer can still get it afterwards."""
        self._desk.leave()

    def stop(self, session_id: SessionId) -> bool:
        """Stop the running turn at once and keep what it wrote; False when none runs."""
        lane = self._lanes.get(session_id)
        if lane is None or lane.scope is None:
            return False
        lane.scope.cancel()
        return True

    def stop_all(self) -> int:
        """Stop every running turn and let nothing that waits follow it; how many ran."""
        running = [lane for lane in self._lanes.values() if lane.scope is not None]
        for lane in running:
            lane.halts = True
            if lane.scope is not None:
                lane.scope.cancel()
        return len(running)

    def running_sessions(self) -> list[SessionId]:
        """The conversations in which a turn runs now."""
        return [session_id for session_id, lane in self._lanes.items() if lane.scope is not None]

    def running(self, session_id: SessionId) -> bool:
        """Whether a turn of the session runs now."""
        lane = self._lanes.get(session_id)
        return lane is not None and lane.scope is not None

    def saved_number(self, session_id: SessionId) -> int:
        """Number of the last event whose effect is in the session file."""
        return self._lane(session_id).feed.saved_number

    def last_number(self, session_id: SessionId) -> int:
        """Number of the session's newest event; 0 when there was none."""
        return self._lane(session_id).feed.last_number

    def events(self, session_id: SessionId, after: int) -> AsyncGenerator[NumberedEvent, None]:
        """The session's events above `after`, then each new one; ends only when closed."""
        return self._lane(session_id).feed.events(after)

    async def follow(self, session_id: SessionId, after: int) -> AsyncGenerator[NumberedEvent, None]:
        """Like `events`, but ends with the turn's end."""
        async with aclosing(self.events(session_id, after)) as events:
            async for numbered in events:
                yield numbered
                if isinstance(numbered.event, TurnEnded):
                    return

    def _launch(self, lane: _Lane, order: TurnOrder) -> None:
        assert self._tasks is not None, "open() comes first"
        # Set here and not in the task, so that a second message sees the session as running at once.
        lane.scope = anyio.CancelScope()
        lane.halts = False
        lane.taken = order.from_queue
        self._tasks.start_soon(self._run, lane, order)

    async def _run(self, lane: _Lane, order: TurnOrder) -> None:
        def emit(event: TurnEvent) -> None:
            if isinstance(event, (TurnStarted, TurnEnded)):
                lane.taken = 0
            lane.feed.publish(veil_event(self._parts.veil, event))

        while True:
            assert lane.scope is not None, "set by whoever ordered the turn"
            with lane.scope:
                await Turn(self._parts, self._desk, order, emit).run()
            async with lane.lock:
                queued = () if lane.halts else await self._queued(order.session_id, lane.feed)
                if not queued:
                    lane.scope = None
                    return
                order = _queued_order(order.session_id, order.surface, queued)
                lane.taken = order.from_queue
                lane.scope = anyio.CancelScope()

    async def _queued(self, session_id: SessionId, feed: Feed) -> tuple[Waiting, ...]:
        try:
            return (await anyio.to_thread.run_sync(self._parts.sessions.load, session_id)).queued
        except SkalesError as error:
            # Deleted or broken meanwhile; there is nothing left to run.
            feed.publish(Notice("warning", str(error)))
            return ()

    async def _go_on(self, approval: Approval, decision: Decision) -> None:
        """An answer came after a restart: the turn it held goes on."""
        lane = self._lane(approval.session_id)
        async with lane.lock:
            if lane.scope is None:
                decisions = {approval.call_id: decision}
                self._launch(lane, TurnOrder(session_id=approval.session_id, surface="page", decisions=decisions))

    def _lane(self, session_id: SessionId) -> _Lane:
        lane = self._lanes.get(session_id)
        if lane is None:
            lane = self._lanes[session_id] = _Lane(Feed(self._floor))
        self._lanes.move_to_end(session_id)
        if len(self._lanes) > _KEPT_LANES:
            quiet = [key for key, kept in self._lanes.items() if kept.is_quiet and key != session_id]
            for key in quiet[: len(self._lanes) - _KEPT_LANES]:
                self._floor = max(self._floor, self._lanes.pop(key).feed.last_number)
        return lane


def _refuse_while_running(lane: _Lane) -> None:
    if lane.scope is not None:
        raise ConflictError("A turn runs in this conversation", hint="Stop it or wait for its end", code="turn_running")


def _queued_order(session_id: SessionId, surface: str, queued: tuple[Waiting, ...]) -> TurnOrder:
    """Several messages that waited arrive as one."""
    return TurnOrder(
        session_id=session_id,
        surface=surface,
        text="\n\n".join(waiting.text for waiting in queued if waiting.text),
        attachments=tuple(part for waiting in queued for part in waiting.attachments),
        from_queue=len(queued),
    )
