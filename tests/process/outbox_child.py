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

import skales.tools.registry as registry
from skales.agent.turn_parts import TurnParts
from skales.app.wiring import build_app
from skales.core.clock import SystemClock
from skales.core.ids import RandomIds, SessionId
from skales.data.instance import InstanceLock
from skales.data.outbox import OutboxStore
from skales.data.paths import DataDirectory
from skales.data.started import StartedCalls
from skales.tools.index import IndexEntry
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


def arm(point: str) -> None:
    """Let the process end at this step."""
    OutboxStore.intend = around(point, "before the intent", "after the intent", OutboxStore.intend)  # type: ignore[method-assign]
    StartedCalls.mark = around(point, "", "after the mark", StartedCalls.mark)  # type: ignore[method-assign]
    move = OutboxStore.move
    sending = around(point, "before sending", "after sending began", move)
    settling = around(point, "before it is accepted", "after it is accepted", move)

    def moved(store: Any, intent_id: str, allowed: Any, to: str, **named: Any) -> Any:
        return (sending if to == "sending" else settling)(store, intent_id, allowed, to, **named)

    OutboxStore.move = moved  # type: ignore[method-assign]
    append = TurnParts.append

    async def appended(parts: TurnParts, session_id: SessionId, message: Any, **named: Any) -> None:
        is_result = message.role == "tool"
        if is_result and point == "before the result":
            die()
        await append(parts, session_id, message, **named)
        if is_result and point == "after the result":
            die()

    TurnParts.append = appended  # type: ignore[method-assign]


def add_mail_tool() -> None:
    """Put it among the built-in ones."""
    known = registry.load_index
    entry = IndexEntry(derive_spec(send_test_mail), "Mail {to}: {text}", send_test_mail.__module__, "send_test_mail")
    registry.load_index = lambda: [*known(), entry]


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
    add_mail_tool()
    arm(point)
    anyio.run(run, home, tool, json.loads(arguments))


if __name__ == "__main__":
    main(*sys.argv[1:])
