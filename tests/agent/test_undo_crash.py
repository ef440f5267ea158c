"""kill -9 at every touch of the disk, while a call is recorded and while it is undone: the next start makes it whole.

Each attempt is a child of this process that ends itself right before its n-th such touch.
"""

import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from skales.agent.undo_ground import FileGround
from skales.agent.undo_record import Recorder
from skales.agent.undo_run import Undoing
from skales.agent.undo_scope import Scope
from skales.core.clock import SystemClock
from skales.core.ids import RandomIds
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.undo import UndoStore
from skales.data.undo_shape import Area, StepState, UndoStep
from skales.security.paths import PathPolicy
from tests.agent.undo_scene import tree

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

_TOUCHES = frozenset({"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.symlink", "os.chmod", "os.utime"})


@dataclass
class Program:
    """The undo parts as a fresh start of the program has them."""

    store: UndoStore
    recorder: Recorder
    undoing: Undoing
    policy: PathPolicy

    def begin_and_change(self, work: Path, scope: Scope) -> None:
        step = UndoStep(id=self.store.new_id(), when_ms=1, tool="execute_command", summary="Change a lot")
        recording = self.recorder.begin(step, scope, self.policy)
        change(work)
        self.recorder.finish(recording)


def start(home: DataDirectory) -> Program:
    clock = SystemClock()
    store = UndoStore(home, Quarantine(home.quarantine, clock), clock, RandomIds())
    recorder = Recorder(store, own=(home.results, home.root))
    policy = PathPolicy(home.workspace, blocked=home.private)
    undoing = Undoing(store, recorder, {Area.FILE: FileGround(store.blobs, lambda: policy)}, lambda: policy)
    return Program(store, recorder, undoing, policy)


def furnish(work: Path) -> None:
    (work / "a.txt").write_text("a", encoding="utf-8")
    (work / "box" / "in").mkdir(parents=True)
    (work / "box" / "in" / "b.txt").write_text("b", encoding="utf-8")
    (work / "l").symlink_to("a.txt")
    (work / "turns").write_text("into a folder", encoding="utf-8")
    (work / "closed").mkdir(mode=0o500)


def change(work: Path) -> None:
    (work / "a.txt").write_text("other", encoding="utf-8")
    (work / "box" / "in" / "b.txt").rename(work / "moved.txt")
    (work / "box" / "in").rmdir()
    (work / "l").unlink()
    (work / "l").symlink_to("box")
    (work / "turns").unlink()
    (work / "turns").mkdir()
    (work / "turns" / "c.txt").write_text("c", encoding="utf-8")
    (work / "closed").chmod(0o700)


def dies_at(number: int, deed: Callable[[], object]) -> bool:
    """Run in a child that is killed right before its n-th touch; whether it came that far."""
    child = os.fork()
    if child == 0:
        left = number

        def watch(event: str, _arguments: object) -> None:
            nonlocal left
            if event in _TOUCHES:
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        try:
            sys.addaudithook(watch)
            deed()
        finally:
            os._exit(0)
    _pid, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def fresh(home: DataDirectory, number: int) -> DataDirectory:
    directory = DataDirectory(home.root / f"try{number}")
    directory.create()
    furnish(directory.workspace)
    return directory


# Each looks at its share of the moments, so that none takes long on a busy machine.
SHARES = 6
# Of its moments only each third; SKALES_TEST_EVERY=1 has them all, in a minute and a half.
EVERY = int(os.environ.get("SKALES_TEST_EVERY", "3"))


@pytest.mark.parametrize("share", range(SHARES))
@pytest.mark.parametrize("by_name", [False, True])
def test_a_call_that_was_killed_can_be_undone_at_the_next_start(home: DataDirectory, by_name: bool, share: int) -> None:
    for number in count(share * EVERY + 1, SHARES * EVERY):
        directory = fresh(home, number)
        work = directory.workspace
        before = tree(work)
        names = ("a.txt", "box", "l", "turns", "moved.txt", "closed")
        scope = Scope(places=tuple(work / name for name in names)) if by_name else Scope(folders=(work,))
        died = dies_at(number, partial(start(directory).begin_and_change, work, scope))
        program = start(directory)
        program.undoing.recover()
        assert all(found.state is not StepState.OPEN for found in program.store.recent())
        steps = program.store.recent()
        if tree(work) != before:
            program.undoing.run([step.id for step in steps])
        assert tree(work) == before, number
        if not died:
            assert number > 20
            return


@pytest.mark.parametrize("share", range(SHARES))
def test_an_undo_that_was_killed_is_finished_or_did_not_begin(home: DataDirectory, share: int) -> None:
    outcomes: set[bool] = set()
    for number in count(share * EVERY + 1, SHARES * EVERY):
        directory = fresh(home, number)
        work = directory.workspace
        before = tree(work)
        start(directory).begin_and_change(work, Scope(folders=(work,)))
        after = tree(work)
        (step,) = start(directory).store.recent()
        died = dies_at(number, partial(start(directory).undoing.run, [step.id]))
        # The start after it may be killed as well.
        dies_at(number % 17 + 3, start(directory).undoing.recover)
        program = start(directory)
        program.undoing.recover()
        assert all(found.state is not StepState.OPEN for found in program.store.recent())
        now, state = tree(work), program.store.get(step.id).state
        assert (now, state) in ((before, StepState.UNDONE), (after, StepState.DONE)), number
        outcomes.add(now == before)
        program.undoing.run([step.id], is_redo=now == before)
        assert tree(work) == (after if now == before else before), number
        if not died:
            break
    assert outcomes == {True, False}


def test_the_step_of_a_program_that_still_runs_is_left_alone(home: DataDirectory) -> None:
    furnish(home.workspace)
    running = start(home)
    step = UndoStep(id=running.store.new_id(), when_ms=1, tool="write_file", summary="Write")
    recording = running.recorder.begin(step, Scope(places=(home.workspace / "a.txt",)), running.policy)
    other = start(home)
    assert other.undoing.recover() == []
    (home.workspace / "a.txt").write_text("b", encoding="utf-8")
    running.recorder.finish(recording)
    assert other.store.get(step.id).state is StepState.DONE
    running.store.close()
