"""Pictures of the screen that models got, remembered, so that a place in one can be used.

A model names places in the picture it saw. The memory turns such a place into one of the desktop, and tells whether
the screen there still looks as it did. Takes no pictures itself.
"""

from collections import OrderedDict
from typing import TYPE_CHECKING

from msgspec import Struct

from skales.core.clock import Clock
from skales.core.errors import InputError, ToolError
from skales.core.ids import SessionId

if TYPE_CHECKING:
    from PIL.Image import Image

LONG_SIDE = 1024
_KEPT = 16
# Numbers go on from the second of the first picture, so that those of an earlier run of the program mean nothing.
_NUMBERS = 1_000_000

# How far from a place the screen is compared, in points of the picture, and which part of that may look different.
# The near field is about a button: a blinking caret is nothing, another word in it is much.
_FIELDS = ((36, 14, 0.05), (120, 80, 0.30))
# A point counts as different from this difference of its grey on; hovering and focus marks mostly stay below.
_GREY_STEP = 28


class Area(Struct, frozen=True):
    """A part of the desktop in the pointer's own units, which on some screens are coarser than its pixels."""

    left: int
    top: int
    width: int
    height: int


class Shot(Struct, frozen=True):
    """One monitor in all its pixels."""

    image: "Image"
    area: Area
    monitor: int
    monitors: int


class Seen(Struct, frozen=True):
    """What is remembered of a picture that a model got: its size, what it showed in grey, and of which area."""

    revision: int
    session_id: SessionId
    monitor: int
    area: Area
    grey: "Image"

    @property
    def width(self) -> int:
        """Of the picture that the model got."""
        return self.grey.width

    @property
    def height(self) -> int:
        """Of the picture that the model got."""
        return self.grey.height

    def on_desktop(self, x: float, y: float) -> tuple[float, float]:
        """The place of the desktop that a point of the picture shows. Raises InputError for one beside it."""
        if not (0 <= x < self.width and 0 <= y < self.height):
            raise InputError(
                f"The point {x:g}, {y:g} is not in the picture",
                hint=f"Revision {self.revision} is {self.width} points wide and {self.height} high",
            )
        return (
            self.area.left + (x + 0.5) * self.area.width / self.width,
            self.area.top + (y + 0.5) * self.area.height / self.height,
        )

    def in_pixels(self, shot: Shot, x: float, y: float) -> tuple[int, int]:
        """The pixel of a shot of the same monitor that a point of the picture shows."""
        return int((x + 0.5) * shot.image.width / self.width), int((y + 0.5) * shot.image.height / self.height)


class ScreenMemory:
    """The last pictures of the screen that models got. Lives as long as the program; for one thread at a time."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._seen: OrderedDict[int, Seen] = OrderedDict()
        self._last = 0

    def keep(self, shot: Shot, session_id: SessionId) -> Seen:
        """Remember a shot as the picture that a model of this conversation gets."""
        self._last = self._last + 1 if self._last else self._clock.now_ms() // 1000 % _NUMBERS + 1
        seen = Seen(self._last, session_id, shot.monitor, shot.area, shrink(shot.image, LONG_SIDE).convert("L"))
        self._seen[seen.revision] = seen
        while len(self._seen) > _KEPT:
            self._seen.popitem(last=False)
        return seen

    def find(self, revision: int, session_id: SessionId) -> Seen:
        """The picture of a revision. Raises ToolError(code="stale_revision") when it is not known any more."""
        seen = self._seen.get(revision)
        if seen is None or seen.session_id != session_id:
            raise stale(f"There is no picture with revision {revision} any more")
        return seen


def stale(message: str) -> ToolError:
    """The error for a place in a picture that no longer tells what is there."""
    return ToolError(message, hint="Take a new one with computer_screenshot", code="stale_revision")


def require_fresh(seen: Seen, shot: Shot, x: float, y: float) -> None:
    """Raise ToolError(code="stale_revision") when the screen around a point is not as the picture showed it."""
    fresh = shrink(shot.image, LONG_SIDE).convert("L")
    if shot.area != seen.area or fresh.size != seen.grey.size:
        raise stale(f"The screen has another size than in revision {seen.revision}")
    for across, along, allowed in _FIELDS:
        box = (max(0, int(x) - across), max(0, int(y) - along), int(x) + across, int(y) + along)
        clipped = (*box[:2], min(box[2], seen.width), min(box[3], seen.height))
        if _changed_part(seen.grey.crop(clipped), fresh.crop(clipped)) > allowed:
            raise stale(f"The screen has changed around {x:g}, {y:g} since revision {seen.revision}")


def shrink(image: "Image", long_side: int) -> "Image":
    """The image, made smaller when its longer side is longer than that."""
    from PIL.Image import Resampling

    factor = long_side / max(image.size)
    if factor >= 1:
        return image
    size = (max(1, round(image.width * factor)), max(1, round(image.height * factor)))
    return image.resize(size, Resampling.LANCZOS)


def _changed_part(before: "Image", after: "Image") -> float:
    from PIL import ImageChops

    histogram = ImageChops.difference(before, after).histogram()
    return sum(histogram[_GREY_STEP:]) / max(1, sum(histogram))
