"""Takes pictures of the screen, and makes pictures small enough for a model."""

import base64
import io
from collections.abc import Mapping
from typing import TYPE_CHECKING

from anyio import to_thread

from skales.core.errors import InputError
from skales.core.tool import Picture
from skales.tools.screens import LONG_SIDE, Area, Shot, shrink
from skales.tools.system.desktop import missing_package, no_display, require_display

if TYPE_CHECKING:
    from mss import ScreenShot
    from PIL.Image import Image

_MOST_PNG_BYTES = 600_000
_JPEG_QUALITY = 82


async def take_shot(monitor: int = 0) -> Shot:
    """A shot of a monitor, counted from 1; 0 is the main one. Raises ToolError(code="no_display"), InputError."""
    return await to_thread.run_sync(_take, monitor)


def as_picture(image: "Image", name: str, long_side: int = LONG_SIDE) -> Picture:
    """The image for a model: PNG, or JPEG when that would be large; without anything a camera wrote into it."""
    small = shrink(image.convert("RGB"), long_side)
    small.info.clear()
    kind, data = "png", _encode(small, "PNG", {"optimize": True})
    if len(data) > _MOST_PNG_BYTES:
        kind, data = "jpeg", _encode(small, "JPEG", {"quality": _JPEG_QUALITY})
    ending = "png" if kind == "png" else "jpg"
    return Picture(f"image/{kind}", base64.b64encode(data).decode("ascii"), f"{name}.{ending}")


def _encode(image: "Image", kind: str, options: Mapping[str, int]) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def _take(monitor: int) -> Shot:
    require_display()
    try:
        import mss
    except ImportError as error:
        raise missing_package("mss") from error
    try:
        with mss.MSS() as camera:
            monitors = camera.monitors
            number = monitor or monitors.index(camera.primary_monitor)
            if number >= len(monitors):
                raise InputError(
                    f"There is no monitor {monitor}", hint=f"There are {len(monitors) - 1}, counted from 1"
                )
            place: Mapping[str, int] = monitors[number]
            pixels = camera.grab(monitors[number])
    except (mss.ScreenShotError, OSError) as error:
        raise no_display(
            "No picture of the screen can be taken", "Start Skales from a terminal of the desktop"
        ) from error
    area = Area(place["left"], place["top"], place["width"], place["height"])
    return Shot(_image_of(pixels), area, number, len(monitors) - 1)


def _image_of(pixels: "ScreenShot") -> "Image":
    from PIL import Image

    return Image.frombytes("RGB", pixels.size, pixels.bgra, "raw", "BGRX")
