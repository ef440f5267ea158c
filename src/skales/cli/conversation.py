"""Runs one turn for the terminal: sends the message, shows the stream, asks, stops at Ctrl-C."""

import asyncio
import signal
from collections.abc import Generator
from contextlib import aclosing, contextmanager

from skales.cli.backend import Backend
from skales.cli.questions import ask_decision
from skales.cli.terminal import aside, can_ask, warn
from skales.cli.turn_view import TurnView
from skales.core.approval import Approval, Decision
from skales.core.errors import InputError, NotFoundError
from skales.core.events import ApprovalRequested


async def run_turn(backend: Backend, session_id: str, text: str, view: TurnView) -> None:
    """Send a message and show everything up to the turn's end."""
    await _follow(backend, session_id, await backend.send(session_id, text), view)


async def run_compaction(backend: Backend, session_id: str, view: TurnView) -> None:
    """Have the oldest part of a conversation summarised, and show what comes of it."""
    await _follow(backend, session_id, await backend.compact(session_id), view)


async def _follow(backend: Backend, session_id: str, after: int, view: TurnView) -> None:
    with _stop_at_interrupt(backend, session_id):
        async with aclosing(backend.events(session_id, after)) as events:
            async for numbered in events:
                view.show(numbered.event)
                if isinstance(numbered.event, ApprovalRequested):
                    await _answer(backend, numbered.event.approval)


async def _answer(backend: Backend, approval: Approval) -> None:
    if not can_ask():
        if backend.is_remote:
            aside(f"Waiting for approval {approval.id}: {approval.action}. Answer it in the page.")
            return
        warn(f"Declined, since nobody can be asked here: {approval.action}")
        await backend.decide(approval.id, Decision(approved=False, by="cli"))
        return
    await answer_here(backend, approval)


async def answer_here(backend: Backend, approval: Approval) -> None:
    """Put a question to the person at this terminal, again while the answer cannot be taken."""
    while True:
        try:
            await backend.decide(approval.id, ask_decision(approval))
        except NotFoundError as error:
            aside(str(error))
        except InputError as error:
            warn(str(error))
            continue
        return


@contextmanager
def _stop_at_interrupt(backend: Backend, session_id: str) -> Generator[None, None, None]:
    """Ctrl-C stops the turn and keeps the text; it does not end the program."""
    loop = asyncio.get_running_loop()
    stopping: set[asyncio.Task[None]] = set()

    def stop() -> None:
        stopping.add(loop.create_task(backend.stop(session_id)))

    try:
        loop.add_signal_handler(signal.SIGINT, stop)
    except NotImplementedError:
        # Windows loops take no handlers; Ctrl-C ends the command there, the turn's text is on disk.
        yield
        return
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)
