"""An app on an empty data directory whose tools run as the person, and a look at the whole tree of a folder."""

import os
import stat
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from skales.agent.origin import CallOrigin
from skales.app.app import App
from skales.app.life import open_app
from skales.app.undo import Wish
from skales.core.events import TurnEvent
from skales.core.ids import SessionId
from skales.core.json import JsonObject
from skales.core.tool import ToolCall, ToolResult
from skales.data.paths import DataDirectory
from skales.data.undo_shape import UndoStep

Tree = dict[str, tuple[str, int, bytes]]


@dataclass
class Scene:
    """The running app; calls of the same `turn` belong together."""

    app: App
    turn: str = "turn_1"

    @property
    def work(self) -> Path:
        return self.app.directory.workspace

    async def call(self, name: str, **arguments: object) -> ToolResult:
        given: JsonObject = arguments  # type: ignore[assignment]
        call = ToolCall(f"call_{self.app.ids.token(8)}", name, given)
        origin = CallOrigin(
            session_id=SessionId("session_1"), surface="test", emit=_ignore, by_user=True, turn_id=self.turn
        )
        return await self.app.gate.run(call, origin)

    async def do(self, name: str, **arguments: object) -> UndoStep:
        """A call that works, and the step that came of it."""
        result = await self.call(name, **arguments)
        assert not result.is_error, result.text
        return self.app.undo.recent(1)[0]

    def undo(self, step: str = "", *, turn: bool = False, redo: bool = False, partial: bool = False) -> UndoStep:
        return self.app.undo.run(Wish(step, turn, redo, partial))


@asynccontextmanager
async def open_scene(home: DataDirectory) -> AsyncGenerator[Scene, None]:
    async with open_app(home, exclusive=False) as app:
        yield Scene(app)


def tree(folder: Path) -> Tree:
    """Every entry below a folder: kind, permissions and content or target. Skales' long results do not count."""
    found: Tree = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = ("link", 0, os.fsencode(path.readlink()))
        elif path.is_dir():
            found[name] = ("folder", stat.S_IMODE(status.st_mode), b"")
        else:
            found[name] = ("file", stat.S_IMODE(status.st_mode), path.read_bytes())
    return found


def _ignore(_event: TurnEvent) -> None:
    return
