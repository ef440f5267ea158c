"""undo/: the timeline of changes, one file per step, with copies of what was there before. Bounded in size.

A step is written before its change and completed after it. When the copies take more than the setting allows, the
oldest steps go first, each with the copies that no other step needs. Nothing but the store touches these files; who
records and who undoes is the agent's business.
"""

import json
import os
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct, field

from skales.core.clock import Clock
from skales.core.errors import BrokenDocumentError, InputError, NotFoundError, StorageError
from skales.core.ids import IdSource, is_safe_id
from skales.data.document import ABSENT, Stamp, open_new, read_object, stamp_of, storage_errors, temporary_beside
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.system_lock import try_lock
from skales.data.undo_blobs import BlobStore
from skales.data.undo_shape import StepState, UndoStep, step_from_json, step_to_json

_MEGABYTE = 1024 * 1024
# After a sweep there is room again for a while.
_ROOM = 0.9
# Steps without copies take little, but not nothing.
_STEPS_MOST = 5_000
_COUNTED_EVERY = 50
_REMEMBERED = 300
# Steps of other conversations that may stand between two of one turn.
_BESIDE_MOST = 1_000


class _Known(Struct):
    """Steps that were read lately, by id."""

    steps: dict[str, tuple[Stamp, UndoStep]] = field(default_factory=dict[str, tuple[Stamp, UndoStep]])


class UndoStore:
    """The timeline of one data directory. Thread-safe.

    `limit_megabytes` is asked each time the copies are measured.
    """

    def __init__(
        self,
        directory: DataDirectory,
        quarantine: Quarantine,
        clock: Clock,
        ids: IdSource,
        limit_megabytes: Callable[[], int] = lambda: 1024,
    ) -> None:
        self._root = directory.undo
        self._folder = directory.undo / "steps"
        self._quarantine = quarantine
        self._clock = clock
        self._ids = ids
        self._limit_megabytes = limit_megabytes
        self._known = _Known()
        self._pinned: dict[str, frozenset[str]] = {}
        self._lock = threading.RLock()
        self._holder = ""
        self._descriptor = -1
        self._open: set[str] = set()
        self._finished = 0
        self._last_ms = 0
        self.blobs = BlobStore(directory.undo / "blobs")

    @property
    def limit_bytes(self) -> int:
        """What the copies may take."""
        return self._limit_megabytes() * _MEGABYTE

    @property
    def baseline(self) -> Path:
        """Where the last look at the workspace is kept."""
        return self._root / "baseline.jsonl"

    def now_ms(self) -> int:
        """The moment of a step made now."""
        return self._clock.now_ms()

    def new_id(self) -> str:
        """An id that sorts after all earlier ones."""
        with self._lock:
            self._last_ms = max(self._clock.now_ms(), self._last_ms + 1)
            return f"{self._last_ms:013d}-{self._ids.token(8)}"

    def holder(self) -> str:
        """This process, as it is named in open steps; known to be gone once the process is."""
        with self._lock:
            if not self._holder:
                self._holder = secrets.token_hex(8)
                folder = self._root / "holders"
                with storage_errors(folder, "written"):
                    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                    self._descriptor = os.open(folder / self._holder, os.O_RDWR | os.O_CREAT, 0o600)
                    try_lock(self._descriptor, exclusive=True)
            return self._holder

    def close(self) -> None:
        """Let go of the mark that this process lives."""
        with self._lock:
            if self._descriptor >= 0:
                os.close(self._descriptor)
                # What could not be finished is left to the next start, which looks for this mark.
                if not self._open:
                    (self._root / "holders" / self._holder).unlink(missing_ok=True)
            self._holder, self._descriptor = "", -1

    def write(self, step: UndoStep) -> None:
        """Put a step into its file in one step. Raises StorageError; the change must not happen then."""
        data = json.dumps(step_to_json(step), separators=(",", ":")).encode()
        with storage_errors(self._folder / step.id, "written"):
            write_quickly(self._path(step.id), data)
        if step.state is StepState.OPEN:
            self._open.add(step.id)
        else:
            self._open.discard(step.id)

    def remove(self, step_id: str) -> None:
        """Take a step from the timeline, such as one that changed nothing."""
        with storage_errors(self._folder, "written"):
            self._path(step_id).unlink(missing_ok=True)
        self._open.discard(step_id)

    def pin(self, step_id: str, digests: frozenset[str]) -> None:
        """Keep contents until `unpin`, whatever the sweep finds; a step that is being made needs them."""
        with self._lock:
            self._pinned[step_id] = self._pinned.get(step_id, frozenset()) | digests

    def unpin(self, step_id: str) -> None:
        """The step's own file names what it needs from here on."""
        with self._lock:
            self._pinned.pop(step_id, None)

    def get(self, step_id: str) -> UndoStep:
        """One step. Raises NotFoundError."""
        step = self._read(step_id) if is_safe_id(step_id) else None
        if step is None:
            raise NotFoundError(
                f"There is no step {step_id[:80]!r} on the undo timeline",
                hint="`skales undo --list` shows those there are",
            )
        return step

    def recent(self, limit: int = 50, before: str = "") -> Sequence[UndoStep]:
        """The newest steps first, those older than `before` when that is given."""
        found: list[UndoStep] = []
        for step_id in self._ids_newest_first():
            if len(found) >= limit:
                break
            if before and step_id >= before:
                continue
            step = self._read(step_id)
            if step is not None:
                found.append(step)
        return found

    def all(self) -> Iterator[UndoStep]:
        """Every step, newest first, read as they are asked for."""
        for step_id in self._ids_newest_first():
            step = self._read(step_id)
            if step is not None:
                yield step

    def of_turn(self, session_id: str, turn_id: str) -> Sequence[UndoStep]:
        """The steps of one turn, newest first. A step that belongs to no turn is a turn of its own."""
        if not turn_id:
            return ()
        found: list[UndoStep] = []
        others = 0
        for step in self.all():
            if (step.session_id, step.turn_id) == (session_id, turn_id):
                found.append(step)
                others = 0
            elif found:
                others += 1
                if others > _BESIDE_MOST:
                    break
        return found

    def left_open(self) -> Sequence[UndoStep]:
        """Steps of processes that are gone, oldest first. Nothing is read while no process went without a word."""
        if not self._gone():
            return ()
        found = [step for step in self.all() if step.state is StepState.OPEN and not self._lives(step.holder)]
        return found[::-1]

    def forget_gone(self) -> None:
        """What processes that are gone had left open is finished."""
        for holder in self._gone():
            with suppress(OSError):
                (self._root / "holders" / holder).unlink()

    def trim(self, needed: Callable[[], Iterable[tuple[str, int]]] = tuple) -> None:
        """Drop the oldest steps while the copies take more than they may; `needed` also stay, with their sizes."""
        limit_bytes = self.limit_bytes
        self._finished += 1
        # Counting the steps takes longer than writing one.
        if self.blobs.size_bytes() <= limit_bytes and self._finished % _COUNTED_EVERY:
            return
        ids = self._ids_newest_first()
        if self.blobs.size_bytes() <= limit_bytes and len(ids) <= _STEPS_MOST:
            return
        with self._lock:
            kept = dict(needed())
            for digests in self._pinned.values():
                kept.update(dict.fromkeys(digests, 0))
            room = int(limit_bytes * _ROOM) - sum(kept.values())
            is_full = False
            for number, step_id in enumerate(ids):
                step = self._read(step_id)
                if step is None:
                    continue
                more = {digest: size for digest, size in _sizes(step).items() if digest not in kept}
                room -= sum(more.values())
                is_full = is_full or room < 0 or number >= _STEPS_MOST
                if is_full and step.state is not StepState.OPEN:
                    self.remove(step_id)
                else:
                    kept.update(more)
            self.blobs.sweep(frozenset(kept), self._clock.now_ms())

    def _lives(self, holder: str) -> bool:
        """Whether the process that holds a step is there; its lock says so, whatever its number."""
        if not holder or not is_safe_id(holder):
            return False
        if holder == self._holder:
            return True
        path = self._root / "holders" / holder
        try:
            descriptor = os.open(path, os.O_RDWR)
        except OSError:
            return False
        try:
            return not try_lock(descriptor, exclusive=True)
        finally:
            os.close(descriptor)

    def _gone(self) -> list[str]:
        """Marks of processes that ended without taking them away."""
        try:
            names = os.listdir(self._root / "holders")  # noqa: PTH208 - names alone
        except OSError:
            return []
        return [name for name in names if not self._lives(name)]

    def _ids_newest_first(self) -> list[str]:
        try:
            names = os.listdir(self._folder)  # noqa: PTH208 - thousands of names, asked for at every page
        except FileNotFoundError:
            return []
        except OSError as error:
            raise StorageError(f"The undo timeline cannot be read: {error.strerror}") from error
        found = (name.removesuffix(".json") for name in names if name.endswith(".json"))
        return sorted((name for name in found if is_safe_id(name)), reverse=True)

    def _read(self, step_id: str) -> UndoStep | None:
        path = self._path(step_id)
        stamp = stamp_of(path)
        if stamp == ABSENT:
            return None
        known = self._known.steps.get(step_id)
        if known is not None and known[0] == stamp:
            return known[1]
        step = self._parse(path)
        if step is not None:
            if len(self._known.steps) >= _REMEMBERED:
                self._known.steps = {}
            self._known.steps[step_id] = (stamp, step)
        return step

    def _parse(self, path: Path) -> UndoStep | None:
        try:
            step = step_from_json(read_object(path, self._quarantine))
        except (BrokenDocumentError, NotFoundError):
            return None
        except ValueError as error:
            self._quarantine.report(path, f"it is no step of the undo timeline: {error}")
            return None
        return step if step.id == path.stem else None

    def _path(self, step_id: str) -> Path:
        if not is_safe_id(step_id):
            raise InputError(f"{step_id[:80]!r} cannot name a step")
        return self._folder / f"{step_id}.json"


def write_quickly(path: Path, data: bytes) -> None:
    """Replace a file in one step, mode 0600, without waiting for the disk: whole after a crash of the program."""
    temporary = temporary_beside(path)
    descriptor = open_new(temporary)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        temporary.replace(path)
    except BaseException:  # half a file is left by nobody, also when interrupted
        temporary.unlink(missing_ok=True)
        raise


def _sizes(step: UndoStep) -> dict[str, int]:
    states = (state for item in step.items for state in (item.before, item.after))
    return {state.digest: state.size_bytes for state in states if state.is_kept}
