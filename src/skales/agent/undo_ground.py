"""Where changes can be taken back: files here, pieces of the program's own documents in `app`. One protocol for all."""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from skales.agent.undo_record import FILE_BYTES_MOST
from skales.core.tool import Outcome
from skales.data.undo_blobs import BlobStore
from skales.data.undo_files import look, put_back, set_folder_mode, sweep_rest
from skales.data.undo_shape import Kind, State
from skales.security.paths import PathPolicy, decide_path


class Ground(Protocol):
    """One area of the timeline. `name` is what its items are called."""

    def look(self, name: str) -> State:
        """What is there now. Raises StorageError."""
        ...

    def keep(self, name: str) -> State:
        """What is there now, and everything that is needed to bring it back later."""
        ...

    def put(self, name: str, state: State) -> None:
        """Make it so; doing it twice is doing it once. Raises SkalesError."""
        ...

    def settle(self, name: str, state: State) -> None:
        """What is done last, once all that belongs together was put."""
        ...

    def refusal(self, name: str) -> str:
        """Why it must not be touched, as a sentence without a period; empty when it may be."""
        ...

    def sweep(self, name: str) -> None:
        """Remove what a crash left half done."""
        ...


class FileGround(Struct, frozen=True):
    """Files, folders and links, as far as tools may go at this moment."""

    blobs: BlobStore
    policy: Callable[[], PathPolicy]

    def look(self, name: str) -> State:
        """What is at the path now."""
        return look(Path(name), limit_bytes=FILE_BYTES_MOST)

    def keep(self, name: str) -> State:
        """What is at the path now; the content of a file is copied."""
        return look(Path(name), self.blobs.keep, limit_bytes=FILE_BYTES_MOST)

    def put(self, name: str, state: State) -> None:
        """Put it back."""
        put_back(Path(name), state, self.blobs)

    def settle(self, name: str, state: State) -> None:
        """Permissions of folders."""
        if state.kind is Kind.FOLDER:
            set_folder_mode(Path(name), state)

    def refusal(self, name: str) -> str:
        """In the words of the rule."""
        verdict = decide_path(Path(name), self.policy())
        return verdict.reason if verdict.outcome is Outcome.DENY else ""

    def sweep(self, name: str) -> None:
        """Temporary files beside it."""
        sweep_rest(Path(name).parent)
