"""Reads pictures: what is known of one in words, and the picture itself small enough for a model that sees."""

import base64
import io
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO

from skales.core.errors import ToolError
from skales.core.tool import Picture
from skales.tools.describe import render_size, visible

if TYPE_CHECKING:
    from PIL.Image import Image

# Vision models see no more than this of a side.
_LONGEST_SIDE = 1_568
# Three bytes each while it is scaled down.
_MOST_PIXELS = 100_000_000
_TURNED = {
    2: "mirrored", 3: "upside down", 4: "mirrored upside down", 5: "mirrored on its side", 6: "on its left side",
    7: "mirrored on its other side", 8: "on its right side",
}  # fmt: skip
_ORIENTATION, _MADE, _TAKEN, _CAMERA, _MAKER = 0x0112, 0x0132, 0x9003, 0x0110, 0x010F
_DETAILS, _PLACE = 0x8769, 0x8825


def read_picture(stream: BinaryIO, part: str) -> Iterator[str]:
    """What is known of a picture, each fact a line. Raises ToolError when it cannot be opened.

    Args:
        stream: The file.
        part: `place` to say where it was taken, which pictures of phones know.
    """
    size_bytes = stream.seek(0, 2)
    with _Opened(stream) as image:
        frames = int(getattr(image, "n_frames", 1))
        moving = f", {frames} frames" if frames > 1 else ""
        yield f"{image.format} picture, {image.width:,} × {image.height:,} pixels{moving}, {render_size(size_bytes)}\n"
        yield from _camera_facts(image, part.strip().casefold() == "place")


def show_picture(stream: BinaryIO, name: str) -> Picture:
    """The picture upright and scaled down, as PNG or JPEG. Raises ToolError."""
    from PIL import ImageOps

    with _Opened(stream) as image:
        image.draft("RGB", (_LONGEST_SIDE, _LONGEST_SIDE))
        upright = ImageOps.exif_transpose(image)
        has_alpha = upright.mode in {"RGBA", "LA", "PA"} or "transparency" in upright.info
        plain = upright.convert("RGBA" if has_alpha else "RGB")
        plain.thumbnail((_LONGEST_SIDE, _LONGEST_SIDE))
        stored = io.BytesIO()
        # A new picture without what the camera wrote; drawings stay sharp as PNG.
        is_drawing = has_alpha or image.format in {"PNG", "GIF", "BMP", "ICO"}
        if is_drawing:
            plain.save(stored, "PNG")
        if not is_drawing or stored.tell() > 3_000_000:
            stored = io.BytesIO()
            plain.convert("RGB").save(stored, "JPEG", quality=85)
            is_drawing = False
        media_type = "image/png" if is_drawing else "image/jpeg"
    return Picture(media_type, base64.b64encode(stored.getvalue()).decode("ascii"), name)


class _Opened:
    """A picture held open, with every way in which a hostile one fails told in our words."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def __enter__(self) -> "Image":
        from PIL import Image, UnidentifiedImageError

        self._stream.seek(0)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                image = Image.open(self._stream)
        except (UnidentifiedImageError, OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
            raise _damaged(error) from error
        if image.width * image.height > _MOST_PIXELS:
            raise ToolError(
                f"It is a picture of {image.width:,} × {image.height:,} pixels, too large to open",
                hint="Ask the person for a smaller copy",
                code="too_large",
            )
        return image

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        from PIL import Image

        if isinstance(
            error, (OSError, ValueError, SyntaxError, EOFError, IndexError, TypeError, Image.DecompressionBombError)
        ):
            raise _damaged(error) from error


def _damaged(error: BaseException) -> ToolError:
    return ToolError(
        f"It is a picture, but damaged or of a kind that cannot be opened: {visible(str(error))[:200]}",
        hint="Ask the person for it as PNG or JPEG",
        code="damaged",
    )


def _camera_facts(image: "Image", with_place: bool) -> Iterator[str]:
    noted = image.getexif()
    details = noted.get_ifd(_DETAILS)
    if turned := _TURNED.get(
        int(noted.get(_ORIENTATION, 1) or 1) if str(noted.get(_ORIENTATION, 1)).isdecimal() else 1
    ):
        yield f"stored {turned}; shown upright\n"
    if moment := details.get(_TAKEN) or noted.get(_MADE):
        yield f"taken {visible(str(moment))[:40]}\n"
    if camera := " ".join(visible(str(noted[tag])).strip("\0 ") for tag in (_MAKER, _CAMERA) if tag in noted):
        yield f"camera: {camera[:100]}\n"
    place = noted.get_ifd(_PLACE)
    if place and not with_place:
        yield "[It knows where it was taken; see it with part=place]\n"
    elif place:
        yield f"place: {_position(place)}\n"


def _position(place: dict[int, object]) -> str:
    def angle(tag: int, side: int) -> str:
        parts = place.get(tag)
        values = [float(part) for part in parts] if isinstance(parts, tuple) else []
        total = sum(value / 60**number for number, value in enumerate(values))
        return f"{total:.5f}° {place.get(side, '')}"

    return f"{angle(2, 1)}, {angle(4, 3)}"
