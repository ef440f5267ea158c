"""Looking for secrets that slipped into conversations, memories and logs earlier, and masking them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import anyio.to_thread

from skales.core.clock import Clock
from skales.core.errors import ConflictError, SkalesError
from skales.data.paths import DataDirectory
from skales.data.secret_sweep import Masks, SecretSweep, Sweep, TakenBack
from skales.security.marks import MARKER
from skales.security.veil import Veil

PLACES: Mapping[str, str] = {
    "conversation": "Conversation",
    "deleted conversation": "Deleted conversation",
    "memory": "Memory",
    "result": "Tool result",
    "log": "Log",
    "audit": "Audit log",
}


def make_sweep(directory: DataDirectory, veil: Veil) -> SecretSweep:
    """What looks through a data directory with the rules that hold everywhere."""
    return SecretSweep(directory, Masks(veil.text, veil.value, MARKER.findall))


@dataclass(slots=True)
class SecretScan:
    """One look at a time, in the background; `done` of `total` files are through. `last` is what it found."""

    directory: DataDirectory
    veil: Veil
    clock: Clock
    close_index: Callable[[], None]
    done: int = 0
    total: int = 0
    last: Sweep | None = None
    failure: SkalesError | None = None
    _running: bool = field(default=False, init=False)
    _stopped: bool = field(default=False, init=False)

    @property
    def is_running(self) -> bool:
        """Whether one is under way."""
        return self._running

    @property
    def sweep(self) -> SecretSweep:
        """What does the work; also takes back and forgets."""
        return make_sweep(self.directory, self.veil)

    def stop(self) -> None:
        """End a running look after the file it is at."""
        self._stopped = True

    def claim(self) -> None:
        """Be the one that runs. Raises ConflictError while another one runs."""
        if self._running:
            raise ConflictError("A search for secrets runs already", hint="Wait for its end, or stop it")
        self._running, self._stopped, self.done, self.total, self.failure = True, False, 0, 0, None

    async def run_claimed(self, *, masks: bool) -> None:
        """Look, and mask when asked to, after `claim`. What goes wrong is kept as `failure`."""
        try:
            self.last = await anyio.to_thread.run_sync(self._look, masks)
        except SkalesError as error:
            self.failure = error
        finally:
            # A look that is left behind ends with the file it is at.
            self._stopped = True
            self._running = False

    def undo(self, backup: str) -> TakenBack:
        """Bring back what a masking changed; what was found before is news no more."""
        back = self.sweep.undo(backup)
        self.last = None
        self._renew_index()
        return back

    def _look(self, masks: bool) -> Sweep:
        if not masks:
            return self.sweep.look(self._report)
        found = self.sweep.mask(self.clock.now_ms(), self._report)
        if found.id:
            self._renew_index()
        return found

    def _renew_index(self) -> None:
        self.close_index()
        self.sweep.drop_index()

    def _report(self, done: int, total: int) -> bool:
        self.done, self.total = done, total
        return not self._stopped
