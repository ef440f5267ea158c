"""Records what one call changes: a look before it, a look after it, and the difference as a step of the timeline.

The step is on disk before the call runs, so that a crash in the middle is completed at the next start (`complete`).
"""

import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from pathlib import Path

from msgspec import Struct, field, structs

from skales.agent.undo_scope import Scope, build_openness
from skales.data.document import storage_errors
from skales.data.undo import UndoStore, write_quickly
from skales.data.undo_baseline import Baseline
from skales.data.undo_files import digest_of
from skales.data.undo_scan import REBUILT, Look, Scan, Seen, scan_tree
from skales.data.undo_shape import ABSENT, Area, StepState, UndoItem, UndoStep
from skales.security.paths import PathPolicy

# One file that a file tool replaces, and all that one call replaces; more is asked about first.
FILE_BYTES_MOST = 256 * 1024 * 1024
CALL_BYTES_MOST = 512 * 1024 * 1024
Openness = Callable[[str, str, os.stat_result], bool]
_NAMED = 3
_TWO_AT_ONCE = "Something else was changed at the same time; it may be among this."


class Recording(Struct):
    """A step while its call runs. `extra` are changes that stores report meanwhile.

    `hidden` are the identities of what was not looked at: under another name they are not new.
    """

    step: UndoStep
    policy: PathPolicy
    before: dict[str, Seen]
    is_open: Openness
    hidden: frozenset[tuple[int, int]] = frozenset()
    extra: list[UndoItem] = field(default_factory=list[UndoItem])
    notes: dict[str, None] = field(default_factory=dict[str, None])


# The step of the call that runs here; what stores change meanwhile belongs to it.
CURRENT: ContextVar[Recording | None] = ContextVar("undo_recording", default=None)


class Recorder:
    """Looks before and after. Thread-safe; looks at whole folders happen one at a time."""

    def __init__(self, store: UndoStore, own: Sequence[Path]) -> None:
        """`own` are folders of the program inside of what is looked at, such as its long results."""
        self._store = store
        self._own = frozenset(os.path.realpath(path) for path in own)
        self._looking = threading.Lock()
        self._baseline: Baseline | None = None
        self._running: dict[str, Recording] = {}

    def begin(self, step: UndoStep, scope: Scope, policy: PathPolicy) -> Recording:
        """Look, and write the open step. Raises StorageError; the call must not run then."""
        deep = [place for place in scope.places if place not in scope.shallow]
        step = structs.replace(
            step,
            state=StepState.OPEN,
            holder=self._store.holder(),
            places=tuple(map(str, deep)),
            listed={str(folder): tuple(_names(folder)) for folder in scope.shallow},
            folders=tuple(map(str, scope.folders)),
        )
        is_open = build_openness(policy)
        look = self._look_at(step, is_open, keep=True)
        recording = Recording(step, policy, dict(look.found), is_open)
        items = tuple(UndoItem(Area.FILE, path, seen.state, seen.state) for path, seen in look.found.items()) + tuple(
            UndoItem(Area.FILE, path, ABSENT, ABSENT) for path in step.places if path not in look.found
        )
        recording.step = structs.replace(step, items=items)
        _mark_gaps(recording, look, ())
        self._store.pin(step.id, recording.step.digests())
        if step.folders:
            self._begin_folders(recording)
        self._store.write(recording.step)
        return recording

    def finish(self, recording: Recording) -> UndoStep | None:
        """Look again and complete the step; None, and no step, when nothing changed. Raises StorageError."""
        step = recording.step
        try:
            items, look = self._changes(recording)
            if items:
                self.disturb(step.id)
            done = self._write_done(recording, [*items, *recording.extra])
            # Not before: after a crash in between, the baseline is what the step is completed from.
            if step.folders:
                with self._looking, storage_errors(self._store.baseline, "written"):
                    self._known().become(look.found)
        finally:
            self._running.pop(step.id, None)
            self._store.unpin(step.id)
        self._store.trim(self._needed)
        return done

    def _write_done(self, recording: Recording, items: Sequence[UndoItem]) -> UndoStep | None:
        step = recording.step
        if not items:
            self._store.remove(step.id)
            return None
        done = structs.replace(
            step,
            state=StepState.DONE,
            items=tuple(items),
            notes=tuple(recording.notes),
            places=(),
            listed={},
            folders=(),
            gaps=(),
            holder="",
        )
        self._store.write(done)
        return done

    def complete(self, step: UndoStep, policy: PathPolicy) -> UndoStep | None:
        """Finish the step of a call that a crash interrupted, from what was written down before it ran."""
        before = {item.name: Seen(item.before, None) for item in step.items if item.before != ABSENT}
        if step.folders:
            before |= {path: seen for path, seen in self._known().found.items() if _is_in(path, step.folders)}
        recording = Recording(
            step,
            policy,
            before,
            build_openness(policy),
            extra=[item for item in step.items if item.area is not Area.FILE],
        )
        recording.notes["The program ended while this ran."] = None
        return self.finish(recording)

    def disturb(self, step_id: str = "") -> None:
        """Note at the running looks at whole folders that something else changes files now."""
        for other_id, recording in list(self._running.items()):
            if other_id != step_id:
                recording.notes[_TWO_AT_ONCE] = None

    def size_of(self, scope: Scope, policy: PathPolicy) -> tuple[int, str]:
        """How many bytes a call could replace beyond whole folders, and the largest file; nothing is read."""
        look = Look()
        for place in scope.places:
            if place not in scope.shallow and (place.is_file() or place.is_dir()):
                is_open = _everything if place.is_file() else build_openness(policy)
                scan_tree(place, Scan(keep=digest_of, is_open=is_open, file_bytes_most=-1), look)
        sizes = {path: seen.state.size_bytes for path, seen in look.found.items()}
        largest = max(sizes, key=lambda path: sizes[path], default="")
        if look.is_cut or sizes.get(largest, 0) > FILE_BYTES_MOST:
            return max(sum(sizes.values()), CALL_BYTES_MOST + 1), largest
        return sum(sizes.values()), largest

    @property
    def most_bytes(self) -> int:
        """What one call may replace without a question."""
        return min(CALL_BYTES_MOST, self._store.limit_bytes // 4)

    def _begin_folders(self, recording: Recording) -> None:
        step = recording.step
        with self._looking:
            look = self._look_through(step.folders, recording.is_open)
            with storage_errors(self._store.baseline, "written"):
                self._known().become(look.found)
        recording.before |= look.found
        self._store.pin(step.id, _digests(look.found.values()))
        _mark_gaps(recording, look, step.folders)
        self.disturb()
        if self._running:
            recording.notes[_TWO_AT_ONCE] = None
        self._running[step.id] = recording

    def _changes(self, recording: Recording) -> tuple[list[UndoItem], Look]:
        step = recording.step
        look = self._look_at(step, recording.is_open, keep=False)
        found, unseen = dict(look.found), list(look.left_out)
        if step.folders:
            with self._looking:
                look = self._look_through(step.folders, recording.is_open)
            found = look.found | found
            _note_gaps(look, recording.notes)
            unseen += [*look.left_out, *(step.folders if look.is_cut else ())]
        differences = _differences(recording.before, found)
        moved = [path for path in found if path not in recording.before and self._was_hidden(path, recording)]
        # What one of the looks did not reach is neither new nor gone.
        items = [
            item
            for item in differences
            if not (item.before == ABSENT and _is_in(item.name, (*step.gaps, *moved)))
            and not (item.after == ABSENT and _is_in(item.name, unseen))
        ]
        return items, look

    def _was_hidden(self, path: str, recording: Recording) -> bool:
        if not recording.hidden:
            return False
        try:
            found = os.lstat(path)
        except OSError:
            return False
        return (found.st_dev, found.st_ino) in recording.hidden

    def _look_at(self, step: UndoStep, is_open: Openness, *, keep: bool) -> Look:
        look = Look()
        scan = Scan(
            keep=self._store.blobs.keep if keep else digest_of,
            is_open=is_open,
            file_bytes_most=FILE_BYTES_MOST,
            room_bytes=self._store.limit_bytes,
        )
        for place in step.places:
            if place not in look.found:
                scan_tree(Path(place), scan, look)
        if not keep:
            for folder, names in step.listed.items():
                for name in set(_names(Path(folder))) - set(names):
                    scan_tree(Path(folder) / name, scan, look)
        return look

    def _look_through(self, folders: Sequence[str], is_open: Openness) -> Look:
        """Look at whole folders against the baseline."""
        baseline = self._known()
        scan = Scan(
            keep=self._store.blobs.keep,
            is_open=is_open,
            passes_over=REBUILT,
            skipped=self._own,
            known=baseline.found,
            now_ns=self._disk_time_ns(),
            room_bytes=self._store.limit_bytes // 2,
        )
        look = Look()
        for folder in folders:
            if folder not in look.found:
                scan_tree(Path(folder), scan, look)
        return look

    def _known(self) -> Baseline:
        if self._baseline is None:
            self._baseline = Baseline(self._store.baseline)
            self._baseline.load()
        return self._baseline

    def _needed(self) -> list[tuple[str, int]]:
        """Contents that the baseline refers to; without them nothing could be compared with it."""
        states = (seen.state for seen in self._known().found.values())
        return [(state.digest, state.size_bytes) for state in states if state.is_kept]

    def _disk_time_ns(self) -> int:
        """The time as the file system writes it, which may be behind the clock's by some milliseconds."""
        touched = self._store.baseline.with_name("looked")
        with storage_errors(touched, "written"):
            write_quickly(touched, b"")
            return touched.stat().st_mtime_ns


def _everything(_name: str, _path: str, _found: os.stat_result) -> bool:
    """A file that is named by a call was judged before."""
    return True


def _differences(before: Mapping[str, Seen], after: Mapping[str, Seen]) -> list[UndoItem]:
    found: list[UndoItem] = []
    for path, seen in before.items():
        now = after.get(path)
        if now is not seen:
            new = now.state if now else ABSENT
            if not seen.state.is_same(new):
                found.append(UndoItem(Area.FILE, path, seen.state, new))
    found += [UndoItem(Area.FILE, path, ABSENT, seen.state) for path, seen in after.items() if path not in before]
    return sorted(found, key=lambda item: item.name)


def _digests(seen: Iterable[Seen]) -> frozenset[str]:
    return frozenset(one.state.digest for one in seen if one.state.is_kept)


def _mark_gaps(recording: Recording, look: Look, folders: Sequence[str]) -> None:
    gaps = (*recording.step.gaps, *look.left_out, *(folders if look.is_cut else ()))
    recording.step = structs.replace(recording.step, gaps=tuple(dict.fromkeys(gaps)))
    recording.hidden |= frozenset(identity for identity in look.left_out.values() if identity[1])
    _note_gaps(look, recording.notes)


def _note_gaps(look: Look, notes: dict[str, None]) -> None:
    large = [path for path, seen in look.found.items() if seen.state.size_bytes and not seen.state.digest]
    if look.is_cut:
        notes["There are too many files; changes in some of them are not recorded."] = None
    if look.left_out:
        notes[f"Not recorded: changes in {_list(list(look.left_out))}."] = None
    if large:
        notes[f"Too large to keep: {_list(large)}."] = None


def _list(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    return f"{', '.join(paths[:_NAMED])}{more}"


def _names(folder: Path) -> list[str]:
    with suppress(OSError):
        return os.listdir(folder)  # noqa: PTH208 - names alone
    return []


def _is_in(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(folder + os.sep) for folder in folders)
