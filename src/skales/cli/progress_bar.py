"""One line that shows how far something is, on a terminal's error output; nothing anywhere else."""

import sys
from collections.abc import Callable

from msgspec import Struct

from skales.core.events import Progress

_WIDTH = 24


class ProgressBar(Struct):
    """`before` is called before the line is drawn, for whoever has begun one."""

    before: Callable[[], None] = lambda: None
    _is_shown: bool = False

    def show(self, event: Progress) -> None:
        """Draw the line anew."""
        if not sys.stderr.isatty():
            return
        self.before()
        share = event.done / event.total if event.total else 0
        filled = int(share * _WIDTH)
        sys.stderr.write(f"\r\033[K{event.label} [{'█' * filled}{'·' * (_WIDTH - filled)}] {_amount(event)}")
        sys.stderr.flush()
        self._is_shown = True

    def clear(self) -> None:
        """Take the line away."""
        if self._is_shown:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()
            self._is_shown = False


def _amount(event: Progress) -> str:
    if event.unit != "bytes":
        return f"{event.done}/{event.total}" if event.total else str(event.done)
    return f"{event.done / 1e6:.1f} of {event.total / 1e6:.1f} MB" if event.total else f"{event.done / 1e6:.1f} MB"
