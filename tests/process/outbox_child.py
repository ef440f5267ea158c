"""The real app with a scripted model and the mail tool, in a process that kills itself at a step that the test names.

`python -m tests.process.outbox_child DATA_DIR TOOL ARGUMENTS POINT`. The points are this module's own: around each
write of the outbox, around the run of the tool, and before its result is written into the conversation.
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from skales.agent.turn_parts import TurnParts
from skales.app.wiring import build_app
from skales.core.clock import SystemClock
from skales.core.ids import RandomIds, SessionId
from skales.data.instance import InstanceLock
from skales.data.outbox import OutboxStore
from skales.data.paths import DataDirectory
from skales.data.started import StartedCalls
from skales.tools.index import IndexEntry, load_index
from skales.tools.schema import derive_spec
from tests.process.mail_tool import send_test_mail
from tests.scripted import ScriptedChooser, ScriptedProvider, calls, says

POINTS = (
    "before the intent",
    "after the intent",
    "after the mark",
    "before sending",
    "after sending began",
    "before it is accepted",
    "after it is accepted",
    "before the result",
    "after the result",
)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def around(point: str, before: str, after: str, inner: Callable[..., Any]) -> Callable[..., Any]:
    """The method, with an end of the process before or after it."""

    def outer(*arguments: Any, **named: Any) -> Any:
        if point == before:
            die()
        value = inner(*arguments, **named)
        if point == after:
            die()
        return value

    return outer


def arm(patch: pytest.MonkeyPatch, point: str) -> None:
    """Let the process end at this step."""
    patch.setattr(OutboxStore, "intend", around(point, "before the intent", "after the intent", OutboxStore.intend))
    patch.setattr(StartedCalls, "mark", around(point, "", "after the mark", StartedCalls.mark))
    sending = around(point, "before sending", "after sending began", OutboxStore.move)
    settling = around(point, "before it is accepted", "after it is accepted", OutboxStore.move)

    def move(store: Any, intent_id: str, allowed: Any, to: str, **named: Any) -> Any:
        return (sending if to == "sending" else settling)(store, intent_id, allowed, to, **named)

    patch.setattr(OutboxStore, "move", move)
    write = TurnParts.write

    def write_result(parts: TurnParts, session_id: SessionId, message: Any, **named: Any) -> Any:
        is_result = message.role == "tool"
        if is_result and point == "before the result":
            die()
        written = write(parts, session_id, message, **named)
        if is_result and point == "after the result":
            die()
        return written

    patch.setattr(TurnParts, "write", write_result)


def add_mail_tool(patch: pytest.MonkeyPatch) -> None:
    """Put it among the built-in ones."""
    entry = IndexEntry(derive_spec(send_test_mail), "Mail {to}: {text}", send_test_mail.__module__, "send_test_mail")
    patch.setattr("skales.tools.registry.load_index", lambda: [*load_index(), entry])


async def run(home: DataDirectory, tool: str, arguments: dict[str, Any]) -> None:
    lock = InstanceLock(home)
    lock.acquire(exclusive=True)
    provider = ScriptedProvider([calls((tool, arguments)), says("Done.")])
    app = build_app(home, lock, SystemClock(), RandomIds(), ScriptedChooser(provider))
    async with anyio.create_task_group() as tasks:
        app.turns.open(tasks)
        session_id = app.sessions.create().id
        ticket = await app.turns.start(session_id, "Send it")
        async for _event in app.turns.follow(session_id, ticket.after):
            pass
        tasks.cancel_scope.cancel()
    await app.close()


def main(root: str, tool: str, arguments: str, point: str) -> None:
    home = DataDirectory(Path(root))
    patch = pytest.MonkeyPatch()
    add_mail_tool(patch)
    arm(patch, point)
    anyio.run(run, home, tool, json.loads(arguments))


if __name__ == "__main__":
    main(*sys.argv[1:])
